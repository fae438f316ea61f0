/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a compressed component frame by frame. */
#ifndef STF_COMPONENT_FRAMES_H
#define STF_COMPONENT_FRAMES_H

#include "stf/component/input.h"

int stx_frames_open(struct stx_source *s, struct stf_err *err);
void stx_frames_close(struct stx_frames *f);
int stx_frames_fill(struct stx_source *s, struct stf_err *err);
struct stx_anchors;
/* Sets the offsets of the frames from the anchors. */
void stx_frames_know(struct stx_source *s, const struct stx_anchors *t);
/* Does the same with blocks, if each block is a frame. With fewer frames than blocks the file is cut. */
void stx_frames_know_blocks(struct stx_source *s, const struct stx_blocks *l);
/* Selects the frame to unpack next: the one that holds `offset`, or one before it. Returns the offset where that
 * frame begins. */
uint64_t stx_frames_goto(struct stx_frames *f, uint64_t offset);
/* Skips the next frame, which cannot be unpacked, if it is known to be this block. Returns 1 if it did. */
int stx_frames_pass(struct stx_source *s, size_t block, const struct stx_blocks *l);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a compressed component frame by frame. */
#ifndef STF_COMPONENT_FRAMES_H
#define STF_COMPONENT_FRAMES_H

#include "stf/component/input.h"

int stf_frames_open(struct stf_source *s, struct stf_err *err);
void stf_frames_close(struct stf_frames *f);
int stf_frames_fill(struct stf_source *s, struct stf_err *err);
struct stf_anchors;
/* Sets the offsets of the frames from the anchors. */
void stf_frames_know(struct stf_source *s, const struct stf_anchors *t);
/* Does the same with blocks, if each block is a frame. With fewer frames than blocks the file is cut. */
void stf_frames_know_blocks(struct stf_source *s, const struct stf_blocks *l);
/* Selects the frame to unpack next: the one that holds `offset`, or one before it. Returns the offset where that
 * frame begins. */
uint64_t stf_frames_goto(struct stf_frames *f, uint64_t offset);
/* Skips the next frame, which cannot be unpacked, if it is known to be this block. Returns 1 if it did. */
int stf_frames_pass(struct stf_source *s, size_t block, const struct stf_blocks *l);

#endif

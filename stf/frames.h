/* SPDX-License-Identifier: BSD-3-Clause */
/* A compressed component, frame by frame. */
#ifndef STF_FRAMES_H
#define STF_FRAMES_H

#include "stf/input.h"

int stx_frames_open(struct stx_source *s, struct stf_err *err);
void stx_frames_close(struct stx_frames *f);
int stx_frames_fill(struct stx_source *s, struct stf_err *err);
struct stx_anchors;
/* Which anchor offsets its frames have. */
void stx_frames_know(struct stx_source *s, const struct stx_anchors *t);
/* The same from blocks, if each is a frame; with fewer frames the file is cut. */
void stx_frames_know_blocks(struct stx_source *s, const struct stx_blocks *l);
/* What is unpacked next is the frame that holds `offset`, or one before it. Returns where that begins. */
uint64_t stx_frames_goto(struct stx_frames *f, uint64_t offset);
/* Passes over the next frame, which cannot be unpacked, if it is known to be this block. 1: done. */
int stx_frames_pass(struct stx_source *s, size_t block, const struct stx_blocks *l);

#endif

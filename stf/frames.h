/* SPDX-License-Identifier: BSD-3-Clause */
/* A compressed component, frame by frame. */
#ifndef STF_FRAMES_H
#define STF_FRAMES_H

#include "stf/source.h"

int stx_frames_open(struct stx_source *s, struct stf_err *err);
void stx_frames_close(struct stx_frames *f);
int stx_frames_fill(struct stx_source *s, struct stf_err *err);
struct stx_anchors;
/* Which anchor offsets its frames have. */
void stx_frames_know(struct stx_source *s, const struct stx_anchors *t);
int stx_frames_seek(struct stx_source *s, uint64_t offset, struct stf_err *err);

#endif

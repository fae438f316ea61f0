/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "stf/frames.h"

int stx_frames_open(struct stx_source *s, struct stf_err *err)
{
	return stx_fail(err, STF_ERR_IO, s->path, 0, 0, "cannot read: compressed");
}
void stx_frames_close(struct stx_frames *f)
{
	(void)f;
}
int stx_frames_fill(struct stx_source *s, struct stf_err *err)
{
	return stx_frames_open(s, err);
}
int stx_frames_seek(struct stx_source *s, uint64_t offset, struct stf_err *err)
{
	(void)offset;
	return stx_frames_open(s, err);
}

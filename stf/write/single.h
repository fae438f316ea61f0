/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a single-file trace. */
#ifndef STF_WRITE_SINGLE_H
#define STF_WRITE_SINGLE_H

#include "stf/write/outfile.h"

/* A component that is already closed. */
struct stx_part {
	char suffix[32];
	const struct stx_out *out;
	const struct stx_stream *stream;
};

/* Writes the directory for a base file of `base` bytes and the parts after it into the empty buffer. */
int stx_single_directory(
	struct stx_buf *dir, uint64_t base, const struct stx_part *part, size_t n, struct stf_err *err);
int stx_single_copy(struct stx_out *to, const struct stx_part *part, struct stf_err *err);

#endif

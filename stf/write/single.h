/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a single-file trace. */
#ifndef STF_WRITE_SINGLE_H
#define STF_WRITE_SINGLE_H

#include "stf/write/outfile.h"

/* A component that is already closed. */
struct stf_part {
	char suffix[32];
	const struct stf_out *out;
	const struct stf_stream *stream;
};

/* Writes the directory for a base file of `base` bytes and the parts after it into the empty buffer. */
int stf_single_directory(
	struct stf_buf *dir, uint64_t base, const struct stf_part *part, size_t n, struct stf_err *err);
int stf_single_copy(struct stf_out *to, const struct stf_part *part, struct stf_err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The anchors of one data file, as the reader keeps them. */
#ifndef STF_ANCHOR_TABLE_H
#define STF_ANCHOR_TABLE_H

#include "stf/private.h"

struct stx_anchor {
	uint64_t latest; /* no anchor so far had a later time_prev */
	uint64_t time_prev, offset;
	uint64_t at;   /* of the anchor record in the anchor file */
	int tells;     /* has histories at all */
	int by_thread; /* says the last values of each thread, or there were none yet */
};

/* The anchors of one data file, kept once they were read. */
struct stx_anchors {
	uint32_t file;
	struct stx_anchor *anchor;
	size_t n, cap;
	int by_thread;                  /* some do */
	const struct stf_record *where; /* its file_declaration, NULL: none */
	struct stf_err fault;           /* what ended them */
};

#endif

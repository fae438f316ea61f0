/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader's table of the anchors of one data file. */
#ifndef STF_COMPONENT_ANCHOR_TABLE_H
#define STF_COMPONENT_ANCHOR_TABLE_H

#include "stf/format/private.h"

struct stf_anchor_place {
	uint64_t latest; /* the largest time_prev of this and all earlier anchors */
	uint64_t time_prev, offset;
	uint64_t at;   /* offset of the anchor record in the anchor file */
	int tells;     /* the anchor has histories */
	int by_thread; /* the histories give the last values of each thread, or there were no values yet */
};

/* All anchors of one data file, kept after the first reading. */
struct stf_anchors {
	uint32_t file;
	struct stf_anchor_place *anchor;
	size_t n, cap;
	int by_thread;                  /* some of the anchors have by_thread set */
	const struct stf_record *where; /* its file_declaration, NULL: none */
	struct stf_err fault;           /* the fault that ended the reading of the anchors */
};

#endif

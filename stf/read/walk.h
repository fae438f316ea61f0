/* SPDX-License-Identifier: BSD-3-Clause */
/* A walk over the records of one data file, which keeps the state that an anchor has to state: for the beginning of a
 * window, and for the comparison of anchors with their data. */
#ifndef STF_READ_WALK_H
#define STF_READ_WALK_H

#include "stf/read/cursor.h"
#include "stf/write/history.h"

struct stx_walk {
	struct stx_history *h;
	struct stx_stream *mem; /* for a record that is encoded anew */
	struct stf_err err;
	uint8_t used[256];
};

/* -1: no memory; the caller calls stx_walk_end() all the same. */
int stx_walk_begin(struct stx_walk *w);
void stx_walk_end(struct stx_walk *w);
/* Takes in s->record, which begins at s->head. -1: no memory. */
int stx_walk_record(struct stx_walk *w, const struct stx_source *s);
/* Takes in the record that the cursor delivered last, which was not in a batch. -1: no memory. */
int stx_walk_given(struct stx_walk *w, const struct stf_cursor *c);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A walk over the records of one data file, which keeps the state that an anchor has to state: for the beginning of a
 * window, and for the comparison of anchors with their data. */
#ifndef STF_READ_WALK_H
#define STF_READ_WALK_H

#include "stf/component/source.h"
#include "stf/write/history.h"

struct stf_walk {
	struct stf_history_state *h;
	struct stf_stream *mem; /* for a record that is encoded anew */
	struct stf_err err;
	uint8_t used[256];
};

/* -1: no memory; the caller calls stf_walk_end() all the same. */
int stf_walk_begin(struct stf_walk *w);
void stf_walk_end(struct stf_walk *w);
/* Takes in s->record, which begins at s->head. -1: no memory. */
int stf_walk_record(struct stf_walk *w, const struct stf_source *s);

#endif

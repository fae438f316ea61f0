/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a cursor, and the function that begins one in the middle of a trace. */
#ifndef STF_READ_WINDOW_H
#define STF_READ_WINDOW_H

#include "stf/component/filter.h"
#include "stf/read/order.h"
#include "stf/read/reader.h"

struct stf_cursor {
	struct stf_reader *reader;
	struct stf_filter filter;
	struct stf_triplet *willys;
	struct stf_record **state; /* records of the state, delivered before all others */
	size_t n_state, next_state;
	struct stf_source **heap; /* sorted by the time of their next record, which is in source->record */
	size_t n;
	struct stf_source *given; /* the source that delivered last; its record must be replaced by the next */
	struct stf_err fault;     /* the first fault of all files */
	struct stf_order order;   /* used with in_order */
};

/* Positions every source before the window, and with `state` fills in c->state. */
int stf_window_begin(struct stf_cursor *c, int state, struct stf_err *err);

#endif

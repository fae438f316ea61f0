/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a cursor, and how to begin one in the middle. */
#ifndef STF_CURSOR_H
#define STF_CURSOR_H

#include "stf/filter.h"
#include "stf/order.h"
#include "stf/reader.h"

struct stf_cursor {
	struct stf_reader *reader;
	struct stx_filter filter;
	struct stf_triplet *willys;
	struct stf_record **state; /* delivered first */
	size_t n_state, cap_state, next_state;
	struct stx_source **heap; /* by the time of their next record, which is in source->record */
	size_t n;
	struct stx_source *given; /* its record was handed out last and is to be replaced by its next */
	struct stf_err fault;     /* the first of all files */
	struct stx_order order;   /* with in_order */
};

/* window.c: puts every source before the window, and with `state` fills in c->state. */
int stx_window_begin(struct stf_cursor *c, int state, struct stf_err *err);

#endif

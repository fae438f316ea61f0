/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that a trace shows as received before they were sent. How far that can be is the sum of the bounds of both clocks at that
 * time (infos of the class clock-bound, doc/stf-format.md section 4), and a tick. */
#ifndef TOOLS_ORDER_H
#define TOOLS_ORDER_H

#include "tools/stftool.h"

struct stt_order_clock {
	struct xch_bound *bound;
	size_t n;
};

struct stt_order {
	struct stt_order_clock *clock; /* of each process */
	uint32_t n;
	const char *path;
	double resolution, tick_s;            /* seconds */
	uint64_t messages;                    /* with both ends */
	uint64_t within, beyond, unknown;     /* reversed; unknown: the trace states no bound for one of the clocks */
	double within_s, beyond_s, unknown_s; /* by how much at most */
};

/* Reads the bounds of the open trace *t. -1: no memory. stt_order_close() in any case. */
int stt_order_open(struct stt_order *x, const struct stt_trace *t);
void stt_order_close(struct stt_order *x);
/* A record of a message. Returns 1 if it goes back beyond the bound; then `why` says so in words. */
int stt_order_message(struct stt_order *x, const struct stf_record *rec, char *why, size_t size);
/* One line, if the trace has messages. */
void stt_order_say(const struct stt_order *x, const struct stt_options *o);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds messages that, by their stamps, were received before they were sent. The largest error that the clocks
 * allow is the sum of both clocks' bounds at that time (infos of the class clock-bound, doc/stf-format.md section
 * 4), plus one tick. */
#ifndef TOOLS_CHECK_ORDER_H
#define TOOLS_CHECK_ORDER_H

#include "tools/cli/stftool.h"

struct stt_order_clock {
	struct stf_bound *bound;
	size_t n;
};

struct stt_order {
	struct stt_order_clock *clock; /* one for each process */
	uint32_t n;
	const char *path;
	double resolution, tick_s; /* seconds */
	uint64_t messages;         /* with both ends */
	/* reversed messages; unknown: the trace states no bound for one of the clocks */
	uint64_t within, beyond, unknown;
	double within_s, beyond_s, unknown_s; /* the largest reversal of each kind */
};

/* Reads the bounds of the open trace *t. -1: no memory. The caller must always call stt_order_close(). */
int stt_order_open(struct stt_order *x, const struct stt_trace *t);
void stt_order_close(struct stt_order *x);
/* Checks a record of a message. Returns 1 if it is reversed beyond the bound; then `why` explains it. */
int stt_order_message(struct stt_order *x, const struct stf_record *rec, char *why, size_t size);
/* Prints one line, if the trace has messages. */
void stt_order_say(const struct stt_order *x, const struct stt_options *o);

#endif

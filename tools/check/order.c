/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds messages that, by their stamps, were received before they were sent. */
#include "config.h"
#include "tools/check/order.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/text.h"

static int add_order_clock(struct stt_order_clock *c, const char *text)
{
	struct stf_bound b, *new;

	while (stf_bound_next(&text, &b) && (!c->n || b.from >= c->bound[c->n - 1].from)) {
		new = TKM_APPEND(c->bound, c->n);
		if (!new) {
			return -1;
		}
		*new = b;
	}
	return 0;
}

int stt_order_open(struct stt_order *x, const struct stt_trace *t)
{
	const char *cls, *text;
	unsigned process;
	size_t i;
	int n;

	memset(x, 0, sizeof(*x));
	x->path = t->path;
	x->resolution = t->resolution;
	x->tick_s = ldexp(t->resolution, (int)t->eventbits);
	x->clock = calloc((size_t)t->n_processes + 1, sizeof(*x->clock));
	if (!x->clock) {
		return -1;
	}
	x->n = t->n_processes;
	for (i = 0; stf_reader_info(t->r, i, &cls, &text) == 0; i++) {
		n = 0;
		if (cls && !strcmp(cls, "clock-bound") && sscanf(text, "process %u%n", &process, &n) == 1 &&
			process < x->n && add_order_clock(&x->clock[process], text + n) < 0) {
			return -1;
		}
	}
	return 0;
}

void stt_order_close(struct stt_order *x)
{
	uint32_t i;

	for (i = 0; i < x->n; i++) {
		free(x->clock[i].bound);
	}
	free(x->clock);
}

/* Seconds; NaN: the trace does not state it. */
static double order_bound_at(const struct stt_order *x, uint32_t process, uint64_t time)
{
	const struct stt_order_clock *c = process < x->n ? &x->clock[process] : NULL;
	size_t low = 0, high = c ? c->n : 0, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (c->bound[mid].from <= time) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low ? c->bound[low - 1].seconds : (double)NAN;
}

int stt_order_message(struct stt_order *x, const struct stf_record *rec, char *why, size_t size)
{
	int64_t takes = (int64_t)stf_value(rec, "receive_time")->u;
	uint32_t from = stf_willy_process((uint32_t)stf_value(rec, "sender")->u);
	uint32_t to = stf_willy_process((uint32_t)stf_value(rec, "receiver")->u);
	double back, bound;

	if (takes == STF_RECEIVE_UNKNOWN || takes == STF_SEND_UNKNOWN) {
		return 0;
	}
	x->messages++;
	if (takes >= 0) {
		return 0;
	}
	back = -(double)takes * x->resolution;
	bound = order_bound_at(x, from, rec->time) + order_bound_at(x, to, rec->time + (uint64_t)takes);
	if (isnan(bound)) {
		x->unknown++;
		x->unknown_s = fmax(x->unknown_s, back);
		return 0;
	}
	if (back <= bound + x->tick_s) {
		x->within++;
		x->within_s = fmax(x->within_s, back);
		return 0;
	}
	x->beyond++;
	x->beyond_s = fmax(x->beyond_s, back);
	snprintf(why, size,
		"received %.3g s before it was sent, and the bounds of both clocks together are %.3g s (process %u to "
		"%u)",
		back, tkm_round_up(bound, 3, 'g'), from, to);
	return 1;
}

void stt_order_say(const struct stt_order *x, const struct stt_options *o)
{
	uint64_t n = x->within + x->beyond + x->unknown;
	char within[80] = "", beyond[80] = "", unknown[120] = "";

	if (!x->messages) {
		return;
	}
	if (x->within) {
		snprintf(within, sizeof(within), "; %" PRIu64 " within the bound of the clocks, by %.3g s at most",
			x->within, x->within_s);
	}
	if (x->beyond) {
		snprintf(beyond, sizeof(beyond), "; %" PRIu64 " beyond it, by %.3g s at most", x->beyond,
			tkm_round_up(x->beyond_s, 3, 'g'));
	}
	if (x->unknown) {
		snprintf(unknown, sizeof(unknown),
			"; %" PRIu64 " whose clocks have no known bound here, by %.3g s at most", x->unknown,
			tkm_round_up(x->unknown_s, 3, 'g'));
	}
	stt_say(o, 1, "%s: %" PRIu64 " message%s, %" PRIu64 " received before sent%s%s%s", x->path, x->messages,
		x->messages == 1 ? "" : "s", n, within, beyond, unknown);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* How long processes were ready to run and had no processor. */
#include "config.h"
#include "stf/analysis/processor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first and the last sample of a process. */
struct ready_samples {
	uint64_t from, to; /* their stamps; equal: there are not two */
	uint64_t first, last;
	int any;
};

enum { MOST_IDS = 8 };

struct ready_counters {
	uint32_t id[MOST_IDS];
	size_t n;
};

/* Finds these counters. They are totals of nanoseconds. */
static void find_ready_counters(struct ready_counters *c, const struct stf_reader *r)
{
	struct stf_counter_definition d;
	const char *name;
	size_t i;

	for (i = 0; i < stf_reader_count(r, STF_ID_counter_definition) && c->n < MOST_IDS; i++) {
		stf_get_counter_definition(stf_reader_record(r, STF_ID_counter_definition, i), &d);
		name = stf_reader_name(r, STF_ID_counter_definition, d.id);
		if (name && (!strcmp(name, "main_wait") || !strcmp(name, "thread_wait")) && d.do_diff &&
			d.size_1_1 == 2 && !memcmp(d.unit, "ns", 2)) {
			c->id[c->n++] = d.id;
		}
	}
}

static int is_ready_counter(const struct ready_counters *c, uint32_t id)
{
	size_t i;

	for (i = 0; i < c->n && c->id[i] != id; i++) {
	}
	return i < c->n;
}

static void take_sample(struct ready_samples *s, uint64_t time, uint64_t value)
{
	if (!s->any) {
		s->any = 1;
		s->from = time;
		s->first = value;
	}
	s->to = time;
	s->last = value;
}

static void take_samples(
	struct ready_samples *all, uint32_t n, const struct ready_counters *c, const struct stf_counter_batch *b)
{
	size_t i;
	uint32_t j;

	for (i = 0; i < b->n; i++) {
		uint32_t willy = stf_batch_willy(b, i);

		for (j = 0; j < b->k && !stf_willy_is_group(willy) && stf_willy_process(willy) < n; j++) {
			if (!stf_willy_thread(willy) && is_ready_counter(c, stf_batch_counter(b, i, j))) {
				take_sample(&all[stf_willy_process(willy)], b->times[i], stf_batch_value(b, i, j));
			}
		}
	}
}

/* Seconds of a process without a processor; NaN: samples of less than half of the time say little. */
static double seconds_without(const struct ready_samples *s, uint64_t from, uint64_t to)
{
	double known = (double)(s->to - s->from), all = (double)(to - from);

	return !s->any || !(known > 0.5 * all) ? (double)NAN : (double)(s->last - s->first) * 1e-9 * all / known;
}

int stf_without_processor(struct stf_reader *r, uint32_t n, uint64_t from, uint64_t to, double *seconds)
{
	struct ready_samples *all = calloc((size_t)n + 1, sizeof(*all));
	struct stf_cursor_options want = stf_cursor_options();
	struct stf_counter_batch b;
	struct ready_counters counters = { .n = 0 };
	struct stf_cursor *c = NULL;
	struct stf_err e;
	uint32_t i;

	if (!all) {
		return -1;
	}
	want.categories = 1u << STF_KIND_COUNTER;
	want.window = 1;
	want.from = from;
	want.to = to;
	find_ready_counters(&counters, r);
	if (counters.n) {
		c = stf_cursor_open_with(r, &want, &e);
	}
	while (c && stf_cursor_counters(c, &b, &e) > 0) {
		take_samples(all, n, &counters, &b);
	}
	stf_cursor_close(c);
	for (i = 0; i < n; i++) {
		seconds[i] = seconds_without(&all[i], from, to);
	}
	free(all);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what a timer is worth by reading it: cost, increments, backward steps, rate; see timers/quality/quality.h. */
#include "config.h"
#include "timers/quality/quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/least.h"
#include "timers/quality/tick.h"
#include "timers/timer_private.h"

enum {
	CHUNK = 1000, /* reads between two looks at the wall clock */
	MAX_CHUNKS = 20000,
	ORDERED_CHUNKS = 200,
	LOOP_ITERATIONS = 10000000, /* as in the guide */
	BRIEF = 8,                  /* a brief measurement divides both by this */
	BLOCK = 4096,               /* increments are taken in blocks of this many reads */
	BLOCKS = 256,
};

/* What the reads of a timer may take that are counted and not timed; a clock of a device is read slowly. */
static const double longest_count_s = 2;

/* How many groups of reads fit into that, at least 1 and at most `most`. */
static size_t groups_in_time(const struct tmr_quality *q, size_t reads, size_t most)
{
	double fit = longest_count_s / (q->cost_s.median * (double)reads);

	return fit >= (double)most ? most : fit >= 1 ? (size_t)fit : 1;
}

static double wall_now(const struct timespec *origin)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)(ts.tv_sec - origin->tv_sec) + 1e-9 * (double)(ts.tv_nsec - origin->tv_nsec);
}

int tmr_bin_from(int i)
{
	return 1 + 500 * (i - 2);
}

/* Plain reads until `seconds` are over, brackets for the frequency in between. */
static int performance(struct tmr_timer *t, double seconds, struct tmr_quality *q, struct tkm_err *err)
{
	struct tmr_timer *ptp = t->ops == &tmr_ptp ? NULL : tmr_open("ptp", 0, NULL);
	/* the oscillator of a network card is the reference, where there is one */
	const struct tmr_reference card = { ptp, TMR_PTP_ERROR_PPM, 0 };
	struct tmr_freq_run *run = tmr_freq_begin(t, ptp ? &card : NULL, err);
	double *cost = malloc(MAX_CHUNKS * sizeof(*cost));
	struct timespec origin;
	double begin, end, in_calls = 0, next_bracket = 0, bracket_gap = seconds / 256;
	size_t n = 0, ordered;
	int i;

	if (!run || !cost) {
		free(cost);
		if (run) {
			tmr_freq_end(run, &q->freq, NULL);
			tkm_fail(err, TKM_ERR_NOMEM, "timer %s: out of memory", t->name);
		}
		tmr_close(ptp);
		return -1;
	}
	clock_gettime(CLOCK_MONOTONIC, &origin);
	do {
		begin = wall_now(&origin);
		if (begin >= next_bracket) {
			tmr_freq_sample(run);
			next_bracket += bracket_gap;
			begin = wall_now(&origin);
		}
		for (i = 0; i < CHUNK; i++) {
			ltick_t v = tmr_read(t);

			__asm__ volatile("" : : "r"(v.v));
		}
		end = wall_now(&origin);
		q->calls += CHUNK;
		in_calls += end - begin;
		cost[n++ % MAX_CHUNKS] = (end - begin) / CHUNK;
	} while (end < seconds);
	tmr_freq_sample(run);
	q->wall_s = in_calls;
	q->cost_s = tkm_spread(cost, n < MAX_CHUNKS ? n : MAX_CHUNKS);
	ordered = groups_in_time(q, CHUNK, ORDERED_CHUNKS);
	for (n = 0; n < ordered; n++) {
		begin = wall_now(&origin);
		for (i = 0; i < CHUNK; i++) {
			ltick_t v = tmr_read_ordered(t);

			__asm__ volatile("" : : "r"(v.v));
		}
		cost[n] = (wall_now(&origin) - begin) / CHUNK;
	}
	q->cost_ordered_s = tkm_spread(cost, ordered);
	free(cost);
	/* the other figures of a timer are valid even if its rate cannot be fitted (because it stepped, for example) */
	q->have_freq = tmr_freq_end(run, &q->freq, NULL) == 0;
	tmr_close(ptp);
	return 0;
}

static __attribute__((noinline)) int64_t dummy_call(struct tmr_timer *t)
{
	__asm__ volatile("" : : "r"(t) : "memory");
	return 0;
}

static void loop_overhead(struct tmr_timer *t, long long iterations, struct tmr_quality *q)
{
	ltick_t begin = tmr_read_ordered(t);
	long long i;

	for (i = 0; i < iterations; i++) {
		dummy_call(t);
	}
	q->loop_ticks = ltick_sub(tmr_read_ordered(t), begin);
	q->loop_iterations = iterations;
	q->loop_ticks_each = q->loop_ticks > 0 ? (q->loop_ticks + iterations / 2) / iterations : 0;
}

static void count_increment(struct tmr_quality *q, int64_t raw, int64_t net)
{
	int bin = 12;

	if (net < 0) {
		bin = 0;
	} else if (net < 1) {
		bin = 1;
	} else if (net < tmr_bin_from(12)) {
		bin = 2 + (int)((net - 1) / 500);
	}
	q->bin[bin]++;
	if (raw == 0) {
		q->equal++;
	} else if (raw < 0) {
		q->backward++;
		q->worst_backward_ticks = raw < q->worst_backward_ticks ? raw : q->worst_backward_ticks;
	}
}

/* Most frequent of n ascending values above 0; 0 when there is none. */
static int64_t mode_above_zero(const int64_t *v, size_t n)
{
	size_t i, run = 0, best = 0;
	int64_t mode = 0;

	for (i = 0; i < n; i++) {
		run = i && v[i] == v[i - 1] ? run + 1 : 1;
		if (v[i] > 0 && run > best) {
			best = run;
			mode = v[i];
		}
	}
	return mode;
}

/* v ascends. */
static void fine_histogram(const int64_t *v, size_t n, struct tmr_quality *q)
{
	enum { FINE = 60 };
	int64_t first = v[0], last = v[n - 1 - n / 1000];
	double step = tkm_most(1, -tkm_floor(-(double)(last - first + 1) / FINE)), edge = (double)first;
	size_t i = 0;
	int k = 0;

	while (k < TMR_RAW_BINS && i < n) {
		q->raw_edge[k] = edge;
		if (edge > (double)last) {
			step *= 2;
		}
		edge += step;
		for (q->raw_count[k] = 0; i < n && (double)v[i] < edge; i++) {
			q->raw_count[k]++;
		}
		k++;
	}
	q->raw_edge[k] = edge;
	q->raw_bins = k;
}

static int increments(struct tmr_timer *t, size_t blocks, struct tmr_quality *q, struct tkm_err *err)
{
	size_t n = 0, i, b;
	int64_t *d = malloc((BLOCK * blocks + 1) * sizeof(*d));
	ltick_t *v = malloc(BLOCK * sizeof(*v));
	double sum = 0;

	if (!d || !v) {
		free(d);
		free(v);
		return tkm_fail(err, TKM_ERR_NOMEM, "timer %s: out of memory", t->name);
	}
	for (b = 0; b < blocks; b++) {
		for (i = 0; i < BLOCK; i++) {
			v[i] = tmr_read(t);
		}
		for (i = 1; i < BLOCK; i++) {
			int64_t raw = ltick_sub(v[i], v[i - 1]), net = raw;

			if (raw > 0) {
				/* the loop's cost is not the clock's; but an increment above 0 stays above 0 */
				net = raw > q->loop_ticks_each ? raw - q->loop_ticks_each : 1;
			}
			count_increment(q, raw, net);
			sum += (double)net;
			d[n++] = raw;
		}
	}
	q->increments = n;
	q->average_ticks = sum / (double)n;
	tkm_sort_i64(d, n);
	q->median_ticks = d[n / 2] > q->loop_ticks_each ? d[n / 2] - q->loop_ticks_each : d[n / 2] > 0;
	fine_histogram(d, n, q);
	q->typical_ticks = mode_above_zero(d, n);
	for (i = 0; i < n && d[i] <= 0; i++) {
	}
	q->smallest_ticks = i < n ? d[i] : 0;
	free(d);
	free(v);
	return 0;
}

int tmr_quality_measure(struct tmr_timer *t, double seconds, int brief, struct tmr_quality *q, struct tkm_err *err)
{
	int less = brief ? BRIEF : 1;

	memset(q, 0, sizeof(*q));
	if (performance(t, seconds, q, err) < 0) {
		return -1;
	}
	loop_overhead(t, LOOP_ITERATIONS / less, q);
	if (increments(t, groups_in_time(q, BLOCK, (size_t)(BLOCKS / less)), q, err) < 0) {
		return -1;
	}
	/* a clock that stood still all the time has no tick; its other figures show that */
	if (tmr_tick_measure(t, TMR_TICK_BUDGET_S, NULL, &q->grid, NULL) < 0) {
		memset(&q->grid, 0, sizeof(q->grid));
	}
	return tmr_check_fault(t, err);
}

double tmr_measured_period(const struct tmr_timer *t, const struct tmr_quality *q)
{
	return q->have_freq ? 1 / q->freq.hz : tmr_period(t);
}

double tmr_effective_tick(const struct tmr_timer *t, const struct tmr_quality *q)
{
	return q->grid.ticks > 0 ? q->grid.ticks * tmr_measured_period(t, q) : NAN;
}

double tmr_reading_lag(const struct tmr_timer *t, const struct tmr_quality *q)
{
	return q->grid.ticks > 0 ? q->grid.lag_ticks * tmr_measured_period(t, q) : NAN;
}

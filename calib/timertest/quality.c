/* SPDX-License-Identifier: BSD-3-Clause */
/* A timer's quality in the guide's lines (Intel Trace Collector guide, section 3.6.2), and what we add to them. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text/text.h"

/* A clock period: the guide gives ns with three digits down to fractions of one ("0.418ns"). */
static const char *period_text(char *buf, size_t size, double s)
{
	if (s < 1e-9) {
		snprintf(buf, size, "%.3fns", s * 1e9);
		return buf;
	}
	return tkm_print_time(buf, size, s, 3);
}

/* The histogram's times have two digits and also stay in ns ("0.42ns"). */
static const char *bin_text(char *buf, size_t size, double s)
{
	if (s > 0 && s < 1e-9) {
		snprintf(buf, size, "%.2fns", s * 1e9);
		return buf;
	}
	return tkm_print_time(buf, size, s, 2);
}

static void print_histogram(FILE *f, const char *prefix, const struct tmr_quality *q, double period)
{
	static const char bar[] = "####################"; /* 20 */
	long long most = 0;
	char t[32];
	int i;

	for (i = 0; i < TMR_BINS; i++) {
		most = q->bin[i] > most ? q->bin[i] : most;
	}
	for (i = 0; i < TMR_BINS; i++) {
		int from = i < 2 ? i : tmr_bin_from(i);
		int length = most ? (int)(20 * q->bin[i] / most) : 0;

		fprintf(f, "%s%s %d ticks = %-6s:%s%.*s %lld\n", prefix, i < 2 ? "<" : ">=", from,
			bin_text(t, sizeof(t), from * period), length ? " " : "", length, bar, q->bin[i]);
	}
}

static void print_increase(FILE *f, const char *prefix, const char *what, double ticks, double period)
{
	char t[32], m[32];

	fprintf(f, "%s%s increase: %.0f clock ticks = %s = %s\n", prefix, what, ticks,
		period_text(t, sizeof(t), ticks * period),
		ticks > 0 ? tkm_print_mhz(m, sizeof(m), 1 / (ticks * period)) : "unknown");
}

/* What the guide's tool does not print. */
static void print_more(
	FILE *f, const char *prefix, const struct tmr_timer *t, const struct tmr_quality *q, double period)
{
	char a[32], b[32], c[32], d[32];
	double n = (double)q->increments;

	if (q->grid.ticks > 0) {
		fprintf(f, "%seffective tick: %s (%.4g clock ticks of %s; %s)\n", prefix,
			tkm_print_time(a, sizeof(a), tmr_effective_tick(t, q), 3), q->grid.ticks,
			period_text(b, sizeof(b), period),
			q->grid.found ? "the grid of ordered reads" : "too few steps seen, taken from the shortest");
	} else {
		fprintf(f, "%seffective tick: unknown, the clock stood still\n", prefix);
	}
	fprintf(f, "%sincrements: smallest %s, typical %s, equal neighbours %.3f %%, backward steps %lld of %zu",
		prefix, period_text(a, sizeof(a), (double)q->smallest_ticks * period),
		period_text(b, sizeof(b), (double)q->typical_ticks * period), 100 * (double)q->equal / n, q->backward,
		q->increments);
	if (q->backward) {
		fprintf(f, ", worst %s", period_text(a, sizeof(a), (double)q->worst_backward_ticks * period));
	}
	fprintf(f, "\n%scost per read: plain %s [%s..%s], ordered %s [median, min..max of 1000 reads]\n", prefix,
		tkm_print_time(a, sizeof(a), q->cost_s.median, 3), tkm_print_time(b, sizeof(b), q->cost_s.min, 3),
		tkm_print_time(c, sizeof(c), q->cost_s.max, 3),
		tkm_print_time(d, sizeof(d), q->cost_ordered_s.median, 3));
	if (q->have_freq) {
		fprintf(f, "%sfrequency by %s: %.6f MHz +- %.2g ppm, ", prefix, q->freq.reference, q->freq.hz * 1e-6,
			q->freq.compare_ppm);
		if (t->hz > 0) {
			fprintf(f, "%+.4f ppm against nominal %.6f MHz%s%s\n", (q->freq.hz / t->hz - 1) * 1e6,
				t->hz * 1e-6, t->hz_from ? " by " : "", t->hz_from ? t->hz_from : "");
		} else {
			fprintf(f, "nominal unknown\n");
		}
		fprintf(f, "%sreference: %s%s; its own error is not known, %g ppm are assumed\n", prefix,
			q->freq.reference,
			q->freq.same_counter ? " is computed from the same counter, so this shows the conversion and "
					       "not how fast the counter is"
					     : "",
			q->freq.bound_ppm - q->freq.compare_ppm);
	} else {
		fprintf(f, "%sfrequency: unknown, the clock could not be followed for long enough\n", prefix);
	}
}

void cal_test_print_quality(FILE *f, const char *prefix, const struct tmr_timer *t, const struct tmr_quality *q)
{
	double period = tmr_measured_period(t, q), nominal = tmr_period(t);
	char a[32], b[32], c[32], d[32];

	fprintf(f, "%sperformance: %lld calls in %.3fs wall clock time = %s/call = %.0f calls/s\n", prefix, q->calls,
		q->wall_s, tkm_print_time(a, sizeof(a), q->wall_s / (double)q->calls, 3), (double)q->calls / q->wall_s);
	fprintf(f, "%smeasured clock period/frequency vs. nominal:\n", prefix);
	fprintf(f, "%s%s/%s vs. %s/%s\n", prefix, q->have_freq ? period_text(a, sizeof(a), 1 / q->freq.hz) : "unknown",
		tkm_print_mhz(b, sizeof(b), q->have_freq ? q->freq.hz : NAN),
		isnan(nominal) ? "unknown" : period_text(c, sizeof(c), nominal),
		tkm_print_mhz(d, sizeof(d), t->hz > 0 ? t->hz : NAN));
	fprintf(f, "%soverhead for sampling loop: %" PRId64 " clock ticks (= %s)\n", prefix, q->loop_ticks,
		tkm_print_time(a, sizeof(a), (double)q->loop_ticks * period, 3));
	fprintf(f, "%sfor %lld iterations = %" PRId64 " ticks/iteration\n", prefix, q->loop_iterations,
		q->loop_ticks_each);
	print_increase(f, prefix, "average", q->average_ticks, period);
	print_increase(f, prefix, "median", (double)q->median_ticks, period);
	print_histogram(f, prefix, q, period);
	print_more(f, prefix, t, q, period);
}

static void print_rate(FILE *f, int rank, double low_hz, double high_hz)
{
	double middle = 0.5 * (low_hz + high_hz);

	fprintf(f, "true frequency of rank %d: %.6f MHz +- %.2g ppm, ", rank, middle * 1e-6,
		(high_hz / middle - 1) * 1e6);
}

/* Better than what is assumed of any clock. */
static int says_something(const struct tmr_true_rate *t)
{
	return t->low_hz > 0 && t->high_hz / t->low_hz - 1 < 2e-6 * TMR_UNKNOWN_ERROR_PPM;
}

void cal_test_print_true_rates(FILE *f, const struct cal_test_result *r)
{
	const struct tmr_true_rate *first = &r->rank[0].true_rate;
	char a[32], b[32];
	int i;

	for (i = 0; i < r->ranks; i++) {
		const struct tmr_true_rate *t = &r->rank[i].true_rate;
		const struct cal_rank *c = &r->run.rank[i];
		/* seconds of the master's nominal clock per local tick, turned into true ones */
		double nominal = cal_rank_hz(&r->run.rank[0]) * r->run.period_s;

		if (says_something(t)) {
			print_rate(f, i, t->low_hz, t->high_hz);
			fprintf(f, "by NTP (maximum error %s over %s)\n",
				tkm_print_time(a, sizeof(a), t->max_error_s, 1),
				tkm_print_time(b, sizeof(b), t->seconds, 1));
		} else if (i > 0 && c->sync == CAL_OWN && says_something(first) && c->map.rate_low > 0) {
			print_rate(f, i, first->low_hz / (c->map.rate_high * nominal),
				first->high_hz / (c->map.rate_low * nominal));
			fprintf(f, "by the sessions with rank 0, whose clock NTP keeps\n");
		} else if (i == 0) {
			fprintf(f, "true frequency: unknown, %s\n",
				t->why[0] ? t->why
					  : "NTP does not keep CLOCK_REALTIME of rank 0 well enough for so "
					    "short a run");
		}
	}
}

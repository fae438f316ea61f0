/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps of the kernel's clocks, which are slewed and set, become stamps of the timer. The truth is made here. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "calib/file/clk.h"
#include "calib/file/clocks.h"
#include "tests/lib/check.h"

enum { SECONDS = 60, READ_MS = 40 };

/* The timer's quartz is 30 ppm off what is stated; ticks. */
static const double timer_hz = 2e9;

static double timer_at(double t)
{
	return 5e9 + timer_hz * (1 + 30e-6) * t;
}

/* The kernel's clocks, by a quartz that is 30 ppm off: since second 20.02 they are slewed by 900 ppm, since second 25 no more. The clock of
 * day is set back by 0.2 s at second 40.3 ... */
static double slewed(double t)
{
	double slew = t < 20.02 ? 0 : t < 25 ? t - 20.02 : 4.98;

	return t * (1 + 30e-6) + 900e-6 * slew;
}

static int64_t clock_ns(int clock, double t)
{
	switch (clock) {
	case 0:
		return 1700000000000000123 + (int64_t)(1e9 * slewed(t) - (t > 40.3 ? 0.2e9 : 0));
	case CAL_MONOTONIC:
		return 77000000000 + (int64_t)(1e9 * slewed(t));
	case 2:
		return 99000000000 + (int64_t)(1e9 * t * (1 + 30e-6));
	default:
		/* ... and the machine sleeps for 3 s at second 50 */
		return 88000000000 + (int64_t)(1e9 * slewed(t) + (t > 50 ? 3e9 : 0));
	}
}

/* What the sampler process writes, as text. */
static char *make_lines(size_t *n, int *kept)
{
	struct cal_clock_watch w[CAL_CLOCKS] = { { .n = 0 } };
	struct cal_reading r, keep;
	char *text = NULL;
	FILE *f = open_memstream(&text, n);
	int i, k;

	*kept = 0;
	for (i = 0; i <= SECONDS * 1000 / READ_MS; i++) {
		for (k = 0; k < CAL_CLOCKS; k++) {
			double t = i * READ_MS * 1e-3 + k * 2e-6 + (double)(rand() % 1000) * 1e-6,
			       wide = 40e-9 + (rand() % 500 ? (rand() % 100) * 1e-9 : 3e-3);

			r = (struct cal_reading){ .before = ltick((int64_t)timer_at(t)),
				.local = ltick(clock_ns(k, t + wide * (rand() % 1000) / 1000)),
				.after = ltick((int64_t)timer_at(t + wide)) };
			if (cal_clock_watch_add(&w[k], &r, timer_hz, &keep)) {
				cal_clk_write_clock(f, k, &keep);
				*kept += k == 0;
			}
		}
	}
	for (k = 0; k < CAL_CLOCKS; k++) {
		if (cal_clock_watch_end(&w[k], &keep)) {
			cal_clk_write_clock(f, k, &keep);
		}
	}
	fclose(f);
	return text;
}

static void make_rank(struct cal_rank *r, int rank, const char *timer, double hz)
{
	*r = (struct cal_rank){ .rank = rank, .nominal_hz = hz, .effective_tick_s = 1e-9 };
	snprintf(r->timer, sizeof(r->timer), "%s", timer);
	snprintf(r->boot_id, sizeof(r->boot_id), "one");
}

/* Converts stamps of the clock at random times from..to, and compares them with the timer then. Returns the largest bound, in seconds. */
static double convert_stamps(struct cal_pairs *p, int clock, double from, double to)
{
	double worst = 0, within, off;
	int i;

	for (i = 0; i < 20000; i++) {
		double t = from + (to - from) * rand() / RAND_MAX;
		ltick_t at = cal_pairs_at(p, ltick(clock_ns(clock, t)), NULL, &within, NULL);

		off = fabs((double)at.v - timer_at(t));
		CHECK(off <= within, "%s at %.6f s: off by %.0f ns, bound %.0f ns", cal_clock_name(clock), t, off / 2,
			within / 2);
		worst = fmax(worst, within / timer_hz);
	}
	return worst;
}

static void stamps_are_inside_their_bound(void)
{
	static struct cal_rank rank[2];
	struct cal_run run = { .ranks = 2, .rank = rank };
	struct tkm_err err = { .text = "" };
	struct cal_pairs p;
	size_t n;
	int k, kept;
	char *text = make_lines(&n, &kept);

	make_rank(&rank[0], 0, "CPU", timer_hz);
	make_rank(&rank[1], 1, "CPU", timer_hz);
	CHECK(cal_clk_add_clocks(text, n, &rank[1], &err) == 0, "%s", err.text);
	for (k = 0; k < CAL_CLOCKS; k++) {
		/* rank 0 has the same clocks, and no readings of its own */
		CHECK(cal_clock_of_rank(&run, 0, cal_clock_name(k), &p, &err) == 0, "%s", err.text);
		convert_stamps(&p, k, 0, SECONDS);
		CHECK(convert_stamps(&p, k, 2, 38) < (k == 2 ? 3e-6 : 45e-6), "the bound of %s is %g s",
			cal_clock_name(k), convert_stamps(&p, k, 2, 38));
		/* a stamp that the clock showed twice is known to within the step, others are not worse for it */
		CHECK(convert_stamps(&p, k, 52, 59) < (k == 2 ? 3e-6 : 45e-6), "after the steps");
		cal_pairs_free(&p);
	}
	/* one a second, and some more next to what happened */
	CHECK(kept >= SECONDS && kept < SECONDS + 20, "%d readings were kept", kept);
	CHECK(cal_clock_of_rank(&run, 0, "clock_tai", &p, &err) < 0 && strstr(err.text, "none of the clocks"), "%s",
		err.text);
	rank[0].boot_id[1] = 'x';
	CHECK(cal_clock_of_rank(&run, 0, "clock_realtime", &p, &err) < 0 && strstr(err.text, "no readings"), "%s",
		err.text);
	cal_rank_free(&rank[1]);
	free(text);
}

/* Steered together, two clocks differ by steps only. */
static void clocks_that_are_steered_together_need_no_more(void)
{
	static struct cal_rank r;
	struct cal_run run = { .ranks = 1, .rank = &r };
	struct tkm_err err = { .text = "" };
	struct cal_pairs p;
	double off, within;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int i;

	make_rank(&r, 0, "clock_monotonic", 1e9);
	for (i = 0; i < 5; i++) {
		cal_clk_write_clock(f, 0,
			&(struct cal_reading){ .local = ltick(clock_ns(0, i + 0.5)),
				.before = ltick(clock_ns(CAL_MONOTONIC, i + 0.5) - 50),
				.after = ltick(clock_ns(CAL_MONOTONIC, i + 0.5) + 50) });
	}
	fputs("clock clock_realtime 1 2 damaged\nclock clock_of_tomorrow 1 2 3 0 0\n", f);
	fclose(f);
	CHECK(cal_clk_add_clocks(text, n, &r, &err) == 0, "%s", err.text);
	CHECK_INT(r.clock[0].n, 5);
	CHECK(cal_clock_of_rank(&run, 0, "clock_realtime", &p, &err) == 0, "%s", err.text);
	off = (double)(cal_pairs_at(&p, ltick(clock_ns(0, 2.1)), NULL, &within, NULL).v - clock_ns(CAL_MONOTONIC, 2.1));
	CHECK(fabs(off) <= within && within < 400, "off by %g ns, bound %g ns", off, within);
	cal_pairs_free(&p);
	cal_rank_free(&r);
	free(text);
}

/* ---- a kernel whose steering is seen or hidden ---- */

/* How far the kernel's clocks are ahead of the quartz, in s, and the frequency that it states, in ppm: until second 20 no change;
 * then adjtime() slews at 500 ppm for one second of two, which the frequency does not show; at second 40 and 41.1 a daemon changes the
 * frequency by 80 ppm and back; from second 50 on it does so every 62 ms. */
static double steered_by(double t, double *ppm)
{
	double ahead = 0, whole;
	int k;

	*ppm = 0;
	if (t > 20.1) {
		whole = floor(fmin(t, 40.1) - 20.1);
		ahead += 500e-6 * (floor(whole / 2) + ((int)whole % 2 ? 1 : fmin(t, 40.1) - 20.1 - whole));
	}
	ahead += 80e-6 * fmin(fmax(t - 40.13, 0), 1.1);
	*ppm = t > 40.13 && t <= 41.23 ? 80 : 0;
	for (k = 0; t > 50 + 0.062 * k && k < 160; k++) {
		*ppm = 30 * (k % 7) - 90;
		ahead += 1e-6 * *ppm * fmin(t - 50 - 0.062 * k, 0.062);
	}
	return ahead;
}

static int64_t steered_ns(int clock, double t)
{
	double ppm, at = t * (1 + 30e-6) + steered_by(t, &ppm);

	return (clock == CAL_MONOTONIC ? 77000000000 : 1700000000000000123) +
		(int64_t)(1e9 * at + (clock != CAL_MONOTONIC && t > 12.34 ? 0.3e9 : 0));
}

/* As the sampler process reads them. Returns the number of rounds between seconds 5 and 20. */
static int make_steered_lines(FILE *f, const char *timer)
{
	static const int read[2] = { CAL_MONOTONIC, 0 };
	struct cal_clock_watch w[CAL_CLOCKS] = { { .n = 0 } };
	struct cal_steering s = { .n = 0 };
	struct cal_reading r, keep;
	double t = 0, left = 0, ppm;
	int i, k, n = 0;

	while (t < SECONDS) {
		for (i = 0; i < 2; i++) {
			double at = t + i * 3e-6, wide = 40e-9 + (rand() % 200 ? (rand() % 100) * 1e-9 : 1e-3);

			k = read[i];
			r = (struct cal_reading){ .before = ltick((int64_t)timer_at(at)),
				.local = ltick(steered_ns(k, at + wide * (rand() % 1000) / 1000)),
				.after = ltick((int64_t)timer_at(at + wide)) };
			steered_by(at + wide, &ppm);
			left = i ? left : cal_steering_add(&s, &r, timer, timer_hz, ppm);
			r.off = left > 0 ? left + 1e-3 * timer_hz * (at + wide - t) : 0;
			if (cal_clock_watch_add(&w[k], &r, timer_hz, &keep)) {
				cal_clk_write_clock(f, k, &keep);
			}
		}
		n += t > 5 && t < 20;
		t += cal_steering_next_s(&s, timer, timer_hz) + (rand() % 1000) * 1e-6;
	}
	for (i = 0; i < 2; i++) {
		if (cal_clock_watch_end(&w[read[i]], &keep)) {
			cal_clk_write_clock(f, read[i], &keep);
		}
	}
	return n;
}

static void even_steering_needs_few_readings(void)
{
	struct cal_rank r;
	struct cal_run run = { .ranks = 1, .rank = &r };
	struct tkm_err err = { .text = "" };
	struct cal_pairs p;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int rounds = make_steered_lines(f, "CPU"), k, i;
	double within, worst, off, t;

	fclose(f);
	/* one every 40 ms would be 375 */
	CHECK(rounds > 30 && rounds < 42, "%d rounds of readings", rounds);
	make_rank(&r, 0, "CPU", timer_hz);
	CHECK(cal_clk_add_clocks(text, n, &r, &err) == 0, "%s", err.text);
	for (k = 0; k < 2; k++) {
		CHECK(cal_clock_of_rank(&run, 0, cal_clock_name(k), &p, &err) == 0, "%s", err.text);
		for (i = 0, worst = 0; i < 200000; i++) {
			t = 0.1 + (SECONDS - 1.0) * rand() / RAND_MAX;
			off = (double)cal_pairs_at(&p, ltick(steered_ns(k, t)), NULL, &within, NULL).v - timer_at(t);
			CHECK(fabs(off) <= within, "%s at %.6f s: off by %.0f ns, bound %.0f ns", cal_clock_name(k), t,
				off / 2, within / 2);
			/* not where it was set, nor where a reading was lost */
			worst = t > 14 && t < 20 ? fmax(worst, within / timer_hz) : worst;
		}
		CHECK(worst < 2e-6, "%s: the bound is %g s", cal_clock_name(k), worst);
		cal_pairs_free(&p);
	}
	cal_rank_free(&r);
	free(text);
}

/* A clock of another device, and a kernel that does not state its frequency, tell nothing. */
static void unknown_steering_is_not_taken_for_even(void)
{
	struct cal_steering s = { .n = 0 };
	struct cal_reading r = { .local = ltick(0) };
	int i;

	for (i = 0; i < 100; i++) {
		r.before.v = (int64_t)timer_at(0.04 * i);
		r.after.v = r.before.v + 100;
		r.local.v = (int64_t)(40e6 * i);
		CHECK(!(cal_steering_add(&s, &r, "CPU", timer_hz, NAN) > 0), "reading %d", i);
	}
	CHECK(cal_steering_next_s(&s, "CPU", timer_hz) < 0.041, "it is taken for even");
	CHECK(cal_steering_next_s(&s, "ptp0", timer_hz) < 0.041, "it is taken for even");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(stamps_are_inside_their_bound);
	RUN(clocks_that_are_steered_together_need_no_more);
	RUN(even_steering_needs_few_readings);
	RUN(unknown_steering_is_not_taken_for_even);
	return check_end();
}

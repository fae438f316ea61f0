/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers, statistics and the models of calibsim, compared with known truth: distributions with their formulas, a
 * queue with its theory, a recording with the recorded values. The same figures come out with and without GSL. */
#include "config.h"
#include "calib/analysis/analysis.h"
#include "lab/compare/link_sim.h"
#include "lab/compare/queue_sim.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"

enum { MANY = 200000 };

static double drawn[MANY];

static void draw(double (*one)(struct cal_random *r, double a), double a)
{
	struct cal_random *r = cal_random_new(1);
	int i;

	CHECK(r != NULL, "out of memory");
	for (i = 0; i < MANY; i++) {
		drawn[i] = one(r, a);
	}
	cal_random_free(r);
}

static double uniform(struct cal_random *r, double unused)
{
	(void)unused;
	return cal_random_uniform(r);
}

static double pareto(struct cal_random *r, double shape)
{
	return cal_random_pareto(r, shape, 3);
}

static void distributions_have_their_means_and_quantiles(void)
{
	struct cal_summary s;

	draw(uniform, 0);
	s = cal_summarise(drawn, MANY);
	CHECK(s.min > 0 && s.max < 1, "%g .. %g", s.min, s.max);
	CHECK_NEAR(s.mean, 0.5, 0.003);
	CHECK_NEAR(s.q99, 0.99, 0.002);

	draw(cal_random_exponential, 7);
	s = cal_summarise(drawn, MANY);
	CHECK_NEAR(s.mean, 7, 0.1);
	CHECK_NEAR(s.median, 7 * log(2), 0.1);
	CHECK_NEAR(s.q99, 7 * log(100), 0.6);

	draw(cal_random_normal, 2);
	s = cal_summarise(drawn, MANY);
	CHECK_NEAR(s.mean, 0, 0.02);
	CHECK_NEAR(s.q99, 2 * 2.3263, 0.06);

	draw(pareto, 2.5);
	s = cal_summarise(drawn, MANY);
	CHECK(s.min >= 3, "%g", s.min);
	CHECK_NEAR(s.mean, 3 * 2.5 / 1.5, 0.1);
	CHECK_NEAR(s.median, 3 * pow(2, 1 / 2.5), 0.03);
	CHECK_NEAR(s.q99, 3 * pow(100, 1 / 2.5), 0.6);
	/* the tail falls as a power, not as an exponential */
	CHECK_NEAR(cal_quantile(drawn, MANY, 0.9999), 3 * pow(1e4, 1 / 2.5), 30);
}

/* The first numbers of seed 1, of GSL's functions over the same generator: a build without GSL has the same. */
static void both_libraries_give_the_same_numbers(void)
{
	static const double want[4] = { 0.56656157517228101, 1.3695621575095041, -0.053922243417486276,
		1.7175344688379941 };
	struct cal_random *r = cal_random_new(1);
	double got[4];
	int i;

	got[0] = cal_random_uniform(r);
	got[1] = cal_random_exponential(r, 1);
	got[2] = cal_random_normal(r, 1);
	got[3] = cal_random_pareto(r, 1.5, 1);
	printf("# by %s: %.15g %.15g %.15g %.15g\n", cal_analysis_library(), got[0], got[1], got[2], got[3]);
	for (i = 0; i < 4; i++) {
		CHECK_NEAR(got[i], want[i], 1e-12);
	}
	cal_random_free(r);
	/* splitmix64 from 0: its second word is 0x6e789e6aa1b965f4 */
	CHECK_NEAR(cal_random_fixed(1, 0, 0), 0x1.b9e279aa86e59p-2, 0);
}

/* Of everything that takes memory, once. */
static void take_and_give_back(void)
{
	static const double x[6] = { 0, 1, 2, 3, 4, 5 }, y[6] = { 0, 1, 2, 3, 4, 5 };
	double a, b, bins[3], at[6];
	struct cal_random *r = cal_random_new(1);

	cal_random_free(r);
	CHECK(cal_line_fit(x, y, 6, &a, &b) == 0, "a line");
#ifdef HAVE_GSL
	CHECK(cal_histogram(x, 6, 0, 5, bins, 3) == 0 && cal_histogram(x, 6, 5, 0, bins, 3) < 0, "histograms");
	CHECK(cal_line_fit_robust(x, y, 6, &a, &b) == 0, "a robust line");
	CHECK(cal_spline_of_gsl(1, x, y, 6, x, at, 6) == 0, "a curve");
#else
	(void)at, (void)bins;
#endif
}

static void all_memory_is_given_back(void)
{
	CHECK_HEAP(take_and_give_back, 40);
}

#if HEAP_IS_COUNTED
/* Returns 0 if all of it worked. GSL itself neither survives it nor frees all inside its solvers, so
 * robust lines and cubic curves are left out. */
static int take_all(void)
{
	static const double x[6] = { 0, 1, 2, 3, 4, 5 };
	struct cal_random *r = cal_random_new(1);
	double v[6];
	int rc = (r ? 0 : -1) + cal_histogram(x, 6, 0, 5, v, 3);

#ifdef HAVE_GSL
	rc += cal_spline_of_gsl(3, x, x, 6, x, v, 6);
#endif
	cal_random_free(r);
	return rc;
}

static void each_allocation_that_fails_is_an_error(void)
{
	long all = heap_asked, before = heap_pieces, n;

	CHECK_INT(take_all(), 0);
	all = heap_asked - all;
	for (n = 1; n <= all; n++) {
		heap_fails = heap_asked + n;
		CHECK(take_all() < 0, "%ld of %ld: not reported", n, all);
		heap_fails = 0;
		CHECK(heap_pieces == before, "%ld of %ld: %ld pieces are kept", n, all, heap_pieces - before);
	}
}
#endif

static void lines_are_found_and_outliers_do_not_move_the_robust_one(void)
{
	double x[50], y[50], c0, c1;
	int i;

	for (i = 0; i < 50; i++) {
		x[i] = i;
		y[i] = 5 - 2 * i;
	}
	CHECK(cal_line_fit(x, y, 50, &c0, &c1) == 0, "fit");
	CHECK_NEAR(c0, 5, 1e-12);
	CHECK_NEAR(c1, -2, 1e-12);
	for (i = 0; i < 50; i++) {
		y[i] += i % 2 ? 0.01 : -0.01;
		y[i] += i % 7 == 3 ? 1000 : 0;
	}
	CHECK(cal_line_fit_robust(x, y, 50, &c0, &c1) == 0, "robust fit");
	CHECK_NEAR(c1, -2, 1e-3);
	CHECK_NEAR(c0, 5, 1e-2);
	CHECK(cal_line_fit(x, y, 1, &c0, &c1) < 0, "a line through one point");
	CHECK(cal_line_fit_robust(x, y, 3, &c0, &c1) < 0, "a robust line through three points");
	for (i = 0; i < 4; i++) {
		y[i] = 5 - 2 * i + (i == 1 ? 0.01 : 0);
	}
	CHECK(cal_line_fit_robust(x, y, 4, &c0, &c1) == 0 && fabs(c1 + 2) < 0.01, "a robust line through four points");
}

/* Errors of the library come back; its own answer to them is abort(). Nothing of it may have been called before. */
static void errors_of_the_library_come_back(void)
{
	static const double x[6] = { 0, 1, 1, 2, 3, 4 }, y[6] = { 0 }, at[2] = { 0.5, 7 };
	double found[2];

	CHECK(cal_spline_of_gsl(1, x, y, 6, at, found, 1) < 0, "a curve through two values at one point");
}

#ifdef HAVE_GSL
static void curves_go_through_their_points(void)
{
	static const double x[6] = { 0, 1, 3, 4, 6, 9 }, y[6] = { 1, 4, -2, 0, 0, 5 }, line[6] = { 2, 3, 5, 6, 8, 11 };
	double at[3] = { 0.5, 5, 8 }, found[6];
	int kind, i;

	for (kind = 0; kind < CAL_SPLINES_OF_GSL; kind++) {
		CHECK(cal_spline_of_gsl(kind, x, y, 6, x, found, 6) == 0, "kind %d", kind);
		for (i = 0; i < 6; i++) {
			CHECK_NEAR(found[i], y[i], 1e-12);
		}
		CHECK(cal_spline_of_gsl(kind, x, line, 6, at, found, 3) == 0, "kind %d", kind);
		for (i = 0; i < 3; i++) {
			CHECK_NEAR(found[i], 2 + at[i], 1e-12);
		}
		CHECK(cal_spline_of_gsl(kind, x, y, 5, x, found, 5) == 0, "kind %d: five points", kind);
		CHECK(cal_spline_of_gsl(kind, x, y, 4, x, found, 4) < 0, "kind %d: four points", kind);
		CHECK(cal_spline_of_gsl(kind, x, y, 6, &(double){ 9.5 }, found, 1) < 0, "kind %d: beyond the end",
			kind);
	}
}
#endif

/* Each value is in one range, both ends included, what is outside in none; and both libraries put values on a border alike. */
static void histograms_count_what_is_between_two_values(void)
{
	static const double v[] = { -0.1, 0, 0.1, 0.3, 0.7, 0.71, 1, 1.0000001, 0.2 };
	struct cal_random *r = cal_random_new(9);
	double count[10], sum = 0;
	int i;

	CHECK_INT(cal_histogram(v, sizeof(v) / sizeof(v[0]), 0, 1, count, 10), 0);
	CHECK(count[0] == 1 && count[1] == 1 && count[2] == 1 && count[7] == 2 && count[9] == 1, "%g %g %g %g %g",
		count[0], count[1], count[2], count[7], count[9]);
	CHECK(count[3] + count[2] == 2, "0.3 is in its range: %g %g", count[2], count[3]);
	for (i = 0; i < 100000; i++) {
		drawn[i] = cal_random_normal(r, 1);
	}
	CHECK_INT(cal_histogram(drawn, 100000, -1, 1, count, 2), 0);
	sum = count[0] + count[1];
	CHECK(fabs(sum - 68269) < 500 && fabs(count[0] - count[1]) < 1000, "%g and %g within a standard deviation",
		count[0], count[1]);
	cal_random_free(r);
}

/* White noise of phase falls with 1 / tau and has a known size; a frequency that drifts rises with tau; a line has none. */
static void the_allan_deviation_is_that_of_known_noise(void)
{
	enum { N = 20000 };
	struct cal_random *r = cal_random_new(3);
	static double x[N];
	int i;

	for (i = 0; i < N; i++) {
		x[i] = 1e-6 + 37e-6 * i;
	}
	CHECK_NEAR(cal_allan_deviation(x, N, 1, 10), 0, 1e-12);
	for (i = 0; i < N; i++) {
		x[i] = cal_random_normal(r, 1e-9);
	}
	CHECK_NEAR(cal_allan_deviation(x, N, 1, 1), sqrt(3) * 1e-9, 3e-11);
	CHECK_NEAR(cal_allan_deviation(x, N, 2, 10), sqrt(3) * 1e-9 / 20, 3e-12);
	for (i = 0; i < N; i++) {
		x[i] = 0.5e-9 * i * i; /* 1 ns/s more each second */
	}
	CHECK_NEAR(cal_allan_deviation(x, N, 1, 100), 100e-9 / sqrt(2), 1e-12);
	CHECK(isnan(cal_allan_deviation(x, 20, 1, 10)), "too few points");
	cal_random_free(r);
}

/* Alone on the link: messages leave in the order in which they come, none before the one before it is through. */
static void messages_pass_first_come_first_served(void)
{
	struct cal_queue *q = cal_queue_new(100e-9, 0, 1);
	struct cal_random *r = cal_random_new(5);
	int64_t at = 1000000, done, before = 0, busy = 0, first = at, free_at = 0;
	int i;

	for (i = 0; i < 20000; i++) {
		at += (int64_t)cal_random_exponential(r, 200e3); /* 200 ns: half of the time is used */
		CHECK(cal_queue_pass(q, at, &done) == 0, "out of memory");
		free_at = (at > free_at ? at : free_at) + 100000;
		CHECK_INT(done, free_at);
		CHECK(done >= before + 100000, "two at once: %lld and %lld ps", (long long)before, (long long)done);
		before = done;
		busy += 100000;
	}
	CHECK_NEAR((double)busy / (double)(done - first), 0.5, 0.02);
	cal_queue_free(q);
	cal_random_free(r);
}

/* Processes of a simulation have times of their own: what comes late into the simulation never shares a slot. */
static void messages_out_of_order_never_share_the_link(void)
{
	enum { N = 5000 };
	struct cal_queue *q = cal_queue_new(100e-9, 0, 1);
	struct cal_random *r = cal_random_new(6);
	static double end[N];
	int64_t done;
	int i;

	for (i = 0; i < N; i++) {
		int64_t at = (int64_t)(cal_random_uniform(r) * 1e9); /* within 1 ms, half of it used */

		CHECK(cal_queue_pass(q, at, &done) == 0 && done >= at + 100000, "%lld then %lld", (long long)at,
			(long long)done);
		end[i] = (double)done;
	}
	cal_summarise(end, N);
	for (i = 1; i < N; i++) {
		CHECK(end[i] - end[i - 1] >= 100000, "two at once: %g and %g ps", end[i - 1], end[i]);
	}
	cal_queue_free(q);
	cal_random_free(r);
}

/* Packets of others: the mean wait of an M/D/1 queue is load / (1 - load) service / 2, and it is idle for 1 - load of the
 * time (Pollaczek and Khinchine). */
static void others_keep_the_link_busy_as_the_theory_says(void)
{
	static const double load[] = { 0.2, 0.5, 0.8 };
	size_t k;

	for (k = 0; k < 3; k++) {
		struct cal_queue *q = cal_queue_new(100e-9, load[k], 7);
		double sum = 0, idle = 0, want = load[k] / (1 - load[k]) * 50e-9;
		int64_t seen = cal_queue_others(q, 123456789);
		int i, n = 100000;

		for (i = 0; i < n; i++) {
			int64_t wait = cal_queue_others(q, 1000000 + (int64_t)i * 1700000);

			sum += (double)wait * 1e-12;
			idle += wait == 0;
		}
		printf("# load %.1f: mean wait %.1f ns (%.1f), idle %.3f\n", load[k], sum / n * 1e9, want * 1e9,
			idle / n);
		CHECK_NEAR(sum / n, want, 0.05 * want);
		CHECK_NEAR(idle / n, 1 - load[k], 0.01);
		CHECK_INT(cal_queue_others(q, 123456789), seen);
		cal_queue_free(q);
	}
}

/* Two pairs over one uplink wait for each other; two pairs below their own leaf do not. */
static void pairs_wait_at_a_link_that_they_share(void)
{
	struct tkm_err err = { .text = "" };
	struct cal_sample s;
	double took[2];
	int k, i;

	for (k = 0; k < 2; k++) {
		/* ranks 0 to 3 below one leaf, 4 to 7 below the other: all start at the same virtual time */
		struct cal_link *l = cal_link_sim(8, "tick=1ns", "delay=200ns,leaf=4,queue=10us", &err);

		CHECK(l != NULL, "%s", err.text);
		for (i = 0; i < 4; i++) {
			CHECK(cal_link_exchange(l, k ? i ^ 1 : i + 4, i, &s, &err) == 0, "%s", err.text);
		}
		took[k] = (double)ltick_sub(s.recv, s.send) * 1e-9;
		cal_link_close(l);
	}
	/* alone it would be four passages of 10 us; the fourth pair waits for three messages first */
	CHECK(took[0] >= 70e-6, "the fourth of four pairs took %g s", took[0]);
	CHECK(took[1] < 1e-6, "below one switch: %g s", took[1]);
}

static double jitter_of(const char *network, double *values, int n)
{
	struct tkm_err err = { .text = "" };
	struct cal_link *l = cal_link_sim(2, "tick=1ps", network, &err);
	ltick_t sent, received;
	double sum = 0;
	int i;

	CHECK(l != NULL, "%s", err.text);
	for (i = 0; i < n; i++) {
		CHECK(cal_link_message(l, 0, 1, &sent, &received, &err) == 0, "%s", err.text);
		values[i] = 0;
		sum += values[i] = (double)ltick_sub(received, sent) * 1e-12 - 1e-6;
		cal_link_sleep(l, 1e-6);
	}
	cal_link_close(l);
	return sum / n;
}

/* The jitter keeps its mean whatever its distribution, and pareto's tail is the one that was asked for. */
static void a_pareto_network_has_its_tail(void)
{
	enum { N = 50000 };
	struct cal_summary s;

	CHECK_NEAR(jitter_of("delay=1us,jitter=100ns,read=0ns,seed=1", drawn, N), 100e-9, 3e-9);
	CHECK_NEAR(jitter_of("delay=1us,jitter=100ns,read=0ns,dist=pareto,seed=1", drawn, N), 100e-9, 5e-9);
	jitter_of("delay=1us,jitter=100ns,read=0ns,dist=pareto,shape=1.5,seed=1", drawn, N);
	s = cal_summarise(drawn, N);
	/* scale 50 ns, less its smallest value */
	CHECK_NEAR(s.median, 50e-9 * (pow(2, 1 / 1.5) - 1), 1e-9);
	CHECK_NEAR(s.q99, 50e-9 * (pow(100, 1 / 1.5) - 1), 60e-9);
	CHECK(s.max > 20e-6, "no heavy tail: %g s", s.max);
}

static const char *scratch(const char *text)
{
	static char path[] = "/tmp/tkm_drift_XXXXXX";
	static int made;
	FILE *f;

	if (!made) {
		int fd = mkstemp(path);

		CHECK(fd >= 0, "mkstemp");
		close(fd);
		made = 1;
	}
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0, "cannot write %s", path);
	return path;
}

/* A recording of a known curve: 2 ppm/60 s of swing on 40 ppm, each second for two minutes. */
static void a_recorded_drift_is_the_drift_of_the_clock(void)
{
	char text[8192] = "# a curve that is known\n", *end = text + strlen(text);
	struct tkm_err err = { .text = "" };
	struct cal_drift *d;
	const char *path;
	double t, w = 2 * M_PI / 60;
	int i;

	for (i = 0; i <= 120; i++) {
		end += sprintf(end, "%d %.15e\n", 1000 + i, 5 + 40e-6 * i + 2e-6 / w * (1 - cos(w * i)));
	}
	path = scratch(text);
	d = cal_drift_read(path, &err);
	CHECK(d != NULL, "%s", err.text);
	CHECK_NEAR(cal_drift_seconds(d), 120, 1e-9);
	for (t = 0; t <= 120; t += 0.37) {
		CHECK_NEAR(cal_drift_at(d, t), 2e-6 / w * (1 - cos(w * t)), 5e-9);
	}
	/* it goes on without a jump of offset or rate */
	for (t = 100; t < 500; t += 0.1) {
		CHECK(fabs(cal_drift_at(d, t + 0.1) - cal_drift_at(d, t)) < 0.1 * 2.1e-6, "offset jumps at %g s", t);
		CHECK(fabs(cal_drift_at(d, t + 0.2) - 2 * cal_drift_at(d, t + 0.1) + cal_drift_at(d, t)) < 1e-8,
			"rate jumps at %g s", t);
	}
	cal_drift_free(d);
	remove(path);
}

static void clocks_of_a_link_drift_as_recorded(void)
{
	struct tkm_err err = { .text = "" };
	struct cal_link *l = cal_link_sim(3, "offset={rank}ms,tick=1ns", "delay=1us,seed=3", &err);
	struct cal_drift *d = cal_drift_read(scratch("0 0\n10 1e-5\n20 -1e-5\n30 2e-5\n40 0\n"), &err);
	const char *path = scratch("0 0\n");
	int64_t begin, at;
	double f, f0;
	int i, k;

	CHECK(l && d, "%s", err.text);
	CHECK(cal_link_sim_drift(l, d, &err) == 0, "%s", err.text);
	begin = cal_link_sim_time(l)->now_ps;
	for (i = 0; i < 3; i++) {
		struct tmr_timer *clock = cal_link_sim_clock(l, i);
		ltick_t a = tmr_sim_truth(clock, begin, &f0);
		double worst = 0;

		for (k = 1; k <= 80; k++) {
			at = begin + k * 1000000000000;
			ltick_t b = tmr_sim_truth(clock, at, &f);
			double ahead = ((double)ltick_sub(b, a) + f - f0) * 1e-9 - k;

			worst = fmax(worst, fabs(ahead));
			CHECK(llabs(tmr_sim_base_at(clock, b) - at) <= 2000, "there and back: %lld ps",
				(long long)(tmr_sim_base_at(clock, b) - at));
		}
		CHECK(worst > 1e-5 && worst < 5e-5, "rank %d wanders by %g s", i, worst);
	}
	CHECK(cal_drift_read(path, &err) == NULL && strstr(err.text, "1 points; a recording of drift has at least 4"),
		"%s", err.text);
	CHECK(cal_drift_read(scratch("0 0\n1 1e-6\n1 0\n"), &err) == NULL &&
			strstr(err.text, ":3: the time does not ascend"),
		"%s", err.text);
	CHECK(cal_drift_read(scratch("0 0\n1 fast\n"), &err) == NULL &&
			strstr(err.text, ":2: two numbers are expected"),
		"%s", err.text);
	CHECK(cal_drift_read(scratch("0 0\n1 0.5\n"), &err) == NULL && strstr(err.text, ":2: a rate of 1 % or more"),
		"%s", err.text);
	CHECK(cal_drift_read("/nowhere/x", &err) == NULL && strstr(err.text, "cannot read /nowhere/x"), "%s", err.text);
	cal_link_close(l);
	remove(path);
}

static void values_outside_their_range_are_errors(void)
{
	static const struct {
		const char *network, *text;
		/* clang-format off */
	} bad[] = {
		{ "loss=2", "loss=2: from 0 to 1 is possible" },
		{ "loss=-0.1", "loss=-0.1: from 0 to 1" },
		{ "outliers=1.5", "outliers=1.5: from 0 to 1" },
		{ "slow=-1", "slow=-1: from 0 to 1" },
		{ "delay=2s", "delay=2s: from 0 to 1 s" },
		{ "delay=-1us", "delay=-1us: from 0 to 1 s" },
		{ "jitter=5", "jitter=5: from 0 to 1 s" },
		{ "shape=1", "shape=1: from 1.01 to 100" },
		{ "shape=nan", "shape=nan: from 1.01 to 100" },
		{ "leaf=2,queue=1us,load=1", "load=1: from 0 to 0.95" },
		{ "queue=1s", "queue=1s: from 0 to 0.001 s" },
		{ "load=0.5", "load=0.5 needs queue=" },
		{ "queue=1us", "queue= needs leaf=" },
		{ "leaf=-1", "leaf=-1: from 0 to 1e+06" },
		{ "shuffle=2", "shuffle=2: from 0 to 1" },
		{ "dist=gamma", "cannot use 'dist=gamma'" },
		{ "loss", "cannot use 'loss'" },
	};
	/* clang-format on */
	struct tkm_err err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		CHECK(cal_link_sim(2, "tick=1ns", bad[i].network, &err) == NULL && strstr(err.text, bad[i].text),
			"%s: %s", bad[i].network, err.text);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(errors_of_the_library_come_back);
#ifdef HAVE_GSL
	RUN(curves_go_through_their_points);
#else
	SKIP("curves_go_through_their_points", "no GSL in this build");
#endif
	RUN(distributions_have_their_means_and_quantiles);
	RUN(both_libraries_give_the_same_numbers);
	RUN(all_memory_is_given_back);
#if HEAP_IS_COUNTED
	RUN(each_allocation_that_fails_is_an_error);
#else
	SKIP("each_allocation_that_fails_is_an_error", HEAP_WHY);
#endif
	RUN(lines_are_found_and_outliers_do_not_move_the_robust_one);
	RUN(histograms_count_what_is_between_two_values);
	RUN(the_allan_deviation_is_that_of_known_noise);
	RUN(messages_pass_first_come_first_served);
	RUN(messages_out_of_order_never_share_the_link);
	RUN(others_keep_the_link_busy_as_the_theory_says);
	RUN(pairs_wait_at_a_link_that_they_share);
	RUN(a_pareto_network_has_its_tail);
	RUN(a_recorded_drift_is_the_drift_of_the_clock);
	RUN(clocks_of_a_link_drift_as_recorded);
	RUN(values_outside_their_range_are_errors);
	return check_end();
}

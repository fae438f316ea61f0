/* SPDX-License-Identifier: BSD-3-Clause */
/* What a free clock has done says what to expect: clocks whose rates walk at random and swing with the temperature, sessions
 * that are good to some ten nanoseconds and certain to some hundred, and what the map says up to a minute after the last one,
 * compared with the truth. -n TIMES draws more: `make check-long` has 100,000 runs. */
#include "config.h"
#include "base/err.h"
#include "base/stats.h"
#include "base/ticks.h"
#include "calib/map/fit.h"
#include "calib/map/learn.h"
#include "calib/map/map.h"
#include "calib/map/online.h"
#include "calib/map/sample.h"
#include "tests/lib/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 800 };

/* Seconds that the child's clock is ahead of the master's, at each second; cubic in between would change nothing here. */
static double ahead[SECONDS];

static double between(double low, double high)
{
	return low + (high - low) * check_uniform();
}

static double normal(void)
{
	return sqrt(-2 * log(check_uniform() + 1e-300)) * cos(2 * M_PI * check_uniform());
}

struct drawn {
	double walk, swing,
		period; /* rate per square root of a second; amplitude and period of what the temperature does */
};

/* Two quartzes: each rate walks by 0.1 to 3e-9 in a second, and swings by up to 0.15 ppm in 2 minutes to an hour. */
static struct drawn draw_drift(void)
{
	struct drawn d = { 1e-10 * pow(30, check_uniform()), 5e-9 * pow(30, check_uniform()),
		120 * pow(30, check_uniform()) };
	double phase = between(0, 2 * M_PI), walked = 0, rate = between(-50e-6, 50e-6), sum = 0;
	int i;

	for (i = 0; i < SECONDS; i++) {
		ahead[i] = sum;
		walked += d.walk * normal();
		sum += rate + walked + d.swing * sin(phase + 2 * M_PI * (i + 0.5) / d.period);
	}
	return d;
}

static double ahead_at(double t)
{
	int i = (int)t;

	return ahead[i] + (t - i) * (ahead[i + 1] - ahead[i]);
}

/* Ticks of 1 ns of the child when the master shows t seconds. */
static double child(double t)
{
	return (t + ahead_at(t)) * 1e9;
}

static void session(struct cal_online *o, double t, double half_s, double scatter_s)
{
	double at = child(t), off = fmax(fmin(scatter_s * normal(), 0.9 * half_s), -0.9 * half_s),
	       shift = between(-0.8, 0.8) * half_s;
	struct cal_session s = { .kind = CAL_MIDDLE, .given = 1 };
	struct tkm_err err;
	double master;

	/* the stamp is a whole tick of the child; what the master showed there */
	s.point.local = ltick((int64_t)at);
	master = t * 1e9 - (at - floor(at)) + off * 1e9;
	s.point.master = ltick((int64_t)floor(master));
	s.point.fraction = master - floor(master);
	/* certain: around the truth, anywhere */
	s.point.low = (t * 1e9 - (at - floor(at)) + (shift - half_s) * 1e9) - floor(master) - 1;
	s.point.high = (t * 1e9 - (at - floor(at)) + (shift + half_s) * 1e9) - floor(master) + 1;
	s.point.sigma = scatter_s * 1e9;
	CHECK(cal_online_add(o, &s, &err) == 0, "%s", err.text);
}

/* Two free counters of 1 GHz. */
static struct cal_online_options options(int learn)
{
	return (struct cal_online_options){ .hz = 1e9,
		.master_hz = 1e9,
		.tick_s = 1e-9,
		.master_tick_s = 1e-9,
		.max_drift = 500e-6,
		.max_wander = 1e-6,
		.how = CAL_QUIET,
		.learn = learn,
		.have_axis = 1,
		.axis = ltick(0) };
}

/* Sessions each `every` seconds for `lasts`, then a minute without. Returns points outside; *bound_s and *error_s after 60 s. */
static int run(double every, double lasts, int learn, double *bound_s, double *error_s, int *learned)
{
	struct cal_online_options opt = options(0);
	double half = between(100e-9, 300e-9), scatter = between(5e-9, 15e-9), t, end = 10 + lasts;
	struct cal_online o;
	int outside = 0, i;

	cal_online_begin(&o, &opt);
	for (t = 10; t <= end; t += every) {
		o.opt.learn = learn &&
			t + every >
				end; /* what is learned at the last session counts; all that is before takes its time */
		session(&o, t, half, scatter);
	}
	t -= every;
	*learned = o.map.learned_wander > 0;
	for (i = 0; i <= 60; i += 5) {
		double at = child(t + i), error;
		ltick_t local = ltick((int64_t)at);

		error = fabs((double)cal_map_at(&o.map, local).v * o.map.period_s + (at - floor(at)) * 1e-9 - (t + i));
		*bound_s = cal_map_bound(&o.map, local);
		outside += error > *bound_s + 1e-9;
		outside += error > cal_map_proven(&o.map, local) + 1e-9;
		*error_s = error;
	}
	cal_online_free(&o);
	return outside;
}

enum { RECORDED = 1000 };

static double recorded_at[RECORDED], recorded[RECORDED];

static int points;

/* tests/golden/clock-drift.txt without its mean rate. */
static int load_recording(void)
{
	const char *top = getenv("top_srcdir");
	char path[4096], line[200];
	double slope;
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "%s/tests/golden/clock-drift.txt", top ? top : ".");
	f = fopen(path, "r");
	while (f && points < RECORDED && fgets(line, sizeof(line), f)) {
		points += line[0] != '#' && sscanf(line, "%lf %lf", &recorded_at[points], &recorded[points]) == 2;
	}
	if (f) {
		fclose(f);
	}
	if (points < 2 || recorded_at[points - 1] < SECONDS) {
		return -1;
	}
	slope = (recorded[points - 1] - recorded[0]) / (recorded_at[points - 1] - recorded_at[0]);
	for (i = 0; i < points; i++) {
		recorded[i] -= slope * recorded_at[i];
	}
	return 0;
}

static double recorded_between(double t)
{
	int i;

	for (i = 0; i + 2 < points && recorded_at[i + 1] < t; i++) {
	}
	return recorded[i] +
		(recorded[i + 1] - recorded[i]) / (recorded_at[i + 1] - recorded_at[i]) * (t - recorded_at[i]);
}

/* Both clocks drift as the recording says, from different times in it. */
static struct drawn draw_recorded(void)
{
	double a = between(0, recorded_at[points - 1] - SECONDS), b = between(0, recorded_at[points - 1] - SECONDS),
	       rate = between(-50e-6, 50e-6);
	int i;

	for (i = 0; i < SECONDS; i++) {
		ahead[i] = rate * i + recorded_between(a + i) - recorded_between(b + i);
	}
	return (struct drawn){ .walk = 0 };
}

/* Sessions for a minute and more, or for less; the bound is at most that many times the error. */
static void many(struct drawn (*draw)(void), int brief, double most)
{
	int runs = 1000 * check_times, i, outside = 0, learned = 0, one, assumed_outside = 0;
	double *bound = calloc((size_t)runs, sizeof(*bound)), *error = calloc((size_t)runs, sizeof(*error)),
	       assumed = NAN, e, ratio;

	for (i = 0; i < runs; i++) {
		double lasts = brief ? between(8, 60) : between(60, 240),
		       every = brief ? lasts / between(10, 60) : between(2, 6);
		struct drawn d = draw();
		int out = run(every, lasts, 1, &bound[i], &error[i], &one);

		learned += one;
		outside += out > 0;
		CHECK(out == 0, "run %d: %d outside: walk %g, swing %g in %.0f s, a session each %.1f s for %.0f s", i,
			out, d.walk, d.swing, d.period, every, lasts);
		if (i % 20 == 0) {
			assumed_outside += run(every, lasts, 0, &assumed, &e, &one) > 0;
		}
	}
	tkm_sort(bound, (size_t)runs);
	tkm_sort(error, (size_t)runs);
	ratio = tkm_median(bound, (size_t)runs) / tkm_quantile(error, (size_t)runs, 0.99);
	printf("# %d runs, %d learned, %d outside; 60 s after the last session: error %.2f us (median), %.2f us (99 "
	       "%%), bound %.1f us (median), "
	       "ratio %.1f; last assumed bound %.1f us\n",
		runs, learned, outside, 1e6 * tkm_median(error, (size_t)runs),
		1e6 * tkm_quantile(error, (size_t)runs, 0.99), 1e6 * tkm_median(bound, (size_t)runs), ratio,
		1e6 * assumed);
	CHECK_INT(outside, 0);
	CHECK_INT(assumed_outside, 0);
	CHECK(ratio <= most, "the bound is %.1f times the error", ratio);
	CHECK(learned > runs / (brief ? 4 : 2), "only %d of %d learned", learned, runs);
	free(bound);
	free(error);
}

static void a_minute_ahead(void)
{
	many(draw_drift, 0, 20);
}

/* What was learned counts for as long again, then what is assumed. */
static void a_minute_ahead_of_a_short_run(void)
{
	many(draw_drift, 1, 50);
}

static void a_minute_ahead_as_recorded(void)
{
	if (load_recording() < 0) {
		CHECK(0, "tests/golden/clock-drift.txt cannot be read, or is too short");
		return;
	}
	many(draw_recorded, 0, 20);
}

/* The rate changes by more than was ever seen: the session after it says so, and the assumption counts again. */
static void what_was_learned_is_tested(void)
{
	struct cal_online_options opt = { .hz = 1e9,
		.master_hz = 1e9,
		.tick_s = 1e-9,
		.master_tick_s = 1e-9,
		.max_drift = 500e-6,
		.max_wander = 1e-6,
		.how = CAL_QUIET,
		.learn = 1,
		.have_axis = 1,
		.axis = ltick(0) };
	struct cal_online o;
	int i;

	for (i = 0; i < SECONDS; i++) {
		ahead[i] = 20e-6 * i + (i > 130 ? 0.9e-6 * (i - 130) : 0);
	}
	cal_online_begin(&o, &opt);
	for (i = 10; i <= 130; i += 2) {
		session(&o, i, 200e-9, 10e-9);
	}
	CHECK(o.map.learned_wander > 0 && o.map.learned_wander < 0.3e-6, "learned %g", o.map.learned_wander);
	CHECK(!o.refuted, "nothing has changed yet");
	session(&o, 150, 200e-9, 10e-9);
	CHECK(o.refuted && o.map.learned_wander == 0, "0.9 ppm more for 20 s, and nothing noticed");
	CHECK(!(o.map.learned_high > 0), "what was learned counts still");
	cal_online_free(&o);
}

/* The map of a run that is over: the rate that the clock has for a minute after it must be among those that were learned; and where
 * the rate changed, nothing is, although it was steady for two minutes after. */
static void a_run_that_is_over_is_learned_from(void)
{
	enum { N = 101 };
	int change, i;

	for (change = 0; change < 2; change++) {
		struct cal_map m = {
			.period_s = 1e-10, .max_drift = 1e-4, .max_wander = 1e-6, .nodes = N, .nominal = 10
		};
		double rate = 10 * (1 - 20e-6), at = 0;

		m.node = calloc(N, sizeof(*m.node));
		for (i = 0; i < N; i++) {
			gtick_t g = gtick(llrint(at + 1000 * (check_uniform() - 0.5)));

			m.node[i] = (struct cal_node){ .local = ltick(i * INT64_C(2000000000)),
				.global = g,
				.low = gtick(llrint(at) - 2000),
				.high = gtick(llrint(at) + 2000),
				.used = 1,
				.sigma = 100 };
			at += 2e9 * (rate + (change && i >= 30 ? 9e-6 : 0));
		}
		CHECK(cal_map_split(&m, 10, NULL) == 0 && m.steps == 0, "a step");
		cal_learn_tested(&m, 1e9);
		if (change) {
			CHECK(m.learned_high == 0 && m.learned_for == 0, "0.9 ppm more, and nothing noticed");
		} else {
			CHECK(m.learned_low < rate && rate < m.learned_high, "%.9g to %.9g, not %.9g", m.learned_low,
				m.learned_high, rate);
			CHECK(m.learned_wander > 0 && m.learned_wander < 0.5e-6, "wander %g", m.learned_wander);
			CHECK(m.learned_for == 120000000000, "for %" PRId64, m.learned_for);
		}
		cal_map_free(&m);
	}
}

/* One session of a clock that is fast by 20 ppm, of which an earlier run says that it was so, or 3 ppm less. */
static void one_session_with(double earlier, struct cal_online *o)
{
	struct cal_online_options opt = { .hz = 1e9,
		.master_hz = 1e9,
		.tick_s = 1e-9,
		.master_tick_s = 1e-9,
		.max_drift = 500e-6,
		.max_wander = 1e-6,
		.how = CAL_QUIET,
		.learn = earlier > 0,
		.earlier_low = earlier > 0 ? earlier * (1 - 1e-6) : 0,
		.earlier_high = earlier > 0 ? earlier * (1 + 1e-6) : 0,
		.have_axis = 1,
		.axis = ltick(0) };
	int i;

	for (i = 0; i < SECONDS; i++) {
		ahead[i] = 20e-6 * i;
	}
	cal_online_begin(o, &opt);
	session(o, 10, 200e-9, 10e-9);
}

static double bound_at(const struct cal_online *o, double t, double *error_s)
{
	double at = child(t);

	*error_s =
		fabs((double)cal_map_at(&o->map, ltick((int64_t)at)).v * o->map.period_s + (at - floor(at)) * 1e-9 - t);
	return cal_map_bound(&o->map, ltick((int64_t)at));
}

static void one_session_and_an_earlier_run(void)
{
	struct cal_online o;
	double bound, error, rate = 1 / (1 + 20e-6);

	one_session_with(0, &o);
	bound = bound_at(&o, 70, &error);
	CHECK(bound > 10e-3 && error < bound, "without: %g, error %g", bound, error);
	cal_online_free(&o);

	one_session_with(rate, &o);
	bound = bound_at(&o, 70, &error);
	CHECK(bound < 70e-6 && error < bound, "a minute later: %g, error %g", bound, error);
	/* for an hour */
	bound = bound_at(&o, 700, &error);
	CHECK(bound < 1e-3 && error < bound, "after 690 s: %g, error %g", bound, error);
	session(&o, 20, 200e-9, 10e-9);
	CHECK(!o.refuted && o.map.learned_high > 0, "it is true");
	cal_online_free(&o);

	one_session_with(rate * (1 - 3e-6), &o);
	CHECK(o.map.learned_high > 0, "nothing has shown it yet");
	session(&o, 20, 200e-9, 10e-9);
	CHECK(o.refuted && o.map.learned_high == 0, "3 ppm off, and nothing noticed");
	bound = bound_at(&o, 70, &error);
	CHECK(error < bound, "%g, error %g", bound, error);
	cal_online_free(&o);
}

/* The last session was held up and is certain to 50 us only: with what was learned, those before it say more. */
static void a_session_that_was_held_up_widens_nothing(void)
{
	int learn, i;

	for (i = 0; i < SECONDS; i++) {
		ahead[i] = 20e-6 * i;
	}
	for (learn = 0; learn < 2; learn++) {
		struct cal_online_options opt = options(learn);
		struct cal_online o;
		double bound, error;

		cal_online_begin(&o, &opt);
		for (i = 10; i <= 190; i += 2) {
			session(&o, i, 100e-9, 10e-9);
		}
		session(&o, 192, 50e-6, 10e-9);
		bound = bound_at(&o, 193, &error);
		CHECK(error < bound, "%g, error %g", bound, error);
		CHECK(learn ? bound < 0.3e-6 : bound > 20e-6, "learn %d: the bound a second later is %g", learn, bound);
		bound = bound_at(&o, 252, &error);
		CHECK(error < bound, "%g, error %g", bound, error);
		CHECK(learn ? bound < 2e-6 : bound > 100e-6, "learn %d: the bound a minute later is %g", learn, bound);
		/* what was learned counts for two minutes */
		bound = bound_at(&o, 700, &error);
		CHECK(bound > 300e-6, "learn %d: %g", learn, bound);
		cal_online_free(&o);
	}
}

/* What an earlier run says is taken within what this run knows for certain, and not where it says more itself, or a step can be. */
static void an_earlier_run_is_no_better_than_this_one(void)
{
	struct cal_node node = { .local = ltick(0), .global = gtick(0), .used = 1 };
	const struct cal_map none = {
		.nodes = 1, .node = &node, .max_wander = 1e-6, .rate_low = 0.9, .rate_high = 1.1
	};
	struct cal_map m = none;

	cal_learn_earlier(&m, 0.99, 1.01, 1e9);
	CHECK(m.learned_low == 0.99 && m.learned_high == 1.01, "%g to %g", m.learned_low, m.learned_high);
	CHECK(m.learned_wander == 1e-6 && m.learned_for == 3600000000000, "for %" PRId64, m.learned_for);
	cal_learn_earlier(&m, 0.95, 1.05, 1e9);
	CHECK(m.learned_low == 0.99, "what this run learned was replaced: %g", m.learned_low);
	m = none;
	cal_learn_earlier(&m, 0.8, 1.2, 1e9);
	CHECK(m.learned_low == 0.9 && m.learned_high == 1.1, "%g to %g", m.learned_low, m.learned_high);
	m = none;
	cal_learn_earlier(&m, 1.2, 1.3, 1e9);
	CHECK(m.learned_high == 0, "a rate that is not possible: %g", m.learned_high);
	m.may_step = 1;
	cal_learn_earlier(&m, 0.99, 1.01, 1e9);
	CHECK(m.learned_high == 0, "a clock that can step");
	m = none;
	m.steps = 1;
	cal_learn_earlier(&m, 0.99, 1.01, 1e9);
	CHECK(m.learned_high == 0, "a clock that stepped");
	m = none;
	m.nodes = 0;
	cal_learn_earlier(&m, 0.99, 1.01, 1e9);
	CHECK(m.learned_high == 0, "no session");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_minute_ahead);
	RUN(a_minute_ahead_of_a_short_run);
	RUN(a_minute_ahead_as_recorded);
	RUN(what_was_learned_is_tested);
	RUN(a_run_that_is_over_is_learned_from);
	RUN(one_session_and_an_earlier_run);
	RUN(a_session_that_was_held_up_widens_nothing);
	RUN(an_earlier_run_is_no_better_than_this_one);
	return check_end();
}

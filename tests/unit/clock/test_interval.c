/* SPDX-License-Identifier: BSD-3-Clause */
/* tickmark/clock.h: intervals against a known truth, 10^6 of them, and against the map of a run; how two of them compare. */
#include "config.h"
#include "tests/lib/check.h"

#include <time.h>

#include "clock/from_map.h"
#include "clock/read.h"
#include "clock/clockd/track.h"

/* ---- a world with a known time ---- */

static const double tau = 6.283185307179586;

struct world {
	double hz, drift, wander, period_s, phase; /* of the counter */
	double tick;                               /* it moves in steps of so many ticks */
	int64_t epoch_ns, ticks0;
	double away_at_s, away_s; /* suspended: the counter stands, the kernel's clock goes on */
	double jump_at_s;         /* migrated: the counter jumps, nobody but vmclock knows */
	int64_t jump;
};

/* What the counter shows at true time t. */
static int64_t counter(const struct world *w, double t)
{
	double stood = t > w->away_at_s ? fmin(t - w->away_at_s, w->away_s) : 0, run = t - stood;
	double ticks = w->hz *
		((1 + w->drift) * run +
			w->wander * w->period_s / tau * (sin(tau * run / w->period_s + w->phase) - sin(w->phase)));

	return w->ticks0 + (int64_t)(floor(ticks / w->tick) * w->tick) + (t > w->jump_at_s ? w->jump : 0);
}

static int64_t truth(const struct world *w, double t)
{
	return w->epoch_ns + llrint(t * 1e9);
}

/* The coarse clock: a step of 4 ms behind, and with an error of its own. */
static int64_t coarse(const struct world *w, double t)
{
	return w->epoch_ns + (int64_t)floor(t * 250) * 4000000;
}

static int64_t slept_ns(const struct world *w, double t)
{
	return t > w->away_at_s + w->away_s ? llrint(w->away_s * 1e9) : 0;
}

static double range(double low, double high)
{
	return low * pow(high / low, check_uniform());
}

static double sign(void)
{
	return 2 * check_uniform() - 1;
}

enum { MAX_DRIFT_PPM = 500 };

static void draw_world(struct world *w)
{
	static const double frequency[] = { 2.25e9, 3e9, 1e9, 24e6, 1e6 };

	memset(w, 0, sizeof(*w));
	w->hz = frequency[check_random() % 5];
	w->drift = sign() * (MAX_DRIFT_PPM - 1.1) * 1e-6;
	w->wander = sign() * 1e-6;
	w->period_s = range(1, 1000);
	w->phase = tau * check_uniform();
	w->tick = w->hz > 1e9 && check_random() % 2 ? 22.5 : 1;
	w->epoch_ns = 1700000000000000000 + (int64_t)(check_random() % 1000000000000000);
	w->ticks0 = (int64_t)(check_random() % (UINT64_C(1) << 50));
	w->away_at_s = w->jump_at_s = INFINITY;
}

struct run {
	struct world w;
	struct tkc_track track;
	struct tkc_state state;
	double t, updated_s;
	uint64_t marker;
	int disrupted;
	long asked, well, outside, unordered;
};

/* The server reads its reference, which is off by at most what it says, and often by exactly that. */
static void update(struct run *r)
{
	double b = range(1e3, 5e6), share = check_random() % 4 ? sign() : check_random() % 2 ? 1 : -1;
	double lag_ns = 1e9 * r->w.tick / r->w.hz;
	struct tkc_watch watch = { .boot_ns = slept_ns(&r->w, r->t), .marker = r->marker };
	struct tkc_reading reading = { .status = check_random() % 50 ? TICKMARK_OK : TICKMARK_UNSYNCHRONISED };
	struct tkc_map m;

	reading.raw = counter(&r->w, r->t);
	reading.at_ns = truth(&r->w, r->t) + llrint(share * b);
	reading.half_ns = b + 2 * lag_ns + 1;
	tkc_track_add(&r->track, &reading, &m);
	if (r->disrupted) {
		m.status = TICKMARK_DISRUPTED;
	}
	tkc_write_state(&r->state, &m, &watch, coarse(&r->w, r->t));
	r->updated_s = r->t;
}

/* As tickmark_now() asks, with what the machine would show. */
static int now(struct run *r, double t, struct tickmark_time *out)
{
	struct tkc_view v;
	uint32_t sequence = tkc_copy(&r->state, &v);
	int64_t raw = counter(&r->w, t), more = slept_ns(&r->w, t) - v.boot_ns;
	int status;

	CHECK(tkc_copied(&r->state, sequence), "no copy");
	out->scale = TICKMARK_UTC;
	out->axis = 0;
	if (v.status != TICKMARK_OK) {
		return tkc_fail(out, v.status);
	}
	if (v.marker != r->marker ||
		(!tkc_realtime_fits(&v, raw, coarse(&r->w, t)) && (more > 1000000 || more < -1000000))) {
		return tkc_fail(out, TICKMARK_DISRUPTED);
	}
	status = tkc_interval(&v, raw, out);
	return status;
}

static void ask(struct run *r, double t)
{
	struct tickmark_time at;
	int64_t is = truth(&r->w, t);
	int status = now(r, t, &at);

	r->asked++;
	r->well += status == TICKMARK_OK;
	r->outside += is < at.earliest_ns || is > at.latest_ns;
	if (status == TICKMARK_OK) {
		CHECK(t - r->updated_s < 2.01 || t > r->w.away_at_s, "used %g s after the last update",
			t - r->updated_s);
	}
	r->t = fmax(r->t, t);
}

static void ask_pair(struct run *r, double t)
{
	struct tickmark_time a, b;
	double later = t + range(1e-7, 1);

	now(r, t, &a);
	now(r, later, &b);
	r->asked += 2;
	r->outside += truth(&r->w, t) < a.earliest_ns || truth(&r->w, t) > a.latest_ns ||
		truth(&r->w, later) < b.earliest_ns || truth(&r->w, later) > b.latest_ns;
	r->unordered += tickmark_before(&a, &b) == TICKMARK_NO || tickmark_after(&a, &b) == TICKMARK_YES ||
		tickmark_before(&b, &a) == TICKMARK_YES;
	r->t = later;
}

static void one_world(struct run *r)
{
	int i, k, fate = (int)(check_random() % 4);

	memset(&r->track, 0, sizeof(r->track));
	draw_world(&r->w);
	r->marker = check_random();
	r->disrupted = 0;
	r->t = 1;
	tkc_track_begin(&r->track, 1e9 / r->w.hz, MAX_DRIFT_PPM * 1e-6, 1e-6, (int64_t)(2 * r->w.hz));
	for (i = 0; i < 60; i++) {
		update(r);
		for (k = 0; k < 10; k++) {
			ask(r, r->t + range(1e-7, 0.1));
		}
		ask_pair(r, r->t);
		r->t += check_random() % 20 ? 0.1 : range(0.1, 100); /* the server is late at times */
		ask(r, r->t);
	}
	CHECK_INT(r->track.contradictions, 0);
	if (fate == 0) {
		r->w.away_at_s = r->t + 0.01;
		r->w.away_s = range(0.05, 1e5);
		r->t += r->w.away_s + 0.02;
	} else if (fate == 1) {
		r->w.jump_at_s = r->t + 0.01;
		r->w.jump = (int64_t)(sign() * range(1e3, 1e15));
		r->marker++;
		r->t += 0.02;
	}
	for (k = 0; k < 20; k++) {
		ask(r, r->t + 1e-6);
	}
	if (fate < 2) {
		r->disrupted = 1;
		update(r);
		ask(r, r->t);
	}
}

static void a_million_intervals_contain_the_truth(void)
{
	struct run r;

	memset(&r, 0, sizeof(r));
	while (r.asked < 1000000L * check_times) {
		one_world(&r);
	}
	printf("# %ld asked, %ld with an interval\n", r.asked, r.well);
	CHECK_INT(r.outside, 0);
	CHECK_INT(r.unordered, 0);
	CHECK(r.well > r.asked / 2, "only %ld of %ld were answered", r.well, r.asked);
}

static void the_rate_is_learned(void)
{
	struct tkc_reading reading = { .status = TICKMARK_OK, .half_ns = 1e5 };
	struct tkc_track t;
	struct tkc_map m;
	int i;

	tkc_track_begin(&t, 1, 500e-6, 1e-6, 2000000000);
	for (i = 0; i <= 1000; i++) {
		reading.raw = i * INT64_C(100000000);
		reading.at_ns = reading.raw + llrint(100e-6 * (double)reading.raw); /* 100 ppm slow */
		tkc_track_add(&t, &reading, &m);
		CHECK(100e-6 >= m.ns_per_tick - 1 - m.grow && 100e-6 <= m.ns_per_tick - 1 + m.grow,
			"reading %d: %.9g +- %g", i, m.ns_per_tick, m.grow);
	}
	/* 2 x 100 us in 100 s, and two wanders */
	CHECK(m.grow < 4.1e-6, "%g after 100 s", m.grow);
}

static void a_reference_that_contradicts_itself_is_not_believed(void)
{
	struct tkc_reading reading = { .status = TICKMARK_OK, .half_ns = 1000 };
	struct tkc_track t;
	struct tkc_map m;
	int i;

	tkc_track_begin(&t, 1, 500e-6, 1e-6, 2000000000);
	for (i = 0; i < 60; i++) {
		reading.raw = i * INT64_C(100000000);
		reading.at_ns = reading.raw + (i < 30 ? 0 : 5000000); /* set by 5 ms */
		tkc_track_add(&t, &reading, &m);
		CHECK_INT(m.status, i < 30 || i >= 50 ? TICKMARK_OK : TICKMARK_UNSYNCHRONISED);
	}
	CHECK_INT(m.since_raw, 30 * INT64_C(100000000));
}

static void no_page_lasts_into_a_leap_second(void)
{
	struct tkc_reading reading = {
		.status = TICKMARK_OK, .half_ns = 1000, .raw = 5, .at_ns = 1000000000000, .leap_ns = 1000000000000
	};
	struct tkc_track t;
	struct tkc_map m;
	int i;

	for (i = 0; i < 10; i++) {
		tkc_track_begin(&t, 1, 500e-6, 1e-6, 2000000000);
		reading.leap_ns = reading.at_ns + i * INT64_C(500000000);
		tkc_track_add(&t, &reading, &m);
		CHECK_INT(m.status, i <= 2 ? TICKMARK_UNSYNCHRONISED : TICKMARK_OK);
		CHECK(m.valid_ticks <= i * INT64_C(500000000), "%lld ticks", (long long)m.valid_ticks);
	}
}

/* ---- two intervals ---- */

static void comparisons(void)
{
	const struct tickmark_time a = { 10, 20, 1, TICKMARK_UTC, TICKMARK_OK },
				   b = { 21, 30, 1, TICKMARK_UTC, TICKMARK_OK },
				   touches = { 20, 25, 1, TICKMARK_UTC, TICKMARK_OK },
				   overlaps = { 15, 25, 1, TICKMARK_UTC, TICKMARK_OK },
				   other = { 21, 30, 2, TICKMARK_UTC, TICKMARK_OK },
				   job = { 21, 30, 1, TICKMARK_JOB, TICKMARK_OK },
				   bad = { INT64_MIN, INT64_MAX, 1, TICKMARK_UTC, TICKMARK_STALE };

	CHECK_INT(tickmark_before(&a, &b), TICKMARK_YES);
	CHECK_INT(tickmark_before(&b, &a), TICKMARK_NO);
	CHECK_INT(tickmark_after(&a, &b), TICKMARK_NO);
	CHECK_INT(tickmark_after(&b, &a), TICKMARK_YES);
	CHECK_INT(tickmark_before(&a, &overlaps), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_after(&a, &overlaps), TICKMARK_UNKNOWN);
	/* both can be 20: not before for certain is only the later one */
	CHECK_INT(tickmark_before(&a, &touches), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&touches, &a), TICKMARK_NO);
	CHECK_INT(tickmark_before(&a, &other), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&a, &job), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&a, &bad), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_after(&bad, &a), TICKMARK_UNKNOWN);
	CHECK_INT(tickmark_before(&a, &a), TICKMARK_UNKNOWN);
}

/* ---- maps of runs ---- */

/* learned: the rate is expected to stay within 10 ppb for a minute after the last session, 1 ppm otherwise. */
/* Of two sessions, by which the clock is 50 ppm fast; global ticks of 0.1 ns. */
static struct cal_map map_of(struct cal_node *node, int learned)
{
	return (struct cal_map){ .nodes = 2,
		.node = node,
		.period_s = 1e-10,
		.max_drift = 500e-6,
		.max_wander = 1e-6,
		.rate_low = 9.999490,
		.rate_high = 9.999510,
		.learned_low = learned ? 9.9994999 : 0,
		.learned_high = learned ? 9.9995001 : 0,
		.learned_for = learned ? 60000000000 : 0 };
}

static void line_of_a_map(int learned)
{
	/* two sessions 1 s apart, each to within 200 ns */
	struct cal_node node[] = { { .local = { 1000000000 },
					   .global = { 10000000000 },
					   .low = { 9999998000 },
					   .high = { 10000002000 },
					   .used = 1 },
		{ .local = { 2000050000 },
			.global = { 20000000000 },
			.low = { 19999998000 },
			.high = { 20000002000 },
			.used = 1 } };
	struct cal_map m = map_of(node, learned);
	struct tkm_err err;
	struct tkc_state state;
	struct tickmark_time t;
	struct tkc_view v;
	struct tkc_map line;
	int64_t raw;
	int i;

	memset(&state, 0, sizeof(state));
	CHECK_INT(cal_map_line(&m, node[0].local, node[0].global, 1e10 / 1000050000, &err), 0);
	tkc_from_map(&m, node[1].local, 1e9, 50e-9, 100, &line);
	CHECK_INT(line.near_ticks, m.learned_for);
	CHECK_INT(line.status, TICKMARK_OK);
	tkc_write_state(&state, &line, &(struct tkc_watch){ .marker = 0 }, 0);
	tkc_copy(&state, &v);
	/* rounded outwards */
	CHECK(ldexp((double)v.grow, -TKC_SHIFT) > line.grow && ldexp((double)v.near_grow, -TKC_SHIFT) > line.near_grow,
		"%.17g for %.17g", ldexp((double)v.near_grow, -TKC_SHIFT), line.near_grow);
	for (i = 0; i < 10000; i++) {
		raw = node[0].local.v + (int64_t)(check_uniform() * 90e9);
		double map_ns = (double)cal_map_at(&m, ltick(raw)).v / 10,
		       bound_ns = 1e9 * cal_map_bound(&m, ltick(raw));

		CHECK_INT(tkc_interval(&v, raw, &t), TICKMARK_OK);
		/* between the sessions both hold, and either can be narrower */
		CHECK(raw < v.raw ||
				((double)t.earliest_ns <= map_ns - bound_ns - 50 &&
					(double)t.latest_ns >= map_ns + bound_ns + 50),
			"raw %lld: narrower than the map", (long long)raw);
		CHECK((double)(t.latest_ns - t.earliest_ns) < 2 * bound_ns + 2000 + 6e-6 * fabs((double)(raw - v.raw)),
			"raw %lld: %lld, map %g", (long long)raw, (long long)(t.latest_ns - t.earliest_ns),
			2 * bound_ns);
	}
	/* half a minute on: 2 us with what was learned, 30 us without */
	CHECK_INT(tkc_interval(&v, v.raw + 30000000000, &t), TICKMARK_OK);
	CHECK(learned ? t.latest_ns - t.earliest_ns < 4000 : t.latest_ns - t.earliest_ns > 50000, "%lld ns wide",
		(long long)(t.latest_ns - t.earliest_ns));
	CHECK_INT(tkc_interval(&v, node[0].local.v - 1, &t), TICKMARK_TOO_OLD);
	m.nodes = 0;
	m.node = NULL;
	cal_map_free(&m);
}

static void the_line_of_a_map_is_certain_where_the_map_is(void)
{
	struct tkc_map line;

	line_of_a_map(0);
	line_of_a_map(1);
	tkc_from_master(ltick(500), ltick(500 + 22500), 2.25e9, 30e-9, 100, &line);
	CHECK_INT(line.at_ns, 10000);
	CHECK_NEAR(line.half_ns, 30.5, 1e-9);
	CHECK_NEAR(line.grow, 0, 0);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_million_intervals_contain_the_truth);
	RUN(the_rate_is_learned);
	RUN(a_reference_that_contradicts_itself_is_not_believed);
	RUN(no_page_lasts_into_a_leap_second);
	RUN(comparisons);
	RUN(the_line_of_a_map_is_certain_where_the_map_is);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate of a clock, learned from readings of UTC; the interval contains the truth. */
#include "config.h"
#include "base/ticks.h"
#include "clock/clockd/track.h"
#include "clock/page.h"
#include "clock/read.h"
#include "include/clock.h"
#include "tests/lib/check.h"

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

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_million_intervals_contain_the_truth);
	RUN(the_rate_is_learned);
	RUN(a_reference_that_contradicts_itself_is_not_believed);
	RUN(no_page_lasts_into_a_leap_second);
	return check_end();
}

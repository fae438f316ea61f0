/* SPDX-License-Identifier: BSD-3-Clause */
/* The map of a run that still lasts, over simulated clocks and links: what comes after the last session is
 * compared with the truth, and the band must cover it. */
#include "config.h"
#include "base/stats.h"
#include "lab/compare/link_sim.h"
#include "calib/map/online.h"
#include "calib/session/sync.h"
#include "timers/sources/sim.h"
#include "tests/lib/check.h"

static const char quiet[] = "delay=100ns,jitter=20ns,read=14ns";

struct world {
	struct cal_link *l;
	struct cal_online o;
	double hz[2], exchanged_s;
};

static void begin(struct world *w, const char *clocks, const char *network, double max_wander)
{
	struct cal_online_options opt = { .max_drift = 500e-6, .max_wander = max_wander, .how = CAL_QUIET };
	struct tkm_err err;
	int i;

	memset(w, 0, sizeof(*w));
	w->l = cal_link_sim(2, clocks, network, &err);
	CHECK(w->l != NULL, "%s", err.text);
	for (i = 0; i < 2; i++) {
		w->hz[i] = cal_link_sim_clock(w->l, i)->hz;
	}
	opt.hz = w->hz[1];
	opt.master_hz = w->hz[0];
	cal_online_begin(&w->o, &opt);
}

static void end(struct world *w)
{
	cal_online_free(&w->o);
	cal_link_close(w->l);
}

static void session(struct world *w)
{
	struct cal_sync_options opt = {
		.max_messages = 100, .max_duration_s = 60, .method = CAL_SYNC_PAIRS, .hz = w->hz
	};
	unsigned char exchanges[2] = { 0, 1 };
	struct cal_session s[2] = { { 0 } };
	double at = cal_link_seconds(w->l);
	struct tkm_err err;

	CHECK(cal_sync_session(w->l, 0, exchanges, &opt, CAL_MIDDLE, s, &err) == 0, "%s", err.text);
	w->exchanged_s += cal_link_seconds(w->l) - at;
	CHECK(cal_online_add(&w->o, &s[1], &err) == 0, "%s", err.text);
	cal_session_free(&s[1]);
}

/* True error of the present map at a true time, seconds; *bound in seconds. The axis is the master's clock at
 * its nominal rate. */
static double error_at(const struct world *w, int64_t true_ps, double *bound)
{
	const struct cal_map *m = &w->o.map;
	double f0, f1, want;
	ltick_t master = tmr_sim_truth(cal_link_sim_clock(w->l, 0), true_ps, &f0);
	ltick_t local = tmr_sim_truth(cal_link_sim_clock(w->l, 1), true_ps, &f1);

	want = ((double)ltick_sub(master, w->o.master0) + f0) / w->hz[0];
	*bound = cal_map_bound(m, local);
	return ((double)cal_map_at(m, local).v + f1 * cal_map_slope(m, local)) * m->period_s - want;
}

static int64_t now_ps(const struct world *w)
{
	return cal_link_sim_time(w->l)->now_ps;
}

/* calib.online60: 16 sessions over 1.5 s, then 60 s ahead, skew only. */
static void a_minute_ahead_without_a_last_session(void)
{
	enum { RUNS = 60 };
	double error[RUNS], bound;
	struct tkm_spread s;
	int run, k, outside = 0;

	for (run = 0; run < RUNS; run++) {
		char clocks[160], network[100];
		struct world w;

		snprintf(clocks, sizeof(clocks),
			"offset={rank}ms,drift={rank}%.2fppm,tick=%.2fns,noise=2ns,seed=%d{rank}", 9 * check_uniform(),
			5 + 5 * check_uniform(), run + 1);
		snprintf(network, sizeof(network), "%s,seed=%d", quiet, run);
		begin(&w, clocks, network, 1e-6);
		for (k = 0; k < 16; k++) {
			session(&w);
			cal_link_sleep(w.l, 0.1);
		}
		CHECK(w.exchanged_s <= 10e-3, "%g s of exchanges", w.exchanged_s);
		error[run] = fabs(error_at(&w, now_ps(&w) + 60000000000000, &bound));
		outside += error[run] > bound;
		end(&w);
	}
	CHECK_INT(outside, 0);
	s = tkm_spread(error, RUNS);
	printf("# 60 s ahead: true error %.0f [%.0f..%.0f] ns\n", s.median * 1e9, s.min * 1e9, s.max * 1e9);
	CHECK(s.median <= 500e-9 && s.max <= 1.5e-6, "median %g s, worst %g s", s.median, s.max);
}

static double normal(void)
{
	return sqrt(-2 * log(1 - check_uniform())) * cos(2 * M_PI * check_uniform());
}

/* Paths change from one session to the next, which none of them can see: they scatter by three times what they say of
 * themselves, and now and then by ten times that. A clock that is steady is followed through all of them, not through the last
 * two, whose line would be microseconds off a minute later. */
static void sessions_may_scatter_by_more_than_they_say(void)
{
	enum { RUNS = 300, SESSIONS = 21 };
	struct cal_online_options opt = {
		.hz = 1e9, .master_hz = 1e9, .max_drift = 500e-6, .max_wander = 1e-6, .how = CAL_QUIET
	};
	double error[RUNS];
	struct tkm_spread s;
	struct tkm_err err;
	int run, k;

	for (run = 0; run < RUNS; run++) {
		struct cal_online o;

		cal_online_begin(&o, &opt);
		for (k = 0; k < SESSIONS; k++) {
			double off = 12 * normal() * (check_uniform() < 0.05 ? 3 : 1);
			struct cal_session one = { .kind = CAL_MIDDLE,
				.given = 1,
				.point = { .local = ltick(k * 100000000LL),
					.master = ltick(k * 100002000LL + llrint(off)),
					.low = -400,
					.high = 400,
					.sigma = 4 } };

			CHECK(cal_online_add(&o, &one, &err) == 0, "%s", err.text);
		}
		error[run] = fabs((double)cal_map_at(&o.map, ltick(62000000000LL)).v * o.map.period_s - 62.00124);
		CHECK_INT(o.steps, 0);
		cal_online_free(&o);
	}
	s = tkm_spread(error, RUNS);
	printf("# 60 s ahead of sessions that scatter: true error %.0f [%.0f..%.0f] ns\n", s.median * 1e9, s.min * 1e9,
		s.max * 1e9);
	/* least squares through 21 points of 12 ns in 2 s: 260 ns, half of all within 175 */
	CHECK(s.median <= 350e-9 && s.max <= 1.5e-6, "median %g s, worst %g s", s.median, s.max);
}

/* calib.online.wobble: one session a second, looked at just before the next one and in between. */
static void wobble_is_followed_with_a_burst_a_second(void)
{
	double worst = 0, bound, error;
	struct world w;
	int k, i, outside = 0;

	begin(&w, "drift={rank}37ppm,wobble={rank}ppm/60s,tick=7.{rank}ns,noise=2ns,seed={rank}",
		"delay=100ns,jitter=20ns,seed=4", 1e-6);
	for (k = 0; k < 180; k++) {
		session(&w);
		for (i = 0; i <= 20 && k > 0; i++) {
			error = fabs(error_at(&w, now_ps(&w) + (int64_t)(i * 0.05e12), &bound));
			worst = fmax(worst, error);
			outside += error > bound;
		}
		cal_link_sleep(w.l, 1 - 0.6e-3);
	}
	printf("# wobble of 1 ppm/60 s, one session a second: true error at most %.0f ns, bound %.0f ns\n", worst * 1e9,
		bound * 1e9);
	CHECK(worst <= 300e-9, "%g s off", worst);
	CHECK_INT(outside, 0);
	CHECK_INT(w.o.steps, 0);
	CHECK(w.o.map.nodes <= 64, "%zu nodes: memory grows", w.o.map.nodes);
	end(&w);
}

/* What was known of the rate does not hold once it is seen to wander by more than was assumed. */
static void a_rate_that_wanders_by_more_than_assumed(void)
{
	int run, k, i;

	for (run = 0; run < 12; run++) {
		double size = 0.5 * pow(40, check_uniform()), period = 30 * pow(10, check_uniform()), bound, error,
		       most = 0;
		int outside = 0;
		char clocks[160];
		struct world w;

		snprintf(clocks, sizeof(clocks),
			"drift={rank}3ppm,wobble={rank}%.3fppm/%.1fs,tick=3ns,noise=2ns,seed=%d{rank}", size, period,
			run);
		begin(&w, clocks, quiet, 1e-6);
		for (k = 0; k < 60; k++) {
			session(&w);
			for (i = 0; i <= 20 && k > 3; i++) {
				error = fabs(error_at(&w, now_ps(&w) + (int64_t)(i * 0.05e12), &bound));
				outside += error > bound;
				most = fmax(most, error / bound);
			}
			cal_link_sleep(w.l, 1);
		}
		CHECK(outside == 0, "%s: %d outside, by up to %.2f times the bound", clocks, outside, most);
		end(&w);
	}
}

static void a_step_begins_the_map_anew(void)
{
	static const char *const sizes[] = { "{rank}us", "{rank}00us", "-{rank}00us", "-{rank}s", "{rank}s" };
	double bound, error;
	struct world w;
	size_t i;
	int k;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char clocks[120];

		snprintf(clocks, sizeof(clocks), "drift={rank}0ppm,step=%s@7500ms,tick=3ns", sizes[i]);
		begin(&w, clocks, quiet, 1e-6);
		for (k = 0; k < 12; k++) {
			session(&w);
			error = fabs(error_at(&w, now_ps(&w) + 200000000, &bound));
			CHECK(error <= bound && error < 100e-9, "%s, after session %d: %g s off, bound %g", sizes[i], k,
				error, bound);
			CHECK_INT(w.o.steps, k > 7);
			cal_link_sleep(w.l, 1);
		}
		end(&w);
	}
}

/* Three sessions on each tick of a clock: it did not stop between them. */
static void sessions_on_one_tick_are_no_step(void)
{
	struct world w;
	double bound, error;
	int k;

	begin(&w, "drift={rank}ppm,tick=100ms", quiet, 1e-6);
	w.o.opt.tick_s = w.o.opt.master_tick_s = 0.1;
	for (k = 0; k < 30; k++) {
		session(&w);
		CHECK_INT(w.o.steps, 0);
		error = fabs(error_at(&w, now_ps(&w) + 20000000000, &bound));
		CHECK(error <= bound, "after %d sessions %g s off, bound %g s", k + 1, error, bound);
		cal_link_sleep(w.l, 0.03);
	}
	CHECK(w.o.map.nodes >= 8 && w.o.map.nodes <= 10, "%zu nodes", w.o.map.nodes);
	end(&w);
}

/* The bound at the time that cal_map_lasts() names is the wanted one. */
static void the_next_session_is_due_when_the_band_is_used_up(void)
{
	double bound, lasts;
	struct world w;
	int k;

	begin(&w, "drift={rank}0ppm,tick=3ns", quiet, 0.05e-6);
	CHECK_NEAR(cal_session_spacing(100e-9, 1e-6, 0, 300e-9), 0.4, 1e-12);
	CHECK_NEAR(cal_session_spacing(100e-9, 1e-6, 1, 300e-9), 0.1, 1e-12);
	CHECK(cal_session_spacing(400e-9, 1e-6, 0, 300e-9) == 0, "a bound below the half width");
	for (k = 0; k < 5; k++) {
		ltick_t now;
		double f;

		session(&w);
		now = tmr_sim_truth(cal_link_sim_clock(w.l, 1), now_ps(&w), &f);
		lasts = cal_map_lasts(&w.o.map, now, 300e-9);
		CHECK(lasts > 0 && isfinite(lasts), "it lasts %g s", lasts);
		bound = cal_map_bound(&w.o.map, ltick_add(now, llrint(lasts * w.hz[1])));
		CHECK_NEAR(bound, 300e-9, 2e-9);
		CHECK(cal_map_lasts(&w.o.map, now, 1e-9) == 0, "a bound that cannot be");
		cal_link_sleep(w.l, 1);
	}
	/* with a base line of four seconds it grows by 2 x 0.05 ppm and little more */
	CHECK(lasts > 1, "only %g s", lasts);
	end(&w);
}

static void sessions_that_say_nothing_change_nothing(void)
{
	struct cal_session none = { .n = 0 };
	struct tkm_err err;
	struct world w;

	begin(&w, "tick=3ns", quiet, 1e-6);
	CHECK(cal_online_add(&w.o, &none, &err) == 0, "%s", err.text);
	CHECK(w.o.sessions == 0 && w.o.map.pieces == 0, "a map from nothing");
	session(&w);
	CHECK(cal_online_add(&w.o, &none, &err) == 0, "%s", err.text);
	CHECK(w.o.sessions == 1 && w.o.map.pieces == 1, "%zu sessions", w.o.sessions);
	end(&w);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_minute_ahead_without_a_last_session);
	RUN(sessions_may_scatter_by_more_than_they_say);
	RUN(wobble_is_followed_with_a_burst_a_second);
	RUN(a_rate_that_wanders_by_more_than_assumed);
	RUN(a_step_begins_the_map_anew);
	RUN(sessions_on_one_tick_are_no_step);
	RUN(the_next_session_is_due_when_the_band_is_used_up);
	RUN(sessions_that_say_nothing_change_nothing);
	return check_end();
}

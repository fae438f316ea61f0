/* SPDX-License-Identifier: BSD-3-Clause */
/* Steered clocks beside free ones, in virtual time: slewed by 10 to 500 ppm between the sessions and back, set by 100 ns to a
 * second at least 100 ms apart, read at irregular times, now and then not for seconds. What the pairs say of each stamp is
 * compared with the truth, for stamps alone and for stamps in their order. -n TIMES draws more. */
#include "config.h"
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "calib/map/map.h"
#include "timers/quality/assume.h"
#include "timers/sources/sim.h"
#include "timers/sources/virtual.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"

enum { POINTS = 400 };

struct world {
	struct tmr_virtual now;
	struct tmr_timer *steered, *free;
	struct cal_pairs pairs;
	double seconds;
};

static double between(double low, double high)
{
	return low + (high - low) * check_uniform();
}

static void begin(struct world *w, const char *clock)
{
	struct tkm_err err = { .text = "" };
	struct tmr_assumption a;
	int why;

	memset(w, 0, sizeof(*w));
	w->now.read_cost_ps = 20000;
	w->steered = tmr_sim_wrap(tmr_virtual_open(&w->now), clock, 0, &err);
	CHECK(w->steered != NULL, "%s: %s", clock, err.text);
	w->free = tmr_open_reference(w->steered, &why, &err);
	CHECK(w->free != NULL, "%s", err.text);
	tmr_assume(w->steered, &a);
	w->pairs = (struct cal_pairs){ .hz = w->steered->hz,
		.reference_hz = w->free->hz,
		.tick_s = 1 / w->steered->hz,
		.reference_tick_s = 1 / w->free->hz,
		.max_slew = a.max_slew,
		.slew_limit = a.slew_limit,
		.may_step = (w->steered->flags & TMR_STEPPED) != 0 };
}

/* For so long, a pair each 40 ms and up to `late` more, and with that share of long pauses. */
static void take(struct world *w, double seconds, double late_s, double pauses)
{
	struct tkm_err err;

	w->seconds = seconds;
	while ((double)w->now.now_ps < seconds * 1e12) {
		CHECK_INT(cal_pairs_take(&w->pairs, w->steered, w->free, 0, &err), 0);
		w->now.now_ps += llround(1e12 * (cal_pair_every_s + late_s * check_uniform()));
		w->now.now_ps += check_uniform() < pauses ? llround(between(0.05, 1) * 1e12) : 0;
	}
	w->seconds = (double)w->now.now_ps * 1e-12; /* after the last pair nobody looks */
	CHECK_INT(cal_pairs_take(&w->pairs, w->steered, w->free, 0, &err), 0);
	CHECK_INT(cal_pairs_judge(&w->pairs, &err), 0);
}

static void end(struct world *w)
{
	cal_pairs_free(&w->pairs);
	tmr_close(w->free);
	tmr_close(w->steered);
}

/* Stamps outside of what holds whatever steers the clock: there are none. */
static int beyond_proven;

/* How many stamps are outside; *median_s of their bounds, in their order. */
static int look(struct world *w, double *median_s)
{
	double bounds[POINTS], f, fr, within, proven;
	struct cal_stamp_place place = { .have_from = 0 };
	int i, outside = 0;

	for (i = 0; i < POINTS; i++) {
		int64_t ps = llround(1e12 * w->seconds * (i + check_uniform()) / POINTS);
		ltick_t local = tmr_sim_truth(w->steered, ps, &f), truth = tmr_sim_truth(w->free, ps, &fr), at;
		double more = f / cal_pairs_slope(&w->pairs, local) - fr;

		at = cal_pairs_at(&w->pairs, local, NULL, &within, &proven);
		outside += fabs((double)ltick_sub(at, truth) + more) > within + 1;
		beyond_proven += fabs((double)ltick_sub(at, truth) + more) > proven + 1;
		at = cal_pairs_at(&w->pairs, local, &place, &within, &proven);
		outside += fabs((double)ltick_sub(at, truth) + more) > within + 1;
		place.have_from = 1;
		place.from = ltick_add(at, -(int64_t)proven - 1);
		bounds[i] = within / w->free->hz;
	}
	tkm_sort(bounds, POINTS);
	*median_s = tkm_median(bounds, POINTS);
	return outside;
}

static void a_slew_between_two_sessions_is_seen(void)
{
	static const double ppm[] = { 10, 50, 500 };
	int round, outside = 0, wide = 0, runs = 100 * check_times, contradicted = 0;

	for (round = 0; round < runs; round++) {
		double from = between(1, 3), median;
		char clock[200];
		struct world w;

		snprintf(clock, sizeof(clock),
			"drift=%.2fppm,wobble=0.3ppm/60s,slew=%s%.0fppm/%.4fs/%.4fs/%.4fs,tick=%.1fns,seed=%d",
			between(-50, 50), round % 2 ? "-" : "", ppm[round % 3], from, from + 0.5,
			from + between(0.8, 2), between(0.5, 20), round);
		begin(&w, clock);
		take(&w, 6, 0.008, 0);
		outside += look(&w, &median);
		wide += median > 1e-6;
		contradicted += w.pairs.contradictions > 0;
		CHECK_INT(w.pairs.branches, 1);
		end(&w);
	}
	printf("# %d slews: %d stamps outside, %d runs with a median above 1 us, %d contradictions\n", runs, outside,
		wide, contradicted);
	CHECK_INT(outside, 0);
	CHECK_INT(wide, 0);
	CHECK_INT(contradicted, 0);
}

static void steps_and_slews_at_any_time(void)
{
	int round, outside = 0, runs = 300 * check_times, contradicted = 0, wide = 0;

	for (round = 0; round < runs; round++) {
		char clock[250];
		double at = between(0.2, 1), median, from = between(0, 5);
		int n = 1 + (int)(check_random() % 5), i, late = round % 4 == 3;
		struct world w;

		snprintf(clock, sizeof(clock), "drift=%.2fppm,tick=%.1fns,slewed=on", between(-50, 50),
			round % 10 ? between(0.5, 20) : 1000);
		n = late ? 1 : n; /* several in one long pause are not assumed */
		if (round % 3 == 0) {
			snprintf(clock + strlen(clock), sizeof(clock) - strlen(clock), ",slew=%.0fppm/%.4fs/%.4fs/0s",
				between(-500, 500), from, from + 0.5);
			n = 1;
			at = from + 0.7;
		}
		for (i = 0; i < n; i++) {
			double size = pow(10, between(-7, 0)) * (check_uniform() < 0.5 ? -1 : 1);

			snprintf(clock + strlen(clock), sizeof(clock) - strlen(clock), ",step=%.9fs@%.4fs", size, at);
			at += between(0.1, 1);
		}
		begin(&w, clock);
		take(&w, 6, late ? 0.05 : 0.008, late ? 0.05 : 0);
		i = look(&w, &median);
		CHECK(i == 0, "round %d: %d outside: %s", round, i, clock);
		outside += i;
		wide += median > 1e-5 && !late;
		contradicted += w.pairs.contradictions > 0;
		end(&w);
	}
	printf("# %d runs with steps: %d stamps outside, %d with a median above 10 us, %d contradictions\n", runs,
		outside, wide, contradicted);
	CHECK_INT(outside, 0);
	CHECK(wide < runs / 10, "%d of %d are wide", wide, runs);
	CHECK(contradicted < runs / 10, "%d of %d contradict what was assumed", contradicted, runs);
}

/* Faster than adjtime() and NTP slew, and a clock that cannot be set is set. */
static void what_was_not_assumed_is_noticed(void)
{
	static const char *const clocks[] = { "slew=3000ppm/2s/2.5s/0s", "slew=-8%/2s/3s/0s",
		"slew=400ppm/2s/2.02s/2.04s", "slew=900ppm/2s/2.001s/0s,slew=-900ppm/2.3s/2.301s/2.302s" };
	size_t i;

	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		double median;
		struct world w;
		int outside;

		begin(&w, clocks[i]);
		take(&w, 6, 0.005, 0);
		outside = look(&w, &median);
		/* there and back between two readings leaves no trace: there only what is proven holds */
		CHECK(w.pairs.contradictions > 0 || i >= 2, "%s: not noticed", clocks[i]);
		CHECK(outside == 0 || w.pairs.contradictions == 0, "%s: %d outside", clocks[i], outside);
		end(&w);
	}
}

/* Faster all the time, so that no interval differs from its neighbours, where a clock may be set: after the last reading and before the
 * first the limit of the kernel counts, too. */
static void a_slew_that_lasts_is_noticed(void)
{
	static const char *const clocks[] = { "slew=3000ppm/0s/100s/0s", "slew=-9%/0s/100s/0s",
		"slew=3000ppm/0s/100s/0s,step=30ms@2s", "slew=-9%/0s/100s/0s,step=1s@300s" };
	size_t i;

	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		double f, fr, within, off;
		struct world w;
		ltick_t local, truth, at;

		begin(&w, clocks[i]);
		take(&w, 6, 0.005, 0);
		CHECK(w.pairs.contradictions > 0, "%s: not noticed", clocks[i]);
		w.now.now_ps += 50000000000;
		local = tmr_sim_truth(w.steered, w.now.now_ps, &f);
		truth = tmr_sim_truth(w.free, w.now.now_ps, &fr);
		at = cal_pairs_at(&w.pairs, local, NULL, &within, NULL);
		off = fabs((double)ltick_sub(at, truth) - fr);
		CHECK(off <= within + 1, "%s: 50 ms after the last reading %g ticks off, bound %g", clocks[i], off,
			within);
		end(&w);
	}
}

/* Several readings on one tick of a coarse clock: nobody set it, or stopped it. */
static void readings_on_one_tick_are_no_step(void)
{
	static const char *const clocks[] = { "tick=1ms,slewed=on", "tick=1ms,slewed=on,step=1s@300s",
		"tick=20ms,slewed=on", "tick=1ms,slew=500ppm/2s/3s/4s" };
	size_t i;

	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		struct tkm_err err;
		double median;
		struct world w;
		int k, n;

		begin(&w, clocks[i]);
		for (k = 0; k < 500; k++) {
			/* before and after sessions, in groups of one to four */
			for (n = 0; n <= k % 4; n++) {
				CHECK_INT(cal_pairs_take(&w.pairs, w.steered, w.free, 0, &err), 0);
				w.now.now_ps += llround(between(1e7, 3e8));
			}
			w.now.now_ps += llround(between(1e9, 1e12 * cal_pair_every_s));
		}
		w.seconds = (double)w.now.now_ps * 1e-12;
		CHECK_INT(cal_pairs_take(&w.pairs, w.steered, w.free, 0, &err), 0);
		CHECK_INT(cal_pairs_judge(&w.pairs, &err), 0);
		CHECK(w.pairs.contradictions == 0, "%s: %zu contradictions", clocks[i], w.pairs.contradictions);
		for (k = n = 0; (size_t)k + 1 < w.pairs.n; k++) {
			n += w.pairs.pair[k].step == CAL_PAIR_SET;
		}
		CHECK(n == 0, "%s: set %d times", clocks[i], n);
		n = look(&w, &median);
		CHECK(n == 0, "%s: %d outside", clocks[i], n);
		end(&w);
	}
}

/* Between two pairs in a straight line, but not across a step, nor before the first or after the last. */
static void the_steered_clock_when_the_reference_showed_a_tick(void)
{
	struct cal_reading pair[] = { { .local = { 1005 }, .before = { 0 }, .after = { 10 } },
		{ .local = { 2105 }, .before = { 1000 }, .after = { 1010 }, .step = CAL_PAIR_SET },
		{ .local = { 9000 }, .before = { 2000 }, .after = { 2010 } } };
	const struct cal_pairs p = { .hz = 2e9, .reference_hz = 1e9, .pair = pair, .n = 3 };

	CHECK_INT(cal_pairs_local(&p, ltick(505)).v, 1005 + 550);
	CHECK_INT(cal_pairs_local(&p, ltick(1505)).v, 2105 + 1000);
	CHECK_INT(cal_pairs_local(&p, ltick(3005)).v, 9000 + 2000);
	CHECK_INT(cal_pairs_local(&p, ltick(-495)).v, 1005 - 1000);
}

static void take_and_free(void)
{
	struct cal_pairs copy;
	struct world w;

	begin(&w, "slewed=on,step=1ms@300ms,step=-2ms@700ms,tick=1ns");
	take(&w, 1, 0.01, 0);
	CHECK_INT(cal_pairs_judge(&w.pairs, &(struct tkm_err){ .text = "" }), 0);
	CHECK(w.pairs.branches > 1, "%zu branches", w.pairs.branches);
	CHECK_INT(cal_pairs_copy(&copy, &w.pairs), 0);
	cal_pairs_free(&copy);
	end(&w);
}

static void all_memory_is_given_back(void)
{
	CHECK_HEAP(take_and_free, 5);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_slew_between_two_sessions_is_seen);
	RUN(steps_and_slews_at_any_time);
	RUN(what_was_not_assumed_is_noticed);
	RUN(a_slew_that_lasts_is_noticed);
	RUN(readings_on_one_tick_are_no_step);
	CHECK_INT(beyond_proven, 0);
	RUN(the_steered_clock_when_the_reference_showed_a_tick);
	RUN(all_memory_is_given_back);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What one session of exchanges says of the master's clock, for clocks whose truth is known: coarse, drifting, or set meanwhile. */
#include "config.h"
#include "calib/map/fit.h"
#include "tests/lib/check.h"

enum { SAMPLES = 40 };

/* The master's clock is slope * local + offset, from local time 0; readings lag by less than a tick. */
static struct {
	double slope, offset, tick_local, tick_master,
		step;        /* the master's clock steps by so much after sample step_at */
	int step_at, inside; /* ... or while the master answers that sample */
	struct cal_sample sample[SAMPLES];
	struct cal_session session;
} world;

static ltick_t coarse(double v, double tick)
{
	return ltick((int64_t)(floor(v / tick) * tick));
}

static double master_at(double local, int sample)
{
	return world.slope * local + world.offset + (sample > world.step_at ? world.step : 0);
}

/* n exchanges, each after a pause of up to `pause`; a message takes 20 ticks and up to `queue` more. */
static void exchange(int n, double pause, double queue)
{
	double local = 1e6 * check_uniform();
	int i;

	for (i = 0; i < n; i++) {
		double send, in, out, recv;

		send = local += 1 + pause * check_uniform();
		in = local += 20 + queue * check_uniform();
		out = local += 3 * check_uniform();
		recv = local += 20 + queue * check_uniform();
		world.sample[i] = (struct cal_sample){ .send = coarse(send, world.tick_local),
			.master_in = coarse(master_at(in, i), world.tick_master),
			.master_out = coarse(master_at(out, i + world.inside), world.tick_master),
			.recv = coarse(recv, world.tick_local),
			.kept = 1 };
	}
	world.session = (struct cal_session){ .used = 1, .n = (size_t)n, .sample = world.sample };
}

static void make(double tick_local, double tick_master)
{
	world.slope = 0.5 + check_uniform();
	world.offset = 1e7 * (check_uniform() - 0.5);
	world.tick_local = tick_local;
	world.tick_master = tick_master;
	world.step = 0;
	world.step_at = SAMPLES;
	world.inside = 0;
}

/* The truth at the point, less what it estimates; sample: on which side of a step. */
static double off(const struct cal_point *p, int sample)
{
	return master_at((double)p->local.v, sample) - (double)p->master.v;
}

static void coarse_clocks_are_inside(void)
{
	static const double ticks[][2] = { { 1, 1 }, { 1, 500 }, { 500, 1 }, { 300, 300 } };
	size_t k, i, outside = 0, n = 4000;
	struct cal_point p;

	for (k = 0; k < sizeof(ticks) / sizeof(ticks[0]); k++) {
		for (i = 0; i < n; i++) {
			make(ticks[k][0], ticks[k][1]);
			exchange(1 + (int)(check_random() % 6), 400, 30);
			CHECK(cal_condense(&world.session, world.slope, 0, ticks[k][0], ticks[k][1],
				      i % 2 ? CAL_QUIET : CAL_MEAN, &p, NULL) == 0,
				"condense");
			outside += off(&p, 0) < p.low - 1e-6 || off(&p, 0) > p.high + 1e-6;
			CHECK(p.sigma >= 0.25 * (world.slope * ticks[k][0] + ticks[k][1]) - 1e-9, "sigma %g", p.sigma);
		}
		CHECK(outside == 0, "ticks of %g and %g: %zu of %zu", ticks[k][0], ticks[k][1], outside, n);
	}
}

/* Both ends widen by what both readings can lag behind, and by nothing else. */
static void both_ends_have_the_lag(void)
{
	struct cal_point bare, wide;
	int i;

	for (i = 0; i < 1000; i++) {
		make(1, 1);
		exchange(SAMPLES, 400, 30);
		cal_condense(&world.session, world.slope, 0, 3, 4, CAL_MEAN, &bare, NULL);
		cal_condense(&world.session, world.slope, 0, 100, 50, CAL_MEAN, &wide, NULL);
		CHECK_NEAR(wide.high - bare.high, world.slope * 97 + 46, 1e-6);
		CHECK_NEAR(bare.low - wide.low, world.slope * 97 + 46, 1e-6);
		CHECK(bare.high - bare.low < world.slope * 110 + 20, "%g wide", bare.high - bare.low);
	}
}

/* The rate is wrong by at most the given error; the point is at either end of the session. */
static void a_wrong_rate_is_allowed_for(void)
{
	const double error = 1.1e-4; /* in the whole session about what two messages take */
	struct cal_point p;
	size_t i, k, outside = 0;

	for (i = 0; i < 4000; i++) {
		make(1, 1);
		exchange(SAMPLES, 20000, 3);
		for (k = 0; k < SAMPLES; k++) {
			world.sample[k].kept = k == (i / 2 % 2 ? SAMPLES - 1 : 0);
		}
		CHECK(cal_condense(&world.session, world.slope * (i % 2 ? 1 + error : 1 - error), 1.01 * error, 1, 1,
			      CAL_MEAN, &p, NULL) == 0,
			"condense");
		outside += off(&p, 0) < p.low || off(&p, 0) > p.high;
	}
	CHECK_INT(outside, 0);
}

static void a_step_in_a_session_is_found(void)
{
	size_t before, after, i;
	int at;

	for (i = 0; i < 2000; i++) {
		make(1, 1);
		exchange(SAMPLES, 400, 30);
		CHECK_INT(cal_find_step_in_session(&world.session, world.slope, 0, 1, 1, &before, &after), 0);
		at = 2 + (int)(check_random() % (SAMPLES - 5));
		world.step_at = at;
		world.step = i % 2 ? 5000 : -5000;
		world.inside = i / 2 % 2;
		exchange(SAMPLES, 400, 30);
		CHECK_INT(cal_find_step_in_session(&world.session, world.slope, 0, 1, 1, &before, &after), 1);
		/* samples 0 to `at` are from before it, or that one is from neither side */
		CHECK(before <= (size_t)(at + 1 - world.inside) && before + 1 >= (size_t)at &&
				after >= (size_t)at + 1 && after <= (size_t)at + 3,
			"a step after sample %d: before %zu, from %zu on", at, before, after);
	}
}

static void a_step_that_cannot_be_seen_is_allowed_for(void)
{
	struct cal_point p;
	size_t i, outside = 0;
	int k;

	for (i = 0; i < 4000; i++) {
		make(1, 1);
		world.step_at = (int)(check_random() % (SAMPLES - 1));
		world.step = 60 * (check_uniform() - 0.5);
		exchange(SAMPLES, 400, 300);
		CHECK(cal_condense(&world.session, world.slope, 0, 1, 1, CAL_QUIET, &p, NULL) == 0, "condense");
		cal_allow_for_step(&world.session, world.slope, 0, 1, 1, &p);
		for (k = 0; k < SAMPLES; k += SAMPLES - 1) {
			outside += off(&p, k) < p.low || off(&p, k) > p.high;
		}
	}
	CHECK_INT(outside, 0);
	/* nothing is narrowed */
	make(1, 1);
	exchange(SAMPLES, 400, 30);
	p = (struct cal_point){
		.local = world.sample[0].send, .master = world.sample[0].master_in, .low = -1e9, .high = 1e9
	};
	cal_allow_for_step(&world.session, world.slope, 0, 1, 1, &p);
	CHECK(p.low == -1e9 && p.high == 1e9, "%g to %g", p.low, p.high);
}

static void samples_that_contradict_each_other(void)
{
	struct cal_point p;

	make(1, 1);
	world.step_at = 19;
	world.step = 100000;
	exchange(SAMPLES, 400, 30);
	CHECK(cal_condense(&world.session, world.slope, 0, 1, 1, CAL_MEAN, &p, NULL) == 0, "condense");
	CHECK(off(&p, 0) >= p.low && off(&p, 39) <= p.high, "all that any of them allows: %g to %g", p.low, p.high);
}

static void only_kept_samples_are_in_the_mean(void)
{
	struct tkm_err err = { TKM_OK, "" };
	struct cal_point p;
	int i;

	make(1, 1);
	exchange(SAMPLES, 400, 0);
	for (i = 0; i < SAMPLES; i++) {
		world.sample[i].kept = i == 3 || i == 7;
	}
	CHECK(cal_condense(&world.session, world.slope, 0, 1, 1, CAL_MEAN, &p, &err) == 0, "%s", err.text);
	CHECK(p.kept == 2 && p.all == SAMPLES, "%zu of %zu", p.kept, p.all);
	CHECK(p.local.v > world.sample[3].send.v && p.local.v < world.sample[7].recv.v, "where");
	CHECK(fabs(p.fraction + (double)p.master.v - master_at((double)p.local.v, 0)) < 4 * world.slope + 2, "%g off",
		p.fraction + (double)p.master.v - master_at((double)p.local.v, 0));
	for (i = 0; i < SAMPLES; i++) {
		world.sample[i].kept = 0;
	}
	CHECK(cal_condense(&world.session, world.slope, 0, 1, 1, CAL_MEAN, &p, &err) < 0 &&
			strstr(err.text, "no usable"),
		"%s", err.text);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(coarse_clocks_are_inside);
	RUN(both_ends_have_the_lag);
	RUN(a_wrong_rate_is_allowed_for);
	RUN(a_step_in_a_session_is_found);
	RUN(a_step_that_cannot_be_seen_is_allowed_for);
	RUN(samples_that_contradict_each_other);
	RUN(only_kept_samples_are_in_the_mean);
	return check_end();
}

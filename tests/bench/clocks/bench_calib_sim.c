/* SPDX-License-Identifier: BSD-3-Clause */
/* The calibration's figures in virtual time: whole runs over simulated links, where a minute takes a millisecond.
 * usage: bench_calib_sim [-s SEED] [-n TRIALS] [FIGURE ...]; prints raw lines for bench_calib_table.py:
 * figure, value, unit. Clocks are on grids of about 10 ns, one for each rank, as the counter is where the limits
 * were set. */
#include "config.h"
#include "calib/map/causality.h"
#include "lab/compare/link_sim.h"
#include "calib/map/online.h"
#include "calib/solve/solve.h"
#include "calib/session/sync.h"
#include "timers/sources/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS_MOST = 8 };

struct trial {
	int ranks, sessions;
	const char *clocks, *network;
	double seconds, begin_s; /* begin_s: the clocks have run so long already */
	enum cal_sync_method method;
	enum cal_interpolation how;
	int skip;  /* as TIMER-SKIP */
	int brief; /* sessions between the first and the last as in a job, one burst */
};

static uint64_t state = 20261121;
static long trials = 100000;
static struct tkm_err err;

static double uniform(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u); /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void need(int ok)
{
	if (!ok) {
		fprintf(stderr, "bench_calib_sim: %s\n", err.text[0] ? err.text : "out of memory");
		exit(1);
	}
}

static void say(const char *figure, double value, const char *unit)
{
	printf("%s\t%.9g\t%s\n", figure, value, unit);
}

static void anchor(struct cal_link *l, struct cal_run *run)
{
	struct cal_anchor *a = &run->rank[0].anchor[run->rank[0].anchors++];

	a->local = tmr_read(cal_link_sim_clock(l, 0));
	a->realtime_ns = a->monotonic_ns = cal_link_sim_time(l)->now_ps / 1000;
}

/* A whole run; *run is new. */
static void calibrate(struct cal_link *l, const struct trial *t, struct cal_run *run)
{
	struct cal_sync_options opt = { .max_messages = 100, .max_duration_s = 60, .method = t->method };
	struct cal_session s[RANKS_MOST];
	unsigned char exchanges[RANKS_MOST];
	double hz[RANKS_MOST], begin;
	int k, i;

	*run = (struct cal_run){ .ranks = (size_t)t->ranks,
		.max_drift = 500e-6,
		.max_wander = 1e-6,
		.wanted = t->how,
		.method = t->method };
	run->rank = calloc((size_t)t->ranks, sizeof(*run->rank));
	need(run->rank != NULL);
	memset(exchanges, 1, sizeof(exchanges));
	for (i = 0; i < t->ranks; i++) {
		run->rank[i].rank = i;
		hz[i] = run->rank[i].nominal_hz = cal_link_sim_clock(l, i)->hz;
		run->rank[i].effective_tick_s = 1 / hz[i];
		run->rank[i].may_step = (cal_link_sim_clock(l, i)->flags & TMR_STEPPED) != 0;
		run->rank[i].session = calloc((size_t)t->sessions, sizeof(*run->rank[i].session));
		need(run->rank[i].session != NULL);
	}
	opt.hz = hz;
	cal_link_sleep(l, t->begin_s);
	begin = cal_link_seconds(l);
	for (k = 0; k < t->sessions; k++) {
		int last = k == t->sessions - 1;

		cal_link_sleep(l, fmax(0, begin + t->seconds * k / (t->sessions - 1) - cal_link_seconds(l)));
		if (k == 0 || last) {
			anchor(l, run);
		}
		memset(s, 0, sizeof(s));
		opt.brief = t->brief && k > 0 && !last;
		need(cal_sync_session(l, 0, exchanges, &opt,
			     k == 0         ? CAL_START
				     : last ? CAL_END
					    : CAL_MIDDLE,
			     s, &err) == 0);
		for (i = 1; i < t->ranks; i++) {
			run->rank[i].session[run->rank[i].sessions++] = s[i];
		}
	}
	need(cal_solve(run, t->skip, &err) == 0);
}

/* A rank's map minus the master's at a true time, seconds; *bound is what the map says of itself there. */
static double error_at(const struct cal_link *l, const struct cal_run *run, int rank, int64_t true_ps, double *bound)
{
	const struct cal_map *m0 = &run->rank[0].map, *m = &run->rank[rank].map;
	double f0, f;
	ltick_t l0 = tmr_sim_truth(cal_link_sim_clock(l, 0), true_ps, &f0),
		at = tmr_sim_truth(cal_link_sim_clock(l, rank), true_ps, &f);

	*bound = cal_map_bound(m, at);
	return ((double)gtick_sub(cal_map_at(m, at), cal_map_at(m0, l0)) + f * cal_map_slope(m, at) -
		       f0 * cal_map_slope(m0, l0)) *
		run->period_s;
}

/* Largest error of all ranks between two times; *broken counts errors beyond their bound. */
static double worst_between(
	const struct cal_link *l, const struct cal_run *run, int64_t from_ps, int64_t to_ps, int points, long *broken)
{
	double worst = 0, bound;
	int r, i;

	for (r = 1; r < (int)run->ranks; r++) {
		for (i = 0; i < points; i++) {
			double e = fabs(error_at(
				l, run, r, from_ps + (int64_t)((double)(to_ps - from_ps) * i / (points - 1)), &bound));

			worst = fmax(worst, e);
			*broken += !(e <= bound);
		}
	}
	return worst;
}

/* One trial from its links to its errors; returns the largest between the first and the last session. *steps counts
 * ranks for whose clock a step is reported: none has one. */
static double run_trial(const struct trial *t, double beyond_s, long *broken, long *steps)
{
	struct cal_link *l = cal_link_sim(t->ranks, t->clocks, t->network, &err);
	struct cal_run run;
	int64_t begin, end;
	double worst;
	int r;

	need(l != NULL);
	begin = cal_link_sim_time(l)->now_ps + llrint(t->begin_s * 1e12);
	calibrate(l, t, &run);
	end = cal_link_sim_time(l)->now_ps;
	worst = worst_between(l, &run, begin, end, 101, broken);
	for (r = 1; r < t->ranks; r++) {
		*steps += run.rank[r].map.steps > 0;
	}
	if (beyond_s > 0) {
		worst_between(l, &run, end, end + llrint(beyond_s * 1e12), 11, broken);
		worst_between(l, &run, begin - llrint(beyond_s * 1e12), begin, 11, broken);
	}
	cal_run_free(&run);
	cal_link_close(l);
	return worst;
}

/* Whatever clocks and networks may be like, as long as they keep what the bound assumes (max_drift 500 ppm, max_wander
 * 1 ppm: each swings by half of it, with a period of its own): a fifth of the trials in networks in which most messages are held
 * up, a quarter with heavy tails, another quarter with traffic of others on links of which all processes have one. */
static void coverage(void)
{
	long i, inside = 0, broken, steps = 0;

	for (i = 0; i < trials; i++) {
		static const char *const dists[] = { "exponential", "uniform", "normal" };
		char clocks[200], network[300];
		int bad = i % 5 == 4, heavy = uniform() < 0.25,
		    sessions = uniform() < 0.5 ? 2 : 4 + (int)(5 * uniform());
		struct trial t = { .ranks = 2 + (int)(3 * uniform()),
			.sessions = sessions,
			.clocks = clocks,
			.network = network,
			.seconds = 1 + 30 * uniform(),
			.begin_s = 60 * uniform(),
			.method = i % 2 ? CAL_SYNC_PAIRS : CAL_SYNC_ITC,
			.how = (enum cal_interpolation)(CAL_INTERPOLATIONS * uniform()),
			.skip = 0,
			.brief = i % 3 == 0 };

		if (bad) { /* a spline through points so rough may turn back, and be refused: the line stays */
			t.how = CAL_LINEAR;
		}
		snprintf(clocks, sizeof(clocks),
			"offset={rank}%.3fms,drift=-{rank}%.3fppm,wobble=%.3fppm/{rank}%.1fs,tick=%.1f{rank}ns",
			999 * uniform(), 9 * uniform(), 0.5 * uniform(), 5 + 94 * uniform(),
			uniform() < 0.1 ? 1000.0 : 0.5 + 20 * uniform());
		snprintf(network, sizeof(network),
			"delay=%.0fns,jitter=%.0fns,dist=%s,asym=%.0fns,outlier=%.1fms,outliers=%.3f,loss=%.3f,"
			"shape=%.2f,leaf=1,queue=%.0fns,load=%.2f,seed=%ld",
			50 + 2000 * uniform(),
			(heavy                ? 2e4
					: bad ? 3e6
					      : 500) *
				uniform(),
			heavy ? "pareto" : dists[(int)(3 * uniform())], 3000 * uniform(), 1 + 8 * uniform(),
			bad ? 0.4 + 0.5 * uniform() : 0.02 * uniform(), uniform() < 0.2 ? 0.01 : 0.0,
			1.5 + 2 * uniform(), 1 + 300 * uniform(), uniform() < 0.25 ? 0.8 * uniform() : 0.0, i);
		broken = 0;
		run_trial(&t, 60, &broken, &steps);
		if (broken) {
			fprintf(stderr, "trial %ld: %s over %s: %ld points outside\n", i, clocks, network, broken);
		}
		inside += broken == 0;
	}
	say("coverage", 100.0 * (double)inside / (double)trials, "%");
	say("coverage.trials", (double)trials, "trials");
	say("coverage.steps", (double)steps, "ranks");
}

/* The rate swings by 1 ppm in a minute: what lies between the sessions is interpolation. The minute begins
 * anywhere in the swing. The clocks are 100 ppm apart, not 50, because a rank's number is a digit. */
static void wobble60(void)
{
	static const struct {
		const char *figure;
		int sessions;
		enum cal_sync_method method;
		enum cal_interpolation how;
		int skip, brief;
		/* clang-format off */
	} ways[] = {
		{ "wobble60.5s", 13, CAL_SYNC_PAIRS, CAL_CUBIC, 0, 0 },
		{ "wobble60.10s", 7, CAL_SYNC_PAIRS, CAL_CUBIC, 0, 0 },
		{ "wobble60.5s.brief", 13, CAL_SYNC_PAIRS, CAL_CUBIC, 0, 1 },
		{ "wobble60.10s.brief", 7, CAL_SYNC_PAIRS, CAL_CUBIC, 0, 1 },
		{ "wobble60.5s.constrained", 13, CAL_SYNC_ITC, CAL_CONSTRAINED, 0, 0 },
		{ "wobble60.10s.constrained", 7, CAL_SYNC_ITC, CAL_CONSTRAINED, 0, 0 },
		{ "wobble60.line", 2, CAL_SYNC_ITC, CAL_LINEAR, -1, 0 },
	};
	/* clang-format on */
	char network[100];
	long stepped = 0;
	size_t w;
	int i;

	for (i = 0; i < 30; i++) {
		double begin_s = i == 0 ? 0 : 60 * uniform(); /* the first as in the measurements of the peers */

		snprintf(network, sizeof(network), "delay=250ns,jitter=60ns,outlier=8ms,outliers=0.001,seed=%d", i);
		for (w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
			struct trial t = { .ranks = 2,
				.sessions = ways[w].sessions,
				.clocks = "offset={rank}ms,drift={rank}00ppm,wobble={rank}ppm/60s,tick=10.{rank}3ns",
				.network = network,
				.seconds = 60,
				.begin_s = begin_s,
				.method = ways[w].method,
				.how = ways[w].how,
				.skip = ways[w].skip,
				.brief = ways[w].brief };
			long broken = 0;

			say(ways[w].figure, 1e9 * run_trial(&t, 0, &broken, &stepped), "ns");
			if (strstr(ways[w].figure, "line") == NULL) {
				say("wobble60.outside", (double)broken, "points");
			}
		}
	}
}

/* One session a second, and the map of a run that still lasts asked until the next one; ten minutes of the same
 * swing as above. The peers' line, learned once at the start, is 5 us off after 10 s. */
static void online_wobble(void)
{
	struct cal_sync_options sync = { .max_messages = 100, .max_duration_s = 60, .method = CAL_SYNC_PAIRS };
	unsigned char exchanges[2] = { 0, 1 };
	char network[100];
	int run, k, i;

	for (run = 0; run < 10; run++) {
		struct cal_online_options opt = { .max_drift = 500e-6, .max_wander = 1e-6, .how = CAL_QUIET };
		double worst = 0, outside = 0, hz[2], bound, f0, f;
		struct cal_online o;
		struct cal_link *l;

		snprintf(network, sizeof(network), "delay=250ns,jitter=60ns,outlier=8ms,outliers=0.001,seed=%d", run);
		l = cal_link_sim(
			2, "offset={rank}ms,drift={rank}00ppm,wobble={rank}ppm/60s,tick=10.{rank}3ns", network, &err);
		need(l != NULL);
		opt.master_hz = hz[0] = cal_link_sim_clock(l, 0)->hz;
		opt.hz = hz[1] = cal_link_sim_clock(l, 1)->hz;
		sync.hz = hz;
		cal_online_begin(&o, &opt);
		cal_link_sleep(l, 60 * uniform());
		for (k = 0; k < 600; k++) {
			struct cal_session s[2] = { { 0 } };
			double begin = cal_link_seconds(l), until;

			sync.brief = k > 0; /* as in a job */
			need(cal_sync_session(l, 0, exchanges, &sync, CAL_MIDDLE, s, &err) == 0 &&
				cal_online_add(&o, &s[1], &err) == 0);
			cal_session_free(&s[1]);
			until = begin + 1 - cal_link_seconds(l);
			for (i = 0; i <= 20 && k > 0; i++) {
				int64_t at = cal_link_sim_time(l)->now_ps + llrint(until * 1e12 * i / 20);
				ltick_t l0 = tmr_sim_truth(cal_link_sim_clock(l, 0), at, &f0),
					l1 = tmr_sim_truth(cal_link_sim_clock(l, 1), at, &f);
				double e = fabs(((double)cal_map_at(&o.map, l1).v + f * cal_map_slope(&o.map, l1)) *
						o.map.period_s -
					((double)ltick_sub(l0, o.master0) + f0) / hz[0]);

				bound = cal_map_bound(&o.map, l1);
				worst = fmax(worst, e);
				outside += !(e <= bound);
			}
			cal_link_sleep(l, until);
		}
		say("online.wobble", 1e9 * worst, "ns");
		say("online.wobble.outside", outside, "points");
		cal_online_free(&o);
		cal_link_close(l);
	}
}

/* Widest certain interval of the run's sessions, half of it, seconds. */
static double half_width(const struct cal_map *m, double period_s)
{
	double most = 0;
	size_t k;

	for (k = 0; k < m->nodes; k++) {
		most = fmax(most, 0.5 * (double)gtick_sub(m->node[k].high, m->node[k].low) * period_s);
	}
	return most;
}

/* Is the step that happened when the true time was at_ps among those of the map, between the two sessions around
 * it, and of its size? */
static int is_found(const struct cal_link *l, const struct cal_run *run, int64_t at_ps, double size_s)
{
	const struct cal_map *m = &run->rank[1].map;
	double f;
	ltick_t before = tmr_sim_truth(cal_link_sim_clock(l, 1), at_ps - 1000, &f);
	size_t k;

	for (k = 0; k < m->steps; k++) {
		/* a second of the child's clock is one of the master's to within 500 ppm */
		if (ltick_sub(before, m->step[k].from) >= 0 &&
			fabs(m->step[k].size_s - size_s) <= m->step[k].within_s + 500e-6 * fabs(size_s)) {
			return k + 1 == m->steps || ltick_sub(m->step[k + 1].from, before) > 0;
		}
	}
	return 0;
}

/* Steps from 3 half widths to a second, forwards and back, anywhere between the first session and the last of runs
 * with 8 to 20 sessions, a second to 1 + apart seconds from one to the next. The farther apart they are, the more
 * of a small step can be the wander that is believed. */
static void say_steps(const char *name, long n, long found, long beyond, long false_ones)
{
	char figure[40];

	snprintf(figure, sizeof(figure), "%s", name);
	say(figure, 100.0 * (double)found / (double)n, "%");
	snprintf(figure, sizeof(figure), "%s.runs", name);
	say(figure, (double)n, "runs");
	snprintf(figure, sizeof(figure), "%s.outside", name);
	say(figure, (double)beyond, "runs");
	snprintf(figure, sizeof(figure), "%s.false", name);
	say(figure, (double)false_ones, "runs");
}

static void steps_of(double apart, const char *name)
{
	long i, n = trials / 50, found = 0, beyond = 0, false_ones = 0;

	for (i = 0; i < n; i++) {
		int sessions = 8 + (int)(13 * uniform());
		double every = 1 + apart * uniform(),
		       at = 1e-3 * floor(1e3 * (sessions - 1) * every * (0.002 + 0.996 * uniform())), size;
		char clocks[200], network[100];
		struct trial t = { .ranks = 2,
			.sessions = sessions,
			.clocks = clocks,
			.network = network,
			.seconds = (sessions - 1) * every,
			.begin_s = 1000,
			.method = CAL_SYNC_PAIRS,
			.how = CAL_CUBIC,
			.skip = 0,
			.brief = i % 2 == 0 };
		struct cal_link *l;
		struct cal_run run;
		long broken = 0;
		int64_t begin;

		snprintf(network, sizeof(network), "delay=%.0fns,jitter=%.0fns,outlier=8ms,outliers=0.001,seed=%ld",
			80 + 1000 * uniform(), 100 * uniform(), i);
		/* without a step first, for the half width and for steps that are none */
		snprintf(clocks, sizeof(clocks), "offset={rank}ms,drift={rank}%.3fppm,tick=10.{rank}3ns",
			50 * uniform());
		l = cal_link_sim(2, clocks, network, &err);
		need(l != NULL);
		calibrate(l, &t, &run);
		false_ones += run.rank[1].map.steps != 0;
		size = 3 * half_width(&run.rank[1].map, run.period_s) *
			pow(1 / 1e-6, uniform() < 0.3 ? 0.05 * uniform() : uniform());
		size = fmin(size, 1) * (uniform() < 0.5 ? -1 : 1);
		cal_run_free(&run);
		cal_link_close(l);
		/* rank 0 steps too, long before the run: the ranks differ in a digit of the time only */
		snprintf(clocks + strlen(clocks), sizeof(clocks) - strlen(clocks), ",step=%.9fs@{rank}%07.3fs", size,
			at);
		l = cal_link_sim(2, clocks, network, &err);
		need(l != NULL);
		begin = cal_link_sim_time(l)->now_ps + llrint(t.begin_s * 1e12);
		calibrate(l, &t, &run);
		worst_between(l, &run, begin, cal_link_sim_time(l)->now_ps, 401, &broken);
		found += is_found(l, &run, begin + llrint(at * 1e12), size);
		if (!is_found(l, &run, begin + llrint(at * 1e12), size)) {
			fprintf(stderr, "not found: %s over %s, %d sessions in %.3f s\n", clocks, network, sessions,
				t.seconds);
		}
		beyond += broken != 0;
		cal_run_free(&run);
		cal_link_close(l);
	}
	say_steps(name, n, found, beyond, false_ones);
}

static void steps(void)
{
	steps_of(1, "steps.2s");
	steps_of(4, "steps.5s");
}

/* ---- messages that seem to arrive before they were sent ---- */

enum { MESSAGES = 20000 };

struct stamped {
	struct cal_event e;
	int64_t true_ps;
};

static int by_stamp(const void *a, const void *b)
{
	const struct stamped *x = a, *y = b;

	if (x->e.stamp != y->e.stamp) {
		return x->e.stamp < y->e.stamp ? -1 : 1;
	}
	return (x->true_ps > y->true_ps) - (x->true_ps < y->true_ps);
}

/* What comes back: stamps by message and end, and the largest shift beyond its band. */
struct repaired {
	int64_t at[MESSAGES][2];
	const struct stamped *given;
	int64_t beyond;
};

static int take_back(void *ctx, const struct cal_event *e, struct tkm_err *unused)
{
	struct repaired *r = ctx;
	int64_t shift = llabs(e->stamp - r->given[e->tag].e.stamp) - r->given[e->tag].e.band;

	(void)unused;
	r->at[e->message - 1][e->kind == CAL_EVENT_RECEIVED] = e->stamp;
	r->beyond = shift > r->beyond ? shift : r->beyond;
	return 0;
}

/* One end of a message as its rank stamps it, corrected. */
static struct stamped stamp_of(
	const struct cal_link *l, const struct cal_run *run, int rank, int64_t true_ps, uint64_t message, int kind)
{
	const struct cal_map *m = &run->rank[rank].map;
	double f;
	ltick_t at = tmr_sim_truth(cal_link_sim_clock(l, rank), true_ps, &f);
	/* rounding to a tick at both ends of the map, and the grid of the clock */
	double band = cal_map_bound(m, at) / run->period_s + cal_map_slope(m, at) + 2;

	return (struct stamped){ { .stamp = cal_map_at(m, at).v,
					 .band = llrint(ceil(band)),
					 .rank = rank,
					 .kind = kind,
					 .message = message + 1 },
		true_ps };
}

/* Four clocks that swing, corrected by the line between the first and the last session alone, which is micro-
 * seconds off in between; messages take 0.3 to 2 us. */
static void reversed(void)
{
	struct trial t = { .ranks = 4,
		.sessions = 2,
		.network = "delay=250ns,jitter=60ns,seed=7",
		.clocks = "offset={rank}ms,drift={rank}0ppm,wobble=0.4ppm/{rank}9s,tick=10.{rank}3ns",
		.seconds = 60,
		.method = CAL_SYNC_PAIRS,
		.how = CAL_LINEAR,
		.skip = -1 };
	struct stamped *s = malloc(2 * MESSAGES * sizeof(*s));
	struct repaired *r = calloc(1, sizeof(*r));
	struct cal_link *l = cal_link_sim(t.ranks, t.clocks, t.network, &err);
	struct cal_causality *c = cal_causality_open(4, 1, take_back, r, &err);
	struct cal_causality_stats stats;
	struct cal_run run;
	long i, left = 0, before = 0;
	int64_t begin;

	need(s && r && l && c);
	begin = cal_link_sim_time(l)->now_ps;
	calibrate(l, &t, &run);
	for (i = 0; i < MESSAGES; i++) {
		int from = (int)(4 * uniform()), to = (from + 1 + (int)(3 * uniform())) % 4;
		int64_t at = begin + llrint(59e12 * uniform()), there = at + llrint(0.3e6 + 1.7e6 * uniform());

		s[2 * i] = stamp_of(l, &run, from, at, (uint64_t)i, CAL_EVENT_SENT);
		s[2 * i + 1] = stamp_of(l, &run, to, there, (uint64_t)i, CAL_EVENT_RECEIVED);
		before += s[2 * i + 1].e.stamp < s[2 * i].e.stamp;
	}
	qsort(s, 2 * MESSAGES, sizeof(*s), by_stamp);
	r->given = s;
	for (i = 0; i < 2 * MESSAGES; i++) {
		s[i].e.tag = (uint64_t)i;
		need(cal_causality_add(c, &s[i].e, &err) == 0);
	}
	need(cal_causality_finish(c, &stats, &err) == 0);
	for (i = 0; i < MESSAGES; i++) {
		left += r->at[i][1] < r->at[i][0];
	}
	say("reversed.messages", MESSAGES, "messages");
	say("reversed.before", (double)before, "messages");
	say("reversed.after", (double)left, "messages");
	say("reversed.miscounted", (double)((long)stats.before - before) + (double)((long)stats.after - left),
		"messages");
	say("reversed.shift", 1e9 * run.period_s * (double)stats.largest, "ns");
	say("reversed.band", 1e9 * run.period_s * (double)stats.largest_band, "ns");
	say("reversed.beyond", 1e9 * run.period_s * (double)r->beyond, "ns");
	cal_causality_close(c);
	cal_run_free(&run);
	cal_link_close(l);
	free(r);
	free(s);
}

static const struct {
	const char *name;
	void (*run)(void);
} figures[] = { { "coverage", coverage }, { "wobble60", wobble60 }, { "online.wobble", online_wobble },
	{ "steps", steps }, { "reversed", reversed } };

int main(int argc, char **argv)
{
	size_t i;
	int c, k;

	while ((c = getopt(argc, argv, "s:n:")) != -1) {
		if (c == 's') {
			state = strtoull(optarg, NULL, 0);
		} else if (c == 'n') {
			trials = atol(optarg);
		} else {
			return 2;
		}
	}
	for (i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		int wanted = optind == argc;

		for (k = optind; k < argc; k++) {
			wanted |= strcmp(argv[k], figures[i].name) == 0;
		}
		if (wanted) {
			figures[i].run();
		}
	}
	return 0;
}

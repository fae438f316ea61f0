/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the effective tick of a timer from ordered reads; see timers/quality/tick.h. */
#include "config.h"
#include "timers/quality/tick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/least.h"
#include "timers/timer_private.h"

enum {
	CHUNK = 32,  /* reads between two looks at the wall clock */
	WARM_UP = 4, /* chunks */
	MOST = 1024, /* increments of a fine clock */
	MANY = 16,   /* increments from which a grid can be told from chance */
	FEW = 3,     /* long distances whose regularity can hardly be chance */
	SEVERAL = 5, /* the same of shorter ones */
	SPACINGS = 64,
	MOST_READS = 1 << 22, /* limit for a wall clock that does not move either */
};

/* The shortest measurement, unless the clock moves faster than reads follow each other. */
static const double short_look_s = 150e-6;
static const double long_distance_ticks = 64, shorter_distance_ticks = 16;
/* Chunks that take this many times as long as the fastest were interrupted, and count as that long. */
static const double interrupted = 10;
/* Limits for a process that often waits for its processor, as multiples of the budget: of wall time, and of undisturbed
 * time. It needs more time because the distances that it sees are multiples of the step, and more of them are needed to
 * find the step. */
static const double longest_wall = 100, longest_look = 4;

struct look {
	struct tmr_timer *t, *wall;
	double hz;
	double cost;      /* of a read, in ticks of t; INFINITY: unknown */
	double fastest_s; /* chunk */
	int64_t jump;     /* at least this: a true jump, no answer to a second read within a step */
	int64_t last;
	int have_landing;
	int64_t landing; /* the reading after the last jump */
	int64_t before;  /* sum of increments before the first landing */
	size_t jumps, distances, positive;
	int64_t distance[MOST];  /* between landings */
	int64_t increment[MOST]; /* above 0 */
	double looked_s;         /* without interruptions */
	size_t reads;
	unsigned spacing;
	double small_ticks, small_s; /* advance and time of chunks without a jump */
};

static double wall_s(const struct look *l)
{
	return (double)tmr_read_ordered(l->wall).v / l->wall->hz;
}

/* Reads at distances of 0 to 63 loops more than the reads themselves take, so that not all increments are the same
 * multiple of a step. */
static double read_chunk(struct look *l, int64_t v[CHUNK])
{
	double begin = wall_s(l);
	unsigned i, k;

	for (i = 0; i < CHUNK; i++) {
		v[i] = tmr_read_ordered(l->t).v;
		l->spacing += 29; /* odd: every distance comes equally often */
		for (k = l->spacing % SPACINGS; k; k--) {
			__asm__ volatile("");
		}
	}
	l->reads += CHUNK;
	return wall_s(l) - begin;
}

static void take_increment(struct look *l, int64_t v)
{
	int64_t d = v - l->last;

	l->last = v;
	if (d > 0 && l->positive < MOST) {
		l->increment[l->positive++] = d;
	}
	if (d < 0) {
		l->have_landing = 0; /* the clock was set back */
	} else if (d >= l->jump) {
		if (l->have_landing && l->distances < MOST) {
			l->distance[l->distances++] = v - l->landing;
		}
		l->before += l->jumps == 0 ? d : 0;
		l->jumps++;
		l->landing = v;
		l->have_landing = 1;
	} else if (l->jumps == 0) {
		l->before += d;
	}
}

static void take_chunk(struct look *l)
{
	int64_t v[CHUNK], first = l->last;
	size_t jumps = l->jumps;
	double s = read_chunk(l, v);
	int i;

	for (i = 0; i < CHUNK; i++) {
		take_increment(l, v[i]);
	}
	if (s > 0) {
		l->fastest_s = tkm_least(l->fastest_s, s);
		l->looked_s += tkm_least(s, interrupted * l->fastest_s);
	}
	if (l->jumps == jumps) {
		l->small_ticks += (double)(l->last - first);
		l->small_s += s;
	}
}

/* A read takes `cost` ticks. A clock that is read every three ticks or less often never moves by one tick only: such an
 * increment is the answer to a second read within a step. Where reads follow faster, +1 may be the clock itself. */
static void warm_up_timer(struct look *l)
{
	int64_t v[CHUNK], first = tmr_read_ordered(l->t).v;
	double fastest = INFINITY, sum = 0;
	int i;

	for (i = 0; i < WARM_UP; i++) {
		double s = read_chunk(l, v);

		fastest = s > 0 ? tkm_least(fastest, s) : fastest;
		sum += s;
	}
	l->last = v[CHUNK - 1];
	if (!(l->hz > 0) && sum > 0) {
		l->hz = (double)(l->last - first) / sum;
	}
	l->fastest_s = fastest;
	l->cost = l->hz > 0 && isfinite(fastest) ? fastest / CHUNK * l->hz : INFINITY;
	l->jump = l->cost >= 3 ? 2 : (int64_t)tkm_most(9, 4 * l->cost + 1);
}

/* The common divisor of two lengths that are known to about a tick; a remainder below 1/50 counts as 0. */
static double common_divisor(double a, double b)
{
	while (b > a / 50) {
		double rest = fabs(a - tkm_nearest(a / b) * b);

		a = b;
		b = rest;
	}
	return a;
}

/* Distances that are a multiple of step to within 1.25 ticks for each, and to within `most`; *once: how many of them
 * are the step itself. */
static size_t multiples_of(const struct look *l, double step, double most, size_t *once)
{
	size_t i, n = 0;

	*once = 0;
	for (i = 0; i < l->distances; i++) {
		double m = tkm_nearest((double)l->distance[i] / step);

		n += fabs((double)l->distance[i] - m * step) <= tkm_least(1.25 * m, most);
		*once += m == 1;
	}
	return n;
}

/* Tests whether all distances are multiples of the shortest one, or of a divisor of it (where the process was
 * interrupted within each distance), and that this is too long to be chance. *once: the distances that are the step
 * itself. *step is the shortest if there is no such thing. */
static int is_regular(const struct look *l, double *step, size_t *once)
{
	double shortest = INFINITY, divisor;
	size_t i;

	for (i = 0; i < l->distances; i++) {
		shortest = tkm_least(shortest, (double)l->distance[i]);
	}
	*step = divisor = shortest;
	if (multiples_of(l, shortest, INFINITY, once) < l->distances) {
		for (i = 0; i < l->distances; i++) {
			divisor = common_divisor((double)l->distance[i], divisor);
		}
		if (l->distances < SEVERAL || multiples_of(l, divisor, divisor / 50, once) < l->distances ||
			divisor < long_distance_ticks) {
			return 0;
		}
	}
	if (isfinite(l->cost) && divisor < 4 * l->cost) {
		return 0;
	}
	*step = divisor;
	return (l->distances >= FEW && divisor >= long_distance_ticks) ||
		(l->distances >= SEVERAL && divisor >= shorter_distance_ticks);
}

/* Small increments are the clock itself: reads follow faster than ticks, and the small increments add up to the time that passed. */
static int moves_by_small_ones(const struct look *l)
{
	return l->cost < 1 || (l->cost < 3 && l->small_ticks >= 0.9 * l->small_s * l->hz - 2);
}

static int is_enough(const struct look *l, double wall)
{
	size_t few = wall > 2 * l->looked_s ? MANY / 2 : FEW; /* interrupted for more than half of the time */
	double step;
	size_t once;

	if (l->distances == MOST || (l->positive == MOST && moves_by_small_ones(l))) {
		return 1;
	}
	if (l->looked_s < short_look_s) {
		return 0;
	}
	return l->distances >= MANY || (is_regular(l, &step, &once) && once >= few && 2 * once > l->distances) ||
		(l->positive >= MANY && moves_by_small_ones(l));
}

/* Few jumps: the step is as long as the shortest distance between two of them, or as the time before the only jump. */
static int step_of_few_jumps(const struct look *l, int regular, double step, struct tmr_grid *out)
{
	if (l->jumps == 0) {
		return -1;
	}
	out->ticks = l->distances ? step : (double)l->before;
	out->lag_ticks = out->ticks + 1;
	out->found = regular;
	out->share = regular;
	out->samples = l->distances;
	return 0;
}

static int conclude(const struct look *l, struct tmr_grid *out)
{
	double step = INFINITY;
	size_t once;
	int regular = is_regular(l, &step, &once);

	if (!regular && moves_by_small_ones(l) && l->positive > 0) {
		return tmr_grid_find(l->increment, l->positive, out);
	}
	if (l->distances >= MANY && !(regular && step >= long_distance_ticks)) {
		return tmr_grid_find(l->distance, l->distances, out);
	}
	return step_of_few_jumps(l, regular, step, out);
}

/* Goes on after budget_s where the process was off its processor for longer than on it and has seen jumps, but too few. */
static int has_time(const struct look *l, double budget_s, double wall)
{
	double budgets = l->jumps > 0 && wall > 2 * l->looked_s ? longest_look : 1;

	return l->looked_s < budgets * budget_s && wall < longest_wall * budget_s && l->reads < MOST_READS;
}

/* How far a reading of the base lags, in ticks of t; 0 for real timers. */
static int lag_of_base(struct tmr_timer *t, double budget_s, struct tmr_timer *wall, double *ticks, struct tkm_err *err)
{
	struct tmr_timer *base = t->ops->base ? t->ops->base(t) : NULL;
	struct tmr_grid g;

	*ticks = 0;
	if (base) {
		if (tmr_tick_measure(base, budget_s, wall, &g, err) < 0) {
			return -1;
		}
		*ticks = g.lag_ticks / base->hz * t->hz;
	}
	return 0;
}

int tmr_tick_measure(
	struct tmr_timer *t, double budget_s, struct tmr_timer *wall, struct tmr_grid *out, struct tkm_err *err)
{
	struct tmr_timer *own_wall = NULL;
	struct look *l = calloc(1, sizeof(*l));
	double base_ticks, begin, wall_since;
	int rc = -1;

	memset(out, 0, sizeof(*out));
	if (!l) {
		return tkm_fail(err, TKM_ERR_NOMEM, "timer %s: out of memory", t->name);
	}
	if (!wall) {
		wall = own_wall = tmr_open("clock_monotonic", 0, err);
	}
	if (wall && lag_of_base(t, budget_s, wall, &base_ticks, err) == 0) {
		l->t = t;
		l->wall = wall;
		l->hz = t->hz;
		warm_up_timer(l);
		begin = wall_s(l);
		do {
			take_chunk(l);
			wall_since = wall_s(l) - begin;
		} while (!is_enough(l, wall_since) && has_time(l, budget_s, wall_since));
		rc = conclude(l, out);
		if (rc < 0) {
			tkm_fail(err, TKM_ERR_DATA, "timer %s: it did not move in %.3g ms", t->name, budget_s * 1e3);
		}
		out->lag_ticks += base_ticks;
	}
	tmr_close(own_wall);
	free(l);
	return rc;
}

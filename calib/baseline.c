/* SPDX-License-Identifier: BSD-3-Clause */
/* Times are differences from integers before they become doubles, which the peers' own programs do not do: what
 * they lose to rounding is not held against their methods here. */
#include "config.h"
#include "calib/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "calib/sync.h"

static const struct cal_baseline_kind {
	const char *name;
	int exchanges, fit_points; /* fit_points 0: an offset only */
	int tree;                  /* 0: the master serves all */
	int least;                 /* the ping-pong with the least round trip, else SKaMPI's interval */
} kinds[] = {
	[CAL_MIN10] = { "min10", 10, 0, 0, 1 },
	[CAL_SKAMPI] = { "skampi", 100, 0, 0, 0 },
	[CAL_HCA3] = { "hca3", 100, 1000, 1, 0 },
	[CAL_JK] = { "jk", 100, 1000, 0, 0 },
};

const char *cal_baseline_name(enum cal_baseline b)
{
	return kinds[b].name;
}

/* One rank learns from another: offsets at some instants, as differences from a reference of integers. */
struct learning {
	double slope;          /* nominal, master ticks per tick of the child */
	ltick_t local0;        /* of the first stamp */
	ltick_t master0;
	size_t n;
	double *x, *y;         /* child's ticks since local0; master0 + slope x is off by y */
	struct cal_baseline_rank *out;
};

/* Master's time by the parent's line, since master0. */
static double by_line(const struct cal_line *line, ltick_t stamp, ltick_t master0)
{
	return (double)ltick_sub(line->master0, master0) + line->offset + line->slope * (double)ltick_sub(stamp, line->local0);
}

/* One estimate: `count` ping-pongs between parent and child, who begins. Only the child learns anything. */
static int estimate(struct cal_link *l, const struct cal_baseline_kind *kind, int parent, int child, int count,
	const struct cal_line *line, struct learning *learn, struct tkm_err *err)
{
	double low = -INFINITY, high = INFINITY, least = INFINITY, at = 0, offset = NAN;
	ltick_t first = ltick(0);
	struct cal_sample s;
	int i, seen = 0;

	for (i = 0; i < count; i++) {
		int rc = cal_link_exchange(l, parent, child, &s, err);
		double send, recv, there;

		if (rc < 0) {
			return -1;
		}
		if (rc == 1 || !cal_link_is(l, child)) {
			continue;
		}
		if (learn->n == 0 && !seen) {
			learn->local0 = s.send;
			learn->master0 = ltick_add(line->master0, llrint(by_line(line, s.master_in, line->master0)));
		}
		first = seen++ ? first : s.send;
		send = (double)ltick_sub(s.send, learn->local0);
		recv = (double)ltick_sub(s.recv, learn->local0);
		there = by_line(line, s.master_in, learn->master0);
		low = fmax(low, there - learn->slope * recv);
		high = fmin(high, there - learn->slope * send);
		if (recv - send < least) {
			least = recv - send;
			offset = there - learn->slope * 0.5 * (send + recv);
			at = 0.5 * (send + recv);
		}
	}
	if (!seen) {
		return 0;
	}
	if (!kind->least) {
		offset = 0.5 * (low + high);
		at = 0.5 * ((double)ltick_sub(first, learn->local0) + (double)ltick_sub(s.recv, learn->local0));
	}
	learn->x[learn->n] = at;
	learn->y[learn->n++] = offset;
	learn->out->shortest = fmin(learn->out->shortest, least);
	learn->out->messages += 2 * (long long)seen;
	return 0;
}

static int learning_begin(struct learning *learn, const struct cal_baseline_options *opt, int master, int child, int points,
	struct cal_baseline_rank *out, struct tkm_err *err)
{
	*learn = (struct learning){ .slope = opt->hz[master] / opt->hz[child], .out = out };
	learn->x = malloc(2 * (size_t)points * sizeof(*learn->x));
	if (!learn->x) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock comparison: out of memory");
	}
	learn->y = learn->x + points;
	return 0;
}

/* The child's line from what it has learned. */
static int learning_end(struct learning *learn, int child, struct tkm_err *err)
{
	struct cal_line *line = &learn->out->line;
	struct tkm_line fit;
	int rc = 0;

	*line = (struct cal_line){ .local0 = learn->local0, .master0 = learn->master0, .slope = learn->slope, .used = learn->n };
	if (learn->n == 0) {
		rc = tkm_fail(err, TKM_ERR_DATA, "rank %d has no answer from the rank that it learns its time from", child);
	} else if (learn->n == 1 || tkm_line_fit(learn->x, learn->y, NULL, learn->n, &fit) < 0) {
		line->offset = learn->y[0];
	} else {
		line->slope += fit.slope;
		line->offset = tkm_line_at(&fit, 0);
	}
	free(learn->x);
	learn->x = NULL;
	return rc;
}

/* The parent's own line goes to the child, once. In a simulation both see it. */
static int hand_down(struct cal_link *l, int parent, int child, struct cal_baseline_rank *out, struct cal_line *line,
	struct tkm_err *err)
{
	if (cal_link_is(l, parent)) {
		*line = out[parent].line;
	}
	return cal_link_send(l, parent, child, line, sizeof(*line), err);
}

/* One child learns from its parent until it knows enough. */
static int learn_alone(struct cal_link *l, const struct cal_baseline_kind *kind, const struct cal_baseline_options *opt,
	int parent, int child, struct cal_baseline_rank *out, struct tkm_err *err)
{
	int points = kind->fit_points ? (opt->fit_points ? opt->fit_points : kind->fit_points) : 1, i;
	struct learning learn = { .x = NULL };
	struct cal_line line;

	if (!cal_link_is(l, parent) && !cal_link_is(l, child)) {
		return 0;
	}
	if (hand_down(l, parent, child, out, &line, err) < 0) {
		return -1;
	}
	if (cal_link_is(l, child) && learning_begin(&learn, opt, 0, child, points, &out[child], err) < 0) {
		return -1;
	}
	for (i = 0; i < points; i++) {
		if (estimate(l, kind, parent, child, opt->exchanges ? opt->exchanges : kind->exchanges, &line, &learn, err) < 0) {
			free(learn.x);
			return -1;
		}
	}
	return cal_link_is(l, child) ? learning_end(&learn, child, err) : 0;
}

/* Ranks below the largest power of two get their time in log2 of it rounds, each from the rank that differs from
 * it in its lowest bit; all others in one more round. Pairs of a round have no rank in common, so they run at
 * the same time, but for a simulation. */
static int tree(struct cal_link *l, const struct cal_baseline_kind *kind, const struct cal_baseline_options *opt,
	struct cal_baseline_rank *out, struct tkm_err *err)
{
	int power = 1, step, parent;

	while (2 * power <= l->size) {
		power *= 2;
	}
	for (step = power / 2; step > 0; step /= 2) {
		for (parent = 0; parent < power; parent += 2 * step) {
			if (learn_alone(l, kind, opt, parent, parent + step, out, err) < 0) {
				return -1;
			}
		}
	}
	for (parent = 0; parent + power < l->size; parent++) {
		if (learn_alone(l, kind, opt, parent, parent + power, out, err) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Jones and Koenig: at each instant the master serves every rank. */
static int round_robin(struct cal_link *l, const struct cal_baseline_kind *kind, const struct cal_baseline_options *opt,
	struct cal_baseline_rank *out, struct tkm_err *err)
{
	int points = opt->fit_points ? opt->fit_points : kind->fit_points, exchanges = opt->exchanges ? opt->exchanges : kind->exchanges;
	struct learning *learn = calloc((size_t)l->size, sizeof(*learn));
	int i, child, rc = learn ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "clock comparison: out of memory");

	for (child = 1; child < l->size && rc == 0; child++) {
		if (cal_link_is(l, child)) {
			rc = learning_begin(&learn[child], opt, 0, child, points, &out[child], err);
		}
	}
	for (i = 0; i < points && rc == 0; i++) {
		for (child = 1; child < l->size && rc == 0; child++) {
			rc = estimate(l, kind, 0, child, exchanges, &(struct cal_line){ .slope = 1 }, &learn[child], err);
		}
	}
	for (child = 1; child < l->size && rc == 0; child++) {
		if (cal_link_is(l, child)) {
			rc = learning_end(&learn[child], child, err);
		}
	}
	for (child = 0; learn && child < l->size; child++) {
		free(learn[child].x);
	}
	free(learn);
	return rc;
}

static int one_by_one(struct cal_link *l, const struct cal_baseline_kind *kind, const struct cal_baseline_options *opt,
	struct cal_baseline_rank *out, struct tkm_err *err)
{
	int child;

	for (child = 1; child < l->size; child++) {
		if (learn_alone(l, kind, opt, 0, child, out, err) < 0) {
			return -1;
		}
	}
	return 0;
}

int cal_baseline_warm(struct cal_link *l, struct tkm_err *err)
{
	double begin = cal_link_seconds(l);
	char go = 1;
	int i;

	while (go) {
		if (cal_link_is(l, 0)) {
			go = cal_link_seconds(l) - begin < cal_warm_up_s;
		}
		for (i = 1; i < l->size; i++) {
			if (cal_link_send(l, 0, i, &go, sizeof(go), err) < 0 || cal_link_send(l, i, 0, &go, sizeof(go), err) < 0) {
				return -1;
			}
		}
		if (l->rank < 0) {
			return 0; /* a simulated core is never sleepy */
		}
	}
	return 0;
}

/* Until all are ready, they wait as those do who call MPI_Barrier(): spinning. */
static int end_together(struct cal_link *l, struct tkm_err *err)
{
	char word = 0;
	int i, up;

	for (up = 1; up >= 0; up--) {
		for (i = 1; i < l->size; i++) {
			if (cal_link_send(l, up ? i : 0, up ? 0 : i, &word, sizeof(word), err) < 0) {
				return -1;
			}
		}
	}
	return 0;
}

int cal_baseline_run(struct cal_link *l, enum cal_baseline which, const struct cal_baseline_options *opt,
	struct cal_baseline_rank *out, struct tkm_err *err)
{
	const struct cal_baseline_kind *kind = &kinds[which];
	int i, rc;

	for (i = 0; i < l->size; i++) {
		if (cal_link_is(l, i)) {
			out[i] = (struct cal_baseline_rank){ .line = { .slope = 1 }, .shortest = INFINITY, .check_s = NAN };
		}
	}
	if (kind->tree) {
		rc = tree(l, kind, opt, out, err);
	} else {
		rc = (kind->fit_points ? round_robin : one_by_one)(l, kind, opt, out, err);
	}
	return rc < 0 ? -1 : end_together(l, err);
}

int cal_baseline_check(struct cal_link *l, const struct cal_baseline_options *opt, struct cal_baseline_rank *out,
	struct tkm_err *err)
{
	const struct cal_baseline_kind *kind = &kinds[CAL_SKAMPI];
	struct cal_baseline_rank found = { .shortest = INFINITY };
	struct learning learn = { .x = NULL };
	int child, rc = 0;

	for (child = 1; child < l->size && rc == 0; child++) {
		const struct cal_line *line = &out[child].line;

		if (cal_link_is(l, child)) {
			rc = learning_begin(&learn, opt, 0, child, 1, &found, err);
		}
		if (rc == 0) {
			rc = estimate(l, kind, 0, child, opt->exchanges ? opt->exchanges : kind->exchanges,
				&(struct cal_line){ .slope = 1 }, &learn, err);
		}
		if (rc == 0 && cal_link_is(l, child) && learn.n == 1) {
			ltick_t at = ltick_add(learn.local0, llrint(learn.x[0]));

			out[child].check_s = (learn.y[0] + learn.slope * learn.x[0] - by_line(line, at, learn.master0)) / opt->hz[0];
		}
		free(learn.x);
		learn.x = NULL;
	}
	return rc < 0 ? -1 : end_together(l, err);
}

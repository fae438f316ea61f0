/* SPDX-License-Identifier: BSD-3-Clause */
/* Times are differences from integers before they become doubles, which the authors' own programs do not do: so
 * rounding errors of those programs do not count as errors of the methods here. */
#include "config.h"
#include "lab/compare/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib/analysis/analysis.h"
#include "calib/session/sync.h"

static const struct cal_baseline_kind {
	const char *name;
	int least, exchanges; /* ping-pongs of an estimate; it may end after the least once one was quick */
	int fit_points;       /* 0: an offset only */
	int tree;             /* 0: the master exchanges messages with every rank itself */
	int shortest;         /* 1: the ping-pong with the shortest round trip counts; 0: SKaMPI's interval */
	int intercept;        /* one more estimate after the fit, through which the line goes */
			      /* clang-format off */
} kinds[] = {
	[CAL_MIN10] = { "min10", 10, 10, 0, 0, 1, 0 },
	[CAL_SKAMPI] = { "skampi", 100, 100, 0, 0, 0, 0 },
	[CAL_HCA3] = { "hca3", 5, 20, 500, 1, 0, 1 },
	[CAL_JK] = { "jk", 100, 100, 1000, 0, 0, 0 },
};
/* clang-format on */

/* SKaMPI's rule: an exchange within this of the shortest so far is as good as another estimate of 20 would be. */
static const double quick = 1.1;

const char *cal_baseline_name(enum cal_baseline b)
{
	return kinds[b].name;
}

/* One rank learns from another: offsets at some instants, as differences from a reference of integers. */
struct learning {
	double slope;   /* nominal, master ticks per tick of the child */
	ltick_t local0; /* of the first stamp */
	ltick_t master0;
	size_t n;
	double *x, *y;    /* child's ticks since local0; master0 + slope x is off by y */
	double narrowest; /* of the intervals so far, child's ticks; INFINITY: none yet */
	struct cal_baseline_rank *out;
};

/* Master's time by the parent's line, since master0. */
static double by_line(const struct cal_line *line, ltick_t stamp, ltick_t master0)
{
	return (double)ltick_sub(line->master0, master0) + line->offset +
		line->slope * (double)ltick_sub(stamp, line->local0);
}

/* How many ping-pongs an estimate has. */
struct count {
	int least, most;
};

static struct count count_of(const struct cal_baseline_kind *kind, const struct cal_baseline_options *opt)
{
	int most = opt->exchanges ? opt->exchanges : kind->exchanges;

	return (struct count){ kind->least < most ? kind->least : most, most };
}

/* The child tells the parent whether it needs more ping-pongs. In the authors' program this word is part of the next
 * ping-pong; here it is a message of its own, which is not counted. */
static int is_enough(struct cal_link *l, int parent, int child, int enough, struct tkm_err *err)
{
	char word = (char)enough;

	return cal_link_send(l, child, parent, &word, sizeof(word), err) < 0 ? -1 : word;
}

/* One estimate: ping-pongs between parent and child. The child begins, and only the child gets a result. */
static int estimate(struct cal_link *l, const struct cal_baseline_kind *kind, int parent, int child, struct count count,
	const struct cal_line *line, struct learning *learn, struct tkm_err *err)
{
	double low = -INFINITY, high = INFINITY, least = INFINITY, at = 0, offset = NAN, last = INFINITY;
	ltick_t first = ltick(0);
	struct cal_sample s;
	int i, seen = 0;

	for (i = 0; i < count.most; i++) {
		int rc = i > count.least - 1 ? is_enough(l, parent, child, last < quick * learn->narrowest, err) : 0;
		double send, recv, there;

		if (rc) {
			if (rc < 0) {
				return -1;
			}
			break;
		}
		rc = cal_link_exchange(l, parent, child, &s, err);
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
		last = recv - send;
		if (last < least) {
			least = recv - send;
			offset = there - learn->slope * 0.5 * (send + recv);
			at = 0.5 * (send + recv);
		}
	}
	if (!seen) {
		return 0;
	}
	learn->narrowest = learn->n ? fmin(learn->narrowest, high - low) : high - low;
	if (!kind->shortest) {
		offset = 0.5 * (low + high);
		at = 0.5 * ((double)ltick_sub(first, learn->local0) + (double)ltick_sub(s.recv, learn->local0));
	}
	learn->x[learn->n] = at;
	learn->y[learn->n++] = offset;
	learn->out->shortest = fmin(learn->out->shortest, least);
	learn->out->messages += 2 * (long long)seen;
	return 0;
}

static int learning_begin(struct learning *learn, const struct cal_baseline_options *opt, int master, int child,
	int points, struct cal_baseline_rank *out, struct tkm_err *err)
{
	*learn = (struct learning){ .slope = opt->hz[master] / opt->hz[child], .out = out };
	points++; /* the intercept's */
	learn->x = malloc(2 * (size_t)points * sizeof(*learn->x));
	if (!learn->x) {
		return tkm_fail(err, TKM_ERR_NOMEM, "clock comparison: out of memory");
	}
	learn->y = learn->x + points;
	return 0;
}

/* The child's line from what it has learned: through its points, but with `intercept` the last is not one of them but the
 * one where the line goes through. */
static int learning_end(struct learning *learn, int child, int intercept, struct tkm_err *err)
{
	struct cal_line *line = &learn->out->line;
	size_t n = learn->n;
	double c0, c1;
	int rc = 0;

	*line = (struct cal_line){
		.local0 = learn->local0, .master0 = learn->master0, .slope = learn->slope, .used = n
	};
	if (n == 0) {
		rc = tkm_fail(
			err, TKM_ERR_DATA, "rank %d has no answer from the rank that it learns its time from", child);
	} else if (intercept && n > 2 && cal_line_fit(learn->x, learn->y, n - 1, &c0, &c1) == 0) {
		line->slope += c1;
		line->offset = learn->y[n - 1] - c1 * learn->x[n - 1];
	} else if (n == 1 || cal_line_fit(learn->x, learn->y, n, &c0, &c1) < 0) {
		line->offset = learn->y[n - 1];
	} else {
		line->slope += c1;
		line->offset = c0;
	}
	learn->out->at = n ? learn->x[n - 1] : 0;
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
	int intercept = kind->intercept && !opt->without_intercept;
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
	for (i = 0; i < points + intercept; i++) {
		if (estimate(l, kind, parent, child, count_of(kind, opt), &line, &learn, err) < 0) {
			free(learn.x);
			return -1;
		}
	}
	return cal_link_is(l, child) ? learning_end(&learn, child, intercept, err) : 0;
}

/* Ranks below the largest power of two get their time in log2 of it rounds, each from the rank that differs from it in
 * its lowest bit; all others in one more round. Pairs of a round have no rank in common, so they run at the same time,
 * except in a simulation. */
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
	int points = opt->fit_points ? opt->fit_points : kind->fit_points;
	struct learning *learn = calloc((size_t)l->size, sizeof(*learn));
	int i, child, rc = learn ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "clock comparison: out of memory");

	for (child = 1; child < l->size && rc == 0; child++) {
		if (cal_link_is(l, child)) {
			rc = learning_begin(&learn[child], opt, 0, child, points, &out[child], err);
		}
	}
	for (i = 0; i < points && rc == 0; i++) {
		for (child = 1; child < l->size && rc == 0; child++) {
			rc = estimate(l, kind, 0, child, count_of(kind, opt), &(struct cal_line){ .slope = 1 },
				&learn[child], err);
		}
	}
	for (child = 1; child < l->size && rc == 0; child++) {
		if (cal_link_is(l, child)) {
			rc = learning_end(&learn[child], child, 0, err);
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
			if (cal_link_send(l, 0, i, &go, sizeof(go), err) < 0 ||
				cal_link_send(l, i, 0, &go, sizeof(go), err) < 0) {
				return -1;
			}
		}
		if (l->rank < 0) {
			return 0; /* a simulated core is never sleepy */
		}
	}
	return 0;
}

/* Waits until all ranks are ready, spinning, as MPI_Barrier() does. */
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
			out[i] = (struct cal_baseline_rank){
				.line = { .slope = 1 }, .shortest = INFINITY, .check_s = NAN
			};
		}
	}
	if (kind->tree) {
		rc = tree(l, kind, opt, out, err);
	} else {
		rc = (kind->fit_points ? round_robin : one_by_one)(l, kind, opt, out, err);
	}
	return rc < 0 ? -1 : end_together(l, err);
}

int cal_baseline_check(
	struct cal_link *l, const struct cal_baseline_options *opt, struct cal_baseline_rank *out, struct tkm_err *err)
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
			/* the same number for every method */
			rc = estimate(l, kind, 0, child, (struct count){ kind->exchanges, kind->exchanges },
				&(struct cal_line){ .slope = 1 }, &learn, err);
		}
		if (rc == 0 && cal_link_is(l, child) && learn.n == 1) {
			ltick_t at = ltick_add(learn.local0, llrint(learn.x[0]));

			out[child].check_s =
				(learn.y[0] + learn.slope * learn.x[0] - by_line(line, at, learn.master0)) / opt->hz[0];
		}
		free(learn.x);
		learn.x = NULL;
	}
	return rc < 0 ? -1 : end_together(l, err);
}

void cal_baseline_join(const struct cal_baseline_rank *first, struct cal_baseline_rank *last)
{
	const struct cal_line *a = &first->line;
	struct cal_line *b = &last->line;
	double there_a = a->offset + a->slope * first->at, there_b = b->offset + b->slope * last->at;
	double apart = (double)ltick_sub(b->local0, a->local0) + last->at - first->at;

	b->slope = ((double)ltick_sub(b->master0, a->master0) + there_b - there_a) / apart;
	b->offset = there_b - b->slope * last->at;
	b->used = 2;
	last->messages += first->messages;
	last->shortest = fmin(last->shortest, first->shortest);
}

void cal_baseline_scale(enum cal_baseline which, double share, struct cal_baseline_options *opt)
{
	const struct cal_baseline_kind *kind = &kinds[which];
	double most = opt->exchanges ? opt->exchanges : kind->exchanges,
	       points = opt->fit_points ? opt->fit_points : kind->fit_points;

	if (share == 1) {
		return;
	}
	if (!kind->fit_points) {
		/* an interval takes the offset for constant: more messages than published let the drift spoil it */
		opt->exchanges = (int)fmax(1, fmin(1e7, round(most * (kind->shortest ? share : fmin(1, share)))));
	} else if (points * share >= 10 || kind->least < kind->exchanges) {
		opt->fit_points = (int)fmax(2, fmin(1e6, round(points * share)));
	} else {
		/* a line needs some points: they become smaller */
		opt->fit_points = 10;
		opt->exchanges = (int)fmax(1, round(most * points * share / 10));
	}
}

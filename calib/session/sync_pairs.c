/* SPDX-License-Identifier: BSD-3-Clause */
/* A session pair by pair. It is more exact than a round robin of spinning processes because the two processes that
 * exchange messages have their cores to themselves. */
#include "config.h"
#include "calib/session/sync_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

/* Exchanges between two looks at the progress, half begun by each side: the first batch, which is all that a session in
 * the middle of a job makes, and those that follow while they improve the result by min_gain(). */
enum { HALF = 12, BATCH = 2 * HALF, HALF_MORE = 6 };

/* Batches of a burst that are left out because somebody was held up, and for how long that is. */
enum { MOST_HELD = 8 };
static const double hold_up_s = 1e-3;

/* What makes the two shortest ways together shorter by less than this share does not justify another batch. In a tree, where
 * all wait for the slowest pair of a round, a batch costs nothing while there is time: there any gain is enough, and the
 * batches are large. */
static double min_gain(const struct cal_sync_options *opt)
{
	return opt->pair_budget_s > 0 ? 0 : 0.05;
}

static int half_of_next(const struct cal_sync_options *opt, const struct cal_session *so_far)
{
	return so_far->n == 0 || opt->pair_budget_s > 0 ? HALF : HALF_MORE;
}

const double cal_pair_budget_s = 250e-6;

/* Of a process that has slept. What is cold for longer shows in the round trips: it is in no one-way minimum, and no
 * mean is taken unless nine tenths of the round trips are alike. 50 us or 500 us make no difference in the true
 * error, of 2 ranks or 16, but 7 ms of a session of 16. */
static const double warm_up_s = 50e-6;

/* One message each way, c to m first or m to c first. In a simulation both sides' stamps appear at once. */
static int ping_pong(struct cal_link *l, int master, int child, int child_begins, struct cal_sample *s, int *lost,
	struct tkm_err *err)
{
	int step;

	for (step = 0; step < 2; step++) {
		int up = child_begins == (step == 0);
		int rc = up ? cal_link_ping(l, child, master, &s->send, &s->master_in, err)
			    : cal_link_ping(l, master, child, &s->master_out, &s->recv, err);

		if (rc < 0) {
			return -1;
		}
		*lost |= rc;
	}
	return 0;
}

/* `half` exchanges begun by one side, one before them, because the first has just come out of other code, and
 * one after, because the message that follows the last one in the same direction would disturb it. */
static int half_batch(struct cal_link *l, int master, int child, int child_begins, struct cal_sample *s, int half,
	struct tkm_err *err)
{
	struct cal_sample unused;
	int i, lost;

	for (i = -1; i <= half; i++) {
		struct cal_sample *to = i >= 0 && i < half ? &s[i] : &unused;

		lost = 0;
		if (ping_pong(l, master, child, child_begins, to, &lost, err) < 0) {
			return -1;
		}
		to->kept = !lost;
	}
	return 0;
}

static int warm_up_pair(struct cal_link *l, int master, int child, double seconds, struct tkm_err *err)
{
	double begin = cal_link_is(l, child) ? cal_link_seconds_at(l, child) : 0;
	struct cal_sample unused;
	long long go = 1;
	int lost;

	while (go) {
		if (cal_link_is(l, child)) {
			go = cal_link_seconds_at(l, child) - begin < seconds;
		}
		if (cal_link_turn(l, child, master, &go, err) < 0 ||
			ping_pong(l, master, child, 0, &unused, &lost, err) < 0) {
			return -1;
		}
	}
	return 0;
}

/* The shortest ways so far, in master ticks and any common offset. */
struct ways {
	double up, down;
};

/* Adds a batch to the session; returns 1 if the ways got shorter by that share, -1 without memory. */
static int add_pair_batch(const struct cal_sample *s, int n, double slope, ltick_t local0, ltick_t master0,
	double share, struct ways *best, struct cal_session *out, struct tkm_err *err)
{
	double before = best->up + best->down;
	int i;

	for (i = 0; i < n; i++) {
		double up, down;

		if (!s[i].kept) {
			out->lost++;
			continue;
		}
		up = (double)ltick_sub(s[i].master_in, master0) - slope * (double)ltick_sub(s[i].send, local0);
		down = slope * (double)ltick_sub(s[i].recv, local0) - (double)ltick_sub(s[i].master_out, master0);
		best->up = fmin(best->up, up);
		best->down = fmin(best->down, down);
		if (cal_session_add(out, &s[i]) < 0) {
			return tkm_fail(err, TKM_ERR_NOMEM, "clock samples: out of memory");
		}
	}
	return before - (best->up + best->down) > share * (best->up + best->down);
}

/* What the child knows at the end of a batch: its own stamps, and now the master's. */
static void merge(struct cal_sample *mine, const struct cal_sample *masters, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		mine[i].master_in = masters[i].master_in;
		mine[i].master_out = masters[i].master_out;
		mine[i].kept = mine[i].kept && masters[i].kept;
	}
}

/* Tests whether the batch was delayed somewhere. A preempted process answers milliseconds later, and over that time the
 * clocks drift apart by more than the exchanges can show. Where all take that long, it is the network. */
static int held_up(const struct cal_sample *s, int exchanges, double seconds)
{
	double apart[BATCH];
	ltick_t before = ltick(0);
	int i, n = 0;

	for (i = 0; i < exchanges; i++) {
		if (s[i].kept) {
			double gap = n ? (double)ltick_sub(s[i].send, before) : 0,
			       itself = (double)ltick_sub(s[i].recv, s[i].send);

			apart[n++] = fmax(gap, itself);
			before = s[i].send;
		}
	}
	if (n == 0 || !(seconds > hold_up_s)) {
		return 0;
	}
	tkm_sort(apart, (size_t)n);
	return apart[n - 1] > 8 * apart[n / 2];
}

/* Does a batch begin much later after a sample than it lasts itself? */
static int far_away(const struct cal_sample *before, const struct cal_sample *s, int n)
{
	int i = 0, k = n - 1;

	while (i < k && !s[i].kept) {
		i++;
	}
	while (k > i && !s[k].kept) {
		k--;
	}
	return ltick_sub(s[i].send, before->recv) > 2 * ltick_sub(s[k].recv, s[i].send);
}

/* What the child knows of a burst. */
struct progress {
	ltick_t local0, master0;
	struct ways best;
	double slope, deadline;
	double began, kept; /* when the first batch began, and the last that was taken */
	int batches, held;
	long long made; /* exchanges, without batches that were held up */
};

/* Accepts or rejects a batch of n exchanges. Returns how many exchanges each side begins in the next batch; 0: no
 * further batch. */
static int child_takes(const struct cal_sample *s, int n, const struct cal_sync_options *opt, double began, double now,
	struct progress *p, struct cal_session *out, struct tkm_err *err)
{
	int first = out->n == 0, shorter, next;

	p->began = p->batches++ == 0 ? began : p->began;
	if (held_up(s, n, now - began) && p->held < MOST_HELD && now < p->deadline) {
		p->held++;
		return n / 2;
	}
	p->made += n;
	if (!first && now - p->kept > hold_up_s && far_away(&out->sample[out->n - 1], s, n)) {
		out->n = 0; /* delayed in between: earlier batches are too old to combine */
		p->best = (struct ways){ INFINITY, INFINITY };
		first = 1;
	}
	if (first) {
		p->local0 = s[0].send;
		p->master0 = s[0].master_in;
	}
	p->kept = began;
	shorter = add_pair_batch(s, n, p->slope, p->local0, p->master0, min_gain(opt), &p->best, out, err);
	if (shorter < 0) {
		return -1;
	}
	next = half_of_next(opt, out);
	if (p->made + 2 * next > opt->max_messages || now >= p->deadline ||
		(opt->pair_budget_s > 0 && (now - p->began) + (now - began) > opt->pair_budget_s)) {
		return 0;
	}
	return out->n == 0 || (!opt->brief && (first || shorter)) ? next : 0;
}

/* What the master sends after a batch: its stamps, and the clock of all as far as it is known. */
struct answer {
	struct cal_sample sample[BATCH];
	struct cal_offset_estimate tie;
};

/* *tie: the master's, for the child. */
static int measure_pair_burst(struct cal_link *l, int master, int child, const struct cal_sync_options *opt,
	double deadline, struct cal_session *out, struct cal_offset_estimate *tie, struct tkm_err *err)
{
	struct progress p = { .best = { INFINITY, INFINITY },
		.slope = opt->hz ? opt->hz[master] / opt->hz[child] : 1,
		.deadline = deadline };
	struct cal_sample mine[BATCH] = { { .kept = 0 } };
	struct answer answer;
	long long half = HALF;

	while (half) {
		double began = cal_link_is(l, child) ? cal_link_seconds_at(l, child) : 0;
		int n = (int)half;

		if (half_batch(l, master, child, 1, mine, n, err) < 0 ||
			half_batch(l, master, child, 0, mine + n, n, err) < 0) {
			return -1;
		}
		memcpy(answer.sample, mine, sizeof(mine));
		answer.tie = opt->tie ? opt->tie[master] : (struct cal_offset_estimate){ .known = 0 };
		if (cal_link_send(l, master, child, &answer, sizeof(answer), err) < 0) {
			return -1;
		}
		if (cal_link_is(l, child)) {
			merge(mine, answer.sample, 2 * n);
			*tie = answer.tie;
			half = child_takes(mine, 2 * n, opt, began, cal_link_seconds_at(l, child), &p, out, err);
		}
		if (half < 0 || cal_link_turn(l, child, master, &half, err) < 0) {
			return -1;
		}
		if (half < 0 || half > HALF) {
			return tkm_fail(err, TKM_ERR_DATA, "rank %d asks for %lld exchanges at once", child, half);
		}
	}
	return 0;
}

/* The two processes meet. b is there first; a sleeps until its turn comes. A rank that is late because it waited for a
 * dead one must not be given up itself, so pairs that are later in the plan wait longer. */
static int meet_pair(struct cal_link *l, const struct cal_pair *p, struct tkm_err *err)
{
	double limit = l->patience_s * (1 + 0.125 * p->round);
	long long go = 1;

	return cal_link_rendezvous(l, p->b, p->a, &go, limit, err) < 0 ||
			cal_link_rendezvous(l, p->a, p->b, &go, limit, err) < 0
		? -1
		: 0;
}

/* A process that has just exchanged messages has warm caches; one that slept has not. */
static double warming(struct cal_link *l, int child, const struct cal_sync_options *opt, const double *last_exchange)
{
	if (opt->brief || !cal_link_is(l, child)) {
		return 0;
	}
	return cal_link_seconds_at(l, child) - last_exchange[child] < hold_up_s ? 0.2 * warm_up_s : warm_up_s;
}

static int exchange_pair_results(struct cal_link *l, const struct cal_pair *p, const struct cal_sync_options *opt,
	double deadline, double *last_exchange, struct cal_session *out, struct tkm_err *err)
{
	struct cal_offset_estimate tie = { .known = 0 };
	int rc = 0;

	/* a sleeps where it will exchange messages, or it would wake up on the core of b, who wakes it */
	if ((l->rank == p->a && cal_link_pair_begin(l, p->a, p->b, p->unit_a, p->unit_b, err) < 0) ||
		meet_pair(l, p, err) < 0 ||
		(l->rank != p->a && cal_link_pair_begin(l, p->a, p->b, p->unit_a, p->unit_b, err) < 0) ||
		(!opt->brief && warm_up_pair(l, p->b, p->a, warming(l, p->a, opt, last_exchange), err) < 0) ||
		measure_pair_burst(l, p->b, p->a, opt, deadline, out, &tie, err) < 0) {
		rc = -1;
	}
	cal_link_pair_end(l, p->a, p->b);
	if (cal_link_is(l, p->a)) {
		last_exchange[p->a] = cal_link_seconds_at(l, p->a);
		if (opt->tie && out->n > 0 && tie.known) {
			cal_offset_estimate_extend(&opt->tie[p->a], &tie, out);
		}
	}
	return rc;
}

static void wait_for_unit(struct cal_link *l, int from, int to)
{
	struct tkm_err unused;
	long long go = 1;

	/* the one before sent its word when it was done (below); in a simulation both happen here */
	if (from >= 0 && cal_link_is(l, to)) {
		cal_link_turn(l, from, to, &go, &unused);
	}
}

static void pass_unit_on(struct cal_link *l, int from, int to)
{
	struct tkm_err unused;
	long long go = 1;

	if (to >= 0 && l->rank == from) {
		cal_link_turn(l, from, to, &go, &unused);
	}
}

static int one_pair(struct cal_link *l, const struct cal_pair *p, const struct cal_sync_options *opt, double deadline,
	double *last_exchange, struct cal_session *out, struct tkm_err *err)
{
	struct tkm_err why = { .text = "" };
	int rc;

	wait_for_unit(l, p->wait_a, p->a);
	wait_for_unit(l, p->wait_b, p->b);
	rc = exchange_pair_results(l, p, opt, deadline, last_exchange, out, &why);
	if (rc < 0) {
		cal_link_give_up(l, p->a, p->b);
		cal_link_give_up(l, p->b, p->a);
	}
	pass_unit_on(l, p->a, p->next_a);
	pass_unit_on(l, p->b, p->next_b);
	if (rc < 0 && why.code == TKM_ERR_TIMEOUT && opt->report) {
		if (opt->report->lost++ == 0) {
			opt->report->first = why;
		}
		return 0;
	}
	if (rc < 0 && err) {
		*err = why;
	}
	return rc;
}

int cal_sync_plan(struct cal_link *l, const struct cal_plan *plan, const struct cal_sync_options *opt,
	enum cal_session_kind kind, struct cal_session *out, struct tkm_err *err)
{
	double deadline = cal_link_seconds(l) + opt->max_duration_s;
	double *last_exchange =
		malloc(((size_t)l->size + 1) * sizeof(*last_exchange)); /* when each process did so last */
	size_t i;
	int rc = 0, r;

	if (!last_exchange) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a session of %d ranks", l->size);
	}
	for (r = 0; r < l->size; r++) {
		last_exchange[r] = -INFINITY;
	}
	cal_link_new_epoch(l);
	for (i = 0; i < plan->pairs && rc == 0; i++) {
		const struct cal_pair *p = &plan->pair[i];

		if (cal_link_is(l, p->a) || cal_link_is(l, p->b)) {
			out[i].kind = kind;
			out[i].peer = p->b;
			rc = one_pair(l, p, opt, deadline, last_exchange, &out[i], err);
		}
	}
	cal_link_new_epoch(l);
	free(last_exchange);
	return rc;
}

int cal_sync_pairs(struct cal_link *l, int master, const unsigned char *exchanges, const struct cal_sync_options *opt,
	struct cal_session *out, struct tkm_err *err)
{
	int *member = malloc(((size_t)l->size + 1) * sizeof(*member)), members = 1, i, rc = -1;
	struct cal_session *of_pair = calloc((size_t)l->size, sizeof(*of_pair));
	struct cal_plan plan = { .pairs = 0 };

	if (!member || !of_pair) {
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a session of %d ranks", l->size);
	} else {
		member[0] = master;
		for (i = 0; i < l->size; i++) {
			if (i != master && exchanges[i]) {
				member[members++] = i;
			}
		}
		rc = cal_plan_make(&plan, CAL_SHAPE_STAR, member, members, NULL, NULL, err);
	}
	if (rc == 0) {
		rc = cal_sync_plan(l, &plan, opt, CAL_START, of_pair, err);
	}
	for (i = 0; i < (int)plan.pairs; i++) {
		struct cal_session *to = &out[plan.pair[i].a];

		if (cal_link_is(l, plan.pair[i].a)) {
			of_pair[i].kind = to->kind;
			*to = of_pair[i];
		}
	}
	cal_plan_free(&plan);
	free(member);
	free(of_pair);
	return rc;
}

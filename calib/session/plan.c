/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks exchange messages in a session, and when; see calib/session/plan.h. */
#include "config.h"
#include "calib/session/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Up to so many children the star's accuracy, one exchange deep, justifies its turns. */
enum { STAR_CHILDREN = 8 };

const char *cal_shape_name(enum cal_shape shape)
{
	static const char *const names[] = { "auto", "star", "tree" };

	return names[shape];
}

/* A processing unit of a node with more ranks than it could place once and for all. */
struct cpu_slot {
	int free_at;           /* round */
	int last;              /* rank that had it, -1 */
	struct cal_pair *pair; /* in which */
};

struct node {
	int units; /* 0: no rank of this node is a member */
	int members, placed;
	struct cpu_slot *slot;
};

struct planner {
	struct cal_plan *plan;
	const int *node, *units;
	int *busy;         /* of each rank: first round in which it is free */
	struct node *cpus; /* of each node: by the lowest rank on it */
	int *home;         /* of each rank: index into cpus */
};

static int add_plan_pair(struct cal_plan *p, int a, int b)
{
	struct cal_pair *new = TKM_APPEND(p->pair, p->pairs);

	if (!new) {
		return -1;
	}
	*new = (struct cal_pair){ a, b, 0, 0, 1, -1, -1, -1, -1 };
	return 0;
}

static int star(struct cal_plan *p, const int *member, int members)
{
	int i;

	for (i = 1; i < members; i++) {
		if (add_plan_pair(p, member[i], member[0]) < 0) {
			return -1;
		}
	}
	return 0;
}

/* One bit of the index after another, and then the two ends towards the middle. */
static int folded_cube(struct cal_plan *p, const int *member, int members)
{
	int bit, i, k;

	for (bit = 1; bit < members; bit <<= 1) {
		for (i = 0; i < members; i++) {
			if (!(i & bit) && (i | bit) < members && add_plan_pair(p, member[i | bit], member[i]) < 0) {
				return -1;
			}
		}
	}
	for (i = 0, k = members - 1; i < k; i++, k--) {
		int differ = i ^ k;

		if ((differ & (differ - 1)) && add_plan_pair(p, member[k], member[i]) < 0) {
			return -1;
		}
	}
	return 0;
}

/* The slot that is free first, other than `except`; of several the one that the rank had itself. */
static int first_slot(const struct node *r, int rank, int except)
{
	int best = -1, i;

	for (i = 0; i < r->units; i++) {
		const struct cpu_slot *s = &r->slot[i];

		if (i != except &&
			(best < 0 || s->free_at < r->slot[best].free_at ||
				(s->free_at == r->slot[best].free_at && s->last == rank))) {
			best = i;
		}
	}
	return best;
}

static void claim_unit(struct node *node, int unit, struct cal_pair *pair, int rank)
{
	struct cpu_slot *s = &node->slot[unit];
	int *wait = rank == pair->a ? &pair->wait_a : &pair->wait_b;

	if (s->last >= 0 && s->last != rank) {
		*wait = s->last;
		*(s->last == s->pair->a ? &s->pair->next_a : &s->pair->next_b) = rank;
	}
	s->last = rank;
	s->pair = pair;
	s->free_at = pair->round + 1;
}

static void place_pair(struct planner *q, struct cal_pair *p)
{
	struct node *ra = &q->cpus[q->home[p->a]], *rb = &q->cpus[q->home[p->b]];
	int round = q->busy[p->a] > q->busy[p->b] ? q->busy[p->a] : q->busy[p->b];

	p->unit_a = first_slot(ra, p->a, -1);
	p->unit_b = first_slot(rb, p->b, ra == rb ? p->unit_a : -1);
	round = ra->slot[p->unit_a].free_at > round ? ra->slot[p->unit_a].free_at : round;
	round = rb->slot[p->unit_b].free_at > round ? rb->slot[p->unit_b].free_at : round;
	p->round = round;
	claim_unit(ra, p->unit_a, p, p->a);
	claim_unit(rb, p->unit_b, p, p->b);
	q->busy[p->a] = q->busy[p->b] = round + 1;
	q->plan->rounds = round + 1 > q->plan->rounds ? round + 1 : q->plan->rounds;
}

/* Every node's slots: two at least, so that a pair fits. */
static int assign_cpus(struct planner *q, const int *member, int members, int ranks)
{
	int i, k;

	q->busy = calloc((size_t)ranks, sizeof(*q->busy));
	q->home = calloc((size_t)ranks, sizeof(*q->home));
	q->cpus = calloc((size_t)ranks, sizeof(*q->cpus));
	if (!q->busy || !q->home || !q->cpus) {
		return -1;
	}
	for (i = 0; i < members; i++) {
		int r = member[i];

		q->home[r] = q->node ? q->node[r] : r;
		if (q->home[r] < 0 || q->home[r] >= ranks) {
			return -1;
		}
		q->cpus[q->home[r]].units = !q->node ? 1 : q->units[r] > 2 ? q->units[r] : 2;
		q->cpus[q->home[r]].members++;
	}
	for (i = 0; i < ranks; i++) {
		struct node *node = &q->cpus[i];

		/* more units than members are of no use */
		node->units = node->members >= 2 && node->units > node->members ? node->members : node->units;
		node->slot = node->units ? calloc((size_t)node->units, sizeof(*node->slot)) : NULL;
		if (node->units && !node->slot) {
			return -1;
		}
		for (k = 0; k < node->units; k++) {
			node->slot[k].last = -1;
		}
	}
	return 0;
}

static void clear(struct planner *q, int ranks)
{
	int i;

	for (i = 0; q->cpus && i < ranks; i++) {
		free(q->cpus[i].slot);
	}
	free(q->busy);
	free(q->home);
	free(q->cpus);
}

static int make_plan_rounds(
	struct cal_plan *p, enum cal_shape shape, const int *member, int members, const int *node, const int *units)
{
	struct planner q = { .plan = p, .node = node, .units = units };
	int ranks = 0, rc, i;
	size_t k;

	for (i = 0; i < members; i++) {
		ranks = member[i] >= ranks ? member[i] + 1 : ranks;
	}
	*p = (struct cal_plan){ .shape = shape };
	rc = (shape == CAL_SHAPE_STAR ? star : folded_cube)(p, member, members);
	if (rc == 0) {
		rc = assign_cpus(&q, member, members, ranks);
	}
	for (k = 0; k < p->pairs && rc == 0; k++) {
		place_pair(&q, &p->pair[k]);
	}
	clear(&q, ranks);
	return rc;
}

int cal_plan_make(struct cal_plan *p, enum cal_shape shape, const int *member, int members, const int *node,
	const int *units, struct tkm_err *err)
{
	int rc = make_plan_rounds(
		p, shape == CAL_SHAPE_TREE ? CAL_SHAPE_TREE : CAL_SHAPE_STAR, member, members, node, units);

	if (rc == 0 && shape == CAL_SHAPE_AUTO && members - 1 > STAR_CHILDREN) {
		struct cal_plan tree;

		rc = make_plan_rounds(&tree, CAL_SHAPE_TREE, member, members, node, units);
		if (rc == 0 && tree.rounds < p->rounds) {
			cal_plan_free(p);
			*p = tree;
		} else {
			cal_plan_free(&tree);
		}
	}
	if (rc < 0) {
		cal_plan_free(p);
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the plan of %d ranks", members);
	}
	return 0;
}

void cal_plan_free(struct cal_plan *p)
{
	free(p->pair);
	memset(p, 0, sizeof(*p));
}

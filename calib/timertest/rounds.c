/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of the bursts of all pairs of ranks; see calib/timertest/rounds.h. */
#include "config.h"
#include "calib/timertest/rounds.h"

#include <stdlib.h>
#include <string.h>

/* Room for one pair on a machine. */
struct place {
	int free_at;                /* round */
	struct cal_test_side *last; /* the side that had it before; NULL: none */
};

struct machine {
	int places;
	struct place *place;
};

struct maker {
	struct cal_test_rounds *s;
	const int *machine; /* of each rank */
	struct machine *of; /* by its number */
	int *busy;          /* of each rank: first round in which it is free */
};

static struct place *first_free(const struct machine *m)
{
	struct place *best = &m->place[0];
	int i;

	for (i = 1; i < m->places; i++) {
		best = m->place[i].free_at < best->free_at ? &m->place[i] : best;
	}
	return best;
}

static int larger_of(int a, int b)
{
	return a > b ? a : b;
}

/* The place goes from the pair that had it to that side of this one. */
static void hand_on(struct cal_test_rounds *s, struct place *p, int pair, int side)
{
	struct cal_test_side *to = &s->pair[pair].side[side];

	if (p->last) {
		p->last->next_pair = pair;
		p->last->next_side = side;
		to->from = p->last->rank;
	}
	p->last = to;
	p->free_at = s->pair[pair].round + 1;
}

static void add_round_pair(struct maker *q, int x, int y)
{
	int index = (int)q->s->pairs++, a = x < y ? x : y, b = x < y ? y : x;
	struct machine *ma = &q->of[q->machine[a]], *mb = &q->of[q->machine[b]];
	struct place *pa = first_free(ma), *pb = first_free(mb);
	struct cal_test_pair *p = &q->s->pair[index];

	p->round = larger_of(larger_of(q->busy[a], q->busy[b]), larger_of(pa->free_at, pb->free_at));
	p->side[0] = (struct cal_test_side){ a, 2 * (int)(pa - ma->place), -1, -1, 0 };
	p->side[1] = (struct cal_test_side){ b, 2 * (int)(pb - mb->place) + (pa == pb), -1, -1, 0 };
	hand_on(q->s, pa, index, 0);
	if (pa != pb) {
		hand_on(q->s, pb, index, 1);
	}
	q->busy[a] = q->busy[b] = p->round + 1;
	q->s->rounds = larger_of(q->s->rounds, p->round + 1);
}

/* A round robin tournament by the circle method: rank 0 stays where it is, the others go round it; of an odd number
 * one sits out in each turn. */
static void tournament(struct maker *q, int ranks)
{
	int odd = ranks % 2, circle = odd ? ranks : ranks - 1, first = odd ? 0 : 1, turn, k;

	for (turn = 0; turn < circle; turn++) {
		if (!odd) {
			add_round_pair(q, 0, first + turn);
		}
		for (k = 1; k <= (circle - 1) / 2; k++) {
			add_round_pair(q, first + (turn + k) % circle, first + (turn + circle - k) % circle);
		}
	}
}

static int find_places(struct maker *q, int ranks, const int *units)
{
	int i;

	q->of = calloc((size_t)ranks, sizeof(*q->of));
	q->busy = calloc((size_t)ranks, sizeof(*q->busy));
	q->s->pair = calloc((size_t)ranks * (size_t)ranks / 2 + 1, sizeof(*q->s->pair));
	if (!q->of || !q->busy || !q->s->pair) {
		return -1;
	}
	for (i = 0; i < ranks; i++) {
		struct machine *m = &q->of[q->machine[i]];

		if (!m->place) {
			m->places = larger_of(units[i] / 2, 1);
			m->place = calloc((size_t)m->places, sizeof(*m->place));
			if (!m->place) {
				return -1;
			}
		}
	}
	return 0;
}

/* How many pairs the largest round has. */
static int count_most(const struct cal_test_rounds *s)
{
	int *n = calloc((size_t)s->rounds + 1, sizeof(*n)), most = 0;
	size_t k;

	for (k = 0; n && k < s->pairs; k++) {
		most = larger_of(most, ++n[s->pair[k].round]);
	}
	free(n);
	return n ? most : -1;
}

int cal_test_rounds_make(
	struct cal_test_rounds *s, int ranks, const int *machine, const int *units, struct tkm_err *err)
{
	struct maker q = { .s = s, .machine = machine };
	int rc, i;

	*s = (struct cal_test_rounds){ .rounds = 0 };
	rc = find_places(&q, ranks, units);
	if (rc == 0) {
		tournament(&q, ranks);
		s->most = count_most(s);
	}
	for (i = 0; q.of && i < ranks; i++) {
		free(q.of[i].place);
	}
	free(q.of);
	free(q.busy);
	if (rc < 0 || s->most < 0) {
		cal_test_rounds_free(s);
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the pairs of %d ranks", ranks);
	}
	return 0;
}

void cal_test_rounds_free(struct cal_test_rounds *s)
{
	free(s->pair);
	memset(s, 0, sizeof(*s));
}

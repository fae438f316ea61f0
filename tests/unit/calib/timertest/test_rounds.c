/* SPDX-License-Identifier: BSD-3-Clause */
/* Which pairs of ranks exchange bursts at the same time: every pair once, no rank twice at once, and no machine with more
 * pairs than half of its processing units, whatever the ranks and machines and however long each pair takes. */
#include "config.h"
#include "calib/timertest/rounds.h"

#include "tests/lib/check.h"

enum { MOST = 70 };

static int limit_of(int units)
{
	return units / 2 > 1 ? units / 2 : 1;
}

static int draw(int n)
{
	return (int)(check_random() % (uint64_t)n);
}

static void layout(int ranks, int machines, int *machine, int *units)
{
	int of[MOST], i;

	for (i = 0; i < machines; i++) {
		of[i] = 1 + draw(12);
	}
	for (i = 0; i < ranks; i++) {
		machine[i] = draw(machines);
		units[i] = of[machine[i]];
	}
}

static void every_pair_once(const struct cal_test_rounds *s, int ranks)
{
	unsigned char seen[MOST][MOST] = { { 0 } };
	size_t k;

	CHECK_INT(s->pairs, ranks * (ranks - 1) / 2);
	for (k = 0; k < s->pairs; k++) {
		const struct cal_test_pair *p = &s->pair[k];

		CHECK(p->side[0].rank >= 0 && p->side[0].rank < p->side[1].rank && p->side[1].rank < ranks,
			"%d and %d of %d", p->side[0].rank, p->side[1].rank, ranks);
		CHECK(!seen[p->side[0].rank][p->side[1].rank]++, "%d <-> %d twice", p->side[0].rank, p->side[1].rank);
	}
}

static void no_round_too_full(const struct cal_test_rounds *s, int ranks, const int *machine, const int *units)
{
	int pairs[MOST], rank[MOST], r, most = 0;
	size_t k;

	for (r = 0; r < s->rounds; r++) {
		int all = 0;

		memset(pairs, 0, sizeof(pairs));
		memset(rank, 0, sizeof(rank));
		for (k = 0; k < s->pairs; k++) {
			const struct cal_test_pair *p = &s->pair[k];

			if (p->round == r) {
				int a = machine[p->side[0].rank], b = machine[p->side[1].rank];

				all++;
				CHECK(!rank[p->side[0].rank]++ && !rank[p->side[1].rank]++,
					"round %d: a rank of %d <-> %d twice", r, p->side[0].rank, p->side[1].rank);
				CHECK(++pairs[a] <= limit_of(units[p->side[0].rank]),
					"round %d: machine %d is too full", r, a);
				CHECK(a == b || ++pairs[b] <= limit_of(units[p->side[1].rank]),
					"round %d: machine %d is too full", r, b);
			}
		}
		most = all > most ? all : most;
	}
	CHECK_INT(s->most, most);
	CHECK(s->rounds >= ranks - 1, "%d rounds", s->rounds);
}

/* Works the list off as the ranks do, with pairs that take as long as they like; asks at every moment. */
struct play {
	const struct cal_test_rounds *s;
	int next[MOST];                   /* index into the list, of each rank: it works off its pairs in order */
	int running[MOST];                /* pairs of each machine */
	unsigned char state[MOST * MOST]; /* 0: not begun, 1: runs, 2: over */
	unsigned char got[MOST * MOST][2];
};

static int own(const struct cal_test_pair *p, int rank)
{
	return p->side[0].rank == rank || p->side[1].rank == rank;
}

static int may_begin(const struct play *g, size_t k)
{
	const struct cal_test_pair *p = &g->s->pair[k];

	return g->state[k] == 0 && g->next[p->side[0].rank] == (int)k && g->next[p->side[1].rank] == (int)k &&
		(p->side[0].from < 0 || g->got[k][0]) && (p->side[1].from < 0 || g->got[k][1]);
}

/* The places of a pair that is over go to those that come next. */
static void hand_on(struct play *g, size_t k, const int *machine)
{
	int i;

	for (i = 0; i < 2; i++) {
		const struct cal_test_side *s = &g->s->pair[k].side[i];

		if (s->next_pair >= 0) {
			const struct cal_test_side *to = &g->s->pair[s->next_pair].side[s->next_side];

			CHECK(s->next_pair > (int)k, "pair %zu hands on to %d", k, s->next_pair);
			CHECK_INT(to->from, s->rank);
			CHECK_INT(machine[to->rank], machine[s->rank]);
			g->got[s->next_pair][s->next_side] = 1;
		}
	}
}

static void forward(struct play *g, int rank)
{
	do {
		g->next[rank]++;
	} while (g->next[rank] < (int)g->s->pairs && !own(&g->s->pair[g->next[rank]], rank));
}

static void play(const struct cal_test_rounds *s, int ranks, const int *machine, const int *units)
{
	static struct play g;
	size_t over = 0, k;
	int i;

	memset(&g, 0, sizeof(g));
	g.s = s;
	for (i = 0; i < ranks; i++) {
		g.next[i] = -1;
		forward(&g, i);
	}
	while (over < s->pairs) {
		size_t moved = 0;

		for (k = 0; k < s->pairs; k++) {
			const struct cal_test_pair *p = &s->pair[k];
			int a = machine[p->side[0].rank], b = machine[p->side[1].rank];

			if (may_begin(&g, k) && draw(3)) {
				g.state[k] = 1;
				g.running[a]++;
				g.running[b] += a != b;
				CHECK(g.running[a] <= limit_of(units[p->side[0].rank]), "%d pairs on machine %d",
					g.running[a], a);
				CHECK(g.running[b] <= limit_of(units[p->side[1].rank]), "%d pairs on machine %d",
					g.running[b], b);
			} else if (g.state[k] == 1 && draw(2)) {
				g.state[k] = 2;
				g.running[a]--;
				g.running[b] -= a != b;
				hand_on(&g, k, machine);
				forward(&g, p->side[0].rank);
				forward(&g, p->side[1].rank);
				over++;
			}
			moved += g.state[k] == 1 || may_begin(&g, k);
		}
		if (moved == 0 && over < s->pairs) {
			CHECK(0, "%d ranks: all wait for each other after %zu of %zu pairs", ranks, over, s->pairs);
			return;
		}
	}
}

static void one(int ranks, const int *machine, const int *units)
{
	struct cal_test_rounds s;

	CHECK_INT(cal_test_rounds_make(&s, ranks, machine, units, NULL), 0);
	every_pair_once(&s, ranks);
	no_round_too_full(&s, ranks, machine, units);
	play(&s, ranks, machine, units);
	cal_test_rounds_free(&s);
}

static void every_number_of_ranks(void)
{
	int machine[MOST], units[MOST], n;

	for (n = 1; n <= MOST; n++) {
		layout(n, 1 + draw(n), machine, units);
		one(n, machine, units);
	}
}

static void any_layout(void)
{
	int machine[MOST], units[MOST], i;

	for (i = 0; i < 60 * check_times; i++) {
		int n = 2 + draw(24);

		layout(n, 1 + draw(n < 5 ? n : 5), machine, units);
		one(n, machine, units);
	}
}

/* With a core for each nothing waits: as few rounds as there can be, half of the ranks in each. */
static void as_few_rounds_as_there_can_be(void)
{
	int machine[MOST] = { 0 }, units[MOST], n, i;
	struct cal_test_rounds s;

	for (n = 2; n <= MOST; n++) {
		for (i = 0; i < n; i++) {
			units[i] = 2 * n;
		}
		CHECK_INT(cal_test_rounds_make(&s, n, machine, units, NULL), 0);
		CHECK_INT(s.rounds, n % 2 ? n : n - 1);
		CHECK_INT(s.most, n / 2);
		cal_test_rounds_free(&s);
	}
}

/* Two pairs at once on a machine have processing units of their own. */
static void units_of_their_own(void)
{
	int machine[8] = { 0 }, units[8], i;
	struct cal_test_rounds s;
	size_t k, j;

	for (i = 0; i < 8; i++) {
		units[i] = 6;
	}
	CHECK_INT(cal_test_rounds_make(&s, 8, machine, units, NULL), 0);
	for (k = 0; k < s.pairs; k++) {
		const struct cal_test_pair *p = &s.pair[k];

		CHECK(p->side[0].unit != p->side[1].unit && p->side[0].unit < 6 && p->side[1].unit < 6, "%d and %d",
			p->side[0].unit, p->side[1].unit);
		for (j = 0; j < k; j++) {
			const struct cal_test_pair *o = &s.pair[j];

			CHECK(o->round != p->round ||
					(o->side[0].unit != p->side[0].unit && o->side[1].unit != p->side[1].unit),
				"both on unit %d", p->side[0].unit);
		}
	}
	cal_test_rounds_free(&s);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(every_number_of_ranks);
	RUN(any_layout);
	RUN(as_few_rounds_as_there_can_be);
	RUN(units_of_their_own);
	return check_end();
}

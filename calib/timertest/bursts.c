/* SPDX-License-Identifier: BSD-3-Clause */
/* The message test of timertest: a burst of ping-pongs of each pair of ranks. Disjoint pairs exchange at the same time
 * where their machines have the processing units (rounds.h); no rank controls the whole: a pair begins when
 * the pair that had its place before has passed it on, and a waiting rank sleeps until that message comes. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"

/* The guide prints a line for each pair. Beyond so many ranks they are printed with --verbose 2 only. */
enum { RANKS_WITH_LINES = 4 };

/* Words between ranks, of pair k: 4 k + side: that side's place is free. 4 k + 2: the lower rank is there; 4 k + 3: the
 * other one is there. */
enum { PLACE = 0, MEET = 2, WORDS = 4 };

int cal_test_plan_bursts(struct cal_test *t, struct tkm_err *err)
{
	int n = t->link->size, i, rc;
	int *machine = calloc(2 * (size_t)n, sizeof(*machine)), *units = machine ? machine + n : NULL;

	if (!machine) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", n);
	}
	for (i = 0; i < n; i++) {
		machine[i] = t->place[i].machine;
		units[i] = t->place[i].units;
	}
	rc = cal_test_rounds_make(&t->rounds, n, machine, units, err);
	free(machine);
	if (rc == 0) {
		t->early = calloc(WORDS * t->rounds.pairs + 1, 1);
		rc = t->early ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the pairs of %d ranks", n);
	}
	return rc;
}

/* ---- one burst ---- */

static int make_event_room(struct cal_test *t, size_t more, struct tkm_err *err)
{
	return TKM_GROW(t->me.event, t->room, t->me.events + more) < 0
		? tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu stamps", t->me.events + more)
		: 0;
}

static int send_word(struct cal_test *t, int to, long long word, struct tkm_err *err)
{
	return cal_link_rendezvous(t->link, t->link->rank, to, &word, 0, err);
}

/* Sleeps until `from` has said that word. Others that it says before are kept: it may have handed on a place to a later
 * pair of this rank. */
static int receive_word(struct cal_test *t, int from, long long word, struct tkm_err *err)
{
	while (!t->early[word]) {
		long long got = -1;

		if (cal_link_rendezvous(t->link, from, t->link->rank, &got, t->link->gathering_s, err) < 0) {
			return -1;
		}
		if (got < 0 || got >= WORDS * (long long)t->rounds.pairs) {
			return tkm_fail(
				err, TKM_ERR_DATA, "rank %d sent %lld, which is no word of the bursts", from, got);
		}
		t->early[got] = 1;
	}
	t->early[word] = 0;
	return 0;
}

/* Ping-pongs that are not recorded; a is how long. */
static int warm_up_burst(struct cal_test *t, int a, int b, struct tkm_err *err)
{
	double begin = cal_link_seconds(t->link);
	ltick_t sent, received;
	long long go = 1;

	while (go) {
		if (t->link->rank == a) {
			go = cal_link_seconds(t->link) - begin < cal_warm_up_s;
		}
		if (cal_link_turn(t->link, a, b, &go, err) < 0 ||
			cal_link_message(t->link, b, a, &sent, &received, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int exchange_stamps(struct cal_test *t, int a, int b, int cycle, struct tkm_err *err)
{
	int me = t->link->rank, peer = me == a ? b : a, back;
	ltick_t sent, received;
	long long i;

	for (i = 0; i < t->o.burst; i++) {
		for (back = 0; back < 2; back++) {
			int sender = (back ? b : a) == me;

			if (cal_link_message(t->link, back ? b : a, back ? a : b, &sent, &received, err) < 0) {
				return -1;
			}
			t->me.event[t->me.events++] = (struct cal_test_event){ cycle, peer, sender, t->synchronised,
				sender ? sent.v : received.v };
		}
	}
	return 0;
}

/* The two find each other, each on its own core: a sleeps there until b is there too. */
static int meet_burst_peer(struct cal_test *t, const struct cal_test_pair *p, long long word, struct tkm_err *err)
{
	const struct cal_test_side *a = &p->side[0], *b = &p->side[1];
	int first = t->link->rank == a->rank;

	if (!first && receive_word(t, a->rank, word, err) < 0) {
		return -1;
	}
	if (cal_link_pair_begin(t->link, a->rank, b->rank, a->unit, b->unit, err) < 0) {
		return -1;
	}
	return first ? (send_word(t, b->rank, word, err) < 0 ? -1 : receive_word(t, b->rank, word + 1, err))
		     : send_word(t, a->rank, word + 1, err);
}

static int record_burst(struct cal_test *t, size_t pair, int cycle, struct tkm_err *err)
{
	const struct cal_test_pair *p = &t->rounds.pair[pair];
	int me = t->link->rank, second = me == p->side[1].rank, a = p->side[0].rank, b = p->side[1].rank, rc = 0;
	const struct cal_test_side *mine = &p->side[second], *next = NULL;
	long long word = WORDS * (long long)pair;

	if (make_event_room(t, 2 * (size_t)t->o.burst, err) < 0 ||
		(mine->from >= 0 && mine->from != me && receive_word(t, mine->from, word + PLACE + second, err) < 0)) {
		return -1;
	}
	if (meet_burst_peer(t, p, word + MEET, err) < 0 || warm_up_burst(t, a, b, err) < 0 ||
		exchange_stamps(t, a, b, cycle, err) < 0) {
		rc = -1;
	}
	cal_link_pair_end(t->link, a, b);
	if (rc == 0 && mine->next_pair >= 0) {
		next = &t->rounds.pair[mine->next_pair].side[mine->next_side];
	}
	if (next && next->rank != me) {
		rc = send_word(t, next->rank, WORDS * (long long)mine->next_pair + PLACE + mine->next_side, err);
	}
	return rc;
}

/* ---- all of them ---- */

/* What rank 0 prints before its next pair, or at the end: the guide's lines for all pairs up to there, or how far the burst
 * is. */
static void say_how_far(struct cal_test *t, int cycle, size_t said, size_t pair, double begin, double burst_begin)
{
	int lines = t->link->size <= RANKS_WITH_LINES || t->o.verbose >= 2;
	int shown = cal_test_prints_all(t);
	double now = cal_link_seconds(t->link), left;
	char text[100];

	if (t->link->rank != 0) {
		return;
	}
	if (shown && (lines || said == 0)) {
		cal_test_progress_end(t);
	}
	for (; lines && said < pair; said++) {
		const struct cal_test_pair *p = &t->rounds.pair[said];

		cal_test_print(t, "%d. recording messages %d <-> %d...\n", cycle, p->side[0].rank, p->side[1].rank);
	}
	if (!lines && said == 0) {
		cal_test_print(t, "%d. recording messages of %zu pairs, %s%d at a time (--verbose 2 prints each)...\n",
			cycle, t->rounds.pairs, t->rounds.most > 1 ? "up to " : "", t->rounds.most);
	}
	if (!(lines && shown) && pair > 1) {
		left = (now - burst_begin) / (double)(pair - 1) * (double)(t->rounds.pairs - pair + 1);
		snprintf(text, sizeof(text), "burst %d: %zu of %zu pairs, about %.0f s left", cycle, pair - 1,
			t->rounds.pairs, fmax(left, begin + t->o.seconds - now));
		cal_test_progress(t, now - begin, text);
	}
}

int cal_test_record_bursts(struct cal_test *t, int cycle, double begin, struct tkm_err *err)
{
	double burst_begin = cal_link_seconds(t->link);
	size_t k, said = 0;

	for (k = 0; k < t->rounds.pairs; k++) {
		const struct cal_test_pair *p = &t->rounds.pair[k];

		if (p->side[0].rank == t->link->rank || p->side[1].rank == t->link->rank) {
			say_how_far(t, cycle, said, k + 1, begin, burst_begin);
			said = k + 1;
			if (record_burst(t, k, cycle, err) < 0) {
				return -1;
			}
		}
	}
	say_how_far(t, cycle, said, k, begin, burst_begin);
	return cal_link_barrier(t->link, err);
}

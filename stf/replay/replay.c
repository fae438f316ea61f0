/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays a trace again, with other times in MPI or in a function. */
#include "config.h"
#include "stf/replay/replay.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/heap.h"

static int play_arrival_is_earlier(const void *of, const struct stf_play_arrival *a, const struct stf_play_arrival *b)
{
	(void)of;
	return a->done < b->done;
}

TKM_HEAP(play_heap, struct stf_play_arrival, play_arrival_is_earlier);

void stf_play_latest(struct stf_play_times *a, const struct stf_play_times *b)
{
	int k;

	for (k = 0; k < STF_PLAYS; k++) {
		a->at[k] = b->at[k] > a->at[k] ? b->at[k] : a->at[k];
	}
}

void stf_play_time(const struct stf_replay *r, struct stf_player *t, uint32_t function, uint64_t ticks)
{
	t->now.at[STF_PLAY_IDEAL] += ticks;
	t->now.at[STF_PLAY_CHANGED] +=
		r->function && function == r->function ? (uint64_t)((double)ticks * r->keeps + 0.5) : ticks;
}

int stf_play_arrives(struct stf_player *t, const struct stf_play_arrival *a)
{
	if (TKM_GROW(t->heap, t->room, t->n + 1) < 0) {
		return -1;
	}
	play_heap_add(NULL, t->heap, t->n++, *a);
	return 0;
}

void stf_play_leave(const struct stf_replay *r, struct stf_player *t, const struct stf_play_call *c)
{
	struct stf_play_times end = c->entered;
	uint64_t ready = c->enter;

	(void)r;
	if (c->waited) {
		stf_play_latest(&end, &c->receiver);
		ready = c->receiver_came > ready ? c->receiver_came : ready;
	}
	while (t->n && t->heap[0].done <= c->leave) {
		stf_play_latest(&end, &t->heap[0].times);
		ready = t->heap[0].ready > ready ? t->heap[0].ready : ready;
		t->heap[0] = t->heap[--t->n];
		play_heap_sift(NULL, t->heap, t->n, 0);
	}
	/* what the call took when all that it needed was there */
	end.at[STF_PLAY_CHANGED] += c->leave > ready ? c->leave - ready : 0;
	end.at[STF_PLAY_IDEAL] += c->keeps_time ? c->leave - c->enter : 0;
	t->now = end;
}

struct stf_play_times stf_play_message(const struct stf_replay *r, const struct stf_play_times *sent, uint64_t bytes)
{
	struct stf_play_times t = *sent;

	t.at[STF_PLAY_IDEAL] += (uint64_t)(r->latency + (double)bytes * r->per_byte + 0.5);
	return t;
}

struct stf_play_times stf_play_operation(
	const struct stf_replay *r, const struct stf_play_times *ready, uint32_t n, uint64_t bytes)
{
	struct stf_play_times t = *ready;
	unsigned steps = 0;

	while (steps < 32 && UINT64_C(1) << steps < n) {
		steps++;
	}
	t.at[STF_PLAY_IDEAL] += (uint64_t)(steps * (r->latency + (double)bytes * r->per_byte) + 0.5);
	return t;
}

void stf_player_free(struct stf_player *t)
{
	free(t->heap);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays collective operations. */
#include "config.h"
#include "stf/analysis/together.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/heap.h"

enum { MOST_BEGINS = 1 << 21 }; /* then the first one is taken although calls before it may not have been read */

struct together_member {
	uint64_t start, done;
	uint32_t willy;
	int begun, absent;
	struct stf_play_times times;
};

struct stf_together {
	enum stf_wait_kind kind;
	uint32_t n, root, left; /* left: members that have not begun */
	uint32_t scanned;       /* members before that one got what they needed */
	uint64_t bytes, last;   /* last: the stamp of the last begin so far */
	struct stf_play_times latest;
	struct together_member member[];
};

static int begin_is_earlier(const void *of, const struct stf_begin *a, const struct stf_begin *b)
{
	(void)of;
	return a->time < b->time;
}

TKM_HEAP(begin_heap, struct stf_begin, begin_is_earlier);

int stf_begins_add(struct stf_begins *b, const struct stf_parts *p, enum stf_wait_kind kind, uint32_t root)
{
	struct stf_together *o = calloc(1, sizeof(*o) + p->n * sizeof(o->member[0]));
	uint32_t i;

	if (!o || TKM_GROW(b->heap, b->room, b->n + p->n) < 0) {
		free(o);
		return -1;
	}
	*o = (struct stf_together){ .kind = kind, .n = p->n, .root = root };
	for (i = 0; i < p->n; i++) {
		struct together_member *m = &o->member[i];

		m->absent = p->start[i] == UINT64_MAX;
		if (!m->absent) {
			o->left++;
			o->bytes = p->bytes && p->bytes[i] > o->bytes ? p->bytes[i] : o->bytes;
			m->start = p->time + p->start[i];
			m->done = m->start + p->delta[i];
			m->willy = p->willy[i];
			begin_heap_add(NULL, b->heap, b->n++, (struct stf_begin){ m->start, o, i });
		}
	}
	if (!o->left) {
		free(o);
	}
	return 0;
}

/* The member gets what became ready at `times`, at the stamp `ready`. */
static int give_member(struct stf_threads *t, const struct stf_together *o, const struct together_member *m,
	uint64_t ready, const struct stf_play_times *times)
{
	struct stf_thread *h = m->begun ? stf_threads_find(t, m->willy) : stf_threads_in_call(t, m->willy, m->start);
	struct stf_play_arrival a = { m->done, ready, stf_play_operation(&t->replay, times, o->n, o->bytes), 0 };

	return m->absent || !h ? 0 : stf_play_arrives(&h->play, &a);
}

/* All but the root need it (root < n), or all do. */
static int give_all(struct stf_threads *t, const struct stf_together *o, uint32_t root, uint64_t ready,
	const struct stf_play_times *times)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < o->n && rc == 0; i++) {
		rc = i == root ? 0 : give_member(t, o, &o->member[i], ready, times);
	}
	return rc;
}

/* Members get what those before them have, as far as all of these have begun. */
static int give_scanned(struct stf_threads *t, struct stf_together *o)
{
	int rc = 0;

	for (; o->scanned < o->n && rc == 0; o->scanned++) {
		const struct together_member *m = &o->member[o->scanned];

		if (!m->absent && !m->begun) {
			break;
		}
		stf_play_latest(&o->latest, &m->times);
		o->last = m->start > o->last ? m->start : o->last;
		if (o->scanned + 1 < o->n) {
			rc = give_member(t, o, m + 1, o->last, &o->latest);
		}
	}
	return rc;
}

static int begin_member(struct stf_threads *t, struct stf_together *o, uint32_t i, uint64_t time)
{
	struct together_member *m = &o->member[i];
	const struct stf_thread *h = stf_threads_in_call(t, m->willy, m->start);

	m->begun = 1;
	o->left--;
	if (h) {
		m->willy = h->sum.willy;
		m->times = stf_thread_played(t, h, time);
	}
	if (o->kind == STF_WAIT_EARLY_SCAN) {
		return give_scanned(t, o);
	}
	if (o->kind == STF_WAIT_LATE_BROADCAST) {
		return i == o->root ? give_all(t, o, i, time, &m->times) : 0;
	}
	if (o->kind != STF_WAIT_EARLY_REDUCE || i != o->root) {
		stf_play_latest(&o->latest, &m->times);
		o->last = time;
	}
	if (o->left) {
		return 0;
	}
	return o->kind == STF_WAIT_EARLY_REDUCE
		? o->root < o->n ? give_member(t, o, &o->member[o->root], o->last, &o->latest) : 0
		: give_all(t, o, o->n, o->last, &o->latest);
}

static struct stf_begin take_begin(struct stf_begins *b)
{
	struct stf_begin first = b->heap[0];

	b->heap[0] = b->heap[--b->n];
	begin_heap_sift(NULL, b->heap, b->n, 0);
	return first;
}

int stf_begins_pass(struct stf_begins *b, struct stf_threads *t, uint64_t time)
{
	const struct stf_thread *h;
	int rc = 0;

	while (rc == 0 && b->n && (b->heap[0].time < time || b->n > MOST_BEGINS)) {
		struct stf_begin first;

		h = stf_threads_find(t, b->heap[0].of->member[b->heap[0].member].willy);
		if (h && h->held) {
			break;
		}
		first = take_begin(b);
		rc = begin_member(t, first.of, first.member, first.time);
		if (!first.of->left) {
			free(first.of);
		}
	}
	return rc;
}

void stf_begins_free(struct stf_begins *b)
{
	while (b->n) {
		struct stf_together *o = b->heap[--b->n].of;

		if (!--o->left) {
			free(o);
		}
	}
	free(b->heap);
}

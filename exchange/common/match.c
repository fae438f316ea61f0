/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines sends and receives into messages. */
#include "config.h"
#include "exchange/common/match.h"

#include <stdlib.h>

#include "base/table.h"

/* So many messages may wait for one that was sent before them and is not received; then it is written as not received. */
enum { MAX_OPEN = 1 << 20 };

enum state { SENT, RECEIVED, COMPLETE, TAKEN };

struct entry {
	struct xch_half h; /* the send, or a receive that waits */
	int64_t delta;
	uint32_t receiver_function;
	uint64_t next; /* number of the next entry with this key; 0: none */
	enum state state;
};

/* The entries of a key that wait for their other half: either all are sends, or all are receives. */
struct slot {
	uint64_t first, last; /* numbers of entries; 0: none */
};

struct xch_match {
	struct stf_writer *w;
	struct entry *ring; /* entries with the numbers head to tail - 1, at index number modulo cap */
	uint64_t head, tail, cap;
	struct tkm_table slots;
	uint64_t written, alone;
};

struct xch_match *xch_match_new(struct stf_writer *w)
{
	struct xch_match *m = calloc(1, sizeof(*m));

	if (m) {
		m->w = w;
		m->head = m->tail = 1;
	}
	return m;
}

void xch_match_free(struct xch_match *m)
{
	if (m) {
		free(m->ring);
		tkm_table_free(&m->slots);
		free(m);
	}
}

uint64_t xch_match_count(const struct xch_match *m, uint64_t *alone)
{
	*alone = m->alone;
	return m->written;
}

/* ---- keys ---- */

static struct slot *slot_of(struct xch_match *m, const struct xch_half *h)
{
	const uint32_t key[4] = { h->from, h->to, h->communicator, h->tag };

	return h->id ? tkm_table_put(&m->slots, &h->id, sizeof(h->id), sizeof(struct slot))
		     : tkm_table_put(&m->slots, key, sizeof(key), sizeof(struct slot));
}

/* ---- the queue ---- */

static struct entry *entry(const struct xch_match *m, uint64_t number)
{
	return &m->ring[number & (m->cap - 1)];
}

static int write_entry(struct xch_match *m, const struct entry *e)
{
	struct stf_one_to_one_communication r = { .time = e->h.time,
		.sender = e->h.from,
		.receiver = e->h.to,
		.communicator = e->h.communicator,
		.size = e->h.size,
		.tag = e->h.tag,
		.sender_function = e->state == RECEIVED ? 0 : e->h.function,
		.receiver_function = e->state == RECEIVED ? e->h.function : e->receiver_function,
		.receive_time = e->state == SENT ? STF_RECEIVE_UNKNOWN
			: e->state == RECEIVED   ? STF_SEND_UNKNOWN
						 : e->delta };

	if (e->state == TAKEN) {
		return 0;
	}
	m->alone += e->state != COMPLETE;
	if (e->state != COMPLETE && e->h.paired) {
		return 0;
	}
	m->written++;
	return stf_write_one_to_one_communication(m->w, &r);
}

/* Takes the first entry from those that wait with this key. */
static struct entry *take_first(struct xch_match *m, struct slot *s)
{
	struct entry *e = entry(m, s->first);

	s->first = e->next;
	e->next = 0;
	if (!s->first && e->h.id) { /* an id is used once */
		tkm_table_remove(&m->slots, s);
	}
	return e;
}

/* Writes the first entry of all, unless it waits and may wait longer. Returns 1, 0: it waits, or -1. */
static int drop_first(struct xch_match *m, uint64_t open)
{
	struct entry *e = entry(m, m->head);
	struct slot *s;

	if (m->head == m->tail) {
		return 0;
	}
	if (e->state == SENT || e->state == RECEIVED) {
		if (m->tail - m->head <= open) {
			return 0;
		}
		s = slot_of(m, &e->h); /* the oldest entry of all is also the oldest of its key */
		if (!s) {
			return -1;
		}
		take_first(m, s);
	}
	m->head++;
	return write_entry(m, e) < 0 ? -1 : 1;
}

static int drop_complete(struct xch_match *m, uint64_t open)
{
	int rc;

	while ((rc = drop_first(m, open)) > 0) {
	}
	return rc;
}

static int grow(struct xch_match *m)
{
	uint64_t cap = m->cap ? 2 * m->cap : 256, i;
	struct entry *ring = malloc(cap * sizeof(*ring));

	if (!ring) {
		return -1;
	}
	for (i = m->head; i < m->tail; i++) {
		ring[i & (cap - 1)] = *entry(m, i);
	}
	free(m->ring);
	m->ring = ring;
	m->cap = cap;
	return 0;
}

/* Adds an entry. With `wait` it waits for its other half. */
static int add(struct xch_match *m, const struct entry *new, struct slot *wait)
{
	if (m->tail - m->head == m->cap && grow(m) < 0) {
		return -1;
	}
	*entry(m, m->tail) = *new;
	if (wait) {
		if (wait->first) {
			entry(m, wait->last)->next = m->tail;
		} else {
			wait->first = m->tail;
		}
		wait->last = m->tail;
	}
	m->tail++;
	return drop_complete(m, MAX_OPEN);
}

int xch_match_half(struct xch_match *m, const struct xch_half *h)
{
	struct slot *s = slot_of(m, h);
	struct entry *e, new = { .h = *h, .state = h->receive ? RECEIVED : SENT };

	if (!s) {
		return -1;
	}
	if (!s->first || entry(m, s->first)->state == new.state) {
		return add(m, &new, s);
	}
	e = take_first(m, s);
	if (h->receive) {
		e->h.to = h->paired ? h->to : e->h.to;
		e->state = COMPLETE;
		e->delta = (int64_t)(h->time - e->h.time);
		e->receiver_function = h->function;
		return drop_complete(m, MAX_OPEN);
	}
	e->state = TAKEN;
	new.state = COMPLETE;
	new.delta = (int64_t)(e->h.time - h->time);
	new.receiver_function = e->h.function;
	new.h.to = h->paired ? e->h.to : h->to;
	return add(m, &new, NULL);
}

int xch_match_end(struct xch_match *m)
{
	return drop_complete(m, 0);
}

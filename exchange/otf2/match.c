/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines sends and receives, which some formats store separately, into messages of STF. */
#include "config.h"
#include "exchange/otf2/match.h"

#include <stdlib.h>

#include "base/table.h"

enum {
	MAX_OPEN = 1 << 20
}; /* the number of records that may wait for a message to be received; then it is written as not received */

enum state { SENT, RECEIVED, COMPLETE, TAKEN };

struct entry {
	struct xch_half h;
	int64_t delta;
	uint64_t next; /* number of the next entry with the same key; 0: none */
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
	const uint32_t key[4] = { h->sender, h->receiver, h->communicator, h->tag };

	return tkm_table_put(&m->slots, key, sizeof(key), sizeof(struct slot));
}

/* ---- the queue ---- */

static struct entry *entry(const struct xch_match *m, uint64_t number)
{
	return &m->ring[number & (m->cap - 1)];
}

static int write_entry(struct xch_match *m, const struct entry *e)
{
	struct stf_one_to_one_communication_2 r = { .time = e->h.time,
		.sender = e->h.sender,
		.receiver = e->h.receiver,
		.communicator = e->h.communicator,
		.size = e->h.size,
		.tag = e->h.tag,
		.receive_time = e->state == SENT ? STF_RECEIVE_UNKNOWN
			: e->state == RECEIVED   ? STF_SEND_UNKNOWN
						 : e->delta };

	if (e->state == TAKEN) {
		return 0;
	}
	m->written++;
	m->alone += e->state != COMPLETE;
	return stf_write_one_to_one_communication_2(m->w, &r);
}

/* Removes the first entry. If it waits in the list of its key, removes it there, too. */
static int drop_first(struct xch_match *m)
{
	struct entry *e = entry(m, m->head);
	struct slot *s;

	if (e->state == SENT || e->state == RECEIVED) {
		s = slot_of(m, &e->h);
		if (!s) {
			return -1;
		}
		/* the oldest entry of all is also the oldest of its key */
		s->first = e->next;
		s->last = e->next ? s->last : 0;
	}
	m->head++;
	return write_entry(m, e);
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

static int add(struct xch_match *m, const struct xch_half *h, enum state state, int64_t delta, struct slot *wait)
{
	if (m->tail - m->head == m->cap && grow(m) < 0) {
		return -1;
	}
	*entry(m, m->tail) = (struct entry){ .h = *h, .state = state, .delta = delta };
	if (wait) {
		if (wait->last) {
			entry(m, wait->last)->next = m->tail;
		} else {
			wait->first = m->tail;
		}
		wait->last = m->tail;
	}
	m->tail++;
	while (m->head < m->tail &&
		(entry(m, m->head)->state == COMPLETE || entry(m, m->head)->state == TAKEN ||
			m->tail - m->head > MAX_OPEN)) {
		if (drop_first(m) < 0) {
			return -1;
		}
	}
	return 0;
}

static struct entry *remove_first(struct xch_match *m, struct slot *s)
{
	struct entry *e = entry(m, s->first);

	s->first = e->next;
	s->last = e->next ? s->last : 0;
	e->next = 0;
	return e;
}

int xch_match_send(struct xch_match *m, const struct xch_half *h)
{
	struct slot *s = slot_of(m, h);
	struct entry *e;

	if (!s) {
		return -1;
	}
	if (s->first && entry(m, s->first)->state == RECEIVED) {
		e = remove_first(m, s);
		e->state = TAKEN;
		return add(m, h, COMPLETE, (int64_t)(e->h.time - h->time), NULL);
	}
	return add(m, h, SENT, 0, s);
}

int xch_match_receive(struct xch_match *m, const struct xch_half *h)
{
	struct slot *s = slot_of(m, h);
	struct entry *e;

	if (!s) {
		return -1;
	}
	if (!s->first || entry(m, s->first)->state != SENT) {
		return add(m, h, RECEIVED, 0, s);
	}
	e = remove_first(m, s);
	e->state = COMPLETE;
	e->delta = (int64_t)(h->time - e->h.time);
	while (m->head < m->tail && entry(m, m->head)->state >= COMPLETE) {
		if (drop_first(m) < 0) {
			return -1;
		}
	}
	return 0;
}

int xch_match_end(struct xch_match *m)
{
	while (m->head < m->tail) {
		if (drop_first(m) < 0) {
			return -1;
		}
	}
	return 0;
}

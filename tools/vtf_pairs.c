/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "tools/vtf_pairs.h"

#include <stdio.h>
#include <stdlib.h>

struct vtf_message {
	struct vtf_message *next;  /* in order */
	struct vtf_message *chain; /* in its bucket, oldest first */
	struct vtf_half h;         /* as it came; both sides once complete */
	int complete;
};

/* Sends and receives hang apart, so that the other half stands at the front. */
static size_t bucket_of(const struct vtf_pairs *p, const struct vtf_half *h, int receive)
{
	uint64_t k = h->pair;

	if (!h->has_pair) {
		k = ((uint64_t)h->m.sender * 31 + h->m.receiver) * 0x9e3779b97f4a7c15u;
		k ^= ((uint64_t)h->m.communicator << 32 | h->m.tag) * 0xc2b2ae3d27d4eb4fu;
	}
	return (size_t)(((k + (uint64_t)receive) * 0x9e3779b97f4a7c15u) >> 32) & (p->size - 1);
}

static int belong(const struct vtf_half *a, const struct vtf_half *b)
{
	if (a->receive == b->receive || a->has_pair != b->has_pair) {
		return 0;
	}
	if (a->has_pair) {
		return a->pair == b->pair;
	}
	return a->m.sender == b->m.sender && a->m.receiver == b->m.receiver && a->m.communicator == b->m.communicator &&
		a->m.tag == b->m.tag;
}

static void hang(struct vtf_pairs *p, struct vtf_message *m)
{
	struct vtf_bucket *b = &p->bucket[bucket_of(p, &m->h, m->h.receive)];

	m->chain = NULL;
	if (b->first) {
		b->last->chain = m;
	} else {
		b->first = m;
	}
	b->last = m;
}

/* Takes the oldest message that h is the other half of from its bucket; NULL if there is none. */
static struct vtf_message *take(struct vtf_pairs *p, const struct vtf_half *h)
{
	struct vtf_bucket *b = &p->bucket[bucket_of(p, h, !h->receive)];
	struct vtf_message *m, *before = NULL;

	for (m = b->first; m && !belong(&m->h, h); m = m->chain) {
		before = m;
	}
	if (m) {
		if (before) {
			before->chain = m->chain;
		} else {
			b->first = m->chain;
		}
		b->last = b->last == m ? before : b->last;
		p->n--;
	}
	return m;
}

static int grow(struct vtf_pairs *p)
{
	size_t size = p->size ? 4 * p->size : 64;
	struct vtf_bucket *b = calloc(size, sizeof(*b));
	struct vtf_message *m;

	if (!b) {
		return -1;
	}
	free(p->bucket);
	p->bucket = b;
	p->size = size;
	for (m = p->first; m; m = m->next) {
		if (!m->complete) {
			hang(p, m);
		}
	}
	return 0;
}

static int write_message(const struct vtf_message *m, struct stf_writer *w)
{
	const struct stf_one_to_one_communication_4 *s = &m->h.m;
	struct stf_one_to_one_communication_1 scl = { s->time, s->sender, s->receive_time, s->receiver, s->communicator,
		s->size, s->tag, s->sender_scl, s->receiver_scl, s->sender_function, s->receiver_function };
	struct stf_one_to_one_communication plain = { s->time, s->sender, s->receive_time, s->receiver, s->communicator,
		s->size, s->tag, s->sender_function, s->receiver_function };

	return m->h.incarnation & 2    ? stf_write_one_to_one_communication_4(w, s)
		: m->h.incarnation & 1 ? stf_write_one_to_one_communication_1(w, &scl)
				       : stf_write_one_to_one_communication(w, &plain);
}

static int flush(struct vtf_pairs *p, int all, struct stf_writer *w, char *why, size_t size)
{
	struct vtf_message *m;
	int rc = 0;

	while (rc == 0 && (m = p->first) && (all || m->complete)) {
		rc = write_message(m, w);
		p->first = m->next;
		p->last = p->first ? p->last : NULL;
		free(m);
	}
	if (rc < 0) {
		snprintf(why, size, "%s", stf_writer_error(w)->text);
	}
	return rc;
}

/* Puts the two halves of a message together. */
static void join(struct vtf_message *m, const struct vtf_half *h)
{
	const struct vtf_half *s = h->receive ? &m->h : h, *r = h->receive ? h : &m->h;
	struct stf_one_to_one_communication_4 both = s->m;

	both.time = s->time;
	both.receive_time = (int64_t)(r->time - s->time);
	both.receiver_function = r->m.receiver_function;
	both.receiver_scl = r->m.receiver_scl;
	both.receiver_checksum = r->m.receiver_checksum;
	m->h.incarnation |= h->incarnation;
	m->h.m = both;
	m->complete = 1;
}

int vtf_pairs_add(struct vtf_pairs *p, const struct vtf_half *h, struct stf_writer *w, char *why, size_t size)
{
	struct vtf_message *m;

	if (p->n >= p->size && grow(p) < 0) {
		snprintf(why, size, "out of memory");
		return -1;
	}
	m = take(p, h);
	if (m) {
		join(m, h);
		return flush(p, 0, w, why, size);
	}
	m = calloc(1, sizeof(*m));
	if (!m) {
		snprintf(why, size, "out of memory");
		return -1;
	}
	m->h = *h;
	m->h.m.time = h->time;
	m->h.m.receive_time = h->receive ? STF_SEND_UNKNOWN : STF_RECEIVE_UNKNOWN;
	/* a receive that stands first, and does not say of which message, has lost its send */
	m->complete = h->receive && !h->has_pair;
	if (!m->complete) {
		hang(p, m);
		p->n++;
	}
	if (p->last) {
		p->last->next = m;
	} else {
		p->first = m;
	}
	p->last = m;
	return flush(p, 0, w, why, size);
}

int vtf_pairs_end(struct vtf_pairs *p, struct stf_writer *w, char *why, size_t size)
{
	return flush(p, 1, w, why, size);
}

void vtf_pairs_free(struct vtf_pairs *p)
{
	struct vtf_message *m;

	while ((m = p->first)) {
		p->first = m->next;
		free(m);
	}
	free(p->bucket);
}

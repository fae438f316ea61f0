/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines sends and receives into messages. */
#include "config.h"
#include "tools/vtf/vtf_pairs.h"

#include <stdio.h>
#include <stdlib.h>

struct vtf_message {
	struct vtf_message *next;  /* in the order of the messages */
	struct vtf_message *chain; /* incomplete messages with the same key, oldest first */
	struct vtf_half h;         /* as it was read; both sides once complete */
	int complete;
};

struct list {
	struct vtf_message *first, *last;
};

/* What the two halves of a message have in common, and which half this is. */
struct key {
	uint64_t which, a, b;
};

static struct key key_of(const struct vtf_half *h, int receive)
{
	return (struct key){ .which = (uint64_t)(h->has_pair != 0) << 1 | (receive != 0),
		.a = h->has_pair ? h->pair : (uint64_t)h->m.sender << 32 | h->m.receiver,
		.b = h->has_pair ? 0 : (uint64_t)h->m.communicator << 32 | h->m.tag };
}

static int add_incomplete(struct vtf_pairs *p, struct vtf_message *m)
{
	const struct key key = key_of(&m->h, m->h.receive);
	struct list *l = tkm_table_put(&p->incomplete, &key, sizeof(key), sizeof(*l));

	if (!l) {
		return -1;
	}
	if (l->first) {
		l->last->chain = m;
	} else {
		l->first = m;
	}
	l->last = m;
	return 0;
}

/* Takes the oldest message whose other half is h from its list; NULL if there is none. */
static struct vtf_message *remove_other_half(struct vtf_pairs *p, const struct vtf_half *h)
{
	const struct key key = key_of(h, !h->receive);
	struct list *l = tkm_table_find(&p->incomplete, &key, sizeof(key));
	struct vtf_message *m = l ? l->first : NULL;

	if (m) {
		l->first = m->chain;
	}
	if (m && !l->first) {
		tkm_table_remove(&p->incomplete, l);
	}
	return m;
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

/* Combines the two halves of a message. */
static void join_halves(struct vtf_message *m, const struct vtf_half *h)
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
	struct vtf_message *m = remove_other_half(p, h);

	if (m) {
		join_halves(m, h);
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
	/* a receive that comes first, and does not name its message, has lost its send */
	m->complete = h->receive && !h->has_pair;
	if (!m->complete && add_incomplete(p, m) < 0) {
		free(m);
		snprintf(why, size, "out of memory");
		return -1;
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
	tkm_table_free(&p->incomplete);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches the ends of messages, and the members of collective operations. All sorting is of indexes: ends are sorted
 * into channels by counting, and within a channel by the time when they were posted, if they are not in that order
 * already. qsort() is not used because it may call malloc() of the program in which the merge runs. */
#include "config.h"
#include "collector-plugin/merge/common/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/table.h"

enum { NONE = UINT32_MAX, GONE = UINT32_MAX - 1 };

struct vt_match_end *vt_match_add_end(struct vt_match_ends *l)
{
	return TKM_GROW(l->end, l->room, l->n + 1) < 0 ? NULL : memset(&l->end[l->n++], 0, sizeof(*l->end));
}

struct vt_match_share *vt_match_add_share(struct vt_match_shares *l)
{
	return TKM_GROW(l->share, l->room, l->n + 1) < 0 ? NULL : memset(&l->share[l->n++], 0, sizeof(*l->share));
}

/* ---- sorting indexes ---- */

typedef int compare_fn(const void *items, uint32_t a, uint32_t b);

/* A stable bottom-up merge sort. spare: as large as index. */
static void sort_indexes(uint32_t *index, uint32_t *spare, size_t n, compare_fn *compare, const void *items)
{
	size_t width, i, a, b, k, end;

	for (i = 1; i < n && compare(items, index[i - 1], index[i]) <= 0; i++) {
	}
	for (width = 1; i < n && width < n; width *= 2) {
		for (i = 0; i < n; i += 2 * width) {
			size_t middle = i + width < n ? i + width : n;

			end = i + 2 * width < n ? i + 2 * width : n;
			for (a = i, b = middle, k = i; k < end; k++) {
				int left = a < middle && (b == end || compare(items, index[a], index[b]) <= 0);

				spare[k] = left ? index[a++] : index[b++];
			}
		}
		memcpy(index, spare, n * sizeof(*index));
		i = 0;
	}
}

#define ORDER(x, y) \
	if ((x) != (y)) { \
		return (x) < (y) ? -1 : 1; \
	}

/* ---- channels ---- */

static int is_send(const struct vt_match_end *e)
{
	return e->kind == VT_MATCH_SEND || e->kind == VT_MATCH_TAKEN_BACK;
}

static uint16_t sender(const struct vt_match_end *e)
{
	return is_send(e) ? e->process : e->peer;
}

static uint16_t receiver(const struct vt_match_end *e)
{
	return is_send(e) ? e->peer : e->process;
}

/* A freed receive whose sender or tag is unknown. */
static int is_unknown(const struct vt_match_end *e)
{
	return e->kind == VT_MATCH_FREED && (e->peer == VT_MATCH_NOBODY || e->tag == VT_MATCH_ANY_TAG);
}

struct channel {
	uint32_t sends, receives; /* first how many there are; then where the next one goes */
};

struct channels {
	struct tkm_table number; /* channel of each key, + 1 */
	struct channel *channel;
	size_t n, room;
};

/* The channel of an end; NONE: no memory. */
static uint32_t channel_of(struct channels *t, const struct vt_match_end *e)
{
	uint64_t key[2] = { (uint64_t)e->communicator << 32 | (uint32_t)e->tag,
		(uint64_t)e->channel << 32 | (uint32_t)sender(e) << 16 | receiver(e) };
	uint32_t *number = tkm_table_put(&t->number, key, sizeof(key), sizeof(*number));

	if (!number || *number) {
		return number ? *number - 1 : NONE;
	}
	if (TKM_GROW(t->channel, t->room, t->n + 1) < 0) {
		return NONE;
	}
	t->channel[t->n] = (struct channel){ 0, 0 };
	*number = (uint32_t)++t->n;
	return *number - 1;
}

/* ---- messages ---- */

struct matching {
	struct vt_match_end *end;
	size_t n;
	uint32_t *order; /* ends by channel: its sends, then its receives; at the end those whose channel is unknown */
	uint32_t *spare; /* at first the channel of each end */
	uint32_t *other; /* the matching end of each end; NONE or GONE: there is none */
	struct channels channels;
	size_t unknown; /* freed receives whose channel is unknown */
};

static int by_post(const void *items, uint32_t a, uint32_t b)
{
	const struct vt_match_end *x = (const struct vt_match_end *)items + a,
				  *y = (const struct vt_match_end *)items + b;

	ORDER(x->post, y->post)
	ORDER(x->thread, y->thread)
	/* a record that takes a send back comes after that send */
	ORDER(x->kind, y->kind)
	return 0;
}

static int by_time(const void *items, uint32_t a, uint32_t b)
{
	const struct vt_match_end *x = (const struct vt_match_end *)items + a,
				  *y = (const struct vt_match_end *)items + b;

	ORDER(x->time, y->time)
	return 0;
}

/* Sorts the ends into channels: fills order[] by counting. */
static int find_channels(struct matching *m)
{
	size_t i, at = 0;
	uint32_t n;

	for (i = 0; i < m->n; i++) {
		const struct vt_match_end *e = &m->end[i];

		if (is_unknown(e)) {
			m->unknown++;
			m->spare[i] = NONE;
			continue;
		}
		m->spare[i] = channel_of(&m->channels, e);
		if (m->spare[i] == NONE) {
			return -1;
		}
		*(is_send(e) ? &m->channels.channel[m->spare[i]].sends : &m->channels.channel[m->spare[i]].receives) +=
			1;
	}
	for (i = 0; i < m->channels.n; i++) {
		struct channel *c = &m->channels.channel[i];

		n = c->sends;
		c->sends = (uint32_t)at;
		at += n;
		n = c->receives;
		c->receives = (uint32_t)at;
		at += n;
	}
	for (i = 0; i < m->n; i++) {
		struct channel *c = m->spare[i] != NONE ? &m->channels.channel[m->spare[i]] : NULL;

		m->order[!c ? at++ : is_send(&m->end[i]) ? c->sends++ : c->receives++] = (uint32_t)i;
	}
	return 0;
}

static uint64_t latest_post(const struct vt_match_end *e)
{
	return e->during == UINT32_MAX ? INT64_MAX : (uint64_t)e->post + e->during;
}

/* Marks ends that were posted while another thread posted one, too: n ends of one side of a channel, sorted by post. */
static void mark_overlaps(struct vt_match_end *end, const uint32_t *order, size_t n)
{
	/* the end whose posting lasted longest so far, and the one that lasted longest of the other threads */
	struct vt_match_end *first = n ? &end[order[0]] : NULL, *second = NULL;
	size_t i;

	for (i = 1; i < n; i++) {
		struct vt_match_end *e = &end[order[i]], *other = e->thread != first->thread ? first : second;

		if (other && latest_post(other) >= (uint64_t)e->post) {
			e->ambiguous = other->ambiguous = 1;
		}
		if (latest_post(e) >= latest_post(first)) {
			second = e->thread != first->thread ? first : second;
			first = e;
		} else if (e->thread != first->thread && (!second || latest_post(e) >= latest_post(second))) {
			second = e;
		}
	}
}

/* Removes sends that were cancelled or failed, and the records that say so. Returns how many ends are left. */
static size_t remove_cancelled_sends(struct matching *m, uint32_t *order, size_t n)
{
	size_t i, k = 0;

	for (i = 0; i < n; i++) {
		const struct vt_match_end *e = &m->end[order[i]], *last = k ? &m->end[order[k - 1]] : NULL;

		if (e->kind != VT_MATCH_TAKEN_BACK) {
			order[k++] = order[i];
			continue;
		}
		m->other[order[i]] = GONE;
		if (last && last->post == e->post && last->thread == e->thread) {
			m->other[order[--k]] = GONE;
		}
	}
	return k;
}

/* The earliest time when a freed receive was posted that may have taken a message of this channel; INT64_MAX: there
 * is none. */
static int64_t freed_from(const struct matching *m, const struct vt_match_end *of)
{
	int64_t from = INT64_MAX;
	size_t i;

	for (i = m->n - m->unknown; i < m->n; i++) {
		const struct vt_match_end *e = &m->end[m->order[i]];

		if (e->communicator == of->communicator && e->process == receiver(of) && e->post < from &&
			(e->tag == of->tag || e->tag == VT_MATCH_ANY_TAG) &&
			(e->peer == sender(of) || e->peer == VT_MATCH_NOBODY)) {
			from = e->post;
		}
	}
	return from;
}

static void pair_channel(struct matching *m, uint32_t *send, size_t sends, uint32_t *receive, size_t receives)
{
	int64_t from = INT64_MAX;
	size_t i;

	sort_indexes(send, m->spare, sends, by_post, m->end);
	sort_indexes(receive, m->spare, receives, by_post, m->end);
	sends = remove_cancelled_sends(m, send, sends);
	mark_overlaps(m->end, send, sends);
	mark_overlaps(m->end, receive, receives);
	if (m->unknown && receives && sends > receives) {
		from = freed_from(m, &m->end[receive[0]]);
	}
	for (i = 0; i < receives; i++) {
		m->end[receive[i]].ambiguous |= m->end[receive[i]].post >= from;
		if (i < sends) {
			m->other[receive[i]] = send[i];
			m->other[send[i]] = receive[i];
		}
	}
}

static void pair_channels(struct matching *m)
{
	uint32_t at = 0;
	size_t i;

	for (i = 0; i < m->channels.n; i++) {
		const struct channel *c = &m->channels.channel[i];

		pair_channel(m, m->order + at, c->sends - at, m->order + c->sends, c->receives - c->sends);
		at = c->receives;
	}
}

static void count_message(struct vt_match_counts *c, const struct vt_match_end *s, const struct vt_match_end *r)
{
	const struct vt_match_end *one = s ? s : r;

	if (s && r) {
		c->messages++;
		c->ambiguous += s->ambiguous || r->ambiguous;
		c->sizes += r->kind == VT_MATCH_RECEIVE && r->bytes != s->bytes;
	} else {
		c->sends += s != NULL;
		c->receives += r != NULL;
		c->outside += one->peer == VT_MATCH_NOBODY;
	}
}

/* Reports all messages in the order of time; the time of a message is that of its send. */
static int report_messages(struct matching *m, struct vt_match_counts *counts, vt_match_message_fn *fn, void *ctx)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < m->n; i++) {
		m->order[i] = (uint32_t)i;
	}
	sort_indexes(m->order, m->spare, m->n, by_time, m->end);
	for (i = 0; i < m->n && rc == 0; i++) {
		const struct vt_match_end *e = &m->end[m->order[i]];
		uint32_t other = m->other[m->order[i]];
		const struct vt_match_end *r = !is_send(e) ? e : other != NONE && other != GONE ? &m->end[other] : NULL;

		if (is_unknown(e)) {
			counts->freed++;
		} else if (other != GONE && (is_send(e) || other == NONE)) {
			count_message(counts, is_send(e) ? e : NULL, r);
			rc = fn(ctx, is_send(e) ? e : NULL, r);
		}
	}
	return rc;
}

int vt_match_messages(struct vt_match_ends *l, struct vt_match_counts *counts, vt_match_message_fn *fn, void *ctx)
{
	struct matching m = { .end = l->end, .n = l->n };
	int rc = -1;

	m.order = malloc((l->n + 1) * sizeof(*m.order));
	m.spare = malloc((l->n + 1) * sizeof(*m.spare));
	m.other = malloc((l->n + 1) * sizeof(*m.other));
	if (m.order && m.spare && m.other && l->n < GONE && find_channels(&m) == 0) {
		memset(m.other, 0xff, l->n * sizeof(*m.other));
		pair_channels(&m);
		rc = report_messages(&m, counts, fn, ctx);
	}
	free(m.order);
	free(m.spare);
	free(m.other);
	free(m.channels.channel);
	tkm_table_free(&m.channels.number);
	return rc;
}

/* ---- locks of windows ---- */

enum { LOCK_TAG = 2 }; /* after those of MPI_Win_post and MPI_Win_complete */

static int by_target(const void *items, uint32_t a, uint32_t b)
{
	const struct vt_match_lock *x = (const struct vt_match_lock *)items + a,
				   *y = (const struct vt_match_lock *)items + b;

	ORDER(x->communicator, y->communicator)
	ORDER(x->target, y->target)
	ORDER(x->gave, y->gave)
	return 0;
}

/* The two ends have a channel of their own, so that they are matched. */
static int add_lock_message(
	struct vt_match_ends *to, const struct vt_match_lock *from, const struct vt_match_lock *waits, uint32_t channel)
{
	struct vt_match_end *s = vt_match_add_end(to), *r = s ? vt_match_add_end(to) : NULL;

	if (!r) {
		return -1;
	}
	s = r - 1;
	*s = (struct vt_match_end){ .kind = VT_MATCH_SEND,
		.time = from->gives,
		.communicator = from->communicator,
		.function = from->function,
		.scl = from->scl,
		.tag = LOCK_TAG,
		.channel = channel,
		.process = from->process,
		.thread = from->thread,
		.peer = waits->process };
	*r = (struct vt_match_end){ .kind = VT_MATCH_EITHER,
		.time = waits->asked,
		.later = waits->done,
		.communicator = waits->communicator,
		.function = waits->function,
		.scl = waits->scl,
		.tag = LOCK_TAG,
		.channel = channel,
		.process = waits->process,
		.thread = waits->thread,
		.peer = from->process };
	return 0;
}

int vt_match_window_locks(const struct vt_match_locks *l, struct vt_match_ends *to)
{
	uint32_t *order = malloc((l->n + 1) * sizeof(*order)), *spare = malloc((l->n + 1) * sizeof(*spare));
	const struct vt_match_lock *last = NULL, *exclusive = NULL, *before;
	int rc = order && spare && l->n < GONE ? 0 : -1;
	size_t i;

	for (i = 0; rc == 0 && i < l->n; i++) {
		order[i] = (uint32_t)i;
	}
	if (rc == 0) {
		sort_indexes(order, spare, l->n, by_target, l->lock);
	}
	for (i = 0; rc == 0 && i < l->n; i++) {
		const struct vt_match_lock *k = &l->lock[order[i]];

		if (last && (last->communicator != k->communicator || last->target != k->target)) {
			last = exclusive = NULL;
		}
		before = k->exclusive ? last : exclusive;
		if (before && before->process != k->process && before->gives > k->asks && before->gives < k->done) {
			rc = add_lock_message(to, before, k, 0xc0000000u | (uint32_t)i);
		}
		last = k;
		exclusive = k->exclusive ? k : exclusive;
	}
	free(order);
	free(spare);
	return rc;
}

/* ---- collective operations ---- */

static int by_operation(const void *items, uint32_t a, uint32_t b)
{
	const struct vt_match_share *x = (const struct vt_match_share *)items + a;
	const struct vt_match_share *y = (const struct vt_match_share *)items + b;

	ORDER(x->communicator, y->communicator)
	ORDER(x->number, y->number)
	ORDER(x->member, y->member)
	return 0;
}

struct operation {
	uint64_t begin;
	size_t first, n; /* range in the order of by_operation() */
};

static int by_begin(const void *items, uint32_t a, uint32_t b)
{
	const struct operation *x = (const struct operation *)items + a, *y = (const struct operation *)items + b;

	ORDER(x->begin, y->begin)
	return 0;
}

struct operations {
	struct vt_match_share *share; /* sorted, so that the shares of one operation are neighbours */
	struct operation *operation;
	size_t n;
	uint32_t *order, *spare;
};

static void group_shares(struct operations *o, const struct vt_match_shares *l)
{
	struct operation *last = NULL;
	size_t i;

	for (i = 0; i < l->n; i++) {
		o->order[i] = (uint32_t)i;
	}
	sort_indexes(o->order, o->spare, l->n, by_operation, l->share);
	for (i = 0; i < l->n; i++) {
		const struct vt_match_share *s = &o->share[i], *before = s - 1;

		o->share[i] = l->share[o->order[i]];
		if (i == 0 || s->communicator != before->communicator || s->number != before->number) {
			last = &o->operation[o->n++];
			*last = (struct operation){ s->begin, i, 0 };
		}
		last->n++;
		last->begin = s->begin < last->begin ? s->begin : last->begin;
	}
}

static void count_operation(
	struct vt_match_counts *c, const struct vt_match_share *s, size_t n, const uint32_t *size, uint32_t n_sizes)
{
	int mixed = 0;
	size_t i;

	for (i = 1; i < n; i++) {
		mixed |= s[i].op != s->op;
	}
	c->operations++;
	c->mixed += mixed != 0;
	c->incomplete += s->communicator < n_sizes && n < size[s->communicator];
}

int vt_match_operations(struct vt_match_shares *l, const uint32_t *size, uint32_t n_sizes,
	struct vt_match_counts *counts, vt_match_operation_fn *fn, void *ctx)
{
	struct operations o = { .share = malloc((l->n + 1) * sizeof(*o.share)),
		.operation = malloc((l->n + 1) * sizeof(*o.operation)),
		.order = malloc((l->n + 1) * sizeof(*o.order)),
		.spare = malloc((l->n + 1) * sizeof(*o.spare)) };
	int rc = -1;
	size_t i;

	if (o.share && o.operation && o.order && o.spare && l->n < GONE) {
		rc = 0;
		group_shares(&o, l);
		for (i = 0; i < o.n; i++) {
			o.order[i] = (uint32_t)i;
		}
		sort_indexes(o.order, o.spare, o.n, by_begin, o.operation);
		for (i = 0; i < o.n && rc == 0; i++) {
			const struct operation *op = &o.operation[o.order[i]];

			count_operation(counts, &o.share[op->first], op->n, size, n_sizes);
			rc = fn(ctx, &o.share[op->first], op->n);
		}
	}
	free(o.share);
	free(o.operation);
	free(o.order);
	free(o.spare);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the ends of messages and the shares of collective operations from the records, matches them (match.h) and
 * writes the result. */
#include "config.h"
#include "collector-plugin/merge/records/messages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "collector-plugin/merge/definitions/communicators.h"
#include "collector-plugin/merge/common/names.h"
#include "collector-plugin/merge/records/idle.h"
#include "collector-plugin/raw/operations.h"

/* ---- collecting ---- */

static int no_memory_for_messages(struct vt_merge_part *part)
{
	part->error = (struct stf_err){ .code = STF_ERR_NOMEM, .text = "merge: out of memory for the messages" };
	return -1;
}

/* The time in the trace of an earlier tick of the same thread. If the clock was set in between, the nominal rate is
 * used. */
static uint64_t time_of_tick(const struct vt_merge *m, const struct vt_merge_event *e, int64_t ticks)
{
	int64_t t;

	if (e->f->map->parts > 1) {
		t = (int64_t)e->time - (int64_t)((double)(e->ticks - ticks) / (e->f->head->hz * m->period_s));
	} else {
		t = cal_map_at(e->f->map, ltick(ticks)).v - m->origin;
	}
	return t < 0 ? 0 : (uint64_t)t < e->time ? (uint64_t)t : e->time;
}

void vt_merge_see_ticks(const struct vt_merge_event *e)
{
	struct vt_merge_states *t = e->states;

	if (__builtin_expect(e->ticks < t->clock.last, 0)) {
		t->clock.back_before = t->clock.back;
		t->clock.back += t->clock.last - e->ticks;
		t->clock.first = e->ticks;
	}
	t->clock.last = e->ticks;
}

/* Messages are matched in the order in which their ends were posted. Ticks of a thread show this order, unless its clock
 * was set back meanwhile. Returns them as of a clock that stood still then. A request that was posted before that, and
 * is complete after it, can be taken for one that was posted after it; a call that waits meanwhile cannot. */
static int64_t order_of(const struct vt_merge_states *t, int64_t ticks)
{
	return ticks + (ticks > t->clock.last || ticks < t->clock.first ? t->clock.back_before : t->clock.back);
}

/* A record with both ends of a message. It gets a channel number that no other message has, so that the two ends are
 * matched. */
static int whole_message(struct vt_merge_part *part, const struct vt_merge_event *e, const struct vt_raw_message *m,
	const struct vt_merge_comm *c)
{
	uint16_t process[2] = { (uint16_t)vt_merge_peer(part->m, c, m->peer),
		(uint16_t)vt_merge_peer(part->m, c, (int32_t)m->number) };
	int i;

	for (i = 0; i < 2; i++) {
		struct vt_match_end *end = vt_match_add_end(&part->ends);

		if (!end) {
			return no_memory_for_messages(part);
		}
		end->kind = i ? VT_MATCH_RECEIVE : VT_MATCH_SEND;
		end->time = i ? e->time : time_of_tick(part->m, e, e->ticks - m->since);
		vt_merge_see_ticks(e);
		end->post = order_of(e->states, e->ticks - (i ? 0 : m->since));
		end->bytes = (uint64_t)m->bytes_high << 32 | m->bytes;
		end->communicator = c->id;
		end->tag = m->tag;
		end->channel = 0x80000000u | ((uint32_t)part->ends.n - (uint32_t)i);
		end->process = process[i];
		end->peer = process[1 - i];
		end->thread = process[i] == e->f->process ? (uint16_t)stf_willy_thread(e->willy) : 0;
		end->scl = vt_merge_id(&e->f->scls, i ? m->scl : m->during);
	}
	return 0;
}

/* Two records tell of one lock. */
static int note_lock(struct vt_merge_part *part, const struct vt_merge_event *e, const struct vt_raw_message *m,
	const struct vt_merge_comm *c)
{
	struct vt_match_locks *l = &part->locks;
	uint64_t took = (uint64_t)m->bytes_high << 32 | m->bytes;
	int32_t target = vt_merge_peer(part->m, c, m->peer);
	struct vt_match_lock *k = l->n ? &l->lock[l->n - 1] : NULL;
	uint16_t process = (uint16_t)e->f->process, thread = (uint16_t)stf_willy_thread(e->willy);

	vt_merge_see_ticks(e);
	if (part->idle || target == VT_MATCH_NOBODY) {
		return 0;
	}
	if (e->h->n == VT_RAW_MESSAGE_UNLOCKED) {
		if (k && k->process == process && k->thread == thread && k->gave == e->time) {
			k->gives = time_of_tick(part->m, e, e->ticks - m->since);
			k->done = time_of_tick(part->m, e, e->ticks - (int64_t)took);
		}
		return 0;
	}
	if (TKM_GROW(l->lock, l->room, l->n + 1) < 0) {
		return no_memory_for_messages(part);
	}
	l->lock[l->n++] = (struct vt_match_lock){ .asks = time_of_tick(part->m, e, e->ticks - m->since),
		.asked = time_of_tick(part->m, e, e->ticks - m->since + (int64_t)took),
		.done = e->time,
		.gives = e->time,
		.gave = e->time,
		.communicator = c->id,
		.function = e->states->n ? e->states->function[e->states->n - 1] : 0,
		.scl = e->states->scl,
		.process = process,
		.thread = thread,
		.target = (uint16_t)target,
		.exclusive = m->tag == VT_RAW_LOCK_EXCLUSIVE };
	return 0;
}

int vt_merge_message(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	static const uint8_t kinds[] = { [VT_RAW_MESSAGE_SEND] = VT_MATCH_SEND,
		[VT_RAW_MESSAGE_RECEIVE] = VT_MATCH_RECEIVE,
		[VT_RAW_MESSAGE_FREED] = VT_MATCH_FREED,
		[VT_RAW_MESSAGE_TAKEN_BACK] = VT_MATCH_TAKEN_BACK,
		[VT_RAW_MESSAGE_EITHER] = VT_MATCH_EITHER };
	const enum vt_raw_message_kind kind = (enum vt_raw_message_kind)e->h->n;
	const struct vt_merge_comm *c;
	struct vt_raw_message m;
	struct vt_match_end *end;
	int64_t earlier;

	memcpy(&m, e->body, sizeof(m));
	c = vt_merge_comm(e->f, m.communicator);
	if (!c || kind < VT_RAW_MESSAGE_SEND || kind > VT_RAW_MESSAGE_UNLOCKED) {
		part->repairs.undefined++;
		return 0;
	}
	if (kind == VT_RAW_MESSAGE_WHOLE) {
		return whole_message(part, e, &m, c);
	}
	if (kind >= VT_RAW_MESSAGE_LOCKED) {
		return note_lock(part, e, &m, c);
	}
	end = vt_match_add_end(&part->ends);
	if (!end) {
		return no_memory_for_messages(part);
	}
	end->time = e->time;
	vt_merge_see_ticks(e);
	end->post = order_of(e->states, e->ticks - m.since);
	end->during = m.during;
	end->bytes = (uint64_t)m.bytes_high << 32 | m.bytes;
	if (kind == VT_RAW_MESSAGE_EITHER) {
		end->later = e->time;
		earlier = e->ticks - m.since + (int64_t)((uint64_t)m.bytes_high << 32 | m.bytes);
		end->time = time_of_tick(part->m, e, earlier);
		end->earlier = part->idle ? vt_idle_call_until(part->idle, e->willy, earlier) : 0;
	}
	end->communicator = c->id;
	end->function = e->states->n ? e->states->function[e->states->n - 1] : 0;
	end->scl = m.scl ? vt_merge_id(&e->f->scls, m.scl) : e->states->scl;
	end->tag = m.tag;
	end->channel = m.number;
	end->process = (uint16_t)e->f->process;
	end->thread = (uint16_t)stf_willy_thread(e->willy);
	end->peer =
		(uint16_t)(kind == VT_RAW_MESSAGE_FREED && m.peer == VT_RAW_ANY ? VT_MATCH_NOBODY
										: vt_merge_peer(part->m, c, m.peer));
	end->kind = kinds[kind];
	if (part->idle) {
		vt_idle_message_end(part, e->states);
	} else if (kind == VT_RAW_MESSAGE_SEND) {
		end->call = e->states->posted;
	}
	if (kind == VT_RAW_MESSAGE_SEND) {
		e->states->posted = (uint32_t)part->ends.n;
	}
	return 0;
}

void vt_merge_posted(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	uint32_t i = part->idle ? e->states->idle.end : e->states->posted;
	int64_t now, during;

	vt_merge_see_ticks(e);
	now = order_of(e->states, e->ticks);
	/* meanwhile other threads may have sent any number of messages */
	for (; i; i = part->ends.end[i - 1].call) {
		struct vt_match_end *end = &part->ends.end[i - 1];

		during = now - end->post;
		if (end->kind == VT_MATCH_SEND) {
			end->during = during < UINT32_MAX ? (uint32_t)during : UINT32_MAX;
		}
	}
	e->states->posted = 0;
}

static uint32_t root_of(const struct vt_merge_comm *c, const struct vt_raw_collective *r, uint32_t member)
{
	if (r->root == VT_RAW_ROOT_SELF) {
		return member;
	}
	if (r->root < 0) {
		return UINT32_MAX;
	}
	return r->root & VT_RAW_ROOT_REMOTE ? c->remote + ((uint32_t)r->root & ~(uint32_t)VT_RAW_ROOT_REMOTE)
					    : c->own + (uint32_t)r->root;
}

/* The place of a process among the members; n: it is no member. */
static uint32_t member_of(const struct vt_merge_communicator *g, const struct vt_merge_comm *c, uint32_t process)
{
	uint32_t i;

	/* usually the ranks are the process numbers, or those plus a constant */
	if (process < g->n && g->member[process] == process) {
		return process;
	}
	for (i = c->own; i < c->own + c->n_own && g->member[i] != process; i++) {
	}
	return i < c->own + c->n_own ? i : g->n;
}

int vt_merge_collective(struct vt_merge_part *part, const struct vt_merge_event *e)
{
	const struct vt_merge_comm *c;
	struct vt_raw_collective r;
	struct vt_match_share *s;
	uint32_t member;

	int logged = e->h->type == VT_RAW_LOGGED_SHARE;

	memcpy(&r, e->body + (logged ? offsetof(struct vt_raw_logged_share, share) : 0), sizeof(r));
	c = vt_merge_comm(e->f, r.communicator);
	member = c ? member_of(&part->m->communicator[c->id - 1], c, e->f->process) : 0;
	if (c && logged) {
		memcpy(&member, e->body, sizeof(member));
		member = member < part->m->communicator[c->id - 1].n ? member : part->m->communicator[c->id - 1].n;
	}
	if (!c || member == part->m->communicator[c->id - 1].n || e->h->n >= VT_RAW_OP_COUNT) {
		part->repairs.undefined++;
		return 0;
	}
	s = vt_match_add_share(&part->shares);
	if (!s) {
		return no_memory_for_messages(part);
	}
	s->begin = time_of_tick(part->m, e, e->ticks - r.since);
	s->end = e->time;
	s->sent = (uint64_t)r.sent_high << 32 | r.sent;
	s->received = (uint64_t)r.received_high << 32 | r.received;
	s->communicator = c->id;
	s->number = logged ? (uint64_t)1 << 63 | (uint64_t)e->f->process << 32 | r.number : r.number;
	s->member = member;
	s->root = root_of(c, &r, member);
	s->scl = r.scl ? vt_merge_id(&e->f->scls, r.scl) : e->states->scl;
	s->op = e->h->n;
	if (part->idle) {
		vt_idle_share(part, e->states);
	}
	return 0;
}

/* ---- writing ---- */

struct out {
	struct vt_merge *m;
	struct vt_merge_part *part;
	struct vt_match_counts counts;
	uint64_t large; /* messages with more bytes than a record can hold */
	uint64_t named; /* ambiguous messages named so far */
	uint8_t defined[VT_RAW_OP_COUNT];
	uint64_t *begin, *delta; /* [members] */
	uint32_t *sent, *received, *scl;
	uint32_t room;
};

static uint32_t size_field(struct out *o, uint64_t bytes)
{
	o->large += bytes >= STF_BYTES_AT_LEAST;
	return bytes < STF_BYTES_AT_LEAST ? (uint32_t)bytes : STF_BYTES_AT_LEAST;
}

static void note_last(struct vt_merge *m, uint64_t time)
{
	m->last = time > m->last ? time : m->last;
}

enum { MOST_NAMED = 65536 };

/* A message record of STF has no field for "ambiguous": an info record names the message. */
static int name_ambiguous(struct out *o, const struct stf_one_to_one_communication_1 *r)
{
	char text[200];

	if (o->named++ >= MOST_NAMED) {
		return 0;
	}
	snprintf(text, sizeof(text),
		"%" PRIu64 " from %u:%u to %u:%u, communicator %" PRIu32 ", tag %" PRIu32 ", %" PRIu32 " bytes",
		r->time, stf_willy_process(r->sender), stf_willy_thread(r->sender), stf_willy_process(r->receiver),
		stf_willy_thread(r->receiver), r->communicator, r->tag, r->size);
	return stf_writer_info(o->m->w, "ambiguous", text);
}

static int write_matched_message(void *ctx, const struct vt_match_end *s, const struct vt_match_end *r)
{
	struct out *o = ctx;
	const struct vt_match_end *one = s ? s : r;
	struct stf_one_to_one_communication_1 with = { .time = one->time,
		.sender = STF_WILLY(s ? s->process : r->peer, s ? s->thread : 0),
		.receiver = STF_WILLY(r ? r->process : s->peer, r ? r->thread : 0),
		.receive_time = STF_RECEIVE_UNKNOWN,
		.communicator = one->communicator,
		.size = one->kind == VT_MATCH_EITHER ? 0 : size_field(o, one->bytes),
		.tag = (uint32_t)one->tag,
		.sender_function = s ? s->function : 0,
		.receiver_function = r ? r->function : 0,
		.sender_scl = s ? s->scl : 0,
		.receiver_scl = r ? r->scl : 0 };
	struct stf_one_to_one_communication plain;
	uint64_t received = !r ? 0 : vt_match_late(s, r) ? r->later : r->time;

	if (one->peer == VT_MATCH_NOBODY || (o->part->idle && !vt_idle_message(o->part, s, r))) {
		return 0;
	}
	if (s && r && r->kind != VT_MATCH_FREED) {
		with.receive_time = (int64_t)(received - s->time);
		note_last(o->m, received);
	} else if (!s) {
		with.time = received;
		with.receive_time = STF_SEND_UNKNOWN;
	}
	note_last(o->m, with.time);
	if (s && r && (s->ambiguous || r->ambiguous) && name_ambiguous(o, &with) < 0) {
		return -1;
	}
	if (with.sender_scl || with.receiver_scl) {
		return stf_write_one_to_one_communication_1(o->m->w, &with);
	}
	plain = (struct stf_one_to_one_communication){ .time = with.time,
		.sender = with.sender,
		.receive_time = with.receive_time,
		.receiver = with.receiver,
		.communicator = with.communicator,
		.size = with.size,
		.tag = with.tag,
		.sender_function = with.sender_function,
		.receiver_function = with.receiver_function };
	return stf_write_one_to_one_communication(o->m->w, &plain);
}

static int define_operation(struct out *o, unsigned op)
{
	static const struct {
		const char *name;
		uint8_t type;
	} all[] = {
#define ROW(name, text, type) { text, type },
		VT_RAW_OPERATIONS(ROW)
#undef ROW
	};
	struct stf_collective_operation_definition d = { .id = (uint8_t)(op + 1),
		.name = all[op].name,
		.size_1_1 = (uint32_t)strlen(all[op].name),
		.type = all[op].type };

	if (!o->defined[op] && stf_write_collective_operation_definition(o->m->w, &d) < 0) {
		return -1;
	}
	o->defined[op] = all[op].type;
	return 0;
}

static int make_room_for_members(struct out *o, uint32_t n)
{
	if (n > o->room) {
		free(o->begin);
		o->begin = malloc((size_t)n * (2 * sizeof(*o->begin) + 3 * sizeof(*o->sent)));
		o->room = o->begin ? n : 0;
		o->delta = o->begin + n;
		o->sent = (uint32_t *)(void *)(o->delta + n);
		o->received = o->sent + n;
		o->scl = o->received + n;
	}
	return o->begin ? 0 : -1;
}

/* Spreads the shares into arrays by member; the begin of a member that was not seen is unknown. Returns the earliest
 * begin. */
static uint64_t spread_shares(
	struct out *o, const struct vt_match_share *share, size_t n, uint32_t members, uint32_t *root, int *lines)
{
	uint64_t first = share[0].begin;
	uint32_t i;

	*root = UINT32_MAX;
	*lines = 0;
	for (i = 1; i < n; i++) {
		first = share[i].begin < first ? share[i].begin : first;
	}
	for (i = 0; i < members; i++) {
		o->begin[i] = UINT64_MAX;
		o->delta[i] = 0;
		o->sent[i] = o->received[i] = o->scl[i] = 0;
	}
	for (i = 0; i < n; i++) {
		const struct vt_match_share *s = &share[i];

		o->begin[s->member] = s->begin - first;
		o->delta[s->member] = s->end - s->begin;
		o->sent[s->member] = size_field(o, s->sent);
		o->received[s->member] = size_field(o, s->received);
		o->scl[s->member] = s->scl;
		*lines |= s->scl != 0;
		*root = s->root < members ? s->root : *root;
		note_last(o->m, s->end);
	}
	return first;
}

/* An operation that is to be written. */
struct operation {
	const struct vt_merge_communicator *g;
	uint32_t communicator, root;
	uint8_t type;
	uint64_t time;
	int lines; /* the source locations of its members are known */
};

/* Writes a record of the operation p, with the source locations of its members if they are known. members, members_1: what
 * the record calls the number of them, without and with locations. Further fields follow. */
#define WRITE(record, members, members_1, ...) \
	(p->lines ? stf_write_##record##_1(o->m->w, \
			    &(struct stf_##record##_1){ .time = p->time, \
				    .communicator = p->communicator, \
				    .type = p->type, \
				    .members_1 = p->g->n, \
				    .start_time = o->begin, \
				    .delta = o->delta, \
				    .scl = o->scl, \
				    __VA_ARGS__ }) \
		  : stf_write_##record(o->m->w, \
			    &(struct stf_##record){ .time = p->time, \
				    .communicator = p->communicator, \
				    .type = p->type, \
				    .members = p->g->n, \
				    .start_time = o->begin, \
				    .delta = o->delta, \
				    __VA_ARGS__ }))

static int write_operation(const struct out *o, const struct operation *p, unsigned kind)
{
	switch (p->root < p->g->n || kind == VT_RAW_ALL ? kind : VT_RAW_ALL_TO_ALL) {
	case VT_RAW_ALL:
		return WRITE(all_communication, size_1_2, size_1_3, );
	case VT_RAW_ONE_TO_ALL:
		return WRITE(one_to_all_communication, size_1_3, size_1_4,
			.sender = STF_WILLY(p->g->member[p->root], 0), .sent = o->sent[p->root],
			.receive_size = o->received);
	case VT_RAW_ALL_TO_ONE:
		return WRITE(all_to_one_communication, size_1_3, size_1_4,
			.receiver = STF_WILLY(p->g->member[p->root], 0), .recvd = o->received[p->root],
			.send_size = o->sent);
	default:
		return WRITE(all_to_all_communication, size_1_4, size_1_5, .send_size = o->sent,
			.receive_size = o->received);
	}
}

static int write_matched_operation(void *ctx, const struct vt_match_share *share, size_t n)
{
	struct out *o = ctx;
	const struct vt_merge_communicator *g = &o->m->communicator[share->communicator - 1];
	struct operation p = { .g = g, .communicator = share->communicator, .type = (uint8_t)(share->op + 1) };

	if (o->part->idle && !vt_idle_operation(o->part, share, n)) {
		return 0;
	}
	if (define_operation(o, share->op) < 0 || make_room_for_members(o, g->n) < 0) {
		return -1;
	}
	p.time = spread_shares(o, share, n, g->n, &p.root, &p.lines);
	return write_operation(o, &p, o->defined[share->op]);
}

static void report_matching(struct vt_merge *m, const char *cls, const char *format, uint64_t n)
{
	if (n) {
		vt_merge_info(m, cls, format, n);
	}
}

static void describe_messages(struct out *o)
{
	const struct vt_match_counts *c = &o->counts;
	struct vt_merge *m = o->m;

	report_matching(m, "messages", "%" PRIu64 " messages were matched", c->messages);
	report_matching(m, "messages",
		"%" PRIu64 " messages are ambiguous: two threads posted their sends or receives at the same time, or a "
		"freed receive "
		"may have taken them",
		c->ambiguous);
	report_matching(m, "messages", "%" PRIu64 " receives were freed, which leaves unknown what they have received",
		c->freed);
	report_matching(m, "messages", "%" PRIu64 " collective operations", c->operations);
	report_matching(m, "missing", "%" PRIu64 " messages were sent whose receiving was not recorded", c->sends);
	report_matching(m, "missing", "%" PRIu64 " messages were received whose sending was not recorded", c->receives);
	report_matching(m, "missing", "%" PRIu64 " messages go to or come from processes that are not in this trace",
		c->outside);
	report_matching(m, "missing",
		"%" PRIu64 " messages arrived with other bytes than were sent: they were mixed up", c->sizes);
	report_matching(m, "missing", "%" PRIu64 " collective operations lack members, which did not record their end",
		c->incomplete);
	report_matching(m, "missing", "%" PRIu64 " collective operations in which members called different functions",
		c->mixed);
	report_matching(m, "missing", "%" PRIu64 " sizes are at least 4294967295 bytes: a record holds no larger ones",
		o->large);
}

/* Moves the ends and shares of all parts into the first part. */
static int put_together(struct vt_merge_part *part, size_t n)
{
	struct vt_match_ends *e = &part[0].ends, *more;
	struct vt_match_shares *s = &part[0].shares, *also;
	struct vt_match_locks *k = &part[0].locks, *locks;
	size_t i;

	for (i = 1; i < n; i++) {
		more = &part[i].ends;
		also = &part[i].shares;
		locks = &part[i].locks;
		if (TKM_GROW(k->lock, k->room, k->n + locks->n) < 0 || TKM_GROW(e->end, e->room, e->n + more->n) < 0 ||
			TKM_GROW(s->share, s->room, s->n + also->n) < 0) {
			return -1;
		}
		if (more->n) {
			memcpy(e->end + e->n, more->end, more->n * sizeof(*e->end));
		}
		if (also->n) {
			memcpy(s->share + s->n, also->share, also->n * sizeof(*s->share));
		}
		if (locks->n) {
			memcpy(k->lock + k->n, locks->lock, locks->n * sizeof(*k->lock));
		}
		k->n += locks->n;
		e->n += more->n;
		s->n += also->n;
		vt_merge_messages_free(&part[i], 1);
	}
	return 0;
}

int vt_merge_write_messages(struct vt_merge *m, struct vt_merge_part *part, size_t n, struct vt_match_counts *counts)
{
	struct out o = { .m = m, .part = part };
	uint32_t *sizes = malloc((m->n_communicators + (size_t)1) * sizeof(*sizes)), i;
	int rc = sizes && put_together(part, n) == 0 ? 0 : -1;

	if (rc == 0) {
		rc = vt_match_window_locks(&part->locks, &part->ends);
	}
	for (i = 0; rc == 0 && i < m->n_communicators; i++) {
		sizes[i + 1] = m->communicator[i].n;
	}
	if (rc == 0) {
		rc = vt_match_messages(&part->ends, &o.counts, write_matched_message, &o);
	}
	if (rc == 0) {
		rc = vt_match_operations(
			&part->shares, sizes, m->n_communicators + 1, &o.counts, write_matched_operation, &o);
	}
	if (rc == 0 && part->idle) {
		rc = vt_idle_write(m, part);
	}
	if (rc == 0) {
		describe_messages(&o);
	}
	*counts = o.counts;
	free(o.begin);
	free(sizes);
	if (rc == 0) {
		return 0;
	}
	return stf_writer_error(m->w)->code != STF_OK
		? vt_merge_stf_error(m, stf_writer_error(m->w))
		: tkm_fail(m->err, TKM_ERR_NOMEM, "merge: out of memory for the messages");
}

void vt_merge_messages_free(struct vt_merge_part *part, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(part[i].ends.end);
		free(part[i].shares.share);
		free(part[i].locks.lock);
		part[i].ends = (struct vt_match_ends){ 0 };
		part[i].shares = (struct vt_match_shares){ 0 };
		part[i].locks = (struct vt_match_locks){ 0 };
	}
}

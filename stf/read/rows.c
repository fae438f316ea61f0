/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects all messages, or all calls of functions, of a trace: a row each. */
#include "config.h"
#include "stf/format/private.h"

#include <stdlib.h>

#include "base/grow.h"

/* ---- messages ---- */

struct messages {
	struct stf_message *row;
	size_t n, room;
	uint64_t halves;
};

static int add_message(void *user, const struct stf_record *r, const struct stf_one_to_one_communication_4 *v)
{
	struct messages *m = user;

	if (v->receive_time == STF_RECEIVE_UNKNOWN || v->receive_time == STF_SEND_UNKNOWN) {
		m->halves++;
		return 0;
	}
	if (TKM_GROW(m->row, m->room, m->n + 1) < 0) {
		return 1;
	}
	m->row[m->n++] = (struct stf_message){ .sent = r->time,
		.received = r->time + (uint64_t)v->receive_time, /* it is the time that the message took */
		.sender = v->sender,
		.receiver = v->receiver,
		.bytes = v->size,
		.tag = v->tag,
		.communicator = v->communicator,
		.sender_scl = v->sender_scl,
		.receiver_scl = v->receiver_scl,
		.sender_function = v->sender_function,
		.receiver_function = v->receiver_function };
	return 0;
}

static int count_half(void *user, const struct stf_record *r, const struct stf_message_raw_event_1 *v)
{
	struct messages *m = user;

	(void)r;
	(void)v;
	m->halves++;
	return 0;
}

/* Only that kind of records, the state before a window included. */
static int narrow(
	struct stf_cursor_options *own, const struct stf_cursor_options *o, enum stf_kind kind, struct stf_err *err)
{
	*own = stf_cursor_options();
	if (o && stf_take_options(own, sizeof(*own), o, sizeof(*own), "stf_cursor_options", err) < 0) {
		return -1;
	}
	own->categories = 1u << kind;
	own->state = own->window;
	return 0;
}

int stf_read_messages(struct stf_reader *r, const struct stf_cursor_options *o, struct stf_message **out, size_t *n,
	uint64_t *halves, struct stf_err *err)
{
	struct stf_callbacks cb = stf_callbacks();
	struct stf_cursor_options own;
	struct messages m = { 0 };
	int rc;

	cb.one_to_one_communication_4 = add_message;
	cb.message_raw_event_1 = count_half;
	rc = narrow(&own, o, STF_KIND_MSG, err) < 0 ? -1 : stf_reader_each(r, &own, &cb, &m, err);
	*out = m.row;
	*n = m.n;
	if (halves) {
		*halves = m.halves;
	}
	return rc > 0 ? stf_no_memory(err) : rc;
}

/* ---- calls ---- */

struct stack { /* of one thread: the rows of the functions that it is in */
	size_t *row;
	size_t depth, room;
};

struct calls {
	struct stf_call *row;
	size_t n, room;
	struct stack *stack;
	size_t stacks, stack_room;
	struct stf_map at;   /* willy: 1 + index of its stack; the key of a map is never 0 */
	uint64_t from, last; /* begin of the window; latest stamp so far */
};

static struct stack *stack_of(struct calls *c, uint32_t willy)
{
	uint64_t key = (uint64_t)willy + 1;
	const uint64_t *at = stf_map_find(&c->at, key);

	if (at) {
		return &c->stack[*at - 1];
	}
	if (stf_map_add(&c->at, key, c->stacks + 1) <= 0 || TKM_GROW(c->stack, c->stack_room, c->stacks + 1) < 0) {
		return NULL;
	}
	c->stack[c->stacks] = (struct stack){ 0 };
	return &c->stack[c->stacks++];
}

static int begin_call(struct calls *c, uint32_t willy, uint64_t time, uint32_t function, uint32_t scl, uint32_t cut)
{
	struct stack *s = stack_of(c, willy);

	if (!s || TKM_GROW(s->row, s->room, s->depth + 1) < 0 || TKM_GROW(c->row, c->room, c->n + 1) < 0) {
		return 1;
	}
	c->row[c->n] = (struct stf_call){ .enter = time,
		.willy = willy,
		.function = function,
		.scl = scl,
		.depth = (uint32_t)s->depth,
		.cut = cut | STF_CALL_OPEN };
	s->row[s->depth++] = c->n++;
	c->last = time > c->last ? time : c->last;
	return 0;
}

static int enter_call(void *user, const struct stf_record *r, const struct stf_enter_function_1 *v)
{
	return begin_call(user, v->willy, r->time, v->function, v->scl, 0);
}

static int leave_call(void *user, const struct stf_record *r, const struct stf_leave_function_1 *v)
{
	struct calls *c = user;
	struct stack *s = stack_of(c, v->willy);

	if (s && s->depth > 0) {
		struct stf_call *row = &c->row[s->row[--s->depth]];

		row->leave = r->time;
		row->cut &= ~(uint32_t)STF_CALL_OPEN;
	}
	c->last = r->time > c->last ? r->time : c->last;
	return s ? 0 : 1;
}

/* What a thread was in when the window began. */
static int take_history(void *user, const struct stf_record *r, const struct stf_function_history_1 *v)
{
	struct calls *c = user;
	uint32_t i;
	int rc = 0;

	(void)r;
	for (i = 0; i < v->size_1_2 && rc == 0; i++) {
		rc = begin_call(
			c, v->willy, c->from, v->function_stack[i], v->scls ? v->scls[i] : 0, STF_CALL_BEGAN_BEFORE);
	}
	return rc;
}

int stf_read_calls(
	struct stf_reader *r, const struct stf_cursor_options *o, struct stf_call **out, size_t *n, struct stf_err *err)
{
	struct stf_callbacks cb = stf_callbacks();
	struct stf_cursor_options own;
	struct calls c = { 0 };
	uint64_t start, end = 0;
	size_t i;
	int rc = narrow(&own, o, STF_KIND_FUNC, err);

	cb.enter_function_1 = enter_call;
	cb.leave_function_1 = leave_call;
	cb.function_history_1 = take_history;
	if (rc == 0) {
		c.from = own.window ? own.from : 0;
		rc = stf_reader_each(r, &own, &cb, &c, err);
		stf_reader_duration(r, &start, &end);
		end = own.window && own.to < end ? own.to : end;
	}
	for (i = 0; i < c.n; i++) {
		if (c.row[i].cut & STF_CALL_OPEN) {
			c.row[i].leave = end > c.last ? end : c.last;
		}
	}
	for (i = 0; i < c.stacks; i++) {
		free(c.stack[i].row);
	}
	free(c.stack);
	stf_map_free(&c.at);
	*out = c.row;
	*n = c.n;
	return rc > 0 ? stf_no_memory(err) : rc;
}

void stf_rows_free(void *rows)
{
	free(rows);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what was put on tracks as a trace. */
#include "config.h"
#include "exchange/common/slices.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text/text.h"
#include "exchange/common/private.h"
#include "exchange/common/slices_private.h"

static uint32_t function_of(struct xch_slices *s, uint32_t name)
{
	struct xch_slice_name *n = &s->name[name - 1];

	n->function = n->function ? n->function : xch_build_function(s->b, n->cls, n->text);
	return n->function;
}

static uint32_t scope_of(struct xch_slices *s, uint32_t name)
{
	struct xch_slice_name *n = &s->name[name - 1];

	n->scope = n->scope ? n->scope : xch_build_scope(s->b, n->cls, n->text);
	return n->scope;
}

static int write_call(struct xch_slices *s, const struct xch_slice_track *t, uint32_t name, uint64_t time, int leave)
{
	struct stf_enter_function enter = { time, t->willy, function_of(s, name) };
	struct stf_leave_function left = { .time = time, .willy = t->willy };

	return !enter.function ? -1
			       : xch_build_written(s->b,
					 leave ? stf_write_leave_function(s->in->w, &left)
					       : stf_write_enter_function(s->in->w, &enter));
}

static int write_scope(struct xch_slices *s, uint32_t willy, uint32_t name, uint64_t time, uint32_t number, int leave)
{
	struct stf_enter_scope enter = { time, willy, scope_of(s, name), number };
	struct stf_leave_scope left = { time, willy, enter.scope, number };

	return !enter.scope
		? -1
		: xch_build_written(s->b,
			  leave ? stf_write_leave_scope(s->in->w, &left) : stf_write_enter_scope(s->in->w, &enter));
}

static int write_begin(struct xch_slices *s, const struct xch_item *i, uint64_t time)
{
	struct xch_slice_track *t = &s->track[i->track];
	struct xch_open_slices *o = &t->open;
	const struct xch_open_slice new = { .end = (int64_t)i->value, .number = i->number, .name = i->name };

	if (o->n && o->slice[o->n - 1].end < (int64_t)i->value) {
		s->overlaps++;
		return write_scope(s, t->willy, i->name, time, (uint32_t)i->number, 0);
	}
	if (xch_open_push(o, &new) < 0) {
		return xch_slices_no_memory(s);
	}
	return write_call(s, t, i->name, time, 0);
}

static int write_end(struct xch_slices *s, const struct xch_item *i, uint64_t time)
{
	struct xch_slice_track *t = &s->track[i->track];
	struct xch_open_slices *o = &t->open;

	if (o->n && o->slice[o->n - 1].number == ~i->number) {
		xch_open_remove(o, (uint32_t)o->n);
		return write_call(s, t, i->name, time, 1);
	}
	return write_scope(s, t->willy, i->name, time, (uint32_t)~i->number, 1);
}

static int write_async(struct xch_slices *s, const struct xch_item *i, uint64_t time)
{
	struct async_stack *a = tkm_table_put(&s->async, &i->value, sizeof(i->value), sizeof(*a));
	struct async_slice one = { .track = i->track, .name = i->name };

	if (!a || TKM_GROW(a->slice, a->room, a->n + 1) < 0) {
		return xch_slices_no_memory(s);
	}
	if (i->kind == ASYNC_BEGIN) {
		one.number = --s->async_number; /* those of slices that overlap count up */
		a->slice[a->n++] = one;
		return write_scope(s, s->track[i->track].willy, i->name, time, one.number, 0);
	}
	if (a->n == 0) {
		s->unmatched++;
	} else {
		one = a->slice[--a->n];
	}
	if (a->n == 0) {
		free(a->slice);
		tkm_table_remove(&s->async, a);
	}
	return one.number ? write_scope(s, s->track[one.track].willy, one.name, time, one.number, 1) : 0;
}

/* One half of a message. */
static int write_half(
	struct xch_slices *s, const struct xch_item *i, uint64_t time, uint64_t id, uint32_t size, int receive)
{
	const struct xch_slice_track *t = &s->track[i->track];
	struct xch_half h = { .time = time, .id = id + (id == 0), .size = size, .receive = receive, .paired = 1 };

	h.communicator = FLOWS;
	h.from = h.to = t->willy;
	h.function = t->open.n ? function_of(s, t->open.slice[t->open.n - 1].name) : 0;
	s->flows++;
	return t->open.n && !h.function ? -1 : xch_build_half(s->b, &h);
}

/* One end of the present step of a flow, which is a message. */
static int write_step(
	struct xch_slices *s, const struct xch_item *i, uint64_t time, const struct xch_flow *f, int receive)
{
	uint64_t key = xch_slices_key(f->number, (const char *)&f->step, sizeof(f->step));

	return write_half(s, i, time, key, 0, receive);
}

/* The flow that this event belongs to. It is a new one if the one of this id has begun, or ended, already. */
static struct xch_flow *flow_of(struct xch_slices *s, const struct xch_item *i, int begins, int ends)
{
	struct xch_flow *f = tkm_table_put(&s->going, &i->value, sizeof(i->value), sizeof(*f));

	if (!f) {
		xch_slices_no_memory(s);
	} else if (f->number == 0 || (begins && f->begun) || (ends && f->ended)) {
		s->halves += f->step > 0;
		*f = (struct xch_flow){ .number = ++s->flow_numbers };
	}
	return f;
}

static int write_flow(struct xch_slices *s, const struct xch_item *i, uint64_t time)
{
	int goes_on = i->name == XCH_FLOW_ON || i->name == (XCH_FLOW_IN | XCH_FLOW_OUT), rc = 0;
	struct xch_flow *f = flow_of(s, i, i->name == XCH_FLOW_OUT, i->name != XCH_FLOW_OUT);

	if (!f) {
		return -1;
	}
	if (i->name == XCH_FLOW_OUT || (i->name == XCH_FLOW_ON && !f->begun)) {
		f->begun = 1;
		rc = write_step(s, i, time, f, 0);
	} else if (goes_on) {
		f->begun = 1;
		rc = write_step(s, i, time, f, 1);
		f->step++;
		rc = rc < 0 ? rc : write_step(s, i, time, f, 0);
	} else {
		f->ended = 1;
		rc = write_step(s, i, time, f, 1);
	}
	if (f->begun && f->ended) {
		tkm_table_remove(&s->going, f);
	}
	return rc;
}

static int write_value(struct xch_slices *s, const struct xch_item *i, uint64_t time)
{
	struct xch_slice_name *n = &s->name[i->name - 1];

	n->counter = n->counter ? n->counter : xch_build_counter(s->b, n->cls, n->text, n->unit, n->type);
	return n->counter ? xch_build_value(s->b, time, s->track[i->track].willy, n->counter, i->value) : -1;
}

static int write_item(void *user, const struct xch_item *i)
{
	struct xch_slices *s = user;
	uint64_t time = (uint64_t)i->time - (uint64_t)s->least;
	const char *text;

	switch (i->kind) {
	case SPAN_BEGIN:
		return write_begin(s, i, time);
	case SPAN_END:
		return write_end(s, i, time);
	case SPAN_SPOT:
		return write_call(s, &s->track[i->track], i->name, time, 0) < 0
			? -1
			: write_call(s, &s->track[i->track], i->name, time, 1);
	case ASYNC_BEGIN:
	case ASYNC_END:
		return write_async(s, i, time);
	case VALUE:
		return write_value(s, i, time);
	case FLOW:
		return write_flow(s, i, time);
	case SEND:
	case RECEIVE:
		return write_half(s, i, time, i->value, i->name, i->kind == RECEIVE);
	default:
		text = xch_slices_text(s, i->name);
		return xch_build_comment(s->b, time, s->track[i->track].willy, text, strlen(text));
	}
}

/* ---- threads ---- */

/* Numbers by their size, before texts. */
static int compare_keys(const char *a, const char *b)
{
	char *after_a, *after_b;
	long long x = strtoll(a, &after_a, 10), y = strtoll(b, &after_b, 10);
	int is_a = *a && !*after_a, is_b = *b && !*after_b;

	return is_a != is_b ? is_b - is_a : is_a && x != y ? (x > y) - (x < y) : strcmp(a, b);
}

/* The thread that has the number of its process is the first one. */
static int compare_tracks(const void *a, const void *b)
{
	const struct xch_slice_track *s = *(const struct xch_slice_track *const *)a,
				     *t = *(const struct xch_slice_track *const *)b;
	int order = compare_keys(s->process, t->process), first = !strcmp(s->process, s->thread);

	return order                                      ? order
		: first != !strcmp(t->process, t->thread) ? (first ? -1 : 1)
							  : compare_keys(s->thread, t->thread);
}

static int number_tracks(struct xch_slices *s)
{
	struct xch_slice_track **order = calloc((size_t)s->tracks + 1, sizeof(struct xch_slice_track *));
	uint32_t i, process = 0, thread = 0;

	if (!order) {
		return xch_slices_no_memory(s);
	}
	for (i = 0; i < s->tracks; i++) {
		order[i] = &s->track[i];
	}
	qsort(order, s->tracks, sizeof(struct xch_slice_track *), compare_tracks);
	for (i = 0; i < s->tracks; i++) {
		if (i > 0 && strcmp(order[i]->process, order[i - 1]->process) != 0) {
			process++;
			thread = 0;
		}
		if (xch_build_thread(s->b, process, thread) < 0) {
			free(order);
			return -1;
		}
		order[i]->willy = STF_WILLY(process, thread);
		thread++;
	}
	free(order);
	return 0;
}

static unsigned long long number_of(const char *key)
{
	return strspn(key, "0123456789") == strlen(key) ? strtoull(key, NULL, 10) : 0;
}

static int describe_track(struct xch_slices *s, const struct xch_slice_track *t, const struct xch_slices_clock *clock)
{
	int first = stf_willy_thread(t->willy) == 0;
	const char *process = xch_slices_title_of(s, t->process, NULL),
		   *thread = xch_slices_title_of(s, t->process, t->thread);
	char *both = NULL;
	int rc;

	rc = asprintf(&both, "%s%s%s", first ? process : "",
		first && *process && *thread && strcmp(process, thread) != 0 ? ": " : "",
		first && !strcmp(process, thread) ? "" : thread);
	if (rc < 0) {
		return xch_slices_no_memory(s);
	}
	rc = stf_writer_willy(s->in->w, t->willy, clock->host, "", (uint32_t)number_of(t->process),
		number_of(t->thread), clock->is_realtime ? ((double)s->least + (double)clock->base_ns) * 1e-9 : 0,
		clock->is_realtime ? 1e-9 : 0);
	rc = rc == 0 && *both ? stf_writer_willy_name(s->in->w, t->willy, both) : rc;
	free(both);
	return rc < 0 ? xch_input_stf(s->in, s->err) : 0;
}

/* ---- what the trace says of itself ---- */

static int describe_clock(struct xch_slices *s, const struct xch_slices_clock *c)
{
	char text[300];
	uint32_t i;
	int rc;

	snprintf(text, sizeof(text), "%s: stamp 0 is %" PRId64 " ns %s; %s", c->of,
		s->least + (c->is_realtime ? c->base_ns : 0), c->is_realtime ? "after 1970" : "of the file's time",
		isnan(c->bound_s) ? "no bound is known"
			: c->by   ? c->by
				  : "corrected by clkapply");
	rc = stf_writer_info(s->in->w, "clock", text);
	for (i = 0; rc == 0 && !isnan(c->bound_s) && i < s->tracks; i++) {
		if (stf_willy_thread(s->track[i].willy) == 0) {
			snprintf(text, sizeof(text), "process %u 0 %.9g",
				(unsigned)stf_willy_process(s->track[i].willy), tkm_round_up(c->bound_s, 9, 'g'));
			rc = stf_writer_info(s->in->w, "clock-bound", text);
		}
	}
	return rc < 0 ? xch_input_stf(s->in, s->err) : 0;
}

static int describe_losses(struct xch_slices *s, const struct xch_slices_clock *c)
{
	uint64_t alone = xch_build_alone(s->b);
	const struct xch_flow *f = NULL;
	const struct {
		const char *what;
		uint64_t n;
	} changed[] = { { "slices that overlap others are scopes", s->overlaps },
		{ "slices without an end last to the last stamp", s->endless },
		{ "slices that end before they begin have no length", s->backward } };
	size_t n, i, size = sizeof(s->in->note);
	char *text = s->in->note;

	while ((f = tkm_table_next(&s->going, f))) {
		s->halves += f->step > 0;
	}
	alone -= alone < s->halves ? alone : s->halves; /* they were somewhere, and did not end */
	xch_slices_lost(s, "flows with one end", alone);
	xch_slices_lost(s, "ends without a begin", s->unmatched);
	n = (size_t)snprintf(text, size, "%s", isnan(c->bound_s) ? "no bound of its clock is known" : "");
	for (i = 0; i < sizeof(changed) / sizeof(changed[0]); i++) {
		n += changed[i].n ? (size_t)snprintf(text + n, size - n, "%s%s (%" PRIu64 ")", n ? "; " : "",
					    changed[i].what, changed[i].n)
				  : 0;
	}
	for (i = 0; i < LOSSES && s->lost[i].what && n < size; i++) {
		n += (size_t)snprintf(text + n, size - n, "%s%s (%" PRIu64 ")",
			i           ? ", "
				: n ? "; not read: "
				    : "not read: ",
			s->lost[i].what, s->lost[i].n);
	}
	return s->lost[0].n && stf_writer_info(s->in->w, "missing", text) < 0 ? xch_input_stf(s->in, s->err) : 0;
}

/* All threads are its members. */
static int describe_flows(struct xch_slices *s)
{
	uint32_t *willies = calloc((size_t)s->tracks + 1, sizeof(*willies)), i;
	int rc;

	if (!willies) {
		return xch_slices_no_memory(s);
	}
	for (i = 0; i < s->tracks; i++) {
		willies[i] = s->track[i].willy;
	}
	rc = xch_build_communicator(s->b, FLOWS, "flows", willies, s->tracks);
	free(willies);
	return rc;
}

/* Slices that did not end last to the end of the trace. */
static int end_all(struct xch_slices *s)
{
	struct xch_open_slices *o;
	uint32_t i, k;

	for (i = 0; i < s->tracks; i++) {
		o = &s->track[i].open;
		for (k = o->first; k; k = o->slice[k - 1].above) {
			s->endless++;
			if (xch_slices_put_span(s, i + 1, &o->slice[k - 1], s->most, AT_BEGIN) < 0) {
				return -1;
			}
		}
		xch_open_free(o);
		*o = (struct xch_open_slices){ .n = 0 };
	}
	return 0;
}

/* Asynchronous slices that did not end. */
static int end_async(struct xch_slices *s)
{
	struct async_stack *a = NULL;
	uint64_t time = (uint64_t)s->most - (uint64_t)s->least;
	int rc = 0;

	while (rc == 0 && (a = tkm_table_next(&s->async, a))) {
		s->endless += a->n;
		while (rc == 0 && a->n) {
			const struct async_slice *one = &a->slice[--a->n];

			rc = write_scope(s, s->track[one->track].willy, one->name, time, one->number, 1);
		}
	}
	return rc;
}

int xch_slices_write(struct xch_slices *s, const struct xch_slices_clock *clock)
{
	int64_t from, to;
	uint32_t i;
	int rc;

	if (s->least > s->most) {
		return tkm_fail(s->err, TKM_ERR_FORMAT, "%s has no event with a stamp", s->in->path);
	}
	if (clock->is_realtime &&
		(__builtin_add_overflow(s->least, clock->base_ns, &from) ||
			__builtin_add_overflow(s->most, clock->base_ns, &to))) {
		return tkm_fail(s->err, TKM_ERR_FORMAT, "%s has stamps that are too far from 1970", s->in->path);
	}
	if (xch_input_begin(s->in, 1e-9, 0, s->err) < 0 || !(s->b = xch_build_new(s->in, s->err)) ||
		number_tracks(s) < 0 || end_all(s) < 0) {
		return -1;
	}
	rc = xch_sort_each(s->sort, write_item, s, s->err) < 0 || end_async(s) < 0 ||
			(s->flows && describe_flows(s) < 0)
		? -1
		: 0;
	for (i = 0; rc == 0 && i < s->tracks; i++) {
		rc = describe_track(s, &s->track[i], clock);
	}
	rc = rc == 0 && describe_clock(s, clock) == 0 ? xch_build_end(s->b) : -1;
	return rc == 0 ? describe_losses(s, clock) : -1;
}

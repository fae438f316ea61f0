/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "exchange/common/slices.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/table.h"
#include "exchange/common/build.h"
#include "exchange/common/private.h"
#include "exchange/common/sort.h"

/* At one time ends come first, and then what begins, the longest first. A slice without length has no end of its own: it belongs
 * before, between or among them, as its place in the file says. */
enum item_rank { SPOT_BEFORE, AT_END, SPOT_BETWEEN, AT_BEGIN, AT_LAST };
enum item_kind { SPAN_BEGIN, SPAN_END, SPAN_SPOT, ASYNC_BEGIN, ASYNC_END, VALUE, FLOW, SEND, RECEIVE, COMMENT };

enum { LOSSES = 16, FLOWS = 1 }; /* the number of the communicator */

struct open_slice {
	int64_t time, end;
	uint64_t number;
	uint32_t name;
};

/* A stack of slices. */
struct open_slices {
	struct open_slice *slice;
	size_t n, room;
};

struct track {
	const char *process, *thread; /* keys of tables */
	uint32_t willy;
	struct open_slices open; /* while reading by begins and ends, and again while writing */
	int64_t last_end;
};

struct name {
	char *cls, *text, *unit;
	uint32_t function, scope, counter;
	unsigned type; /* of the counter */
};

/* One of no track. */
struct async_slice {
	uint32_t track, name, number;
};

struct async_stack {
	struct async_slice *slice;
	size_t n, room;
};

struct xch_slices {
	struct xch_input *in;
	struct tkm_err *err;
	struct xch_build *b;
	struct xch_sort *sort;
	struct track *track;
	struct name *name;
	uint32_t tracks, names;
	struct tkm_table by_process, by_track, by_name; /* numbers of them, from 1 */
	struct tkm_table titles;                        /* char * by process, or process and thread */
	struct tkm_table async;                         /* struct async_stack by key */
	struct tkm_table steps;                         /* of flows with more than one: how often it went on */
	uint64_t number, unmatched, overlaps, endless, backward, flows;
	uint32_t async_number;
	int64_t least, most;
	struct {
		const char *what;
		uint64_t n;
	} lost[LOSSES];
};

static int no_memory(const struct xch_slices *s)
{
	return xch_fail_memory(s->err, s->in->path);
}

struct xch_slices *xch_slices_new(struct xch_input *in, struct tkm_err *err)
{
	struct xch_slices *s = calloc(1, sizeof(*s));

	if (!s) {
		xch_fail_memory(err, in->path);
		return NULL;
	}
	s->in = in;
	s->err = err;
	s->least = INT64_MAX;
	s->most = INT64_MIN;
	s->sort = xch_sort_new(in->to, err);
	if (!s->sort) {
		free(s);
		return NULL;
	}
	return s;
}

void xch_slices_free(struct xch_slices *s)
{
	struct async_stack *a = NULL;
	char **title = NULL;
	uint32_t i;

	if (!s) {
		return;
	}
	while ((a = tkm_table_next(&s->async, a))) {
		free(a->slice);
	}
	while ((title = tkm_table_next(&s->titles, title))) {
		free(*title);
	}
	for (i = 0; i < s->tracks; i++) {
		free(s->track[i].open.slice);
	}
	for (i = 0; i < s->names; i++) {
		free(s->name[i].cls);
		free(s->name[i].text);
		free(s->name[i].unit);
	}
	tkm_table_free(&s->by_process);
	tkm_table_free(&s->by_track);
	tkm_table_free(&s->by_name);
	tkm_table_free(&s->titles);
	tkm_table_free(&s->async);
	tkm_table_free(&s->steps);
	xch_sort_free(s->sort);
	xch_build_free(s->b);
	free(s->track);
	free(s->name);
	free(s);
}

void xch_slices_lost(struct xch_slices *s, const char *what, uint64_t n)
{
	size_t i;

	for (i = 0; n && i < LOSSES - 1 && s->lost[i].what && s->lost[i].what != what; i++) {
	}
	if (n) {
		s->lost[i].what = what;
		s->lost[i].n += n;
	}
}

uint64_t xch_slices_key(uint64_t before, const char *text, size_t n)
{
	uint64_t h = before ^ 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < n; i++) {
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	}
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

/* ---- threads and names ---- */

/* The value of "text, zero byte, text"; NULL: no memory. */
static void *put_texts(struct tkm_table *t, const char *a, const char *b, size_t size)
{
	size_t n = strlen(a) + 1, k = strlen(b) + 1;
	char small[512], *key = n + k <= sizeof(small) ? small : malloc(n + k);
	void *v = NULL;

	if (key) {
		memcpy(key, a, n);
		memcpy(key + n, b, k);
		v = tkm_table_put(t, key, n + k, size);
	}
	if (key != small) {
		free(key);
	}
	return v;
}

uint32_t xch_slices_track(struct xch_slices *s, const char *process, const char *thread)
{
	uint32_t *number = put_texts(&s->by_track, process, thread, sizeof(*number));
	struct track *t;

	if (number && *number) {
		return *number;
	}
	t = number ? TKM_APPEND(s->track, s->tracks) : NULL;
	if (!t) {
		no_memory(s);
		return 0;
	}
	t->process = tkm_table_key(number);
	t->thread = t->process + strlen(t->process) + 1;
	t->last_end = INT64_MIN;
	*number = s->tracks;
	return *number;
}

int xch_slices_title(struct xch_slices *s, const char *process, const char *thread, const char *title)
{
	char **t = put_texts(&s->titles, process, thread ? thread : "\001", sizeof(*t));

	if (t) {
		free(*t);
		*t = strdup(title);
	}
	return t && *t ? 0 : no_memory(s);
}

static const char *title_of(struct xch_slices *s, const char *process, const char *thread)
{
	char **t = put_texts(&s->titles, process, thread ? thread : "\001", sizeof(*t));

	return t && *t ? *t : "";
}

uint32_t xch_slices_counter(struct xch_slices *s, const char *cls, const char *name, const char *unit)
{
	uint32_t *number = put_texts(&s->by_name, cls, name, sizeof(*number));
	struct name *n;

	if (number && *number) {
		return *number;
	}
	n = number ? TKM_APPEND(s->name, s->names) : NULL;
	if (n) {
		n->cls = strdup(cls);
		n->text = strdup(name);
		n->unit = strdup(unit);
		n->type = STF_COUNTER_F8;
	}
	if (!n || !n->cls || !n->text || !n->unit) {
		no_memory(s);
		return 0;
	}
	*number = s->names;
	return *number;
}

uint32_t xch_slices_name(struct xch_slices *s, const char *cls, const char *name)
{
	return xch_slices_counter(s, cls, name, "");
}

const char *xch_slices_text(const struct xch_slices *s, uint32_t name)
{
	return s->name[name - 1].text;
}

const char *xch_slices_class(const struct xch_slices *s, uint32_t name)
{
	return s->name[name - 1].cls;
}

/* ---- events ---- */

static int put_item(struct xch_slices *s, const struct xch_item *item)
{
	s->least = item->time < s->least ? item->time : s->least;
	s->most = item->time > s->most ? item->time : s->most;
	return xch_sort_put(s->sort, item, s->err);
}

/* What is at one time only. */
static int put_event(
	struct xch_slices *s, enum item_kind kind, uint32_t track, uint32_t name, int64_t time, uint64_t value)
{
	const struct xch_item item = { .time = time,
		.number = ++s->number,
		.value = value,
		.track = track - 1,
		.name = name,
		.rank = AT_LAST,
		.kind = (uint8_t)kind };

	return put_item(s, &item);
}

/* Both ends of a slice. spot: where it belongs if it has no length. */
static int put_span(struct xch_slices *s, uint32_t track, const struct open_slice *o, int64_t to, enum item_rank spot)
{
	uint64_t length = (uint64_t)to - (uint64_t)o->time;
	struct xch_item item = { .time = o->time,
		.key = ~length,
		.number = o->number,
		.value = (uint64_t)to,
		.track = track - 1,
		.name = o->name,
		.rank = length ? AT_BEGIN : (uint8_t)spot,
		.kind = length ? SPAN_BEGIN : SPAN_SPOT };
	int rc;

	rc = put_item(s, &item);
	if (rc < 0 || length == 0) {
		return rc;
	}
	item.time = to;
	item.key = ~((uint64_t)o->time ^ (uint64_t)1 << 63); /* the last to begin ends first */
	item.number = ~o->number;
	item.rank = AT_END;
	item.kind = SPAN_END;
	return put_item(s, &item);
}

int xch_slices_span(struct xch_slices *s, uint32_t track, uint32_t name, int64_t from, int64_t to)
{
	const struct open_slice o = { .time = from, .number = ++s->number, .name = name };

	return put_span(s, track, &o, to, AT_BEGIN);
}

int xch_slices_begin(struct xch_slices *s, uint32_t track, uint32_t name, int64_t time)
{
	struct open_slices *o = &s->track[track - 1].open;

	if (TKM_GROW(o->slice, o->room, o->n + 1) < 0) {
		return no_memory(s);
	}
	o->slice[o->n++] = (struct open_slice){ .time = time, .number = ++s->number, .name = name };
	s->least = time < s->least ? time : s->least;
	s->most = time > s->most ? time : s->most;
	return 0;
}

/* Of equal times: a slice without length is within one that began before and ends now or later, unless another one has ended
 * at that time. */
static enum item_rank place_of_spot(const struct track *t, const struct open_slice *o)
{
	const struct open_slice *around = o > t->open.slice ? o - 1 : NULL;

	return around && around->time == o->time ? AT_BEGIN : t->last_end == o->time ? SPOT_BETWEEN : SPOT_BEFORE;
}

int xch_slices_end(struct xch_slices *s, uint32_t track, uint32_t name, int64_t time)
{
	struct track *t = &s->track[track - 1];
	struct open_slices *o = &t->open;
	size_t i = o->n;
	int rc;

	while (i > 0 && name && o->slice[i - 1].name != name &&
		strcmp(xch_slices_text(s, o->slice[i - 1].name), xch_slices_text(s, name)) != 0) {
		i--;
	}
	if (i == 0) {
		s->unmatched++;
		return 0;
	}
	i--;
	if (time < o->slice[i].time) {
		s->backward++;
		time = o->slice[i].time;
	}
	rc = put_span(s, track, &o->slice[i], time, place_of_spot(t, &o->slice[i]));
	t->last_end = time > o->slice[i].time ? time : t->last_end;
	memmove(&o->slice[i], &o->slice[i + 1], (o->n - i - 1) * sizeof(*o->slice));
	o->n--;
	return rc;
}

int xch_slices_async(struct xch_slices *s, uint32_t track, uint64_t key, uint32_t name, int64_t time, int end)
{
	return put_event(s, end ? ASYNC_END : ASYNC_BEGIN, track, name, time, key);
}

int xch_slices_value(struct xch_slices *s, uint32_t track, uint32_t counter, int64_t time, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return xch_slices_bits(s, track, counter, time, bits);
}

void xch_slices_type(struct xch_slices *s, uint32_t counter, unsigned type)
{
	s->name[counter - 1].type = type;
}

int xch_slices_bits(struct xch_slices *s, uint32_t track, uint32_t counter, int64_t time, uint64_t bits)
{
	return put_event(s, VALUE, track, counter, time, bits);
}

int xch_slices_message(struct xch_slices *s, uint32_t track, uint64_t key, int64_t time, uint32_t bytes, int receive)
{
	return put_event(s, receive ? RECEIVE : SEND, track, bytes, time, key);
}

int xch_slices_flow(struct xch_slices *s, uint32_t track, uint64_t key, int64_t time, unsigned ways)
{
	return put_event(s, FLOW, track, ways, time, key);
}

int xch_slices_comment(struct xch_slices *s, uint32_t track, uint32_t text, int64_t time)
{
	return put_event(s, COMMENT, track, text, time, 0);
}

/* ---- writing ---- */

static uint32_t function_of(struct xch_slices *s, uint32_t name)
{
	struct name *n = &s->name[name - 1];

	n->function = n->function ? n->function : xch_build_function(s->b, n->cls, n->text);
	return n->function;
}

static uint32_t scope_of(struct xch_slices *s, uint32_t name)
{
	struct name *n = &s->name[name - 1];

	n->scope = n->scope ? n->scope : xch_build_scope(s->b, n->cls, n->text);
	return n->scope;
}

static int write_call(struct xch_slices *s, const struct track *t, uint32_t name, uint64_t time, int leave)
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
	struct track *t = &s->track[i->track];
	struct open_slices *o = &t->open;

	if (o->n && o->slice[o->n - 1].end < (int64_t)i->value) {
		s->overlaps++;
		return write_scope(s, t->willy, i->name, time, (uint32_t)i->number, 0);
	}
	if (TKM_GROW(o->slice, o->room, o->n + 1) < 0) {
		return no_memory(s);
	}
	o->slice[o->n++] =
		(struct open_slice){ .time = i->time, .end = (int64_t)i->value, .number = i->number, .name = i->name };
	return write_call(s, t, i->name, time, 0);
}

static int write_end(struct xch_slices *s, const struct xch_item *i, uint64_t time)
{
	struct track *t = &s->track[i->track];
	struct open_slices *o = &t->open;

	if (o->n && o->slice[o->n - 1].number == ~i->number) {
		o->n--;
		return write_call(s, t, i->name, time, 1);
	}
	return write_scope(s, t->willy, i->name, time, (uint32_t)~i->number, 1);
}

static int write_async(struct xch_slices *s, const struct xch_item *i, uint64_t time)
{
	struct async_stack *a = tkm_table_put(&s->async, &i->value, sizeof(i->value), sizeof(*a));
	struct async_slice one = { .track = i->track, .name = i->name };

	if (!a || TKM_GROW(a->slice, a->room, a->n + 1) < 0) {
		return no_memory(s);
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
	const struct track *t = &s->track[i->track];
	struct xch_half h = { .time = time, .id = id + (id == 0), .size = size, .receive = receive, .paired = 1 };

	h.communicator = FLOWS;
	h.from = h.to = t->willy;
	h.function = t->open.n ? function_of(s, t->open.slice[t->open.n - 1].name) : 0;
	s->flows++;
	return t->open.n && !h.function ? -1 : xch_build_half(s->b, &h);
}

/* One end of a step of a flow, which is a message. */
static int write_step(struct xch_slices *s, const struct xch_item *i, uint64_t time, uint64_t step, int receive)
{
	return write_half(s, i, time, xch_slices_key(i->value, (const char *)&step, sizeof(step)), 0, receive);
}

static int write_flow(struct xch_slices *s, const struct xch_item *i, uint64_t time)
{
	uint64_t *step = tkm_table_find(&s->steps, &i->value, sizeof(i->value));
	int goes_on = i->name == XCH_FLOW_ON || i->name == (XCH_FLOW_IN | XCH_FLOW_OUT);

	if (goes_on && !step) {
		step = tkm_table_put(&s->steps, &i->value, sizeof(i->value), sizeof(*step));
		if (!step) {
			return no_memory(s);
		}
		if (i->name == XCH_FLOW_ON) {
			return write_step(s, i, time, 0, 0);
		}
	}
	if (goes_on) {
		return write_step(s, i, time, *step, 1) < 0 ? -1 : write_step(s, i, time, ++*step, 0);
	}
	if (i->name == XCH_FLOW_OUT) {
		return write_step(s, i, time, 0, 0);
	}
	if (write_step(s, i, time, step ? *step : 0, 1) < 0) {
		return -1;
	}
	if (step) {
		tkm_table_remove(&s->steps, step);
	}
	return 0;
}

static int write_value(struct xch_slices *s, const struct xch_item *i, uint64_t time)
{
	struct name *n = &s->name[i->name - 1];

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
	const struct track *s = *(const struct track *const *)a, *t = *(const struct track *const *)b;
	int order = compare_keys(s->process, t->process), first = !strcmp(s->process, s->thread);

	return order                                      ? order
		: first != !strcmp(t->process, t->thread) ? (first ? -1 : 1)
							  : compare_keys(s->thread, t->thread);
}

static int number_tracks(struct xch_slices *s)
{
	struct track **order = calloc((size_t)s->tracks + 1, sizeof(struct track *));
	uint32_t i, process = 0, thread = 0;

	if (!order) {
		return no_memory(s);
	}
	for (i = 0; i < s->tracks; i++) {
		order[i] = &s->track[i];
	}
	qsort(order, s->tracks, sizeof(struct track *), compare_tracks);
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

static int describe_track(struct xch_slices *s, const struct track *t, const struct xch_slices_clock *clock)
{
	int first = stf_willy_thread(t->willy) == 0;
	const char *process = title_of(s, t->process, NULL), *thread = title_of(s, t->process, t->thread);
	char *both = NULL;
	int rc;

	rc = asprintf(&both, "%s%s%s", first ? process : "",
		first && *process && *thread && strcmp(process, thread) != 0 ? ": " : "",
		first && !strcmp(process, thread) ? "" : thread);
	if (rc < 0) {
		return no_memory(s);
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
				(unsigned)stf_willy_process(s->track[i].willy), c->bound_s);
			rc = stf_writer_info(s->in->w, "clock-bound", text);
		}
	}
	return rc < 0 ? xch_input_stf(s->in, s->err) : 0;
}

static int describe_losses(struct xch_slices *s, const struct xch_slices_clock *c)
{
	uint64_t alone = xch_build_alone(s->b), *step = NULL;
	const struct {
		const char *what;
		uint64_t n;
	} changed[] = { { "slices that overlap others are scopes", s->overlaps },
		{ "slices without an end last to the last stamp", s->endless },
		{ "slices that end before they begin have no length", s->backward } };
	size_t n, i, size = sizeof(s->in->note);
	char *text = s->in->note;

	while ((step = tkm_table_next(&s->steps, step))) {
		alone -= alone && *step > 0; /* it was somewhere, and did not end */
	}
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
		return no_memory(s);
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
	struct open_slices *o;
	uint32_t i;
	size_t k;

	for (i = 0; i < s->tracks; i++) {
		o = &s->track[i].open;
		s->endless += o->n;
		for (k = 0; k < o->n; k++) {
			if (put_span(s, i + 1, &o->slice[k], s->most, AT_BEGIN) < 0) {
				return -1;
			}
		}
		o->n = 0;
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
	uint32_t i;
	int rc;

	if (s->least > s->most) {
		return tkm_fail(s->err, TKM_ERR_FORMAT, "%s has no event with a stamp", s->in->path);
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

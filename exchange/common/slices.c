/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "exchange/common/slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "exchange/common/private.h"
#include "exchange/common/slices_private.h"

int xch_slices_no_memory(const struct xch_slices *s)
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
		xch_open_free(&s->track[i].open);
	}
	for (i = 0; i < s->names; i++) {
		free(s->name[i].cls);
		free(s->name[i].text);
		free(s->name[i].unit);
	}
	tkm_table_free(&s->by_track);
	tkm_table_free(&s->by_name);
	tkm_table_free(&s->by_text);
	tkm_table_free(&s->titles);
	tkm_table_free(&s->async);
	tkm_table_free(&s->going);
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

/* What a key stands for. */
enum key_kind { TRACK = 'T', TITLE, NAME, COUNTER };

/* The value of a key of texts, each with its zero byte, and of what it stands for; NULL: no memory. */
static void *put_texts(struct tkm_table *t, enum key_kind kind, const char *const text[3], size_t size)
{
	size_t length[3], n = 0, i;
	char small[512], *key = small;
	void *v = NULL;

	for (i = 0; i < 3; i++) {
		length[i] = strlen(text[i]) + 1;
		n += length[i];
	}
	if (n >= sizeof(small)) {
		key = malloc(n + 1);
	}
	if (key) {
		for (n = i = 0; i < 3; n += length[i++]) {
			memcpy(key + n, text[i], length[i]);
		}
		key[n++] = (char)kind;
		v = tkm_table_put(t, key, n, size);
	}
	if (key != small) {
		free(key);
	}
	return v;
}

uint32_t xch_slices_track(struct xch_slices *s, const char *process, const char *thread)
{
	uint32_t *number =
		put_texts(&s->by_track, TRACK, (const char *const[]){ process, thread, "" }, sizeof(*number));
	struct xch_slice_track *t;

	if (number && *number) {
		return *number;
	}
	t = number ? TKM_APPEND(s->track, s->tracks) : NULL;
	if (!t) {
		xch_slices_no_memory(s);
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
	char **t = put_texts(
		&s->titles, TITLE, (const char *const[]){ process, thread ? thread : "\001", "" }, sizeof(*t));

	if (t) {
		free(*t);
		*t = strdup(title);
	}
	return t && *t ? 0 : xch_slices_no_memory(s);
}

const char *xch_slices_title_of(struct xch_slices *s, const char *process, const char *thread)
{
	char **t = put_texts(
		&s->titles, TITLE, (const char *const[]){ process, thread ? thread : "\001", "" }, sizeof(*t));

	return t && *t ? *t : "";
}

/* One number for all names of one text, whatever their class is. */
static uint32_t number_text(struct xch_slices *s, const char *text)
{
	uint32_t *number = tkm_table_put(&s->by_text, text, strlen(text) + 1, sizeof(*number));

	if (number && !*number) {
		*number = (uint32_t)tkm_table_count(&s->by_text);
	}
	return number ? *number : 0;
}

static uint32_t number_name(
	struct xch_slices *s, enum key_kind kind, const char *cls, const char *name, const char *unit)
{
	uint32_t *number = put_texts(&s->by_name, kind, (const char *const[]){ cls, name, unit }, sizeof(*number));
	struct xch_slice_name *n;

	if (number && *number) {
		return *number;
	}
	n = number ? TKM_APPEND(s->name, s->names) : NULL;
	if (n) {
		n->cls = strdup(cls);
		n->text = strdup(name);
		n->unit = strdup(unit);
		n->text_number = number_text(s, name);
		n->type = STF_COUNTER_F8;
	}
	if (!n || !n->cls || !n->text || !n->unit || !n->text_number) {
		xch_slices_no_memory(s);
		return 0;
	}
	*number = s->names;
	return *number;
}

uint32_t xch_slices_counter(struct xch_slices *s, const char *cls, const char *name, const char *unit)
{
	return number_name(s, COUNTER, cls, name, unit);
}

uint32_t xch_slices_name(struct xch_slices *s, const char *cls, const char *name)
{
	return number_name(s, NAME, cls, name, "");
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
int xch_slices_put_span(
	struct xch_slices *s, uint32_t track, const struct xch_open_slice *o, int64_t to, enum item_rank spot)
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
	const struct xch_open_slice o = { .time = from, .number = ++s->number, .name = name };

	return xch_slices_put_span(s, track, &o, to, AT_BEGIN);
}

int xch_slices_begin(struct xch_slices *s, uint32_t track, uint32_t name, int64_t time)
{
	const struct xch_open_slice o = {
		.time = time, .number = ++s->number, .name = name, .text = s->name[name - 1].text_number
	};

	s->least = time < s->least ? time : s->least;
	s->most = time > s->most ? time : s->most;
	return xch_open_push(&s->track[track - 1].open, &o) < 0 ? xch_slices_no_memory(s) : 0;
}

/* Of equal times: a slice without length is within one that began before and ends now or later, unless another one has ended
 * at that time. */
static enum item_rank place_of_spot(const struct xch_slice_track *t, const struct xch_open_slice *o)
{
	const struct xch_open_slice *around = o->below ? &t->open.slice[o->below - 1] : NULL;

	return around && around->time == o->time ? AT_BEGIN : t->last_end == o->time ? SPOT_BETWEEN : SPOT_BEFORE;
}

int xch_slices_end(struct xch_slices *s, uint32_t track, uint32_t name, int64_t time)
{
	struct xch_slice_track *t = &s->track[track - 1];
	uint32_t number = xch_open_find(&t->open, name ? s->name[name - 1].text_number : 0);
	struct xch_open_slice *o;
	int rc;

	if (number == 0) {
		s->unmatched++;
		return 0;
	}
	o = &t->open.slice[number - 1];
	if (time < o->time) {
		s->backward++;
		time = o->time;
	}
	rc = xch_slices_put_span(s, track, o, time, place_of_spot(t, o));
	t->last_end = time > o->time ? time : t->last_end;
	xch_open_remove(&t->open, number);
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

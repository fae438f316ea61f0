/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads JSON trace events: of PyTorch's profiler (Kineto) and of all others in Chrome's format. The file is read once, event by event. */
#include "config.h"
#include "exchange/text/chrome_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/grow.h"
#include "base/text/decimal.h"
#include "exchange/common/private.h"
#include "exchange/common/slices.h"
#include "exchange/text/json_scan.h"

/* The members of an event that matter. */
/* clang-format off */
#define FIELDS(X) X(ph) X(ts) X(dur) X(pid) X(tid) X(name) X(cat) X(id) X(bind_id) X(flow_in) X(flow_out) X(id2) X(args)
/* clang-format on */
enum field {
#define FIELD(name) F_##name,
	FIELDS(FIELD)
#undef FIELD
		FIELD_COUNT
};
static const char *const field_names[] = {
#define FIELD(name) #name,
	FIELDS(FIELD)
#undef FIELD
};

/* Texts that are in use at a time. */
enum slot { S_PROCESS, S_THREAD, S_NAME, S_CLASS, S_OTHER, SLOTS };

/* A value: its text, without quotes. */
struct value {
	uint64_t from, to;
	int is_text; /* in quotes */
};

struct arg {
	uint64_t from, to; /* its key */
	struct value v;
};

struct chrome_read {
	struct xch_input *in;
	struct tkm_err *err;
	struct json_scan s;
	struct xch_slices *slices;
	struct value field[FIELD_COUNT]; /* of the present event; from == to: it has none, or an empty one */
	struct arg *arg;
	size_t args, args_room;
	int has_args;     /* also if they were not taken */
	int process_only; /* its id is of its process */
	struct {
		char *text;
		size_t room;
	} slot[SLOTS];
	int kineto, ours;
	int64_t base_ns;
	double bound_s;
	char *host;
};

static int no_memory(const struct chrome_read *r)
{
	return xch_fail_memory(r->err, r->in->path);
}

/* ---- texts ---- */

static unsigned hex_of(const char *p)
{
	unsigned v = 0;
	int i;

	for (i = 0; i < 4; i++) {
		v = v << 4 |
			(unsigned)(p[i] >= '0' && p[i] <= '9'                      ? p[i] - '0'
					: (p[i] | 32) >= 'a' && (p[i] | 32) <= 'f' ? (p[i] | 32) - 'a' + 10
										   : 0);
	}
	return v;
}

static char *put_utf8(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = (char)(c ? c : ' ');
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 63));
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	}
	return to;
}

/* What is after "\u" at p, and perhaps its second half. Returns what is behind it. */
static const char *take_unicode(const char *p, const char *end, char **to)
{
	unsigned c, low;

	if (end - p < 4) {
		return end;
	}
	c = hex_of(p);
	p += 4;
	if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
		low = hex_of(p + 2);
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			p += 6;
		}
	}
	*to = put_utf8(*to, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
	return p;
}

/* A text as it is meant, without escapes: at most as long as it is in the file. */
static void decode_text(char *to, const char *p, const char *end)
{
	static const char escapes[] = "b\bf\fn\nr\rt\t";
	const char *known;

	while (p < end) {
		if (*p != '\\' || p + 1 == end) {
			*to++ = *p ? *p : ' ';
			p++;
		} else if (p[1] == 'u') {
			p = take_unicode(p + 2, end, &to);
		} else {
			known = strchr("bfnrt", p[1]);
			*to++ = known && p[1] ? strchr(escapes, p[1])[1] : p[1];
			p += 2;
		}
	}
	*to = '\0';
}

/* A copy of a text of the held part of the file, valid until the slot's next use. NULL: no memory. */
static const char *text_of(struct chrome_read *r, enum slot slot, uint64_t from, uint64_t to)
{
	size_t n = (size_t)(to - from);
	const char *p;

	if (TKM_GROW(r->slot[slot].text, r->slot[slot].room, n + 4) < 0) {
		no_memory(r);
		return NULL;
	}
	p = n ? xch_scan_text(&r->s, from) : "";
	if (memchr(p, '\\', n) || memchr(p, 0, n)) {
		decode_text(r->slot[slot].text, p, p + n);
	} else {
		memcpy(r->slot[slot].text, p, n);
		r->slot[slot].text[n] = '\0';
	}
	return r->slot[slot].text;
}

static const char *field_text(struct chrome_read *r, enum slot slot, enum field f)
{
	return text_of(r, slot, r->field[f].from, r->field[f].to);
}

static int has_field(const struct chrome_read *r, enum field f)
{
	return r->field[f].to > r->field[f].from;
}

/* Is the value these letters? */
static int value_is(struct chrome_read *r, const struct value *v, const char *text)
{
	size_t n = strlen(text);

	return v->to - v->from == n && !memcmp(xch_scan_text(&r->s, v->from), text, n);
}

/* ---- values ---- */

/* A text, a number or a word; what arrays and objects have is between from and to. */
static int take_value(struct chrome_read *r, struct value *v)
{
	v->is_text = xch_scan_peek(&r->s) == '"';
	return xch_scan_value(&r->s, &v->from, &v->to);
}

/* Of most events it only matters whether there are arguments. */
static int skip_args(struct chrome_read *r)
{
	uint64_t from = xch_scan_at(&r->s);

	if (xch_scan_skip(&r->s) < 0) {
		return -1;
	}
	r->has_args = memchr(xch_scan_text(&r->s, from), '"', (size_t)(xch_scan_at(&r->s) - from)) != NULL;
	return 0;
}

static int take_args(struct chrome_read *r)
{
	struct json_key k;
	struct arg *a;
	int rc, first = 1;

	r->args = 0;
	if (has_field(r, F_ph) && !strchr("CM", *xch_scan_text(&r->s, r->field[F_ph].from))) {
		return skip_args(r);
	}
	while ((rc = xch_scan_member(&r->s, &first, &k)) > 0) {
		if (TKM_GROW(r->arg, r->args_room, r->args + 1) < 0) {
			return no_memory(r);
		}
		a = &r->arg[r->args++];
		*a = (struct arg){ .from = k.from, .to = k.to };
		if (take_value(r, &a->v) < 0) {
			return -1;
		}
	}
	r->has_args = r->args > 0;
	return rc;
}

/* {"global": ID} or {"local": ID} */
static int take_id2(struct chrome_read *r)
{
	struct json_key k;
	int rc, first = 1;

	while ((rc = xch_scan_member(&r->s, &first, &k)) > 0) {
		if (take_value(r, &r->field[F_id]) < 0) {
			return -1;
		}
		r->process_only = !strcmp(k.name, "local");
	}
	return rc;
}

/* ---- events ---- */

/* Returns 1; 0: it has no time; or -1. */
static int take_time(struct chrome_read *r, enum field f, int64_t *ns)
{
	if (!has_field(r, f) || value_is(r, &r->field[f], "null")) {
		return 0;
	}
	return xch_scan_us(&r->s, r->field[f].from, r->field[f].to, ns) < 0 ? -1 : 1;
}

static uint32_t track_of(struct chrome_read *r)
{
	const char *process = field_text(r, S_PROCESS, F_pid);
	const char *thread = field_text(r, S_THREAD, has_field(r, F_tid) ? F_tid : F_pid);

	return process && thread ? xch_slices_track(r->slices, *process ? process : "0", *thread ? thread : "0") : 0;
}

static uint32_t name_of(struct chrome_read *r)
{
	const char *cls = field_text(r, S_CLASS, F_cat), *name = field_text(r, S_NAME, F_name);

	return cls && name ? xch_slices_name(r->slices, cls, name) : 0;
}

/* The key of what the id links: of that category, and, with the name, of that. */
static uint64_t key_of(struct chrome_read *r, int with_name)
{
	static const enum field parts[] = { F_cat, F_id, F_pid, F_name };
	uint64_t key = 1;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct value *v = &r->field[parts[i]];

		if (v->to > v->from && (parts[i] != F_pid || r->process_only) && (parts[i] != F_name || with_name)) {
			key = xch_slices_key(key + i, xch_scan_text(&r->s, v->from), (size_t)(v->to - v->from));
		}
	}
	return key;
}

static int take_span(struct chrome_read *r, uint32_t track, uint32_t name, int64_t from)
{
	int64_t length = 0;
	unsigned ways = (has_field(r, F_flow_in) && value_is(r, &r->field[F_flow_in], "true") ? XCH_FLOW_IN : 0) |
		(has_field(r, F_flow_out) && value_is(r, &r->field[F_flow_out], "true") ? XCH_FLOW_OUT : 0);
	const struct value *bind = &r->field[F_bind_id];

	if (take_time(r, F_dur, &length) < 0) {
		return -1;
	}
	if (length < 0 || __builtin_add_overflow(from, length, &length)) {
		return xch_scan_fail(&r->s, r->field[F_dur].from, "a span of negative length, or one that is too long");
	}
	if (xch_slices_span(r->slices, track, name, from, length) < 0) {
		return -1;
	}
	return ways && bind->to > bind->from
		? xch_slices_flow(r->slices, track,
			  xch_slices_key(2, xch_scan_text(&r->s, bind->from), (size_t)(bind->to - bind->from)), from,
			  ways)
		: 0;
}

/* The number of an argument. Returns 0, or -1: it is none. */
static int number_of_arg(struct chrome_read *r, const struct arg *a, double *out)
{
	char text[64], *end;
	size_t n = (size_t)(a->v.to - a->v.from);

	if (n == 0 || n >= sizeof(text)) {
		return -1;
	}
	memcpy(text, xch_scan_text(&r->s, a->v.from), n);
	text[n] = '\0';
	*out = strtod(text, &end);
	return *end ? -1 : 0;
}

/* "VALUE of NAME" is the counter NAME, that of more than one is NAME:KEY. Our own key is the unit. */
static int take_counters(struct chrome_read *r, uint32_t track, int64_t time)
{
	const char *name = field_text(r, S_NAME, F_name), *key;
	char *with_id = NULL;
	uint32_t counter;
	double value;
	size_t i;
	int plain, rc = name ? 0 : -1;

	if (rc == 0 && has_field(r, F_id) && !r->ours) {
		key = field_text(r, S_CLASS, F_id);
		rc = !key ? -1 : asprintf(&with_id, "%s[%s]", name, key) < 0 ? no_memory(r) : 0;
		name = with_id;
	}
	for (i = 0; rc == 0 && i < r->args; i++) {
		key = text_of(r, S_OTHER, r->arg[i].from, r->arg[i].to);
		if (!key || number_of_arg(r, &r->arg[i], &value) < 0) {
			rc = key ? 0 : -1;
			xch_slices_lost(r->slices, "values of counters that are no numbers", key != NULL);
			continue;
		}
		plain = r->ours || !strcmp(key, "value");
		counter = xch_slices_counter(r->slices, plain ? "" : name, plain ? name : key,
			r->ours && strcmp(key, "value") != 0 ? key : "");
		rc = counter ? xch_slices_value(r->slices, track, counter, time, value) : -1;
	}
	free(with_id);
	return rc;
}

/* Names of processes and threads. */
static int take_title(struct chrome_read *r)
{
	int process = value_is(r, &r->field[F_name], "process_name");
	const char *of, *thread, *title;
	size_t i;

	if (!process && !value_is(r, &r->field[F_name], "thread_name")) {
		return 0;
	}
	of = field_text(r, S_PROCESS, F_pid);
	thread = field_text(r, S_THREAD, has_field(r, F_tid) ? F_tid : F_pid);
	for (i = 0; of && thread && i < r->args; i++) {
		if (r->arg[i].to - r->arg[i].from == 4 && !memcmp(xch_scan_text(&r->s, r->arg[i].from), "name", 4)) {
			title = text_of(r, S_OTHER, r->arg[i].v.from, r->arg[i].v.to);
			return !title ? -1
				      : xch_slices_title(r->slices, *of ? of : "0",
						process           ? NULL
							: *thread ? thread
								  : "0",
						title);
		}
	}
	return of && thread ? 0 : -1;
}

static int take_phase(struct chrome_read *r, char phase, int64_t time)
{
	uint32_t track, name;

	if (!strchr("XBEiInRbeSFCstf", phase)) {
		xch_slices_lost(r->slices, "events of other kinds", 1);
		return 0;
	}
	track = track_of(r);
	if (!track) {
		return -1;
	}
	if (phase == 'C') {
		return take_counters(r, track, time);
	}
	if (strchr("stf", phase)) {
		return xch_slices_flow(r->slices, track, key_of(r, 1), time,
			phase == 's'           ? XCH_FLOW_OUT
				: phase == 'f' ? XCH_FLOW_IN
					       : XCH_FLOW_IN | XCH_FLOW_OUT);
	}
	if (phase == 'E' && !has_field(r, F_name)) {
		return xch_slices_end(r->slices, track, 0, time);
	}
	name = name_of(r);
	xch_slices_lost(r->slices, "events with arguments", (uint64_t)r->has_args);
	return !name                  ? -1
		: phase == 'X'        ? take_span(r, track, name, time)
		: phase == 'B'        ? xch_slices_begin(r->slices, track, name, time)
		: phase == 'E'        ? xch_slices_end(r->slices, track, name, time)
		: strchr("bS", phase) ? xch_slices_async(r->slices, track, key_of(r, phase == 'S'), name, time, 0)
		: strchr("eF", phase) ? xch_slices_async(r->slices, track, key_of(r, phase == 'F'), name, time, 1)
				      : xch_slices_comment(r->slices, track, name, time);
}

static int take_event(struct chrome_read *r)
{
	int64_t time = 0;
	char phase;
	int rc;

	if (r->field[F_ph].to != r->field[F_ph].from + 1) {
		xch_slices_lost(r->slices, "events of other kinds", 1);
		return 0;
	}
	phase = *xch_scan_text(&r->s, r->field[F_ph].from);
	if (phase == 'M') {
		return has_field(r, F_name) ? take_title(r) : 0;
	}
	rc = take_time(r, F_ts, &time);
	/* Kineto writes 0 for times before its base */
	if (rc <= 0 || (r->kineto && xch_scan_is_zero(&r->s, r->field[F_ts].from, r->field[F_ts].to))) {
		xch_slices_lost(r->slices, "events without a stamp", rc >= 0);
		return rc < 0 ? -1 : 0;
	}
	return take_phase(r, phase, time);
}

static enum field field_of(const char *name)
{
	int f;

	for (f = 0; f < FIELD_COUNT && strcmp(field_names[f], name) != 0; f++) {
	}
	return (enum field)f;
}

static int scan_event(struct chrome_read *r)
{
	struct json_key k;
	enum field f;
	int rc, first = 1, c;

	if (xch_scan_peek(&r->s) != '{') {
		xch_slices_lost(r->slices, "events of other kinds", 1);
		return xch_scan_skip(&r->s);
	}
	memset(r->field, 0, sizeof(r->field));
	r->args = 0;
	r->has_args = 0;
	r->process_only = 0;
	xch_scan_hold(&r->s, 1);
	while ((rc = xch_scan_member(&r->s, &first, &k)) > 0) {
		f = field_of(k.name);
		c = xch_scan_peek(&r->s);
		rc = f == FIELD_COUNT             ? xch_scan_skip(&r->s)
			: f == F_args && c == '{' ? take_args(r)
			: f == F_id2 && c == '{'  ? take_id2(r)
						  : take_value(r, &r->field[f]);
		if (rc < 0) {
			return -1;
		}
	}
	if (rc < 0 || take_event(r) < 0) {
		return -1;
	}
	xch_scan_hold(&r->s, 0);
	return xch_scan_write(&r->s);
}

static int scan_events(struct chrome_read *r, int bare)
{
	int rc, first = 1;

	while ((rc = xch_scan_element(&r->s, &first, bare)) > 0) {
		if (scan_event(r) < 0) {
			return -1;
		}
	}
	return rc;
}

/* ---- what the file says of itself ---- */

/* The members of an object that are wanted: of "tickmark" and "otherData". */
static int scan_notes(struct chrome_read *r)
{
	struct json_key k;
	struct arg a = { .from = 0 };
	double ns;
	int rc, first = 1;

	if (xch_scan_peek(&r->s) != '{') {
		return xch_scan_skip(&r->s);
	}
	xch_scan_hold(&r->s, 1);
	while ((rc = xch_scan_member(&r->s, &first, &k)) > 0) {
		if (take_value(r, &a.v) < 0) {
			return -1;
		}
		if (!strcmp(k.name, "bound_ns") && number_of_arg(r, &a, &ns) == 0) {
			r->bound_s = ns * 1e-9;
		}
		if (!strcmp(k.name, "clock_bound_s") && number_of_arg(r, &a, &ns) == 0) {
			r->bound_s = ns;
		}
		if (!strcmp(k.name, "program") && a.v.to - a.v.from > 9) {
			r->ours = !memcmp(xch_scan_text(&r->s, a.v.from), "Tickmark ", 9);
		}
	}
	xch_scan_hold(&r->s, 0);
	return rc;
}

static int scan_base(struct chrome_read *r)
{
	struct value v = { 0 };
	struct tkm_decimal d;
	const char *text;
	__int128 base;

	xch_scan_hold(&r->s, 1);
	if (take_value(r, &v) < 0 || !(text = text_of(r, S_OTHER, v.from, v.to))) {
		return -1;
	}
	if (tkm_decimal_read(text, &d) < 0 || tkm_decimal_whole(&d, 0, &base) < 0 || base < 0 || base > INT64_MAX / 2) {
		return xch_scan_fail(&r->s, v.from, "baseTimeNanoseconds is no whole number of ns since 1970");
	}
	r->base_ns = (int64_t)base;
	xch_scan_hold(&r->s, 0);
	return 0;
}

static int scan_host(struct chrome_read *r)
{
	struct value v = { 0 };
	const char *text;

	xch_scan_hold(&r->s, 1);
	if (take_value(r, &v) < 0 || !(text = text_of(r, S_OTHER, v.from, v.to))) {
		return -1;
	}
	free(r->host);
	r->host = strdup(v.is_text ? text : "");
	xch_scan_hold(&r->s, 0);
	return r->host ? 0 : no_memory(r);
}

static int scan_top(struct chrome_read *r)
{
	struct json_key k;
	int rc, first = 1;

	while ((rc = xch_scan_member(&r->s, &first, &k)) > 0) {
		r->kineto |= !strcmp(k.name, "schemaVersion") || !strcmp(k.name, "deviceProperties") ||
			!strcmp(k.name, "distributedInfo") || !strcmp(k.name, "baseTimeNanoseconds");
		if (!strcmp(k.name, "systemTraceEvents") || !strcmp(k.name, "samples")) {
			xch_slices_lost(
				r->slices, !strcmp(k.name, "samples") ? "list of samples" : "text of ftrace", 1);
		}
		rc = !strcmp(k.name, "traceEvents") && xch_scan_peek(&r->s) == '['    ? scan_events(r, 0)
			: !strcmp(k.name, "baseTimeNanoseconds")                      ? scan_base(r)
			: !strcmp(k.name, "host_name")                                ? scan_host(r)
			: !strcmp(k.name, "tickmark") || !strcmp(k.name, "otherData") ? scan_notes(r)
										      : xch_scan_skip(&r->s);
		if (rc < 0) {
			return -1;
		}
	}
	return rc;
}

static int scan_file(struct chrome_read *r)
{
	int first;

	if (xch_scan_begin(&r->s, r->in->path, NULL, NULL, r->err) < 0) {
		return -1;
	}
	first = xch_scan_peek(&r->s);
	if (first < 0 && !r->s.eof) {
		return -1; /* it cannot be read */
	}
	if (first != '[' && first != '{') {
		return xch_scan_fail(&r->s, 0, "it is no JSON object or array of trace events");
	}
	return (first == '[' ? scan_events(r, 1) : scan_top(r)) < 0 ? -1 : xch_scan_end(&r->s);
}

int xch_chrome_read(struct xch_input *in, struct tkm_err *err)
{
	struct chrome_read r = { .in = in, .err = err, .bound_s = NAN };
	struct xch_slices_clock clock;
	int rc = -1, i;

	r.slices = xch_slices_new(in, err);
	if (r.slices && scan_file(&r) == 0) {
		clock = (struct xch_slices_clock){ r.kineto ? "Kineto" : "trace events in JSON", NULL, r.kineto,
			r.base_ns, r.bound_s, r.host ? r.host : "" };
		rc = xch_slices_write(r.slices, &clock);
	}
	xch_slices_free(r.slices);
	xch_scan_free(&r.s);
	for (i = 0; i < SLOTS; i++) {
		free(r.slot[i].text);
	}
	free(r.arg);
	free(r.host);
	return rc;
}

/* An object or array with a key of these events in its first 16 KiB; the file may be compressed, so that `head` says nothing. */
int xch_chrome_is(const char *path, const unsigned char *head, size_t n)
{
	static const char *const keys[] = { "\"traceEvents\"", "\"ph\"", "\"schemaVersion\"",
		"\"baseTimeNanoseconds\"" };
	char text[1 << 14];
	size_t i, k, first = 0;
	gzFile f;
	int got;

	while (first < n && strchr(" \t\r\n\357\273\277", head[first])) {
		first++;
	}
	if (first == n || (head[first] != '{' && head[first] != '[' && memcmp(head, "\037\213", n < 2 ? n : 2) != 0)) {
		return 0;
	}
	f = gzopen(path, "rbe");
	got = f ? gzread(f, text, sizeof(text)) : 0;
	k = got > 0 ? (size_t)got : 0;
	if (f) {
		gzclose(f);
	}
	for (i = 0; i < k && strchr(" \t\r\n\357\273\277", text[i]); i++) {
	}
	if (i == k || (text[i] != '{' && text[i] != '[') || memmem(text, k, "rocprofiler-sdk-tool", 20)) {
		return 0;
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]) && !memmem(text, k, keys[i], strlen(keys[i])); i++) {
	}
	return i < sizeof(keys) / sizeof(keys[0]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads CTF 1.8 and CTF 2: what LTTng and others leave, and what ctf.c writes. The streams are merged by time, because a thread may change its
 * CPU between the begin and the end of a function. A thread is what the context of an event names; else the CPU, else the stream. */
#include "config.h"
#include "exchange/ctf/ctf_private.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/heap.h"
#include "exchange/common/private.h"
#include "exchange/common/slices.h"
#include "exchange/ctf/ctf_types.h"

/* What an event is. Those of our own traces come after OURS, in the order of their ids. */
enum ctf_role { UNKNOWN, MARK, BEGIN, END, CALL, RETURN, OURS };

enum { KEY = 32, NAME_KEY = 300 };

/* A stream and the thread that it was at last. */
struct ctf_input {
	struct xch_ctf_stream s;
	char *name;
	uint64_t pid, tid;
	uint32_t track, of_thread; /* of the stream, and of pid and tid; 0: not made */
};

struct ctf_read {
	struct xch_input *in;
	struct tkm_err *err;
	struct xch_ctf_trace t;
	struct xch_slices *slices;
	struct tkm_table names; /* of the events: uint8_t by stream and name */
	struct tkm_table
		scheduled; /* uint32_t by CPU: the thread that the kernel has put on it; 0: none, or not known */
	struct ctf_input *input;
	size_t inputs;
	int ours, placed;
	char *text; /* of the last copy */
	size_t room;
};

static int no_memory(const struct ctf_read *r)
{
	return xch_fail_memory(r->err, r->in->path);
}

/* A copy with a zero byte, valid until the next one. */
static const char *copy_text(struct ctf_read *r, const char *text, size_t n)
{
	if (TKM_GROW(r->text, r->room, n + 1) < 0) {
		no_memory(r);
		return NULL;
	}
	memcpy(r->text, text, n);
	r->text[n] = '\0';
	return r->text;
}

/* ---- what events are ---- */

/* "CLASS:NAME", or "NAME" */
static uint32_t name_of(struct ctf_read *r, const char *text, size_t n)
{
	const char *colon = memchr(text, ':', n);
	char *copy;

	if (!(text = copy_text(r, text, n))) {
		return 0;
	}
	copy = r->text;
	colon = strchr(text, ':');
	if (!colon || colon == text || colon[1] == ':' || !colon[1]) {
		return xch_slices_name(r->slices, "", text);
	}
	copy[colon - text] = '\0';
	return xch_slices_name(r->slices, text, colon + 1);
}

/* The name of an event in its stream, as a key. Returns its length, 0: too long. */
static size_t event_key(char key[NAME_KEY], uint64_t stream, const char *before, size_t n, const char *after)
{
	int k = snprintf(key, NAME_KEY, "%" PRIu64 " %.*s%s", stream, (int)(n < NAME_KEY ? n : 0), before, after);

	return n < NAME_KEY && k > 0 && k < NAME_KEY ? (size_t)k : 0;
}

static int note_names(struct ctf_read *r)
{
	char key[NAME_KEY];
	size_t i, n;

	for (i = 0; i < r->t.events; i++) {
		const struct xch_ctf_event_class *c = &r->t.event[i];

		n = event_key(key, c->stream, c->name, strlen(c->name), "");
		if (n && !tkm_table_put(&r->names, key, n, 1)) {
			return no_memory(r);
		}
	}
	return 0;
}

static int has_event(const struct ctf_read *r, uint64_t stream, const char *before, size_t n, const char *after)
{
	char key[NAME_KEY];
	size_t k = event_key(key, stream, before, n, after);

	return k && tkm_table_find(&r->names, key, k) != NULL;
}

/* The begin or the end of a function, if its other half is described, too. */
static int find_pair(struct ctf_read *r, struct xch_ctf_event_class *c)
{
	static const char *const ends[][2] = { { "_entry", "_exit" }, { "_enter", "_exit" }, { "_begin", "_end" },
		{ ":entry", ":exit" }, { ":begin", ":end" } };
	static const char in[] = "syscall_entry_", out[] = "syscall_exit_";
	size_t n = strlen(c->name), i, side;

	for (side = 0; side < 2; side++) {
		const char *own = side ? out : in, *other = side ? in : out;

		if (!strncmp(c->name, own, strlen(own)) &&
			has_event(r, c->stream, other, strlen(other), c->name + strlen(own))) {
			c->role = side ? END : BEGIN;
			c->text = xch_slices_name(r->slices, "syscall", c->name + strlen(own));
			return c->text ? 0 : -1;
		}
	}
	for (i = 0; i < 2 * sizeof(ends) / sizeof(ends[0]); i++) {
		const char *own = ends[i / 2][i % 2], *other = ends[i / 2][1 - i % 2];
		size_t k = strlen(own);

		if (n > k && !strcmp(c->name + n - k, own) && has_event(r, c->stream, c->name, n - k, other)) {
			c->role = i % 2 ? END : BEGIN;
			c->text = name_of(r, c->name, n - k);
			return c->text ? 0 : -1;
		}
	}
	c->role = MARK;
	c->text = xch_slices_name(r->slices, "", c->name);
	return c->text ? 0 : -1;
}

static int find_role(struct ctf_read *r, struct xch_ctf_event_class *c)
{
	static const char calls[] = "lttng_ust_cyg_profile";

	if (r->ours) {
		c->role = OURS + (c->id < CTF_COUNTER ? (int)c->id : CTF_COUNTER);
		return 0;
	}
	if (!strncmp(c->name, calls, sizeof(calls) - 1)) {
		const char *what =
			c->name + strlen(c->name) - strlen(strrchr(c->name, ':') ? strrchr(c->name, ':') : "");

		if (!strcmp(what, ":func_entry") || !strcmp(what, ":func_exit")) {
			c->role = what[7] == 'n' ? CALL : RETURN;
			return 0;
		}
	}
	return find_pair(r, c);
}

/* ---- threads ---- */

/* The number that one of these fields of a context has. Returns 0: there is none. */
static int context_number(const struct xch_ctf_stream *s, const char *name, const char *other, uint64_t *to)
{
	const char *const names[] = { name, other };
	const struct xch_ctf_value *v = NULL;
	int i;

	for (i = 0; i < 4 && !v; i++) {
		v = xch_ctf_value_of(s, names[i / 2], i % 2 ? XCH_CTF_CONTEXT : XCH_CTF_STREAM_CONTEXT);
		v = v && v->type->kind == XCH_CTF_INTEGER ? v : NULL;
	}
	*to = v ? v->u.bits : 0;
	return v != NULL;
}

static int title_thread(struct ctf_read *r, const struct xch_ctf_stream *s, const char *process, const char *thread)
{
	const struct xch_ctf_value *v = xch_ctf_value_of(s, "procname", XCH_CTF_STREAM_CONTEXT);
	const char *text;

	v = v ? v : xch_ctf_value_of(s, "procname", XCH_CTF_CONTEXT);
	if (!v || !v->text || !v->n) {
		return 0;
	}
	text = copy_text(r, v->text, v->n);
	return !text || xch_slices_title(r->slices, process, strcmp(process, thread) != 0 ? thread : NULL, text) < 0
		? -1
		: 0;
}

/* "PROCESS:THREAD HOST NAME" or "group NUMBER NAME", as our own traces have it. The keys are no numbers of the operating system. */
static uint32_t track_of_place(struct ctf_read *r, const char *label)
{
	unsigned process, thread;
	char of[KEY], own[KEY] = "thread";
	int n = 0;

	snprintf(of, sizeof(of), "%.31s", label);
	if (sscanf(label, "%u:%u%n", &process, &thread, &n) == 2 && n) {
		snprintf(of, sizeof(of), "#%08x", process); /* sorted before groups */
		snprintf(own, sizeof(own), "thread %08x", thread);
		label += n + (label[n] == ' ');
	}
	return xch_slices_title(r->slices, of, own, label) < 0 ? 0 : xch_slices_track(r->slices, of, own);
}

/* All threads of our own traces: those without events keep the numbers of the others. */
static int make_places(struct ctf_read *r, const struct xch_ctf_type *place)
{
	size_t i;

	for (i = 0; i < place->labels; i++) {
		if (place->label[i].text[0] >= '0' && place->label[i].text[0] <= '9' &&
			!track_of_place(r, place->label[i].text)) {
			return -1;
		}
	}
	return 0;
}

static uint32_t track_of_stream(struct ctf_read *r, struct ctf_input *i)
{
	const struct xch_ctf_value *v = r->ours ? xch_ctf_value_of(&i->s, "place", XCH_CTF_PACKET) : NULL;
	const char *label = v && v->type->kind == XCH_CTF_ENUM ? xch_ctf_label_of(v) : NULL;
	char thread[KEY], title[KEY];

	if (label) {
		r->placed |= !r->placed && make_places(r, v->type) == 0;
		return r->placed ? track_of_place(r, label) : 0;
	}
	v = xch_ctf_value_of(&i->s, "cpu_id", XCH_CTF_PACKET);
	if (!v || v->type->kind != XCH_CTF_INTEGER) {
		return xch_slices_title(r->slices, "streams", i->name, i->name) < 0
			? 0
			: xch_slices_track(r->slices, "streams", i->name);
	}
	snprintf(thread, sizeof(thread), "CPU %06" PRIu64, v->u.bits); /* no thread of that number */
	snprintf(title, sizeof(title), "CPU %" PRIu64, v->u.bits);
	return xch_slices_title(r->slices, "CPUs", thread, title) < 0 ? 0 : xch_slices_track(r->slices, "CPUs", thread);
}

/* The thread on the CPU of the present packet, whichever file of that CPU said it; else that of the stream. */
static uint32_t scheduled_on(const struct ctf_read *r, const struct ctf_input *i)
{
	const struct xch_ctf_value *cpu = xch_ctf_value_of(&i->s, "cpu_id", XCH_CTF_PACKET);
	const uint32_t *track = cpu && cpu->type->kind == XCH_CTF_INTEGER
		? tkm_table_find(&r->scheduled, &cpu->u.bits, sizeof(cpu->u.bits))
		: NULL;

	return track && *track ? *track : i->track;
}

/* The thread of the present event; 0: *err. */
static uint32_t track_of(struct ctf_read *r, struct ctf_input *i)
{
	char process[KEY], thread[KEY];
	uint64_t pid, tid;

	if (!context_number(&i->s, "vtid", "tid", &tid)) {
		i->track = i->track ? i->track : track_of_stream(r, i);
		return i->track ? scheduled_on(r, i) : 0;
	}
	pid = context_number(&i->s, "vpid", "pid", &pid) ? pid : tid;
	if (!i->of_thread || i->pid != pid || i->tid != tid) {
		snprintf(process, sizeof(process), "%" PRIu64, pid);
		snprintf(thread, sizeof(thread), "%" PRIu64, tid);
		i->pid = pid;
		i->tid = tid;
		i->of_thread =
			title_thread(r, &i->s, process, thread) < 0 ? 0 : xch_slices_track(r->slices, process, thread);
	}
	return i->of_thread;
}

static const struct xch_ctf_value *field_of(const struct ctf_input *i, const char *name)
{
	return xch_ctf_value_of(&i->s, name, XCH_CTF_FIELDS);
}

/* Linux's sched_switch: what comes next on this CPU is of another thread. Thread 0 is the idle CPU. */
static int switch_thread(struct ctf_read *r, struct ctf_input *i)
{
	const struct xch_ctf_value *tid = field_of(i, "next_tid"), *comm = field_of(i, "next_comm"),
				   *cpu = xch_ctf_value_of(&i->s, "cpu_id", XCH_CTF_PACKET);
	uint32_t *track;
	const char *text;
	char thread[KEY];

	if (strcmp(i->s.event->name, "sched_switch") != 0 || !tid || tid->type->kind != XCH_CTF_INTEGER || !cpu ||
		cpu->type->kind != XCH_CTF_INTEGER) {
		return 0;
	}
	track = tkm_table_put(&r->scheduled, &cpu->u.bits, sizeof(cpu->u.bits), sizeof(*track));
	if (!track) {
		return no_memory(r);
	}
	if (tid->u.bits == 0) {
		*track = 0;
		return 0;
	}
	snprintf(thread, sizeof(thread), "%" PRIu64, tid->u.bits);
	text = copy_text(r, comm && comm->text ? comm->text : "", comm && comm->text ? comm->n : 0);
	*track = text && xch_slices_title(r->slices, "threads", thread, text) == 0
		? xch_slices_track(r->slices, "threads", thread)
		: 0;
	return *track ? 0 : -1;
}

/* ---- events of our own ---- */

static uint64_t number_in(const struct ctf_input *i, const char *name)
{
	const struct xch_ctf_value *v = field_of(i, name);

	return v && (v->type->kind == XCH_CTF_INTEGER || v->type->kind == XCH_CTF_ENUM) ? v->u.bits : 0;
}

/* The name that an enumeration has; "unknown" for none. */
static uint32_t label_name(struct ctf_read *r, const struct ctf_input *i, const char *field)
{
	const struct xch_ctf_value *v = field_of(i, field);
	const char *label = v && v->type->kind == XCH_CTF_ENUM ? xch_ctf_label_of(v) : NULL;

	label = label && *label ? label : "unknown";
	return name_of(r, label, strlen(label));
}

static int put_text(struct ctf_read *r, const struct ctf_input *i, uint32_t track)
{
	const struct xch_ctf_value *v = field_of(i, "text");
	const char *text = copy_text(r, v && v->text ? v->text : "", v && v->text ? v->n : 0);
	uint32_t name = text ? xch_slices_name(r->slices, "", text) : 0;

	return name ? xch_slices_comment(r->slices, track, name, i->s.time) : -1;
}

/* "counter_N_unit" in the environment. Returns the counter, or 0. */
static uint32_t counter_of(struct ctf_read *r, const struct xch_ctf_event_class *c, const struct xch_ctf_value *value)
{
	const char *unit = NULL, *text;
	char key[KEY + 16];
	uint32_t counter;
	size_t n;

	snprintf(key, sizeof(key), "counter_%" PRIu64 "_unit", c->id - CTF_COUNTER);
	n = xch_ctf_value(r->t.env, key, &unit);
	text = xch_ctf_keep(&r->t, n ? unit : "", n);
	counter = text ? xch_slices_counter(r->slices, "", c->name, text) : 0;
	if (counter) {
		xch_slices_type(r->slices, counter,
			value->type->kind == XCH_CTF_REAL ? STF_COUNTER_F8
				: value->type->is_signed  ? STF_COUNTER_I8
							  : STF_COUNTER_U8);
	}
	return counter;
}

static int put_value(struct ctf_read *r, const struct ctf_input *i, uint32_t track)
{
	const struct xch_ctf_value *v = field_of(i, "value");
	struct xch_ctf_event_class *c = i->s.event;
	uint64_t bits;

	if (!v || (v->type->kind != XCH_CTF_REAL && v->type->kind != XCH_CTF_INTEGER)) {
		xch_slices_lost(r->slices, "values that are no numbers", 1);
		return 0;
	}
	c->text = c->text ? c->text : counter_of(r, c, v);
	memcpy(&bits, &v->u, sizeof(bits));
	return c->text ? xch_slices_bits(r->slices, track, c->text, i->s.time, bits) : -1;
}

static int put_scope(struct ctf_read *r, const struct ctf_input *i, uint32_t track, int end)
{
	const uint64_t of[] = { track, number_in(i, "scope"), number_in(i, "number") };
	uint32_t name = label_name(r, i, "scope");

	return name ? xch_slices_async(
			      r->slices, track, xch_slices_key(6, (const char *)of, sizeof(of)), name, i->s.time, end)
		    : -1;
}

static int put_ours(struct ctf_read *r, const struct ctf_input *i, uint32_t track)
{
	const unsigned id = (unsigned)(i->s.event->role - OURS);
	uint32_t name;

	switch (id) {
	case CTF_ENTRY:
	case CTF_EXIT:
		name = label_name(r, i, "function");
		return !name ? -1
			: id == CTF_ENTRY
			? xch_slices_begin(r->slices, track, name, i->s.time)
			: xch_slices_end(r->slices, track, number_in(i, "function") ? name : 0, i->s.time);
	case CTF_SEND:
	case CTF_RECEIVE:
		return xch_slices_message(r->slices, track, number_in(i, "message"), i->s.time,
			(uint32_t)number_in(i, "size"), id == CTF_RECEIVE);
	case CTF_SCOPE_BEGIN:
	case CTF_SCOPE_END:
		return put_scope(r, i, track, id == CTF_SCOPE_END);
	case CTF_COMMENT:
	case CTF_REPORT:
		return put_text(r, i, track);
	case CTF_COUNTER:
		return put_value(r, i, track);
	default:
		xch_slices_lost(r->slices,
			id == CTF_COLL_BEGIN || id == CTF_COLL_END ? "begins and ends of collective operations"
								   : "begins and ends of operations on files",
			1);
		return 0;
	}
}

/* ---- all events ---- */

/* A function by its address. */
static uint32_t address_name(struct ctf_read *r, const struct ctf_input *i)
{
	char name[KEY];

	snprintf(name, sizeof(name), "0x%" PRIx64, number_in(i, "addr"));
	return xch_slices_name(r->slices, "address", name);
}

static int put_event(struct ctf_read *r, struct ctf_input *i)
{
	struct xch_ctf_event_class *c = i->s.event;
	uint32_t track = track_of(r, i), name;

	if (!track || (c->role == UNKNOWN && find_role(r, c) < 0)) {
		return -1;
	}
	if (c->role >= OURS) {
		return put_ours(r, i, track);
	}
	if (c->role == CALL || c->role == RETURN) {
		name = address_name(r, i);
		return !name              ? -1
			: c->role == CALL ? xch_slices_begin(r->slices, track, name, i->s.time)
					  : xch_slices_end(r->slices, track, field_of(i, "addr") ? name : 0, i->s.time);
	}
	xch_slices_lost(r->slices, "events with fields", c->scope[XCH_CTF_FIELDS] && c->scope[XCH_CTF_FIELDS]->members);
	if (c->role != MARK) {
		return c->role == BEGIN ? xch_slices_begin(r->slices, track, c->text, i->s.time)
					: xch_slices_end(r->slices, track, c->text, i->s.time);
	}
	return xch_slices_comment(r->slices, track, c->text, i->s.time) < 0 ? -1 : switch_thread(r, i);
}

static inline int input_is_before(const void *inputs, const size_t *x, const size_t *y)
{
	const struct ctf_input *a = (const struct ctf_input *)inputs + *x, *b = (const struct ctf_input *)inputs + *y;

	return a->s.time != b->s.time ? a->s.time < b->s.time : *x < *y;
}

TKM_HEAP(ctf_inputs, size_t, input_is_before);

static int read_events(struct ctf_read *r)
{
	size_t *heap = calloc(r->inputs + 1, sizeof(*heap)), n = 0, i;
	int rc = heap ? 0 : no_memory(r);

	for (i = 0; rc >= 0 && i < r->inputs; i++) {
		rc = xch_ctf_next(&r->input[i].s);
		if (rc > 0) {
			ctf_inputs_add(r->input, heap, n++, i);
		}
	}
	while (rc >= 0 && n) {
		rc = put_event(r, &r->input[heap[0]]);
		rc = rc < 0 ? rc : xch_ctf_next(&r->input[heap[0]].s);
		if (rc == 0) {
			heap[0] = heap[--n];
		}
		ctf_inputs_sift(r->input, heap, n, 0);
	}
	free(heap);
	for (i = 0; i < r->inputs; i++) {
		xch_slices_lost(r->slices, "events that the tracer discarded", r->input[i].s.discarded);
	}
	return rc < 0 ? -1 : 0;
}

/* ---- the folder ---- */

static int add_input(struct ctf_read *r, const char *name)
{
	struct ctf_input *i;
	struct stat st;
	char *path;
	int rc;

	if (asprintf(&path, "%s/%s", r->in->path, name) < 0) {
		return no_memory(r);
	}
	rc = stat(path, &st);
	free(path);
	if (rc < 0 || !S_ISREG(st.st_mode)) {
		return 0;
	}
	i = TKM_APPEND(r->input, r->inputs);
	if (!i) {
		return no_memory(r);
	}
	*i = (struct ctf_input){ .name = strdup(name), .s = { .t = &r->t, .size = (uint64_t)st.st_size } };
	i->s.name = i->name;
	return i->name ? 0 : no_memory(r);
}

static int is_stream(const struct dirent *d)
{
	return d->d_name[0] != '.' && strcmp(d->d_name, "metadata") != 0;
}

static int find_streams(struct ctf_read *r)
{
	struct dirent **d = NULL;
	int n = scandir(r->in->path, &d, is_stream, alphasort), i, rc = 0;

	if (n < 0) {
		return tkm_fail_errno(r->err, TKM_ERR_IO, errno, "cannot read %s", r->in->path);
	}
	for (i = 0; i < n; i++) {
		rc = rc == 0 ? add_input(r, d[i]->d_name) : rc;
		free(d[i]);
	}
	free(d);
	return rc;
}

static int read_description(struct ctf_read *r, char **text)
{
	const char *v;
	size_t n;

	*text = xch_ctf_load(r->in->path, "metadata", &n, r->err);
	if (!*text) {
		return -1;
	}
	if (**text != 0x1e && xch_ctf_unpack(r->in->path, *text, &n, r->err) < 0) {
		return -1;
	}
	if ((**text == 0x1e ? xch_ctf_trace_read2(&r->t, *text, n) : xch_ctf_trace_read(&r->t, *text, n)) < 0) {
		return -1;
	}
	n = r->t.env.p ? xch_ctf_value(r->t.env, "tracer_name", &v) : 0;
	r->ours = xch_ctf_word_is(n ? v : "", n, "\"tickmark\"");
	return note_names(r);
}

/* The clock: its largest precision, if each has one, is the bound. */
static struct xch_slices_clock clock_of(const struct ctf_read *r)
{
	struct xch_slices_clock c = {
		.of = "CTF", .by = "the bound is its precision", .host = "", .bound_s = r->t.clocks ? 0 : NAN
	};
	size_t i;

	for (i = 0; i < r->t.clocks; i++) {
		const struct xch_ctf_clock *k = &r->t.clock[i];

		c.bound_s = k->bound_s > 0 || (r->ours && k->bound_s == 0) ? fmax(c.bound_s, k->bound_s) : NAN;
		c.is_realtime |= !k->elsewhere && (double)k->offset_s + (double)k->offset / (double)k->hz > 1e9;
		if (isnan(c.bound_s)) {
			break;
		}
	}
	return c;
}

int xch_ctf_read(struct xch_input *in, struct tkm_err *err)
{
	struct ctf_read r = { .in = in, .err = err, .t = { .folder = in->path, .err = err } };
	struct xch_slices_clock clock;
	char *text = NULL;
	int rc = -1;
	size_t i;

	r.slices = xch_slices_new(in, err);
	if (r.slices && read_description(&r, &text) == 0 && find_streams(&r) == 0 && read_events(&r) == 0) {
		clock = clock_of(&r);
		rc = xch_slices_write(r.slices, &clock);
	}
	for (i = 0; i < r.inputs; i++) {
		xch_ctf_stream_free(&r.input[i].s);
		free(r.input[i].name);
	}
	free(r.input);
	xch_slices_free(r.slices);
	xch_ctf_trace_free(&r.t);
	tkm_table_free(&r.names);
	tkm_table_free(&r.scheduled);
	free(r.text);
	free(text);
	return rc;
}

/* A folder with metadata. */
int xch_ctf_is(const char *path, const unsigned char *head, size_t n)
{
	static const char mark[] = "/* CTF 1", magic[] = "\x57\x1D\xD1\x75", big_magic[] = "\x75\xD1\x1D\x57";
	char first[8] = "", *name;
	FILE *f = NULL;

	(void)head;
	if (n == 0 && asprintf(&name, "%s/metadata", path) >= 0) {
		f = fopen(name, "rbe");
		free(name);
	}
	n = f ? fread(first, 1, sizeof(first), f) : 0;
	if (f) {
		fclose(f);
	}
	return n == sizeof(first) &&
		(!memcmp(first, mark, 8) || !memcmp(first, magic, 4) || !memcmp(first, big_magic, 4) ||
			first[0] == 0x1e || first[0] == '{');
}

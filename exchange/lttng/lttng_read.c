/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads LTTng traces of 2008. A trace that stftool wrote gives back what was written. In other traces, the
 * numbers of any marker become counters, and its texts become comments. Stamps of the STF trace are ticks of the
 * trace's counter. If the files differ in start or frequency, their stamps are converted to those of the first
 * file. */
#include "config.h"
#include "exchange/lttng/lttng.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "exchange/common/build.h"
#include "exchange/common/private.h"
#include "exchange/lttng/lttng_markers.h"

/* Field names that have a meaning for this reader. */
/* clang-format off */
#define ROLES(X) \
	X(host) X(process) X(thread) X(value) X(function) X(class) X(name) X(pid) X(tid) X(offset) X(skew) X(group) X(members) \
	X(member) X(counter) X(unit) X(type) X(diff) X(lower) X(upper) X(where) X(communicator) X(operation) X(text) X(message) \
	X(other_process) X(other_thread) X(tag) X(size) X(instance) X(rank) X(root) X(sent) X(received) X(bytes) X(file) X(number) \
	X(scope) X(resolution) X(eventbits) X(start) X(end) X(slope) X(bound_ns) X(local_ticks) X(global_ns)
/* clang-format on */
enum role {
#define ROLE(name) R_##name,
	ROLES(ROLE)
#undef ROLE
		ROLE_COUNT
};
static const char *const role_names[] = {
#define ROLE(name) #name,
	ROLES(ROLE)
#undef ROLE
};

enum { MAX_FIELDS = 256, MAX_CPUS = 4096, MAX_MARKERS = 65536 };

struct marker {
	char *name;
	enum xch_lttng_marker_marker what;
	struct xch_lttng_field *fields;
	int n;                  /* number of fields; -1: no format yet */
	int16_t at[ROLE_COUNT]; /* for each role, the field that plays it; -1: none */
	uint32_t counter;       /* id from the name "counter:ID:NAME"; 0: none */
	uint32_t *counters;     /* the counter of each field of an unknown marker, made at first use */
};

/* A list whose members arrive one by one. It becomes one declaration when it is complete. */
struct members {
	uint32_t id, n;
	uint32_t *willies;
	char *name;
};

struct cpu {
	struct xch_lttng_in in;
	unsigned number;
	struct xch_lttng_event e;
	uint64_t time;
	int more;
};

struct reading {
	struct xch_input *in;
	struct tkm_err *err;
	struct xch_build *b;
	struct marker **marker; /* indexed by facility x 256 + event */
	uint32_t markers;       /* the largest id, plus 1 */
	struct cpu *cpu;
	size_t cpus;
	struct members list;
	unsigned char *collop; /* the type of each operation, 0xff: not declared */
	double slope_low, slope_high;
	struct xch_lttng_value v[MAX_FIELDS];
};

/* ---- markers ---- */

static void marker_free(struct marker *m)
{
	if (m) {
		xch_lttng_fields_free(m->fields, m->n > 0 ? m->n : 0);
		free(m->counters);
		free(m->name);
		free(m);
	}
}

static int see_marker(struct reading *r, const char *name, uint32_t id)
{
	struct marker *m = calloc(1, sizeof(*m));

	if (!m || !(m->name = strdup(name))) {
		free(m);
		return xch_fail_memory(r->err, r->in->path);
	}
	m->n = -1;
	for (m->what = 0; m->what < LTM_COUNTER && strcmp(xch_lttng_marker_markers[m->what].name, name) != 0;
		m->what++) {
		;
	}
	if (m->what == LTM_COUNTER) {
		m->what = LTM_UNKNOWN;
		if (!strncmp(name, LTM_COUNTER_PREFIX, strlen(LTM_COUNTER_PREFIX))) {
			m->counter = (uint32_t)strtoul(name + strlen(LTM_COUNTER_PREFIX), NULL, 10);
			m->what = m->counter ? LTM_COUNTER : LTM_UNKNOWN;
		}
	}
	marker_free(r->marker[id]);
	r->marker[id] = m;
	r->markers = id < r->markers ? r->markers : id + 1;
	return 0;
}

/* Gives the format to all markers of that name. */
static int see_format(struct reading *r, const char *name, const char *format)
{
	struct marker *m;
	uint32_t id;
	int i, k;

	for (id = 0; id < r->markers; id++) {
		m = r->marker[id];
		if (!m || m->n >= 0 || strcmp(m->name, name) != 0) {
			continue;
		}
		m->n = xch_lttng_format(format, &m->fields);
		if (m->n < 0 || m->n > MAX_FIELDS) {
			return -1;
		}
		for (k = 0; k < ROLE_COUNT; k++) {
			m->at[k] = -1;
			for (i = 0; i < m->n; i++) {
				if (!strcmp(m->fields[i].name, role_names[k])) {
					m->at[k] = (int16_t)i;
				}
			}
		}
	}
	return 0;
}

static const struct xch_lttng_field *core_fields(unsigned event, int *n)
{
	static char name[] = "name", id[] = "id", format[] = "format";
	static const struct xch_lttng_field of_id[] = { { name, LTT_TEXT, 0 }, { id, LTT_UNSIGNED, 2 } };
	static const struct xch_lttng_field of_format[] = { { name, LTT_TEXT, 0 }, { format, LTT_TEXT, 0 } };

	*n = event == LTT_TIME_HEARTBEAT ? 0 : 2;
	return event == LTT_MARKER_ID ? of_id : of_format;
}

static int read_core(struct reading *r, const struct xch_lttng_in *f, const struct xch_lttng_event *e)
{
	const struct xch_lttng_field *fields;
	struct xch_lttng_value v[2];
	int n;

	if (e->facility != 0 || e->event > LTT_TIME_HEARTBEAT) {
		return xch_lttng_in_fault(f, e->offset, "not an event of the facility core", r->err);
	}
	fields = core_fields(e->event, &n);
	if (xch_lttng_values(&f->h, fields, n, e->data, e->size, v) < 0) {
		return xch_lttng_in_fault(f, e->offset, "an event is shorter than its fields", r->err);
	}
	if (e->event == LTT_MARKER_ID) {
		return see_marker(r, v[0].text, (uint32_t)v[1].u & 0xffff);
	}
	if (e->event == LTT_MARKER_FORMAT && see_format(r, v[0].text, v[1].text) < 0) {
		return xch_lttng_in_fault(f, e->offset, "a marker's format is none", r->err);
	}
	return 0;
}

static int read_control_file(struct reading *r, const char *path)
{
	struct xch_lttng_event e;
	struct xch_lttng_in f;
	int rc = xch_lttng_in_open(&f, path, r->err), more;

	while (rc == 0 && (more = xch_lttng_in_next(&f, &e, r->err)) != 0) {
		rc = more < 0 ? -1 : read_core(r, &f, &e);
	}
	xch_lttng_in_close(&f);
	return rc;
}

static int read_control(struct reading *r)
{
	char dir[4096], **names = NULL;
	size_t n = 0, i;
	int rc;

	snprintf(dir, sizeof(dir), "%.4000s/control", r->in->path);
	rc = xch_lttng_list(dir, "facilities_", &names, &n, r->err);
	for (i = 0; i < n && rc == 0; i++) {
		rc = read_control_file(r, names[i]);
	}
	if (rc == 0 && n == 0) {
		rc = tkm_fail(r->err, TKM_ERR_FORMAT, "%s: no file facilities_0: this is no LTTng trace of 2008", dir);
	}
	tkm_free_texts(names, n);
	return rc;
}

/* ---- values of the current event ---- */

static uint64_t number(const struct reading *r, const struct marker *m, enum role k, uint64_t otherwise)
{
	return m->at[k] >= 0 && m->fields[m->at[k]].kind != LTT_TEXT ? r->v[m->at[k]].u : otherwise;
}

static double real(const struct reading *r, const struct marker *m, enum role k)
{
	double d = 0;

	if (m->at[k] >= 0 && m->fields[m->at[k]].kind == LTT_REAL) {
		memcpy(&d, &r->v[m->at[k]].u, sizeof(d));
	}
	return d;
}

static const char *text(const struct reading *r, const struct marker *m, enum role k)
{
	return m->at[k] >= 0 && m->fields[m->at[k]].kind == LTT_TEXT ? r->v[m->at[k]].text : "";
}

/* Finds the thread that recorded the event. Without fields for it, the CPU counts as the thread. */
static int willy_of(struct reading *r, const struct marker *m, enum role process, enum role thread, const struct cpu *c,
	uint32_t *willy)
{
	uint64_t p = number(r, m, process, 0), t = number(r, m, thread, c->number);

	if ((uint32_t)p == UINT32_MAX) {
		*willy = STF_GROUP(t);
		return 0;
	}
	if (p > UINT16_MAX || t > INT16_MAX) {
		return xch_lttng_in_fault(&c->in, c->e.offset, "process or thread is out of range", r->err);
	}
	*willy = STF_WILLY(p, t);
	return xch_build_thread(r->b, (uint32_t)p, (uint32_t)t);
}

/* ---- description of a trace that stftool wrote ---- */

static int see_process(struct reading *r, const struct marker *m, const struct cpu *c)
{
	const char *host = text(r, m, R_host), *name = text(r, m, R_name);
	uint64_t pid = number(r, m, R_pid, 0), tid = number(r, m, R_tid, 0);
	double offset = real(r, m, R_offset), skew = real(r, m, R_skew);
	uint32_t willy;

	if (willy_of(r, m, R_process, R_thread, c, &willy) < 0) {
		return -1;
	}
	if ((*host || pid || tid || offset != 0 || skew != 0) &&
		stf_writer_willy(r->in->w, willy, host, "", (uint32_t)pid, tid, offset, skew) < 0) {
		return xch_input_stf(r->in, r->err);
	}
	return *name && stf_writer_willy_name(r->in->w, willy, name) < 0 ? xch_input_stf(r->in, r->err) : 0;
}

/* Adds one member to a list. Returns 1: *list is complete. */
static int collect(struct reading *r, const struct marker *m, const struct cpu *c, uint32_t id)
{
	struct members *l = &r->list;
	uint64_t n = number(r, m, R_members, 0);
	uint32_t *p;

	if (n > 1 << 24) {
		return xch_lttng_in_fault(&c->in, c->e.offset, "more members than there can be", r->err);
	}
	if (l->n == 0) {
		free(l->name);
		l->name = strdup(text(r, m, R_name));
		l->id = id;
	}
	if (n) {
		p = TKM_APPEND(l->willies, l->n);
		if (!p) {
			return xch_fail_memory(r->err, r->in->path);
		}
		*p = (uint32_t)number(r, m, R_member, 0);
	}
	return l->name ? l->n >= n : xch_fail_memory(r->err, r->in->path);
}

static int see_group(struct reading *r, const struct marker *m, const struct cpu *c)
{
	int rc = collect(r, m, c, (uint32_t)number(r, m, R_group, 0));
	struct members *l = &r->list;
	struct stf_group_definition g = { .id = l->id, .name = l->name, .size_2_1 = l->n, .willies = l->willies };

	if (rc <= 0) {
		return rc;
	}
	g.size_1_1 = (uint32_t)strlen(l->name);
	l->n = 0;
	return stf_write_group_definition(r->in->w, &g) < 0 ? xch_input_stf(r->in, r->err) : 0;
}

static int see_communicator(struct reading *r, const struct marker *m, const struct cpu *c)
{
	int rc = collect(r, m, c, (uint32_t)number(r, m, R_communicator, 0));
	struct members *l = &r->list;

	if (rc <= 0) {
		return rc;
	}
	rc = xch_build_communicator(r->b, l->id, l->name, l->willies, l->n);
	l->n = 0;
	return rc;
}

static int see_counter(struct reading *r, const struct marker *m)
{
	const char *unit = text(r, m, R_unit);
	struct stf_counter_definition c = { .id = (uint32_t)number(r, m, R_counter, 0),
		.type = (uint8_t)number(r, m, R_type, 0),
		.do_diff = (uint8_t)number(r, m, R_diff, 0),
		.lower_bound = number(r, m, R_lower, 0),
		.upper_bound = number(r, m, R_upper, 0),
		.willy = (uint32_t)number(r, m, R_where, 0),
		.unit = unit,
		.size_1_1 = (uint32_t)strlen(unit) };

	c.name = stf_writer_string(r->in->w, text(r, m, R_name));
	c.classid = xch_build_class(r->b, text(r, m, R_class), 0);
	return stf_write_counter_definition(r->in->w, &c) < 0 ? xch_input_stf(r->in, r->err) : 0;
}

static int see_operation(struct reading *r, const struct marker *m, const struct cpu *c)
{
	const char *name = text(r, m, R_name);
	uint64_t id = number(r, m, R_operation, 0), type = number(r, m, R_type, 0);
	struct stf_collective_operation_definition d = {
		.id = (uint8_t)id, .name = name, .size_1_1 = (uint32_t)strlen(name), .type = (uint8_t)type
	};

	if (id > UINT8_MAX || type > 4) {
		return xch_lttng_in_fault(&c->in, c->e.offset, "a collective operation is out of range", r->err);
	}
	r->collop[id] = (unsigned char)type;
	return stf_write_collective_operation_definition(r->in->w, &d) < 0 ? xch_input_stf(r->in, r->err) : 0;
}

static int see_clock(struct reading *r, const struct marker *m)
{
	double slope = real(r, m, R_slope);

	r->slope_low = slope < r->slope_low ? slope : r->slope_low;
	r->slope_high = slope > r->slope_high ? slope : r->slope_high;
	return 0;
}

static int see_info(struct reading *r, const struct marker *m)
{
	return stf_writer_info(r->in->w, text(r, m, R_class), text(r, m, R_text)) < 0 ? xch_input_stf(r->in, r->err)
										      : 0;
}

/* ---- events ---- */

static int function_event(struct reading *r, const struct marker *m, const struct cpu *c, uint32_t willy)
{
	struct stf_enter_function enter = { .time = c->time, .willy = willy };
	struct stf_leave_function leave = { .time = c->time, .willy = willy };

	if (m->what == LTM_EXIT) {
		return xch_build_written(r->b, stf_write_leave_function(r->in->w, &leave));
	}
	enter.function = xch_build_function(r->b, text(r, m, R_class), text(r, m, R_function));
	return enter.function ? xch_build_written(r->b, stf_write_enter_function(r->in->w, &enter)) : -1;
}

static int message_event(struct reading *r, const struct marker *m, const struct cpu *c, uint32_t willy)
{
	const char *name = text(r, m, R_function);
	struct xch_half h = { .time = c->time,
		.id = number(r, m, R_message, 0),
		.communicator = (uint32_t)number(r, m, R_communicator, 0),
		.tag = (uint32_t)number(r, m, R_tag, 0),
		.size = (uint32_t)number(r, m, R_size, 0),
		.receive = m->what == LTM_RECEIVE };
	uint32_t other;

	if (willy_of(r, m, R_other_process, R_other_thread, c, &other) < 0) {
		return -1;
	}
	h.from = h.receive ? other : willy;
	h.to = h.receive ? willy : other;
	h.function = *name ? xch_build_function(r->b, text(r, m, R_class), name) : 0;
	return *name && !h.function ? -1 : xch_build_half(r->b, &h);
}

static int collective_event(struct reading *r, const struct marker *m, const struct cpu *c, uint32_t willy)
{
	struct xch_build_member k = { .time = c->time,
		.id = number(r, m, R_instance, 0),
		.sent = number(r, m, R_sent, 0),
		.received = number(r, m, R_received, 0),
		.willy = willy,
		.communicator = (uint32_t)number(r, m, R_communicator, 0),
		.rank = (uint32_t)number(r, m, R_rank, 0),
		.members = (uint32_t)number(r, m, R_members, 1),
		.root = (uint32_t)number(r, m, R_root, 0),
		.operation = (uint8_t)number(r, m, R_operation, 0),
		.end = m->what == LTM_COLL_END };

	k.what = r->collop[k.operation];
	if (k.what == 0xff) {
		return xch_lttng_in_fault(&c->in, c->e.offset, "a collective operation that was not described", r->err);
	}
	return xch_build_member(r->b, &k);
}

static int io_event(struct reading *r, const struct marker *m, const struct cpu *c, uint32_t willy)
{
	struct stf_file_io_begin begin = { c->time, willy, (uint8_t)number(r, m, R_operation, 0),
		xch_build_file(r->b, text(r, m, R_file)), (uint32_t)number(r, m, R_bytes, 0) };
	struct stf_file_io_end end = { begin.time, willy, begin.type, begin.file, begin.bytes };

	return !begin.file ? -1
			   : xch_build_written(r->b,
				     m->what == LTM_IO_BEGIN ? stf_write_file_io_begin(r->in->w, &begin)
							     : stf_write_file_io_end(r->in->w, &end));
}

static int scope_event(struct reading *r, const struct marker *m, const struct cpu *c, uint32_t willy)
{
	struct stf_enter_scope enter = { c->time, willy,
		xch_build_scope(r->b, text(r, m, R_class), text(r, m, R_scope)), (uint32_t)number(r, m, R_number, 0) };
	struct stf_leave_scope leave = { enter.time, willy, enter.scope, enter.seqnr };

	return !enter.scope ? -1
			    : xch_build_written(r->b,
				      m->what == LTM_SCOPE_BEGIN ? stf_write_enter_scope(r->in->w, &enter)
								 : stf_write_leave_scope(r->in->w, &leave));
}

/* Converts a marker of another program: its numbers become counters, its texts a comment. */
static int unknown_event(struct reading *r, struct marker *m, const struct cpu *c, uint32_t willy)
{
	static const unsigned char type[] = { STF_COUNTER_I8, STF_COUNTER_U8, STF_COUNTER_F8 };
	char line[4096];
	size_t n = (size_t)snprintf(line, sizeof(line), "%.1000s", m->name);
	int i, texts = 0, numbers = 0;

	if (!m->counters && !(m->counters = calloc((size_t)m->n + 1, sizeof(*m->counters)))) {
		return xch_fail_memory(r->err, r->in->path);
	}
	for (i = 0; i < m->n; i++) {
		const struct xch_lttng_field *f = &m->fields[i];

		if (i == m->at[R_host] || i == m->at[R_process] || i == m->at[R_thread]) {
			continue;
		}
		if (f->kind == LTT_TEXT) {
			n += n < sizeof(line)
				? (size_t)snprintf(line + n, sizeof(line) - n, " %s=%s", f->name, r->v[i].text)
				: 0;
			texts++;
			continue;
		}
		if (!m->counters[i]) {
			m->counters[i] = i == m->at[R_value]
				? xch_build_counter(r->b, "", m->name, "", type[f->kind])
				: xch_build_counter(r->b, m->name, f->name, "", type[f->kind]);
		}
		if (!m->counters[i] || xch_build_value(r->b, c->time, willy, m->counters[i], r->v[i].u) < 0) {
			return -1;
		}
		numbers++;
	}
	n = n < sizeof(line) ? n : sizeof(line) - 1;
	return texts || !numbers ? xch_build_comment(r->b, c->time, willy, line, n) : 0;
}

static int event_of(struct reading *r, struct marker *m, const struct cpu *c)
{
	const char *s;
	uint32_t willy;

	if (willy_of(r, m, R_process, R_thread, c, &willy) < 0) {
		return -1;
	}
	switch (m->what) {
	case LTM_ENTRY:
	case LTM_EXIT:
		return function_event(r, m, c, willy);
	case LTM_SEND:
	case LTM_RECEIVE:
		return message_event(r, m, c, willy);
	case LTM_COLL_BEGIN:
	case LTM_COLL_END:
		return collective_event(r, m, c, willy);
	case LTM_IO_BEGIN:
	case LTM_IO_END:
		return io_event(r, m, c, willy);
	case LTM_SCOPE_BEGIN:
	case LTM_SCOPE_END:
		return scope_event(r, m, c, willy);
	case LTM_COMMENT:
		s = text(r, m, R_text);
		return xch_build_comment(r->b, c->time, willy, s, strlen(s));
	case LTM_COUNTER:
		return xch_build_value(r->b, c->time, willy, m->counter, number(r, m, R_value, 0));
	default:
		return unknown_event(r, m, c, willy);
	}
}

static int one_event(struct reading *r, const struct cpu *c)
{
	const struct xch_lttng_event *e = &c->e;
	struct marker *m;

	if (e->facility == 0) {
		if (e->event != LTT_TIME_HEARTBEAT) {
			r->in->skipped++; /* already described in control/ */
		}
		return 0;
	}
	m = r->marker[e->facility * 256 + e->event];
	if (!m || m->n < 0) {
		return xch_lttng_in_fault(
			&c->in, e->offset, "an event of a marker that control/ does not describe", r->err);
	}
	if (xch_lttng_values(&c->in.h, m->fields, m->n, e->data, e->size, r->v) < 0) {
		return xch_lttng_in_fault(&c->in, e->offset, "an event is shorter than its marker's fields", r->err);
	}
	switch (m->what) {
	case LTM_TRACE:
		return 0;
	case LTM_PROCESS:
		return see_process(r, m, c);
	case LTM_GROUP:
		return see_group(r, m, c);
	case LTM_COUNTER_DEFINITION:
		return see_counter(r, m);
	case LTM_COMMUNICATOR:
		return see_communicator(r, m, c);
	case LTM_COLLECTIVE_OPERATION:
		return see_operation(r, m, c);
	case LTM_INFO:
		return see_info(r, m);
	case LTM_CLOCK:
		return see_clock(r, m);
	default:
		return event_of(r, m, c);
	}
}

/* ---- the files of the CPUs ---- */

static int same_clock(const struct xch_lttng_head *a, const struct xch_lttng_head *b)
{
	return a->freq_scale == b->freq_scale && a->start_freq == b->start_freq && a->start_tsc == b->start_tsc &&
		a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

/* Converts a stamp to ticks of the first file's counter. Returns 0, or -1: the time is before the counter's zero,
 * or beyond 64 bits. */
static int to_first(const struct xch_lttng_head *first, const struct xch_lttng_head *h, uint64_t tsc, uint64_t *time)
{
	long double s;

	if (same_clock(first, h)) {
		*time = tsc;
		return 0;
	}
	/* seconds after the first file's start, exact to about 10^-19 of them */
	s = (long double)h->seconds - (long double)first->seconds +
		((long double)h->nanoseconds - (long double)first->nanoseconds) * 1e-9L +
		(long double)(int64_t)(tsc - h->start_tsc) * h->freq_scale / (long double)h->start_freq;
	s = roundl(s * (long double)first->start_freq / first->freq_scale) + (long double)first->start_tsc;
	*time = s >= 0 && s < 18e18L ? (uint64_t)s : 0;
	return s >= 0 && s < 18e18L ? 0 : -1;
}

static int advance(struct reading *r, struct cpu *c)
{
	c->more = xch_lttng_in_next(&c->in, &c->e, r->err);
	if (c->more > 0 && to_first(&r->cpu[0].in.h, &c->in.h, c->e.tsc, &c->time) < 0) {
		return xch_lttng_in_fault(
			&c->in, c->e.offset, "a stamp cannot be brought to the clock of the first file", r->err);
	}
	return c->more < 0 ? -1 : 0;
}

/* Opens the files of the CPUs, and those of control/ that have events: initial state, and the starts and ends of processes. */
static int open_cpus(struct reading *r)
{
	char dir[4096], **names = NULL;
	struct cpu empty;
	size_t n = 0, i;
	int rc = xch_lttng_list(r->in->path, "cpu_", &names, &n, r->err);

	snprintf(dir, sizeof(dir), "%.4000s/control", r->in->path);
	rc = rc == 0 ? xch_lttng_list(dir, NULL, &names, &n, r->err) : rc;
	r->cpu = rc == 0 ? calloc(n + 1, sizeof(*r->cpu)) : NULL;
	for (i = 0; r->cpu && i < n && rc == 0; i++) {
		rc = n > MAX_CPUS ? tkm_fail(r->err, TKM_ERR_FORMAT, "%s: more than %d files", r->in->path, MAX_CPUS)
				  : xch_lttng_in_open(&r->cpu[i].in, names[i], r->err);
		r->cpu[i].number = (unsigned)strtoul(strrchr(names[i], '_') + 1, NULL, 10);
		r->cpus = i + 1;
	}
	tkm_free_texts(names, n);
	if (rc == 0 && !r->cpu) {
		return xch_fail_memory(r->err, r->in->path);
	}
	/* the first file that has events defines the clock */
	for (i = 0; i < r->cpus && !r->cpu[i].in.block; i++) {
		;
	}
	if (rc == 0 && i == r->cpus) {
		return tkm_fail(r->err, TKM_ERR_FORMAT, "%s: no file cpu_N with events", r->in->path);
	}
	if (rc == 0 && i > 0) {
		empty = r->cpu[0];
		r->cpu[0] = r->cpu[i];
		r->cpu[i] = empty;
	}
	for (i = 0; i < r->cpus && rc == 0; i++) {
		rc = advance(r, &r->cpu[i]);
	}
	return rc;
}

/* Finds the period of the stamps: the trace's own statement if stftool wrote it and the header agrees, else that
 * of the header. */
static int begin(struct reading *r)
{
	const struct xch_lttng_head *h = &r->cpu[0].in.h;
	const struct xch_lttng_event *e = &r->cpu[0].e;
	double period = (double)h->freq_scale / (double)h->start_freq, said = 0;
	uint32_t bits = 0;
	struct marker *m = r->cpu[0].more > 0 ? r->marker[e->facility * 256 + e->event] : NULL;

	if (m && m->what == LTM_TRACE && m->n > 0 &&
		xch_lttng_values(h, m->fields, m->n, e->data, e->size, r->v) == 0) {
		if (m->fields[0].kind == LTT_REAL) {
			memcpy(&said, &r->v[0].u, sizeof(said));
		}
		bits = (uint32_t)number(r, m, R_eventbits, 0);
	}
	if (said > 0 && fabs(said / period - 1) < 1e-6) {
		period = said;
	}
	if (bits > 63) {
		return xch_lttng_in_fault(&r->cpu[0].in, e->offset, "eventbits is larger than 63", r->err);
	}
	return xch_input_begin(r->in, period, bits, r->err);
}

static int read_events(struct reading *r)
{
	struct cpu *c;
	size_t i;

	for (;;) {
		c = NULL;
		for (i = 0; i < r->cpus; i++) {
			if (r->cpu[i].more > 0 && (!c || r->cpu[i].time < c->time)) {
				c = &r->cpu[i];
			}
		}
		if (!c) {
			return 0;
		}
		if (one_event(r, c) < 0 || advance(r, c) < 0) {
			return -1;
		}
	}
}

/* Compares the frequencies in the blocks with that of the header and, if the trace has measurements, with these. */
static int describe_clock(struct reading *r)
{
	const struct xch_lttng_head *h = &r->cpu[0].in.h;
	uint64_t low = UINT64_MAX, high = 0, blocks = 0;
	double worst, nominal = (double)h->start_freq / h->freq_scale;
	char line[600];
	size_t i;
	int n;

	for (i = 0; i < r->cpus; i++) {
		low = r->cpu[i].in.low_freq < low ? r->cpu[i].in.low_freq : low;
		high = r->cpu[i].in.high_freq > high ? r->cpu[i].in.high_freq : high;
		blocks += r->cpu[i].in.blocks;
	}
	worst = fmax(fabs((double)low / (double)h->start_freq - 1), fabs((double)high / (double)h->start_freq - 1));
	n = snprintf(line, sizeof(line),
		"LTTng: %" PRIu32 ".%09" PRIu32 " s since 1970 at stamp %" PRIu64 ", %.17g Hz; %" PRIu64
		" blocks state frequencies that are off it by at most %.3g ppm",
		h->seconds, h->nanoseconds, h->start_tsc, nominal, blocks, blocks ? worst * 1e6 : 0);
	if (r->slope_high > 0) {
		worst = fmax(fabs((double)high / (double)h->start_freq * r->slope_high - 1),
			fabs((double)low / (double)h->start_freq * r->slope_low - 1));
		snprintf(line + n, sizeof(line) - (size_t)n, ", and off the measured ones by at most %.3g ppm",
			worst * 1e6);
	} else {
		snprintf(line + n, sizeof(line) - (size_t)n, "; measured ones are unknown");
	}
	return stf_writer_info(r->in->w, "clock", line) < 0 ? xch_input_stf(r->in, r->err) : 0;
}

/* Tells what may be missing: a flight recorder overwrites its oldest blocks, and no block has a number. */
static int describe_losses(struct reading *r)
{
	uint64_t empty = 0, longest = 0;
	const struct cpu *at = &r->cpu[0];
	char line[600];
	int flight = 0;
	size_t i;

	for (i = 0; i < r->cpus; i++) {
		flight |= r->cpu[i].in.h.flight_recorder != 0;
		empty += r->cpu[i].in.empty_blocks;
		if (r->cpu[i].in.longest_gap > longest) {
			longest = r->cpu[i].in.longest_gap;
			at = &r->cpu[i];
		}
	}
	if (!flight && !empty) {
		return 0;
	}
	snprintf(line, sizeof(line),
		"LTTng: %s%" PRIu64
		" blocks have no event; the longest time between two blocks of a file is %.9g s (%.200s)",
		flight ? "recorded as a flight recorder, so the oldest events may have been overwritten; " : "", empty,
		(double)longest * at->in.h.freq_scale / (double)at->in.h.start_freq,
		strrchr(at->in.path, '/') ? strrchr(at->in.path, '/') + 1 : at->in.path);
	return stf_writer_info(r->in->w, "losses", line) < 0 ? xch_input_stf(r->in, r->err) : 0;
}

int xch_lttng_marker_read(struct xch_input *in, struct tkm_err *err)
{
	struct reading *r = calloc(1, sizeof(*r));
	size_t i;
	int rc;

	if (!r) {
		return xch_fail_memory(err, in->path);
	}
	r->in = in;
	r->err = err;
	r->slope_low = HUGE_VAL;
	r->marker = calloc(MAX_MARKERS, sizeof(struct marker *));
	r->collop = malloc(256);
	rc = r->marker && r->collop ? 0 : xch_fail_memory(err, in->path);
	if (rc == 0) {
		memset(r->collop, 0xff, 256);
		rc = read_control(r) < 0 || open_cpus(r) < 0 || begin(r) < 0 ? -1 : 0;
	}
	if (rc == 0) {
		r->b = xch_build_new(in, err);
		rc = r->b && read_events(r) == 0 && describe_clock(r) == 0 && describe_losses(r) == 0 &&
				xch_build_end(r->b) == 0
			? 0
			: -1;
	}
	for (i = 0; i < r->markers; i++) {
		marker_free(r->marker[i]);
	}
	for (i = 0; i < r->cpus; i++) {
		xch_lttng_in_close(&r->cpu[i].in);
	}
	xch_build_free(r->b);
	free(r->list.willies);
	free(r->list.name);
	free(r->marker);
	free(r->collop);
	free(r->cpu);
	free(r);
	return rc;
}

int xch_lttng_marker_is(const char *path, const unsigned char *head, size_t n)
{
	char name[4400];
	struct stat st;

	(void)head;
	(void)n;
	snprintf(name, sizeof(name), "%.4000s/control/facilities_0", path);
	return stat(name, &st) == 0 && S_ISREG(st.st_mode);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes LTTng traces of 2008. NAME.lttng/control/facilities_0 describes the markers, and NAME.lttng/cpu_0 has
 * the events. Stamps are those of the trace, in 64 bits. The header's frequency is that of the trace's time axis. */
#include "config.h"
#include "exchange/lttng/lttng.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "exchange/common/format.h"
#include "exchange/lttng/lttng_markers.h"

enum { BLOCK = 1 << 18, CONTROL_BLOCK = 1 << 17, FIRST_FACILITY = 1, MOST_MARKERS = 255 * 256 };

struct state {
	struct xch_lttng_head h;
	char control_name[300], cpu_name[300];
	FILE *control_file, *cpu_file;
	struct xch_lttng_out control, cpu;
	struct xch_lttng_data d;
	uint32_t markers;       /* number of markers defined so far */
	uint32_t first_counter; /* the marker of counter 0 */
	uint64_t now;           /* the stamp of the records that describe the trace */
	struct xch_trace *t;
};

/* ---- markers ---- */

/* Defines the next marker. */
static int define(struct state *s, const char *name, const char *format, struct tkm_err *err)
{
	uint32_t id = s->markers + FIRST_FACILITY * 256;

	if (s->markers == MOST_MARKERS) {
		return tkm_fail(
			err, TKM_ERR_ARG, "LTTng has room for %d markers; the trace has more counters", MOST_MARKERS);
	}
	s->markers++;
	s->d.n = 0;
	s->d.full = 0;
	xch_lttng_add_text(&s->d, name);
	xch_lttng_add(&s->d, id, 2);
	if (s->d.full || xch_lttng_out_event(&s->control, s->now, 0, LTT_MARKER_ID, s->d.b, s->d.n, err) < 0) {
		return s->d.full ? tkm_fail(err, TKM_ERR_ARG, "a name is too long for LTTng") : -1;
	}
	s->d.n = 0;
	xch_lttng_add_text(&s->d, name);
	xch_lttng_add_text(&s->d, format);
	return xch_lttng_out_event(&s->control, s->now, 0, LTT_MARKER_FORMAT, s->d.b, s->d.n, err);
}

static int define_all(struct state *s, struct tkm_err *err)
{
	char name[2200];
	size_t i;

	for (i = 0; i < LTM_COUNTER; i++) {
		if (define(s, xch_lttng_marker_markers[i].name, xch_lttng_marker_markers[i].format, err) < 0) {
			return -1;
		}
	}
	s->first_counter = s->markers;
	for (i = 0; i < s->t->n_counters; i++) {
		const struct xch_counter *c = &s->t->counter[i];

		snprintf(name, sizeof(name), LTM_COUNTER_PREFIX "%" PRIu32 ":%.2000s", c->id, c->name);
		if (define(s, name,
			    c->type == STF_COUNTER_F8           ? "value %f" LTM_PLACE
				    : c->type == STF_COUNTER_U8 ? "value %llu" LTM_PLACE
								: "value %lld" LTM_PLACE,
			    err) < 0) {
			return -1;
		}
	}
	return 0;
}

static struct xch_lttng_data *begin(struct state *s)
{
	s->d.n = 0;
	s->d.full = 0;
	return &s->d;
}

/* Completes an event of a marker with the values in s->d. Returns 1: it is too long and was left out. */
static int end(struct state *s, uint32_t marker, uint64_t time, struct tkm_err *err)
{
	if (s->d.full || s->d.n > BLOCK / 2) {
		return 1;
	}
	return xch_lttng_out_event(&s->cpu, time, FIRST_FACILITY + marker / 256, marker % 256, s->d.b, s->d.n, err);
}

/* The values of LTM_PLACE. */
#define PLACE(p) \
	(p)->host ? (p)->host : "", (p)->is_group ? UINT32_MAX : (p)->process, \
		(p)->is_group ? (p)->willy & 0x7fffffff : (p)->thread

/* Writes an event of one of our markers, with a value for each field of its format: %s a text, %u uint32_t, %llu uint64_t, %f double.
 * Returns 1: it is too long and was left out. */
static int put(struct state *s, struct tkm_err *err, uint64_t time, enum xch_lttng_marker_marker m, ...)
{
	struct xch_lttng_data *d = begin(s);
	const char *p = xch_lttng_marker_markers[m].format;
	va_list ap;

	va_start(ap, m);
	while ((p = strchr(p, '%'))) {
		switch (*++p) {
		case 's':
			xch_lttng_add_text(d, va_arg(ap, const char *));
			break;
		case 'f':
			xch_lttng_add_real(d, va_arg(ap, double));
			break;
		case 'l':
			xch_lttng_add(d, va_arg(ap, uint64_t), 8);
			break;
		default:
			xch_lttng_add(d, va_arg(ap, uint32_t), 4);
		}
	}
	va_end(ap);
	return end(s, m, time, err);
}

/* ---- description of the trace ---- */

static int describe_list(struct state *s, enum xch_lttng_marker_marker m, uint32_t id, const char *name,
	const uint32_t *willies, uint32_t n, struct tkm_err *err)
{
	uint32_t k;
	int rc = 0;

	for (k = 0; (k < n || k == 0) && rc >= 0; k++) {
		rc = put(s, err, s->now, m, id, name ? name : "", n, n ? willies[k] : 0);
	}
	return rc;
}

static int describe_places(struct state *s, struct tkm_err *err)
{
	const struct xch_trace *t = s->t;
	struct stf_group_definition g;
	const struct stf_record *rec;
	size_t i;
	int rc = 0;

	for (i = 0; i < t->n_places && rc >= 0; i++) {
		const struct xch_place *p = &t->place[i];

		if (!p->is_group) {
			rc = put(s, err, s->now, LTM_PROCESS, PLACE(p), p->name ? p->name : "", p->pid, p->tid,
				p->offset, p->skew);
		}
	}
	for (i = 0; rc >= 0 && (rec = stf_reader_record(t->r, STF_ID_group_definition, i)); i++) {
		stf_get_group_definition(rec, &g);
		rc = describe_list(s, LTM_GROUP, g.id, g.name, g.willies, g.size_2_1, err);
	}
	return rc;
}

static int describe_names(struct state *s, struct tkm_err *err)
{
	const struct xch_list *l = &s->t->names[XCH_OPERATIONS];
	struct stf_counter_definition c;
	const struct stf_record *rec;
	const char *name, *cls;
	size_t i;
	int rc = 0;

	for (i = 0; i < s->t->n_counters && rc >= 0; i++) {
		rec = stf_reader_find(s->t->r, STF_ID_counter_definition, s->t->counter[i].id);
		if (!rec || stf_get_counter_definition(rec, &c) < 0) {
			continue;
		}
		name = stf_reader_string(s->t->r, c.name);
		cls = c.classid ? stf_reader_name(s->t->r, STF_ID_class_definition, c.classid) : NULL;
		rc = put(s, err, s->now, LTM_COUNTER_DEFINITION, c.id, cls ? cls : "", name ? name : "",
			s->t->counter[i].unit, c.type, c.do_diff, c.lower_bound, c.upper_bound, c.willy);
	}
	for (i = 0; i < s->t->n_communicators && rc >= 0; i++) {
		const struct xch_communicator *k = &s->t->communicator[i];

		rc = describe_list(s, LTM_COMMUNICATOR, k->id, k->name, k->members, k->n, err);
	}
	for (i = 0; i < l->n && rc >= 0; i++) {
		rc = put(s, err, s->now, LTM_COLLECTIVE_OPERATION, l->v[i].id, l->v[i].name, l->v[i].type);
	}
	return rc;
}

static int describe_clock(struct xch_writer *w, struct state *s, struct tkm_err *err)
{
	const char *cls, *text;
	const struct xch_bound *b;
	uint32_t p;
	size_t i = 0, n;
	int rc = 0;

	while (rc >= 0 && xch_next_info(s->t, &i, &cls, &text)) {
		rc = put(s, err, s->now, LTM_INFO, cls, text);
		w->lost[XCH_INFOS] += rc > 0;
	}
	for (p = 0; p < s->t->n_processes; p++) {
		b = xch_bounds(s->t, p, &n);
		for (i = 0; i < n && rc >= 0; i++) {
			rc = put(s, err, s->now, LTM_CLOCK, p, b[i].from, (uint64_t)xch_ns(s->t, b[i].from), 1.0,
				b[i].seconds * 1e9);
		}
	}
	return rc;
}

static int describe(struct xch_writer *w, struct state *s, struct tkm_err *err)
{
	return put(s, err, s->now, LTM_TRACE, s->t->resolution, s->t->eventbits, s->t->start, s->t->end) < 0 ||
			describe_places(s, err) < 0 || describe_names(s, err) < 0 || describe_clock(w, s, err) < 0
		? -1
		: 0;
}

/* ---- the trace ---- */

/* freq / scale is 1 / resolution. It is exact if the period is a decimal number; else it is as near as a 32-bit
 * scale allows. */
static void set_frequency(struct xch_lttng_head *h, const struct xch_trace *t)
{
	long double hz = 1 / (long double)t->resolution, rest = hz, best = -1;
	uint64_t p0 = 1, q0 = 0, p1 = (uint64_t)floorl(rest), q1 = 1, a;
	int k;

	if (t->div && t->decimals >= 0) {
		/* ns = stamp x mul / div */
		a = t->div * 1000000000;
		h->start_freq = a / t->mul;
		h->freq_scale = 1;
		if (a % t->mul == 0) {
			return;
		}
		if (t->mul <= UINT32_MAX) {
			h->start_freq = a;
			h->freq_scale = (uint32_t)t->mul;
			return;
		}
	}
	for (k = 0; k < 40; k++) {
		if (q1 && q1 <= UINT32_MAX && p1 && fabsl((long double)p1 / (long double)q1 - hz) != best) {
			h->start_freq = p1;
			h->freq_scale = (uint32_t)q1;
		}
		rest -= floorl(rest);
		if (rest < 1e-15L) {
			break;
		}
		rest = 1 / rest;
		a = (uint64_t)floorl(rest);
		if (a > UINT32_MAX || a * q1 + q0 > UINT32_MAX || (p1 && a > UINT64_MAX / 2 / p1)) {
			break;
		}
		p0 ^= p1, p1 ^= p0, p0 ^= p1;
		q0 ^= q1, q1 ^= q0, q0 ^= q1;
		p1 += a * p0;
		q1 += a * q0;
	}
}

static int open_files(struct xch_writer *w, struct state *s, struct tkm_err *err)
{
	char path[4300];

	snprintf(path, sizeof(path), "%s/%s", w->dir, w->base);
	if (mkdir(path, 0777) < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot make %s", path);
	}
	snprintf(path, sizeof(path), "%s/%s/control", w->dir, w->base);
	if (mkdir(path, 0777) < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot make %s", path);
	}
	snprintf(s->control_name, sizeof(s->control_name), "%.250s/control/facilities_0", w->base);
	snprintf(s->cpu_name, sizeof(s->cpu_name), "%.250s/cpu_0", w->base);
	s->control_file = xch_create(w, s->control_name, err);
	s->cpu_file = s->control_file ? xch_create(w, s->cpu_name, err) : NULL;
	return s->cpu_file && xch_lttng_out_begin(&s->control, s->control_file, &s->h, CONTROL_BLOCK, err) == 0 &&
			xch_lttng_out_begin(&s->cpu, s->cpu_file, &s->h, BLOCK, err) == 0
		? 0
		: -1;
}

static int lttng_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct state *s = w->state;

	s->t = t;
	s->d.h = &s->h;
	s->now = t->start <= t->end ? t->start : 0;
	s->h = (struct xch_lttng_head){
		.float_word_order = 1234, .arch_size = 8, .major = 2, .minor = 0, .freq_scale = 1
	};
	set_frequency(&s->h, t);
	return open_files(w, s, err) < 0 || define_all(s, err) < 0 || describe(w, s, err) < 0 ? -1 : 0;
}

static int samples(struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	const struct xch_place *p = e->place;
	struct xch_lttng_data *d;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < e->u.sample.n && rc == 0; i++) {
		d = begin(s);
		xch_lttng_add(d, e->u.sample.values[i], 8);
		xch_lttng_add_text(d, p->host ? p->host : "");
		xch_lttng_add(d, p->is_group ? UINT32_MAX : p->process, 4);
		xch_lttng_add(d, p->is_group ? p->willy & 0x7fffffff : p->thread, 4);
		rc = end(s, s->first_counter + e->u.sample.counter[i]->index, e->time, err);
	}
	return rc;
}

static int put_event(struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	static const unsigned char marker[XCH_EVENT_KINDS] = { LTM_ENTRY, LTM_EXIT, 0, LTM_SEND, LTM_RECEIVE,
		LTM_COLL_BEGIN, LTM_COLL_END, LTM_IO_BEGIN, LTM_IO_END, LTM_SCOPE_BEGIN, LTM_SCOPE_END, LTM_COMMENT };
	const enum xch_lttng_marker_marker k = marker[e->kind];
	const struct xch_place *p = e->place;
	const struct xch_message *m = &e->u.message;
	const struct xch_coll *c = &e->u.coll;
	const char *name = e->what ? e->what->name : "", *cls = e->what ? e->what->cls : "";

	switch (e->kind) {
	case XCH_SAMPLE:
		return samples(s, e, err);
	case XCH_ENTER:
	case XCH_LEAVE:
		return put(s, err, e->time, k, name, cls, PLACE(p));
	case XCH_SEND:
	case XCH_RECEIVE:
		return put(s, err, e->time, k, m->id, m->other->process, m->other->thread, m->communicator, m->tag,
			m->size, m->function ? m->function->name : "", m->function ? m->function->cls : "", PLACE(p));
	case XCH_COLL_BEGIN:
	case XCH_COLL_END:
		return put(s, err, e->time, k, c->id, c->operation, c->communicator, c->rank, c->members,
			c->root ? c->root->willy : UINT32_MAX, c->sent, c->received, PLACE(p));
	case XCH_IO_BEGIN:
	case XCH_IO_END:
		return put(s, err, e->time, k, e->u.io.type, e->u.io.bytes, name, PLACE(p));
	case XCH_SCOPE_BEGIN:
	case XCH_SCOPE_END:
		return put(s, err, e->time, k, e->u.scope_number, name, cls, PLACE(p));
	default: /* a text that contains a zero byte cannot be stored */
		return strlen(e->u.text.text) < e->u.text.length ? 1
								 : put(s, err, e->time, k, e->u.text.text, PLACE(p));
	}
}

static int lttng_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	int rc = put_event(w->state, e, err);

	(void)t;
	if (rc > 0) {
		xch_lost(w, e->kind, 1);
	}
	return rc < 0 ? -1 : 0;
}

static int lttng_end(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct state *s = w->state;
	FILE *control = s->control_file, *cpu = s->cpu_file;

	(void)t;
	if (xch_lttng_out_end(&s->control, err) < 0 || xch_lttng_out_end(&s->cpu, err) < 0) {
		return -1;
	}
	s->control_file = NULL;
	if (xch_close(w, control, s->control_name, err) < 0) {
		return -1;
	}
	s->cpu_file = NULL;
	return xch_close(w, cpu, s->cpu_name, err);
}

static void lttng_release(struct xch_writer *w, struct xch_trace *t)
{
	struct state *s = w->state;
	struct tkm_err ignored;

	(void)t;
	s->control.f = s->cpu.f = NULL; /* writes nothing more */
	xch_lttng_out_end(&s->control, &ignored);
	xch_lttng_out_end(&s->cpu, &ignored);
	xch_close(w, s->control_file, s->control_name, &ignored);
	xch_close(w, s->cpu_file, s->cpu_name, &ignored);
}

const struct xch_format xch_lttng = {
	.name = "LTTNG",
	.suffix = ".lttng",
	.what = "LTTng of 2008, a directory",
	.directory = 1,
	.mark = "tickmark_trace",
	.mark_in = "/control/facilities_0",
	.holds = XCH_MOST | XCH_SCOPED | XCH_BIT(XCH_COMMENT) | XCH_BIT(XCH_GROUPS) | XCH_BIT(XCH_COMMUNICATORS) |
		XCH_BIT(XCH_PROCESSES) | XCH_BIT(XCH_INFOS),
	.state_size = sizeof(struct state),
	.open = lttng_open,
	.event = lttng_event,
	.end = lttng_end,
	.release = lttng_release,
	.read = xch_lttng_marker_read,
	.is = xch_lttng_marker_is,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes LTTng traces of 2008. NAME.lttng/control/facilities_0 describes the markers, and NAME.lttng/cpu_0 has
 * the events. Stamps are those of the trace, in 64 bits. The header's frequency is that of the trace's time axis. */
#include "config.h"
#include "exchange/lttng/lttng.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
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

static void add_place(struct xch_lttng_data *d, const struct xch_place *p)
{
	xch_lttng_add_text(d, p && p->host ? p->host : "");
	xch_lttng_add(d, p && !p->is_group ? p->process : UINT32_MAX, 4);
	xch_lttng_add(d, !p ? UINT32_MAX : p->is_group ? p->willy & 0x7fffffff : p->thread, 4);
}

/* ---- description of the trace ---- */

static int add_and_end(struct state *s, enum xch_lttng_marker_marker m, struct tkm_err *err)
{
	return end(s, m, s->now, err) < 0 ? -1 : 0;
}

static int describe_places(struct state *s, struct tkm_err *err)
{
	const struct xch_trace *t = s->t;
	struct stf_group_definition g;
	const struct stf_record *rec;
	struct xch_lttng_data *d;
	uint32_t k;
	size_t i;

	for (i = 0; i < t->n_places; i++) {
		const struct xch_place *p = &t->place[i];

		if (p->is_group) {
			continue;
		}
		d = begin(s);
		add_place(d, p);
		xch_lttng_add_text(d, p->name ? p->name : "");
		xch_lttng_add(d, p->pid, 4);
		xch_lttng_add(d, p->tid, 8);
		xch_lttng_add_real(d, p->offset);
		xch_lttng_add_real(d, p->skew);
		if (add_and_end(s, LTM_PROCESS, err) < 0) {
			return -1;
		}
	}
	for (i = 0; (rec = stf_reader_record(t->r, STF_ID_group_definition, i)); i++) {
		stf_get_group_definition(rec, &g);
		for (k = 0; k < g.size_2_1 || k == 0; k++) {
			d = begin(s);
			xch_lttng_add(d, g.id, 4);
			xch_lttng_add_text(d, g.name ? g.name : "");
			xch_lttng_add(d, g.size_2_1, 4);
			xch_lttng_add(d, g.size_2_1 ? g.willies[k] : 0, 4);
			if (add_and_end(s, LTM_GROUP, err) < 0) {
				return -1;
			}
		}
	}
	return 0;
}

static const char *text_of(const struct xch_trace *t, unsigned class_id, uint32_t id)
{
	const char *text = id ? stf_reader_name(t->r, class_id, id) : NULL;

	return text ? text : "";
}

static int describe_counters(struct state *s, struct tkm_err *err)
{
	struct stf_counter_definition c;
	const struct stf_record *rec;
	const char *name;
	struct xch_lttng_data *d;
	size_t i;

	for (i = 0; i < s->t->n_counters; i++) {
		rec = stf_reader_find(s->t->r, STF_ID_counter_definition, s->t->counter[i].id);
		if (!rec || stf_get_counter_definition(rec, &c) < 0) {
			continue;
		}
		name = stf_reader_string(s->t->r, c.name);
		d = begin(s);
		xch_lttng_add(d, c.id, 4);
		xch_lttng_add_text(d, text_of(s->t, STF_ID_class_definition, c.classid));
		xch_lttng_add_text(d, name ? name : "");
		xch_lttng_add_text(d, s->t->counter[i].unit);
		xch_lttng_add(d, c.type, 4);
		xch_lttng_add(d, c.do_diff, 4);
		xch_lttng_add(d, c.lower_bound, 8);
		xch_lttng_add(d, c.upper_bound, 8);
		xch_lttng_add(d, c.willy, 4);
		if (add_and_end(s, LTM_COUNTER_DEFINITION, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int describe_communicators(struct state *s, struct tkm_err *err)
{
	struct xch_lttng_data *d;
	uint32_t k;
	size_t i;

	for (i = 0; i < s->t->n_communicators; i++) {
		const struct xch_communicator *c = &s->t->communicator[i];

		for (k = 0; k < c->n || k == 0; k++) {
			d = begin(s);
			xch_lttng_add(d, c->id, 4);
			xch_lttng_add_text(d, c->name ? c->name : "");
			xch_lttng_add(d, c->n, 4);
			xch_lttng_add(d, c->n ? c->members[k] : 0, 4);
			if (add_and_end(s, LTM_COMMUNICATOR, err) < 0) {
				return -1;
			}
		}
	}
	for (i = 0; i < s->t->collops.n; i++) {
		d = begin(s);
		xch_lttng_add(d, s->t->collops.v[i].id, 4);
		xch_lttng_add_text(d, s->t->collops.v[i].name);
		xch_lttng_add(d, s->t->collops.v[i].type, 4);
		if (add_and_end(s, LTM_COLLECTIVE_OPERATION, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int describe_clock(struct xch_writer *w, struct state *s, struct tkm_err *err)
{
	const char *cls, *text;
	const struct xch_bound *b;
	struct xch_lttng_data *d;
	uint32_t p;
	size_t i, n;
	int rc;

	for (i = 0; stf_reader_info(s->t->r, i, &cls, &text) == 0; i++) {
		if (!cls || !strcmp(cls, "integrity") || !strcmp(cls, "late")) {
			continue;
		}
		d = begin(s);
		xch_lttng_add_text(d, cls);
		xch_lttng_add_text(d, text ? text : "");
		rc = end(s, LTM_INFO, s->now, err);
		if (rc < 0) {
			return -1;
		}
		if (rc) {
			xch_lost(w, XCH_INFOS, 1);
		}
	}
	for (p = 0; p < s->t->n_processes; p++) {
		b = xch_bounds(s->t, p, &n);
		for (i = 0; i < n; i++) {
			d = begin(s);
			xch_lttng_add(d, p, 4);
			xch_lttng_add(d, b[i].from, 8);
			xch_lttng_add(d, (uint64_t)xch_ns(s->t, b[i].from), 8);
			xch_lttng_add_real(d, 1);
			xch_lttng_add_real(d, b[i].seconds * 1e9);
			if (add_and_end(s, LTM_CLOCK, err) < 0) {
				return -1;
			}
		}
	}
	return 0;
}

static int describe(struct xch_writer *w, struct state *s, struct tkm_err *err)
{
	struct xch_lttng_data *d = begin(s);

	xch_lttng_add_real(d, s->t->resolution);
	xch_lttng_add(d, s->t->eventbits, 4);
	xch_lttng_add(d, s->t->start, 8);
	xch_lttng_add(d, s->t->end, 8);
	return add_and_end(s, LTM_TRACE, err) < 0 || describe_places(s, err) < 0 || describe_counters(s, err) < 0 ||
			describe_communicators(s, err) < 0 || describe_clock(w, s, err) < 0
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
	struct state *s = calloc(1, sizeof(*s));

	w->state = s;
	if (!s) {
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", w->target);
	}
	s->t = t;
	s->d.h = &s->h;
	s->now = t->start <= t->end ? t->start : 0;
	s->h = (struct xch_lttng_head){
		.float_word_order = 1234, .arch_size = 8, .major = 2, .minor = 0, .freq_scale = 1
	};
	set_frequency(&s->h, t);
	return open_files(w, s, err) < 0 || define_all(s, err) < 0 || describe(w, s, err) < 0 ? -1 : 0;
}

static void add_message(struct xch_lttng_data *d, const struct xch_trace *t, const struct xch_message *m)
{
	const struct xch_named *f = xch_function(t, m->function);

	xch_lttng_add(d, m->id, 8);
	xch_lttng_add(d, m->other ? m->other->process : UINT32_MAX, 4);
	xch_lttng_add(d, m->other ? m->other->thread : UINT32_MAX, 4);
	xch_lttng_add(d, m->communicator, 4);
	xch_lttng_add(d, m->tag, 4);
	xch_lttng_add(d, m->size, 4);
	xch_lttng_add_text(d, f ? f->name : "");
	xch_lttng_add_text(d, f ? f->cls : "");
}

static void add_coll(struct xch_lttng_data *d, const struct xch_coll *c)
{
	xch_lttng_add(d, c->id, 8);
	xch_lttng_add(d, c->operation, 4);
	xch_lttng_add(d, c->communicator, 4);
	xch_lttng_add(d, c->rank, 4);
	xch_lttng_add(d, c->members, 4);
	xch_lttng_add(d, c->root ? c->root->willy : UINT32_MAX, 4);
	xch_lttng_add(d, c->sent, 8);
	xch_lttng_add(d, c->received, 8);
}

static void add_name(struct xch_lttng_data *d, const struct xch_named *n)
{
	xch_lttng_add_text(d, n ? n->name : "");
	xch_lttng_add_text(d, n ? n->cls : "");
}

static int samples(struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	const struct xch_counter *c;
	struct xch_lttng_data *d;
	uint32_t i;
	int rc;

	for (i = 0; i < e->u.sample.n; i++) {
		c = xch_counter(s->t, e->u.sample.counters[i]);
		if (!c) {
			continue;
		}
		d = begin(s);
		xch_lttng_add(d, e->u.sample.values[i], 8);
		add_place(d, e->place);
		rc = end(s, s->first_counter + c->index, e->time, err);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

static int comment(struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	struct xch_lttng_data *d = begin(s);
	struct stf_comment c;

	if (stf_get_comment(e->record, &c) < 0 || memchr(c.text, 0, c.size_1_1)) {
		return 1; /* a text that contains a zero byte cannot be stored */
	}
	xch_lttng_add_text(d, c.text);
	add_place(d, e->place);
	return end(s, LTM_COMMENT, e->time, err);
}

static int lttng_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	static const unsigned char marker[XCH_EVENT_KINDS] = { [XCH_ENTER] = LTM_ENTRY,
		[XCH_LEAVE] = LTM_EXIT,
		[XCH_SEND] = LTM_SEND,
		[XCH_RECEIVE] = LTM_RECEIVE,
		[XCH_COLL_BEGIN] = LTM_COLL_BEGIN,
		[XCH_COLL_END] = LTM_COLL_END,
		[XCH_IO_BEGIN] = LTM_IO_BEGIN,
		[XCH_IO_END] = LTM_IO_END,
		[XCH_SCOPE_BEGIN] = LTM_SCOPE_BEGIN,
		[XCH_SCOPE_END] = LTM_SCOPE_END };
	struct state *s = w->state;
	struct xch_lttng_data *d = begin(s);
	const struct xch_named *n;
	int rc;

	switch (e->kind) {
	case XCH_SAMPLE:
		rc = samples(s, e, err);
		break;
	case XCH_COMMENT:
		rc = comment(s, e, err);
		break;
	default:
		if (e->kind == XCH_ENTER || e->kind == XCH_LEAVE) {
			add_name(d, xch_function(t, e->u.function));
		} else if (e->kind == XCH_SEND || e->kind == XCH_RECEIVE) {
			add_message(d, t, &e->u.message);
		} else if (e->kind == XCH_COLL_BEGIN || e->kind == XCH_COLL_END) {
			add_coll(d, &e->u.coll);
		} else if (e->kind == XCH_IO_BEGIN || e->kind == XCH_IO_END) {
			n = xch_file_of(t, e->u.io.file);
			xch_lttng_add(d, e->u.io.type, 4);
			xch_lttng_add(d, e->u.io.bytes, 4);
			xch_lttng_add_text(d, n ? n->name : "");
		} else {
			xch_lttng_add(d, e->u.scope.seqnr, 4);
			add_name(d, xch_scope(t, e->u.scope.scope));
		}
		add_place(d, e->place);
		rc = end(s, marker[e->kind], e->time, err);
	}
	if (rc > 0) {
		xch_lost(w, e->kind, 1);
	}
	return rc < 0 ? -1 : 0;
}

static int lttng_close(struct xch_writer *w, struct xch_trace *t, int failed, struct tkm_err *err)
{
	struct state *s = w->state;
	struct tkm_err ignored;
	int rc = failed ? -1 : 0;

	(void)t;
	if (!s) {
		return rc;
	}
	if (failed) {
		s->control.f = s->cpu.f = NULL;
		err = &ignored;
	}
	rc |= xch_lttng_out_end(&s->control, rc ? &ignored : err);
	rc |= xch_lttng_out_end(&s->cpu, rc ? &ignored : err);
	if (s->control_file) {
		rc |= xch_close(w, s->control_file, s->control_name, rc ? &ignored : err);
	}
	if (s->cpu_file) {
		rc |= xch_close(w, s->cpu_file, s->cpu_name, rc ? &ignored : err);
	}
	free(s);
	w->state = NULL;
	return failed || rc < 0 ? -1 : 0;
}

#define HOLDS(kind) (1u << (kind))
const struct xch_format xch_lttng = {
	.name = "LTTNG",
	.suffix = ".lttng",
	.what = "LTTng of 2008, a directory",
	.directory = 1,
	.holds = HOLDS(XCH_ENTER) | HOLDS(XCH_LEAVE) | HOLDS(XCH_SAMPLE) | HOLDS(XCH_SEND) | HOLDS(XCH_RECEIVE) |
		HOLDS(XCH_COLL_BEGIN) | HOLDS(XCH_COLL_END) | HOLDS(XCH_IO_BEGIN) | HOLDS(XCH_IO_END) |
		HOLDS(XCH_SCOPE_BEGIN) | HOLDS(XCH_SCOPE_END) | HOLDS(XCH_COMMENT) | HOLDS(XCH_GROUPS) |
		HOLDS(XCH_COMMUNICATORS) | HOLDS(XCH_UNITS) | HOLDS(XCH_PROCESSES) | HOLDS(XCH_INFOS) |
		HOLDS(XCH_BOUND),
	.open = lttng_open,
	.event = lttng_event,
	.close = lttng_close,
	.read = xch_lttng_marker_read,
	.is = xch_lttng_marker_is,

};

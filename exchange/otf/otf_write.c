/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes OTF 1.12 with the OTF library: definitions, events, snapshots and statistics as in "Introducing the Open
 * Trace Format", 2006; key-value pairs for everything else. Threads and groups with records are OTF processes,
 * numbered from 1. */
#include "config.h"
#include "exchange/common/lanes.h"
#include "exchange/otf/otf.h"

#ifdef HAVE_OTF1

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum {
	OPEN_FILES = 100,
	BUFFER = 1 << 16,
	SNAPSHOTS = 8, /* number of snapshots over the time of the trace */
};

struct frame {
	uint32_t function;
	uint64_t since, inside; /* stamp of the entry; ticks in called functions */
};
struct calls {
	uint64_t count, exclusive, inclusive;
};
struct stack {
	struct frame *frame;
	uint32_t n;
	size_t cap;
	struct calls *calls; /* for each function, after its first call */
	uint64_t collectives;
	struct xch_lanes lanes; /* operations on files that are open */
};
struct state {
	struct xch_writer *w;
	struct xch_trace *t;
	OTF_FileManager *files;
	struct xch_otf_out o;
	struct stack *stack;
	size_t next_bound;
	uint64_t last, next_snapshot, between;
};

static int failed(struct state *s, struct tkm_err *err)
{
	const char *why = xch_otf_complaint();

	return tkm_fail(err, TKM_ERR_IO, "cannot write %s: %s", s->w->target, *why ? why : "the OTF library fails");
}

/* Writes an event that only carries the key-value pairs in the list. */
static int no_op(struct state *s, uint64_t time, uint32_t process)
{
	int ok = OTF_Writer_writeNoOpKV(s->o.otf, time, process, s->o.list);

	OTF_KeyValueList_reset(s->o.list);
	return ok ? 0 : -1;
}

/* ---- bounds ---- */

/* Writes the bounds that begin at or before this stamp, each in the stream of its process. */
static int bounds_until(struct state *s, uint64_t time)
{
	for (; s->next_bound < s->t->n_bounds && s->t->bound[s->next_bound].from <= time; s->next_bound++) {
		const struct xch_bound *b = &s->t->bound[s->next_bound];
		const struct xch_place *p = xch_place(s->t, STF_WILLY(b->process, 0));

		if (p && !isnan(b->seconds)) {
			xch_otf_add_real(&s->o, XOT_BOUND, b->seconds);
			if (no_op(s, b->from > s->last ? b->from : s->last, xch_otf_process(p)) < 0) {
				return -1;
			}
		}
	}
	return 0;
}

/* ---- opening ---- */

/* Each process begins and ends, because readers expect an event file for each. */
static int processes(struct state *s, uint64_t time, int begin)
{
	uint32_t i;

	for (i = 1; i <= s->t->n_places; i++) {
		if (!(begin ? OTF_Writer_writeBeginProcess(s->o.otf, time, i)
			    : OTF_Writer_writeEndProcess(s->o.otf, time, i))) {
			return -1;
		}
	}
	return 0;
}

static int otf_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct state *s = w->state;
	char *prefix = NULL;

	s->w = w;
	s->t = t;
	s->stack = calloc(t->n_places + 1, sizeof(*s->stack));
	xch_otf_complaint_clear();
	s->files = OTF_FileManager_open(OPEN_FILES);
	s->o.list = OTF_KeyValueList_new();
	if (asprintf(&prefix, "%s/%s", w->dir, w->stem) < 0) {
		prefix = NULL;
	}
	if (s->files && prefix) {
		s->o.otf = OTF_Writer_open(
			prefix, t->n_places < XOT_STREAMS ? (uint32_t)t->n_places : XOT_STREAMS, s->files);
	}
	free(prefix);
	if (!s->stack || !s->o.list || !s->o.otf) {
		return failed(s, err);
	}
	OTF_Writer_setBufferSizes(s->o.otf, BUFFER);
	s->o.t = t;
	s->last = t->start <= t->end ? t->start : 0;
	s->between = t->end > s->last ? (t->end - s->last) / SNAPSHOTS + 1 : UINT64_MAX;
	s->next_snapshot = s->between < UINT64_MAX - s->last ? s->last + s->between : UINT64_MAX;
	return xch_otf_define(&s->o) < 0 || processes(s, s->last, 1) < 0 ? failed(s, err) : 0;
}

/* ---- snapshots and statistics ---- */

static int snapshot(struct state *s, uint64_t time)
{
	const struct stack *k;
	size_t i;
	uint32_t f;

	for (i = 0; i < s->t->n_places; i++) {
		k = &s->stack[i];
		for (f = 0; f < k->n; f++) {
			if (!OTF_Writer_writeEnterSnapshotKV(s->o.otf, time, k->frame[f].since, k->frame[f].function,
				    (uint32_t)i + 1, 0, NULL)) {
				return -1;
			}
		}
	}
	return 0;
}

static int summary(struct state *s, uint64_t time)
{
	const struct calls *c;
	size_t i, f;

	for (i = 0; i < s->t->n_places; i++) {
		c = s->stack[i].calls;
		for (f = 0; c && f < s->t->names[XCH_FUNCTIONS].n; f++) {
			if (c[f].count &&
				!OTF_Writer_writeFunctionSummary(s->o.otf, time, (uint32_t)f + 1, (uint32_t)i + 1,
					c[f].count, c[f].exclusive, c[f].inclusive)) {
				return -1;
			}
		}
	}
	return 0;
}

static int follow(struct state *s, const struct xch_event *e, uint64_t time, uint32_t function)
{
	struct stack *k = &s->stack[e->place->index];
	struct frame f;

	if (e->kind == XCH_ENTER) {
		if (TKM_GROW(k->frame, k->cap, k->n + 1) < 0) {
			return -1;
		}
		k->frame[k->n++] = (struct frame){ function, time, 0 };
		return 0;
	}
	if (!k->n) {
		return 0;
	}
	f = k->frame[--k->n];
	if (!k->calls && !(k->calls = calloc(s->t->names[XCH_FUNCTIONS].n + 1, sizeof(*k->calls)))) {
		return -1;
	}
	if (f.function) {
		k->calls[f.function - 1].count++;
		k->calls[f.function - 1].inclusive += time - f.since;
		k->calls[f.function - 1].exclusive += time - f.since - f.inside;
	}
	if (k->n) {
		k->frame[k->n - 1].inside += time - f.since;
	}
	return 0;
}

/* ---- events ---- */

static int function(struct state *s, const struct xch_event *e, uint64_t time)
{
	uint32_t id = e->what ? e->what->index + 1 : 0;

	if (follow(s, e, time, id) < 0) {
		return 0;
	}
	return e->kind == XCH_ENTER
		? OTF_Writer_writeEnterKV(s->o.otf, time, id, xch_otf_process(e->place), 0, s->o.list)
		: OTF_Writer_writeLeaveKV(s->o.otf, time, id, xch_otf_process(e->place), 0, s->o.list);
}

static int samples(struct state *s, const struct xch_event *e, uint64_t time)
{
	uint32_t i;

	for (i = 0; i < e->u.sample.n; i++) {
		if (!OTF_Writer_writeCounterKV(s->o.otf, time, xch_otf_process(e->place),
			    e->u.sample.counter[i]->index + 1, e->u.sample.values[i], NULL)) {
			return 0;
		}
	}
	return 1;
}

static uint32_t communicator(const struct state *s, uint32_t id)
{
	const struct xch_communicator *c = id ? xch_communicator(s->t, id) : NULL;

	return c ? XOT_COMMUNICATORS + c->index : 0;
}

static int message(struct state *s, const struct xch_event *e, uint64_t time)
{
	const struct xch_message *m = &e->u.message;
	int ok;

	xch_otf_add_u64(&s->o, XOT_MESSAGE, m->id);
	if (m->function) {
		xch_otf_add_u32(&s->o, XOT_FUNCTION, m->function->index + 1);
	}
	ok = e->kind == XCH_SEND
		? OTF_Writer_writeSendMsgKV(s->o.otf, time, xch_otf_process(e->place), xch_otf_process(m->other),
			  communicator(s, m->communicator), m->tag, m->size, 0, s->o.list)
		: OTF_Writer_writeRecvMsgKV(s->o.otf, time, xch_otf_process(e->place), xch_otf_process(m->other),
			  communicator(s, m->communicator), m->tag, m->size, 0, s->o.list);
	return ok;
}

static int collective(struct state *s, const struct xch_event *e, uint64_t time)
{
	const struct xch_coll *c = &e->u.coll;
	int ok;

	if (e->kind == XCH_COLL_END) {
		return OTF_Writer_writeEndCollectiveOperationKV(
			s->o.otf, time, xch_otf_process(e->place), c->id, s->o.list);
	}
	xch_otf_add_u32(&s->o, XOT_RANK, c->rank);
	xch_otf_add_u32(&s->o, XOT_MEMBERS, c->members);
	ok = OTF_Writer_writeBeginCollectiveOperationKV(s->o.otf, time, xch_otf_process(e->place),
		e->what ? e->what->index + 1 : 0, c->id, communicator(s, c->communicator), xch_otf_process(c->root),
		c->sent, c->received, 0, s->o.list);
	return ok;
}

static int io(struct state *s, const struct xch_event *e, uint64_t time)
{
	struct xch_lanes *lanes = &s->stack[e->place->index].lanes;
	uint32_t file = e->what ? e->what->index + 1 : 0;
	int ok;

	if (e->kind == XCH_IO_END) {
		if (!xch_lane_end(lanes, e)) {
			lanes->ended = 0; /* the number of no begin */
		}
		xch_otf_add_u32(&s->o, XOT_IO_TYPE, e->u.io.type);
		return OTF_Writer_writeEndFileOperationKV(s->o.otf, time, xch_otf_process(e->place), file, lanes->ended,
			file, e->u.io.type ? OTF_FILEOP_READ : OTF_FILEOP_WRITE, e->u.io.bytes, 0, s->o.list);
	}
	if (!xch_lane_begin(lanes, e)) {
		return 0;
	}
	xch_otf_add_u32(&s->o, XOT_IO_TYPE, e->u.io.type);
	xch_otf_add_u32(&s->o, XOT_IO_FILE, file);
	xch_otf_add_u32(&s->o, XOT_IO_BYTES, e->u.io.bytes);
	ok = OTF_Writer_writeBeginFileOperationKV(
		s->o.otf, time, xch_otf_process(e->place), lanes->begun, 0, s->o.list);
	return ok;
}

/* Writes events that only key-value pairs can hold. */
static int write_key_values(struct state *s, const struct xch_event *e, uint64_t time)
{
	struct stf_opaque_data o;

	if (e->kind == XCH_SCOPE_BEGIN || e->kind == XCH_SCOPE_END) {
		xch_otf_add_u32(&s->o, e->kind == XCH_SCOPE_BEGIN ? XOT_SCOPE_BEGIN : XOT_SCOPE_END, e->u.scope_number);
		xch_otf_add_text(&s->o, XOT_SCOPE, e->what ? e->what->name : "");
		xch_otf_add_text(&s->o, XOT_CLASS, e->what ? e->what->cls : "");
	} else if (e->kind == XCH_COMMENT) {
		OTF_KeyValueList_appendByteArray(
			s->o.list, XOT_COMMENT, (uint8_t *)(uintptr_t)e->u.text.text, (uint32_t)e->u.text.length);
	} else {
		stf_get_opaque_data(e->record, &o);
		OTF_KeyValueList_appendByteArray(s->o.list, XOT_OPAQUE, (uint8_t *)(uintptr_t)o.data, o.size_1_1);
	}
	return no_op(s, time, xch_otf_process(e->place)) == 0;
}

static int otf_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	struct state *s = w->state;
	uint64_t time = e->time < s->last ? s->last : e->time;
	int ok = 1;

	(void)t;
	while (ok && time >= s->next_snapshot) {
		ok = bounds_until(s, s->next_snapshot) == 0 && snapshot(s, s->next_snapshot) == 0;
		s->next_snapshot += s->between;
	}
	ok = ok && bounds_until(s, time) == 0;
	s->last = time;
	if (e->where) {
		xch_otf_add_text(&s->o, XOT_LOCATION, e->where->name);
	}
	if (xch_is_at_least(e)) {
		xch_otf_add_u32(&s->o, XOT_AT_LEAST, STF_BYTES_AT_LEAST);
	}
	switch (ok ? e->kind : XCH_EVENT_KINDS) {
	case XCH_ENTER:
	case XCH_LEAVE:
		ok = function(s, e, time);
		break;
	case XCH_SAMPLE:
		ok = samples(s, e, time);
		break;
	case XCH_SEND:
	case XCH_RECEIVE:
		ok = message(s, e, time);
		break;
	case XCH_COLL_BEGIN:
	case XCH_COLL_END:
		ok = collective(s, e, time);
		break;
	case XCH_IO_BEGIN:
	case XCH_IO_END:
		ok = io(s, e, time);
		break;
	case XCH_EVENT_KINDS:
		break;
	default:
		ok = write_key_values(s, e, time);
	}
	OTF_KeyValueList_reset(s->o.list);
	return ok ? 0 : failed(s, err);
}

static int otf_end(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct state *s = w->state;
	const uint64_t end = s->last > t->end ? s->last : t->end;
	int ok = bounds_until(s, t->end) == 0 && processes(s, end, 0) == 0 && summary(s, end) == 0;

	ok = OTF_Writer_close(s->o.otf) && !*xch_otf_complaint() && ok;
	s->o.otf = NULL;
	return ok ? 0 : failed(s, err);
}

static void otf_release(struct xch_writer *w, struct xch_trace *t)
{
	struct state *s = w->state;
	size_t i;

	if (s->o.otf) {
		OTF_Writer_close(s->o.otf);
	}
	if (s->files) {
		OTF_FileManager_close(s->files);
	}
	if (s->o.list) {
		OTF_KeyValueList_close(s->o.list);
	}
	for (i = 0; s->stack && i < t->n_places; i++) {
		free(s->stack[i].frame);
		free(s->stack[i].calls);
		xch_lanes_free(&s->stack[i].lanes);
	}
	free(s->stack);
}
#endif

const struct xch_format xch_otf = {
	.name = "OTF",
	.suffix = ".otf",
	.what = "Open Trace Format 1.12",
	.mark = "tickmark::",
	.mark_in = ".0.def",
	.holds = XCH_MOST | XCH_BIT(XCH_LOCATIONS) | XCH_SCOPED | XCH_BIT(XCH_COMMENT) | XCH_BIT(XCH_OPAQUE) |
		XCH_BIT(XCH_GROUPS) | XCH_BIT(XCH_COMMUNICATORS) | XCH_BIT(XCH_PROCESSES) | XCH_BIT(XCH_INFOS),
	.is = xch_otf_is,
#ifdef HAVE_OTF1
	.state_size = sizeof(struct state),
	.open = otf_open,
	.event = otf_event,
	.end = otf_end,
	.release = otf_release,
	.read = xch_otf_read,
#else
	.missing = "not built: it needs OTF 1.12 (libopen-trace-format-dev)",
#endif
};

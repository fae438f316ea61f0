/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes OTF2 with the OTF2 library: events in this file, definitions in otf2_defs.c. A location is a thread, or
 * a group of threads that has counters. */
#include "config.h"
#include "exchange/otf2/otf2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { DEF_CHUNK = 256 * 1024 };

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
	(void)user;
	(void)type;
	(void)location;
	(void)caller;
	(void) final;
	return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flushing = { flush, NULL };

/* ---- open ---- */

static void find_hz(struct xch_otf2_state *s, const struct xch_trace *t)
{
	double hz = nearbyint(1 / t->resolution);
	int k;

	s->hz = 1;
	s->mul = t->step;
	for (k = 0; k < t->decimals; k++) {
		s->hz *= 10;
	}
	if (t->decimals >= 0) {
		return;
	}
	if (hz < 1e18 && fabs(hz * t->resolution - 1) < 1e-12) {
		s->hz = (uint64_t)hz;
		s->mul = 1;
	} else {
		s->hz = 1000000000;
		s->mul = 0;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct xch_key *x = a, *y = b;

	return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->index > y->index) - (x->index < y->index);
}

static int make_ranks(struct xch_otf2_state *s, const struct xch_trace *t)
{
	const struct xch_place *p;
	struct xch_otf2_rank *r;
	size_t i;
	uint32_t k;

	s->rank = calloc(t->n_communicators + 1, sizeof(*s->rank));
	for (i = 0; s->rank && i < t->n_communicators; i++) {
		r = &s->rank[i];
		r->key = malloc(((size_t)t->communicator[i].n + 1) * sizeof(*r->key));
		for (k = 0; r->key && k < t->communicator[i].n; k++) {
			p = xch_place(t, t->communicator[i].members[k]);
			if (p && !p->is_group) {
				r->key[r->n++] = (struct xch_key){ p->index, k };
			}
		}
		if (!r->key) {
			return -1;
		}
		qsort(r->key, r->n, sizeof(*r->key), by_place);
	}
	return s->rank ? 0 : -1;
}

static int allocate(struct xch_otf2_state *s, const struct xch_trace *t)
{
	size_t n = t->n_places + 1;

	s->evt = calloc(n, sizeof(*s->evt));
	s->last = calloc(n, sizeof(*s->last));
	s->seen = malloc(n * sizeof(*s->seen));
	s->lanes = calloc(n, sizeof(*s->lanes));
	if (!s->evt || !s->last || !s->seen || !s->lanes || make_ranks(s, t) < 0) {
		return -1;
	}
	memset(s->seen, 0xff, n * sizeof(*s->seen));
	s->min = UINT64_MAX;
	return 0;
}

static int xch_otf2_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct xch_otf2_state *s = w->state;
	OTF2_ErrorCode code;
	char *path = NULL;

	xch_otf2_errors_begin(&s->errors);
	find_hz(s, t);
	while (s->n_threads < t->n_places && !t->place[s->n_threads].is_group) {
		s->n_threads++;
	}
	if (allocate(s, t) < 0) {
		return xch_fail_memory(err, w->target);
	}
	s->chunks = xch_otf2_chunks_open(w, t->n_places, err);
	if (!s->chunks) {
		return -1;
	}
	/* the library makes the folder, and everything in it as Score-P does */
	s->archive = asprintf(&path, "%s/%s", w->dir, w->base) < 0
		? NULL
		: OTF2_Archive_Open(path, "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK, DEF_CHUNK, OTF2_SUBSTRATE_POSIX,
			  OTF2_COMPRESSION_NONE);
	free(path);
	if (!s->archive) {
		return xch_otf2_fail(err, &s->errors, w->target, "cannot create the archive", OTF2_SUCCESS);
	}
	if ((code = OTF2_Archive_SetFlushCallbacks(s->archive, &flushing, NULL)) != OTF2_SUCCESS ||
		(code = OTF2_Archive_SetMemoryCallbacks(s->archive, &xch_otf2_memory, s->chunks)) != OTF2_SUCCESS ||
		(code = OTF2_Archive_SetSerialCollectiveCallbacks(s->archive)) != OTF2_SUCCESS ||
		(code = OTF2_Archive_OpenEvtFiles(s->archive)) != OTF2_SUCCESS) {
		return xch_otf2_fail(err, &s->errors, w->target, "cannot begin the archive", code);
	}
	return 0;
}

/* ---- samples ---- */

/* Finds or makes the class of these counters. XCH_NONE: out of memory. */
static uint32_t class_of(struct xch_otf2_state *s, const struct xch_counter *const *counter, uint32_t n)
{
	uint32_t *known = tkm_table_find(&s->class_of, counter, n * sizeof(*counter)), k;
	struct xch_otf2_class *c;

	if (known) {
		return *known;
	}
	c = TKM_APPEND(s->cls, s->n_classes);
	if (!c) {
		return XCH_NONE;
	}
	*c = (struct xch_otf2_class){ .n = n, .ref = s->next_metric };
	c->counter = malloc(n * sizeof(*c->counter));
	c->type = malloc(n);
	known = c->counter && c->type ? tkm_table_put(&s->class_of, counter, n * sizeof(*counter), sizeof(*known))
				      : NULL;
	if (!known) {
		free(c->counter);
		free(c->type);
		s->n_classes--;
		return XCH_NONE;
	}
	memcpy(c->counter, counter, n * sizeof(*counter));
	for (k = 0; k < n; k++) {
		c->type[k] = xch_otf2_type(counter[k]);
	}
	*known = s->n_classes - 1;
	s->next_metric++;
	return *known;
}

/* Finds or makes the instance of a class on a group. OTF2_UNDEFINED_METRIC: out of memory. */
static OTF2_MetricRef instance_of(struct xch_otf2_state *s, OTF2_MetricRef cls, uint32_t place)
{
	struct xch_otf2_instance *p;
	uint32_t i;

	for (i = 0; i < s->n_instances; i++) {
		if (s->instance[i].of == cls && s->instance[i].place == place) {
			return s->instance[i].ref;
		}
	}
	p = TKM_APPEND(s->instance, s->n_instances);
	if (!p) {
		return OTF2_UNDEFINED_METRIC;
	}
	*p = (struct xch_otf2_instance){ s->next_metric++, cls, place };
	return s->next_metric - 1;
}

static OTF2_ErrorCode sample(struct xch_writer *w, const struct xch_event *e, uint64_t time)
{
	struct xch_otf2_state *s = w->state;
	uint32_t n = e->u.sample.n, c = s->seen[e->place->index];
	OTF2_MetricRef ref;

	if (c == XCH_NONE || s->cls[c].n != n ||
		memcmp(s->cls[c].counter, e->u.sample.counter, n * sizeof(*e->u.sample.counter)) != 0) {
		c = class_of(s, e->u.sample.counter, n);
		if (c == XCH_NONE) {
			return OTF2_ERROR_MEM_ALLOC_FAILED;
		}
		s->seen[e->place->index] = c;
	}
	ref = s->cls[c].ref;
	if (e->place->is_group) {
		ref = instance_of(s, ref, e->place->index);
		if (ref == OTF2_UNDEFINED_METRIC) {
			return OTF2_ERROR_MEM_ALLOC_FAILED;
		}
	}
	/* OTF2_MetricValue is a union of the three types */
	return OTF2_EvtWriter_Metric(s->evt[e->place->index], NULL, time, ref, (uint8_t)n, s->cls[c].type,
		(const OTF2_MetricValue *)(const void *)e->u.sample.values);
}

/* ---- communication ---- */

/* The rank of a place in a communicator; XCH_NONE: it is not a member. */
static uint32_t rank_in(const struct xch_otf2_state *s, const struct xch_communicator *c, const struct xch_place *p)
{
	const struct xch_otf2_rank *r = &s->rank[c->index];
	uint32_t low = 0, high = r->n, mid;

	if (p->process < c->n && c->members[p->process] == p->willy) {
		return p->process;
	}
	while (low < high) {
		mid = low + (high - low) / 2;
		if (r->key[mid].id < p->index) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low < r->n && r->key[low].id == p->index ? r->key[low].index : XCH_NONE;
}

/* The communicator, or the communicator of all threads if one of the two places is not a member. */
static OTF2_CommRef comm_of(struct xch_writer *w, const struct xch_trace *t, uint32_t id, const struct xch_place *self,
	const struct xch_place *other, uint32_t *rank)
{
	struct xch_otf2_state *s = w->state;
	const struct xch_communicator *c = xch_communicator(t, id);

	*rank = !other ? OTF2_UNDEFINED_UINT32 : c ? rank_in(s, c, other) : XCH_NONE;
	if (c && rank_in(s, c, self) != XCH_NONE && (!other || *rank != XCH_NONE)) {
		return c->index;
	}
	xch_lost(w, XCH_COMMUNICATORS, 1);
	s->all_used = 1;
	*rank = other ? other->index : OTF2_UNDEFINED_UINT32;
	return (OTF2_CommRef)t->n_communicators;
}

static OTF2_ErrorCode message(struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e, uint64_t time)
{
	struct xch_otf2_state *s = w->state;
	const struct xch_message *m = &e->u.message;
	uint32_t rank;
	OTF2_CommRef c;

	if (e->place->is_group || m->other->is_group) {
		xch_lost(w, e->kind, 1);
		return OTF2_SUCCESS;
	}
	c = comm_of(w, t, m->communicator, e->place, m->other, &rank);
	return e->kind == XCH_SEND
		? OTF2_EvtWriter_MpiSend(s->evt[e->place->index], s->list, time, rank, c, m->tag, m->size)
		: OTF2_EvtWriter_MpiRecv(s->evt[e->place->index], s->list, time, rank, c, m->tag, m->size);
}

static OTF2_ErrorCode collective(
	struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e, uint64_t time)
{
	struct xch_otf2_state *s = w->state;
	const struct xch_coll *k = &e->u.coll;
	const struct xch_named *op = e->what;
	int request = xch_otf2_is_request(op ? op->name : "");
	OTF2_EvtWriter *evt = s->evt[e->place->index];
	struct xch_lanes *lanes = &s->lanes[e->place->index];
	OTF2_CollectiveOp what;
	uint32_t root;
	OTF2_CommRef c;

	if (e->kind == XCH_COLL_BEGIN) {
		if (!xch_lane_begin(lanes, e)) {
			return OTF2_ERROR_MEM_ALLOC_FAILED;
		}
		return request ? OTF2_EvtWriter_NonBlockingCollectiveRequest(evt, s->list, time, lanes->begun)
			       : OTF2_EvtWriter_MpiCollectiveBegin(evt, s->list, time);
	}
	if (!xch_lane_end(lanes, e)) {
		xch_lost(w, e->kind, 1);
		return OTF2_SUCCESS;
	}
	c = comm_of(w, t, k->communicator, e->place, k->root && !k->root->is_group ? k->root : NULL, &root);
	what = xch_otf2_collective(op ? op->name : "", op ? op->type : 0);
	return request ? OTF2_EvtWriter_NonBlockingCollectiveComplete(
				 evt, s->list, time, what, c, root, k->sent, k->received, lanes->ended)
		       : OTF2_EvtWriter_MpiCollectiveEnd(evt, s->list, time, what, c, root, k->sent, k->received);
}

static OTF2_ErrorCode io(struct xch_writer *w, const struct xch_event *e, uint64_t time)
{
	struct xch_otf2_state *s = w->state;
	const struct xch_named *f = e->what;
	OTF2_EvtWriter *evt = s->evt[e->place->index];
	struct xch_lanes *lanes = &s->lanes[e->place->index];

	if (!f || e->u.io.type > 1 || (e->kind == XCH_IO_END && !xch_lane_end(lanes, e))) {
		xch_lost(w, e->kind, 1);
		return OTF2_SUCCESS;
	}
	if (e->kind == XCH_IO_BEGIN) {
		if (!xch_lane_begin(lanes, e)) {
			return OTF2_ERROR_MEM_ALLOC_FAILED;
		}
		return OTF2_EvtWriter_IoOperationBegin(evt, s->list, time, f->index,
			e->u.io.type ? OTF2_IO_OPERATION_MODE_READ : OTF2_IO_OPERATION_MODE_WRITE,
			OTF2_IO_OPERATION_FLAG_NONE, e->u.io.bytes, lanes->begun);
	}
	return OTF2_EvtWriter_IoOperationComplete(evt, s->list, time, f->index, e->u.io.bytes, lanes->ended);
}

/* ---- events ---- */

static OTF2_ErrorCode call(struct xch_writer *w, const struct xch_event *e, uint64_t time)
{
	struct xch_otf2_state *s = w->state;
	const struct xch_named *f = e->what;

	if (!f) { /* OTF2 requires a region, also for a leave */
		xch_lost(w, e->kind, 1);
		return OTF2_SUCCESS;
	}
	return e->kind == XCH_ENTER ? OTF2_EvtWriter_Enter(s->evt[e->place->index], s->list, time, f->index)
				    : OTF2_EvtWriter_Leave(s->evt[e->place->index], s->list, time, f->index);
}

static OTF2_ErrorCode write_event(
	struct xch_writer *w, const struct xch_trace *t, const struct xch_event *e, uint64_t time)
{
	switch (e->kind) {
	case XCH_ENTER:
	case XCH_LEAVE:
		return call(w, e, time);
	case XCH_SAMPLE:
		return sample(w, e, time);
	case XCH_SEND:
	case XCH_RECEIVE:
		return message(w, t, e, time);
	case XCH_COLL_BEGIN:
	case XCH_COLL_END:
		return collective(w, t, e, time);
	default:
		return io(w, e, time);
	}
}

/* Makes the attributes of the event. The library empties the list when it has written them. */
static OTF2_ErrorCode add_attributes(struct xch_otf2_state *s, const struct xch_trace *t, const struct xch_event *e)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;
	int at_least = xch_is_at_least(e);

	s->list = NULL;
	s->at_least |= at_least;
	if (!e->where && !at_least) {
		return OTF2_SUCCESS;
	}
	s->attributes = s->attributes ? s->attributes : OTF2_AttributeList_New();
	if (!s->attributes) {
		return OTF2_ERROR_MEM_ALLOC_FAILED;
	}
	s->list = s->attributes;
	OTF2_AttributeList_RemoveAllAttributes(s->list);
	if (at_least) {
		code = OTF2_AttributeList_AddUint32(s->list, xch_otf2_at_least(t), STF_BYTES_AT_LEAST);
	}
	if (!e->where || code != OTF2_SUCCESS) {
		return code;
	}
	code = OTF2_AttributeList_AddSourceCodeLocationRef(s->list, OTF2_AT_SOURCE, e->where->index);
	return code == OTF2_SUCCESS
		? OTF2_AttributeList_AddStringRef(s->list, OTF2_AT_STACK, OTF2_LOCATION_STRING + e->where->index)
		: code;
}

static int xch_otf2_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	struct xch_otf2_state *s = w->state;
	uint32_t k = e->place->index;
	uint64_t time = xch_otf2_time(s, t, e->time);
	OTF2_ErrorCode code;

	if (!s->evt[k]) {
		s->evt[k] = OTF2_Archive_GetEvtWriter(s->archive, k);
		if (!s->evt[k]) {
			return xch_otf2_fail(err, &s->errors, w->target, "cannot write a location", OTF2_SUCCESS);
		}
	}
	if (time < s->last[k]) {
		xch_lost(w, e->kind, 1); /* OTF2 refuses it */
		return 0;
	}
	s->last[k] = time;
	s->min = time < s->min ? time : s->min;
	s->max = time > s->max ? time : s->max;
	code = add_attributes(s, t, e);
	code = code == OTF2_SUCCESS ? write_event(w, t, e, time) : code;
	return code == OTF2_SUCCESS ? 0 : xch_otf2_fail(err, &s->errors, w->target, "cannot write an event", code);
}

/* ---- close ---- */

static int xch_otf2_end(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct xch_otf2_state *s = w->state;
	OTF2_ErrorCode code;
	size_t i;

	/* readers expect a file for each location, even without events */
	for (i = 0; i < t->n_places; i++) {
		if (!s->evt[i] && !t->place[i].is_group && !(s->evt[i] = OTF2_Archive_GetEvtWriter(s->archive, i))) {
			return xch_otf2_fail(err, &s->errors, w->target, "cannot write a location", OTF2_SUCCESS);
		}
	}
	if (xch_otf2_definitions(w, t, err) < 0) {
		return -1;
	}
	code = OTF2_Archive_Close(s->archive);
	s->archive = NULL;
	return code == OTF2_SUCCESS && !*s->errors.text
		? 0
		: xch_otf2_fail(err, &s->errors, w->target, "cannot complete the archive", code);
}

static void xch_otf2_release(struct xch_writer *w, struct xch_trace *t)
{
	struct xch_otf2_state *s = w->state;
	uint32_t i;

	/* after an error the archive is not closed, because the library would write memory that it has freed; its
	 * memory is lost */
	xch_otf2_errors_end(&s->errors);
	xch_otf2_chunks_close(s->chunks);
	if (s->attributes) {
		OTF2_AttributeList_Delete(s->attributes);
	}
	for (i = 0; i < s->n_classes; i++) {
		free(s->cls[i].counter);
		free(s->cls[i].type);
	}
	for (i = 0; s->rank && i < t->n_communicators; i++) {
		free(s->rank[i].key);
	}
	tkm_table_free(&s->class_of);
	free(s->cls);
	free(s->instance);
	free(s->rank);
	free(s->evt);
	free(s->last);
	free(s->seen);
	for (i = 0; s->lanes && i < t->n_places; i++) {
		xch_lanes_free(&s->lanes[i]);
	}
	free(s->lanes);
}

const struct xch_format xch_otf2 = {
	.name = "OTF2",
	.suffix = ".otf2",
	.what = "Open Trace Format 2 (Vampir, Score-P, Scalasca)",
	.mark = "TICKMARK::",
	.mark_in = "/traces.otf2",
	.directory = 1,
	.holds = XCH_MOST | XCH_BIT(XCH_LOCATIONS) | XCH_BIT(XCH_GROUPS) | XCH_BIT(XCH_COMMUNICATORS) |
		XCH_BIT(XCH_PROCESSES) | XCH_BIT(XCH_INFOS),
	.state_size = sizeof(struct xch_otf2_state),
	.open = xch_otf2_open,
	.event = xch_otf2_event,
	.end = xch_otf2_end,
	.release = xch_otf2_release,
	.read = xch_otf2_read,
	.restamp = xch_otf2_restamp,
	.is = xch_otf2_is,
};

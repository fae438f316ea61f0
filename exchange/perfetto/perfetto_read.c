/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads Perfetto's track events: slices, instants, counters and flows, and the names of tracks. The file is read twice: what its clocks
 * and tracks are comes first. As viewers do, all times are put on the clock that its snapshots call the primary one. The slices of a
 * thread's track are calls; those of tracks below it may overlap them, so they are scopes. Another track is a thread of its own. */
#include "config.h"
#include "exchange/perfetto/perfetto_restamp.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/common/private.h"
#include "exchange/common/slices.h"
#include "exchange/perfetto/perfetto_event.h"
#include "exchange/perfetto/perfetto_packets.h"

/* Fields of TracePacket, InternedData, TrackDescriptor, ... */
enum {
	PACKET = 1,
	TRACK_EVENT = 11,
	INTERNED = 12,
	DESCRIPTOR = 60,
	STATE_CLEARED = 1,
	MOST_PARENTS = 64,
};
enum { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };

/* A TrackDescriptor. */
struct pft_track {
	uint64_t parent, pid, tid;
	int has_process, has_thread, is_counter, is_incremental;
	int64_t unit; /* of a value, in what the track counts */
	char *name, *unit_name;
	uint32_t track, counter; /* those of the slices, made at first use */
	int below;               /* on a track below that of its thread */
};

/* What a sequence has stated since its state was cleared. */
struct pft_state {
	struct tkm_table names, categories; /* char * by number */
	struct tkm_table values;            /* of counters that count on, double by track */
	uint64_t track;                     /* of events that name none */
};

struct pft_read {
	struct xch_input *in;
	struct tkm_err *err;
	struct xch_packets s;
	struct xch_pft_clocks clocks;
	struct xch_slices *slices;
	struct tkm_table tracks, sequences;
	struct xch_proto content; /* of a compressed packet */
	int writes;               /* the second reading */
	uint64_t offset;
	double bound_s, within_s;
	char *text; /* of the last copy */
	char *category;
};

static int fail_pft(const struct pft_read *p, const char *what)
{
	return xch_packets_fail(&p->s, p->offset, what);
}

static int no_memory(const struct pft_read *p)
{
	return xch_fail_memory(p->err, p->in->path);
}

/* Replaces the text in *to. Zero bytes become blanks. Returns 0, or -2: no memory. */
static int copy_text(const struct pft_read *p, char **to, const unsigned char *b, size_t n)
{
	char *text = malloc(n + 1);
	size_t i;

	if (!text) {
		no_memory(p);
		return -2;
	}
	for (i = 0; i < n; i++) {
		text[i] = (char)(b[i] ? b[i] : ' ');
	}
	text[n] = '\0';
	free(*to);
	*to = text;
	return 0;
}

/* ---- tracks ---- */

/* A process or a thread: its numbers and its name. */
static int take_owner(struct pft_read *p, struct pft_track *t, const struct xch_proto_field *part, int thread)
{
	const unsigned char *at = part->p;
	struct xch_proto_field f;
	int rc;

	t->has_thread |= thread;
	t->has_process |= !thread;
	while ((rc = xch_proto_next(&at, part->p + part->n, &f)) > 0) {
		if (f.wire == XCH_PROTO_VARINT) {
			t->pid = f.number == 1 ? f.v : t->pid;
			t->tid = f.number == 2 && thread ? f.v : t->tid;
		} else if (f.wire == XCH_PROTO_BYTES && f.number == (thread ? 5 : 6) &&
			copy_text(p, &t->name, f.p, f.n) < 0) {
			return -2;
		}
	}
	return rc;
}

static int take_counter(struct pft_read *p, struct pft_track *t, const struct xch_proto_field *part)
{
	static const char *const units[] = { "", "ns", "", "B" };
	const unsigned char *at = part->p;
	struct xch_proto_field f;
	int rc;

	t->is_counter = 1;
	while ((rc = xch_proto_next(&at, part->p + part->n, &f)) > 0) {
		if (f.number == 3 && f.wire == XCH_PROTO_VARINT && f.v < 4 && !t->unit_name) {
			t->unit_name = strdup(units[f.v]);
		} else if (f.number == 4 && f.wire == XCH_PROTO_VARINT) {
			t->unit = (int64_t)f.v;
		} else if (f.number == 5 && f.wire == XCH_PROTO_VARINT) {
			t->is_incremental = f.v != 0;
		} else if (f.number == 6 && f.wire == XCH_PROTO_BYTES && copy_text(p, &t->unit_name, f.p, f.n) < 0) {
			return -2;
		}
	}
	return rc;
}

static struct pft_track *put_track(struct pft_read *p, uint64_t uuid)
{
	struct pft_track *t = tkm_table_put(&p->tracks, &uuid, sizeof(uuid), sizeof(*t));

	if (!t) {
		no_memory(p);
	}
	return t;
}

static int take_descriptor(struct pft_read *p, const struct xch_pft_part *part)
{
	const unsigned char *at = part->p;
	struct xch_proto_field f;
	struct pft_track *t;
	uint64_t uuid = 0;
	int rc;

	xch_proto_find(part->p, part->n, (const uint32_t[]){ 1, 0 }, &uuid);
	t = put_track(p, uuid);
	if (!t) {
		return -1;
	}
	t->unit = t->unit ? t->unit : 1;
	while ((rc = xch_proto_next(&at, part->p + part->n, &f)) > 0) {
		if (f.number == 5 && f.wire == XCH_PROTO_VARINT) {
			t->parent = f.v;
		}
		if (f.wire != XCH_PROTO_BYTES) {
			continue;
		}
		rc = f.number == 3 || f.number == 4                         ? take_owner(p, t, &f, f.number == 4)
			: f.number == 8                                     ? take_counter(p, t, &f)
			: f.number == 2 || f.number == 10 || f.number == 13 ? copy_text(p, &t->name, f.p, f.n)
									    : 0;
		if (rc < 0) {
			break;
		}
	}
	return rc == -1 ? fail_pft(p, "the description of a track is damaged") : rc < 0 ? -1 : 0;
}

/* The names of the processes and threads; a track that is none of them has its own, which is in *process and *thread. */
static int title_track(struct pft_read *p, const struct pft_track *t, const char *process, const char *thread)
{
	return !t->name || !*t->name || t->is_counter
		? 0
		: xch_slices_title(p->slices, process, t->has_process ? NULL : thread, t->name);
}

static int title_all(struct pft_read *p)
{
	const struct pft_track *t = NULL;
	char process[24], thread[24];
	int rc = 0;

	while (rc == 0 && (t = tkm_table_next(&p->tracks, t))) {
		if (t->has_process || t->has_thread) {
			snprintf(process, sizeof(process), "%" PRIu64, t->pid);
			snprintf(thread, sizeof(thread), "%" PRIu64, t->tid);
			rc = title_track(p, t, process, thread);
		}
	}
	return rc;
}

/* Finds the thread of a track. */
static int place_track(struct pft_read *p, struct pft_track *t, uint64_t uuid)
{
	const struct pft_track *up = t;
	char process[40] = "tracks", thread[48];
	int i = 0;

	while (!up->has_thread && !up->has_process && up->parent && i++ < MOST_PARENTS) {
		const struct pft_track *next = tkm_table_find(&p->tracks, &up->parent, sizeof(up->parent));

		if (!next) {
			break;
		}
		up = next;
	}
	if (up->has_thread || up->has_process) {
		snprintf(process, sizeof(process), "%" PRIu64, up->pid);
	}
	snprintf(thread, sizeof(thread), "track %" PRIu64, uuid);
	if (up->has_thread || (up->has_process && (t->is_counter || up == t))) {
		snprintf(thread, sizeof(thread), "%" PRIu64, up->has_thread ? up->tid : up->pid);
	} else if (title_track(p, t, process, thread) < 0) {
		return -1;
	}
	/* the thread's own track is its stack; the track of a process, and what is below a thread's, are stacks beside it */
	t->below = up->has_thread ? up != t : up == t && up->has_process && !t->is_counter;
	t->pid = up->pid;
	t->track = xch_slices_track(p->slices, process, thread);
	return t->track ? 0 : -1;
}

/* ---- the state of a sequence ---- */

static void free_texts(struct tkm_table *t)
{
	char **text = NULL;

	while ((text = tkm_table_next(t, text))) {
		free(*text);
	}
	tkm_table_free(t);
	*t = (struct tkm_table){ 0 };
}

static void clear_state(struct pft_state *q)
{
	free_texts(&q->names);
	free_texts(&q->categories);
	tkm_table_free(&q->values);
	q->values = (struct tkm_table){ 0 };
	q->track = 0;
}

/* {number, text} */
static int take_name(struct pft_read *p, struct tkm_table *to, const struct xch_proto_field *entry)
{
	const unsigned char *at = entry->p;
	struct xch_proto_field f;
	uint64_t number = 0;
	char **text;

	xch_proto_find(entry->p, entry->n, (const uint32_t[]){ 1, 0 }, &number);
	text = tkm_table_put(to, &number, sizeof(number), sizeof(*text));
	if (!text || (!*text && !(*text = strdup("")))) {
		return no_memory(p);
	}
	while (xch_proto_next(&at, entry->p + entry->n, &f) > 0) {
		if (f.number == 2 && f.wire == XCH_PROTO_BYTES && copy_text(p, text, f.p, f.n) < 0) {
			return -1;
		}
	}
	return 0;
}

static int take_interned(struct pft_read *p, struct pft_state *q, const struct xch_pft_part *part)
{
	const unsigned char *at = part->p;
	struct xch_proto_field f;
	int rc;

	while ((rc = xch_proto_next(&at, part->p + part->n, &f)) > 0) {
		if (f.wire == XCH_PROTO_BYTES && (f.number == 1 || f.number == 2) &&
			take_name(p, f.number == 1 ? &q->categories : &q->names, &f) < 0) {
			return -1;
		}
	}
	return rc < 0 ? fail_pft(p, "interned names that are damaged") : 0;
}

static const char *name_by_id(const struct tkm_table *t, uint64_t id)
{
	char *const *text = id ? tkm_table_find(t, &id, sizeof(id)) : NULL;

	return text && *text ? *text : "";
}

/* ---- events ---- */

static uint32_t name_event(
	struct pft_read *p, const struct pft_state *q, const struct xch_pft_event *e, uint64_t name_id)
{
	const char *name = name_by_id(&q->names, name_id), *category = name_by_id(&q->categories, e->category_id);

	if (e->name.p) {
		if (copy_text(p, &p->text, e->name.p, e->name.n) < 0) {
			return 0;
		}
		name = p->text;
	}
	if (e->category.p) {
		if (copy_text(p, &p->category, e->category.p, e->category.n) < 0) {
			return 0;
		}
		category = p->category;
	}
	return xch_slices_name(p->slices, category, name);
}

static int put_value(
	struct pft_read *p, struct pft_state *q, struct pft_track *t, const struct xch_pft_event *e, int64_t time)
{
	double value = e->value * (double)(t->unit ? t->unit : 1), *sum;

	if (!e->has_value) {
		xch_slices_lost(p->slices, "counter events without a value", 1);
		return 0;
	}
	if (!t->counter) {
		t->counter =
			xch_slices_counter(p->slices, "", t->name ? t->name : "", t->unit_name ? t->unit_name : "");
	}
	if (t->is_incremental) {
		sum = tkm_table_put(&q->values, &e->track, sizeof(e->track), sizeof(*sum));
		if (!sum) {
			return no_memory(p);
		}
		value += *sum;
		*sum = value;
	}
	return t->counter ? xch_slices_value(p->slices, t->track, t->counter, time, value) : -1;
}

/* A slice begins or ends. Those of a track below a thread's are a stack of its own. */
static int put_slice(struct pft_read *p, const struct pft_track *t, uint32_t name, int64_t time, int end)
{
	return t->below
		? xch_slices_async(p->slices, t->track, xch_slices_key(4, (const char *)&t, sizeof(t)), name, time, end)
		: end ? xch_slices_end(p->slices, t->track, 0, time)
		      : xch_slices_begin(p->slices, t->track, name, time);
}

/* The key of what an id and a category link. A local id is one of its process. */
static uint64_t key_of_id(
	struct pft_read *p, const struct pft_track *t, const struct xch_pft_legacy *l, uint64_t id, uint32_t name)
{
	const uint64_t of[] = { l->is_local, l->is_local ? t->pid : 0, id };
	const char *category = xch_slices_class(p->slices, name);

	return xch_slices_key(xch_slices_key(5, (const char *)of, sizeof(of)), category, strlen(category));
}

static int put_async(
	struct pft_read *p, const struct pft_track *t, const struct xch_pft_legacy *l, uint32_t name, int64_t time)
{
	return xch_slices_async(
		p->slices, t->track, key_of_id(p, t, l, l->id, name), name, time, l->phase == 'e' || l->phase == 'F');
}

/* A flow of the events that Perfetto took over from Chrome: an event of its own, or an id of a slice. */
static int put_old_flow(
	struct pft_read *p, const struct pft_track *t, const struct xch_pft_legacy *l, uint32_t name, int64_t time)
{
	const char *text = xch_slices_text(p->slices, name);

	if (l->flow) {
		return xch_slices_flow(p->slices, t->track,
			xch_slices_key(7, (const char *)&l->bind_id, sizeof(l->bind_id)), time, l->flow);
	}
	return xch_slices_flow(p->slices, t->track, xch_slices_key(key_of_id(p, t, l, l->id, name), text, strlen(text)),
		time,
		l->phase == 's'           ? XCH_FLOW_OUT
			: l->phase == 'f' ? XCH_FLOW_IN
					  : XCH_FLOW_IN | XCH_FLOW_OUT);
}

static int put_legacy(
	struct pft_read *p, const struct pft_track *t, const struct xch_pft_legacy *l, uint32_t name, int64_t time)
{
	int64_t end;

	switch (l->phase) {
	case 'X':
		if (l->duration_us < 0 || __builtin_mul_overflow(l->duration_us, (int64_t)1000, &end) ||
			__builtin_add_overflow(end, time, &end)) {
			return fail_pft(p, "a slice of negative length, or one that is too long");
		}
		return t->below ? put_slice(p, t, name, time, 0) < 0 ? -1 : put_slice(p, t, name, end, 1)
				: xch_slices_span(p->slices, t->track, name, time, end);
	case 'B':
		return put_slice(p, t, name, time, 0);
	case 'E':
		return put_slice(p, t, name, time, 1);
	case 'b':
	case 'S':
	case 'e':
	case 'F':
		return put_async(p, t, l, name, time);
	case 's':
	case 't':
	case 'f':
		return l->flow ? 0 : put_old_flow(p, t, l, name, time);
	case 'i':
	case 'I':
	case 'n':
		return xch_slices_comment(p->slices, t->track, name, time);
	default:
		xch_slices_lost(p->slices, "events of other kinds", 1);
		return 0;
	}
}

/* Flow ids of the event: 47, or 48 where the flow ends here. Returns how many, or -1. */
static int put_flows(struct pft_read *p, const struct xch_pft_part *part, uint32_t track, int64_t time)
{
	const unsigned char *at = part->p;
	struct xch_proto_field f;
	uint64_t id;
	int n = 0, ends;

	while (xch_proto_next(&at, part->p + part->n, &f) > 0) {
		ends = f.number == 48 || f.number == 42;
		if (((f.number == 47 || f.number == 48) && f.wire == XCH_PROTO_64) ||
			((f.number == 36 || f.number == 42) && f.wire == XCH_PROTO_VARINT)) {
			id = f.v;
			if (f.wire == XCH_PROTO_64) {
				memcpy(&id, f.p, sizeof(id));
			}
			n++;
			if (xch_slices_flow(p->slices, track, xch_slices_key(3, (const char *)&id, sizeof(id)), time,
				    ends ? XCH_FLOW_IN : XCH_FLOW_ON) < 0) {
				return -1;
			}
		}
	}
	return n;
}

static int put_event(
	struct pft_read *p, struct pft_state *q, const struct xch_pft_part *part, struct xch_pft_event *e, int64_t time)
{
	struct pft_track *t = put_track(p, e->track);
	struct xch_pft_legacy l;
	uint32_t name;
	int flows;

	if (!t || (!t->track && place_track(p, t, e->track) < 0)) {
		return -1;
	}
	if (xch_pft_parse_legacy(&e->legacy, &l) < 0) {
		return fail_pft(p, "an event that is damaged");
	}
	if (e->type == COUNTER) {
		return put_value(p, q, t, e, time);
	}
	xch_slices_lost(p->slices, "values of other counters at events", e->others);
	name = name_event(p, q, e, e->name_id ? e->name_id : l.name_id);
	flows = name ? put_flows(p, part, t->track, time) : -1;
	if (flows < 0 || (l.flow && put_old_flow(p, t, &l, name, time) < 0)) {
		return -1;
	}
	switch (e->type) {
	case SLICE_BEGIN:
	case SLICE_END:
		return put_slice(p, t, name, time, e->type == SLICE_END);
	case INSTANT:
		return flows ? 0 : xch_slices_comment(p->slices, t->track, name, time);
	default:
		return put_legacy(p, t, &l, name, time);
	}
}

/* ---- packets ---- */

/* What the packet states of its sequence. */
static struct pft_state *take_state(
	struct pft_read *p, const struct xch_pft_packet *is, const struct xch_pft_part *interned)
{
	struct pft_state *q = tkm_table_put(&p->sequences, &is->sequence, sizeof(is->sequence), sizeof(*q));
	uint64_t track;

	if (!q) {
		no_memory(p);
		return NULL;
	}
	if (is->cleared || (is->flags & STATE_CLEARED)) {
		clear_state(q);
	}
	if (is->defaults.p &&
		xch_proto_find(is->defaults.p, is->defaults.n, (const uint32_t[]){ TRACK_EVENT, 11, 0 }, &track)) {
		q->track = track;
	}
	return interned->p && take_interned(p, q, interned) < 0 ? NULL : q;
}

static int take_bound(struct pft_read *p, const struct xch_pft_part *attributes)
{
	static const char key[] = "tickmark.bound_ns";
	const unsigned char *at = attributes->p;
	struct xch_proto_field f;
	uint64_t ns;

	while (xch_proto_next(&at, attributes->p + attributes->n, &f) > 0) {
		if (f.wire == XCH_PROTO_BYTES && memmem(f.p, f.n, key, sizeof(key) - 1) &&
			xch_proto_find(f.p, f.n, (const uint32_t[]){ 2, 0 }, &ns)) {
			p->bound_s = (double)ns * 1e-9;
		}
	}
	return 0;
}

/* The parts of a packet that the clocks have no need of. */
static void find_parts(const struct xch_proto_field *packet, struct xch_pft_part *event, struct xch_pft_part *interned,
	struct xch_pft_part *descriptor)
{
	const unsigned char *at = packet->p;
	struct xch_proto_field f;

	*event = *interned = *descriptor = (struct xch_pft_part){ 0 };
	while (xch_proto_next(&at, packet->p + packet->n, &f) > 0) {
		struct xch_pft_part *to = f.wire != XCH_PROTO_BYTES ? NULL
			: f.number == TRACK_EVENT                   ? event
			: f.number == INTERNED                      ? interned
			: f.number == DESCRIPTOR                    ? descriptor
								    : NULL;

		if (to) {
			*to = (struct xch_pft_part){ f.p, f.n };
		}
	}
}

/* The first reading. */
static int note_packet(struct pft_read *p, const struct xch_pft_packet *is, const struct xch_pft_time *at,
	const struct xch_pft_part *event, const struct xch_pft_part *descriptor)
{
	if (at && event->p && xch_pft_note(&p->clocks, at) < 0) {
		return no_memory(p);
	}
	if (is->attributes.p) {
		take_bound(p, &is->attributes);
	}
	return descriptor->p ? take_descriptor(p, descriptor) : 0;
}

/* The second one. */
static int play_packet(struct pft_read *p, const struct xch_pft_packet *is, const struct xch_pft_time *at,
	const struct xch_pft_part *event, const struct xch_pft_part *interned)
{
	struct pft_state *q = take_state(p, is, interned);
	struct xch_pft_event e;
	double within;
	int64_t time;

	if (!q) {
		return -1;
	}
	if (is->ftrace.p || (is->has_stamp && !event->p && !is->snapshot.p)) {
		xch_slices_lost(p->slices, is->ftrace.p ? "bundles of ftrace" : "packets of other kinds", 1);
	}
	if (!event->p) {
		return 0;
	}
	if (xch_pft_parse_event(event, &e) < 0) {
		return fail_pft(p, "an event that is damaged");
	}
	/* where clocks are known, a stamp of 0 would be the start of the machine */
	if (!at || e.is_old || (at->ns == 0 && p->clocks.snapshots)) {
		xch_slices_lost(p->slices,
			at && e.is_old                 ? "events with stamps in the way of 2019"
				: at || !is->has_stamp ? "events without a stamp"
						       : "events whose sequence has lost its state",
			1);
		return 0;
	}
	if (xch_pft_at_anchor(&p->clocks, at, &time, &within) < 0) {
		return fail_pft(p, "a stamp before the start of its clock, or too far away");
	}
	p->within_s = fmax(p->within_s, within);
	e.track = e.has_track ? e.track : q->track;
	return put_event(p, q, event, &e, time);
}

static int read_packet(struct pft_read *p, const struct xch_proto_field *packet, int inside);

static int read_inner(void *user, const struct xch_proto_field *f)
{
	return f->number == PACKET && f->wire == XCH_PROTO_BYTES ? read_packet(user, f, 1) : 0;
}

static int read_packet(struct pft_read *p, const struct xch_proto_field *packet, int inside)
{
	struct xch_pft_part event, interned, descriptor;
	struct xch_pft_packet is;
	struct xch_pft_time at;
	const char *why = NULL;
	int rc;

	if (xch_pft_parse(packet->p, packet->n, &is) < 0) {
		return fail_pft(p, "a packet that is damaged, or no packet of Perfetto");
	}
	if (is.zlib.p || is.zstd.p) {
		return inside ? fail_pft(p, "compressed packets in compressed packets")
			      : xch_packets_unpack(&p->s, p->offset, &is, &p->content, read_inner, p);
	}
	find_parts(packet, &event, &interned, &descriptor);
	rc = xch_pft_take(&p->clocks, &is, &at, &why);
	if (rc < 0) {
		return fail_pft(p, why);
	}
	return p->writes ? play_packet(p, &is, rc > 0 ? &at : NULL, &event, &interned)
			 : note_packet(p, &is, rc > 0 ? &at : NULL, &event, &descriptor);
}

static int read_packets(struct pft_read *p)
{
	struct xch_proto_field f;
	int rc;

	if (xch_packets_begin(&p->s, p->in->path, NULL, p->err) < 0) {
		return -1;
	}
	while ((rc = xch_packets_next(&p->s, &f, &p->offset)) > 0) {
		if (f.number == PACKET && f.wire == XCH_PROTO_BYTES && read_packet(p, &f, 0) < 0) {
			return -1;
		}
	}
	return rc;
}

/* All times go to the clock that the file calls the primary one, else to the only one, else to the time since boot. */
static int choose_clock(struct pft_read *p)
{
	const struct xch_pft_range *r = tkm_table_next(&p->clocks.used, NULL);
	uint32_t only = r && tkm_table_count(&p->clocks.used) == 1 ? *(const uint32_t *)tkm_table_key(r) : 0,
		 untied = 0;
	uint32_t anchor = p->clocks.file_default ? p->clocks.file_default : only ? only : XCH_PFT_BOOTTIME;

	if (xch_pft_anchor(&p->clocks, anchor, &untied) < 0) {
		return untied
			? tkm_fail(p->err, TKM_ERR_FORMAT,
				  "%s has stamps of clock %" PRIu32 ", which no snapshot in it ties to clock %" PRIu32,
				  p->in->path, untied, anchor)
			: no_memory(p);
	}
	return 0;
}

static void free_read(struct pft_read *p)
{
	struct pft_state *q = NULL;
	struct pft_track *t = NULL;

	while ((q = tkm_table_next(&p->sequences, q))) {
		clear_state(q);
	}
	while ((t = tkm_table_next(&p->tracks, t))) {
		free(t->name);
		free(t->unit_name);
	}
	tkm_table_free(&p->sequences);
	tkm_table_free(&p->tracks);
	xch_slices_free(p->slices);
	xch_packets_free(&p->s);
	xch_pft_free(&p->clocks);
	xch_proto_free(&p->content);
	free(p->text);
	free(p->category);
}

int xch_perfetto_read(struct xch_input *in, struct tkm_err *err)
{
	struct pft_read p = { .in = in, .err = err, .bound_s = NAN, .slices = xch_slices_new(in, err) };
	struct xch_slices_clock clock = { .of = "Perfetto", .host = "" };
	int rc = p.slices && read_packets(&p) == 0 && choose_clock(&p) == 0 && title_all(&p) == 0 ? 0 : -1;

	p.writes = 1;
	xch_pft_rewind(&p.clocks);
	rc = rc == 0 ? read_packets(&p) : -1;
	if (rc == 0) {
		clock.is_realtime = p.clocks.anchor == XCH_PFT_REALTIME;
		clock.bound_s = p.bound_s + p.within_s;
		rc = xch_slices_write(p.slices, &clock);
	}
	free_read(&p);
	return rc;
}

/* A packet, and behind it another one or the end of the file. */
int xch_perfetto_is(const char *path, const unsigned char *head, size_t n)
{
	struct xch_packets s = { .path = NULL };
	struct xch_proto_field f;
	struct xch_pft_packet is;
	struct tkm_err ignored;
	uint64_t offset;
	int i,
		rc = n > 1 && (head[0] == 10 || (head[0] == 31 && head[1] == 139)) &&
		xch_packets_begin(&s, path, NULL, &ignored) == 0;

	for (i = 0; rc > 0 && i < 4; i++) {
		rc = xch_packets_next(&s, &f, &offset);
		rc = rc <= 0 ? rc
			: f.number == PACKET && f.wire == XCH_PROTO_BYTES && f.n > 1 &&
				xch_pft_parse(f.p, f.n, &is) == 0
			? 1
			: -1;
	}
	xch_packets_free(&s);
	return rc >= 0 && i > 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes Perfetto's protobuf format. Each thread or group is a packet sequence of its own. The sequence has a
 * clock that counts from stamp to stamp, names that are stated once, and a track that events need not name. A track is
 * a stack: an end ends the slice that began last. Functions are a stack. Scopes, collective operations and operations
 * on files may overlap, so each that is open has a child track. Field numbers are those of perfetto_trace.proto. */
#include "config.h"
#include "exchange/common/lanes.h"
#include "exchange/perfetto/perfetto_proto.h"
#include "exchange/perfetto/perfetto_restamp.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { MESSAGE_MAX = 1 << 16, CHUNK = 1 << 19, LEVEL = 3, INCREMENTAL_CLOCK = 64, BOOT_CLOCK = 6 };
enum { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };
enum { FIRST_SEQUENCE = 2 }; /* sequence 1 has the descriptions */

/* Fields of TracePacket, TrackEvent, TrackDescriptor, ... */
enum {
	P_PACKET = 1,
	P_CLOCK_SNAPSHOT = 6,
	P_TIMESTAMP = 8,
	P_SEQUENCE = 10,
	P_TRACK_EVENT = 11,
	P_INTERNED = 12,
	P_FLAGS = 13,
	P_COMPRESSED = 50,
	P_CLOCK_ID = 58,
	P_DEFAULTS = 59,
	P_TRACK = 60,
	P_FOR_TESTING = 900,
	P_TEST_TEXT = 1, /* of it */
	E_CATEGORY = 3,
	E_ANNOTATION = 4,
	E_TYPE = 9,
	E_NAME_ID = 10,
	E_TRACK = 11,
	E_NAME = 23,
	E_COUNTER = 30,
	E_REAL = 44,
	E_FLOW = 47,
	E_FLOW_END = 48,
	D_DEFAULT_EVENT = 11,
	D_UUID = 1,
	D_NAME = 2,
	D_PROCESS = 3,
	D_THREAD = 4,
	D_PARENT = 5,
	D_COUNTER = 8,
};

/* A protobuf message that is being built. */
struct buffer {
	size_t n;
	unsigned char b[MESSAGE_MAX];
};

struct track {
	uint64_t uuid;
	uint64_t value; /* the last value: integers are written as differences */
};

/* The state of a sequence. */
struct sequence {
	int begun;
	int64_t now;             /* ns */
	uint32_t counters;       /* tracks in counter[] */
	uint32_t *counter_index; /* of the counters that this place has */
	struct track *counter;
	struct xch_lanes lanes; /* user: the uuid of the child track; Perfetto draws those of one name as one */
	unsigned char *named;   /* a bit for each name that the sequence has stated */
};

struct state {
	struct xch_trace *t;
	struct sequence *sequence;
	uint64_t next_uuid;
	size_t names;         /* those of the trace, and a few of our own */
	unsigned char *chunk; /* packets that are not yet written */
	size_t n_chunk;
	struct buffer packet, part, inner;
};

/* Names of our own, which come after those of the trace. */
static const enum xch_kind own_names[] = { XCH_SEND, XCH_RECEIVE, XCH_COMMENT, XCH_REPORT };
enum { OWN_SEND, OWN_RECEIVE, OWN_COMMENT, OWN_REPORT, OWN_NAMES };

/* ---- protobuf ---- */

static void add_int(struct buffer *b, unsigned field, uint64_t v)
{
	if (b->n + 20 <= sizeof(b->b)) {
		b->n += xch_proto_varint(b->b + b->n, field << 3);
		b->n += xch_proto_varint(b->b + b->n, v);
	}
}

static void add_64(struct buffer *b, unsigned field, uint64_t v)
{
	int i;

	if (b->n + 20 <= sizeof(b->b)) {
		b->n += xch_proto_varint(b->b + b->n, field << 3 | 1);
		for (i = 0; i < 8; i++, v >>= 8) {
			b->b[b->n++] = (unsigned char)v;
		}
	}
}

/* Appends bytes, and truncates them if they do not fit. */
static void add_bytes(struct buffer *b, unsigned field, const void *p, size_t n)
{
	if (b->n + 30 > sizeof(b->b)) {
		return;
	}
	n = n < sizeof(b->b) - b->n - 30 ? n : sizeof(b->b) - b->n - 30;
	b->n += xch_proto_varint(b->b + b->n, field << 3 | 2);
	b->n += xch_proto_varint(b->b + b->n, n);
	memcpy(b->b + b->n, p, n);
	b->n += n;
}

static void add_text(struct buffer *b, unsigned field, const char *text)
{
	add_bytes(b, field, text, strlen(text));
}

static void add_part(struct buffer *b, unsigned field, const struct buffer *part)
{
	add_bytes(b, field, part->b, part->n);
}

static int cannot_write(const struct xch_writer *w, struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_IO, "cannot write %s", w->target);
}

#ifdef HAVE_ZLIB
/* Writes all packets so far as one compressed packet. */
static int flush(struct xch_writer *w, struct state *s, struct tkm_err *err)
{
	uLongf n = compressBound(s->n_chunk);
	unsigned char *p = malloc(n), head[32];
	size_t k, inner;
	int rc = p ? compress2(p, &n, s->chunk, s->n_chunk, LEVEL) : Z_MEM_ERROR;

	if (rc == Z_OK && s->n_chunk) {
		inner = xch_proto_varint(head, P_COMPRESSED << 3 | 2);
		inner += xch_proto_varint(head + inner, n);
		head[0] = P_PACKET << 3 | 2;
		k = 1 + xch_proto_varint(head + 1, inner + n);
		k += xch_proto_varint(head + k, P_COMPRESSED << 3 | 2);
		k += xch_proto_varint(head + k, n);
		rc = fwrite(head, 1, k, w->f) == k && fwrite(p, 1, n, w->f) == n ? Z_OK : Z_STREAM_ERROR;
	}
	free(p);
	s->n_chunk = 0;
	return rc == Z_OK ? 0 : cannot_write(w, err);
}
#else
static int flush(struct xch_writer *w, struct state *s, struct tkm_err *err)
{
	int ok = fwrite(s->chunk, 1, s->n_chunk, w->f) == s->n_chunk;

	s->n_chunk = 0;
	return ok ? 0 : cannot_write(w, err);
}
#endif

static int put_packet(struct xch_writer *w, struct state *s, uint64_t sequence, struct tkm_err *err)
{
	unsigned char *p;

	add_int(&s->packet, P_SEQUENCE, sequence);
	if (s->n_chunk + s->packet.n + 12 > CHUNK && flush(w, s, err) < 0) {
		return -1;
	}
	p = s->chunk + s->n_chunk;
	*p = P_PACKET << 3 | 2;
	p += 1 + xch_proto_varint(p + 1, s->packet.n);
	memcpy(p, s->packet.b, s->packet.n);
	s->n_chunk = (size_t)(p - s->chunk) + s->packet.n;
	s->packet.n = 0;
	return 0;
}

/* ---- tracks ---- */

static uint64_t uuid_of(const struct xch_place *p)
{
	return 1 + p->index;
}

static uint64_t process_uuid(const struct xch_trace *t, uint32_t process)
{
	return 1 + t->n_places + process;
}

static int put_track(struct xch_writer *w, struct state *s, struct tkm_err *err)
{
	add_part(&s->packet, P_TRACK, &s->part);
	s->part.n = 0;
	return put_packet(w, s, 1, err);
}

/* Describes a process or thread. Its pid and tid are the numbers in the trace, because those of the system can be
 * equal on several hosts. */
static int describe_place(struct xch_writer *w, struct state *s, const struct xch_place *p, struct tkm_err *err)
{
	char name[600];

	s->inner.n = 0;
	if (!p->is_group && p->thread == 0) {
		snprintf(name, sizeof(name), "process %" PRIu32 "%s%.250s%s%.250s", p->process, p->host ? " on " : "",
			p->host ? p->host : "", p->process_name ? ", " : "", p->process_name ? p->process_name : "");
		add_int(&s->part, D_UUID, process_uuid(s->t, p->process));
		add_int(&s->inner, 1, p->process + 1);
		add_text(&s->inner, 6, name);
		add_part(&s->part, D_PROCESS, &s->inner);
		if (put_track(w, s, err) < 0) {
			return -1;
		}
		s->inner.n = 0;
	}
	add_int(&s->part, D_UUID, uuid_of(p));
	if (p->is_group) {
		add_text(&s->part, D_NAME, p->name ? p->name : "group");
	} else {
		snprintf(name, sizeof(name), "thread %" PRIu32 "%s%.500s", p->thread, p->name ? " " : "",
			p->name ? p->name : "");
		add_int(&s->part, D_PARENT, process_uuid(s->t, p->process));
		add_int(&s->inner, 1, p->process + 1);
		add_int(&s->inner, 2, ((uint64_t)p->process + 1) * 65536 + p->thread);
		add_text(&s->inner, 5, name);
		add_part(&s->part, D_THREAD, &s->inner);
	}
	return put_track(w, s, err);
}

static int describe_counter(struct xch_writer *w, struct state *s, uint64_t uuid, uint64_t parent, const char *name,
	const char *unit, int differences, struct tkm_err *err)
{
	s->inner.n = 0;
	add_int(&s->part, D_UUID, uuid);
	add_int(&s->part, D_PARENT, parent);
	add_text(&s->part, D_NAME, name);
	if (*unit) {
		add_text(&s->inner, 6, unit);
	}
	if (differences) {
		add_int(&s->inner, 5, 1);
	}
	add_part(&s->part, D_COUNTER, &s->inner);
	return put_track(w, s, err);
}

static int describe_lane(
	struct xch_writer *w, struct state *s, const struct xch_event *e, uint64_t uuid, struct tkm_err *err)
{
	s->part.n = 0;
	add_int(&s->part, D_UUID, uuid);
	add_int(&s->part, D_PARENT, uuid_of(e->place));
	add_text(&s->part, D_NAME,
		e->kind == XCH_SCOPE_BEGIN          ? "scopes"
			: e->kind == XCH_COLL_BEGIN ? "collective operations"
						    : "file operations");
	return put_track(w, s, err);
}

/* Writes the bound of each process as a counter of its own, in absolute nanoseconds. */
static int put_bounds(struct xch_writer *w, struct state *s, struct tkm_err *err)
{
	const struct xch_bound *b;
	uint64_t uuid, bits;
	uint32_t p;
	size_t i, n;
	double ns;

	for (p = 0; p < s->t->n_processes; p++) {
		b = xch_bounds(s->t, p, &n);
		if (!n) {
			continue;
		}
		uuid = s->next_uuid++;
		if (describe_counter(w, s, uuid, process_uuid(s->t, p), "clock bound", "ns", 0, err) < 0) {
			return -1;
		}
		for (i = 0; i < n; i++) {
			if (isnan(b[i].seconds)) {
				continue;
			}
			ns = b[i].seconds * 1e9;
			memcpy(&bits, &ns, sizeof(bits));
			add_int(&s->packet, P_TIMESTAMP, (uint64_t)xch_ns(s->t, b[i].from));
			add_int(&s->part, E_TYPE, COUNTER);
			add_int(&s->part, E_TRACK, uuid);
			add_64(&s->part, E_REAL, bits);
			add_part(&s->packet, P_TRACK_EVENT, &s->part);
			s->part.n = 0;
			if (put_packet(w, s, 1, err) < 0) {
				return -1;
			}
		}
	}
	return 0;
}

/* ---- sequences ---- */

static int begin_sequence(
	struct xch_writer *w, struct state *s, const struct xch_place *p, int64_t now, struct tkm_err *err)
{
	struct sequence *q = &s->sequence[p->index];
	int k;

	q->begun = 1;
	q->now = now;
	q->named = calloc(s->names / 8 + 1, 1);
	if (!q->named) {
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", w->target);
	}
	for (k = 0; k < 2; k++) {
		s->inner.n = 0;
		add_int(&s->inner, 1, k ? BOOT_CLOCK : INCREMENTAL_CLOCK);
		add_int(&s->inner, 2, (uint64_t)now);
		if (!k) {
			add_int(&s->inner, 3, 1);
		}
		add_part(&s->part, 1, &s->inner);
	}
	add_part(&s->packet, P_CLOCK_SNAPSHOT, &s->part);
	s->part.n = s->inner.n = 0;
	add_int(&s->inner, E_TRACK, uuid_of(p));
	add_int(&s->part, P_CLOCK_ID, INCREMENTAL_CLOCK);
	add_part(&s->part, D_DEFAULT_EVENT, &s->inner);
	add_part(&s->packet, P_DEFAULTS, &s->part);
	s->part.n = 0;
	add_int(&s->packet, P_FLAGS, 1); /* the incremental state begins here */
	return put_packet(w, s, FIRST_SEQUENCE + p->index, err);
}

/* Begins a packet with its stamp; the fields of a track event are in s->part. */
static int put_event(struct xch_writer *w, struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	struct sequence *q = &s->sequence[e->place->index];
	int64_t now = xch_ns(s->t, e->time);

	now = now < q->now ? q->now : now; /* the clock of a sequence must not go back */
	add_int(&s->packet, P_TIMESTAMP, (uint64_t)(now - q->now));
	q->now = now;
	add_part(&s->packet, P_TRACK_EVENT, &s->part);
	s->part.n = 0;
	return put_packet(w, s, FIRST_SEQUENCE + e->place->index, err);
}

/* States a name in the sequence at its first use, in the packet of the event that uses it. */
static uint64_t name_of(struct state *s, const struct xch_event *e, size_t index, const char *name, const char *cls)
{
	struct sequence *q = &s->sequence[e->place->index];
	char full[4200];

	if (!(q->named[index / 8] >> index % 8 & 1)) {
		q->named[index / 8] |= (unsigned char)(1 << index % 8);
		snprintf(full, sizeof(full), "%.2000s%s%.2000s", cls, *cls ? ":" : "", name);
		s->inner.n = 0;
		add_int(&s->inner, 1, index + 1);
		add_text(&s->inner, 2, full);
		{
			unsigned char head[8];
			size_t n = xch_proto_varint(head, 2 << 3 | 2), k = s->inner.n;

			n += xch_proto_varint(head + n, k);
			memmove(s->inner.b + n, s->inner.b, k);
			memcpy(s->inner.b, head, n);
			s->inner.n = k + n;
		}
		add_part(&s->packet, P_INTERNED, &s->inner);
	}
	return index + 1;
}

static int put_named(struct xch_writer *w, struct state *s, const struct xch_event *e, int type, struct tkm_err *err)
{
	const struct xch_named *n = e->what;

	add_int(&s->part, E_TYPE, (uint64_t)type);
	if (type != SLICE_END && n) {
		add_int(&s->part, E_NAME_ID, name_of(s, e, n->number, n->name, n->cls));
	}
	return put_event(w, s, e, err);
}

/* An instant of one of our own names; its annotations follow. */
static void begin_instant(struct state *s, const struct xch_event *e, unsigned own)
{
	add_int(&s->part, E_TYPE, INSTANT);
	add_int(&s->part, E_NAME_ID, name_of(s, e, s->names - OWN_NAMES + own, xch_kind_word(own_names[own]), ""));
}

/* DebugAnnotation: name 10, uint_value 3, string_value 6. */
static void annotate(struct state *s, const char *name, uint64_t v, const char *text)
{
	s->inner.n = 0;
	add_text(&s->inner, 10, name);
	if (text) {
		add_text(&s->inner, 6, text);
	} else {
		add_int(&s->inner, 3, v);
	}
	add_part(&s->part, E_ANNOTATION, &s->inner);
}

/* Readers show the name beside the number. */
static void annotate_bytes(struct state *s, const char *name, uint64_t bytes)
{
	char text[40];

	snprintf(text, sizeof(text), "%s%s", name, bytes == STF_BYTES_AT_LEAST ? ", at least" : "");
	annotate(s, text, bytes, NULL);
}

static int put_message(struct xch_writer *w, struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	const struct xch_message *m = &e->u.message;
	int send = e->kind == XCH_SEND;

	begin_instant(s, e, send ? OWN_SEND : OWN_RECEIVE);
	if (m->other_known) {
		add_64(&s->part, send ? E_FLOW : E_FLOW_END, m->id);
	}
	annotate(s, "tag", m->tag, NULL);
	annotate_bytes(s, "size", m->size);
	annotate(s, "communicator", m->communicator, NULL);
	annotate(s, send ? "to process" : "from process", m->other->process, NULL);
	return put_event(w, s, e, err);
}

static struct track *counter_track(struct xch_writer *w, struct state *s, const struct xch_place *p,
	const struct xch_counter *c, struct tkm_err *err)
{
	struct sequence *q = &s->sequence[p->index];
	uint32_t i, n = q->counters;

	for (i = 0; i < q->counters; i++) {
		if (q->counter_index[i] == c->index) {
			return &q->counter[i];
		}
	}
	if (TKM_EXTEND(q->counter_index, n, i + 1) < 0 || TKM_EXTEND(q->counter, q->counters, i + 1) < 0) {
		tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", w->target);
		return NULL;
	}
	q->counter_index[i] = c->index;
	q->counter[i] = (struct track){ .uuid = s->next_uuid++ };
	return describe_counter(
		       w, s, q->counter[i].uuid, uuid_of(p), c->name, c->unit, c->type != STF_COUNTER_F8, err) < 0
		? NULL
		: &q->counter[i];
}

static int put_sample(struct xch_writer *w, struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	const struct xch_counter *c;
	struct track *k;
	uint32_t i;

	for (i = 0; i < e->u.sample.n; i++) {
		uint64_t v = e->u.sample.values[i];

		c = e->u.sample.counter[i];
		k = counter_track(w, s, e->place, c, err);
		if (!k) {
			return -1;
		}
		add_int(&s->part, E_TYPE, COUNTER);
		add_int(&s->part, E_TRACK, k->uuid);
		if (c->type == STF_COUNTER_F8) {
			add_64(&s->part, E_REAL, v);
		} else {
			add_int(&s->part, E_COUNTER, v - k->value);
			k->value = v;
		}
		if (put_event(w, s, e, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int put_text(struct xch_writer *w, struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	begin_instant(s, e, e->kind == XCH_COMMENT ? OWN_COMMENT : OWN_REPORT);
	annotate(s, "text", 0, e->u.text.text);
	return put_event(w, s, e, err);
}

static void annotate_collective(struct state *s, const struct xch_coll *c)
{
	annotate(s, "instance", c->id, NULL);
	annotate(s, "communicator", c->communicator, NULL);
	annotate_bytes(s, "sent", c->sent);
	annotate_bytes(s, "received", c->received);
}

/* Annotations of the end of a slice are the slice's. */
static int is_end(enum xch_kind k)
{
	return k == XCH_LEAVE || xch_lane_ends(k);
}

/* Begins the event of a slice on its track. Returns 1, 0: nothing was begun that it could end, or -1. */
static int choose_track(struct xch_writer *w, struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	struct xch_lanes *lanes = &s->sequence[e->place->index].lanes;
	struct xch_lane *l;

	if (xch_lane_begins(e->kind)) {
		l = xch_lane_begin(lanes, e);
		if (!l) {
			return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", w->target);
		}
		if (!l->user) {
			l->user = s->next_uuid++;
			if (describe_lane(w, s, e, l->user, err) < 0) {
				return -1;
			}
		}
	} else if (xch_lane_ends(e->kind)) {
		l = xch_lane_end(lanes, e);
		if (!l) {
			return 0;
		}
	} else {
		return e->kind != XCH_LEAVE || e->u.function != 0;
	}
	add_int(&s->part, E_TRACK, l->user);
	return 1;
}

static int perfetto_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	struct state *s = w->state;
	int rc;

	s->part.n = 0;
	if (!s->sequence[e->place->index].begun && begin_sequence(w, s, e->place, xch_ns(t, e->time), err) < 0) {
		return -1;
	}
	rc = choose_track(w, s, e, err);
	if (rc <= 0) {
		xch_lost(w, e->kind, rc == 0);
		return rc;
	}
	if (e->where) {
		annotate(s, is_end(e->kind) ? "end location" : "location", 0, e->where->name);
	}
	switch (e->kind) {
	case XCH_COLL_BEGIN:
		annotate_collective(s, &e->u.coll);
		return put_named(w, s, e, SLICE_BEGIN, err);
	case XCH_IO_BEGIN:
		annotate_bytes(s, "bytes", e->u.io.bytes);
		/* fall through */
	case XCH_ENTER:
	case XCH_SCOPE_BEGIN:
		return put_named(w, s, e, SLICE_BEGIN, err);
	case XCH_LEAVE:
	case XCH_SCOPE_END:
	case XCH_COLL_END:
	case XCH_IO_END:
		return put_named(w, s, e, SLICE_END, err);
	case XCH_SEND:
	case XCH_RECEIVE:
		return put_message(w, s, e, err);
	case XCH_SAMPLE:
		return put_sample(w, s, e, err);
	default:
		return put_text(w, s, e, err);
	}
}

static int perfetto_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct state *s = w->state;
	size_t i;

	/* readers take a packet for testing for nothing */
	add_text(&s->part, P_TEST_TEXT, PACKAGE_STRING);
	add_part(&s->packet, P_FOR_TESTING, &s->part);
	add_part(&s->inner, P_PACKET, &s->packet);
	if (fwrite(s->inner.b, 1, s->inner.n, w->f) != s->inner.n) {
		return cannot_write(w, err);
	}
	s->part.n = s->packet.n = s->inner.n = 0;
	s->t = t;
	s->next_uuid = 1 + t->n_places + t->n_processes;
	s->names = t->n_names + OWN_NAMES;
	s->sequence = calloc(t->n_places + 1, sizeof(*s->sequence));
	s->chunk = malloc(CHUNK);
	if (!s->sequence || !s->chunk) {
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory for %zu threads", w->target, t->n_places);
	}
	for (i = 0; i < t->n_places; i++) {
		if (describe_place(w, s, &t->place[i], err) < 0) {
			return -1;
		}
	}
	return put_bounds(w, s, err);
}

static int perfetto_end(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	(void)t;
	return flush(w, w->state, err);
}

static void perfetto_release(struct xch_writer *w, struct xch_trace *t)
{
	struct state *s = w->state;
	size_t i;

	for (i = 0; s->sequence && i < t->n_places; i++) {
		free(s->sequence[i].counter);
		free(s->sequence[i].counter_index);
		xch_lanes_free(&s->sequence[i].lanes);
		free(s->sequence[i].named);
	}
	free(s->sequence);
	free(s->chunk);
}

const struct xch_format xch_perfetto = {
	.name = "PERFETTO",
	.suffix = ".perfetto",
	.what = "Perfetto's protobuf",
	.mark = "Tickmark",
	.holds = XCH_MOST | XCH_BIT(XCH_LOCATIONS) | XCH_SCOPED | XCH_BIT(XCH_COMMENT) | XCH_BIT(XCH_REPORT) |
		XCH_BIT(XCH_PROCESSES),
	.stream = 1,
	.state_size = sizeof(struct state),
	.open = perfetto_open,
	.event = perfetto_event,
	.end = perfetto_end,
	.release = perfetto_release,
#ifdef HAVE_ZLIB
	.read = xch_perfetto_read,
	.is = xch_perfetto_is,
	.unclocked = 1,
	.restamp = xch_perfetto_restamp,
#endif
};

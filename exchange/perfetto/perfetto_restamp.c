/* SPDX-License-Identifier: BSD-3-Clause */
/* Corrects the stamps of Perfetto's packets (.pftrace, .perfetto-trace). A reader shows all of a file on one clock. In the copy this is
 * the time of day, which is the master's, corrected:
 * - The stamps of packets become stamps of it, exactly.
 * - Other times, of which Perfetto has more than a hundred kinds, stay as they are. Snapshots of clocks at the beginning tie them to
 *   it; by how much the correction changes from one to the next is part of the bound.
 * The node's own time of day, in snapshots, gets another number. All else stays byte for byte. The file is read twice. */
#include "config.h"
#include "exchange/perfetto/perfetto_restamp.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/newfile.h"
#include "exchange/perfetto/perfetto_clocks.h"
#include "exchange/perfetto/perfetto_packets.h"

/* Fields of Trace, TracePacket, ClockSnapshot and TraceAttributes. */
enum {
	PACKET = 1,
	FTRACE = 1,
	SNAPSHOT = 6,
	STAMP = 8,
	TRACK_EVENT = 11,
	ZLIB = 50,
	GPU_STAGE = 53,
	STAMP_CLOCK = 58,
	DEFAULTS = 59,
	VULKAN = 65,
	ATTRIBUTES = 126,
	ZSTD = 133,
	CLOCKS = 1,
	PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIME = 2,
};

/* What the node's own time of day is called in snapshots: a clock that is no clock of the kernel's. */
enum { OLD_REALTIME = 0x74696b };

enum { MOST_SNAPSHOTS = 200000 };
static const int64_t shortest_ns = 100000, longest_ns = 10000000000, margin_ns = 1000000000;

/* Lengths of time: the fields that lead to them, and their unit. */
static const struct length {
	uint32_t path[4];
	int unit_ns;
} lengths[] = { { { TRACK_EVENT, 6, 3, 0 }, 1000 }, { { GPU_STAGE, 2, 0, 0 }, 1 }, { { VULKAN, 2, 1, 0 }, 1 } };

struct pft_restamp {
	struct xch_restamp *x;
	struct tkm_err *err;
	struct xch_packets s;
	struct xch_pft_clocks clocks;
	int writes;      /* the second reading */
	uint64_t offset; /* of the packet */
	int64_t *bend;   /* of the anchor, ascending */
	size_t bends;
	double bound_s;                        /* of the last stamp */
	double other_s;                        /* the largest of the times that stay */
	struct xch_proto made, content, inner; /* the packet; what a compressed one has; the copy of that */
};

static int fail_pft(const struct pft_restamp *p, const char *what)
{
	return xch_packets_fail(&p->s, p->offset, what);
}

/* ---- stamps ---- */

/* The corrected time of day. Returns 0 or -1. */
static int correct_time_of_day(struct pft_restamp *p, const struct xch_pft_time *at, int64_t *out)
{
	double bound, within;
	int64_t raw;

	if (xch_pft_at_anchor(&p->clocks, at, &raw, &within) < 0 || raw < 0 ||
		p->x->at(p->x->user, (uint64_t)raw, out, &bound) < 0 ||
		__builtin_add_overflow(*out, p->x->realtime0_ns, out) || *out < 0) {
		return -1;
	}
	p->bound_s = bound + within;
	return 0;
}

static int correct_packet_stamp(struct pft_restamp *p, const struct xch_pft_time *at, int64_t *out)
{
	if (correct_time_of_day(p, at, out) < 0) {
		return fail_pft(p, "a stamp before the start of its clock, or too far away (another --timer?)");
	}
	p->x->worst_s = fmax(p->x->worst_s, p->bound_s);
	p->x->stamps++;
	return 0;
}

/* ---- ftrace ---- */

/* The sum of packed differences is the last time. */
static int note_differences(struct pft_restamp *p, const struct xch_proto_field *list)
{
	const unsigned char *at = list->p, *end = list->p + list->n;
	struct xch_pft_time t = { .clock = XCH_PFT_BOOTTIME };
	uint64_t v = 0;
	unsigned shift = 0;
	int first = 1;

	for (; at < end; at++) {
		v |= shift < 64 ? (uint64_t)(*at & 127) << shift : 0;
		shift += 7;
		if (*at < 128) {
			if (v > INT64_MAX || __builtin_add_overflow(t.ns, (int64_t)v, &t.ns) ||
				(first && xch_pft_note(&p->clocks, &t) < 0)) {
				return -1;
			}
			v = shift = 0;
			first = 0;
		}
	}
	return first ? 0 : xch_pft_note(&p->clocks, &t);
}

/* Events of the kernel: when they were, so that snapshots are there. */
static int note_ftrace(struct pft_restamp *p, const struct xch_pft_part *bundle)
{
	const unsigned char *at = bundle->p, *in;
	struct xch_proto_field f, g;
	int rc, inner = 0;

	while ((rc = xch_proto_next(&at, bundle->p + bundle->n, &f)) > 0) {
		if (f.number == 5 && f.wire == XCH_PROTO_VARINT && f.v != 0) {
			return fail_pft(p, "events of the kernel's ftrace by another clock than that since boot");
		}
		if ((f.number != 2 && f.number != 4) || f.wire != XCH_PROTO_BYTES) {
			continue;
		}
		in = f.p;
		while ((inner = xch_proto_next(&in, f.p + f.n, &g)) > 0) {
			struct xch_pft_time t = { .clock = XCH_PFT_BOOTTIME, .ns = (int64_t)g.v };

			if ((f.number == 2 && g.number == 1 && g.wire == XCH_PROTO_VARINT && g.v <= INT64_MAX &&
				    xch_pft_note(&p->clocks, &t) < 0) ||
				(f.number == 4 && (g.number == 1 || g.number == 7) && g.wire == XCH_PROTO_BYTES &&
					note_differences(p, &g) < 0)) {
				return fail_pft(p, "out of memory, or a time that is too far away");
			}
		}
		if (inner < 0) {
			return fail_pft(p, "events of ftrace that are damaged");
		}
	}
	return rc < 0 ? fail_pft(p, "events of ftrace that are damaged") : 0;
}

/* ---- parts of a packet ---- */

/* A field that can state the length of what the packet begins. at: its beginning; begin: that, corrected. */
static int put_with_length(
	struct pft_restamp *p, const struct xch_proto_field *f, const struct xch_pft_time *at, int64_t begin)
{
	const struct length *l;
	struct xch_pft_time end = *at;
	int64_t to, gain;
	uint64_t v;

	for (l = lengths; l < lengths + sizeof(lengths) / sizeof(lengths[0]) && l->path[0] != f->number; l++) {
	}
	if (l == lengths + sizeof(lengths) / sizeof(lengths[0]) || f->wire != XCH_PROTO_BYTES ||
		!xch_proto_find(f->p, f->n, l->path + 1, &v) || v == 0 || v > INT64_MAX) {
		xch_proto_copy(&p->made, f);
		return 0;
	}
	if (__builtin_mul_overflow((int64_t)v, (int64_t)l->unit_ns, &gain) ||
		__builtin_add_overflow(end.ns, gain, &end.ns)) {
		return fail_pft(p, "a length that is too large");
	}
	if (correct_packet_stamp(p, &end, &to) < 0) {
		return -1;
	}
	if (l->unit_ns > 1) { /* the length was cut to it, and is rounded to it */
		p->x->worst_s = fmax(p->x->worst_s, p->bound_s + 1.5e-9 * l->unit_ns);
	}
	p->x->reversed += to < begin;
	to = to < begin ? 0 : to - begin;
	xch_proto_replace(&p->made, f, l->path, (uint64_t)((to + l->unit_ns / 2) / l->unit_ns));
	return 0;
}

/* The node's time of day is another clock from now on. */
static void put_entry(struct xch_proto *m, const struct xch_proto_field *entry)
{
	const unsigned char *at = entry->p;
	struct xch_proto e = { .n = 0 };
	struct xch_proto_field f;

	while (xch_proto_next(&at, entry->p + entry->n, &f) > 0) {
		if (f.number == CLOCK_ID && f.wire == XCH_PROTO_VARINT && f.v == XCH_PFT_REALTIME) {
			xch_proto_int(&e, CLOCK_ID, OLD_REALTIME);
		} else {
			xch_proto_copy(&e, &f);
		}
	}
	xch_proto_bytes(m, entry->number, e.b, e.n);
	m->failed |= e.failed;
	xch_proto_free(&e);
}

/* A snapshot of the file: the clock of the trace stays the time of day. */
static void put_snapshot(struct xch_proto *m, const struct xch_proto_field *snapshot)
{
	const unsigned char *at = snapshot->p;
	struct xch_proto s = { .n = 0 };
	struct xch_proto_field f;

	while (xch_proto_next(&at, snapshot->p + snapshot->n, &f) > 0) {
		if (f.number == CLOCKS && f.wire == XCH_PROTO_BYTES) {
			put_entry(&s, &f);
		} else if (f.number != PRIMARY) {
			xch_proto_copy(&s, &f);
		}
	}
	xch_proto_int(&s, PRIMARY, XCH_PFT_REALTIME);
	xch_proto_bytes(m, snapshot->number, s.b, s.n);
	m->failed |= s.failed;
	xch_proto_free(&s);
}

static void put_defaults(struct xch_proto *m, const struct xch_proto_field *defaults)
{
	const unsigned char *at = defaults->p;
	struct xch_proto d = { .n = 0 };
	struct xch_proto_field f;

	while (xch_proto_next(&at, defaults->p + defaults->n, &f) > 0) {
		if (f.number == STAMP_CLOCK && f.wire == XCH_PROTO_VARINT) {
			xch_proto_int(&d, STAMP_CLOCK, XCH_PFT_REALTIME);
		} else {
			xch_proto_copy(&d, &f);
		}
	}
	xch_proto_bytes(m, defaults->number, d.b, d.n);
	m->failed |= d.failed;
	xch_proto_free(&d);
}

/* ---- packets ---- */

static int put_field(struct pft_restamp *p, const struct xch_proto_field *f, const struct xch_pft_time *at, int64_t now)
{
	int is_number = f->wire == XCH_PROTO_VARINT;

	if (at && f->number == STAMP && is_number) {
		xch_proto_int(&p->made, STAMP, (uint64_t)now);
	} else if (at && f->number == STAMP_CLOCK && is_number) {
		xch_proto_int(&p->made, STAMP_CLOCK, XCH_PFT_REALTIME);
	} else if (f->number == SNAPSHOT && f->wire == XCH_PROTO_BYTES) {
		put_snapshot(&p->made, f);
	} else if (f->number == DEFAULTS && f->wire == XCH_PROTO_BYTES) {
		put_defaults(&p->made, f);
	} else if (at) {
		return put_with_length(p, f, at, now);
	} else {
		xch_proto_copy(&p->made, f);
	}
	return 0;
}

/* Makes the copy of a packet. at: of its stamp; NULL: it has none, or keeps it. */
static int make_packet(struct pft_restamp *p, const struct xch_proto_field *packet, const struct xch_pft_packet *is,
	const struct xch_pft_time *at)
{
	const unsigned char *b = packet->p;
	struct xch_proto_field f;
	int64_t now = 0;
	uint32_t zero_of = 0;

	p->made.n = 0;
	if (at && at->ns == 0) {
		p->x->zeros++;
		zero_of = is->clock ? 0 : xch_pft_real_clock(&p->clocks, at->clock);
		at = NULL;
	}
	if (at && correct_packet_stamp(p, at, &now) < 0) {
		return -1;
	}
	while (xch_proto_next(&b, packet->p + packet->n, &f) > 0) {
		if (put_field(p, &f, at, now) < 0) {
			return -1;
		}
	}
	if (at && is->of_chrome && !is->clock) {
		xch_proto_int(&p->made, STAMP_CLOCK, XCH_PFT_REALTIME); /* readers take another clock for its default */
	}
	if (zero_of) {
		xch_proto_int(&p->made, STAMP_CLOCK, zero_of); /* the default is another one now */
	}
	return p->made.failed ? tkm_fail(p->err, TKM_ERR_NOMEM, "%s: out of memory", p->x->path) : 0;
}

static int contains(const struct xch_pft_part *part, const char *text)
{
	return part->p && memmem(part->p, part->n, text, strlen(text)) != NULL;
}

/* What cannot be corrected. */
static const char *refusal_of(const struct xch_pft_packet *is)
{
	if (contains(&is->attributes, "tickmark.timer")) {
		return "the file is corrected already";
	}
	if (contains(&is->testing, "Tickmark")) {
		return "Tickmark has written this file, so it is on a corrected time axis";
	}
	if (is->machine || is->remote.p) {
		return "packets of several machines, each with clocks of its own: record one file for each machine";
	}
	return is->log.p ? "messages of Android's log, which have the time of day: record without android.log" : NULL;
}

static int restamp_packet(struct pft_restamp *p, const struct xch_proto_field *packet, struct xch_proto *into);

/* The copy of a packet of packets, less these: what else it has stays. */
static void begin_compressed(struct pft_restamp *p, const struct xch_proto_field *packet)
{
	const unsigned char *b = packet->p;
	struct xch_proto_field f;

	p->made.n = 0;
	while (xch_proto_next(&b, packet->p + packet->n, &f) > 0) {
		if ((f.number != ZLIB && f.number != ZSTD) || f.wire != XCH_PROTO_BYTES) {
			xch_proto_copy(&p->made, &f);
		}
	}
}

static int restamp_inner(void *user, const struct xch_proto_field *f)
{
	struct pft_restamp *p = user;

	if (f->number == PACKET && f->wire == XCH_PROTO_BYTES) {
		return restamp_packet(p, f, &p->inner);
	}
	xch_proto_copy(&p->inner, f);
	return 0;
}

/* Packets in a packet. */
static int take_compressed(struct pft_restamp *p, const struct xch_proto_field *packet, const struct xch_pft_packet *is,
	struct xch_proto *into)
{
	int zstd = is->zlib.p == NULL;
	struct xch_proto packed = { .n = 0 };
	const char *why;
	int rc;

	if (into) {
		return fail_pft(p, "compressed packets in compressed packets");
	}
	p->inner.n = 0;
	rc = xch_packets_unpack(&p->s, p->offset, is, &p->content, restamp_inner, p);
	if (rc == 0 && p->writes) {
		why = p->inner.failed ? "out of memory" : xch_packets_compress(p->inner.b, p->inner.n, zstd, &packed);
		begin_compressed(p, packet);
		xch_proto_bytes(&p->made, zstd ? ZSTD : ZLIB, packed.b, packed.n);
		rc = why || p->made.failed ? fail_pft(p, why ? why : "out of memory") : 0;
	}
	xch_proto_free(&packed);
	return rc;
}

static int write_packet(struct pft_restamp *p, struct xch_proto *into)
{
	unsigned char head[20];
	size_t n;

	if (into) {
		xch_proto_bytes(into, PACKET, p->made.b, p->made.n);
		return 0;
	}
	head[0] = PACKET << 3 | XCH_PROTO_BYTES;
	n = 1 + xch_proto_varint(head + 1, p->made.n);
	return xch_packets_put(&p->s, head, n) < 0 ? -1 : xch_packets_put(&p->s, p->made.b, p->made.n);
}

/* into: NULL: the file. */
static int restamp_packet(struct pft_restamp *p, const struct xch_proto_field *packet, struct xch_proto *into)
{
	struct xch_pft_packet is;
	struct xch_pft_time at;
	const char *why = NULL;
	int rc;

	if (xch_pft_parse(packet->p, packet->n, &is) < 0) {
		return fail_pft(p, "a packet that is damaged, or no packet of Perfetto");
	}
	if (is.zlib.p || is.zstd.p) {
		rc = take_compressed(p, packet, &is, into);
		return rc < 0 || !p->writes ? rc : write_packet(p, into);
	}
	why = refusal_of(&is);
	rc = why ? -1 : xch_pft_take(&p->clocks, &is, &at, &why);
	if (rc < 0) {
		return fail_pft(p, why);
	}
	if (p->writes) {
		return make_packet(p, packet, &is, rc > 0 ? &at : NULL) < 0 ? -1 : write_packet(p, into);
	}
	p->x->stamps += rc > 0;
	if (rc > 0 && at.ns != 0 && xch_pft_note(&p->clocks, &at) < 0) {
		return fail_pft(p, "out of memory");
	}
	return is.ftrace.p ? note_ftrace(p, &is.ftrace) : 0;
}

static int read_file(struct pft_restamp *p)
{
	struct xch_proto_field f;
	int rc;

	while ((rc = xch_packets_next(&p->s, &f, &p->offset)) > 0) {
		if (f.number == PACKET && f.wire == XCH_PROTO_BYTES && !p->x->unbounded) {
			rc = restamp_packet(p, &f, NULL);
		} else {
			rc = xch_packets_put(&p->s, f.at, (size_t)(f.p + f.n - f.at));
		}
		if (rc < 0) {
			return -1;
		}
	}
	return rc;
}

/* ---- the correction ---- */

/* The name of the clock that the file has. */
static const char *timer_of(uint32_t clock)
{
	return clock == XCH_PFT_BOOTTIME     ? "clock_boottime"
		: clock == XCH_PFT_MONOTONIC ? "clock_monotonic"
		: clock == XCH_PFT_RAW       ? "clock_monotonic_raw"
		: clock == XCH_PFT_REALTIME  ? "clock_realtime"
					     : "";
}

static int begin_clocks(struct pft_restamp *p)
{
	static const uint32_t all[] = { XCH_PFT_BOOTTIME, XCH_PFT_MONOTONIC, XCH_PFT_RAW, XCH_PFT_REALTIME };
	uint32_t untied;
	size_t i;

	p->x->timer = timer_of(p->clocks.file_default);
	p->x->unordered = 1;
	if (p->x->begin(p->x->user, XCH_NONE, 1e9, p->err) < 0) {
		return -1;
	}
	if (p->x->unbounded) {
		return 0;
	}
	for (i = 0; i < 4 && strcmp(timer_of(all[i]), p->x->used_timer) != 0; i++) {
	}
	if (i == 4) {
		return tkm_fail(p->err, TKM_ERR_ARG, "%s: %s is no clock that Perfetto stamps with", p->x->path,
			p->x->used_timer);
	}
	if (xch_pft_anchor(&p->clocks, all[i], &untied) < 0) {
		return untied ? tkm_fail(p->err, TKM_ERR_FORMAT,
					"%s has stamps of clock %" PRIu32 " (%s), which no snapshot in it ties to %s: "
					"give --timer, or record with snapshots of clocks",
					p->x->path, untied, *timer_of(untied) ? timer_of(untied) : "a clock of its own",
					p->x->used_timer)
			      : tkm_fail(p->err, TKM_ERR_NOMEM, "%s: out of memory", p->x->path);
	}
	return 0;
}

/* ---- what is added ---- */

static void add_attribute(struct xch_proto *m, const char *key, const char *text, int64_t v)
{
	struct xch_proto a = { .n = 0 };

	xch_proto_text(&a, 1, key);
	if (text) {
		xch_proto_text(&a, 3, text);
	} else {
		xch_proto_int(&a, 2, (uint64_t)v);
	}
	xch_proto_bytes(m, 1, a.b, a.n);
	m->failed |= a.failed;
	xch_proto_free(&a);
}

/* Writes a packet of attributes. */
static int write_attributes(struct pft_restamp *p, struct xch_proto *attributes)
{
	int rc;

	p->made.n = 0;
	xch_proto_bytes(&p->made, ATTRIBUTES, attributes->b, attributes->n);
	rc = attributes->failed || p->made.failed ? tkm_fail(p->err, TKM_ERR_NOMEM, "%s: out of memory", p->x->path)
						  : write_packet(p, NULL);
	xch_proto_free(attributes);
	return rc;
}

static int describe_file(struct pft_restamp *p)
{
	struct xch_proto m = { .n = 0 };

	add_attribute(&m, "tickmark.timer", p->x->used_timer, 0);
	add_attribute(&m, "tickmark.rank", NULL, p->x->rank);
	if (p->x->unbounded) {
		add_attribute(&m, "tickmark.unbounded", NULL, 1);
	}
	return write_attributes(p, &m);
}

static int describe_bound(struct pft_restamp *p)
{
	struct xch_proto m = { .n = 0 };

	p->x->worst_s = fmax(p->x->worst_s, p->other_s);
	if (!isfinite(p->x->worst_s)) {
		return 0;
	}
	add_attribute(&m, "tickmark.bound_ns", NULL, (int64_t)ceil(p->x->worst_s * 1e9));
	return write_attributes(p, &m);
}

static int write_snapshot(struct pft_restamp *p, int64_t anchor_ns, int64_t now)
{
	struct xch_proto s = { .n = 0 };
	int k, same = p->clocks.anchor == XCH_PFT_REALTIME;

	for (k = same; k < 2; k++) {
		struct xch_proto e = { .n = 0 };

		xch_proto_int(&e, CLOCK_ID, k ? XCH_PFT_REALTIME : p->clocks.anchor);
		xch_proto_int(&e, CLOCK_TIME, (uint64_t)(k ? now : anchor_ns));
		xch_proto_bytes(&s, CLOCKS, e.b, e.n);
		s.failed |= e.failed;
		xch_proto_free(&e);
	}
	if (same) { /* the node's own */
		struct xch_proto e = { .n = 0 };

		xch_proto_int(&e, CLOCK_ID, OLD_REALTIME);
		xch_proto_int(&e, CLOCK_TIME, (uint64_t)anchor_ns);
		xch_proto_bytes(&s, CLOCKS, e.b, e.n);
		s.failed |= e.failed;
		xch_proto_free(&e);
	}
	xch_proto_int(&s, PRIMARY, XCH_PFT_REALTIME);
	p->made.n = 0;
	xch_proto_bytes(&p->made, SNAPSHOT, s.b, s.n);
	p->made.failed |= s.failed;
	xch_proto_free(&s);
	return p->made.failed ? tkm_fail(p->err, TKM_ERR_NOMEM, "%s: out of memory", p->x->path)
			      : write_packet(p, NULL);
}

/* From and to when there are times, by the anchor. Returns 1, or 0: there are none. */
static int find_range(const struct pft_restamp *p, int64_t *from, int64_t *to)
{
	const struct xch_pft_range *r = NULL;
	int64_t least, most;
	double within;

	*from = INT64_MAX;
	*to = 0;
	while ((r = tkm_table_next(&p->clocks.used, r))) {
		if (xch_pft_at_anchor(&p->clocks, &r->least, &least, &within) == 0 &&
			xch_pft_at_anchor(&p->clocks, &r->most, &most, &within) == 0) {
			*from = least < *from ? least : *from;
			*to = most > *to ? most : *to;
		}
	}
	return *from <= *to;
}

static int bends_in_order(const void *a, const void *b)
{
	int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;

	return p < q ? -1 : p > q;
}

/* The first bend after that time. */
static int64_t bend_after(const struct pft_restamp *p, int64_t ns)
{
	size_t low = 0, high = p->bends, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (p->bend[mid] <= ns) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low < p->bends ? p->bend[low] : INT64_MAX;
}

/* A stretch of the walk, and what it has at most. */
struct walk_step {
	int64_t from, offset_ns, to; /* offset_ns: of the corrected time, at its beginning */
	double change_ns, bound_s;   /* change_ns: of that offset */
};

/* From one bend to the next the correction is a cubic, which four points show; the bound is as in calib/map/stretch.c. */
static int look_along(struct pft_restamp *p, int64_t from, int64_t to, struct walk_step *s)
{
	double off[4], bound[4], slope = 0, bend = 0;
	int64_t now;
	int i;

	for (i = 0; i < 4; i++) {
		int64_t ns = i < 3 ? from + (to - from) / 3 * i : to;

		if (correct_time_of_day(p, &(struct xch_pft_time){ .clock = p->clocks.anchor, .ns = ns }, &now) < 0) {
			return fail_pft(p, "a time before the start of its clock, or too far away (another --timer?)");
		}
		off[i] = (double)(now - ns - s->offset_ns);
		bound[i] = p->bound_s;
		slope = i ? fmax(slope, fabs(bound[i] - bound[i - 1])) : 0;
	}
	for (i = 0; i < 2; i++) { /* its second derivative is largest at an end */
		double a = off[i] - 2 * off[i + 1] + off[i + 2], b = off[1 - i] - 2 * off[2 - i] + off[3 - i];

		bend = fmax(bend, fmax(fabs(a), fabs(2 * a - b)));
	}
	for (i = 0; i < 4; i++) {
		s->change_ns = fmax(s->change_ns, fabs(off[i]) + bend / 8);
	}
	for (i = 0; i < 4; i++) {
		s->bound_s = fmax(s->bound_s, i ? fmax(bound[i], (bound[i] + bound[i - 1] + slope) / 2) : bound[i]);
	}
	return 0;
}

/* Ends early where the change is too large. */
static int look_at_step(struct pft_restamp *p, struct walk_step *s, double most_ns)
{
	int64_t from, to;

	s->change_ns = s->bound_s = 0;
	for (from = s->from; from <= s->to && s->change_ns <= most_ns; from = to + 1) {
		to = bend_after(p, from);
		to = to > s->to ? s->to : to - 1;
		if (look_along(p, from, to, s) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Walks over the range in steps in which the correction changes by at most quantum_ns. Returns their number, or -1. The longest step
 * grows with the range: a stamp of 1 on a node that was up for months makes it long. */
static int64_t walk_snapshots(struct pft_restamp *p, int64_t from, int64_t to, int64_t quantum_ns, int write)
{
	const int64_t wide_ns = (to - from) / (MOST_SNAPSHOTS / 2),
		      most_ns = wide_ns > longest_ns ? wide_ns : longest_ns;
	struct walk_step s = { .from = from };
	int64_t step_ns = margin_ns, n = 1, now;
	double jump_ns = 0, bound_s = 0;

	for (; s.from < to && n <= MOST_SNAPSHOTS; n++) {
		if (correct_time_of_day(p, &(struct xch_pft_time){ .clock = p->clocks.anchor, .ns = s.from }, &now) <
			0) {
			return fail_pft(p, "a time before the start of its clock, or too far away (another --timer?)");
		}
		s.offset_ns = now - s.from;
		for (;; step_ns /= 2) {
			s.to = to - s.from < step_ns ? to : s.from + step_ns;
			if (look_at_step(p, &s, step_ns <= shortest_ns ? INFINITY : (double)quantum_ns) < 0) {
				return -1;
			}
			if (s.change_ns <= (double)quantum_ns || step_ns <= shortest_ns) {
				break;
			}
		}
		if (write && write_snapshot(p, s.from, now) < 0) {
			return -1;
		}
		jump_ns = fmax(jump_ns, s.change_ns);
		bound_s = fmax(bound_s, s.bound_s);
		step_ns = s.change_ns < (double)quantum_ns / 3 && step_ns < most_ns ? 2 * step_ns : step_ns;
		s.from = s.to;
	}
	p->other_s = bound_s + jump_ns * 1e-9 + xch_pft_widest(&p->clocks, (double)margin_ns * 1e-9);
	return n;
}

/* Ties the anchor to the corrected time of day, from before the first time to after the last one. */
static int write_snapshots(struct pft_restamp *p)
{
	int64_t from, to, n, quantum_ns = 50;

	p->offset = 0;
	if (!find_range(p, &from, &to)) {
		return 0;
	}
	if (p->x->bends && p->x->bends(p->x->user, &p->bend, &p->bends) < 0) {
		return tkm_fail(p->err, TKM_ERR_NOMEM, "%s: out of memory", p->x->path);
	}
	if (p->bends > 1) {
		qsort(p->bend, p->bends, sizeof(*p->bend), bends_in_order);
	}
	from = from > margin_ns ? from - margin_ns : 0;
	to = to < INT64_MAX - margin_ns ? to + margin_ns : to;
	while ((n = walk_snapshots(p, from, to, quantum_ns, 0)) > MOST_SNAPSHOTS) {
		if (quantum_ns > INT64_MAX / 2) {
			return fail_pft(p, "times that are too far from each other");
		}
		quantum_ns *= 2;
	}
	return n < 0 || walk_snapshots(p, from, to, quantum_ns, 1) < 0 ? -1 : 0;
}

/* ---- the file ---- */

static int copy_packets(struct pft_restamp *p, FILE *out)
{
	p->writes = 1;
	p->x->stamps = p->x->unbounded ? p->x->stamps : 0;
	p->x->worst_s = p->x->unbounded ? INFINITY : 0;
	if (xch_packets_begin(&p->s, p->x->path, out, p->err) < 0 || describe_file(p) < 0) {
		return -1;
	}
	if (p->x->unbounded) {
		return read_file(p) < 0 ? -1 : xch_packets_end(&p->s);
	}
	if (write_snapshots(p) < 0 || read_file(p) < 0 || describe_bound(p) < 0) {
		return -1;
	}
	return xch_packets_end(&p->s);
}

int xch_perfetto_restamp(struct xch_restamp *x, struct tkm_err *err)
{
	struct pft_restamp p = { .x = x, .err = err };
	struct tkm_newfile n;
	int rc = -1;

	if (xch_packets_begin(&p.s, x->path, NULL, err) == 0 && read_file(&p) == 0) {
		rc = x->stamps || tkm_table_count(&p.clocks.used)
			? begin_clocks(&p)
			: tkm_fail(err, TKM_ERR_FORMAT, "%s has no packet with a stamp", x->path);
	}
	xch_pft_rewind(&p.clocks);
	rc = rc == 0 ? tkm_newfile_begin(&n, x->to, x->force, err) : -1;
	if (rc == 0 && copy_packets(&p, n.f) < 0) {
		tkm_newfile_abort(&n);
		rc = -1;
	}
	xch_packets_free(&p.s);
	xch_pft_free(&p.clocks);
	xch_proto_free(&p.made);
	xch_proto_free(&p.content);
	xch_proto_free(&p.inner);
	free(p.bend);
	return rc == 0 ? tkm_newfile_commit(&n, err) : -1;
}

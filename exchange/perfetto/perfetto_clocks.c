/* SPDX-License-Identifier: BSD-3-Clause */
/* As trace_processor's clock_synchronizer.cc and proto_trace_reader.cc do it; but a time between two snapshots is put between both. */
#include "config.h"
#include "exchange/perfetto/perfetto_clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "exchange/perfetto/perfetto_proto.h"

enum { STATE_CLEARED = 1, NEEDS_STATE = 2, DEFAULTS_CLOCK = 58 };

/* By how much the rates of two clocks can differ: NTP and adjtime() steer the kernel's by 500 ppm each; a quartz of its own is off by as
 * much, and another one, too. By the tick the kernel's changes by 10 %. As timers/quality/assume.c has it. */
static const double steered = 1e-3, free_drift = 1e-3, tick_limit = 0.1;
/* A snapshot reads its clocks one after the other. A coarse clock is that of the kernel's last tick. */
static const double read_within_s = 1e-6, coarse_s = 0.01;

struct pft_sequence {
	uint32_t clock; /* 0: no default of its own */
	int valid;      /* its state has begun */
};

/* A clock of one sequence, as its last snapshot states it. */
struct pft_own {
	int known, incremental;
	int64_t unit_ns, base_ns, last_ns;
	struct xch_pft_time other;
};

struct own_key {
	uint64_t sequence, clock;
};

/* An entry of a snapshot. */
struct pft_entry {
	uint64_t clock, ticks, unit_ns;
	int incremental;
};

/* ---- packets ---- */

static struct xch_pft_part *part_of(struct xch_pft_packet *p, uint32_t number)
{
	switch (number) {
	case 1:
		return &p->ftrace;
	case 6:
		return &p->snapshot;
	case 39:
		return &p->log;
	case 50:
		return &p->zlib;
	case 59:
		return &p->defaults;
	case 107:
		return &p->remote;
	case 126:
		return &p->attributes;
	case 133:
		return &p->zstd;
	case 900:
		return &p->testing;
	default:
		return NULL;
	}
}

static void take_number(struct xch_pft_packet *p, const struct xch_proto_field *f)
{
	switch (f->number) {
	case 8:
		p->has_stamp = 1;
		p->stamp = f->v;
		break;
	case 10:
		p->sequence = f->v & UINT32_MAX;
		break;
	case 13:
		p->flags = f->v;
		break;
	case 41:
		p->cleared = f->v != 0;
		break;
	case 42:
		p->lost = f->v != 0;
		break;
	case 58:
		p->clock = (uint32_t)f->v;
		break;
	case 98:
		p->machine = f->v & UINT32_MAX;
		break;
	default:
		break;
	}
}

int xch_pft_parse(const unsigned char *b, size_t n, struct xch_pft_packet *p)
{
	const unsigned char *at = b;
	struct xch_proto_field f;
	struct xch_pft_part *part;
	int rc;

	memset(p, 0, sizeof(*p));
	while ((rc = xch_proto_next(&at, b + n, &f)) > 0) {
		part = f.wire == XCH_PROTO_BYTES ? part_of(p, f.number) : NULL;
		if (part) {
			*part = (struct xch_pft_part){ f.p, f.n };
		} else if (f.wire == XCH_PROTO_VARINT) {
			take_number(p, &f);
		}
		p->of_chrome |= f.wire == XCH_PROTO_BYTES && (f.number == 5 || f.number == 51);
	}
	return rc;
}

/* ---- snapshots ---- */

static int is_own(uint64_t clock)
{
	return clock >= XCH_PFT_OWN && clock <= XCH_PFT_OWN_LAST;
}

/* Returns 0, or -1: it is damaged. */
static int parse_entry(const unsigned char *b, size_t n, struct pft_entry *e)
{
	const unsigned char *at = b;
	struct xch_proto_field f;
	int rc;

	*e = (struct pft_entry){ .unit_ns = 1 };
	while ((rc = xch_proto_next(&at, b + n, &f)) > 0) {
		if (f.wire != XCH_PROTO_VARINT) {
			continue;
		}
		e->clock = f.number == 1 ? f.v & UINT32_MAX : e->clock;
		e->ticks = f.number == 2 ? f.v : e->ticks;
		e->incremental = f.number == 3 ? f.v != 0 : e->incremental;
		e->unit_ns = f.number == 4 && f.v > 0 ? f.v : e->unit_ns;
	}
	return rc;
}

/* Returns 0 or -1: beyond 292 years. */
static int entry_ns(const struct pft_entry *e, int64_t *ns)
{
	return e->unit_ns > INT64_MAX || e->ticks > INT64_MAX ||
			__builtin_mul_overflow((int64_t)e->ticks, (int64_t)e->unit_ns, ns)
		? -1
		: 0;
}

/* Which of the clocks of a snapshot says when it was: the anchor, else the time since boot, else the first one. */
static int is_better_clock(const struct xch_pft_clocks *c, uint32_t clock, uint32_t than)
{
	return than == 0 ||
		(than != c->anchor && (clock == c->anchor || (than != XCH_PFT_BOOTTIME && clock == XCH_PFT_BOOTTIME)));
}

static int note_reading(struct xch_pft_clocks *c, const struct xch_pft_time *at)
{
	if (TKM_GROW(c->reading, c->room, c->readings + 1) < 0) {
		return -1;
	}
	c->reading[c->readings++] = (struct xch_pft_reading){ c->snapshots, *at };
	return 0;
}

/* The clocks that all share. Returns 0 or -1 with *why. */
static int take_shared(
	struct xch_pft_clocks *c, const struct xch_pft_part *s, struct xch_pft_time *best, const char **why)
{
	const unsigned char *at = s->p;
	struct xch_proto_field f;
	struct xch_pft_time t = { .clock = 0 };
	struct pft_entry e;
	size_t before = c->readings;
	int rc, has_boot = 0;
	uint32_t primary = 0;

	while ((rc = xch_proto_next(&at, s->p + s->n, &f)) > 0) {
		primary = f.number == 2 && f.wire == XCH_PROTO_VARINT ? (uint32_t)f.v : primary;
		if (f.number != 1 || f.wire != XCH_PROTO_BYTES) {
			continue;
		}
		if (parse_entry(f.p, f.n, &e) < 0 || entry_ns(&e, &t.ns) < 0) {
			rc = -1;
			break;
		}
		t.clock = (uint32_t)e.clock;
		if (is_own(e.clock) || e.clock == 0) {
			continue;
		}
		has_boot |= e.clock == XCH_PFT_BOOTTIME;
		*best = is_better_clock(c, t.clock, best->clock) ? t : *best;
		if (!c->anchor && note_reading(c, &t) < 0) {
			*why = "out of memory for its snapshots of clocks";
			return -1;
		}
	}
	if (rc < 0) {
		*why = "a snapshot of clocks that is damaged";
		return -1;
	}
	if (c->readings == before + 1) {
		c->readings = before; /* of one clock: it ties nothing */
	}
	primary = primary == 0 && has_boot ? XCH_PFT_BOOTTIME : primary;
	c->file_default = !c->anchor && primary && !is_own(primary) ? primary : c->file_default;
	c->snapshots++;
	return 0;
}

/* The sequence's own clocks, read with *best. */
static int take_own(struct xch_pft_clocks *c, const struct xch_pft_packet *p, const struct xch_pft_time *best)
{
	const unsigned char *at = p->snapshot.p;
	struct xch_proto_field f;
	struct pft_entry e;
	struct pft_own *o;

	while (xch_proto_next(&at, p->snapshot.p + p->snapshot.n, &f) > 0) {
		struct own_key key = { p->sequence, 0 };

		if (f.number != 1 || f.wire != XCH_PROTO_BYTES || parse_entry(f.p, f.n, &e) < 0 || !is_own(e.clock)) {
			continue;
		}
		key.clock = e.clock;
		o = tkm_table_put(&c->own, &key, sizeof(key), sizeof(*o));
		if (!o) {
			return -1;
		}
		o->known = best->clock != 0 && entry_ns(&e, &o->base_ns) == 0;
		o->incremental = e.incremental;
		o->unit_ns = (int64_t)e.unit_ns;
		o->last_ns = o->base_ns;
		o->other = *best;
	}
	return 0;
}

/* ---- stamps ---- */

/* A stamp of a clock of the sequence's own. */
static int own_stamp(struct xch_pft_clocks *c, const struct xch_pft_packet *p, uint32_t clock, struct xch_pft_time *at,
	const char **why)
{
	struct own_key key = { p->sequence, clock };
	struct pft_own *o = tkm_table_find(&c->own, &key, sizeof(key));
	int64_t ns;

	if (!o || !o->known) {
		*why = "a stamp of a clock of its sequence that no snapshot before it ties to another clock";
		return -1;
	}
	if (p->stamp > INT64_MAX || __builtin_mul_overflow((int64_t)p->stamp, o->unit_ns, &ns) ||
		(o->incremental && __builtin_add_overflow(ns, o->last_ns, &ns)) ||
		__builtin_sub_overflow(ns, o->base_ns, &at->ns) ||
		__builtin_add_overflow(at->ns, o->other.ns, &at->ns)) {
		*why = "a stamp that is too far away";
		return -1;
	}
	o->last_ns = ns;
	/* one that counts from stamp to stamp is the writer's notation of the other */
	at->within_s = o->incremental
		? 0
		: read_within_s + (steered + free_drift) * fabs((double)ns - (double)o->base_ns) * 1e-9;
	at->clock = o->other.clock;
	at->unit_ns = o->unit_ns;
	return 1;
}

/* What the packet says of its sequence. Returns the sequence, or NULL with *why. */
static struct pft_sequence *take_state(struct xch_pft_clocks *c, const struct xch_pft_packet *p, const char **why)
{
	struct pft_sequence *q = tkm_table_put(&c->sequences, &p->sequence, sizeof(p->sequence), sizeof(*q));
	const unsigned char *at = p->defaults.p;
	struct xch_proto_field f;
	int rc = 0;

	if (!q) {
		*why = "out of memory for its sequences";
		return NULL;
	}
	if (p->cleared || (p->flags & STATE_CLEARED)) {
		*q = (struct pft_sequence){ .valid = 1 };
	} else if (p->lost) {
		q->valid = 0;
	}
	if (at) {
		q->clock = 0;
	}
	while (at && (rc = xch_proto_next(&at, p->defaults.p + p->defaults.n, &f)) > 0) {
		q->clock = f.number == DEFAULTS_CLOCK && f.wire == XCH_PROTO_VARINT ? (uint32_t)f.v : q->clock;
	}
	*why = "defaults of packets that are damaged";
	return rc < 0 ? NULL : q;
}

int xch_pft_take(struct xch_pft_clocks *c, const struct xch_pft_packet *p, struct xch_pft_time *at, const char **why)
{
	struct xch_pft_time best = { .clock = 0 };
	struct pft_sequence *q = take_state(c, p, why);
	uint32_t clock;

	if (!q) {
		return -1;
	}
	if (p->snapshot.p) {
		if (take_shared(c, &p->snapshot, &best, why) < 0) {
			return -1;
		}
		if (take_own(c, p, &best) < 0) {
			*why = "out of memory for its clocks";
			return -1;
		}
	}
	clock = p->clock ? p->clock : q->clock;
	if (!p->has_stamp || ((p->flags & NEEDS_STATE) && !q->valid) || (p->snapshot.p && is_own(clock))) {
		return 0;
	}
	if (is_own(clock)) {
		return own_stamp(c, p, clock, at, why);
	}
	*at = (struct xch_pft_time){ clock == 0 && p->of_chrome ? XCH_PFT_MONOTONIC : clock, (int64_t)p->stamp, 1, 0 };
	*why = "a stamp that is too far away";
	return p->stamp > INT64_MAX ? -1 : 1;
}

int xch_pft_note(struct xch_pft_clocks *c, const struct xch_pft_time *at)
{
	struct xch_pft_range *r = tkm_table_find(&c->used, &at->clock, sizeof(at->clock));

	if (!r) {
		r = tkm_table_put(&c->used, &at->clock, sizeof(at->clock), sizeof(*r));
		if (!r) {
			return -1;
		}
		r->least = r->most = *at;
	}
	r->least = at->ns < r->least.ns ? *at : r->least;
	r->most = at->ns > r->most.ns ? *at : r->most;
	return 0;
}

void xch_pft_rewind(struct xch_pft_clocks *c)
{
	tkm_table_free(&c->sequences);
	tkm_table_free(&c->own);
	c->sequences = c->own = (struct tkm_table){ 0 };
}

/* ---- from clock to clock ---- */

static int pairs_in_order(const void *a, const void *b)
{
	const struct xch_pft_pair *p = a, *q = b;

	return p->from_ns < q->from_ns ? -1 : p->from_ns > q->from_ns;
}

/* Collects the snapshots that have both. */
static int pair_with_anchor(const struct xch_pft_clocks *c, uint32_t clock, struct xch_pft_range *r)
{
	size_t i = 0, first;
	const struct xch_pft_reading *from, *to;

	while (i < c->readings) {
		from = to = NULL;
		for (first = i; i < c->readings && c->reading[i].snapshot == c->reading[first].snapshot; i++) {
			from = c->reading[i].at.clock == clock ? &c->reading[i] : from;
			to = c->reading[i].at.clock == c->anchor ? &c->reading[i] : to;
		}
		if (from && to) {
			if (TKM_GROW(r->pair, r->room, r->pairs + 1) < 0) {
				return -1;
			}
			r->pair[r->pairs++] = (struct xch_pft_pair){ from->at.ns, to->at.ns };
		}
	}
	if (r->pairs > 1) {
		qsort(r->pair, r->pairs, sizeof(*r->pair), pairs_in_order);
	}
	return 0;
}

uint32_t xch_pft_real_clock(const struct xch_pft_clocks *c, uint32_t clock)
{
	return clock != XCH_PFT_DEFAULT ? clock : c->file_default ? c->file_default : c->anchor;
}

int xch_pft_anchor(struct xch_pft_clocks *c, uint32_t anchor, uint32_t *untied)
{
	struct xch_pft_range *r = NULL;
	uint32_t clock;

	c->anchor = anchor;
	while ((r = tkm_table_next(&c->used, r))) {
		clock = xch_pft_real_clock(c, *(const uint32_t *)tkm_table_key(r));
		*untied = 0;
		if (clock != anchor && pair_with_anchor(c, clock, r) < 0) {
			return -1;
		}
		*untied = clock;
		if (clock != anchor && r->pairs == 0) {
			return -1;
		}
	}
	return 0;
}

static int run_evenly(uint32_t a, uint32_t b)
{
	return (a == XCH_PFT_MONOTONIC || a == XCH_PFT_BOOTTIME) && (b == XCH_PFT_MONOTONIC || b == XCH_PFT_BOOTTIME);
}

static int is_coarse(uint32_t clock)
{
	return clock == XCH_PFT_COARSE || clock == XCH_PFT_COARSE_MONOTONIC;
}

/* Does the kernel steer it? It steers all of these together. */
static int is_steered(uint32_t clock)
{
	return is_coarse(clock) || clock == XCH_PFT_REALTIME || clock == XCH_PFT_MONOTONIC || clock == XCH_PFT_BOOTTIME;
}

/* By how much their rates can differ. */
static double rate_limit(uint32_t a, uint32_t b)
{
	int kernels = is_steered(a) + is_steered(b), raw = a == XCH_PFT_RAW || b == XCH_PFT_RAW;

	return kernels == 2 ? 0 : kernels == 1 && raw ? steered : steered + free_drift;
}

static double larger_width(double a, double b)
{
	return a > b ? a : b;
}

/* How far off a time between two snapshots can be, on the straight line or as far from the first as it was there: a clock can be
 * steered there and back, or be set. One that is faster than it can be steered was set, or has another tick. */
static double between_pairs(const struct xch_pft_clocks *c, uint32_t clock, const struct xch_pft_pair *a)
{
	double length_s = (double)((__int128)a[1].from_ns - a->from_ns) * 1e-9,
	       gain_s = fabs((double)((__int128)a[1].to_ns - a->to_ns - a[1].from_ns + a->from_ns)) * 1e-9,
	       limit = rate_limit(clock, c->anchor);

	if (limit > 0 && gain_s - 2 * read_within_s > limit * length_s) {
		limit += tick_limit;
	}
	return gain_s + limit * length_s;
}

/* The same at such a distance before the first or after the last. */
static double beyond_pairs(const struct xch_pft_clocks *c, uint32_t clock, double distance_s)
{
	return run_evenly(clock, c->anchor) ? 0
					    : larger_width(steered, rate_limit(clock, c->anchor)) * fabs(distance_s);
}

double xch_pft_widest(const struct xch_pft_clocks *c, double margin_s)
{
	const struct xch_pft_range *r = NULL;
	const struct xch_pft_pair *first, *last;
	double widest_s = 0;
	uint32_t clock;
	size_t i;

	while ((r = tkm_table_next(&c->used, r))) {
		clock = xch_pft_real_clock(c, *(const uint32_t *)tkm_table_key(r));
		if (r->pairs == 0) {
			continue;
		}
		first = r->pair;
		last = first + r->pairs - 1;
		for (i = 0; i + 1 < r->pairs; i++) {
			widest_s = larger_width(widest_s, between_pairs(c, clock, first + i));
		}
		widest_s = larger_width(widest_s,
			beyond_pairs(c, clock,
				larger_width((double)first->from_ns - (double)r->least.ns, 0) * 1e-9 + margin_s));
		widest_s = larger_width(widest_s,
			beyond_pairs(c, clock,
				larger_width((double)r->most.ns - (double)last->from_ns, 0) * 1e-9 + margin_s));
		widest_s += read_within_s + (is_coarse(clock) || is_coarse(c->anchor) ? coarse_s : 0);
	}
	return widest_s;
}

int xch_pft_at_anchor(
	const struct xch_pft_clocks *c, const struct xch_pft_time *at, int64_t *anchor_ns, double *within_s)
{
	uint32_t clock = xch_pft_real_clock(c, at->clock);
	const struct xch_pft_range *r = tkm_table_find(&c->used, &at->clock, sizeof(at->clock));
	const struct xch_pft_pair *a, *b;
	size_t low = 0, high, mid;
	__int128 v;

	*within_s = at->within_s + (at->unit_ns > 1 ? (double)at->unit_ns * 1e-9 : 0); /* a stamp is cut to its unit */
	*anchor_ns = at->ns;
	if (clock == c->anchor || !r || r->pairs == 0) {
		return clock == c->anchor ? 0 : -1;
	}
	for (high = r->pairs; high - low > 1;) {
		mid = low + (high - low) / 2;
		*(r->pair[mid].from_ns <= at->ns ? &low : &high) = mid;
	}
	a = &r->pair[low];
	b = low + 1 < r->pairs ? a + 1 : a;
	v = (__int128)a->to_ns + at->ns - a->from_ns;
	*within_s += read_within_s + (is_coarse(clock) || is_coarse(c->anchor) ? coarse_s : 0);
	if (at->ns >= a->from_ns && b->from_ns > a->from_ns) {
		__int128 length = (__int128)b->from_ns - a->from_ns, gain = (__int128)b->to_ns - a->to_ns - length;

		v += gain * ((__int128)at->ns - a->from_ns) / length;
		*within_s += between_pairs(c, clock, a);
	} else {
		*within_s += beyond_pairs(c, clock, (double)((__int128)at->ns - a->from_ns) * 1e-9);
	}
	*anchor_ns = (int64_t)v;
	return v < 0 || v > INT64_MAX ? -1 : 0;
}

void xch_pft_free(struct xch_pft_clocks *c)
{
	struct xch_pft_range *r = NULL;

	while ((r = tkm_table_next(&c->used, r))) {
		free(r->pair);
	}
	tkm_table_free(&c->used);
	xch_pft_rewind(c);
	free(c->reading);
	memset(c, 0, sizeof(*c));
}

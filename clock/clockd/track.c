/* SPDX-License-Identifier: BSD-3-Clause */
/* From readings of a reference to the line of a clock page; see clock/clockd/track.h. */
#include "config.h"
#include "clock/clockd/track.h"

#include <math.h>
#include <string.h>

static void forget_track(struct tkc_track *t)
{
	t->anchors = 0;
	t->low = t->ns_per_tick * (1 - t->max_drift);
	t->high = t->ns_per_tick * (1 + t->max_drift);
}

void tkc_track_begin(struct tkc_track *t, double ns_per_tick, double max_drift, double max_wander, int64_t valid_ticks)
{
	memset(t, 0, sizeof(*t));
	t->ns_per_tick = ns_per_tick;
	t->max_drift = max_drift;
	t->max_wander = max_wander;
	t->valid_ticks = valid_ticks;
	forget_track(t);
}

/* Limits the rate at any instant by the mean rate since each earlier reading, +- two wanders. Returns 0, or -1: no rate
 * is possible. */
static int learn_rate(struct tkc_track *t, const struct tkc_reading *r)
{
	double low = t->low, high = t->high;
	size_t i;

	for (i = 0; i < t->anchors; i++) {
		double x = (double)(r->raw - t->anchor[i].raw), passed = (double)(r->at_ns - t->anchor[i].at_ns);
		double off = r->half_ns + t->anchor[i].half_ns + 2;

		if (x <= 0) {
			return -1;
		}
		low = fmax(low, (passed - off) / x - 2 * t->max_wander * t->ns_per_tick);
		high = fmin(high, (passed + off) / x + 2 * t->max_wander * t->ns_per_tick);
	}
	if (low > high) {
		return -1;
	}
	t->low = low;
	t->high = high;
	return 0;
}

/* The first reading is kept. When there are too many, every second one of the others is removed. */
static void add_reading(struct tkc_track *t, const struct tkc_reading *r)
{
	size_t i, to = 1;

	if (t->anchors == TKC_ANCHORS) {
		for (i = 2; i < TKC_ANCHORS; i += 2) {
			t->anchor[to++] = t->anchor[i];
		}
		t->anchors = to;
	}
	t->anchor[t->anchors].raw = r->raw;
	t->anchor[t->anchors].at_ns = r->at_ns;
	t->anchor[t->anchors].half_ns = r->half_ns;
	t->anchors++;
}

/* Before a leap second the page ends where the last second before it does. */
static int64_t until_leap(const struct tkc_reading *r, double ns_per_tick, int64_t valid_ticks)
{
	/* for one left out, time jumps a second earlier */
	double left = ((double)(r->leap_ns - 1000000000 - r->at_ns) - r->half_ns) / ns_per_tick * 0.999;

	return r->leap_ns && left < (double)valid_ticks ? (int64_t)fmax(left, 0) : valid_ticks;
}

void tkc_track_add(struct tkc_track *t, const struct tkc_reading *r, struct tkc_map *m)
{
	memset(m, 0, sizeof(*m));
	m->raw = r->raw;
	m->at_ns = r->at_ns;
	m->ns_per_tick = t->ns_per_tick;
	m->status = TICKMARK_UNSYNCHRONISED;
	m->reason = r->reason;
	if (r->status != TICKMARK_OK) {
		forget_track(t); /* readings after it may be from another clock */
		return;
	}
	if (learn_rate(t, r) < 0) {
		forget_track(t);
		t->contradicted = 1;
		t->contradictions++;
		t->distrust_until = r->raw + t->valid_ticks;
	}
	add_reading(t, r);
	if (t->contradicted && r->raw < t->distrust_until) {
		m->reason = "the reference was farther off than it said";
		return;
	}
	t->contradicted = 0;
	m->status = TICKMARK_OK;
	m->reason = NULL;
	m->ns_per_tick = 0.5 * (t->low + t->high);
	m->grow = 0.5 * (t->high - t->low);
	m->half_ns = r->half_ns + 1;
	m->since_raw = t->anchor[0].raw;
	m->valid_ticks = until_leap(r, t->ns_per_tick, t->valid_ticks);
	if (m->valid_ticks == 0) {
		m->status = TICKMARK_UNSYNCHRONISED;
		m->reason = "a leap second is about to be inserted or left out";
	}
}

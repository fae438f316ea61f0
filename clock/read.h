/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a page: from its state and a stamp to an interval. It is separate from the calls that fetch both, so that
 * tests can use stamps and states whose true time is known. */
#ifndef CLOCK_READ_H
#define CLOCK_READ_H

#include "clock/page.h"

/* A copy of one state. */
struct tkc_view {
	int64_t raw, at_ns, half_ns, since_raw, valid_ticks, near_ticks, realtime_ns, boot_ns;
	uint64_t rate, grow, near_grow, marker;
	int32_t status;
};

enum { TKC_TRIES = 20000 };

/* Copies the state into *v, even while it is being written: tkc_copied() tells whether the copy is good. Returns the
 * sequence count that it began with. */
static inline uint32_t tkc_copy(const struct tkc_state *s, struct tkc_view *v)
{
	uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_acquire);

#define GET(member) v->member = atomic_load_explicit(&s->member, memory_order_relaxed)
	GET(status);
	GET(raw);
	GET(at_ns);
	GET(half_ns);
	GET(rate);
	GET(grow);
	GET(near_grow);
	GET(since_raw);
	GET(valid_ticks);
	GET(near_ticks);
	GET(marker);
	GET(realtime_ns);
	GET(boot_ns);
#undef GET
	return sequence;
}

static inline int tkc_copied(const struct tkc_state *s, uint32_t sequence)
{
	atomic_thread_fence(memory_order_acquire);
	return !(sequence & 1) && atomic_load_explicit(&s->sequence, memory_order_relaxed) == sequence;
}

/* x * fixed, rounded down. */
static inline int64_t tkc_scale(int64_t x, uint64_t fixed)
{
	return (int64_t)((__int128)x * (__int128)fixed >> TKC_SHIFT);
}

static inline int tkc_fail(struct tickmark_time *t, int status)
{
	t->earliest_ns = INT64_MIN;
	t->latest_ns = INT64_MAX;
	t->status = status;
	return status;
}

/* By how much the half width has grown x ticks after the map was made, rounded down. */
static inline int64_t tkc_grown(const struct tkc_view *v, int64_t x)
{
	int64_t near = x < v->near_ticks ? x : v->near_ticks;

	if (__builtin_expect(near <= 0, 1)) {
		return tkc_scale(x < 0 ? -x : x, v->grow);
	}
	return (int64_t)((near * (__int128)v->near_grow + (x - near) * (__int128)v->grow) >> TKC_SHIFT);
}

/* The interval of a stamp. Returns t->status. */
static inline int tkc_interval(const struct tkc_view *v, int64_t raw, struct tickmark_time *t)
{
	int64_t x = raw - v->raw, mid, half;

	if (__builtin_expect(v->status != TICKMARK_OK, 0)) {
		return tkc_fail(t, v->status);
	}
	if (__builtin_expect(x > v->valid_ticks, 0)) {
		return tkc_fail(t, TICKMARK_STALE);
	}
	if (__builtin_expect(raw < v->since_raw, 0)) {
		return tkc_fail(t, TICKMARK_TOO_OLD);
	}
	mid = v->at_ns + tkc_scale(x, v->rate);
	half = v->half_ns + tkc_grown(v, x) + 1; /* 1: for the values that were rounded down */
	t->earliest_ns = mid - half;
	t->latest_ns = mid + 1 + half;
	t->status = TICKMARK_OK;
	return TICKMARK_OK;
}

/* Tests whether the realtime clock shows at `raw` what it must show if the machine was not suspended since the page
 * was written. The test is cheap, but "no" can also mean that the clock was set. The clock is read in steps of up to
 * 10 ms. */
static inline int tkc_realtime_fits(const struct tkc_view *v, int64_t raw, int64_t realtime_ns)
{
	int64_t passed = tkc_scale(raw - v->raw, v->rate), off = realtime_ns - v->realtime_ns - passed;
	int64_t most = 20000000 + (passed >> 8);

	return off < most && -off < most;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the time from a page; see include/clock.h. */
#include "config.h"
#include "clock/read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock/handle.h"
#include "timers/timer_private.h"

static inline int64_t reader_clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline int64_t read_mapped_timer(int timer)
{
#if TMR_HAVE_COUNTER
	if (timer == TKC_COUNTER) {
		return tmr_counter_ordered();
	}
#endif
	return reader_clock_ns((clockid_t)timer);
}

/* ---- the machine and the writer ---- */

/* Has the machine been suspended since the page was written? */
static int was_suspended(const struct tkc_view *v)
{
	struct tkc_watch now;
	int64_t more;

	tkc_watch(NULL, &now);
	more = now.boot_ns - v->boot_ns;
	return more > 1000000 || more < -1000000;
}

static int was_migrated(const struct tickmark_clock *c, const struct tkc_view *v)
{
	int steady;

	return c->vmclock && (tkc_vmclock_marker(c->vmclock, &steady) != v->marker || !steady);
}

/* From time to time, checks the writer's lock, which tells whether the writer is running. */
static __attribute__((noinline)) int writer_is_gone(const struct tickmark_clock *c, int64_t raw)
{
	const unsigned __int128 every_ns = 100000000;
	/* the cast is safe: the clock was allocated, so these members may be written */
	_Atomic int64_t *checked = (_Atomic int64_t *)(uintptr_t)&c->checked_raw;
	_Atomic uint64_t *ticks = (_Atomic uint64_t *)(uintptr_t)&c->check_ticks;
	uint64_t rate = atomic_load_explicit(&c->page->state.rate, memory_order_relaxed);

	if (c->fd < 0) {
		return 0;
	}
	if (!tkc_writer_lives(c->fd)) {
		return 1;
	}
	atomic_store_explicit(checked, raw, memory_order_relaxed);
	/* known once the page was written */
	atomic_store_explicit(ticks, rate ? (uint64_t)((every_ns << TKC_SHIFT) / rate) : 0, memory_order_relaxed);
	return 0;
}

/* Checks what can have happened since the page was written. raw: a stamp taken now. Returns TICKMARK_OK or a status. */
static inline int check_still_valid(const struct tickmark_clock *c, const struct tkc_view *v, int64_t raw, int thorough)
{
	uint64_t since = (uint64_t)raw - (uint64_t)atomic_load_explicit(&c->checked_raw, memory_order_relaxed);

	if (__builtin_expect(c->vmclock != NULL, 0) && was_migrated(c, v)) {
		return TICKMARK_DISRUPTED;
	}
	if ((thorough || __builtin_expect(!tkc_realtime_fits(v, raw, reader_clock_ns(CLOCK_REALTIME_COARSE)), 0)) &&
		was_suspended(v)) {
		return TICKMARK_DISRUPTED;
	}
	/* a counter that was set back makes `since` large */
	if (__builtin_expect(since > atomic_load_explicit(&c->check_ticks, memory_order_relaxed), 0) &&
		writer_is_gone(c, raw)) {
		return atomic_load_explicit(&c->page->state.status, memory_order_relaxed) == TICKMARK_CLOSED
			? TICKMARK_CLOSED
			: TICKMARK_STALE;
	}
	return TICKMARK_OK;
}

/* ---- reading ---- */

static inline int now_by(const struct tickmark_clock *c, int timer, struct tickmark_time *t)
{
	const struct tkc_state *s = &c->page->state;
	struct tkc_view v;
	uint32_t sequence;
	int64_t raw;
	int i, status;

	for (i = 0; i < TKC_TRIES; i++) {
		sequence = tkc_copy(s, &v);
		/* an ordered read: the state is older than the stamp */
		raw = read_mapped_timer(timer);
		if (__builtin_expect(!tkc_copied(s, sequence), 0)) {
			continue;
		}
		if (__builtin_expect(v.status != TICKMARK_OK, 0)) {
			return tkc_fail(t, v.status);
		}
		status = check_still_valid(c, &v, raw, 0);
		if (__builtin_expect(status != TICKMARK_OK, 0)) {
			return tkc_fail(t, status);
		}
		status = tkc_interval(&v, raw, t);
		return __builtin_expect(status == TICKMARK_TOO_OLD, 0) ? tkc_fail(t, TICKMARK_DISRUPTED) : status;
	}
	return tkc_fail(t, TICKMARK_BUSY);
}

int tickmark_now(const struct tickmark_clock *c, struct tickmark_time *t)
{
	t->axis = c->axis;
	t->scale = c->scale;
	return c->timer == TKC_COUNTER ? now_by(c, TKC_COUNTER, t) : now_by(c, c->timer, t);
}

int64_t tickmark_raw(const struct tickmark_clock *c)
{
	return read_mapped_timer(c->timer);
}

/* A consistent copy, or -1. */
static int copy_page(const struct tickmark_clock *c, struct tkc_view *v)
{
	uint32_t sequence;
	int i;

	for (i = 0; i < TKC_TRIES; i++) {
		sequence = tkc_copy(&c->page->state, v);
		if (tkc_copied(&c->page->state, sequence)) {
			return 0;
		}
	}
	return -1;
}

int tickmark_at(const struct tickmark_clock *c, int64_t raw, struct tickmark_time *t)
{
	struct tkc_view v;
	int64_t now;
	int status;

	t->axis = c->axis;
	t->scale = c->scale;
	if (copy_page(c, &v) < 0) {
		return tkc_fail(t, TICKMARK_BUSY);
	}
	if (v.status != TICKMARK_OK) {
		return tkc_fail(t, v.status);
	}
	now = read_mapped_timer(c->timer);
	status = check_still_valid(c, &v, now, 1);
	if (status != TICKMARK_OK) {
		return tkc_fail(t, status);
	}
	if (now < v.since_raw) {
		return tkc_fail(t, TICKMARK_DISRUPTED);
	}
	if (raw < v.since_raw) {
		return tkc_fail(t, TICKMARK_TOO_OLD);
	}
	if ((__int128)raw - v.raw > v.valid_ticks || now - v.raw > v.valid_ticks) {
		return tkc_fail(t, TICKMARK_STALE);
	}
	return tkc_interval(&v, raw, t);
}

int tickmark_before(const struct tickmark_time *a, const struct tickmark_time *b)
{
	if (a->status != TICKMARK_OK || b->status != TICKMARK_OK || a->scale != b->scale || a->axis != b->axis) {
		return TICKMARK_UNKNOWN;
	}
	if (a->latest_ns < b->earliest_ns) {
		return TICKMARK_YES;
	}
	return a->earliest_ns >= b->latest_ns ? TICKMARK_NO : TICKMARK_UNKNOWN;
}

int tickmark_after(const struct tickmark_time *a, const struct tickmark_time *b)
{
	return tickmark_before(b, a);
}

int tickmark_wait_until_after(const struct tickmark_clock *c, const struct tickmark_time *t, int64_t timeout_ns)
{
	int64_t begin = reader_clock_ns(CLOCK_MONOTONIC), left;
	struct tickmark_time now;
	struct timespec nap;

	for (;;) {
		tickmark_now(c, &now);
		if (t->status != TICKMARK_OK || now.scale != t->scale || now.axis != t->axis ||
			(now.status != TICKMARK_OK && now.status != TICKMARK_BUSY)) {
			return TICKMARK_UNKNOWN;
		}
		if (now.status == TICKMARK_OK && now.earliest_ns > t->latest_ns) {
			return TICKMARK_YES;
		}
		left = timeout_ns < 0 ? INT64_MAX : timeout_ns - (reader_clock_ns(CLOCK_MONOTONIC) - begin);
		if (left <= 0) {
			return TICKMARK_NO;
		}
		if (now.status == TICKMARK_OK && (__int128)t->latest_ns - now.earliest_ns < left) {
			left = t->latest_ns - now.earliest_ns;
		}
		/* a sleep takes about 60 us longer than requested, so shorter waits spin. One second at most, because
		 * the page may change */
		if (left > 200000) {
			left = left > 1000000000 ? 1000000000 : left - 100000;
			nap = (struct timespec){ left / 1000000000, left % 1000000000 };
			nanosleep(&nap, NULL);
		}
	}
}

/* ---- what is known of it ---- */

int tickmark_clock_version(void)
{
	return TICKMARK_CLOCK_VERSION;
}

int tickmark_get_info(const struct tickmark_clock *c, struct tickmark_info *info)
{
	const struct tkc_state *s = &c->page->state;
	struct tickmark_info out = { .size = info->size, .writer = c->page->writer, .vmclock = c->vmclock != NULL };
	uint64_t words[16];
	struct tkc_view v;
	uint32_t sequence;
	int i, k, near;

	for (i = 0; i < TKC_TRIES; i++) {
		sequence = tkc_copy(s, &v);
		out.updates = atomic_load_explicit(&s->updates, memory_order_relaxed);
		for (k = 0; k < 16; k++) {
			words[k] = atomic_load_explicit(&s->reason[k], memory_order_relaxed);
		}
		if (tkc_copied(s, sequence)) {
			break;
		}
	}
	if (i == TKC_TRIES) {
		return -1;
	}
	snprintf(out.path, sizeof(out.path), "%.255s", c->path);
	snprintf(out.timer, sizeof(out.timer), "%.63s", c->page->timer_name);
	snprintf(out.reason, sizeof(out.reason), "%.*s", (int)sizeof(words) - 1, (const char *)words);
	if (v.rate) {
		out.half_ns = v.half_ns;
		out.age_ns = tkc_scale(read_mapped_timer(c->timer) - v.raw, v.rate);
		out.valid_ns = tkc_scale(v.valid_ticks, v.rate);
		near = read_mapped_timer(c->timer) - v.raw < v.near_ticks;
		out.grow_ppm = 1e6 * (double)(near ? v.near_grow : v.grow) / (double)v.rate;
	}
	memcpy(info, &out, info->size < sizeof(out) ? info->size : sizeof(out));
	return 0;
}

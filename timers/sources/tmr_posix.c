/* SPDX-License-Identifier: BSD-3-Clause */
/* The POSIX clocks of clock_gettime(), in nanoseconds. */
#include "config.h"
#include "timers/timer_private.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define POSIX_CLOCK(lower, id, text, flag_bits) \
	static ltick_t read_##lower(struct tmr_timer *t) \
	{ \
		struct timespec ts; \
\
		(void)t; \
		clock_gettime(id, &ts); \
		return ltick((int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec); \
	} \
	static int open_##lower(struct tmr_timer *t, const char *arg, struct tkm_err *err) \
	{ \
		(void)arg; \
		return open_posix(t, id, read_##lower, flag_bits, err); \
	} \
	const struct tmr_ops tmr_##lower = { \
		.name = #lower, \
		.what = text, \
		.scope = TMR_SCOPE_NODE, \
		.open = open_##lower, \
	}

/* A smaller difference may be rounding: gettimeofday() shows microseconds. */
enum { NEAR_NS = 2000 };

unsigned tmr_is_replaced(struct tmr_timer *t, clockid_t id)
{
#if defined(SYS_clock_gettime) && defined(__LP64__)
	int64_t ns[2], shown;
	struct timespec ts;
	int tries, i;

	/* try again: the clock may have been set in between */
	for (tries = 0; tries < 3; tries++) {
		for (i = shown = 0; i < 2; i++) {
			if (syscall(SYS_clock_gettime, id, &ts) < 0) {
				return 0;
			}
			ns[i] = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
			shown = i == 0 ? (int64_t)(1e9 / t->hz) * t->read(t).v : shown;
		}
		if (shown >= ns[0] - NEAR_NS && shown <= ns[1] + NEAR_NS) {
			return 0;
		}
	}
	return TMR_REPLACED;
#else
	(void)t;
	(void)id;
	return 0;
#endif
}

static int open_posix(
	struct tmr_timer *t, clockid_t id, ltick_t (*read)(struct tmr_timer *), unsigned flags, struct tkm_err *err)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) < 0) {
		return tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno, "the kernel refuses this clock");
	}
	t->read = read;
	t->read_ordered = read; /* the vDSO orders its own read of the counter */
	t->hz = 1e9;
	t->flags = flags | tmr_is_replaced(t, id);
	t->shareable = 1;
	return 0;
}

POSIX_CLOCK(clock_monotonic, CLOCK_MONOTONIC, "CLOCK_MONOTONIC, rate steered by NTP, never set", TMR_SLEWED);
POSIX_CLOCK(clock_monotonic_raw, CLOCK_MONOTONIC_RAW, "CLOCK_MONOTONIC_RAW, the bare hardware rate", 0);
POSIX_CLOCK(clock_realtime, CLOCK_REALTIME, "CLOCK_REALTIME, set and steered by NTP", TMR_STEPPED | TMR_SLEWED);
POSIX_CLOCK(clock_tai, CLOCK_TAI, "CLOCK_TAI, as realtime but without leap seconds", TMR_STEPPED | TMR_SLEWED);
POSIX_CLOCK(clock_boottime, CLOCK_BOOTTIME, "CLOCK_BOOTTIME, as monotonic and counts suspension", TMR_SLEWED);

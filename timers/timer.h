/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading time. A timer is one clock of this process behind two reads: a plain one for event stamps
 * and an ordered one for calibration (it is not executed before the instructions before it have
 * finished). Names and LIST as in the Intel Trace Collector guide, section 3.6.2 and its option TIMER. */
#ifndef TIMERS_TIMER_H
#define TIMERS_TIMER_H

#include <stdio.h>

#include "base/err.h"
#include "base/ticks.h"
#include "timers/counter.h"

/* Within which scope two readings can be compared without correction, by the clock's nature. */
enum tmr_scope {
	TMR_SCOPE_PROCESS, /* simulated clocks, MPI_Wtime with an origin of its own */
	TMR_SCOPE_CORE,    /* cycle counters: shared by the cores only if the machine keeps them together */
	TMR_SCOPE_NODE,    /* kernel clocks: one for all processes on one kernel */
	TMR_SCOPE_CLUSTER,
};

enum tmr_flags {
	TMR_STEPPED = 1, /* the operating system may set it: it can step and go back */
	TMR_SLEWED = 2,  /* the operating system may change its rate while it runs */
	TMR_SIMULATED = 4,
	TMR_REPLACED =
		8, /* a library in this process changes what it shows: another process reads another clock by this name */
	TMR_DEVICE = 16, /* of a device, not of the host: the two go apart */
};

struct tmr_ops;

/* One open timer. Members are read-only for callers. Not shared between threads unless `shareable`. */
struct tmr_timer {
	ltick_t (*read)(struct tmr_timer *t);
	ltick_t (*read_ordered)(struct tmr_timer *t);
	double hz;           /* nominal ticks per second; 0: unknown, only measured */
	const char *hz_from; /* who says so: "definition", "CPUID 0x15", "kernel (perf)", ... */
	enum tmr_scope scope;
	unsigned flags; /* enum tmr_flags */
	int shareable;  /* may be read by several threads at once */
	int is_counter; /* read() is tmr_counter() */
	const char
		*fault; /* why it can be read no longer; a read then repeats the last reading at once. NULL: it can */
	void *impl;     /* the driver's own */
	const struct tmr_ops *ops;
	char name[256]; /* canonical: opening it again gives the same clock */
};

/* Opens the timer called `name`: "CPU", "clock_monotonic", "ptp:/dev/ptp0", "sim:base=CPU,drift=50ppm".
 * Case does not matter, but for file names. `{rank}` in the name is replaced by `rank` first,
 * and `{rank%N}` by its rest modulo N.
 * Returns the timer, to be closed with tmr_close(), or NULL with the reason in *err. */
struct tmr_timer *tmr_open(const char *name, int rank, struct tkm_err *err);
void tmr_close(struct tmr_timer *t);

/* A plain stamp. */
static inline ltick_t tmr_read(struct tmr_timer *t)
{
	return t->read(t);
}

/* For code in which a function call would be a large part of the cost. 1: tmr_read_counter() gives the same as
 * tmr_read(). */
static inline int tmr_is_counter(const struct tmr_timer *t)
{
	return t->is_counter;
}

static inline ltick_t tmr_read_counter(void)
{
#if TMR_HAVE_COUNTER
	return ltick(tmr_counter());
#else
	return ltick(0);
#endif
}

/* A stamp that is not taken before earlier instructions have finished. */
static inline ltick_t tmr_read_ordered(struct tmr_timer *t)
{
	return t->read_ordered(t);
}

/* After this call, no timer read of this thread, plain or ordered, is executed before earlier loads have finished. */
static inline void tmr_order(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("dsb ishld\n\tisb" : : : "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Did all readings so far come from the clock? Returns 0, or -1 with the reason: the device is gone, and the last ones are void. */
static inline int tmr_check_fault(const struct tmr_timer *t, struct tkm_err *err)
{
	return t->fault ? tkm_fail(err, TKM_ERR_UNAVAIL, "timer %s: %s", t->name, t->fault) : 0;
}

/* Nominal seconds per tick; NAN when not known. */
double tmr_period(const struct tmr_timer *t);

/* "process", "core", "node", "cluster" */
const char *tmr_scope_name(enum tmr_scope scope);

/* VT_TIMER=LIST: one line per timer with period, scope and what it is, or the reason why it is not
 * available here. */
void tmr_list(FILE *out);

/* Calls fn(name, ctx) for every timer that can be opened on this machine by its bare name, in the
 * order of the table. */
void tmr_each_available(void (*fn)(const char *name, void *ctx), void *ctx);

#endif

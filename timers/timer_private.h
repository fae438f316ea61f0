/* SPDX-License-Identifier: BSD-3-Clause */
/* What a timer driver implements; only drivers and the registry include this. */
#ifndef TIMERS_TIMER_PRIVATE_H
#define TIMERS_TIMER_PRIVATE_H

#include <time.h>

#include "timers/counter.h"
#include "timers/timer.h"

struct tmr_ops {
	const char *name; /* up to a ':' in what the user writes */
	const char *arg;  /* what may follow the ':', for LIST; NULL: nothing may */
	const char *what; /* one line for LIST */
	enum tmr_scope scope;
	/* Fills read, read_ordered, hz, hz_from, flags, shareable, impl and, when it takes an argument,
	 * name. arg is NULL without a ':'. Returns 0 or -1 with the reason. */
	int (*open)(struct tmr_timer *t, const char *arg, struct tkm_err *err);
	void (*close)(struct tmr_timer *t); /* NULL: nothing to free */
	int own_quartz;                     /* 1: its oscillator is not, or may not be, the kernel's: PTP, MPI */
	/* Of simulated clocks only; NULL elsewhere. What they are is in timers/sources/sim.h. */
	struct tmr_timer *(*base)(const struct tmr_timer *t);
	struct tmr_timer *(*free_twin)(const struct tmr_timer *t, struct tkm_err *err);
};

/* Tests whether an open timer shows something other than the kernel's clock `id`. Returns TMR_REPLACED or 0. */
unsigned tmr_is_replaced(struct tmr_timer *t, clockid_t id);

/* What LIST prints about simulated clocks, both here and where they are loaded on demand. */
#define TMR_SIM_DESCRIPTION \
	.name = "sim", .arg = "base=CPU,...", .what = "another timer with known errors, to test with", \
	.scope = TMR_SCOPE_PROCESS

/* The timers in the order of LIST, the guide's names first: tmr_NAME is at the end of a file in sources/. WEAK: only programs
 * that link it have it. */
/* clang-format off */
#define TMR_TIMERS(X, WEAK) \
	X(gettimeofday) X(cpu) X(cpu_norm) WEAK(mpi_wtime) X(clock_monotonic) X(clock_monotonic_raw) X(clock_realtime) \
	X(clock_tai) X(clock_boottime) X(ptp) WEAK(cuda_globaltimer) X(sim)
/* clang-format on */
#define TMR_DECLARE(name) extern const struct tmr_ops tmr_##name;
#define TMR_DECLARE_WEAK(name) extern const struct tmr_ops tmr_##name __attribute__((weak));
TMR_TIMERS(TMR_DECLARE, TMR_DECLARE_WEAK)

/* Opens a timer of one kind; name is expanded, with what follows the ':'. Returns NULL with the reason in *err. */
struct tmr_timer *tmr_open_kind(const struct tmr_ops *ops, const char *name, struct tkm_err *err);

/* Copies name with each "{rank}" and "{rank%N}" replaced; -1 when it does not fit. */
int tmr_expand_rank(const char *name, int rank, char *out, size_t size, struct tkm_err *err);

#endif

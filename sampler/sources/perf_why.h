/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the kernel's events, and why perf_event_open(2) fails. */
#ifndef SAMPLER_SOURCES_PERF_WHY_H
#define SAMPLER_SOURCES_PERF_WHY_H

#include "sampler/private.h"

struct smp_perf_event {
	const char *name, *unit, *what;
	uint32_t type; /* PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE */
	uint64_t config;
};
extern const struct smp_perf_event smp_perf_events[];
extern const size_t smp_perf_n;

/* What the counters NAME:enabled and NAME:running of an event that takes turns are. */
extern const char *const smp_perf_time_what[2];

/* What perf_event_open() of this machine allows; found out once per process by opening software events. */
struct smp_perf_access {
	int software;   /* errno of a user-only software event on this thread, 0: works */
	int kernel;     /* errno of one that counts kernel code too */
	int paranoid;   /* perf_event_paranoid; -100: not there */
	int seccomp;    /* mode of /proc/self/status; 0: none */
	int hypervisor; /* does the CPU say that it is virtual? */
	int watchdog;   /* does the kernel's own watchdog take a hardware counter? */
	int perfmon;    /* has this process CAP_PERFMON or CAP_SYS_ADMIN? */
};
void smp_perf_access(const struct smp_env *env, struct smp_perf_access *a);

/* Why an event of `type` did not open with errnum, and the way out. */
void smp_perf_why(const struct smp_perf_access *a, uint32_t type, int errnum, char why[SMP_TEXT]);

#endif

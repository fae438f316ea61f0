/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of this node's clocks: kernel, processor, clock source. It is recorded with every run, because a
 * result cannot be judged later without it. */
#ifndef TIMERS_QUALITY_ENV_H
#define TIMERS_QUALITY_ENV_H

#include <stdint.h>
#include <stdio.h>

#include "timers/quality/utc.h"

struct tmr_env {
	char host[128];
	char boot_id[40];
	char kernel[200];
	char hypervisor[16];    /* "" when there is none or it does not say */
	char clocksource[40];   /* the current one */
	char clocksources[128]; /* those available */
	char cpu[96];           /* model name; ARM kernels give numbers instead */
	char counter[64];       /* what the timer CPU reads; "none" */
	char time_ns[40];       /* identity of the time namespace: "time:[4026531834]" */
	int tsc_invariant;      /* of that counter: 1, 0, -1: there is none */
	char tsc_flags[96];     /* of constant_tsc nonstop_tsc tsc_known_freq tsc_reliable tsc_adjust */
	double kernel_hz;       /* frequency that the kernel uses for the counter; 0: unknown */
	char kernel_hz_from[40];
	struct tmr_utc utc;
	/* differences of the kernel's clocks: they change when the machine sleeps, or the time of day is set */
	double suspended_s; /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC */
	double realtime_minus_boottime_s;
	int has_vm_marker; /* of /dev/vmclock0 (timers/quality/assume.h) */
	uint64_t vm_marker;
};

/* Fills *e. Files are read below `root` (base/rootfs.h); what is not there stays "" or unknown. Host
 * name, CPUID and adjtimex are those of the live machine. */
void tmr_env_read(int root, struct tmr_env *e);

/* A key that is equal for two processes exactly when they share the kernel's clocks: host name, boot
 * id and time namespace; "" if the boot id is unknown (base/known.h). Returns buf. */
const char *tmr_env_domain(const struct tmr_env *e, char *buf, size_t size);

/* Lines "key: value" for people, each after `prefix`. */
void tmr_env_print(FILE *out, const char *prefix, const struct tmr_env *e);

#endif

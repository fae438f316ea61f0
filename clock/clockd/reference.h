/* SPDX-License-Identifier: BSD-3-Clause */
/* The source of UTC with its error bound: the kernel's clock as NTP keeps it, or a PTP device whose driver states a
 * bound. */
#ifndef CLOCK_REFERENCE_H
#define CLOCK_REFERENCE_H

#include "clock/clockd/track.h"
#include "timers/quality/utc.h"
#include "timers/timer.h"

struct tkc_reference {
	char name[64];
	struct tmr_timer *device; /* PTP; NULL: NTP */
	char device_name[40];     /* "ptp0" */
	struct tmr_utc_watch watch;
	struct tmr_timer *timer; /* of the page; the caller's */
	double lag_s; /* how far another process's reading can differ from this one's: effective tick, or proven */
	double realtime_tick_s; /* effective tick of CLOCK_REALTIME */
};

/* "ntp" or "ptp:/dev/ptp0". Returns 0, or -1: unknown, or it states no bound; the error text says what to do. */
int tkc_reference_open(
	struct tkc_reference *r, const char *name, struct tmr_timer *timer, double lag_s, struct tkm_err *err);
void tkc_reference_close(struct tkc_reference *r);

/* Reads it once, between two stamps of the timer. */
void tkc_reference_read(struct tkc_reference *r, struct tkc_reading *out);

#endif

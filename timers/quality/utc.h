/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a clock of the system can be off UTC, and what that is known from. Whatever states such an error, or uses it,
 * asks here. Libc only. */
#ifndef TIMERS_QUALITY_UTC_H
#define TIMERS_QUALITY_UTC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/timex.h>

enum tmr_utc_status {
	TMR_UTC_BOUNDED,        /* CLOCK_REALTIME is within bound_s of UTC */
	TMR_UTC_REFUSED,        /* adjtimex() is refused */
	TMR_UTC_UNSYNCHRONISED, /* no daemon keeps the clock, or it has no server */
	TMR_UTC_ZEROED,         /* the daemon sets the maximum error to 0 without knowing it */
	TMR_UTC_UNDECIDED,      /* it may have; the next setting of the number tells */
	TMR_UTC_SLEWED,         /* the clock is slewed faster than the kernel's maximum error grows */
	TMR_UTC_LEAP,           /* a leap second is being inserted */
};

/* CLOCK_REALTIME at one instant. */
struct tmr_utc {
	int32_t status;
	int32_t flagged; /* the kernel's flag says that the clock is not synchronised */
	double bound_s;  /* INFINITY unless TMR_UTC_BOUNDED */
	/* as adjtimex() states them; 0 if it is refused */
	double maxerror_s, esterror_s, offset_s, freq_ppm; /* freq_ppm: with what the tick adds */
	int32_t tai_s;                                     /* 0: not set */
	int64_t leap_ns; /* UTC at the end of the second that is inserted or left out; 0: none is announced for today */
	char why[120];   /* one phrase: what the bound is known from, or why there is none */
};

/* What has been seen of the numbers so far, all zero at first. The longer it is used, the more is known of who sets
 * them. */
struct tmr_utc_watch {
	int (*adjtimex)(struct timex *t); /* NULL: that of libc */
	/* private */
	int setter;
	long maxerror; /* when it was first read as the last setting left it, at since_ns of CLOCK_MONOTONIC */
	int64_t since_ns, last_ns;
};

/* Asks the kernel now. Nothing is changed, and no privilege is needed. */
void tmr_utc_read(struct tmr_utc_watch *w, struct tmr_utc *out);

/* The same, and looks at the number for up to 1.1 s if a single reading cannot tell who has set it. */
void tmr_utc_settle(struct tmr_utc_watch *w, struct tmr_utc *out);

/* The bound that the driver of a PTP device states, in ns; -1: none. root: tkm_root_open("/"); device: "ptp0". */
double tmr_utc_device_bound(int root, const char *device);

#endif

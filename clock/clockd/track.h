/* SPDX-License-Identifier: BSD-3-Clause */
/* From readings of a reference (NTP, a PTP device) to the line of a clock page: what is certain of the counter's rate,
 * and whether the reference contradicts itself. Pure arithmetic on the arguments. */
#ifndef CLOCK_TRACK_H
#define CLOCK_TRACK_H

#include <stddef.h>

#include "clock/page.h"

/* The reference at one instant. */
struct tkc_reading {
	int status; /* TICKMARK_OK, or why there is no time: TICKMARK_UNSYNCHRONISED */
	char reason[120];
	int64_t raw;             /* stamp of the timer */
	int64_t at_ns;           /* UTC */
	double half_ns;          /* UTC was certainly within this of at_ns */
	double realtime_half_ns; /* CLOCK_REALTIME was within this of UTC */
	int64_t leap_ns;         /* the second that is inserted or left out at this time; 0: none is announced */
};

enum { TKC_ANCHORS = 64 };

struct tkc_track {
	/* given */
	double ns_per_tick; /* nominal */
	double max_drift;   /* largest deviation from the nominal rate */
	double max_wander;  /* the rate stays within +- this of a constant */
	int64_t valid_ticks;
	/* private */
	struct {
		int64_t raw, at_ns;
		double half_ns;
	} anchor[TKC_ANCHORS]; /* earlier readings, ever farther apart */
	size_t anchors;
	double low, high;       /* certain limits: ns of UTC per tick, at any instant since the first anchor */
	int64_t distrust_until; /* the reference has contradicted itself: stamp */
	int contradicted;
	unsigned long contradictions;
};

void tkc_track_begin(struct tkc_track *t, double ns_per_tick, double max_drift, double max_wander, int64_t valid_ticks);

/* Takes a reading and fills in *m, the next state of the page. m->reason points into *r or is constant. A reference
 * that contradicts itself (two readings that no rate within max_drift explains, so one of the two was farther off than
 * it said) is not believed for valid_ticks, and what was learned from it is forgotten. */
void tkc_track_add(struct tkc_track *t, const struct tkc_reading *r, struct tkc_map *m);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual time: a clock that only moves when it is told to, in picoseconds. It is the true time of every simulation:
 * simulated clocks wrap it and simulated links advance it. */
#ifndef TIMERS_SOURCES_VIRTUAL_H
#define TIMERS_SOURCES_VIRTUAL_H

#include "timers/timer.h"

struct tmr_virtual {
	int64_t now_ps;
	int64_t read_cost_ps; /* each read moves time by this much */
};

/* A timer over *v, which must outlive it. NULL when memory runs out. */
struct tmr_timer *tmr_virtual_open(struct tmr_virtual *v);

#endif

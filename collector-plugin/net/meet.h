/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that have a contact word meet, to exchange messages among themselves: VTserver gives them ranks, and tells each where the
 * others are. For programs that measure clocks before there is an MPI. */
#ifndef COLLECTOR_PLUGIN_NET_MEET_H
#define COLLECTOR_PLUGIN_NET_MEET_H

#include "calib/session/link.h"

struct vt_meeting_wish {
	const char *word;                 /* of vtrun --contact */
	int rank, size;                   /* rank -1: by the order of arrival; size: all processes */
	const char *interface;            /* whose addresses the others get; NULL: all of this node */
	int (*look)(struct tkm_err *err); /* called now and then during the wait, which -1 ends; NULL: nothing */
};

/* Joins, and returns when all processes have joined: a link of `size` processes. NULL with the reason: VTserver cannot be reached, is
 * silent for 15 s, or refuses, because the rank is taken or some process did not come. */
struct cal_link *vt_meet(const struct vt_meeting_wish *w, struct tkm_err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that have a contact word meet, to exchange messages among themselves: VTserver gives them ranks, and tells each where the
 * others are. For programs that measure clocks before there is an MPI. */
#ifndef COLLECTOR_PLUGIN_NET_MEET_H
#define COLLECTOR_PLUGIN_NET_MEET_H

#include "calib/session/link.h"
#include "collector-plugin/net/edge.h"

/* Connects to VTserver, over the first of its addresses from *host on that answers, and says hello. boot: the boot id of this node,
 * "" for a process that leaves no trace. NULL with the reason. */
struct vt_edge *vt_meet_server(
	const char *word, const char *boot, struct vt_contact *server, int *host, struct tkm_err *err);

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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which parts receive the events of the program's threads. VT_ calls and MPI calls emit events; sampling is a sink of them. A sink is
 * called in the thread that the event belongs to, with vt_tls set, and never while it is itself at work in that thread. */
#ifndef COLLECTOR_PLUGIN_CORE_SINK_H
#define COLLECTOR_PLUGIN_CORE_SINK_H

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"

struct vt_event {
	ltick_t time; /* stamp of the event, by the collector's timer */
};

struct vt_sink_ops {
	const char *name;
	/* The calling thread t has been registered. Returns 1 if the sink wants its events. */
	int (*thread_begins)(struct vt_collect *c, struct vt_thread *t);
	/* An event of the calling thread, which records. */
	void (*event)(const struct vt_event *e);
	/* The calling thread t ends. It keeps its number during the first call and has none during the second. */
	void (*thread_ends)(struct vt_thread *t);
	void (*thread_ended)(struct vt_thread *t);
	/* In the child of a fork: nothing of the parent's may be touched. */
	void (*forked)(void);
	/* The collector starts again with other options, before the plan of the counters is closed. */
	void (*restart)(void);
};

/* Adds a sink; again is nothing. Before the first thread is registered. There are places for 8. */
VT_HIDDEN void vt_sink_add(const struct vt_sink_ops *ops);

/* Tell all sinks. Only core/ calls these. */
VT_HIDDEN int vt_sinks_thread_begins(struct vt_collect *c, struct vt_thread *t);
VT_HIDDEN void vt_sinks_thread_ends(struct vt_thread *t);
VT_HIDDEN void vt_sinks_thread_ended(struct vt_thread *t);
VT_HIDDEN VT_IN_CHILD void vt_sinks_forked(void);
VT_HIDDEN void vt_sinks_restart(void);

#endif

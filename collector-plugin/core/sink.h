/* SPDX-License-Identifier: BSD-3-Clause */
/* Sinks are the parts that receive the events of the program's threads. VT_ calls and MPI calls emit events;
 * sampling is a sink. A sink is called in the thread that the event belongs to, with vt_tls set. It is never called
 * while it is already running in that thread. */
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
	/* An event of the calling thread, whose recording is on. */
	void (*event)(const struct vt_event *e);
	/* The calling thread t ends. It keeps its number during the first call and has none during the second. */
	void (*thread_ends)(struct vt_thread *t);
	void (*thread_ended)(struct vt_thread *t);
	/* In the child of a fork: the sink must not touch anything of the parent. */
	void (*forked)(void);
	/* The collector starts again with other options, before the plan of the counters is closed. */
	void (*restart)(void);
};

/* Adds a sink; adding it again has no effect. To be called before the first thread is registered. There is room for
 * 8. */
VT_HIDDEN void vt_sink_add(const struct vt_sink_ops *ops);

/* These inform all sinks. Only core/ calls them. */
VT_HIDDEN int vt_sinks_thread_begins(struct vt_collect *c, struct vt_thread *t);
VT_HIDDEN void vt_sinks_thread_ends(struct vt_thread *t);
VT_HIDDEN void vt_sinks_thread_ended(struct vt_thread *t);
VT_HIDDEN VT_IN_CHILD void vt_sinks_forked(void);
VT_HIDDEN void vt_sinks_restart(void);

#endif

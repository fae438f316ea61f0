/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes the events of threads to the sinks. */
#include "config.h"
#include "collector-plugin/core/sink.h"

#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"

enum { MOST_SINKS = 8 };

static const struct vt_sink_ops *sinks[MOST_SINKS];
static int n_sinks;

void vt_sink_add(const struct vt_sink_ops *ops)
{
	int i;

	for (i = 0; i < n_sinks && sinks[i] != ops; i++) {
	}
	if (i == n_sinks && n_sinks < MOST_SINKS) {
		sinks[n_sinks++] = ops;
	}
}

int vt_sinks_thread_begins(struct vt_collect *c, struct vt_thread *t)
{
	int i, wanted = 0;

	for (i = 0; i < n_sinks; i++) {
		wanted |= sinks[i]->thread_begins(c, t);
	}
	return wanted;
}

void vt_event_at(ltick_t now)
{
	struct vt_event e = { .time = now };
	int i;

	if (!vt_tls.inside) {
		vt_inside_begin();
		for (i = 0; i < n_sinks; i++) {
			sinks[i]->event(&e);
		}
		vt_inside_end();
	}
}

void vt_sinks_thread_ends(struct vt_thread *t)
{
	int i;

	for (i = 0; i < n_sinks; i++) {
		sinks[i]->thread_ends(t);
	}
}

void vt_sinks_thread_ended(struct vt_thread *t)
{
	int i;

	for (i = 0; i < n_sinks; i++) {
		sinks[i]->thread_ended(t);
	}
}

void vt_sinks_forked(void)
{
	int i;

	for (i = 0; i < n_sinks; i++) {
		sinks[i]->forked();
	}
}

void vt_sinks_restart(void)
{
	int i;

	for (i = 0; i < n_sinks; i++) {
		sinks[i]->restart();
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the triggers of filter rules when a function is entered or left. */
#include "config.h"
#include "collector-plugin/trace/trigger.h"

#include <string.h>

#include "collector-plugin/core/hooks.h"
#include "collector-plugin/filter/filter.h"
#include "collector-plugin/trace/define.h"
#include "collector-plugin/trace/scope.h"

static int concerns_this_rank(const struct vt_trigger *g)
{
	long rank = vt_tls.collect->rank > 0 ? vt_tls.collect->rank : 0;
	int i;

	for (i = 0; g && g->n > 0 && i < g->n_ranks; i++) {
		const struct tkm_triplet *r = &g->ranks[i];

		if (rank >= r->first && rank <= r->last && (rank - r->first) % r->step == 0) {
			return 1;
		}
	}
	return 0;
}

static void set_recording(struct vt_trace_thread *t, enum vt_tls_state to)
{
	enum vt_tls_state was = vt_tls.state;

	if (to == VT_TLS_ON && (!vt_tls.thread->stream || vt_process_off() == 2)) {
		return;
	}
	vt_tls.state = to;
	vt_threads_switch(vt_tls.thread, to == VT_TLS_ON);
	t->restore = was;
}

static void record_trigger_scope(const char *name, int begin)
{
	uint32_t id = vt_scope_in(vt_tls.collect, "", name, 0, 0);

	if (id && begin) {
		vt_scope_begin(id, 0, NULL);
	} else if (id) {
		vt_scope_end(id, 0, 0);
	}
}

/* Runs the actions of a trigger that turn recording on, or all its other actions. */
static void run_actions(struct vt_trace_thread *t, const struct vt_trigger *g, int on)
{
	int i;

	for (i = 0; concerns_this_rank(g) && i < g->n; i++) {
		enum vt_action a = g->action[i];
		int is_on = a == VT_TRACEON || (a == VT_RESTORE && t->restore == VT_TLS_ON);

		if (a >= VT_BEGIN_SCOPE ? !on : is_on == on) {
			if (a == VT_BEGIN_SCOPE || a == VT_END_SCOPE) {
				record_trigger_scope(g->scope[i], a == VT_BEGIN_SCOPE);
			} else if (a != VT_RESTORE) {
				set_recording(t, a == VT_TRACEON ? VT_TLS_ON : VT_TLS_OFF);
			} else if (t->restore != VT_TLS_NEW) {
				set_recording(t, t->restore);
				t->restore = VT_TLS_NEW; /* a restore works once only */
			}
		}
	}
}

void vt_trigger_entering(struct vt_trace_thread *t, const struct vt_trace_frame *f)
{
	run_actions(t, vt_trace_verdict(f->function)->entry, 1);
}

void vt_trigger_entered(struct vt_trace_thread *t, const struct vt_trace_frame *f)
{
	run_actions(t, vt_trace_verdict(f->function)->entry, 0);
}

void vt_trigger_leaving(struct vt_trace_thread *t, const struct vt_trace_frame *f)
{
	run_actions(t, vt_trace_verdict(f->function)->exit, 1);
}

void vt_trigger_left(struct vt_trace_thread *t, const struct vt_trace_frame *f)
{
	run_actions(t, vt_trace_verdict(f->function)->exit, 0);
}

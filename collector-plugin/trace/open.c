/* SPDX-License-Identifier: BSD-3-Clause */
/* STATISTICS at the end of the run: the calls that the calling thread has not left. */
#include "config.h"
#include "collector-plugin/stats/stats.h"
#include "collector-plugin/trace/trace.h"

void vt_trace_count_open(void)
{
	const struct vt_trace_thread *t = vt_tls.trace;
	const struct vt_trace_frame *f;
	int64_t now, called = 0, inclusive;

	if (!t || !t->stats || t->counts_lost || vt_tls.collect != vt_collect_running()) {
		return;
	}
	now = vt_ticks_now(vt_tls.collect).v;
	for (f = t->top; f-- > t->frame;) {
		/* a handler of a signal ends the program while it is being entered; it was entered before STATISTICS was on */
		if (!f->sp || !f->start) {
			continue;
		}
		inclusive = now - f->start;
		vt_stats_add(t->stats, &(struct vt_raw_row){ .function = f->function }, inclusive,
			inclusive - f->inner - called);
		called = inclusive;
	}
}

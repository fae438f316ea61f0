/* SPDX-License-Identifier: BSD-3-Clause */
/* Enters and leaves calls of MPI: the outermost one of a thread is recorded, and ends, too, if an exception or a jump leaves it. */
#include "config.h"
#include "collector-plugin/mpi/private.h"

#include "collector-plugin/core/names.h"
#include "collector-plugin/mpi/communicators.h"
#include "collector-plugin/mpi/outside.h"
#include "collector-plugin/trace/callstack.h"

/* An error handler of the program has left the call: MPI has sent nothing. */
static VT_SELDOM void take_back_abandoned_send(const struct vt_mpi_outermost *was)
{
	const struct vt_collect *c = vt_collect_running();
	struct vt_raw_message m = { .communicator = was->sent->id, .peer = was->to, .tag = was->tag };
	ltick_t now;

	if (c && was->recorded && vt_trace_on()) {
		now = vt_ticks_now(c);
		m.since = now.v - was->sent_at;
		vt_trace_message(now, VT_RAW_MESSAGE_TAKEN_BACK, &m);
	}
}

VT_SELDOM void vt_mpi_leave_abandoned(void)
{
	const struct vt_mpi_outermost was = vt_tls.mpi;
	const struct vt_trace_thread *t = vt_tls.trace;
	const struct vt_trace_frame *f = t ? t->top : NULL;

	vt_tls.mpi.at = 0;
	if (!was.function) {
		return;
	}
	vt_mpi_count(0, (int)was.function->outside);
	if (was.sent) {
		take_back_abandoned_send(&was);
	}
	while (f && f > t->frame && f[-1].sp != was.low) {
		f--;
	}
	while (f && f > t->frame && t->top >= f &&
		vt_trace_leave(0, (enum vt_trace_kind)t->top[-1].how.kind) == VT_OK) {
	}
}

/* Another call is entered, whose wrapper has its frame there. Is the outermost one still under way? */
static __attribute__((noinline)) int is_nested_call(uintptr_t at)
{
	struct vt_trace_thread *t = vt_tls.trace;
	int nested = at > vt_tls.mpi.low ? t && !vt_callstack_has_both(&t->stack, vt_tls.mpi.low, at)
					 : vt_tls.mpi.low == UINTPTR_MAX || vt_callstack_returns_to(vt_tls.mpi.at);

	if (!nested) {
		vt_mpi_leave_abandoned();
	}
	return nested;
}

static __attribute__((noinline)) void define_function(struct vt_mpi_call *k, struct vt_mpi_function *f)
{
	f->id = vt_function(vt_collect_running(), f->class_name ? f->class_name : "MPI", f->text);
	if (f->alone) {
		vt_trace_may_throttle(f->id);
	}
	f->file = k->collect->raw;
}

/* TRACE-IMBALANCE: is nothing to be done for the state of this call, by a thread that is known? */
static inline int is_without_state(const struct vt_mpi_call *k, const struct vt_mpi_function *f)
{
	return __builtin_expect(vt_trace_idle, 0) && !(vt_trace_rule(f->id) & (VT_TRACE_RECORD | VT_TRACE_PUSH)) &&
		vt_tls.collect == k->collect;
}

int vt_mpi_enter_at(struct vt_mpi_call *k, struct vt_mpi_function *f, uintptr_t at)
{
	struct vt_trace_thread *t;

	k->at = VT_MPI_NESTED;
	if (__builtin_expect(vt_tls.mpi.at != 0, 0) && is_nested_call(at)) {
		return 0;
	}
	k->collect = vt_collect_running();
	vt_tls.mpi.at = at;
	vt_tls.mpi.low = (uintptr_t)__builtin_frame_address(0);
	vt_tls.mpi.function = f;
	vt_tls.mpi.sent = NULL;
	if (__builtin_expect(!k->collect, 0)) {
		k->at = VT_MPI_MISSED;
		vt_tls.mpi.function = NULL;
		atomic_fetch_add(&vt_mpi_missed, 1);
		return 0;
	}
	if (__builtin_expect(f->file != k->collect->raw, 0)) {
		define_function(k, f);
	}
	k->at = at;
	k->frame = NULL;
	k->sent = NULL;
	k->recorded = 0;
	if (!is_without_state(k, f) && vt_trace_enter(f->id, 0, VT_TRACE_FUNCTION) == VT_OK) {
		t = vt_tls.trace;
		k->frame = t->top;
		if (t->top > t->frame) {
			t->top[-1].sp = vt_tls.mpi.low;
			k->recorded = t->top[-1].how.recorded;
		}
	}
	k->enter = __builtin_expect(k->recorded == VT_TRACE_RECORDED, 1) ? vt_tls.thread->stream->now
									 : vt_ticks_now(k->collect).v;
	/* the merge needs all messages, whichever states are left out */
	if (__builtin_expect(vt_trace_idle, 0) && !k->recorded && vt_trace_on()) {
		k->recorded = VT_TRACE_RECORDED;
	}
	vt_mpi_count(1, (int)f->outside);
	return 1;
}

void vt_mpi_leave(struct vt_mpi_call *k)
{
	const struct vt_trace_thread *t = vt_tls.trace;

	vt_tls.mpi.at = 0;
	if (!k->frame || !t) {
		return;
	}
	/* states that a call-back of the program entered and did not leave end with the call */
	while (__builtin_expect(t->top > k->frame, 0)) {
		vt_trace_leave(0, (enum vt_trace_kind)t->top[-1].how.kind);
	}
	if (t->top == k->frame) {
		vt_trace_leave_at(ltick(k->leave));
	}
}

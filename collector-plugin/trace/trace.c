/* SPDX-License-Identifier: BSD-3-Clause */
/* Records the states of each thread: keeps the stack of states, applies the filter, records enter and leave. */
#include "config.h"
#include "collector-plugin/trace/trace.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/text/text.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/hooks.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/filter/filter.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/stats/stats.h"
#include "collector-plugin/trace/objects.h"
#include "collector-plugin/trace/trigger.h"

enum { ROOM = 1 << 16 }; /* states of a thread that can be nested */

VT_SELDOM int vt_trace_start(int wanted)
{
	struct vt_callstack_levels levels;

	vt_trace_wanted = wanted;
	vt_callstack_start();
	levels = vt_callstack_default();
	return vt_rules_start(levels.skip, levels.levels);
}

/* ---- threads ---- */

/* rc: what the writer of the enter returned. */
static inline uint8_t recorded_or_lost(int rc)
{
	return rc == 0 ? VT_TRACE_RECORDED : VT_TRACE_LOST;
}

/* ENTER-USERCODE: enters a state that lasts as long as the thread. */
static VT_SELDOM void enter_usercode(struct vt_collect *c, const struct vt_thread *t, struct vt_trace_thread *own)
{
	uint32_t id = vt_function(c, "Application", "User_Code"), rule = vt_trace_rule(id);
	struct vt_trace_frame *f = vt_trace_take_frame(own);
	ltick_t now = vt_ticks_now(c);

	*f = (struct vt_trace_frame){ .function = id, .sp = UINTPTR_MAX, .how.kind = VT_TRACE_THREAD, .start = now.v };
	if (rule & VT_TRACE_RECORD && vt_trace_wanted && t->stream && vt_process_off() == 0) {
		f->how.recorded = recorded_or_lost(
			vt_raw_enter(t->stream, now, (uint16_t)t->number, (struct vt_raw_state_change){ id, 0 }));
	}
}

static VT_SELDOM int is_on(const char *name)
{
	const char *text = vt_collect_option(name);
	int on = 0;

	return text && (!*text || (tkm_parse_bool(text, &on) == 0 && on));
}

static VT_SELDOM int thread_begins(struct vt_collect *c, struct vt_thread *t)
{
	struct vt_trace_thread *own = vt_trace_memory(sizeof(*own) + (ROOM + 1) * sizeof(*own->frame));

	if (own) {
		own->frame = own->top = own->plain = own->counted = (struct vt_trace_frame *)(void *)(own + 1) + 1;
		own->frame[-1].sp = UINTPTR_MAX;
		own->end = own->frame + ROOM;
		own->stream = t->stream;
		vt_callstack_thread_begins(&own->stack, t->tid == getpid());
		own->stats = vt_stats_thread(c, t->number, 0);
		if (is_on("ENTER-USERCODE")) {
			enter_usercode(c, t, own);
		}
	}
	vt_tls.trace = own;
	return 0; /* the functions of trace.h are called directly, not through the sinks */
}

/* Each communication of a call gets an equal part of the call's time (Intel Trace Collector guide, section 2.8.2);
 * the first ones get the remainder. */
static void count_communications(struct vt_trace_thread *t, const struct vt_trace_frame *f, int64_t inclusive)
{
	int64_t n = t->n_communications, exclusive = inclusive - f->inner, i;

	for (i = 0; i < n; i++) {
		t->communication[i].function = f->function;
		t->communication[i].t.more = i > 0;
		vt_stats_add(t->stats, &t->communication[i], inclusive / n + (i < inclusive % n),
			exclusive / n + (i < exclusive % n));
	}
	t->n_communications = 0;
}

void vt_trace_communicates(enum vt_raw_row_kind kind, uint32_t communicator, int32_t peer, uint64_t bytes)
{
	struct vt_trace_thread *t = vt_tls.trace;
	uint32_t room;
	void *p;

	if (!t || !t->stats || t->top == t->frame) {
		return;
	}
	if (t->communicating != t->top - 1) {
		t->n_communications = 0;
		t->communicating = t->top - 1;
	}
	if (t->n_communications == t->communications) {
		room = t->communications ? 2 * t->communications : 64;
		p = vt_trace_memory(room * sizeof(*t->communication));
		if (!p) {
			return;
		}
		if (t->communication) {
			memcpy(p, t->communication, t->communications * sizeof(*t->communication));
			munmap(t->communication, t->communications * sizeof(*t->communication));
		}
		t->communication = p;
		t->communications = room;
	}
	t->communication[t->n_communications++] =
		(struct vt_raw_row){ .communicator = communicator, .peer = peer, .kind = kind, .bytes = bytes };
}

/* FLUSH-LIMIT is reached: from now on calls that are left out of the raw file are counted by STATISTICS. */
static VT_SELDOM void begin_to_count(struct vt_trace_thread *t)
{
	struct vt_collect *c = vt_tls.collect;

	/* a program that has given up system calls can get no memory */
	if (!t->counts_lost && vt_raw_stopped(c->raw) == EFBIG && !vt_lock_is_without_calls()) {
		vt_trace_not_plain(t);
		t->counts_lost = 1;
		t->stats = vt_stats_thread(c, vt_tls.thread->number, 1);
	}
}

/* Counts the call of frame f, which has ended and is not on the stack any more. */
static void count_call(struct vt_trace_thread *t, const struct vt_trace_frame *f, int64_t now)
{
	int64_t inclusive = now - f->start;

	if (f->start == 0) {
		return; /* entered before STATISTICS was on */
	}
	if (t->counts_lost && f->how.recorded != VT_TRACE_LOST) {
		t->n_communications = 0;
	} else if (t->n_communications && t->communicating == t->top) {
		count_communications(t, f, inclusive);
	} else {
		vt_stats_call(t->stats, f->function, inclusive, inclusive - f->inner);
	}
	if (t->top > t->frame) {
		t->top[-1].inner += inclusive;
	}
}

static void no_event(const struct vt_event *e)
{
	(void)e;
}

/* Records that a state was left, and how: VT_RAW_LEFT or one of those after it. */
static int record_end(struct vt_raw_stream *s, uint32_t number, ltick_t now, uint8_t how)
{
	const struct vt_raw_state_change none = { 0, 0 };

	return vt_raw_event(s, now, (uint16_t)number, VT_RAW_LEAVE, how, &none, sizeof(none));
}

/* Records again that states were left, where the records of that are lost. Otherwise later states would be inside
 * states that ended long ago. Returns 0, or -1: a record was lost again, and counted. */
static int record_lost_leaves(struct vt_trace_thread *t, uint32_t number, ltick_t now)
{
	for (; t->owed; t->owed--) {
		if (record_end(t->stream, number, now, VT_RAW_LEFT_BEFORE) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Ends a state that is open at the end of its thread. Only the end of ENTER-USERCODE is an event of the thread. */
static VT_SELDOM void end_with_thread(const struct vt_thread *t, const struct vt_trace_frame *f, ltick_t now)
{
	int is_event = f->how.kind == VT_TRACE_THREAD;

	if (f->how.recorded == VT_TRACE_RECORDED &&
		record_end(t->stream, t->number, now, is_event ? VT_RAW_LEFT : VT_RAW_CLOSED_BY_END) < 0 && !is_event) {
		vt_raw_count_lost(t->stream, -1);
	} else if (f->how.recorded == VT_TRACE_LOST && is_event) {
		vt_raw_count_lost(t->stream, 1);
	}
}

/* The states of a thread end with the thread. If a thread could not report its end, the merge closes its states. */
static VT_SELDOM void thread_ends(struct vt_thread *t)
{
	struct vt_trace_thread *own = vt_tls.trace;
	struct vt_stats *stats;
	ltick_t now;

	if (!own || !t->stream) {
		return;
	}
	vt_trace_not_plain(own);
	now = vt_ticks_now(vt_tls.collect);
	if (record_lost_leaves(own, t->number, now) < 0) {
		vt_raw_count_lost(t->stream, -1);
	}
	while (own->top > own->frame) {
		const struct vt_trace_frame f = own->top[-1];

		vt_trace_give_frame(own, own->top - 1);
		if (own->stats) {
			count_call(own, &f, now.v);
		}
		end_with_thread(t, &f, now);
	}
	stats = own->stats;
	own->stats = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	vt_stats_thread_ends(stats);
}

static VT_SELDOM void thread_ended(struct vt_thread *t)
{
	struct vt_trace_thread *own = vt_tls.trace;

	(void)t;
	vt_tls.trace = NULL;
	if (own) {
		vt_callstack_thread_ended(&own->stack);
		if (own->communication) {
			munmap(own->communication, own->communications * sizeof(*own->communication));
		}
		munmap(own, sizeof(*own) + (ROOM + 1) * sizeof(*own->frame));
	}
}

static void do_nothing(void)
{
}

static VT_IN_CHILD void forked(void)
{
	vt_objects_forked();
	vt_stats_forked();
}

const struct vt_sink_ops vt_trace_sink = {
	.name = "trace",
	.thread_begins = thread_begins,
	.event = no_event,
	.thread_ends = thread_ends,
	.thread_ended = thread_ended,
	.forked = forked,
	.restart = do_nothing,
};

/* ---- states ---- */

/* Registers the calling thread and returns it; NULL with *rc. */
static VT_SELDOM struct vt_trace_thread *self_slow(VT_ErrorCode *rc)
{
	*rc = vt_self();
	if (*rc == VT_OK && !vt_tls.trace) {
		*rc = VT_ERR_NOMEMORY;
	}
	return *rc == VT_OK ? vt_tls.trace : NULL;
}

static inline struct vt_trace_thread *self(VT_ErrorCode *rc)
{
	struct vt_collect *c = vt_collect_running();

	if (VT_LIKELY(c && c == vt_tls.collect && vt_tls.trace)) {
		*rc = VT_OK;
		return vt_tls.trace;
	}
	return self_slow(rc);
}

/* Records that the thread enters the function of frame f, at the frame's stamp. */
static inline void record_enter(struct vt_trace_thread *t, struct vt_trace_frame *f, uint32_t scl, ltick_t now)
{
	int rc;

	if (__builtin_expect(vt_tls.collect->has_windows && !vt_collect_in_window(now), 0)) {
		return;
	}
	rc = t->owed && record_lost_leaves(t, vt_tls.thread->number, now) < 0
		? -1
		: vt_raw_enter(vt_tls.thread->stream, now, (uint16_t)vt_tls.thread->number,
			  (struct vt_raw_state_change){ f->function, scl });
	f->how.recorded = recorded_or_lost(rc);
	if (__builtin_expect(rc != 0 && !t->stats, 0)) {
		begin_to_count(t);
	}
	if (!f->how.ruled || vt_trace_verdict(f->function)->count) {
		vt_trace_sample(now);
	}
}

/* Records that the thread leaves a state whose enter was recorded, even if the thread does not record now. recorded:
 * of that state. */
static inline void record_leave(struct vt_trace_thread *t, uint8_t recorded, uint32_t scl, ltick_t now)
{
	int rc = 0;

	if (__builtin_expect(recorded == VT_TRACE_LOST, 0)) {
		vt_raw_count_lost(vt_tls.thread->stream, 1);
	} else if (__builtin_expect(t->owed && record_lost_leaves(t, vt_tls.thread->number, now) < 0, 0)) {
		rc = -1;
	} else {
		rc = vt_raw_leave(vt_tls.thread->stream, now, (uint16_t)vt_tls.thread->number, scl);
	}
	if (__builtin_expect(rc != 0, 0)) {
		vt_trace_not_plain(t);
		t->owed++;
	}
}

/* Samples counters at the end of a state that was recorded. */
static inline void sample_leaving(const struct vt_trace_how *how, ltick_t now, int count)
{
	if (how->recorded && vt_tls.state == VT_TLS_ON && count) {
		vt_trace_sample(now);
	}
}

/* Takes the call stack if rules or PCTRACE want it. extra: return addresses of the collector itself to leave out. */
static inline uint32_t locate(struct vt_trace_thread *t, uint32_t rule, unsigned extra)
{
	if (VT_LIKELY(!(rule & VT_TRACE_LEVELS))) {
		return 0;
	}
	return vt_callstack(&t->stack, ((rule & VT_TRACE_SKIP) >> VT_TRACE_SKIP_SHIFT) + extra,
		(rule & VT_TRACE_LEVELS) >> VT_TRACE_LEVELS_SHIFT);
}

/* Applies the filter to a state that has just been pushed: the rules for its caller and its own. Returns 1 if it is
 * to be recorded. */
static int apply_filter(struct vt_trace_thread *t, struct vt_trace_frame *f)
{
	const struct vt_verdict *v = vt_trace_verdict(f->function);
	int record = v->record, fold = v->fold;

	f->how.ruled = 1;
	vt_trace_not_plain(t);
	if (v->caller_bit && f > t->frame && vt_trace_rule(f[-1].function) & v->caller_bit) {
		record = v->called_record;
		fold = v->called_fold >= 0 ? v->called_fold : fold;
	}
	record = record && (fold == 0 || !t->folded);
	t->folded = fold >= 0 ? fold : t->folded;
	vt_trigger_entering(t, f);
	return record;
}

static inline int to_record(struct vt_trace_thread *t, struct vt_trace_frame *f, uint32_t rule)
{
	int record = (rule & VT_TRACE_RECORD) != 0;

	f->how.folded = (uint8_t)t->folded;
	if (__builtin_expect(t->folded || rule & VT_TRACE_RULED, 0)) {
		record = rule & VT_TRACE_RULED ? apply_filter(t, f) : 0;
	}
	return record && vt_tls.state == VT_TLS_ON && vt_trace_wanted;
}

/* Sets the limits up to which enter and leave are one record each and nothing else. */
static void update_plain_limits(struct vt_trace_thread *t)
{
	int more = t->owed || t->beyond || t->folded || t->counts_lost || vt_tls.collect->has_windows || !t->stream ||
		!vt_trace_wanted || !tmr_is_counter(vt_tls.collect->timer);

	t->plain = more || t->stats ? t->frame : t->end;
	t->counted = more || !t->stats || vt_stats_throttles() ? t->frame : t->end;
}

/* Enters most states. Returns 1, or 0 if enter_slowly() has to do it. */
static inline int enter_quickly(struct vt_trace_thread *t, uint32_t function, enum vt_trace_kind kind)
{
	struct vt_trace_frame *f = t->top;
	ltick_t now;

	if (f >= t->plain || t->scl || vt_tls.state != VT_TLS_ON) {
		return 0;
	}
	now = tmr_read_counter();
	if (vt_trace_is_sampled(now) || !vt_raw_enter_short(t->stream, now, function, vt_raw_short_code(function))) {
		return 0;
	}
	vt_trace_take_frame(t);
	f->address = VT_TRACE_QUICK;
	f->function = function;
	f->how = (struct vt_trace_how){ .kind = (uint8_t)kind, .recorded = 1 };
	f->start = 0;
	vt_trace_fill_sp(f, UINTPTR_MAX);
	return 1;
}

/* After VT_traceoff() nothing is recorded, but the state must be kept so that its leave finds it. */
static inline int enter_unrecorded(struct vt_trace_thread *t, uint32_t function, enum vt_trace_kind kind)
{
	struct vt_trace_frame *f = t->top;

	if (f >= t->plain || t->scl) {
		return 0;
	}
	vt_trace_take_frame(t);
	f->address = 0;
	f->function = function;
	f->how = (struct vt_trace_how){ .kind = (uint8_t)kind };
	f->start = 0;
	vt_trace_fill_sp(f, UINTPTR_MAX);
	return 1;
}

static inline int leave_quickly(struct vt_trace_thread *t, const ltick_t *at, enum vt_trace_kind kind)
{
	struct vt_trace_frame *f = t->top - 1;
	ltick_t now;

	if (f >= t->plain || f->address != VT_TRACE_QUICK || f->how.kind != kind || t->scl ||
		vt_tls.state != VT_TLS_ON) {
		return 0;
	}
	now = at ? *at : tmr_read_counter();
	if (vt_trace_is_sampled(now) || !vt_raw_leave_short(t->stream, now)) {
		return 0;
	}
	vt_trace_give_frame(t, f);
	return 1;
}

static inline int leave_unrecorded(struct vt_trace_thread *t, enum vt_trace_kind kind)
{
	struct vt_trace_frame *f = t->top - 1;

	if (f < t->frame || f >= t->plain || f->how.recorded || f->how.ruled || f->how.kind != kind) {
		return 0;
	}
	vt_trace_give_frame(t, f);
	return 1;
}

/* States nested more deeply than there is room for are not recorded. Their leave does not find their rule, so it counts
 * as lost together with the enter. */
static inline int enter_beyond(struct vt_trace_thread *t, uint32_t rule)
{
	if (VT_LIKELY(t->top != t->end)) {
		return 0;
	}
	if (rule & VT_TRACE_RECORD && vt_trace_on()) {
		vt_raw_count_lost(vt_tls.thread->stream, 2);
	}
	vt_trace_not_plain(t);
	t->beyond++;
	return 1;
}

/* Does everything that vt_trace_enter() may have to do. It is a separate function so that the short ways save no
 * registers for it. */
static __attribute__((noinline)) VT_ErrorCode enter_slowly(uint32_t function, uint32_t scl, enum vt_trace_kind kind)
{
	VT_ErrorCode rc;
	struct vt_trace_thread *t = self(&rc);
	struct vt_trace_frame *f;
	ltick_t now = { 0 };
	uint32_t rule;

	if (!t) {
		return rc;
	}
	rule = vt_trace_rule(function);
	if (!rule || vt_tls.inside) {
		return rule ? VT_ERR_INVT : VT_ERR_BADSYMBOLID;
	}
	if (enter_beyond(t, rule)) {
		return VT_OK;
	}
	f = vt_trace_take_frame(t);
	*f = (struct vt_trace_frame){ .function = function, .how.kind = (uint8_t)kind };
	vt_trace_fill_sp(f, UINTPTR_MAX);
	if (to_record(t, f, rule)) {
		scl = scl ? scl : t->scl ? t->scl : locate(t, rule, 0);
		t->scl = 0;
		now = vt_ticks_now(vt_tls.collect);
		record_enter(t, f, scl, now);
	} else if (t->stats) {
		now = vt_ticks_now(vt_tls.collect);
	}
	f->start = now.v;
	if (f->how.ruled) {
		vt_trigger_entered(t, f);
	}
	update_plain_limits(t);
	return VT_OK;
}

/* The calling thread, if it is registered and no call-back of the program is running; else NULL. */
static inline struct vt_trace_thread *self_quickly(void)
{
	const struct vt_collect *c = vt_collect_running();

	return c && c == vt_tls.collect && !vt_tls.inside ? vt_tls.trace : NULL;
}

VT_ErrorCode vt_trace_enter(uint32_t function, uint32_t scl, enum vt_trace_kind kind)
{
	struct vt_trace_thread *t = self_quickly();

	if (VT_LIKELY(t && !scl && vt_trace_rule(function) == VT_TRACE_PLAIN)) {
		if (vt_tls.state == VT_TLS_ON ? enter_quickly(t, function, kind)
					      : enter_unrecorded(t, function, kind) || enter_beyond(t, 0)) {
			return VT_OK;
		}
	}
	return enter_slowly(function, scl, kind);
}

/* Leaves a state that has rules, or that STATISTICS counts. */
static __attribute__((noinline)) void pop_told(struct vt_trace_thread *t, uint32_t scl, ltick_t now)
{
	struct vt_trace_frame f = t->top[-1];

	if (f.how.ruled) {
		vt_trigger_leaving(t, &f);
	}
	if (f.how.recorded) {
		record_leave(t, f.how.recorded, scl, now);
	}
	vt_trace_give_frame(t, t->top - 1);
	t->folded = f.how.folded;
	if (t->stats) {
		count_call(t, &f, now.v);
	}
	sample_leaving(&f.how, now, f.how.ruled ? vt_trace_verdict(f.function)->count : 1);
	if (f.how.ruled) {
		vt_trigger_left(t, &f);
	}
}

/* Leaves the innermost state. now: needed only if the state was recorded or is counted. */
static inline void pop_frame(struct vt_trace_thread *t, uint32_t scl, ltick_t now)
{
	struct vt_trace_frame *f = t->top - 1;
	const struct vt_trace_how how = f->how;

	if (__builtin_expect(how.ruled || t->stats, 0)) {
		pop_told(t, scl, now);
		return;
	}
	/* first the record: a handler that jumps out between the two leaves no state open */
	if (how.recorded) {
		record_leave(t, how.recorded, scl, now);
	}
	vt_trace_give_frame(t, f);
	t->folded = how.folded;
	sample_leaving(&how, now, 1);
}

/* at NULL: now. */
static __attribute__((noinline)) VT_ErrorCode leave_slowly(const ltick_t *at, uint32_t scl, enum vt_trace_kind kind)
{
	VT_ErrorCode rc;
	struct vt_trace_thread *t = self(&rc);
	ltick_t now = { 0 };

	if (!t) {
		return rc;
	}
	if (vt_tls.inside) {
		return VT_ERR_INVT;
	}
	if (t->beyond) {
		t->beyond--;
		return VT_OK;
	}
	if (t->top == t->frame || t->top[-1].how.kind != kind) {
		return VT_ERR_BADREQUEST;
	}
	if (t->top[-1].how.recorded || t->stats) {
		scl = scl ? scl : t->scl;
		t->scl = 0;
		/* VT_leave() is called inside the function, so one more return address is left out; a call of MPI
		 * ends where it began */
		if (!scl && !at && t->top[-1].how.recorded) {
			scl = locate(t, vt_trace_rule(t->top[-1].function), kind == VT_TRACE_FUNCTION);
		}
		now = at ? *at : vt_ticks_now(vt_tls.collect);
	}
	pop_frame(t, scl, now);
	update_plain_limits(t);
	return VT_OK;
}

static inline VT_ErrorCode leave_state(const ltick_t *at, uint32_t scl, enum vt_trace_kind kind)
{
	struct vt_trace_thread *t = self_quickly();

	if (VT_LIKELY(t && !scl && (leave_quickly(t, at, kind) || leave_unrecorded(t, kind)))) {
		return VT_OK;
	}
	return leave_slowly(at, scl, kind);
}

VT_ErrorCode vt_trace_leave(uint32_t scl, enum vt_trace_kind kind)
{
	return leave_state(NULL, scl, kind);
}

VT_ErrorCode vt_trace_leave_at(ltick_t now)
{
	return leave_state(&now, 0, VT_TRACE_FUNCTION);
}

VT_ErrorCode vt_trace_enter_unsampled(uint32_t function, ltick_t at)
{
	VT_ErrorCode rc;
	struct vt_trace_thread *t = self(&rc);
	struct vt_trace_frame *f;
	uint32_t rule;
	int wanted = vt_tls.wanted;

	if (!t) {
		return rc;
	}
	rule = vt_trace_rule(function);
	if (!rule || vt_tls.inside || t->top == t->end) {
		return VT_ERR_BADREQUEST;
	}
	/* the records of a thread must be in order */
	if (t->stream && at.v < t->stream->now) {
		at.v = t->stream->now;
	}
	f = vt_trace_take_frame(t);
	*f = (struct vt_trace_frame){ .function = function, .how.kind = VT_TRACE_FUNCTION, .start = at.v };
	vt_trace_fill_sp(f, UINTPTR_MAX);
	vt_tls.wanted = 0;
	if (to_record(t, f, rule)) {
		record_enter(t, f, 0, at);
	}
	vt_tls.wanted = wanted;
	if (f->how.ruled) {
		vt_trigger_entered(t, f);
	}
	update_plain_limits(t);
	return VT_OK;
}

void vt_trace_leave_unsampled(uint32_t function)
{
	const struct vt_trace_thread *t = vt_tls.trace;
	int wanted = vt_tls.wanted;

	if (t && vt_tls.collect == vt_collect_running() && t->top > t->frame && t->top[-1].function == function) {
		vt_tls.wanted = 0;
		leave_state(NULL, 0, VT_TRACE_FUNCTION);
		vt_tls.wanted = wanted;
	}
}

/* ---- calls of instrumented functions ---- */

/* Has the call ended? It has if its frame is below the present stack pointer. */
static inline int is_over(struct vt_trace_thread *t, const struct vt_trace_frame *f, uintptr_t sp)
{
	return f->sp < sp && vt_callstack_has_both(&t->stack, f->sp, sp);
}

/* The stack pointer is at sp: ends the calls that an exception or a jump has left. */
static __attribute__((noinline)) void leave_calls_below(struct vt_trace_thread *t, uintptr_t sp)
{
	const uintptr_t mpi = vt_tls.mpi.low;

	if (vt_tls.mpi.at && mpi < sp && vt_hooks.mpi_left && vt_callstack_has_both(&t->stack, mpi, sp)) {
		vt_hooks.mpi_left();
	}
	while (t->top > t->frame && is_over(t, t->top - 1, sp)) {
		pop_frame(t, 0, vt_ticks_now(vt_tls.collect));
	}
}

static inline void enter_call(uint32_t function, uint32_t rule, uintptr_t address, uintptr_t sp, unsigned extra)
{
	VT_ErrorCode rc;
	struct vt_trace_thread *t = self(&rc);
	struct vt_trace_frame *f;
	ltick_t now = { 0 };

	if (!t || vt_tls.inside) {
		return;
	}
	if (enter_beyond(t, rule)) {
		return;
	}
	if (__builtin_expect(t->top > t->frame && t->top[-1].sp < sp, 0)) {
		leave_calls_below(t, sp);
		vt_callstack_goes_on(&t->stack, t->top[-1].sp, sp);
	}
	f = vt_trace_take_frame(t);
	*f = (struct vt_trace_frame){ .function = function, .how.kind = VT_TRACE_CALL, .address = address };
	vt_trace_fill_sp(f, sp);
	if (VT_LIKELY(to_record(t, f, rule))) {
		uint32_t scl = locate(t, rule, extra); /* the place of the call */

		now = vt_ticks_now(vt_tls.collect);
		record_enter(t, f, scl, now);
	} else if (t->stats) {
		now = vt_ticks_now(vt_tls.collect);
	}
	f->start = now.v;
	if (__builtin_expect(f->how.ruled, 0)) {
		vt_trigger_entered(t, f);
	}
	update_plain_limits(t);
}

void vt_trace_call(uint32_t function, uint32_t rule, uintptr_t address, uintptr_t sp)
{
	enter_call(function, rule, address, sp, 1);
}

void vt_trace_call_of(uint32_t function, uint32_t rule, uintptr_t address, uintptr_t sp)
{
	enter_call(function, rule, address, sp, 0);
}

void vt_trace_jump(uintptr_t sp)
{
	struct vt_trace_thread *t = vt_tls.trace;

	if (vt_tls.inside && vt_callstack_leaves(&t->stack, vt_tls.inside_at, sp)) {
		vt_tls.inside = 0;
	}
	/* the record in which the signal came is not complete: without this, no further one of the thread would be written */
	if (t->stream && t->stream->busy && vt_callstack_leaves(&t->stack, t->stream->busy, sp)) {
		vt_raw_abandon(t->stream);
	}
	if (!vt_tls.inside) {
		while (t->top > t->frame && vt_callstack_leaves(&t->stack, t->top[-1].sp, sp)) {
			pop_frame(t, 0, vt_ticks_now(vt_tls.collect));
		}
		leave_calls_below(t, sp);
	}
}

void vt_trace_return(uint32_t function)
{
	struct vt_trace_thread *t = vt_tls.trace;
	struct vt_trace_frame *f = t->top;
	ltick_t now;

	if (vt_tls.inside) {
		return;
	}
	if (__builtin_expect(t->beyond != 0, 0)) {
		t->beyond--;
		return;
	}
	while (f > t->frame && (f[-1].function != function || f[-1].how.kind != VT_TRACE_CALL)) {
		f--;
	}
	if (f == t->frame) {
		return; /* the function was entered before the collector was loaded */
	}
	if (__builtin_expect(t->top > f, 0)) {
		vt_callstack_goes_on(&t->stack, t->top[-1].sp, f[-1].sp);
	}
	now = vt_ticks_now(vt_tls.collect);
	while (t->top >= f) {
		pop_frame(t, 0, now);
	}
	update_plain_limits(t);
}

uint32_t vt_trace_current(void)
{
	const struct vt_trace_thread *t = vt_tls.trace;
	const struct vt_trace_frame *f;

	for (f = t ? t->top : NULL; f && f > t->frame; f--) {
		if (f[-1].how.recorded) {
			return f[-1].function;
		}
	}
	return 0;
}

uint32_t vt_trace_innermost(void)
{
	const struct vt_trace_thread *t = vt_tls.trace;

	return t && t->top > t->frame ? t->top[-1].function : 0;
}

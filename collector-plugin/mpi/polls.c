/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI that look for something and find nothing: MPI_Test, MPI_Iprobe and their like. A program that waits in
 * such a way makes millions of them. The first one is a state like any other. Those that follow it, with no other event of
 * their thread between them, become runs of at most RUN_S: one state for each function, which begins with the run and lasts as
 * long as the calls in the run together, and a counter with the number of the calls. So the time in each function is that
 * of its calls, and no call is shown farther than RUN_S from its place. A run is updated in place in the raw file, so what
 * ends the program loses none. */
#include "config.h"
#include "collector-plugin/mpi/polls.h"

#include <stdio.h>
#include <string.h>

#include "collector-plugin/api/private.h"
#include "collector-plugin/core/names.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/stats/stats.h"
#include "collector-plugin/trace/states.h"

#define RUN_S 1e-3
/* The records of one function of a run: its counter, with the length of the run in the first one; enter; leave. */
enum {
	COUNTERS_BYTES = 8 + 2 * 12,
	STATE_BYTES = 8 + (int)sizeof(struct vt_raw_state_change),
	RECORDS_BYTES = COUNTERS_BYTES + 2 * STATE_BYTES,
	DT_AT = 4, /* of a record's dt */
};

/* Defines the counters of a function's runs in this raw file. Returns 0 or -1. */
static VT_SELDOM int define_polls(struct vt_mpi_function *f)
{
	struct vt_collect *c = vt_collect_running();
	struct vt_raw_counter_def calls = { .unit = "#", .type = 1 | VT_COUNT_VALID_POINT },
				  span = { .name = "MPI_polls_span", .unit = "ns" };
	char name[64];

	snprintf(name, sizeof(name), "%s_unsuccessful", f->text);
	calls.name = name;
	span.type = calls.type;
	calls.classid = span.classid = vt_class(c, "MPI");
	f->polls = vt_counter_of_ours(c, &calls);
	f->span = vt_counter_of_ours(c, &span);
	f->polls_file = f->polls && f->span ? f->file : NULL;
	return f->polls_file ? 0 : -1;
}

/* Is the call of f that begins now a state with nothing else to do than to be recorded, and counted by STATISTICS? */
static int is_foldable(struct vt_trace_thread *t, const struct vt_mpi_function *f)
{
	return vt_tls.state == VT_TLS_ON && !vt_tls.inside && vt_trace_rule(f->id) == VT_TRACE_PLAIN &&
		vt_trace_wanted && !(t->owed | t->beyond) && !t->folded && !t->counts_lost && !t->scl &&
		!vt_tls.collect->has_windows && t->top != t->end;
}

int vt_poll_enter_at(struct vt_mpi_call *k, struct vt_mpi_function *f, uintptr_t at)
{
	struct vt_trace_thread *t = vt_tls.trace;
	ltick_t now;

	k->folds = 0;
	if (vt_tls.mpi.at || !t || !t->polls.after || t->polls.after != t->stream->cur ||
		vt_tls.collect != vt_collect_running() || f->file != vt_tls.collect->raw || !is_foldable(t, f) ||
		(f->polls_file != f->file && define_polls(f) < 0)) {
		return vt_mpi_enter_at(k, f, at);
	}
	now = vt_ticks_now(vt_tls.collect);
	if (vt_trace_is_sampled(now)) {
		return vt_mpi_enter_at(k, f, at);
	}
	vt_tls.mpi.at = at;
	vt_tls.mpi.low = (uintptr_t)__builtin_frame_address(0);
	vt_tls.mpi.function = f;
	vt_tls.mpi.sent = NULL;
	*k = (struct vt_mpi_call){ .at = at, .folds = 1, .recorded = VT_TRACE_RECORDED, .collect = vt_tls.collect };
	k->enter = now.v;
	vt_mpi_count(1, 0);
	return 1;
}

static void add_ticks(uint8_t *leave, int64_t ticks)
{
	uint32_t dt;

	memcpy(&dt, leave + DT_AT, sizeof(dt));
	dt += (uint32_t)ticks;
	memcpy(leave + DT_AT, &dt, sizeof(dt));
}

static void set_span(const struct vt_mpi_call *k, const struct vt_trace_polls *p)
{
	uint64_t ns = (uint64_t)((double)(k->leave - p->first) * p->tick_ns);

	memcpy(p->span, &ns, sizeof(ns));
}

/* Begins the records of a function of the run, with its first call. Returns 0; -1: there is no room in this block. */
static int add_function(
	struct vt_trace_thread *t, const struct vt_mpi_call *k, const struct vt_mpi_function *f, int64_t ticks)
{
	const struct vt_raw_state_change enter = { f->id, 0 }, leave = { 0, 0 };
	struct vt_raw_stream *s = t->stream;
	uint16_t where = (uint16_t)vt_tls.thread->number;
	struct vt_trace_polls *p = &t->polls;
	struct vt_trace_poll *poll = &p->of[p->n];
	int64_t begin = p->n ? s->now : k->enter;
	const uint32_t ids[] = { f->polls, f->span };
	const uint64_t values[] = { 1, 0 };
	unsigned counters = p->n ? 1 : 2;

	if (!s->block || s->end - s->cur < RECORDS_BYTES || begin - s->now > UINT32_MAX || begin < s->now) {
		return -1;
	}
	poll->count = s->cur + sizeof(struct vt_raw_record);
	if (vt_raw_counters(s, ltick(begin), where, counters, ids, values) < 0 ||
		vt_raw_event(s, ltick(begin), where, VT_RAW_ENTER, 0, &enter, sizeof(enter)) < 0) {
		return -1;
	}
	poll->leave = s->cur;
	if (vt_raw_event(s, ltick(begin + ticks), where, VT_RAW_LEAVE, VT_RAW_LEFT, &leave, sizeof(leave)) < 0) {
		t->owed++;
		vt_trace_not_plain(t);
		return -1;
	}
	if (p->n++ == 0) {
		p->first = begin;
		p->tick_ns = 1e9 / k->collect->timer->hz;
		p->longest = (int64_t)(RUN_S * k->collect->timer->hz);
		p->span = poll->count + sizeof(uint64_t);
	}
	poll->function = f->id;
	poll->calls = 1;
	return 0;
}

/* Adds the call to the run. Returns 0; -1: it must be recorded as a state of its own. */
static int fold_poll(struct vt_trace_thread *t, const struct vt_mpi_call *k, const struct vt_mpi_function *f)
{
	struct vt_trace_polls *p = &t->polls;
	struct vt_raw_stream *s = t->stream;
	int64_t ticks = k->leave - k->enter;
	uint32_t i;

	/* a clock that was set meanwhile, a clock session, or records of call-backs: this call is an event of its own */
	if (ticks < 0 || k->enter < s->now || s->cur != p->after || s->busy ||
		atomic_load_explicit(s->sessions, memory_order_relaxed) != s->said) {
		return -1;
	}
	if (p->n && k->leave - p->first > p->longest) {
		p->n = 0;
	}
	for (i = 0; i < p->n && p->of[i].function != f->id; i++) {
	}
	if (i == VT_TRACE_POLLS || (!p->n && (double)ticks > RUN_S * k->collect->timer->hz)) {
		return -1;
	}
	if (i == p->n) {
		if (add_function(t, k, f, ticks) < 0) {
			return -1;
		}
	} else {
		/* a signal handler that records does it before this, or not at all */
		s->busy = vt_raw_here();
		atomic_signal_fence(memory_order_seq_cst);
		if (s->cur != p->after) {
			s->busy = 0;
			return -1;
		}
		add_ticks(p->of[i].leave, ticks);
		p->of[i].calls++;
		memcpy(p->of[i].count, &p->of[i].calls, sizeof(p->of[i].calls));
		s->now += ticks;
		atomic_signal_fence(memory_order_seq_cst);
		s->busy = 0;
	}
	set_span(k, p);
	p->after = s->cur;
	return 0;
}

/* STATISTICS counts each call. */
static void count_poll(struct vt_trace_thread *t, uint32_t function, int64_t ticks)
{
	if (t->stats) {
		vt_stats_call(t->stats, function, ticks, ticks);
		if (t->top > t->frame) {
			t->top[-1].inner += ticks;
		}
	}
}

void vt_poll_returned(struct vt_mpi_call *k, const struct vt_mpi_function *f, int found)
{
	struct vt_trace_thread *t = vt_tls.trace;

	if (!k->folds || !t) {
		return;
	}
	if (!found && fold_poll(t, k, f) == 0) {
		count_poll(t, f->id, k->leave - k->enter);
		return;
	}
	k->folds = 0;
	k->recorded = VT_TRACE_NOT;
	if (vt_trace_enter_unsampled(f->id, ltick(k->enter)) == VT_OK) {
		k->frame = t->top;
		k->recorded = t->top[-1].how.recorded;
	}
}

void vt_poll_leave_state(struct vt_mpi_call *k, int found)
{
	struct vt_trace_thread *t = vt_tls.trace;

	vt_mpi_leave(k);
	if (t) {
		t->polls.after = !found && k->recorded == VT_TRACE_RECORDED && t->stream ? t->stream->cur : NULL;
		t->polls.n = 0;
	}
}

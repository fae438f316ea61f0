/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampling at state changes: every enabled counter of the thread and of the process, and the values that the
 * program's own callback returns (VT_countsetcallback, the Intel Trace Collector guide, section 3.1.3). All have the
 * stamp of the event that triggered them. COUNTER-MIN-INTERVAL makes samples of counters rarer. The callback, whose
 * cost is the program's decision, is called every time. */
#include "config.h"
#include "collector-plugin/sample/sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/VT.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/sink.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/host/turn.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"

static VT_SELDOM struct smp_set *open_thread_set(struct vt_collect *c, pid_t tid, uint32_t **id)
{
	struct smp_target target = { SMP_THREAD, getpid(), tid };
	struct smp_set *set;
	size_t i, n;

	vt_counters_lock();
	set = smp_set_open(c->plan, &target, NULL);
	vt_counters_unlock();
	n = set ? smp_set_size(set) : 0;
	*id = n ? malloc(n * sizeof(**id)) : NULL;
	if (!*id) {
		smp_set_close(set);
		return NULL;
	}
	for (i = 0; i < n; i++) {
		(*id)[i] = c->counter_ids[smp_set_planned(set, i)];
	}
	return set;
}

/* Are there counters of threads that count from their opening? Then the calling thread reads its own from here on. */
static VT_SELDOM int take_over(struct vt_sampling *s, struct vt_collect *c)
{
	size_t i, n = smp_plan_size(c->plan);

	for (i = 0; i < n; i++) {
		const struct smp_planned *p = smp_plan_at(c->plan, i);

		if (p->counter.scope == SMP_THREAD && !p->counter.missing && vt_counts_from_opening(c->plan, i)) {
			s->base = calloc(n, sizeof(*s->base));
			return s->base && vt_threads_take_over(c, s->tid, s->base, n) == 0;
		}
	}
	return 0;
}

static VT_SELDOM void sampling_close(struct vt_sampling *s)
{
	if (!s) {
		return;
	}
	if (s->listed) {
		vt_reader_remove(s);
	}
	smp_set_close(s->set);
	free(s->id);
	free(s->base);
	free(s->value);
	free(s->state);
	free(s->out);
	free(s->out_id);
	free(s->handles);
	free(s->values);
	free(s);
}

static VT_SELDOM struct vt_sampling *sampling_open(struct vt_collect *c, struct vt_thread *t)
{
	struct vt_sampling *s = calloc(1, sizeof(*s));
	size_t n, k;

	if (!s || !c->plan || c->min_interval_s < 0) {
		free(s);
		return NULL;
	}
	s->tid = t->tid;
	s->turn = t->slot ? &t->slot->turn : &s->own_turn;
	s->aside = t->slot ? &t->slot->aside : &s->own_aside;
	s->over = take_over(s, c);
	s->set = open_thread_set(c, t->tid, &s->id);
	n = s->set ? smp_set_size(s->set) : 0;
	if (s->base) {
		/* by the plan's number so far; the set's is never larger */
		for (k = 0; k < n; k++) {
			s->base[k] = vt_counts_from_opening(c->plan, smp_set_planned(s->set, k))
				? s->base[smp_set_planned(s->set, k)]
				: 0;
		}
	}
	s->process = vt_process_open(c) > 0;
	if (n > 0) {
		s->value = calloc(n, sizeof(*s->value));
		s->state = calloc(n, 1);
		s->out = calloc(n, sizeof(*s->out));
		s->out_id = calloc(n, sizeof(*s->out_id));
	}
	if ((n == 0 && !s->process) || (n > 0 && (!s->value || !s->state || !s->out || !s->out_id))) {
		sampling_close(s);
		return NULL;
	}
	if (s->set) {
		vt_reader_add(c, s);
		if (t->slot) {
			atomic_store(&t->slot->sampling, 1);
		}
	}
	return s;
}

/* ---- two read one set ---- */

/* The stamp of the event is taken already. What was read after it in the meantime is an upper limit of the value at
 * that time, and all that may be there: the same values. If the background thread read them, by its own set, the
 * event is sampled later, with a stamp of its own. */
static enum vt_sampled sample_own_thread(struct vt_sampling *s, ltick_t now, int later)
{
	if (!vt_turn_take(s->turn)) {
		return VT_SAMPLE_LOST;
	}
	if (now.v <= atomic_load(s->aside) && !later) {
		vt_turn_end(s->turn);
		return VT_SAMPLE_LATER;
	}
	if (later) {
		now = vt_ticks_now(vt_tls.collect);
	}
	s->last = now.v;
	if (s->read_at < now.v) {
		s->valid = smp_set_read(s->set, s->value, s->state);
	}
	vt_sampling_record(s, vt_tls.thread->stream, vt_tls.thread->number, now);
	vt_turn_end(s->turn);
	return VT_SAMPLED;
}

/* The last one of thread t, by itself. */
static void thread_ends(struct vt_thread *t)
{
	struct vt_sampling *s = vt_tls.sampling;
	ltick_t now;

	if (!s || !s->set || !t->stream || vt_threads_off(t->tid) || !vt_turn_take(s->turn)) {
		return;
	}
	now = vt_ticks_now(vt_tls.collect);
	if (vt_collect_in_window(now)) {
		s->valid = smp_set_read(s->set, s->value, s->state);
		vt_sampling_record(s, t->stream, t->number, now);
	}
	s->last = now.v;
	vt_turn_end(s->turn);
}

static VT_SELDOM void say_left_out(struct vt_sampling *s, ltick_t now)
{
	char text[160];

	snprintf(text, sizeof(text),
		"%u samples at calls before this one were left out: another thread was reading the counters for more "
		"than 1 s",
		s->left_out);
	vt_raw_comment(vt_tls.thread->stream, now, (uint16_t)vt_tls.thread->number, text);
	s->left_out = 0;
}

static VT_SELDOM int64_t next_after(ltick_t now)
{
	double interval = vt_tls.collect->min_interval_s;

	return now.v + (interval > 0 ? (int64_t)(interval * vt_tls.collect->timer->hz) : 0);
}

static VT_SELDOM void call_back(struct vt_sampling *s, ltick_t now)
{
	int n = s->callback(s->custom, s->n, s->handles, s->values);

	if (n > 0 && vt_tls.state == VT_TLS_ON) {
		s->deliver(now, n < s->n ? n : s->n, s->handles, s->values);
	}
}

static void sample(const struct vt_event *e)
{
	struct vt_sampling *s = vt_tls.sampling;
	ltick_t now = e->time;
	enum vt_sampled thread = VT_SAMPLED, process = VT_SAMPLED;
	int saved = errno, cancel;

	if (!s || vt_lock_is_without_calls() || !vt_collect_in_window(now)) {
		return;
	}
	/* read(2) is a cancellation point, and the counters are in use */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if ((s->set || s->process) && now.v >= s->next) {
		s->next = next_after(now);
		if (s->left_out) {
			say_left_out(s, now);
		}
		thread = s->set ? sample_own_thread(s, now, 0) : VT_SAMPLED;
		process = s->process ? vt_process_sample(now, 0) : VT_SAMPLED;
	}
	if (s->callback) {
		call_back(s, now);
	}
	/* stamps of a thread never decrease, so the counters are recorded after what the callback returned */
	if (thread == VT_SAMPLE_LATER) {
		thread = sample_own_thread(s, now, 1);
	}
	if (process == VT_SAMPLE_LATER) {
		process = vt_process_sample(now, 1);
	}
	vt_tls.quiet_until = s->callback ? 0 : s->next;
	s->left_out += (thread == VT_SAMPLE_LOST) + (process == VT_SAMPLE_LOST);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

VT_SELDOM VT_ErrorCode vt_sampling_callback(VT_CountCallback_t callback, void *custom, int n,
	VT_ErrorCode (*deliver)(ltick_t now, int n, const int *handles, const void *values))
{
	struct vt_sampling *s = vt_tls.sampling;
	int *handles = NULL;
	uint64_t *values = NULL;

	if (callback) {
		handles = calloc((size_t)n, sizeof(*handles));
		values = calloc((size_t)n, sizeof(*values));
		s = s ? s : calloc(1, sizeof(*s));
		if (!handles || !values || !s) {
			free(handles);
			free(values);
			if (s != vt_tls.sampling) {
				free(s);
			}
			return VT_ERR_NOMEMORY;
		}
	}
	if (!s) {
		return VT_OK;
	}
	if (vt_tls.inside) {
		/* the callback itself called this: its arrays are in use */
		free(handles);
		free(values);
		s->callback = callback ? s->callback : NULL;
		return callback ? VT_ERR_INVT : VT_OK;
	}
	free(s->handles);
	free(s->values);
	s->callback = callback;
	s->custom = custom;
	s->deliver = deliver;
	s->n = n;
	s->handles = handles;
	s->values = values;
	vt_tls.sampling = s;
	vt_tls.wanted = 1;
	vt_tls.quiet_until = 0;
	return VT_OK;
}

/* ---- the sink ---- */

static VT_SELDOM int thread_begins(struct vt_collect *c, struct vt_thread *t)
{
	vt_tls.sampling = sampling_open(c, t);
	return vt_tls.sampling != NULL;
}

static VT_SELDOM void thread_ended(struct vt_thread *t)
{
	(void)t;
	sampling_close(vt_tls.sampling);
	vt_tls.sampling = NULL;
}

static VT_IN_CHILD void forked(void)
{
	vt_process_forget();
	vt_reader_forget();
}

const struct vt_sink_ops vt_sampling_sink = {
	.name = "sampling",
	.thread_begins = thread_begins,
	.event = sample,
	.thread_ends = thread_ends,
	.thread_ended = thread_ended,
	.forked = forked,
	.restart = vt_process_restart,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampling at state changes: every enabled counter of the thread and of the process, and what the program's own callback returns (VT_countsetcallback, seeds/003 section 3.1.3), all with
 * the stamp of the event that triggered them. COUNTER-MIN-INTERVAL makes the former rarer; the callback, whose cost is
 * the program's own affair, comes every time. */
#include "config.h"
#include "collector-plugin/vt_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector-plugin/vt_count.h"

/* The counters of the process belong to all its threads: whoever has an event reads them, unless another one is at it. */
static struct {
	pthread_mutex_t lock;    /* of opening it */
	struct vt_collect *of;   /* whose counters they are; NULL: not opened yet */
	pid_t pid;
	struct smp_set *set;
	uint32_t *id;
	_Atomic int busy;
	int64_t next;            /* of who is at it */
} process = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct smp_set *open_set(struct vt_collect *c, enum smp_scope scope, pid_t tid, uint32_t **id)
{
	struct smp_target target = { scope, getpid(), scope == SMP_THREAD ? tid : 0 };
	struct smp_set *set = smp_set_open(c->plan, &target, NULL);
	size_t i, n = set ? smp_set_size(set) : 0;

	*id = n ? malloc(n * sizeof(**id)) : NULL;
	if (!*id) {
		smp_set_close(set);
		return NULL;
	}
	for (i = 0; i < n; i++) {
		(*id)[i] = c->counter_id[smp_set_planned(set, i)];
	}
	return set;
}

/* Returns how many there are. */
static size_t open_process(struct vt_collect *c)
{
	size_t n;

	pthread_mutex_lock(&process.lock);
	if (process.of != c) {
		process.pid = getpid();
		process.set = open_set(c, SMP_PROCESS, 0, &process.id);
		process.next = 0;
		process.of = c;
	}
	n = process.set ? smp_set_size(process.set) : 0;
	pthread_mutex_unlock(&process.lock);
	return n;
}

void vt_sampling_forget(void)
{
	pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	memcpy(&process.lock, &fresh, sizeof(fresh));
	process.of = NULL;
	process.set = NULL;
	atomic_store(&process.busy, 0);
}

struct vt_sampling *vt_sampling_open(struct vt_collect *c, struct vt_thread *t)
{
	struct vt_sampling *s = calloc(1, sizeof(*s));
	size_t n, k;

	if (!s || !c->plan || c->min_interval_s < 0) {
		free(s);
		return NULL;
	}
	s->set = open_set(c, SMP_THREAD, t->tid, &s->id);
	n = s->set ? smp_set_size(s->set) : 0;
	for (k = 0; k < n; k++) {
		if (vt_counts_from_opening(c->plan, smp_set_planned(s->set, k))) {
			vt_threads_count(t->tid);
			break;
		}
	}
	k = open_process(c);
	n = k > n ? k : n;
	if (n > 0) {
		s->value = calloc(n, sizeof(*s->value));
		s->state = calloc(n, 1);
		s->out = calloc(n, sizeof(*s->out));
		s->out_id = calloc(n, sizeof(*s->out_id));
	}
	if (n == 0 || !s->value || !s->state || !s->out || !s->out_id) {
		vt_sampling_close(s);
		return NULL;
	}
	return s;
}

void vt_sampling_close(struct vt_sampling *s)
{
	if (!s) {
		return;
	}
	smp_set_close(s->set);
	free(s->id);
	free(s->value);
	free(s->state);
	free(s->out);
	free(s->out_id);
	free(s->handles);
	free(s->values);
	free(s);
}

static void sample_set(struct vt_sampling *s, struct smp_set *set, const uint32_t *id, int where, ltick_t now)
{
	size_t i, n = smp_set_size(set);
	unsigned k = 0;

	if (smp_set_read(set, s->value, s->state) <= 0) {
		return;
	}
	for (i = 0; i < n; i++) {
		if (s->state[i] & SMP_VALID) {
			s->out_id[k] = id[i];
			s->out[k++] = s->value[i].u;
		}
		if (k == VT_RAW_MAX_COUNTERS || (i + 1 == n && k > 0)) {
			vt_raw_counters(vt_tls.thread->stream, now, (uint16_t)where, k, s->out_id, s->out);
			k = 0;
		}
	}
}

static int64_t next_after(ltick_t now)
{
	double interval = vt_tls.collect->min_interval_s;

	return now.v + (interval > 0 ? (int64_t)(interval * vt_tls.collect->timer->hz) : 0);
}

/* They stand with the process's first thread, as those of the background thread do. */
static void sample_process(struct vt_sampling *s, ltick_t now)
{
	if (atomic_exchange_explicit(&process.busy, 1, memory_order_acquire)) {
		return;
	}
	if (now.v >= process.next && process.of == vt_tls.collect && !vt_threads_off(process.pid)) {
		process.next = next_after(now);
		sample_set(s, process.set, process.id, 0, now);
	}
	atomic_store_explicit(&process.busy, 0, memory_order_release);
}

static void call_back(struct vt_sampling *s, ltick_t now)
{
	int n = s->callback(s->custom, s->n, s->handles, s->values);

	if (n > 0 && vt_tls.state == VT_TLS_ON) {
		vt_count_at(now, n < s->n ? n : s->n, s->handles, s->values);
	}
}

void vt_sample(ltick_t now)
{
	struct vt_sampling *s = vt_tls.sampling;
	int saved = errno;

	if (s->value && now.v >= s->next) {
		s->next = next_after(now);
		if (s->set) {
			sample_set(s, s->set, s->id, vt_tls.thread->number, now);
		}
		if (process.set) {
			sample_process(s, now);
		}
	}
	if (s->callback) {
		call_back(s, now);
	}
	errno = saved;
}

VT_ErrorCode vt_event_slow(void)
{
	VT_ErrorCode rc = vt_self();

	if (rc == VT_OK && vt_tls.sampling && vt_tls.state == VT_TLS_ON && !vt_tls.inside) {
		vt_tls.inside++;
		vt_sample(tmr_read(vt_tls.collect->timer));
		vt_tls.inside--;
	}
	return rc;
}

VT_ErrorCode VT_countsetcallback(VT_CountCallback_t callback, void *custom, int ncounters)
{
	VT_ErrorCode rc = vt_self();
	struct vt_sampling *s = vt_tls.sampling;
	int *handles = NULL;
	uint64_t *values = NULL;

	if (rc != VT_OK) {
		return rc;
	}
	if (callback && (ncounters <= 0 || ncounters > 1 << 20)) {
		return VT_ERR_BADARG;
	}
	if (callback) {
		handles = calloc((size_t)ncounters, sizeof(*handles));
		values = calloc((size_t)ncounters, sizeof(*values));
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
		/* set from inside the callback: its arrays are in use */
		free(handles);
		free(values);
		s->callback = callback ? s->callback : NULL;
		return callback ? VT_ERR_INVT : VT_OK;
	}
	free(s->handles);
	free(s->values);
	s->callback = callback;
	s->custom = custom;
	s->n = ncounters;
	s->handles = handles;
	s->values = values;
	vt_tls.sampling = s;
	return VT_OK;
}

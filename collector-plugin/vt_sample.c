/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampling at state changes: every enabled counter of the thread and, in the thread that is the process, of the
 * process, and what the program's own callback returns (VT_countsetcallback, seeds/003 section 3.1.3), all with
 * the stamp of the event that triggered them. COUNTER-MIN-INTERVAL makes the former rarer; the callback, whose cost is
 * the program's own affair, comes every time. */
#include "config.h"
#include "collector-plugin/vt_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector-plugin/vt_count.h"

enum { OF_THREAD, OF_PROCESS };

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

struct vt_sampling *vt_sampling_open(struct vt_collect *c, struct vt_thread *t)
{
	struct vt_sampling *s = calloc(1, sizeof(*s));
	size_t n = 0, k;
	int i;

	if (!s || !c->plan || c->min_interval_s < 0) {
		free(s);
		return NULL;
	}
	s->set[OF_THREAD] = open_set(c, SMP_THREAD, t->tid, &s->id[OF_THREAD]);
	if (t->tid == getpid()) {
		s->set[OF_PROCESS] = open_set(c, SMP_PROCESS, 0, &s->id[OF_PROCESS]);
	}
	for (i = 0; i < 2; i++) {
		k = s->set[i] ? smp_set_size(s->set[i]) : 0;
		n = k > n ? k : n;
	}
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
	int i;

	if (!s) {
		return;
	}
	for (i = 0; i < 2; i++) {
		smp_set_close(s->set[i]);
		free(s->id[i]);
	}
	free(s->value);
	free(s->state);
	free(s->out);
	free(s->out_id);
	free(s->handles);
	free(s->values);
	free(s);
}

static void sample_set(struct vt_sampling *s, int which, ltick_t now)
{
	size_t i, n = smp_set_size(s->set[which]);
	unsigned k = 0;

	if (smp_set_read(s->set[which], s->value, s->state) <= 0) {
		return;
	}
	for (i = 0; i < n; i++) {
		if (s->state[i] & SMP_VALID) {
			s->out_id[k] = s->id[which][i];
			s->out[k++] = s->value[i].u;
		}
		if (k == VT_RAW_MAX_COUNTERS || (i + 1 == n && k > 0)) {
			vt_raw_counters(vt_tls.thread->stream, now, (uint16_t)vt_tls.thread->number, k, s->out_id, s->out);
			k = 0;
		}
	}
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
	double interval = vt_tls.collect->min_interval_s;
	int i, saved = errno;

	if (now.v >= s->next) {
		s->next = now.v + (interval > 0 ? (int64_t)(interval * vt_tls.collect->timer->hz) : 0);
		for (i = 0; i < 2; i++) {
			if (s->set[i]) {
				sample_set(s, i, now);
			}
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

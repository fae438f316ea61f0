/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampling loop, for the sampling thread inside a program (sampler.c) and for the sampler process: lists the
 * threads, reads the counters of the process, of its threads and of the node, and records what that costs. What the two
 * do in different ways is in struct vt_sampler_ops. */
#include "config.h"
#include "collector-plugin/sample/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/descriptors.h"
#include "collector-plugin/sample/new_devices.h"
#include "collector-plugin/sample/sample.h"

enum { CLOCK_EVERY_S = 10, ACCOUNT_EVERY_S = 1, NODE_APART_NS = 20000000, LIST_EVERY_ROUNDS = 10 };

/* ---- threads come and go ---- */

/* name_there: of its folder below s->task. */
static void add_sampled_thread(struct vt_sampler *s, pid_t tid, const char *name_there)
{
	struct vt_book *book = &s->book;
	int where = s->ops->number_thread(s, tid, &book);
	struct vt_target *t = where < 0 ? NULL : vt_target_new(s, book, SMP_THREAD, tid, where, NULL);
	char path[64], name[64] = "";

	if (!t) {
		return;
	}
	if (tid != s->c->pid) {
		snprintf(path, sizeof(path), "%.20s/comm", name_there);
		tkm_root_line(s->task, path, name, sizeof(name));
		/* VT_RAW_GROUP: the system's name, which counts less than one that the program has given */
		vt_raw_thread_from(s->c->pub.raw, (uint32_t)where, VT_RAW_GROUP, (uint64_t)tid, name);
	}
	t->next = s->threads;
	t->seen = s->round;
	s->threads = t;
}

static void see_sampled_thread(struct vt_sampler *s, pid_t tid, const char *name)
{
	struct vt_target *t;

	for (t = s->threads; t && t->tid != tid; t = t->next) {
	}
	if (!t) {
		add_sampled_thread(s, tid, name);
		return;
	}
	t->seen = s->round;
	if (s->ops->see_again) {
		s->ops->see_again(s, t);
	}
}

/* Sees each thread in the folder s->task in a new s->round. An unchanged number of threads usually means that nothing
 * changed; every tenth time the threads are listed anyway. Returns 0 if it did not list them. */
static int see_threads(struct vt_sampler *s)
{
	_Alignas(8) char buf[16384];
	char status[32];
	struct stat st;
	long n, at;

	if (s->task < 0 ||
		(fstat(s->task, &st) == 0 && st.st_nlink == s->task_links && ++s->task_skipped < LIST_EVERY_ROUNDS)) {
		return 0;
	}
	s->task_skipped = 0;
	s->task_links = st.st_nlink;
	s->round++;
	if (lseek(s->task, 0, SEEK_SET) < 0) {
		return 0;
	}
	while ((n = syscall(SYS_getdents64, s->task, buf, sizeof(buf))) > 0) {
		for (at = 0; at < n;) {
			const struct dirent64 *d = (const struct dirent64 *)(const void *)(buf + at);
			pid_t tid = (pid_t)atoi(d->name);

			if (tid > 0 && s->is_proc_above) {
				snprintf(status, sizeof(status), "%.20s/status", d->name);
				tid = (pid_t)tkm_root_own_number(s->task, status);
			}
			if (tid > 0) {
				see_sampled_thread(s, tid, d->name);
			}
			at += d->reclen;
		}
	}
	return 1;
}

void vt_sampler_list_next_time(struct vt_sampler *s)
{
	s->task_skipped = LIST_EVERY_ROUNDS;
}

void vt_sampler_list_threads(struct vt_sampler *s)
{
	struct vt_target **link, *t;
	int listed;

	if (!s->ops->begin_list(s)) {
		return;
	}
	listed = see_threads(s);
	for (link = &s->threads; listed && (t = *link) != NULL;) {
		if (t->seen == s->round) {
			link = &t->next;
			continue;
		}
		*link = t->next;
		s->ops->end_thread(s, t);
		vt_target_free(t);
	}
	if (s->ops->end_list) {
		s->ops->end_list(s, listed);
	}
}

/* ---- one sample of everything ---- */

/* Returns the CPU time of the sampling. It is read just before the stamp, by another clock: over a short interval it
 * could have grown by more than the time. The excess waits for the next sample. An excess over the figure that the next
 * program begins with is not recorded. */
static uint64_t own_cpu(const struct vt_sampler *s)
{
	uint64_t cpu = s->cpu_before + (uint64_t)s->ops->cpu_ns(s), most;
	uint64_t noted = atomic_load_explicit(&s->noted_cpu, memory_order_relaxed);
	double passed;

	cpu = noted && noted < cpu ? noted : cpu;
	if (s->own_stamp.v == 0) {
		return cpu;
	}
	passed = (double)ltick_sub(vt_ticks_now(&s->c->pub), s->own_stamp) * tmr_period(s->c->pub.timer);
	most = s->own_cpu + (uint64_t)(passed > 0 ? 0.999e9 * passed : 0);
	return cpu < most ? cpu : most;
}

static void sample_process(struct vt_sampler *s, int64_t delay)
{
	static const uint32_t id[3] = { VT_ID_CPU, VT_ID_TICK, VT_ID_DELAY };
	uint64_t v[3] = { own_cpu(s), (uint64_t)s->c->account.longest_ns, (uint64_t)delay };
	struct vt_raw_process *turns = &vt_raw_head(s->c->pub.raw)->process;
	ltick_t now;

	if (!s->process || s->ops->is_off(s, s->c->pid) || !s->ops->take_turn(&turns->turn)) {
		return;
	}
	now = vt_stamp_after(&s->c->pub, turns->high);
	if (vt_sampler_in_window(s, now)) {
		v[0] = vt_raise_total(s->total_cpu, v[0]);
		vt_target_sample_at(s, s->process, now, id, v, 3);
		if (s->shared) {
			vt_target_sample_at(s, s->shared, now, NULL, NULL, 0);
		}
		s->own_cpu = v[0];
		s->own_stamp = now;
	}
	turns->low = turns->high = now.v;
	turns->read_at = 0;
	vt_turn_end(&turns->turn);
}

static void sample_one_thread(struct vt_sampler *s, struct vt_target *t)
{
	ltick_t now;

	if (t->set && !s->ops->is_off(s, t->tid) && s->ops->take_thread_turn(s, t, &now)) {
		/* a window may have ended since this round of samples began */
		if (t->where >= 0 && vt_sampler_in_window(s, now)) {
			vt_target_sample_at(s, t, now, NULL, NULL, 0);
		}
		s->ops->end_thread_turn(s, now);
	}
}

static void sample_all(struct vt_sampler *s, int64_t delay, int node)
{
	struct vt_target *t;

	vt_sampler_list_threads(s);
	sample_process(s, delay);
	for (t = s->threads; t; t = t->next) {
		sample_one_thread(s, t);
	}
	if (node) {
		vt_sample_node(s);
	}
}

/* ---- what it costs ---- */

/* The sampler used this share of a core, which is above SAMPLE-BUDGET: makes its period longer. */
static void slow_down(struct vt_sampler *s, double share)
{
	char text[200];

	if (s->period_ns > 5000000000) {
		return;
	}
	s->period_ns *= 2;
	s->c->pub.period_ns = s->period_ns;
	s->c->account.slowed++;
	snprintf(text, sizeof(text),
		"sampler: %.2f%% of a core is above SAMPLE-BUDGET %.2f%%; SAMPLE-PERIOD is %.3g s from here on",
		100 * share, 100 * s->c->settings.sample_budget, 1e-9 * (double)s->period_ns);
	vt_raw_comment(s->stream, vt_ticks_now(&s->c->pub), 0, text);
	vt_say(2, "INFO", "%s", text);
}

/* Once a second: what the sampling of this process costs, and the readings of the system's clocks. */
static void keep_account(struct vt_sampler *s, int64_t now)
{
	struct vt_account *a = &s->c->account;
	struct vt_raw *raw = s->c->pub.raw;
	double share;

	if (now - s->account_ns >= ACCOUNT_EVERY_S * 1000000000ll && now - s->account_ns >= 4 * s->period_ns) {
		a->cpu_ns = s->ops->cpu_ns(s);
		share = (double)(a->cpu_ns - s->account_cpu_ns) / (double)(now - s->account_ns);
		if (share > s->c->settings.sample_budget && a->ticks > 8) {
			slow_down(s, share);
		}
		s->account_ns = now;
		s->account_cpu_ns = a->cpu_ns;
	}
	if (now - s->clock_ns >= CLOCK_EVERY_S * 1000000000ll) {
		s->clock_ns = now;
		vt_raw_clock(raw, vt_ticks_now(&s->c->pub), vt_now_ns(CLOCK_REALTIME), vt_now_ns(CLOCK_MONOTONIC),
			vt_now_ns(CLOCK_MONOTONIC_RAW));
	}
	if (s->c->settings.mem_info > 0 && vt_raw_size(raw) >= s->info_bytes) {
		vt_say(1, "INFO", "%llu MB recorded in %s", (unsigned long long)(vt_raw_size(raw) >> 20),
			vt_raw_path(raw));
		s->info_bytes += (uint64_t)s->c->settings.mem_info;
	}
}

/* ---- when ---- */

/* Was the machine asleep, or the sampler stopped? Then there is a hole in the samples, and the trace says why. */
static void look_for_sample_gaps(struct vt_sampler *s, int64_t now)
{
	int64_t asleep = vt_now_ns(CLOCK_BOOTTIME) - now;
	char text[160] = "";

	if (asleep - s->asleep_ns > 10000000) {
		snprintf(text, sizeof(text), "sampler: the machine was suspended for %.3f s",
			1e-9 * (double)(asleep - s->asleep_ns));
	} else if (now - s->due > 3 * s->period_ns && now - s->due > 1000000000) {
		snprintf(text, sizeof(text),
			"sampler: no samples for %.3f s: the process was stopped, or the machine busy or asleep",
			1e-9 * (double)(now - s->due));
	}
	s->asleep_ns = asleep;
	if (*text) {
		vt_raw_comment(s->stream, vt_ticks_now(&s->c->pub), 0, text);
	}
}

/* Returns the next time that is due, in step with the start, never in the past. */
static int64_t due_after(int64_t due, int64_t period, int64_t now)
{
	due += period;
	return due > now ? due : due + (now - due) / period * period + period;
}

static void sample_on_time(struct vt_sampler *s, int64_t now, int node)
{
	struct vt_account *a = &s->c->account;
	int64_t delay = now - s->due, took;

	look_for_sample_gaps(s, now);
	if (vt_sampler_in_window(s, vt_ticks_now(&s->c->pub))) {
		sample_all(s, delay, node);
	}
	took = vt_now_ns(CLOCK_MONOTONIC) - now;
	/* the first sample opens what later ones only read */
	if (a->ticks++ > 0) {
		a->longest_ns = took > a->longest_ns ? took : a->longest_ns;
		a->latest_ns = delay > a->latest_ns ? delay : a->latest_ns;
	}
	s->due = due_after(s->due, s->period_ns, now);
	/* For users who look while the process runs, and for a run that is killed. Inside the program it is written at
	 * the second sample, so that a short run does not pay for it. */
	if (a->ticks == (s->c->has_vtsampler ? 1 : 2)) {
		s->c->write_protocol(s->c, 0);
	}
}

void vt_sampler_begin(struct vt_sampler *s, int64_t now)
{
	s->due = s->node_due = s->account_ns = s->clock_ns = now;
	s->account_cpu_ns = s->c->account.cpu_ns = s->ops->cpu_ns(s);
}

int64_t vt_sampler_due(const struct vt_sampler *s, int node)
{
	return node && s->node_due < s->due ? s->node_due : s->due;
}

void vt_sampler_sample(struct vt_sampler *s, int64_t now, int node)
{
	int node_now = node && now >= s->node_due;

	if (now >= s->due) {
		sample_on_time(s, now, node_now);
	} else if (node_now && vt_sampler_in_window(s, vt_ticks_now(&s->c->pub))) {
		vt_sample_node(s);
	}
	if (node_now) {
		vt_sampler_skip_node(s, now);
	}
}

void vt_sampler_skip_node(struct vt_sampler *s, int64_t now)
{
	s->node_due = due_after(s->node_due, (int64_t)(s->c->settings.os_counter_delay * 1e9), now);
}

void vt_sampler_tick(struct vt_sampler *s, int64_t now)
{
	keep_account(s, now);
	vt_raw_tick(s->c->pub.raw, vt_ticks_now(&s->c->pub));
}

/* ---- the end ---- */

void vt_sampler_sample_last(struct vt_sampler *s, int node)
{
	/* The counts up to now. Those of the node not too soon after the sample before: the kernel's steps of 10 ms would
	 * show a wrong rate. */
	if (vt_sampler_in_window(s, vt_ticks_now(&s->c->pub))) {
		sample_all(s, 0, node && s->node && vt_now_ns(CLOCK_MONOTONIC) - s->node_ns >= NODE_APART_NS);
	}
}

static void free_list(struct vt_target **list)
{
	struct vt_target *t;

	while ((t = *list) != NULL) {
		*list = t->next;
		vt_target_free(t);
	}
}

void vt_sampler_close(struct vt_sampler *s)
{
	struct vt_account *a = &s->c->account;

	free_list(&s->threads);
	free_list(&s->later);
	free_list(&s->process);
	free_list(&s->shared);
	free_list(&s->node);
	a->wall_ns = vt_now_ns(CLOCK_MONOTONIC) - a->started_ns;
	a->period_s = 1e-9 * (double)s->period_ns;
}

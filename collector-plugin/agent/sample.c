/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the counters of a process from outside. If its threads read counters at their events, too, both take turns.
 * They share the stamps in the head of the raw file, so that a total never decreases. */
#include "config.h"
#include "collector-plugin/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/host/turn.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/sample.h"
#include "collector-plugin/run/run.h"
#include "collector-plugin/sample/descriptors.h"
#include "collector-plugin/sample/new_devices.h"

enum { LOOK_EVERY_NS = 250000000, CLOCK_EVERY_S = 10, ACCOUNT_EVERY_S = 1, NODE_APART_NS = 20000000, TRIES = 50 };

/* ---- threads ---- */

static struct vt_raw_thread_slot *slot_of(struct vt_agent_process *p, pid_t tid)
{
	struct vt_raw_thread_slot *slot;
	int i;

	for (i = 0; (slot = vt_raw_slot(vt_raw_of(&p->c.pub), i)) != NULL; i++) {
		if (atomic_load(&slot->tid) == (int32_t)tid) {
			return slot;
		}
	}
	return NULL;
}

/* Returns a free place. A thread that has not called the interface has a place until it does. */
static int free_place(struct vt_agent_process *p)
{
	const struct vt_target *t;
	int i;

	for (i = 0; i < VT_AGENT_PLACES; i++) {
		for (t = p->s->threads; t && t->where != (int)VT_RAW_PLACE + i; t = t->next) {
		}
		if (!t && !p->left[i]) {
			p->owners[i] += p->owners[i] < 2;
			return (int)VT_RAW_PLACE + i;
		}
	}
	return -1;
}

static int is_place(int where)
{
	return where >= (int)VT_RAW_PLACE;
}

/* The thread has a number now. The records at its place belong to it, unless other threads had the place before. */
static void set_thread_number(struct vt_agent_process *p, struct vt_target *t, int n)
{
	int place = t->where - (int)VT_RAW_PLACE;

	p->left[place] = 1;
	vt_raw_thread_from(vt_raw_of(&p->c.pub), (uint32_t)n, p->owners[place] == 1 ? (uint32_t)t->where : 0,
		(uint64_t)t->tid, "");
	t->where = n;
}

static void add_thread(struct vt_agent_process *p, pid_t tid)
{
	struct vt_raw_thread_slot *slot = slot_of(p, tid);
	int where = tid == p->pid ? 0 : slot ? atomic_load(&slot->number) : free_place(p);
	struct vt_target *t = where < 0 ? NULL : vt_target_new(p->s, &p->s->book, SMP_THREAD, tid, where, NULL);
	char path[64], name[64] = "";

	if (!t) {
		return;
	}
	if (tid != p->pid) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)p->pid, (int)tid);
		tkm_root_line(p->s->root, path, name, sizeof(name));
		vt_raw_thread(vt_raw_of(&p->c.pub), (uint32_t)where, (uint64_t)tid, name);
	}
	t->next = p->s->threads;
	t->seen = p->s->round;
	p->s->threads = t;
	vt_agent_started_thread(p, t);
}

static void add_or_mark_thread(void *process, pid_t tid)
{
	struct vt_agent_process *p = process;
	struct vt_raw_thread_slot *slot;
	struct vt_target *t;

	for (t = p->s->threads; t && t->tid != tid; t = t->next) {
	}
	if (!t) {
		add_thread(p, tid);
		return;
	}
	t->seen = p->s->round;
	slot = is_place(t->where) ? slot_of(p, tid) : NULL;
	if (slot) {
		set_thread_number(p, t, atomic_load(&slot->number));
	}
}

static int is_off(struct vt_agent_process *p, const struct vt_raw_thread_slot *slot)
{
	int off = atomic_load(&vt_raw_head(vt_raw_of(&p->c.pub))->process_off);

	if (slot && off != 2) {
		off = atomic_load(&slot->off) == 2 || (off && atomic_load(&slot->off) != 1);
	}
	return off != 0;
}

void vt_agent_look_for_threads(struct vt_agent_process *p)
{
	struct vt_sampler *s = p->s;
	struct vt_target **link, *t;

	if (vt_agent_started_before(p)) {
		s->task_skipped = 10;
	}
	if (!vt_sampler_each_thread(s, p->task, add_or_mark_thread, p)) {
		vt_agent_started_after(p, 0);
		return;
	}
	for (link = &s->threads; (t = *link) != NULL;) {
		if (t->seen != s->round) {
			*link = t->next;
			/* its counters still have their last values: perf events outlive what they count */
			if (t->set) {
				vt_target_sample(s, t);
			}
			vt_agent_started_gone(p, t);
			vt_target_free(t);
		} else {
			link = &t->next;
		}
	}
	vt_agent_started_after(p, 1);
}

static void sample_thread(struct vt_agent_process *p, struct vt_target *t)
{
	struct vt_raw_thread_slot *slot = slot_of(p, t->tid);
	ltick_t now;

	if (!t->set || is_off(p, slot)) {
		return;
	}
	if (!slot || !atomic_load(&slot->sampling)) {
		vt_target_sample(p->s, t);
		return;
	}
	/* if the thread itself has the turn, it records its counters */
	if (vt_turn_try(&slot->turn)) {
		now = vt_ticks_now(&p->c.pub);
		if (vt_sampler_in_window(p->s, now)) {
			vt_target_sample_at(p->s, t, now, NULL, NULL, 0);
		}
		atomic_store(&slot->aside, now.v);
		vt_turn_end(&slot->turn);
	}
}

/* ---- the process ---- */

/* Takes our turn for the counters of the process, if that is possible soon: its threads do not keep it for long,
 * unless they are stopped. */
static int take_turn(struct vt_raw_process *turns)
{
	int i;

	for (i = 0; i < TRIES; i++) {
		if (vt_turn_try(&turns->turn)) {
			return 1;
		}
		sched_yield();
	}
	return 0;
}

static ltick_t stamp(struct vt_agent_process *p, struct vt_raw_process *turns)
{
	ltick_t now = vt_ticks_now(&p->c.pub);
	int i;

	for (i = 0; now.v <= turns->high && i < 100; i++) {
		now = vt_ticks_now(&p->c.pub);
	}
	return now;
}

/* Returns our CPU time, limited: it must not have grown by more than the time between two stamps, which come from
 * another clock. */
static uint64_t own_cpu(struct vt_agent_process *p)
{
	struct vt_sampler *s = p->s;
	uint64_t cpu = p->s->cpu_before + (uint64_t)p->c.account.cpu_ns, most;
	double passed;

	if (s->own_stamp.v == 0) {
		return cpu;
	}
	passed = (double)ltick_sub(vt_ticks_now(&p->c.pub), s->own_stamp) * tmr_period(vt_timer_of(&p->c.pub));
	most = s->own_cpu + (uint64_t)(passed > 0 ? 0.999e9 * passed : 0);
	return cpu < most ? cpu : most;
}

static void sample_process(struct vt_agent_process *p, int64_t delay)
{
	static const uint32_t id[3] = { VT_ID_CPU, VT_ID_TICK, VT_ID_DELAY };
	uint64_t v[3] = { own_cpu(p), (uint64_t)p->c.account.longest_ns, (uint64_t)delay };
	struct vt_raw_process *turns = &vt_raw_head(vt_raw_of(&p->c.pub))->process;
	struct vt_sampler *s = p->s;
	ltick_t now;

	if (!s->process || is_off(p, slot_of(p, p->pid)) || !take_turn(turns)) {
		return;
	}
	now = stamp(p, turns);
	if (vt_sampler_in_window(s, now)) {
		/* kept in the raw file's pages for another sampler process, in case this one is killed */
		v[0] = vt_process_total(turns, "sampler_cpu", v[0]);
		vt_target_sample_at(s, s->process, now, id, v, 3);
		s->own_cpu = v[0];
		s->own_stamp = now;
	}
	turns->low = turns->high = now.v;
	turns->read_at = 0;
	vt_turn_end(&turns->turn);
}

static void sample_all(struct vt_agent_process *p, int64_t delay, int node)
{
	struct vt_target *t;

	vt_agent_look_for_threads(p);
	sample_process(p, delay);
	for (t = p->s->threads; t; t = t->next) {
		sample_thread(p, t);
	}
	if (node) {
		vt_sample_node(p->s);
	}
}

/* ---- what else is observed about the process ---- */

static void say_stopped(struct vt_agent_process *p, int64_t now)
{
	char text[120];

	snprintf(text, sizeof(text), "sampler: the process was stopped for %.3f s, no samples of it are missing",
		1e-9 * (double)(now - p->stopped_ns));
	vt_raw_comment(p->s->stream, vt_ticks_now(&p->c.pub), 0, text);
	p->stopped_ns = 0;
}

/* Returns the seccomp mode and the number of filters: in a container all processes have some. */
static long seccomp_of(const char *status)
{
	const char *mode = strstr(status, "\nSeccomp:\t"), *filters = strstr(status, "\nSeccomp_filters:\t");

	return (mode ? atol(mode + 10) * 1000000 : 0) + (filters ? atol(filters + 18) : 0);
}

/* Does the process live, and /proc does not show it (hidepid)? */
static int is_hidden(const struct vt_agent_process *p)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%d", (int)p->pid);
	return kill(p->pid, 0) == 0 && faccessat(p->s->root, path, F_OK, 0) < 0;
}

/* After a process has made itself not dumpable, or has changed its user, other processes can read less about it. */
static void look_for_refusal(struct vt_agent_process *p)
{
	char path[64], text[400];
	int fd, error;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)p->pid);
	fd = tkm_root_openat(p->s->root, path);
	error = errno;
	if (fd >= 0) {
		close(fd);
	} else if (!p->refused && (error == EACCES || error == EPERM || (error == ENOENT && is_hidden(p)))) {
		p->refused = 1;
		snprintf(text, sizeof(text),
			"%s: %s: the process has made itself not dumpable, or has changed its user%s. Counters of its "
			"%s have no samples from here on; with SAMPLER thread they are read inside it",
			path, strerror(error), error == ENOENT ? ", and /proc is mounted with hidepid" : "",
			error == ENOENT
				? "memory, input and output (proc_rss and others), if they were not open before,"
				: "input and output (proc_read and others)");
		vt_raw_comment(p->s->stream, vt_ticks_now(&p->c.pub), 0, text);
		vt_agent_say_to(p);
		vt_say(1, "WARNING", "%s", text);
	}
}

/* Is the process stopped, and has it given up system calls? In the latter case the library in it makes none either. */
static void look_at_status(struct vt_agent_process *p, int64_t now)
{
	char path[64], text[4096], *at;

	if (now - p->looked_ns < LOOK_EVERY_NS) {
		return;
	}
	p->looked_ns = now;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)p->pid);
	look_for_refusal(p);
	if (tkm_root_read(p->s->root, path, text, sizeof(text)) <= 0) {
		return;
	}
	at = strstr(text, "\nState:\t");
	if (at && at[8] == 'T' && !p->stopped_ns) {
		p->stopped_ns = now;
	} else if (at && at[8] != 'T' && p->stopped_ns) {
		say_stopped(p, now);
	}
	if (p->seccomp < 0) {
		p->seccomp = seccomp_of(text);
	} else if (seccomp_of(text) != p->seccomp) {
		atomic_store(&vt_raw_head(vt_raw_of(&p->c.pub))->quiet, 1);
	}
}

/* Once a second: what the sampling of this process costs, and the readings of the system's clocks. */
static void keep_account(struct vt_agent_process *p, int64_t now)
{
	struct vt_sampler *s = p->s;
	struct vt_account *a = &p->c.account;
	double share;

	if (now - s->account_ns >= ACCOUNT_EVERY_S * 1000000000ll && now - s->account_ns >= 4 * s->period_ns) {
		share = (double)(a->cpu_ns - s->account_cpu_ns) / (double)(now - s->account_ns);
		if (share > p->c.settings.sample_budget && a->ticks > 8) {
			vt_sampler_slow_down(s, share);
		}
		s->account_ns = now;
		s->account_cpu_ns = a->cpu_ns;
	}
	if (now - s->clock_ns >= CLOCK_EVERY_S * 1000000000ll) {
		s->clock_ns = now;
		vt_raw_clock(vt_raw_of(&p->c.pub), vt_ticks_now(&p->c.pub), vt_now_ns(CLOCK_REALTIME),
			vt_now_ns(CLOCK_MONOTONIC), vt_now_ns(CLOCK_MONOTONIC_RAW));
	}
	if (p->c.settings.mem_info > 0 && vt_raw_size(vt_raw_of(&p->c.pub)) >= s->info_bytes) {
		vt_say(1, "INFO", "%llu MB recorded in %s",
			(unsigned long long)(vt_raw_size(vt_raw_of(&p->c.pub)) >> 20), p->c.raw_path);
		s->info_bytes += (uint64_t)p->c.settings.mem_info;
	}
}

int64_t vt_agent_due(const struct vt_agent_process *p, int node)
{
	return node && p->node_due < p->due ? p->node_due : p->due;
}

void vt_agent_sample(struct vt_agent_process *p, int64_t now, int node)
{
	struct vt_account *a = &p->c.account;
	int64_t cpu = vt_now_ns(CLOCK_THREAD_CPUTIME_ID), due = p->due, took;
	int node_now = node && now >= p->node_due;

	if (now < due && !node_now) {
		return;
	}
	if (now >= due) {
		vt_sampler_look_for_gaps(p->s, now, due);
		if (vt_sampler_in_window(p->s, vt_ticks_now(&p->c.pub))) {
			sample_all(p, now - due, node_now);
		}
		took = vt_now_ns(CLOCK_MONOTONIC) - now;
		/* the first one opens what the others only read */
		if (a->ticks++ > 0) {
			a->longest_ns = took > a->longest_ns ? took : a->longest_ns;
			a->latest_ns = now - due > a->latest_ns ? now - due : a->latest_ns;
		}
		p->due = vt_sampler_next_due(due, p->s->period_ns, now);
		if (a->ticks == 1) {
			/* for users who look while the process runs, and in case that this process dies, too */
			vt_collect_protocol(&p->c, 0);
		}
		look_at_status(p, now);
	} else if (vt_sampler_in_window(p->s, vt_ticks_now(&p->c.pub))) {
		vt_sample_node(p->s);
	}
	if (node_now) {
		p->node_due = vt_sampler_next_due(p->node_due, (int64_t)(p->c.settings.os_counter_delay * 1e9), now);
	}
	a->cpu_ns += vt_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	keep_account(p, now);
	vt_raw_tick(vt_raw_of(&p->c.pub), vt_ticks_now(&p->c.pub));
}

static void free_all(struct vt_target **list)
{
	struct vt_target *t;

	while ((t = *list) != NULL) {
		*list = t->next;
		vt_target_free(t);
	}
}

void vt_agent_sample_last(struct vt_agent_process *p, int node)
{
	struct vt_sampler *s = p->s;
	struct vt_account *a = &p->c.account;
	int64_t cpu = vt_now_ns(CLOCK_THREAD_CPUTIME_ID);
	struct vt_target *t;

	s->task_skipped = 10;
	/* The counts up to now. Those of the node not too soon after the sample before: the kernel's steps of 10 ms
	 * would show a wrong rate. */
	if (vt_sampler_in_window(s, vt_ticks_now(&p->c.pub))) {
		sample_all(p, 0, node && s->node && vt_now_ns(CLOCK_MONOTONIC) - s->node_ns >= NODE_APART_NS);
	}
	if (p->stopped_ns) {
		say_stopped(p, vt_now_ns(CLOCK_MONOTONIC));
	}
	for (t = s->threads; t; t = t->next) {
		vt_agent_started_gone(p, t);
	}
	free_all(&s->threads);
	free_all(&s->later);
	vt_target_free(s->process);
	vt_target_free(s->node);
	s->process = s->node = NULL;
	a->cpu_ns += vt_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	a->wall_ns = vt_now_ns(CLOCK_MONOTONIC) - a->started_ns;
	a->period_s = 1e-9 * (double)s->period_ns;
	vt_agent_started_end(p);
	vt_raw_stream_end(s->stream);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampler process reads the counters of a measured process. If its threads read counters at their events, too, both take turns.
 * They share the stamps in the head of the raw file, so that a total never decreases. */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/host/turn.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/sample.h"

enum { LOOK_EVERY_NS = 250000000, TURN_TRIES = 50 };

/* ---- threads ---- */

static struct vt_raw_thread_slot *slot_of_thread(struct vt_measured *p, pid_t tid)
{
	struct vt_raw_thread_slot *slot;
	int i;

	for (i = 0; (slot = vt_raw_slot(p->c.pub.raw, i)) != NULL; i++) {
		if (atomic_load(&slot->tid) == (int32_t)tid) {
			return slot;
		}
	}
	return NULL;
}

/* Returns a free place. A thread that has not called the interface has a place until it does. */
static int free_place(struct vt_measured *p)
{
	const struct vt_target *t;
	int i;

	for (i = 0; i < VT_MEASURED_PLACES; i++) {
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
static void set_thread_number(struct vt_measured *p, struct vt_target *t, int n)
{
	int place = t->where - (int)VT_RAW_PLACE;

	p->left[place] = 1;
	vt_raw_thread_from(
		p->c.pub.raw, (uint32_t)n, p->owners[place] == 1 ? (uint32_t)t->where : 0, (uint64_t)t->tid, "");
	t->where = n;
}

static int begin_list(struct vt_sampler *s)
{
	if (vt_started_before_listing(s->owner)) {
		vt_sampler_list_next_time(s);
	}
	return 1;
}

static int number_thread(struct vt_sampler *s, pid_t tid, struct vt_book **book)
{
	struct vt_measured *p = s->owner;
	struct vt_raw_thread_slot *slot = slot_of_thread(p, tid);

	(void)book;
	vt_started_add_thread(p, tid);
	return tid == p->pid ? 0 : slot ? atomic_load(&slot->number) : free_place(p);
}

static void see_again(struct vt_sampler *s, struct vt_target *t)
{
	struct vt_raw_thread_slot *slot = is_place(t->where) ? slot_of_thread(s->owner, t->tid) : NULL;

	if (slot) {
		set_thread_number(s->owner, t, atomic_load(&slot->number));
	}
}

static void end_thread(struct vt_sampler *s, struct vt_target *t)
{
	if (t->set) {
		vt_target_sample(s, t);
	}
	vt_started_end_thread(s->owner, t);
}

static void end_list(struct vt_sampler *s, int listed)
{
	vt_started_after_listing(s->owner, listed);
}

/* ---- whose turn it is to read ---- */

static int is_off(struct vt_sampler *s, pid_t tid)
{
	struct vt_raw_thread_slot *slot = slot_of_thread(s->owner, tid);
	int off = atomic_load(&vt_raw_head(s->c->pub.raw)->process_off);

	if (slot && off != 2) {
		off = atomic_load(&slot->off) == 2 || (off && atomic_load(&slot->off) != 1);
	}
	return off != 0;
}

/* If the thread reads its counters itself, too, the two take turns. */
static int take_thread_turn(struct vt_sampler *s, struct vt_target *t, ltick_t *now)
{
	struct vt_raw_thread_slot *slot = slot_of_thread(s->owner, t->tid);
	struct vt_measured *p = s->owner;

	p->turn_of = slot && atomic_load(&slot->sampling) ? slot : NULL;
	if (p->turn_of && !vt_turn_try(&slot->turn)) {
		return 0;
	}
	*now = vt_ticks_now(&s->c->pub);
	return 1;
}

static void end_thread_turn(struct vt_sampler *s, ltick_t now)
{
	struct vt_raw_thread_slot *slot = ((struct vt_measured *)s->owner)->turn_of;

	if (slot) {
		atomic_store(&slot->aside, now.v);
		vt_turn_end(&slot->turn);
	}
}

/* Takes our turn for the counters of the process, if that is possible soon: its threads do not keep it for long,
 * unless they are stopped. */
static int take_turn(struct vt_turn *turn)
{
	int i;

	for (i = 0; i < TURN_TRIES; i++) {
		if (vt_turn_try(turn)) {
			return 1;
		}
		sched_yield();
	}
	return 0;
}

/* One thread samples all processes, so the time of each is added up. */
static int64_t sampling_cpu_ns(const struct vt_sampler *s)
{
	return s->c->account.cpu_ns;
}

const struct vt_sampler_ops vt_measured_sampler_ops = {
	.begin_list = begin_list,
	.number_thread = number_thread,
	.see_again = see_again,
	.end_thread = end_thread,
	.end_list = end_list,
	.is_off = is_off,
	.take_turn = take_turn,
	.take_thread_turn = take_thread_turn,
	.end_thread_turn = end_thread_turn,
	.cpu_ns = sampling_cpu_ns,
};

/* ---- what else is observed about the process ---- */

static void say_process_stopped(struct vt_measured *p, int64_t now)
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
static int is_process_hidden(const struct vt_measured *p)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%d", (int)p->pid);
	return kill(p->pid, 0) == 0 && faccessat(p->s->root, path, F_OK, 0) < 0;
}

/* After a process has made itself not dumpable, or has changed its user, other processes can read less about it. */
static void look_for_refusal(struct vt_measured *p)
{
	char path[64], text[400];
	int fd, error;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)p->pid);
	fd = tkm_root_openat(p->s->root, path);
	error = errno;
	if (fd >= 0) {
		close(fd);
	} else if (!p->refused && (error == EACCES || error == EPERM || (error == ENOENT && is_process_hidden(p)))) {
		p->refused = 1;
		snprintf(text, sizeof(text),
			"%s: %s: the process has made itself not dumpable, or has changed its user%s. Counters of its "
			"%s have no samples from here on; with SAMPLER thread they are read inside it",
			path, strerror(error), error == ENOENT ? ", and /proc is mounted with hidepid" : "",
			error == ENOENT
				? "memory, input and output (proc_rss and others), if they were not open before,"
				: "input and output (proc_read and others)");
		vt_raw_comment(p->s->stream, vt_ticks_now(&p->c.pub), 0, text);
		vt_say_to_measured(p);
		vt_say(1, "WARNING", "%s", text);
	}
}

/* Is the process stopped, and has it given up system calls? In the latter case the library in it makes none either. */
static void look_at_status(struct vt_measured *p, int64_t now)
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
		say_process_stopped(p, now);
	}
	if (p->seccomp < 0) {
		p->seccomp = seccomp_of(text);
	} else if (seccomp_of(text) != p->seccomp) {
		atomic_store(&vt_raw_head(p->c.pub.raw)->quiet, 1);
	}
}

void vt_measured_sample(struct vt_measured *p, int64_t now, int node)
{
	int64_t cpu = vt_now_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now >= vt_sampler_due(p->s, node)) {
		vt_sampler_sample(p->s, now, node);
		look_at_status(p, now);
		p->c.account.cpu_ns += vt_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		vt_sampler_tick(p->s, now);
	}
}

void vt_measured_sample_last(struct vt_measured *p, int node)
{
	int64_t cpu = vt_now_ns(CLOCK_THREAD_CPUTIME_ID);
	struct vt_target *t;

	vt_sampler_list_next_time(p->s);
	vt_sampler_sample_last(p->s, node);
	if (p->stopped_ns) {
		say_process_stopped(p, vt_now_ns(CLOCK_MONOTONIC));
	}
	for (t = p->s->threads; t; t = t->next) {
		vt_started_end_thread(p, t);
	}
	vt_sampler_close(p->s);
	p->c.account.cpu_ns += vt_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	vt_started_end(p);
	vt_raw_stream_end(p->s->stream);
}

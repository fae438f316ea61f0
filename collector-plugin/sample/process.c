/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of the process. Any of its threads reads them at its state changes, and the background thread in
 * between. One thread at a time reads them, with stamps in the order of the readings, so that a total never
 * decreases.
 *
 * What the kernel counts from the process's start (/proc, software-defined events) is read by two sets with equal
 * values, one in the program's table of descriptors and one in the background thread's. What counts from its opening
 * (PAPI, perf) must be one set. The background thread opens it while it still shares the program's table and while
 * the program waits. So no thread is missed and none of ours is counted. Afterwards the background thread has a
 * table of its own, in which the same descriptors have the same numbers. If the program closes its copies, the
 * background thread goes on. A program that makes no calls (calls_expected) has no copies. */
#include "config.h"
#include "collector-plugin/sample/sample.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/turn.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"

enum { MOST_FDS = 256 };

/* Counters that are read together. */
struct part {
	struct smp_set *set; /* NULL: there are none */
	uint32_t *id;
	union smp_value *value;
	uint8_t *state;
	struct vt_raw_total **total; /* those that the sampler process records, too; NULL: not this one */
	int valid;                   /* result of the latest reading */
	size_t size;                 /* bytes from `value` on */
};

static struct vt_raw_process private_turns; /* while there is no raw file */

static VT_WRITTEN_IN_CHILD struct {
	struct vt_lock lock;   /* protects the opening */
	struct vt_collect *of; /* the collector whose counters these are; NULL: not opened yet */
	pid_t pid;
	struct part own;    /* what the background thread reads by a set of its own */
	struct part shared; /* opened by the background thread, read by all */
	int kept;           /* the program's table has copies of `shared` */
	struct vt_raw_process
		*turns; /* whose turn it is owns what is in it and in the parts; the sampler process may share it */
} process = { .lock = VT_LOCK_INIT, .turns = &private_turns };

/* ---- opening ---- */

static void free_part(struct part *p)
{
	if (p->value) {
		munmap(p->value, p->size);
	}
	*p = (struct part){ .set = NULL };
}

static int allocate_part(struct part *p, struct smp_set *set, const struct smp_plan *plan, const uint32_t *counter_id)
{
	size_t i, n = set ? smp_set_size(set) : 0;
	void *room;

	if (n == 0) {
		return 0;
	}
	p->size = n * (sizeof(*p->value) + sizeof(*p->total) + sizeof(*p->id) + 1);
	room = vt_pages(p->size);
	if (!room) {
		return 0;
	}
	p->value = room;
	p->total = (struct vt_raw_total **)(void *)(p->value + n);
	p->id = (uint32_t *)(void *)(p->total + n);
	p->state = (uint8_t *)(p->id + n);
	for (i = 0; i < n; i++) {
		const struct smp_counter *k = &smp_plan_at(plan, smp_set_planned(set, i))->counter;

		p->id[i] = counter_id[smp_set_planned(set, i)];
		p->total[i] = vt_has_vtsampler() && k->kind == SMP_TOTAL && k->type == SMP_U64
			? vt_process_total(process.turns, k->name)
			: NULL;
	}
	p->valid = 0;
	p->set = set;
	return 1;
}

int vt_not_from_opening(const struct smp_plan *plan, size_t i)
{
	return !vt_counts_from_opening(plan, i);
}

size_t vt_process_open(struct vt_collect *c)
{
	struct smp_target target = { SMP_PROCESS, getpid(), 0 };
	struct smp_set *set;
	size_t n;

	vt_lock(&process.lock);
	if (process.of != c) {
		process.pid = getpid();
		set = smp_set_open_some(c->plan, &target, vt_not_from_opening, NULL);
		if (set && !allocate_part(&process.own, set, c->plan, c->counter_ids)) {
			smp_set_close(set);
		}
		process.of = c;
	}
	n = (process.own.set ? smp_set_size(process.own.set) : 0) +
		(process.kept ? smp_set_size(process.shared.set) : 0);
	vt_unlock(&process.lock);
	return n;
}

void vt_counters_lock(void)
{
	vt_lock(&process.lock);
}

void vt_counters_unlock(void)
{
	vt_unlock(&process.lock);
}

void vt_process_start(struct vt_collect *c)
{
	process.turns = &vt_raw_head(c->raw)->process;
	if (vt_turn_take(&process.turns->turn)) {
		/* the timer may have changed */
		process.turns->next = process.turns->high = process.turns->low = process.turns->read_at = 0;
		vt_turn_end(&process.turns->turn);
	}
}

/* Closes the copies in the program's table of descriptors. */
static void close_copies(const struct smp_set *set)
{
	int fd[MOST_FDS], n = smp_set_descriptors(set, fd, MOST_FDS);

	while (n > 0) {
		close(fd[--n]);
	}
}

void vt_process_share(struct vt_collect *c, struct smp_set *set, int keep, int apart)
{
	vt_lock(&process.lock);
	if (set && vt_turn_take(&process.turns->turn)) {
		process.kept = allocate_part(&process.shared, set, c->plan, c->counter_ids) && keep;
		process.turns->read_at = 0;
		if (!process.kept && apart) {
			close_copies(set);
		}
		vt_turn_end(&process.turns->turn);
	}
	vt_unlock(&process.lock);
}

void vt_process_unshare(int apart)
{
	/* if a signal handler interrupted our own reading, there is no other reader to wait for */
	if (!process.shared.set ||
		!(vt_tls.inside ? vt_turn_try(&process.turns->turn) : vt_turn_take(&process.turns->turn))) {
		return;
	}
	if (process.kept && apart) {
		close_copies(process.shared.set);
	}
	process.kept = 0;
	process.turns->read_at = 0;
	free_part(&process.shared);
	vt_turn_end(&process.turns->turn);
}

void vt_process_restart(void)
{
	vt_lock(&process.lock);
	smp_set_close(process.own.set);
	free_part(&process.own);
	process.of = NULL;
	process.turns->read_at = 0;
	vt_unlock(&process.lock);
}

void vt_process_forget(void)
{
	vt_lock_forget(&process.lock);
	if (process.kept) {
		close_copies(process.shared.set);
	}
	if (process.own.set) {
		smp_set_close(process.own.set);
	}
	VT_SET_IF_OTHER(process.own.set, NULL);
	VT_SET_IF_OTHER(process.shared.set, NULL);
	VT_SET_IF_OTHER(process.own.value, NULL);
	VT_SET_IF_OTHER(process.shared.value, NULL);
	VT_SET_IF_OTHER(process.kept, 0);
	VT_SET_IF_OTHER(process.of, NULL);
	VT_SET_IF_OTHER(process.turns, &private_turns);
	VT_SET_IF_OTHER(process.turns->turn.busy, 0);
	VT_SET_IF_OTHER(process.turns->turn.lost, 0);
}

/* ---- reading ---- */

static void read_process_part(struct part *p)
{
	if (p->set) {
		p->valid = smp_set_read(p->set, p->value, p->state);
	}
}

/* Reads all values. The reading began at `begin`. */
static void read_process_counters(int64_t begin)
{
	process.turns->low = process.turns->high;
	read_process_part(&process.own);
	if (process.kept) {
		read_process_part(&process.shared);
	}
	process.turns->read_at = begin;
}

static void record_part(const struct part *p, ltick_t now)
{
	size_t i, n = p->set && p->valid > 0 ? smp_set_size(p->set) : 0;
	uint32_t id[VT_RAW_MAX_COUNTERS];
	uint64_t v[VT_RAW_MAX_COUNTERS];
	unsigned k = 0;

	for (i = 0; i < n; i++) {
		if (p->state[i] & SMP_VALID) {
			id[k] = p->id[i];
			v[k++] = vt_raise_total(p->total[i], p->value[i].u);
		}
		if (k == VT_RAW_MAX_COUNTERS || (i + 1 == n && k > 0)) {
			vt_raw_counters(vt_tls.thread->stream, now, 0, k, id, v);
			k = 0;
		}
	}
}

/* Stores the values with the process's first thread, as the background thread does. */
static void record_all(ltick_t now)
{
	record_part(&process.own, now);
	if (process.kept) {
		record_part(&process.shared, now);
	}
	process.turns->high = now.v > process.turns->high ? now.v : process.turns->high;
	if (vt_tls.collect->min_interval_s > 0) {
		process.turns->next = now.v + (int64_t)(vt_tls.collect->min_interval_s * vt_tls.collect->timer->hz);
	}
}

enum vt_sampled vt_process_sample(ltick_t now, int later)
{
	struct tmr_timer *timer = vt_tls.collect->timer;
	enum vt_sampled rc = VT_SAMPLED;

	if (process.of != vt_tls.collect || vt_threads_off(process.pid)) {
		return VT_SAMPLED;
	}
	if (!vt_turn_take(&process.turns->turn)) {
		return VT_SAMPLE_LOST;
	}
	if (now.v < process.turns->next) {
		/* an event of another thread was sampled a moment ago */
	} else if (now.v > process.turns->low && process.turns->read_at > now.v) {
		/* another thread read while this one waited: after our event, and for no stamp before it */
		record_all(now);
	} else if (now.v > process.turns->high) {
		read_process_counters(tmr_read(timer).v);
		record_all(now);
	} else if (later) {
		/* others have recorded older values with later stamps: our sample gets the stamp of its reading */
		now = vt_stamp_after(vt_tls.collect, process.turns->high);
		if (now.v <= process.turns->high) {
			process.turns->high = process.turns->low = now.v - 1;
		}
		read_process_counters(now.v);
		record_all(now);
	} else {
		rc = VT_SAMPLE_LATER;
	}
	vt_turn_end(&process.turns->turn);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* One turn of a call that waits: this rank tells the others what it waits for, and looks whether that can still come. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 30, YIELDS = 4 };
#define SHOW_NS INT64_C(2000000)
#define NAME_NS INT64_C(8000000)
#define JUDGE_NS INT64_C(20000000)
#define IN_MPI_NS INT64_C(700000000)

void vt_mc_wait_begin(struct vt_mc_wait *w, struct vt_mc_call *k)
{
	memset(w, 0, sizeof(*w));
	w->k = k;
	w->began_ns = vt_mc_now_ns();
	/* another rank needs the processor to come as far */
	w->turns = vt_mc_shared && vt_mc_shared->oversubscribed ? SPINS : 0;
}

/* Several threads of this process. */
static struct vt_mc_wait *threads; /* their calls that wait */
static int all_asleep,
	others_wake; /* no other thread can go on, and whether other ranks may change that; of the same calls */

void vt_mc_wait_over(void)
{
	struct vt_mc_rank *r = &vt_mc_shared->rank[vt_mc_rank];

	vt_mc_shared_lock();
	r->state = r->state == VT_MC_BLOCKED ? VT_MC_RUNNING : r->state;
	r->generation++;
	r->named = r->soft = r->looks = r->released = 0;
	r->idle_ns = 0;
	r->in_number = 0;
	vt_mc_shared_unlock();
}

void vt_mc_wait_end(struct vt_mc_wait *w)
{
	struct vt_mc_wait **at, *other;

	if (!vt_mc_shared || !w->shown_ns) {
		return;
	}
	if (w->task) {
		vt_mc_lock();
		for (at = &threads; *at && *at != w; at = &(*at)->next) {
		}
		*at = *at ? w->next : NULL;
		all_asleep = 0;
		for (other = threads; other; other = other->next) {
			other->named = 0;
		}
		vt_mc_wait_over();
		vt_mc_unlock();
		return;
	}
	vt_mc_wait_over();
}

/* The text takes longest and is made once in a wait. */
static void name_wait(struct vt_mc_wait *w)
{
	struct vt_mc_rank *r = &vt_mc_shared->rank[vt_mc_rank];
	struct vt_mc_place here;
	char call[500], frames[1000];
	size_t n = r->named && threads ? strlen(r->text) : 0;

	w->named = 1;
	vt_mc_here(&here, w->k);
	vt_mc_print_frames(&here, "\n         ", frames, sizeof(frames));
	n = n < sizeof(r->text) - 100 ? n : 0;
	snprintf(r->text + n, sizeof(r->text) - n, "%s%s   %s", n ? "\n      another thread: " : "",
		vt_mc_print_call(w->k, call, sizeof(call)), frames);
	snprintf(r->function, sizeof(r->function), "%s", w->k->f->text);
	r->offset = vt_mc_place_offset(w->k, &here);
	r->named = 1;
}

/* With the lock of the segment. */
static void find_needs(struct vt_mc_wait *w, void (*needs)(struct vt_mc_wait *w))
{
	memset(w->all, 0, sizeof(w->all));
	memset(w->any, 0, sizeof(w->any));
	w->has_any = w->unknown = w->idle = w->outside = w->receives = 0;
	vt_mc_holds_lock = 1;
	needs(w);
	vt_mc_holds_lock = 0;
	w->idle &= !w->outside;
	w->unknown |= vt_mc_has_no_bit(w->all) && !w->has_any;
}

/* Adds the call to those of the threads. Returns 1 if no thread can go on while those wait. */
static int join_threads(struct vt_mc_wait *w, void (*needs)(struct vt_mc_wait *w), int *others)
{
	static int64_t asked_ns;

	if (w->looks || w->soft || vt_mc_shared->rank[vt_mc_rank].in_number) {
		return 0;
	}
	if (!w->task) {
		w->task = (int)gettid();
		w->needs = needs;
		w->next = threads;
		threads = w;
		all_asleep = 0;
	}
	if (vt_mc_now_ns() - w->began_ns > VT_MC_THREADS_NS && vt_mc_now_ns() - asked_ns > VT_MC_THREADS_NS) {
		all_asleep = vt_mc_threads_wait(threads, &others_wake);
		asked_ns = vt_mc_now_ns();
	}
	*others = others_wake;
	return all_asleep;
}

/* What all threads wait for: the rank goes on if one of them does. With the lock of the segment. */
static void add_threads(struct vt_mc_wait *sum, int others)
{
	struct vt_mc_wait *w;
	int i;

	memset(sum, 0, sizeof(*sum));
	sum->has_any = 1;
	for (w = threads; w; w = w->next) {
		find_needs(w, w->needs);
		sum->unknown |= w->unknown;
		for (i = 0; i < VT_MC_BITS; i++) {
			sum->any[i] |= w->all[i] | w->any[i];
		}
	}
	for (i = 0; others && i < vt_mc_shared->ranks; i++) {
		if (i != vt_mc_rank) {
			vt_mc_set_bit(sum->any, i);
		}
	}
}

/* With the lock of the segment. */
static void publish(const struct vt_mc_wait *w, int64_t now)
{
	struct vt_mc_rank *r = &vt_mc_shared->rank[vt_mc_rank];
	int gap = now - r->looked_ns > VT_MC_LOOKED_NS;

	r->idle_ns = !w->unknown || !w->idle ? 0 : r->idle_ns && !gap ? r->idle_ns : now;
	r->looked_ns = now;
	r->looks = w->looks;
	if (w->unknown || r->state == VT_MC_STOPPED) {
		r->state = r->state == VT_MC_BLOCKED ? VT_MC_RUNNING : r->state;
		return;
	}
	if (gap || r->state != VT_MC_BLOCKED || r->soft != w->soft || memcmp(r->all, w->all, sizeof(r->all)) ||
		memcmp(r->any, w->any, sizeof(r->any))) {
		r->since_ns = now;
		r->generation++;
	}
	memcpy(r->all, w->all, sizeof(r->all));
	memcpy(r->any, w->any, sizeof(r->any));
	r->receive_comm = w->receives == 1 ? w->receive_comm : 0;
	r->receive_tag = w->receive_tag;
	r->soft = w->soft;
	r->state = VT_MC_BLOCKED;
}

/* Tells the others. */
static void show_wait(struct vt_mc_wait *w, void (*needs)(struct vt_mc_wait *w), int64_t now)
{
	int several = vt_mc_others_may_call(w->looks), others = 0, stand = several && join_threads(w, needs, &others);
	struct vt_mc_wait sum;

	if (!w->named && now - w->began_ns > NAME_NS) {
		name_wait(w);
	}
	vt_mc_shared_lock();
	if (stand) {
		add_threads(&sum, others);
		publish(&sum, now);
	} else {
		find_needs(w, needs);
		/* another thread of the rank may go on */
		w->unknown |= several;
		w->idle &= !several;
		publish(w, now);
	}
	vt_mc_shared_unlock();
	w->shown_ns = now;
}

/* Ranks that put into memory here may need each of this rank's looks at MPI, millions of them. */
static int needs_looks(const struct vt_mc_call *k)
{
	const struct vt_mc_object *o = NULL;
	int i, found = VT_MC_HAS(k, VT_MC_OF_WIN);

	for (i = 0; !found && i < vt_mc_shared->ranks; i++) {
		found = vt_mc_shared->rank[i].reaches;
	}
	vt_mc_lock();
	while (!found && vt_mc_shared->absent && (o = vt_mc_object_next(VT_MC_WIN, o))) {
		found = !o->freed;
	}
	vt_mc_unlock();
	return found;
}

static void pause_turn(const struct vt_mc_wait *w, int64_t ns)
{
	struct timespec t = { .tv_nsec = (long)ns };

	if (needs_looks(w->k)) {
		sched_yield();
	} else {
		nanosleep(&t, NULL);
	}
}

void vt_mc_wait_turn(struct vt_mc_wait *w, void (*needs)(struct vt_mc_wait *w))
{
	int64_t now;

	if (w->turns++ < SPINS) {
		return;
	}
	if (w->turns <= SPINS + YIELDS && vt_mc_shared && vt_mc_shared->oversubscribed) {
		sched_yield();
		return;
	}
	vt_mc_progress();
	now = vt_mc_now_ns();
	if (now - w->began_ns < SHOW_NS || !vt_mc_shared) {
		sched_yield();
		return;
	}
	if (now - w->shown_ns > SHOW_NS) {
		vt_mc_lock();
		show_wait(w, needs, now);
		vt_mc_unlock();
	}
	if (w->named && now - w->judged_ns > JUDGE_NS) {
		w->judged_ns = now;
		vt_mc_lock();
		if (!vt_mc_several_threads) {
			vt_mc_messages_look_all(0);
		}
		vt_mc_unlock();
		vt_mc_judge(w->soft);
	}
	pause_turn(w, now - w->began_ns > 100 * SHOW_NS ? 1000000 : 100000);
}

/* MPI may need no other rank and only be slow on a busy node. */
void vt_mc_show_in_mpi(struct vt_mc_wait *w, void (*needs)(struct vt_mc_wait *w))
{
	struct vt_mc_rank *r = &vt_mc_shared->rank[vt_mc_rank];
	uint32_t before = r->generation;

	show_wait(w, needs, vt_mc_now_ns());
	vt_mc_shared_lock();
	if (r->generation != before) {
		r->since_ns = vt_mc_now_ns() + IN_MPI_NS;
	}
	vt_mc_shared_unlock();
}

void vt_mc_wait_in_mpi(struct vt_mc_wait *w, void (*needs)(struct vt_mc_wait *w), uint64_t comm, uint32_t number)
{
	struct vt_mc_rank *r = &vt_mc_shared->rank[vt_mc_rank];

	/* first, so that no arrival is missed */
	vt_mc_shared_lock();
	r->in_comm = comm;
	r->in_number = number;
	vt_mc_shared_unlock();
	vt_mc_lock();
	if (!w->named) {
		/* in short, since most of these calls return at once */
		w->named = 1;
		r->offset = vt_mc_place_offset(w->k, NULL);
		snprintf(r->text, sizeof(r->text), "%s", w->k->f->text);
		memcpy(r->function, r->text, sizeof(r->function));
		r->named = VT_MC_IN_SHORT;
	}
	vt_mc_show_in_mpi(w, needs);
	vt_mc_unlock();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* One turn of a call that waits: this rank tells the others what it waits for, and looks whether that can still come. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SPINS = 30 };
#define SHOW_NS INT64_C(2000000)
#define NAME_NS INT64_C(8000000)
#define JUDGE_NS INT64_C(20000000)
#define IN_MPI_NS INT64_C(700000000)

void vt_mc_wait_begin(struct vt_mc_wait *w, struct vt_mc_call *k)
{
	memset(w, 0, sizeof(*w));
	w->k = k;
	w->began_ns = vt_mc_now_ns();
}

void vt_mc_wait_over(void)
{
	struct vt_mc_rank *r = &vt_mc_shared->rank[vt_mc_rank];

	vt_mc_shared_lock();
	r->state = r->state == VT_MC_BLOCKED ? VT_MC_RUNNING : r->state;
	r->generation++;
	r->named = r->soft = r->released = 0;
	r->in_number = 0;
	vt_mc_shared_unlock();
}

void vt_mc_wait_end(struct vt_mc_wait *w)
{
	if (vt_mc_shared && w->shown_ns) {
		vt_mc_wait_over();
	}
}

static int is_empty(const uint64_t *set)
{
	int i;

	for (i = 0; i < VT_MC_BITS && !set[i]; i++) {
	}
	return i == VT_MC_BITS;
}

/* Tells the others. The text takes longest and is made once in a wait. */
static void show_wait(struct vt_mc_wait *w, void (*needs)(struct vt_mc_wait *w), int64_t now)
{
	struct vt_mc_rank *r = &vt_mc_shared->rank[vt_mc_rank];
	struct vt_mc_place here;
	char call[500], frames[1000];
	int others;

	if (!w->named && now - w->began_ns > NAME_NS) {
		w->named = 1;
		vt_mc_here(&here, w->k);
		vt_mc_print_frames(&here, "\n         ", frames, sizeof(frames));
		snprintf(r->text, sizeof(r->text), "%s   %s", vt_mc_print_call(w->k, call, sizeof(call)), frames);
		snprintf(r->function, sizeof(r->function), "%s", w->k->f->text);
		r->offset = 0;
		r->named = 1;
	}
	memset(w->all, 0, sizeof(w->all));
	memset(w->any, 0, sizeof(w->any));
	w->has_any = w->unknown = 0;
	others = vt_mc_others_may_call();
	vt_mc_shared_lock();
	vt_mc_holds_lock = 1;
	needs(w);
	vt_mc_holds_lock = 0;
	/* another thread of the rank may go on */
	if (others || w->unknown || (is_empty(w->all) && !w->has_any) || r->state == VT_MC_STOPPED) {
		r->state = r->state == VT_MC_BLOCKED ? VT_MC_RUNNING : r->state;
	} else {
		if (r->state != VT_MC_BLOCKED || r->soft != w->soft || memcmp(r->all, w->all, sizeof(r->all)) ||
			memcmp(r->any, w->any, sizeof(r->any))) {
			r->since_ns = now;
			r->generation++;
		}
		memcpy(r->all, w->all, sizeof(r->all));
		memcpy(r->any, w->any, sizeof(r->any));
		r->soft = w->soft;
		r->state = VT_MC_BLOCKED;
	}
	vt_mc_shared_unlock();
	w->shown_ns = now;
}

void vt_mc_wait_turn(struct vt_mc_wait *w, void (*needs)(struct vt_mc_wait *w))
{
	struct timespec t = { .tv_nsec = 100000 };
	int64_t now;
	int flag;

	if (w->turns++ < SPINS) {
		return;
	}
	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, vt_mc_own_comm, &flag, MPI_STATUS_IGNORE);
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
		vt_mc_judge(w->soft);
	}
	t.tv_nsec = now - w->began_ns > 100 * SHOW_NS ? 1000000 : 100000;
	nanosleep(&t, NULL);
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
		r->named = 1;
	}
	vt_mc_show_in_mpi(w, needs);
	vt_mc_unlock();
}

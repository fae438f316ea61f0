/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that all members of a communicator make together, and the wait for all of them. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <string.h>

enum { SPINS = 300 };
#define HELD_NS INT64_C(50000000) /* the first calls that need no other rank wait so long, to be compared with them */

/* -1: none. */
static int root_of_collective(const struct vt_mc_call *k, const struct vt_mc_object *c)
{
	int root = VT_MC_HAS(k, VT_MC_ROOT_RANK) && !c->inter ? VT_MC_NUMBER(k, VT_MC_ROOT_RANK) : -1;

	return root < c->size ? root : -1;
}

/* Those whose data the call needs. The root of a broadcast, and those who only send to a root, may leave before the others
 * come, and right programs live by that. */
static int is_needed(const struct vt_mc_call *k, const struct vt_mc_object *c, int world)
{
	int root = root_of_collective(k, c);

	if (root < 0) {
		return 1;
	}
	if (strstr(k->f->text, "cast") || strstr(k->f->text, "catter")) {
		return world == c->world[root] && c->rank != root;
	}
	return c->rank == root;
}

/* Returns 1 if it waits for some of them. */
static int needed_members(const struct vt_mc_wait *w, uint64_t *set)
{
	uint64_t missing[VT_MC_BITS] = { 0 };
	int i, n = 0;

	if (vt_mc_meeting_missing(w->comm, w->number, missing) < 0) {
		return 0;
	}
	for (i = 0; i < vt_mc_shared->ranks; i++) {
		if (vt_mc_has_bit(missing, i) && is_needed(w->k, w->comm, i)) {
			vt_mc_set_bit(set, i);
			n++;
		}
	}
	return n > 0;
}

static void needs_meeting(struct vt_mc_wait *w)
{
	vt_mc_pending_claim();
	needed_members(w, w->all);
}

static void needs_absent(struct vt_mc_wait *w)
{
	vt_mc_meeting_missing(w->comm, w->number, w->all);
}

/* Open MPI 4 hangs in a call that makes a communicator if the ranks have let it go on differently often since MPI_Comm_idup. So there is
 * no wait in which it goes on before MPI performs that call. */
static int comes_after_idup(const struct vt_mc_call *k)
{
	enum vt_mc_sort s = k->f->sort;
	const struct vt_mc_pending *p = NULL;

	if (s != VT_MC_NEWCOMM && s != VT_MC_GROUPCOMM && s != VT_MC_NEWWIN && s != VT_MC_FILE_OPEN) {
		return 0;
	}
	vt_mc_lock();
	do {
		p = vt_mc_active_next(p);
	} while (p && !p->makes);
	vt_mc_unlock();
	return p != NULL;
}

/* Without a look at MPI or at the time. */
static int all_come_soon(const struct vt_mc_object *c, uint32_t number)
{
	int i, complete = 0, n = vt_mc_shared->oversubscribed ? 1 : SPINS;

	for (i = 0; i < n && !complete; i++) {
		complete = vt_mc_meeting_complete(c, number);
	}
	return complete;
}

void vt_mc_meeting_join(struct vt_mc_call *k, struct vt_mc_object *c, int blocking)
{
	uint32_t number = vt_mc_meet(k, c);
	uint64_t missing[VT_MC_BITS];
	struct vt_mc_wait w;
	int64_t held_ns;
	int after_idup = comes_after_idup(k);

	if (!number) {
		return;
	}
	if (blocking && !(root_of_collective(k, c) < 0 && !after_idup && all_come_soon(c, number))) {
		held_ns = vt_mc_first_from(k->pc) ? HELD_NS : 0;
		vt_mc_wait_begin(&w, k);
		w.comm = c;
		w.number = number;
		while (!vt_mc_meeting_complete(c, number)) {
			memset(missing, 0, sizeof(missing));
			if (after_idup ||
				(root_of_collective(k, c) >= 0 && vt_mc_now_ns() - w.began_ns > held_ns &&
					!needed_members(&w, missing))) {
				k->shown = 1;
				break;
			}
			vt_mc_wait_turn(&w, needs_meeting);
		}
		if (k->shown) {
			vt_mc_wait_in_mpi(&w, needs_absent, c->id, number);
		} else {
			vt_mc_wait_end(&w);
		}
	}
	if (blocking) {
		if (!vt_mc_meeting_leave(k, c, number)) {
			k->refused = 1;
			k->rc = MPI_ERR_OTHER;
		} else if (k->done) {
			vt_mc_progress(); /* as MPI would */
		}
	} else {
		k->meeting = number;
	}
}

static int is_collective_on_window(const struct vt_mc_function *f)
{
	return !strcmp(f->text, "MPI_Win_fence") || f->sort == VT_MC_WIN_FREE;
}

/* Calls that all who have opened a file make together. Those in two halves need not wait for each other in the first. */
static int is_collective_on_file(const struct vt_mc_function *f)
{
	static const char *const ends[] = { "_all", "_ordered", "_set_view", "_set_size", "_preallocate", "_sync",
		"_set_atomicity", "_close", NULL };
	const char *at;
	int i;

	if (strncmp(f->text, "MPI_File_", 9) || f->sort == VT_MC_IO_POSTED) {
		return 0;
	}
	for (i = 0; ends[i]; i++) {
		at = strstr(f->text, ends[i]);
		if (at && !strcmp(at, ends[i])) {
			return 1;
		}
	}
	return 0;
}

static int is_on_comm(const struct vt_mc_function *f)
{
	enum vt_mc_sort s = f->sort;

	return s == VT_MC_NEWCOMM || (s >= VT_MC_COLL && s <= VT_MC_COLL_INIT) || s == VT_MC_IDUP ||
		s == VT_MC_NEWWIN || s == VT_MC_FILE_OPEN;
}

void vt_mc_meetings_learn(struct vt_mc_function *f)
{
	vt_mc_measure_learn(f);
	f->meets = is_collective_on_window(f) || is_collective_on_file(f) || f->sort == VT_MC_COMM_FREE ||
		(f->at[VT_MC_OF_COMM] >= 0 && is_on_comm(f));
}

void vt_mc_meeting_before(struct vt_mc_call *k)
{
	struct vt_mc_object *c = NULL;
	enum vt_mc_sort s = k->f->sort;

	if (!k->f->meets || !vt_mc_shared || (k->refused && s != VT_MC_COLL)) {
		return;
	}
	vt_mc_lock();
	if (is_collective_on_window(k->f)) {
		c = vt_mc_object(VT_MC_WIN,
			s == VT_MC_WIN_FREE ? vt_mc_handle_at(VT_MC_WIN, (void *)k->w[0])
					    : VT_MC_WORD(k, VT_MC_OF_WIN));
	} else if (is_collective_on_file(k->f)) {
		c = vt_mc_object(
			VT_MC_FILE, s == VT_MC_FILE_CLOSE ? vt_mc_handle_at(VT_MC_FILE, (void *)k->w[0]) : k->w[0]);
		c = c && c->size > 1 ? c : NULL;
	} else if (s == VT_MC_COMM_FREE) {
		c = vt_mc_object(VT_MC_COMM, vt_mc_handle_at(VT_MC_COMM, (void *)k->w[0]));
	} else {
		c = vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM));
	}
	if (c && (c->freed && s != VT_MC_COMM_FREE && s != VT_MC_WIN_FREE && s != VT_MC_FILE_CLOSE)) {
		c = NULL;
	}
	vt_mc_unlock();
	if (c && (!k->refused || vt_mc_on(VT_MC_PARAMETER))) {
		vt_mc_meeting_join(k, c, s != VT_MC_COLL_I && s != VT_MC_COMM_FREE && s != VT_MC_IDUP);
	}
	if (k->meeting && s != VT_MC_COLL_I && s != VT_MC_IDUP) {
		vt_mc_meeting_leave(NULL, c, k->meeting);
	}
}

int vt_mc_finalize_meets(struct vt_mc_call *k)
{
	static struct vt_mc_object all;
	int i;

	all.members = vt_mc_comm(MPI_COMM_WORLD)->members;
	all.whole = 1;
	all.id = 3;
	all.size = 0;
	for (i = 0; i < vt_mc_shared->ranks; i++) {
		all.size += vt_mc_has_bit(all.members, i);
	}
	vt_mc_meeting_join(k, &all, 1);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Records how ranks wait for each other on windows (MPI-4.1, section 12.5). No rank alone knows which call waits for which: a target
 * knows the ranks of MPI_Win_post, an origin those of MPI_Win_start. Each gives its part, and the merge matches the two as it does with
 * messages. */
#include "config.h"
#include "collector-plugin/mpi/files.h"

#include <stdlib.h>

#include "collector-plugin/host/lock.h"
#include "collector-plugin/mpi/record.h"

enum { POSTED = 0, COMPLETED = 1 }; /* the tags */

/* An epoch of this rank: the ranks at the other end, in the window, and the call that began it. */
struct window_epoch {
	int *rank, n;
	int64_t enter, leave;
};

struct vt_window_epochs {
	struct vt_comm comm; /* without a handle */
	struct window_epoch access, exposure;
	struct window_epoch posting; /* the exposure that MPI_Win_post is about to begin */
	struct vt_window_lock *lock; /* by target; NULL: none was asked for so far */
};

/* The epochs of a window; NULL: nothing records. */
static struct vt_window_epochs *epochs_of(MPI_Win win)
{
	struct vt_window *w = vt_window_of(win);

	if (w && !w->epochs) {
		w->epochs = vt_trace_memory(sizeof(*w->epochs));
	}
	return w && w->epochs && vt_comm_of_window(&w->epochs->comm, w->parent, w->number, win) == 0 ? w->epochs : NULL;
}

void vt_window_fenced(struct vt_mpi_call *k, MPI_Win win)
{
	struct vt_window_epochs *w = epochs_of(win);

	if (w) {
		vt_share_end(k, &(struct vt_share){ .op = VT_RAW_OP_WIN_FENCE, .comm = &w->comm, .root = -1 });
	}
}

/* ---- epochs of some ranks ---- */

static void end_window_epoch(struct window_epoch *e)
{
	free(e->rank);
	*e = (struct window_epoch){ 0 };
}

/* Sets the ranks of the epoch: those of the group, as the window numbers them. */
static void begin_window_epoch(struct window_epoch *e, const struct vt_mpi_call *k, MPI_Win win, MPI_Group group)
{
	MPI_Group all = MPI_GROUP_NULL;
	int n = 0, i, *own;

	end_window_epoch(e);
	if (group == MPI_GROUP_NULL) {
		return;
	}
	PMPI_Group_size(group, &n);
	own = calloc((size_t)n + 1, sizeof(*own));
	e->rank = calloc((size_t)n + 1, sizeof(*e->rank));
	for (i = 0; own && i < n; i++) {
		own[i] = i;
	}
	if (own && e->rank && PMPI_Win_get_group(win, &all) == MPI_SUCCESS &&
		PMPI_Group_translate_ranks(group, n, own, all, e->rank) == MPI_SUCCESS) {
		e->n = n;
		e->enter = k->enter;
	}
	if (all != MPI_GROUP_NULL) {
		PMPI_Group_free(&all);
	}
	free(own);
}

/* Lets the ranks of the epoch go on. failed: the call has not done so. */
static void release_window_ranks(const struct vt_mpi_call *k, const struct vt_window_epochs *w,
	const struct window_epoch *e, int tag, int failed)
{
	int i;

	for (i = 0; i < e->n; i++) {
		(failed ? vt_holds_back : vt_lets_go)(k, &w->comm, e->rank[i], tag);
	}
}

void vt_window_posts(struct vt_mpi_call *k, MPI_Win win, MPI_Group group)
{
	struct vt_window_epochs *w = epochs_of(win);

	if (w) {
		begin_window_epoch(&w->posting, k, win, group);
		release_window_ranks(k, w, &w->posting, POSTED, 0);
	}
}

void vt_window_posted(struct vt_mpi_call *k, MPI_Win win, int failed)
{
	struct vt_window_epochs *w = epochs_of(win);

	if (w && failed) {
		release_window_ranks(k, w, &w->posting, POSTED, 1);
		end_window_epoch(&w->posting);
	} else if (w) {
		end_window_epoch(&w->exposure);
		w->exposure = w->posting;
		w->posting = (struct window_epoch){ 0 };
	}
}

void vt_window_started(struct vt_mpi_call *k, MPI_Win win, MPI_Group group)
{
	struct vt_window_epochs *w = epochs_of(win);

	if (w) {
		begin_window_epoch(&w->access, k, win, group);
		w->access.leave = k->leave;
	}
}

void vt_window_completes(struct vt_mpi_call *k, MPI_Win win)
{
	struct vt_window_epochs *w = epochs_of(win);

	if (w) {
		release_window_ranks(k, w, &w->access, COMPLETED, 0);
	}
}

/* MPI_Win_start may have waited for the ranks that post, or a later call, at the latest this one. */
void vt_window_completed(struct vt_mpi_call *k, MPI_Win win, int failed)
{
	struct vt_window_epochs *w = epochs_of(win);
	int i;

	if (w && failed) {
		release_window_ranks(k, w, &w->access, COMPLETED, 1);
		return;
	}
	for (i = 0; w && i < w->access.n; i++) {
		vt_went_on(k, &w->comm, w->access.rank[i], POSTED, w->access.enter, w->access.leave);
	}
	if (w) {
		end_window_epoch(&w->access);
	}
}

void vt_window_waited(struct vt_mpi_call *k, MPI_Win win)
{
	struct vt_window_epochs *w = epochs_of(win);
	int i;

	for (i = 0; w && i < w->exposure.n; i++) {
		vt_went_on(k, &w->comm, w->exposure.rank[i], COMPLETED, w->exposure.enter, 0);
	}
	if (w) {
		end_window_epoch(&w->exposure);
	}
}

/* ---- locks ---- */

static struct vt_lock making = VT_LOCK_INIT;

/* The lock at a target; NULL: it is no rank of the window, or nothing records. */
static struct vt_window_lock *lock_at(struct vt_window_epochs *w, int target)
{
	if (!w || target < 0 || target >= w->comm.remote) {
		return NULL;
	}
	if (!w->lock) {
		vt_inside_begin();
		vt_lock(&making);
		w->lock = w->lock ? w->lock : vt_trace_memory((size_t)w->comm.remote * sizeof(*w->lock));
		vt_unlock(&making);
		vt_inside_end();
	}
	return w->lock ? &w->lock[target] : NULL;
}

/* With MPI_MODE_NOCHECK no lock is taken, so no rank waits for one. */
void vt_window_locked(struct vt_mpi_call *k, MPI_Win win, int target, int type, int mode)
{
	struct vt_window_lock *l = mode & MPI_MODE_NOCHECK ? NULL : lock_at(epochs_of(win), target);

	if (l) {
		*l = (struct vt_window_lock){ k->enter, k->leave, 0, type == MPI_LOCK_EXCLUSIVE };
	}
}

void vt_window_flushed(struct vt_mpi_call *k, MPI_Win win, int target)
{
	struct vt_window_epochs *w = epochs_of(win);
	int i, first = target < 0 ? 0 : target, end = target < 0 && w ? w->comm.remote : target + 1;

	for (i = first; w && w->lock && i < end && i < w->comm.remote; i++) {
		if (w->lock[i].enter && !w->lock[i].done) {
			w->lock[i].done = k->leave;
		}
	}
}

void vt_window_unlocked(struct vt_mpi_call *k, MPI_Win win, int target)
{
	struct vt_window_epochs *w = epochs_of(win);
	struct vt_window_lock *l = lock_at(w, target);

	if (l && l->enter) {
		vt_unlocked(k, &w->comm, target, l);
		*l = (struct vt_window_lock){ 0 };
	}
}

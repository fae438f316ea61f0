/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls of one-sided operations wait for: MPI_Win_start and MPI_Win_complete for MPI_Win_post of their targets,
 * MPI_Win_wait for MPI_Win_complete of its origins, and a lock for those who hold it. MPI need not wait in each of them, and right
 * programs may live by that: it performs the calls, and they are judged only when they do not return (watch.c). */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 8, EVERY = VT_MC_RANKS, EXPOSED };

/* Some members are not counted: waits of this window are not judged until it is freed. */
static void note_crowded(uint64_t win)
{
	int i, at = -1;

	for (i = 0; i < VT_MC_CROWDED && vt_mc_shared->crowded[i].win != win; i++) {
		at = at < 0 && !vt_mc_shared->crowded[i].win ? i : at;
	}
	if (i == VT_MC_CROWDED && at >= 0) {
		vt_mc_shared->crowded[at].win = win;
		vt_mc_shared->crowded[at].left = 0;
		vt_mc_shared->n_crowded++;
	}
	vt_mc_shared->all_crowded |= i == VT_MC_CROWDED && at < 0;
}

static int is_crowded(uint64_t win)
{
	int i, most = vt_mc_shared->n_crowded ? VT_MC_CROWDED : 0;

	for (i = 0; i < most && vt_mc_shared->crowded[i].win != win; i++) {
	}
	return i < most || vt_mc_shared->all_crowded;
}

/* With the lock of the segment, like all that follow. NULL: there is none, or no room. */
static struct vt_mc_pair *find_pair(uint64_t win, int origin, int target, int make)
{
	uint64_t h = (win ^ (uint64_t)(origin * (EVERY + 1) + target) * UINT64_C(0x9e3779b97f4a7c15)) *
		UINT64_C(0xff51afd7ed558ccd);
	struct vt_mc_pair *p, *free_one = NULL, *exposed = NULL;
	int i;

	for (i = 0; i < WINDOW; i++) {
		p = &vt_mc_shared->pair[((h >> 32) + (uint64_t)i) % VT_MC_PAIRS];
		if (p->win == win && p->origin == origin && p->target == target) {
			return p;
		}
		free_one = !p->win && !free_one ? p : free_one;
		exposed = p->win && p->target == EXPOSED ? p : exposed;
	}
	/* units only serve to find races, which are only warnings */
	free_one = free_one || target == EXPOSED ? free_one : exposed;
	if (make && free_one) {
		memset(free_one, 0, sizeof(*free_one));
		free_one->win = win;
		free_one->origin = origin;
		free_one->target = target;
		return free_one;
	}
	if (make && target != EXPOSED) {
		note_crowded(win);
	}
	return NULL;
}

void vt_mc_epoch_expose(uint64_t win, int64_t unit)
{
	struct vt_mc_pair *p;

	vt_mc_shared_lock();
	p = find_pair(win, vt_mc_rank, EXPOSED, 1);
	if (p) {
		p->since = (uint64_t)unit;
	}
	vt_mc_shared_unlock();
}

int64_t vt_mc_epoch_unit(const struct vt_mc_object *o, int target)
{
	struct vt_mc_epoch *e = o->epoch;
	const struct vt_mc_pair *p;

	e->units = e->units ? e->units : calloc((size_t)o->remote + 1, sizeof(*e->units));
	if (e->units && !e->units[target]) {
		vt_mc_shared_lock();
		p = find_pair(o->id, o->world[target], EXPOSED, 0);
		e->units[target] = p ? (int64_t)p->since : 0;
		vt_mc_shared_unlock();
	}
	return e->units ? e->units[target] : 0;
}

uint32_t vt_mc_epoch_exposure(const struct vt_mc_object *o, int target)
{
	const struct vt_mc_pair *p;
	uint32_t number;

	vt_mc_shared_lock();
	p = find_pair(o->id, vt_mc_rank, o->world[target], 0);
	number = p && p->starts == p->posts && !is_crowded(o->id) ? p->exposure : 0;
	vt_mc_shared_unlock();
	return number;
}

int vt_mc_group_members(MPI_Group group, uint64_t *members)
{
	int n = 0, i, *there = NULL, all = 1;
	MPI_Group world;

	if (group != MPI_GROUP_NULL && PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
		there = vt_mc_group_ranks(group, world, &n);
		PMPI_Group_free(&world);
	}
	for (i = 0; i < n && all; i++) {
		all = there[i] >= 0 && there[i] < vt_mc_shared->ranks &&
			vt_mc_shared->rank[there[i]].state != VT_MC_ABSENT;
		if (all) {
			vt_mc_set_bit(members, there[i]);
		}
	}
	free(there);
	return all ? n : 0;
}

/* ---- what a call waits for ---- */

static struct vt_mc_object *compared_window(const struct vt_mc_call *k)
{
	struct vt_mc_object *o = k->f->sort == VT_MC_CALL && vt_mc_shared ? vt_mc_window(k) : NULL;

	return o && o->whole && !o->freed ? o : NULL;
}

static void needs_posts(struct vt_mc_wait *w, const struct vt_mc_object *o)
{
	const unsigned char *targets = o->epoch->targets;
	const struct vt_mc_pair *p;
	int i;

	for (i = 0; targets && i < o->remote; i++) {
		p = targets[i] ? find_pair(o->id, vt_mc_rank, o->world[i], 0) : NULL;
		if (p && (int32_t)(p->posts - p->starts) < 0) {
			vt_mc_set_bit(w->all, o->world[i]);
		}
	}
}

void vt_mc_needs_origins(struct vt_mc_wait *w)
{
	const struct vt_mc_object *o = vt_mc_object(VT_MC_WIN, VT_MC_WORD(w->k, VT_MC_OF_WIN));
	const unsigned char *origins = o && o->whole && o->epoch ? o->epoch->origins : NULL;
	const struct vt_mc_pair *p;
	int i;

	w->unknown |= !origins || is_crowded(o->id);
	w->idle = o && o->whole;
	for (i = 0; origins && i < o->remote; i++) {
		p = origins[i] ? find_pair(o->id, o->world[i], vt_mc_rank, 0) : NULL;
		w->unknown |= origins[i] && !p;
		if (p && (int32_t)(p->completes - p->posts) < 0) {
			vt_mc_set_bit(w->all, o->world[i]);
		}
	}
}

/* MPI may give a lock when it is first used: those who have it since later are not waited for. */
static int holds_against(const struct vt_mc_pair *p, int type, uint64_t since)
{
	return p && p->held && p->since < since && (p->held == MPI_LOCK_EXCLUSIVE || type == MPI_LOCK_EXCLUSIVE);
}

static void needs_holders(struct vt_mc_wait *w, const struct vt_mc_object *o, int target)
{
	const struct vt_mc_call *k = w->k;
	const struct vt_mc_pair *own;
	uint64_t since = UINT64_MAX;
	int i, type = MPI_LOCK_SHARED;

	if (vt_mc_is(k, "Win_lock")) {
		type = (int)k->w[0];
	} else {
		own = find_pair(o->id, vt_mc_rank, target, 0);
		if (!own || !own->held) {
			return;
		}
		type = own->held;
		since = own->since;
	}
	for (i = 0; i < vt_mc_shared->ranks; i++) {
		if (i != vt_mc_rank &&
			(holds_against(find_pair(o->id, i, target, 0), type, since) ||
				holds_against(find_pair(o->id, i, EVERY, 0), type, since))) {
			vt_mc_set_bit(w->all, i);
		}
	}
}

/* The target of a lock; -1: the call is about another thing. */
static int locked_target(const struct vt_mc_call *k, const struct vt_mc_object *o)
{
	int rank = vt_mc_is(k, "Win_lock")                              ? (int)k->w[1]
		: vt_mc_is(k, "Win_unlock") || vt_mc_is(k, "Win_flush") ? (int)k->w[0]
									: -1;

	return rank >= 0 && rank < o->remote ? o->world[rank] : -1;
}

static void needs_of_epoch(struct vt_mc_wait *w)
{
	const struct vt_mc_object *o = compared_window(w->k);

	if (!o || is_crowded(o->id)) {
		return;
	}
	if (vt_mc_is(w->k, "Win_start") || vt_mc_is(w->k, "Win_complete")) {
		needs_posts(w, o);
	} else if (locked_target(w->k, o) >= 0) {
		needs_holders(w, o, locked_target(w->k, o));
	}
}

/* ---- what the ranks do ---- */

/* Those who wait for this rank in a call on the window. */
static void tell_ranks(const struct vt_mc_object *o, const uint64_t *set)
{
	int i;

	for (i = 0; i < vt_mc_shared->ranks; i++) {
		if (vt_mc_has_bit(set, i) && i != vt_mc_rank) {
			vt_mc_tell_arrival(&vt_mc_shared->rank[i], o->id, VT_MC_EPOCH_CALL);
			vt_mc_wake(i);
		}
	}
}

enum what { STARTS, POSTS, COMPLETES };

static void count_all(const struct vt_mc_object *o, const unsigned char *partners, enum what what)
{
	uint64_t set[VT_MC_BITS] = { 0 };
	struct vt_mc_pair *p;
	int i;

	for (i = 0; partners && i < o->remote; i++) {
		p = !partners[i]        ? NULL
			: what == POSTS ? find_pair(o->id, o->world[i], vt_mc_rank, 1)
					: find_pair(o->id, vt_mc_rank, o->world[i], 1);
		if (p) {
			p->starts += what == STARTS;
			p->posts += what == POSTS;
			p->completes += what == COMPLETES;
			p->exposure = what == POSTS ? o->epoch->exposures : p->exposure;
			vt_mc_set_bit(set, o->world[i]);
		}
	}
	if (what != STARTS) {
		tell_ranks(o, set);
	}
}

/* Returns 1 if MPI may have to wait in the call. */
static int note_begin(const struct vt_mc_call *k, const struct vt_mc_object *o)
{
	struct vt_mc_wait w = { .k = (struct vt_mc_call *)(uintptr_t)k };
	int i;

	vt_mc_shared_lock();
	if (vt_mc_is(k, "Win_start")) {
		count_all(o, o->epoch->targets, STARTS);
	} else if (vt_mc_is(k, "Win_post")) {
		o->epoch->exposures++;
		count_all(o, o->epoch->origins, POSTS);
	}
	needs_of_epoch(&w);
	vt_mc_shared_unlock();
	for (i = 0; i < VT_MC_BITS && !w.all[i]; i++) {
	}
	return i < VT_MC_BITS;
}

/* All members are in MPI_Win_free. */
static void forget_window(uintptr_t handle)
{
	const struct vt_mc_object *o;
	int i;

	vt_mc_lock();
	o = vt_mc_object(VT_MC_WIN, handle);
	vt_mc_unlock();
	vt_mc_shared_lock();
	for (i = 0; o && i < VT_MC_PAIRS; i++) {
		if (vt_mc_shared->pair[i].win == o->id && vt_mc_shared->pair[i].origin == vt_mc_rank) {
			vt_mc_shared->pair[i].win = 0;
		}
	}
	for (i = 0; o && i < VT_MC_CROWDED; i++) {
		if (vt_mc_shared->crowded[i].win == o->id && ++vt_mc_shared->crowded[i].left == o->size) {
			vt_mc_shared->crowded[i].win = 0;
			vt_mc_shared->n_crowded--;
		}
	}
	vt_mc_shared_unlock();
}

void vt_mc_epoch_before(struct vt_mc_call *k)
{
	const struct vt_mc_object *o;
	int waits;

	if (k->f->sort == VT_MC_WIN_FREE && vt_mc_shared) {
		forget_window(vt_mc_handle_at(VT_MC_WIN, (void *)k->w[0]));
	}
	if (k->f->sort != VT_MC_CALL || !VT_MC_HAS(k, VT_MC_OF_WIN) || !vt_mc_shared) {
		return;
	}
	vt_mc_lock();
	o = compared_window(k);
	waits = o && note_begin(k, o);
	vt_mc_unlock();
	if (waits && !vt_mc_several_threads) {
		vt_mc_watch_begin(k, needs_of_epoch, o->id);
	}
}

static void set_lock(const struct vt_mc_object *o, int target, int type)
{
	struct vt_mc_pair *p = find_pair(o->id, vt_mc_rank, target, type != 0);

	if (p) {
		p->held = type;
		p->since = ++vt_mc_shared->locks;
	}
	if (!type) {
		tell_ranks(o, o->members);
	}
}

void vt_mc_epoch_after(const struct vt_mc_call *k)
{
	const struct vt_mc_object *o = compared_window(k);

	if (!o) {
		return;
	}
	vt_mc_shared_lock();
	if (vt_mc_is(k, "Win_complete")) {
		count_all(o, o->epoch->targets, COMPLETES);
	} else if (vt_mc_is(k, "Win_lock") && locked_target(k, o) >= 0) {
		set_lock(o, locked_target(k, o), (int)k->w[2] & MPI_MODE_NOCHECK ? 0 : (int)k->w[0]);
	} else if (vt_mc_is(k, "Win_unlock") && locked_target(k, o) >= 0) {
		set_lock(o, locked_target(k, o), 0);
	} else if (vt_mc_is(k, "Win_lock_all")) {
		set_lock(o, EVERY, (int)k->w[0] & MPI_MODE_NOCHECK ? 0 : MPI_LOCK_SHARED);
	} else if (vt_mc_is(k, "Win_unlock_all")) {
		set_lock(o, EVERY, 0);
	}
	vt_mc_shared_unlock();
}

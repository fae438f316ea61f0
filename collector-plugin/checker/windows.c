/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations: each needs an epoch of its target, and each epoch begins and ends once. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdlib.h>
#include <string.h>

static int in_epoch(const struct vt_mc_object *o, int target)
{
	const struct vt_mc_epoch *e = o->epoch;

	return e->fence || e->lock_all || (e->locked && e->locked[target]) ||
		(e->started && (!e->targets || e->targets[target]));
}

static void refuse_epoch(struct vt_mc_call *k, const char *why)
{
	k->rc = MPI_ERR_RMA_SYNC;
	k->refused = vt_mc_report(VT_MC_EPOCH, k, NULL, "%s", why);
}

/* ---- operations ---- */

/* The bytes go as in a message: from here to the target, or the other way. Returns 1 if their types differ, 2 if there are too many. */
static int find_mismatch(const struct vt_mc_call *k)
{
	const char *name = k->f->text + 4;
	int gets = !strcmp(name, "Get") || !strcmp(name, "Rget");
	const struct vt_mc_object *here, *there;
	struct vt_mc_signature sent, taken;
	uint64_t n[2];

	if (k->f->n < 8 || strstr(name, "_acc") || strstr(name, "_op") || strstr(name, "_c")) {
		return 0;
	}
	here = vt_mc_type((MPI_Datatype)k->w[2]);
	there = vt_mc_type((MPI_Datatype)k->w[6]);
	n[0] = (uint64_t)(int)k->w[1];
	n[1] = (uint64_t)(int)k->w[5];
	if (!here || !there || !here->signature.n || !there->signature.n) {
		return 0;
	}
	sent = gets ? vt_mc_repeat(there->signature, n[1]) : vt_mc_repeat(here->signature, n[0]);
	if (sent.n > (gets ? here->signature.n * n[0] : there->signature.n * n[1])) {
		return 2;
	}
	return vt_mc_prefix(gets ? here : there, sent.n, &taken) && taken.hash != sent.hash;
}

static void report_mismatch(struct vt_mc_call *k, int mismatch)
{
	if (mismatch == 1) {
		k->rc = MPI_ERR_TYPE;
		k->refused =
			vt_mc_report(VT_MC_MSG_TYPE, k, NULL, "the datatypes of the origin and of the target differ");
	} else if (mismatch == 2) {
		k->rc = MPI_ERR_TRUNCATE;
		k->refused = vt_mc_report(VT_MC_CALL_FAILED, k, NULL,
			"more elements of basic types are to be moved than their destination has");
	}
}

static void check_operation(struct vt_mc_call *k, struct vt_mc_object *o)
{
	int target = VT_MC_NUMBER(k, VT_MC_DEST), with_request = k->f->text[4] == 'R' && VT_MC_HAS(k, VT_MC_OF_REQUEST);
	struct vt_mc_epoch *e = o->epoch;

	if (target == MPI_PROC_NULL) {
		return;
	}
	if (!in_epoch(o, target)) {
		refuse_epoch(k,
			"there is no epoch for this target: no fence, start or lock was made before, or it was ended");
	} else if (with_request && !e->lock_all && !(e->locked && e->locked[target])) {
		refuse_epoch(k, "operations with a request need a lock of the target");
	} else {
		e->used |= e->fence;
		report_mismatch(k, find_mismatch(k));
	}
}

/* The bytes that an operation uses there, as those of a transfer. The unit of displacements does not matter to two of one place. */
static struct vt_mc_pending bytes_there(const struct vt_mc_pending *p)
{
	struct vt_mc_pending there = { .type = p->type_there, .count = p->count_there };

	if (there.type && there.type->known && there.type->bytes > 0 && there.count > 0) {
		there.low = there.type->true_lb;
		there.high = there.low + (there.count - 1) * there.type->extent + there.type->true_extent;
	}
	return there;
}

static int share_target(const struct vt_mc_pending *p, const struct vt_mc_pending *q)
{
	const struct vt_mc_pending a = bytes_there(p), b = bytes_there(q);

	return p->place_there == q->place_there && a.low < b.high && b.low < a.high && vt_mc_share_bytes(&a, &b);
}

/* Operations of this process on the same bytes of a target, in one epoch, have no order. */
static void check_conflict(struct vt_mc_call *k, const struct vt_mc_pending *p)
{
	const struct vt_mc_pending *q;
	struct vt_mc_involved other;
	int n = 0;

	for (q = vt_mc_active_next(NULL); q && q != p && n++ < 256; q = vt_mc_active_next(q)) {
		/* puts of the same bytes and accumulations have the same result in any order */
		if (q->win == p->win && q->access && q->target == p->target &&
			(q->access != p->access ||
				(p->access == 'P' && p->summed && q->summed && p->checksum != q->checksum)) &&
			share_target(p, q)) {
			other = (struct vt_mc_involved){ "started by", &q->started };
			vt_mc_report(VT_MC_CONFLICT, k, &other,
				"%s is not complete and uses the same bytes of rank %d of the window: what is there then is undefined",
				q->started.f ? q->started.f->text : "another operation", p->target);
			return;
		}
	}
}

/* The memory here that the operation uses until the epoch ends. NULL: it is not followed. */
static struct vt_mc_pending *hold_origin(struct vt_mc_call *k, struct vt_mc_object *o)
{
	int reads = strstr(k->f->text, "et") != NULL && strstr(k->f->text, "Get") == k->f->text + 4;
	struct vt_mc_pending *p = VT_MC_NUMBER(k, VT_MC_DEST) == MPI_PROC_NULL || !VT_MC_HAS(k, VT_MC_COUNT) ||
			strstr(k->f->text, "accumulate")
		? NULL
		: vt_mc_pending_new(k, VT_MC_OTHER);

	if (p) {
		vt_mc_pending_buffer(p, k);
		p->writes = reads;
		p->win = o;
		p->target = VT_MC_NUMBER(k, VT_MC_DEST);
		p->access = k->f->text[4];
		p->place_there = (int64_t)k->w[4];
		p->count_there = k->f->kind[5] == VT_MC_INT ? (int)k->w[5] : (long long)k->w[5];
		p->type_there = vt_mc_type((MPI_Datatype)k->w[6]);
		vt_mc_pending_start(k, p);
		check_conflict(k, p);
	}
	return p;
}

/* The operations to that target, -1: all, are complete here. */
static void release_origins(struct vt_mc_call *k, const struct vt_mc_object *o, int target)
{
	struct vt_mc_pending *p, *next;

	for (p = vt_mc_active_next(NULL); p; p = next) {
		next = vt_mc_active_next(p);
		if (p->win == o && p->handle && (target < 0 || p->target == target)) {
			/* the program may have its memory again, and has to complete the request */
			p->low = p->high = 0;
			p->summed = p->has_shown = 0;
		} else if (p->win == o && (target < 0 || p->target == target)) {
			vt_mc_pending_end(k, p, NULL, MPI_SUCCESS);
		}
	}
}

/* ---- fences, locks and groups ---- */

static void check_lock(struct vt_mc_call *k, struct vt_mc_object *o)
{
	struct vt_mc_epoch *e = o->epoch;
	int rank = vt_mc_is(k, "Win_lock") ? (int)k->w[1] : -1;

	if (rank >= o->remote) {
		return;
	}
	if (e->lock_all || (rank >= 0 ? e->locked && e->locked[rank] : e->locks > 0)) {
		refuse_epoch(k, "the window is locked already");
	} else if (e->started || (e->fence && e->used)) {
		refuse_epoch(k, "another epoch, of MPI_Win_start or MPI_Win_fence, is not ended");
	} else {
		e->fence = 0;
	}
}

static void check_unlock(struct vt_mc_call *k, struct vt_mc_object *o)
{
	struct vt_mc_epoch *e = o->epoch;
	int rank = vt_mc_is(k, "Win_unlock") ? (int)k->w[0] : -1;

	if (rank < o->remote && !(rank < 0 ? e->lock_all : e->locked && e->locked[rank])) {
		refuse_epoch(k, "the window is not locked by such a call: it was unlocked before, or never locked");
	}
}

static void check_flush(struct vt_mc_call *k, struct vt_mc_object *o)
{
	struct vt_mc_epoch *e = o->epoch;
	int rank = strstr(k->f->text, "_all") ? -1 : (int)k->w[0];

	if (rank < o->remote && !e->lock_all && !(rank < 0 ? e->locks > 0 : e->locked && e->locked[rank])) {
		refuse_epoch(k, "a flush needs a lock of the target");
	}
}

static void check_active(struct vt_mc_call *k, struct vt_mc_object *o)
{
	struct vt_mc_epoch *e = o->epoch;

	if (vt_mc_is(k, "Win_start")) {
		if (e->started) {
			refuse_epoch(k, "MPI_Win_start was called before, and MPI_Win_complete was not");
		} else if (e->lock_all || e->locks) {
			refuse_epoch(k, "the window is locked");
		}
	} else if (vt_mc_is(k, "Win_complete") && !e->started) {
		refuse_epoch(k, "MPI_Win_start was not called before");
	} else if (vt_mc_is(k, "Win_post") && e->posted) {
		refuse_epoch(k, "MPI_Win_post was called before, and MPI_Win_wait was not");
	} else if ((vt_mc_is(k, "Win_wait") || vt_mc_is(k, "Win_test")) && !e->posted) {
		refuse_epoch(k, "MPI_Win_post was not called before");
	} else if (vt_mc_is(k, "Win_fence") && (e->lock_all || e->locks || e->started || e->posted)) {
		refuse_epoch(k, "another epoch, of MPI_Win_lock, MPI_Win_start or MPI_Win_post, is not ended");
	} else if (vt_mc_is(k, "Win_fence") && e->fence && e->used && ((int)k->w[0] & MPI_MODE_NOPRECEDE)) {
		refuse_epoch(k,
			"with MPI_MODE_NOPRECEDE the fence ends no epoch, and there were operations since the last one");
	}
}

static void check_end(struct vt_mc_call *k, const struct vt_mc_object *o)
{
	const struct vt_mc_epoch *e = o->epoch;

	if (e->lock_all || e->locks) {
		refuse_epoch(k, "the window is still locked");
	} else if (e->started || e->posted) {
		refuse_epoch(k, "the epoch of MPI_Win_start or MPI_Win_post is not ended");
	} else if (e->fence && e->used) {
		refuse_epoch(k, "there were operations after the last fence, and no fence ended their epoch");
	}
}

/* The ranks of the group in the window, as a set; to be freed. */
static unsigned char *list_partners(const struct vt_mc_object *o, MPI_Group group)
{
	unsigned char *set = calloc((size_t)o->remote + 1, 1);
	int n = 0, i, *there = NULL;
	MPI_Group all;

	if (PMPI_Win_get_group((MPI_Win)o->handle, &all) == MPI_SUCCESS) {
		there = vt_mc_group_ranks(group, all, &n);
		PMPI_Group_free(&all);
	}
	for (i = 0; set && i < n; i++) {
		if (there[i] >= 0 && there[i] < o->remote) {
			set[there[i]] = 1;
		}
	}
	if (!there) {
		free(set);
		set = NULL;
	}
	free(there);
	return set;
}

/* Those of the call, which others are told before it waits for them (waits/epochs.c). */
static void set_partners(const struct vt_mc_call *k, const struct vt_mc_object *o)
{
	unsigned char **set = vt_mc_is(k, "Win_start") ? &o->epoch->targets
		: vt_mc_is(k, "Win_post")              ? &o->epoch->origins
						       : NULL;

	if (set && !k->refused) {
		free(*set);
		*set = list_partners(o, (MPI_Group)k->w[0]);
	}
}

/* The number of the window that the members make next. */
static uint64_t next_window(const struct vt_mc_object *c)
{
	return (c->id + c->creations + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void expose_window(const struct vt_mc_call *k)
{
	const struct vt_mc_object *c = vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM));
	int i;

	for (i = 0; i < k->f->n && !vt_mc_name_is(k->f, i, "disp_unit"); i++) {
	}
	if (vt_mc_shared && c && c->whole) {
		/* displacements of MPI_Win_create_dynamic are addresses */
		vt_mc_epoch_expose(next_window(c), i < k->f->n ? (int64_t)(int)k->w[i] : 1);
	}
}

static int reaching; /* calls under way, also of other threads, that may need that others look at MPI */

static void tell_reach(void)
{
	const struct vt_mc_object *o = NULL;
	int reaches = reaching > 0;

	while (!reaches && (o = vt_mc_object_next(VT_MC_WIN, o))) {
		reaches = !o->freed && o->epoch &&
			(o->epoch->used || o->epoch->locks || o->epoch->lock_all || o->epoch->started);
	}
	if (vt_mc_shared) {
		vt_mc_shared->rank[vt_mc_rank].reaches = reaches;
	}
}

void vt_mc_window_leaves(const struct vt_mc_call *k)
{
	if (k->reaches) {
		reaching--;
		tell_reach();
	}
}

void vt_mc_window_before(struct vt_mc_call *k)
{
	struct vt_mc_object *o = vt_mc_window(k);

	if (k->f->sort == VT_MC_NEWWIN) {
		expose_window(k);
	}
	if (!o) {
		return;
	}
	if (k->f->sort == VT_MC_RMA || strstr(k->f->text, "lock")) {
		k->reaches = 1;
		reaching++;
		tell_reach();
	}
	if (k->f->sort == VT_MC_RMA) {
		check_operation(k, o);
	} else if (k->f->sort == VT_MC_WIN_FREE) {
		check_end(k, o);
		if (!k->refused) {
			release_origins(k, o, -1);
		}
	} else if (vt_mc_is(k, "Win_lock") || vt_mc_is(k, "Win_lock_all")) {
		check_lock(k, o);
	} else if (vt_mc_is(k, "Win_unlock") || vt_mc_is(k, "Win_unlock_all")) {
		check_unlock(k, o);
	} else if (strstr(k->f->text, "Win_flush")) {
		check_flush(k, o);
	} else {
		check_active(k, o);
		set_partners(k, o);
	}
}

/* ---- after the call ---- */

static void lock_target(struct vt_mc_object *o, int rank, int locked)
{
	struct vt_mc_epoch *e = o->epoch;

	e->locked = e->locked ? e->locked : calloc((size_t)o->remote + 1, 1);
	if (e->locked && rank >= 0 && rank < o->remote) {
		e->locked[rank] = (unsigned char)locked;
		e->locks += locked ? 1 : -1;
	}
}

static void window_made(struct vt_mc_call *k)
{
	struct vt_mc_object *c = vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM));
	MPI_Win win = *(const MPI_Win *)k->w[k->f->n - 1];
	struct vt_mc_object *o = vt_mc_object(VT_MC_WIN, (uintptr_t)win);

	if (!o || !c) {
		return;
	}
	o->epoch = calloc(1, sizeof(*o->epoch));
	vt_mc_members_copy(o, c);
	o->id = next_window(c);
	c->creations++;
	PMPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

void vt_mc_window_after(struct vt_mc_call *k)
{
	struct vt_mc_object *o = vt_mc_window(k);
	const char *name = k->f->text + 4;
	struct vt_mc_epoch *e;

	if (k->f->sort == VT_MC_NEWWIN) {
		window_made(k);
	}
	if (!o || k->f->sort == VT_MC_WIN_FREE) {
		return;
	}
	e = o->epoch;
	if (k->f->sort == VT_MC_RMA) {
		vt_mc_race_begins(k, o,
			VT_MC_HAS(k, VT_MC_OF_REQUEST)
				? vt_mc_pending_find(*(const MPI_Request *)VT_MC_WORD(k, VT_MC_OF_REQUEST))
				: hold_origin(k, o));
	} else if (vt_mc_is(k, "Win_fence")) {
		e->fence = !((int)k->w[0] & MPI_MODE_NOSUCCEED);
		e->fences++;
		e->used = 0;
		vt_mc_race_ends(o, -1, 0);
		release_origins(k, o, -1);
	} else if (vt_mc_is(k, "Win_lock")) {
		lock_target(o, (int)k->w[1], (int)k->w[0]);
	} else if (vt_mc_is(k, "Win_unlock")) {
		lock_target(o, (int)k->w[0], 0);
		vt_mc_race_ends(o, (int)k->w[0], 0);
		release_origins(k, o, (int)k->w[0]);
	} else if (vt_mc_is(k, "Win_lock_all")) {
		e->lock_all = 1;
	} else if (vt_mc_is(k, "Win_unlock_all")) {
		e->lock_all = 0;
		vt_mc_race_ends(o, -1, 0);
		release_origins(k, o, -1);
	} else if (!strncmp(name, "Win_flush", 9)) {
		vt_mc_race_ends(o, strstr(name, "_all") ? -1 : (int)k->w[0], strstr(name, "_local") != NULL);
		release_origins(k, o, strstr(name, "_all") ? -1 : (int)k->w[0]);
	} else if (vt_mc_is(k, "Win_start")) {
		e->started = 1;
		e->fence = 0;
		/* MPI_Win_complete may return long before the others are there; the number of the epoch tells it from the next */
		vt_mc_race_ends(o, -1, 0);
	} else if (vt_mc_is(k, "Win_complete")) {
		e->started = 0;
		release_origins(k, o, -1);
	} else if (vt_mc_is(k, "Win_post")) {
		e->posted = 1;
	} else if (vt_mc_is(k, "Win_wait") || (vt_mc_is(k, "Win_test") && *(const int *)k->w[1])) {
		e->posted = 0;
	}
	if (!k->reaches) {
		tell_reach();
	}
}

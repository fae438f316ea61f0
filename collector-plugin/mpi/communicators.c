/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the communicators of this process by their handles, and records their definitions. */
#include "config.h"
#include "collector-plugin/mpi/communicators.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/mpi/outside.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/trace/trace.h"
#include "collector-plugin/trace/world.h"

/* The table is searched without a lock. When it is full, a larger one replaces it, and the old one is not freed,
 * because another thread may be searching it. */
struct table {
	size_t size, used; /* size: a power of two */
	_Atomic(struct vt_comm *) slot[];
};

static struct vt_lock lock = VT_LOCK_INIT;
static _Atomic(struct table *) comms;
static struct vt_comm gone; /* stands for communicators that were freed */
static uint32_t next_id;
static struct vt_comm *own_world,
	*own_self; /* the entries of MPI_COMM_WORLD and MPI_COMM_SELF, which are never freed */
static MPI_Group world;

static size_t first_slot_of_comm(const struct table *t, MPI_Comm handle)
{
	uint64_t h = (uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u;

	return (size_t)(h >> 32) & (t->size - 1);
}

struct vt_comm *vt_comm_find(MPI_Comm handle)
{
	struct table *t = atomic_load_explicit(&comms, memory_order_acquire);
	struct vt_comm *c;
	size_t i;

	if (!t) {
		return NULL;
	}
	for (i = first_slot_of_comm(t, handle);; i = (i + 1) & (t->size - 1)) {
		c = atomic_load_explicit(&t->slot[i], memory_order_acquire);
		if (!c || (c->handle == handle && c != &gone)) {
			return c;
		}
	}
}

static void add_communicator(struct table *t, struct vt_comm *c)
{
	size_t i = first_slot_of_comm(t, c->handle);
	struct vt_comm *there;

	while ((there = atomic_load_explicit(&t->slot[i], memory_order_relaxed)) && there != &gone &&
		there->handle != c->handle) {
		i = (i + 1) & (t->size - 1);
	}
	t->used += there == NULL;
	atomic_store_explicit(&t->slot[i], c, memory_order_release);
}

/* With the lock. */
static int add_comm(struct vt_comm *c)
{
	struct table *t = atomic_load(&comms), *more = t;
	size_t size = t ? t->size : 32, i;

	if (!t || t->used >= t->size / 2) {
		size = t ? 2 * t->size : size;
		more = calloc(1, sizeof(*more) + size * sizeof(more->slot[0]));
		if (!more) {
			return -1;
		}
		more->size = size;
		for (i = 0; t && i < t->size; i++) {
			struct vt_comm *there = atomic_load(&t->slot[i]);

			if (there && there != &gone) {
				add_communicator(more, there);
			}
		}
		add_communicator(more, c);
		atomic_store(&comms, more);
		return 0;
	}
	add_communicator(t, c);
	return 0;
}

/* ---- members ---- */

/* Appends the ranks of a group as ranges. Returns how many there are now, or -1. */
static int add_ranks(MPI_Group group, struct vt_raw_ranks **out, int n)
{
	struct vt_raw_ranks *r = *out;
	int size = 0, i, first = n;
	int *own, *there;
	size_t room = (size_t)n;

	PMPI_Group_size(group, &size);
	own = calloc((size_t)size + 1, sizeof(*own));
	there = calloc((size_t)size + 1, sizeof(*there));
	for (i = 0; own && i < size; i++) {
		own[i] = i;
	}
	if (!own || !there || PMPI_Group_translate_ranks(group, size, own, world, there) != MPI_SUCCESS) {
		n = -1;
	}
	for (i = 0; n >= 0 && i < size; i++) {
		int rank = there[i] == MPI_UNDEFINED ? -1 : there[i];
		struct vt_raw_ranks *last = n > first ? &r[n - 1] : NULL;

		if (last && rank >= 0 && last->first >= 0 && last->first == last->last && rank != last->last) {
			*last = (struct vt_raw_ranks){ last->first, rank, rank - last->first };
		} else if (last && rank >= 0 && last->first != last->last && rank == last->last + last->stride) {
			last->last = rank;
		} else {
			if (TKM_GROW(*out, room, (size_t)n + 1) < 0) {
				n = -1;
				break;
			}
			r = *out;
			r[n++] = (struct vt_raw_ranks){ rank, rank, 1 };
		}
	}
	free(own);
	free(there);
	return n;
}

/* ---- definitions ---- */

static void define_comm(const struct vt_comm *c, enum vt_raw_comm_kind kind, uint32_t parent, uint32_t number, int tag)
{
	struct vt_collect *collect = vt_collect_running();
	struct vt_raw_comm_def d = { .id = c->id,
		.parent = parent,
		.kind = kind,
		.number = number,
		.tag = tag,
		.inter = (uint32_t)c->inter,
		.name = c->name };
	struct vt_raw_ranks *ranks = NULL;
	MPI_Group group;
	int n = 0;

	PMPI_Comm_group(c->handle, &group);
	n = add_ranks(group, &ranks, 0);
	PMPI_Group_free(&group);
	d.n_own = n < 0 ? 0 : (uint32_t)n;
	if (n >= 0 && c->inter) {
		PMPI_Comm_remote_group(c->handle, &group);
		n = add_ranks(group, &ranks, n);
		PMPI_Group_free(&group);
	}
	d.n = n < 0 ? 0 : (uint32_t)n;
	d.ranks = ranks;
	if (collect) {
		vt_raw_communicator(collect->raw, &d);
	}
	free(ranks);
}

/* Has the communicator members that are not in MPI_COMM_WORLD? */
static int has_others(const struct vt_comm *c)
{
	struct vt_raw_ranks *ranks = NULL;
	MPI_Group group;
	int n, i;

	if ((c->inter ? PMPI_Comm_remote_group(c->handle, &group) : PMPI_Comm_group(c->handle, &group)) !=
		MPI_SUCCESS) {
		return 1;
	}
	n = add_ranks(group, &ranks, 0);
	PMPI_Group_free(&group);
	for (i = 0; i < n && ranks[i].first >= 0; i++) {
	}
	free(ranks);
	return i < n;
}

/* With the lock. */
static struct vt_comm *new_communicator(
	MPI_Comm handle, const char *name, enum vt_raw_comm_kind kind, uint32_t parent, uint32_t number, int tag)
{
	struct vt_comm *c = calloc(1, sizeof(*c));

	if (!c) {
		return NULL;
	}
	c->handle = handle;
	c->id = ++next_id;
	PMPI_Comm_test_inter(handle, &c->inter);
	PMPI_Comm_rank(handle, &c->rank);
	PMPI_Comm_size(handle, &c->size);
	c->remote = c->size;
	if (c->inter) {
		PMPI_Comm_remote_size(handle, &c->remote);
	}
	snprintf(c->name, sizeof(c->name), "%s", name);
	if (add_comm(c) < 0) {
		free(c);
		return NULL;
	}
	c->operations = c->id <= VT_SELF_ID ? &vt_world_operations[c->id - 1] : &c->own_operations;
	if (c->id > VT_SELF_ID && vt_mpi_watched && has_others(c)) {
		c->outside = 1;
		vt_mpi_outside(1);
	}
	/* the raw file has definitions of COMM_WORLD and COMM_SELF already; with counters alone, no record refers to
	 * any communicator, and a definition would make the hosts exchange messages */
	if (c->id > VT_SELF_ID && vt_trace_wanted) {
		define_comm(c, kind, parent, number, tag);
	}
	return c;
}

void vt_comms_begin(struct vt_collect *c)
{
	char name[32];
	int size = 1;

	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	vt_world_define(c, c->rank, size);
	vt_lock(&lock);
	if (next_id == 0 && PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
		own_world = new_communicator(MPI_COMM_WORLD, "COMM_WORLD", VT_RAW_COMM_WORLD, 0, 0, 0);
		snprintf(name, sizeof(name), "COMM_SELF_#%d", c->rank);
		own_self = new_communicator(MPI_COMM_SELF, name, VT_RAW_COMM_SELF, 0, 0, 0);
	}
	vt_unlock(&lock);
}

static __attribute__((noinline)) struct vt_comm *define_unseen(MPI_Comm handle)
{
	struct vt_comm *c;
	char name[MPI_MAX_OBJECT_NAME + 1] = "";
	int n;

	if (handle != MPI_COMM_NULL && next_id == 0) {
		atomic_fetch_add(&vt_mpi_missed, 1);
	}
	if (handle == MPI_COMM_NULL || next_id == 0) {
		return NULL;
	}
	PMPI_Comm_get_name(handle, name, &n);
	vt_lock(&lock);
	c = vt_comm_find(handle);
	if (!c) {
		c = new_communicator(handle, name[0] ? name : "unknown", VT_RAW_COMM_GROUP, 0, 0, 0);
	}
	vt_unlock(&lock);
	return c;
}

struct vt_comm *vt_comm_of(MPI_Comm handle)
{
	struct vt_comm *c = handle == MPI_COMM_WORLD ? own_world : handle == MPI_COMM_SELF ? own_self : NULL;

	c = c ? c : vt_comm_find(handle);
	return __builtin_expect(c != NULL, 1) ? c : define_unseen(handle);
}

uint32_t vt_comm_creates(struct vt_comm *c)
{
	return c ? atomic_fetch_add_explicit(&c->creations, 1, memory_order_relaxed) : 0;
}

void vt_comm_created(enum vt_raw_comm_kind kind, const char *prefix, const struct vt_comm *p, uint32_t number, int tag,
	MPI_Comm fresh)
{
	static const char between[] = "INTERCOMM_CREATE ";
	const char *old = p ? p->name : "";
	char name[VT_RAW_COMM_NAME + 64];

	if (fresh == MPI_COMM_NULL || next_id == 0) {
		return;
	}
	/* keep the name that the communicator has in this group; the merge knows that of the other group */
	if (p && p->inter && !strncmp(old, between, sizeof(between) - 1)) {
		old += sizeof(between) - 1;
	}
	snprintf(name, sizeof(name), "%s%s%s", prefix, p ? " " : "", old);
	vt_lock(&lock);
	new_communicator(fresh, name, kind, p ? p->id : 0, number, tag);
	vt_unlock(&lock);
}

void vt_comm_named(MPI_Comm handle)
{
	struct vt_comm *c = vt_comm_of(handle);
	struct vt_collect *collect = vt_collect_running();
	char name[MPI_MAX_OBJECT_NAME + 1] = "";
	int n;

	if (c && collect && PMPI_Comm_get_name(handle, name, &n) == MPI_SUCCESS) {
		vt_lock(&lock);
		snprintf(c->name, sizeof(c->name), "%.*s", (int)sizeof(c->name) - 1, name);
		vt_unlock(&lock);
		if (vt_trace_wanted) {
			vt_raw_communicator(collect->raw,
				&(struct vt_raw_comm_def){ .id = c->id, .kind = VT_RAW_COMM_RENAMED, .name = c->name });
		}
	}
}

void vt_comm_gone(MPI_Comm handle)
{
	struct vt_comm *c;
	struct table *t;
	size_t i;

	vt_lock(&lock);
	c = vt_comm_find(handle);
	t = atomic_load(&comms);
	for (i = 0; c && i < t->size; i++) {
		if (atomic_load(&t->slot[i]) == c) {
			/* its struct is not freed: requests may refer to it, and another thread may just have found
			 * it */
			atomic_store(&t->slot[i], &gone);
		}
	}
	vt_unlock(&lock);
}

void vt_comm_disconnected(MPI_Comm handle)
{
	struct vt_comm *c = vt_comm_find(handle);

	if (c && c->outside) {
		c->outside = 0;
		vt_mpi_outside(-1);
	}
	vt_comm_gone(handle);
}

/* ---- windows ---- */

enum { SET_OF_PES = -2, WINDOWS = -3 }; /* tags, and the largest one: a communicator of MPI never has them */

/* With the lock. */
static void define_window(struct vt_comm *c, const struct vt_comm *parent, uint32_t number, MPI_Win win)
{
	struct vt_collect *collect = vt_collect_running();
	struct vt_raw_ranks *ranks = NULL;
	MPI_Group group;
	int n;

	if (!collect || !vt_trace_wanted || PMPI_Win_get_group(win, &group) != MPI_SUCCESS) {
		return;
	}
	n = add_ranks(group, &ranks, 0);
	PMPI_Group_size(group, &c->size);
	PMPI_Group_rank(group, &c->rank);
	PMPI_Group_free(&group);
	if (n >= 0) {
		c->remote = c->size;
		c->operations = &c->own_operations;
		snprintf(c->name, sizeof(c->name), "window %u of %.80s", (unsigned)number, parent->name);
		vt_raw_communicator(collect->raw,
			&(struct vt_raw_comm_def){ .id = next_id + 1,
				.parent = parent->id,
				.kind = VT_RAW_COMM_GROUP,
				.tag = WINDOWS - (int)number,
				.n_own = (uint32_t)n,
				.n = (uint32_t)n,
				.ranks = ranks,
				.name = c->name });
		c->id = ++next_id;
	}
	free(ranks);
}

int vt_comm_of_window(struct vt_comm *c, const struct vt_comm *parent, uint32_t number, MPI_Win win)
{
	if (!c->id) {
		vt_inside_begin();
		vt_lock(&lock);
		if (!c->id) {
			define_window(c, parent, number, win);
		}
		vt_unlock(&lock);
		vt_inside_end();
	}
	return c->id ? 0 : -1;
}

/* ---- sets of PEs ---- */

/* A set is known by its PEs, and each of them defines it at its first operation, so all of them name it alike. */
struct pes {
	struct vt_comm comm;
	int first, stride;
	struct pes *next;
};
static _Atomic(struct pes *) all_pes; /* only grows */

static struct vt_comm *find_pes(int first, int stride, int n)
{
	struct pes *p;

	for (p = atomic_load_explicit(&all_pes, memory_order_acquire); p; p = p->next) {
		if (p->first == first && p->stride == stride && p->comm.size == n) {
			return &p->comm;
		}
	}
	return NULL;
}

/* With the lock. */
static struct vt_comm *define_pes(int first, int stride, int n)
{
	struct vt_collect *collect = vt_collect_running();
	struct vt_raw_ranks ranks = { first, first + (n - 1) * stride, stride };
	struct pes *p = calloc(1, sizeof(*p));

	if (!p) {
		return NULL;
	}
	p->first = first;
	p->stride = stride;
	p->next = atomic_load(&all_pes);
	p->comm.id = ++next_id;
	p->comm.size = p->comm.remote = n;
	p->comm.rank = (own_world->rank - first) / stride;
	p->comm.operations = &p->comm.own_operations;
	if (n == own_world->size) {
		snprintf(p->comm.name, sizeof(p->comm.name), "all PEs");
	} else {
		snprintf(p->comm.name, sizeof(p->comm.name), "PEs %d to %d by %d", first, ranks.last, stride);
	}
	if (collect && vt_trace_wanted) {
		vt_raw_communicator(collect->raw,
			&(struct vt_raw_comm_def){ .id = p->comm.id,
				.kind = VT_RAW_COMM_GROUP,
				.tag = SET_OF_PES,
				.n_own = 1,
				.n = 1,
				.ranks = &ranks,
				.name = p->comm.name });
	}
	atomic_store_explicit(&all_pes, p, memory_order_release);
	return &p->comm;
}

static __attribute__((noinline)) struct vt_comm *find_or_define_pes(int first, int stride, int n)
{
	struct vt_comm *c = NULL;

	vt_inside_begin();
	vt_lock(&lock);
	if (first >= 0 && n > 0 && first < own_world->size && (n - 1) <= (own_world->size - 1 - first) / stride) {
		c = find_pes(first, stride, n);
		c = c ? c : define_pes(first, stride, n);
	}
	vt_unlock(&lock);
	vt_inside_end();
	return c;
}

struct vt_comm *vt_comm_of_pes(int first, int stride, int n)
{
	struct vt_comm *c;

	if (!own_world) {
		return NULL;
	}
	n = n < 0 ? own_world->size : n;
	stride = n == 1 ? 1 : stride;
	c = find_pes(first, stride, n);
	return c ? c : find_or_define_pes(first, stride, n);
}

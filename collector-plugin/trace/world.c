/* SPDX-License-Identifier: BSD-3-Clause */
/* Defines MPI_COMM_WORLD, MPI_COMM_SELF and the communicators of VT_attach() in the raw file. */
#include "config.h"
#include "collector-plugin/trace/world.h"

#include <pthread.h>
#include <stdio.h>

#include "collector-plugin/host/lock.h"
#include "collector-plugin/raw/communicator.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/trace/trace.h"

_Atomic uint32_t vt_world_operations[2 + VT_WORLD_MOST];

static struct {
	int first, size, parent;
	_Atomic int attached, defined;
	struct {
		int parent, first, n;
	} comm[VT_WORLD_MOST];
} world;

static struct vt_lock lock = VT_LOCK_INIT;
static const struct vt_raw *of; /* where the communicators are defined */

void vt_world_join(int first, int size, int parent)
{
	size_t i;

	/* this may be the child of a fork, of whose parent another thread had the lock */
	vt_lock_forget(&lock);
	for (i = 0; i < sizeof(vt_world_operations) / sizeof(vt_world_operations[0]); i++) {
		vt_world_operations[i] = 0;
	}
	world.first = first;
	world.size = size;
	world.parent = parent + 1;
	world.attached = world.defined = 0;
	of = NULL;
	if (parent >= 0) {
		vt_world_attach(parent, first, size);
	}
}

int vt_world_attach(int parent, int first, int n)
{
	int i;

	vt_lock(&lock);
	i = world.attached < VT_WORLD_MOST ? world.attached : -1;
	if (i >= 0) {
		world.comm[i].parent = parent;
		world.comm[i].first = first;
		world.comm[i].n = n;
		world.attached++;
	}
	vt_unlock(&lock);
	return i;
}

int vt_world_attached(int i)
{
	return i >= 0 && i < world.attached ? world.comm[i].n + 1 : 0;
}

int vt_world_has_parent(void)
{
	return world.parent > 0;
}

int vt_world_size(const struct vt_collect *c)
{
	return world.size ? world.size : c->ranks > 0 ? c->ranks : 1;
}

int vt_world_rank(const struct vt_collect *c)
{
	return c->rank > world.first ? c->rank - world.first : 0;
}

int vt_world_first(void)
{
	return world.first;
}

static void define_world_comm(struct vt_collect *c, struct vt_raw_comm_def *d, const struct vt_raw_ranks *ranks)
{
	d->n_own = d->n;
	d->ranks = ranks;
	vt_raw_communicator(c->raw, d);
}

/* A world of spawned processes, and what they have in common with their parent, are known by their members. */
static void define_both(struct vt_collect *c, int rank, int size)
{
	struct vt_raw_ranks all = { world.first, world.first + size - 1, 1 }, self = { rank, rank, 1 };
	char name[40] = "COMM_WORLD";

	if (world.size) {
		snprintf(name, sizeof(name), "COMM_WORLD_%d-%d", all.first, all.last);
	}
	define_world_comm(c,
		&(struct vt_raw_comm_def){ .id = VT_WORLD_ID,
			.kind = world.size ? VT_RAW_COMM_GROUP : VT_RAW_COMM_WORLD,
			.tag = world.first,
			.n = 1,
			.name = name },
		&all);
	snprintf(name, sizeof(name), "COMM_SELF_#%d", rank);
	define_world_comm(c,
		&(struct vt_raw_comm_def){ .id = VT_SELF_ID, .kind = VT_RAW_COMM_SELF, .n = 1, .name = name }, &self);
}

static void define_attached(struct vt_collect *c, int i)
{
	int parent = world.comm[i].parent, first = world.comm[i].first, last = first + world.comm[i].n - 1;
	struct vt_raw_ranks ranks[2] = { { parent, parent, 1 }, { first, last, 1 } };
	char name[60];

	snprintf(name, sizeof(name), "ATTACH_%d+%d-%d", parent, first, last);
	define_world_comm(c,
		&(struct vt_raw_comm_def){ .id = (uint32_t)(VT_SELF_ID + 1 + i),
			.kind = VT_RAW_COMM_GROUP,
			.tag = first,
			.n = 2,
			.name = name },
		ranks);
}

void vt_world_define(struct vt_collect *c, int rank, int size)
{
	vt_lock(&lock);
	if (vt_trace_wanted && of != c->raw) {
		of = c->raw;
		world.defined = 0;
		define_both(c, rank, size);
	}
	while (vt_trace_wanted && world.defined < world.attached) {
		define_attached(c, world.defined++);
	}
	vt_unlock(&lock);
}

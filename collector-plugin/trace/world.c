/* SPDX-License-Identifier: BSD-3-Clause */
/* Defines MPI_COMM_WORLD and MPI_COMM_SELF in the raw file. */
#include "config.h"
#include "collector-plugin/trace/world.h"

#include <pthread.h>
#include <stdio.h>

#include "collector-plugin/host/lock.h"
#include "collector-plugin/raw/communicator.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/trace/trace.h"

_Atomic uint32_t vt_world_operations[2];

static void define_world_comm(
	struct vt_collect *c, uint32_t id, enum vt_raw_comm_kind kind, int first, int last, const char *name)
{
	struct vt_raw_ranks ranks = { first, last, 1 };

	vt_raw_communicator(c->raw,
		&(struct vt_raw_comm_def){ .id = id, .kind = kind, .n_own = 1, .n = 1, .ranks = &ranks, .name = name });
}

void vt_world_define(struct vt_collect *c, int rank, int size)
{
	static struct vt_lock lock = VT_LOCK_INIT;
	static const struct vt_raw *of;
	char name[32];

	vt_lock(&lock);
	if (vt_trace_wanted && of != c->raw) {
		of = c->raw;
		define_world_comm(c, VT_WORLD_ID, VT_RAW_COMM_WORLD, 0, size - 1, "COMM_WORLD");
		snprintf(name, sizeof(name), "COMM_SELF_#%d", rank);
		define_world_comm(c, VT_SELF_ID, VT_RAW_COMM_SELF, rank, rank, name);
	}
	vt_unlock(&lock);
}

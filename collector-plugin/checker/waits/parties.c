/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that some members of another make together: those of a group, or two groups by their leaders. Each such party has
 * its own meetings. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

/* All members of the party find the same. NULL: no memory. */
static struct vt_mc_object *find_party(uint64_t comm, const uint64_t *members, int n, int tag)
{
	static struct tkm_table parties;
	uint64_t h = (comm ^ (uint64_t)(unsigned)tag * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
	struct vt_mc_object *o;
	int i;

	for (i = 0; i < VT_MC_BITS; i++) {
		h = (h ^ h >> 29 ^ members[i]) * UINT64_C(0xff51afd7ed558ccd);
	}
	vt_mc_lock();
	o = tkm_table_put(&parties, &h, sizeof(h), sizeof(*o));
	if (o && !o->members) {
		o->members = calloc(VT_MC_BITS, sizeof(uint64_t));
		if (o->members) {
			memcpy(o->members, members, VT_MC_BITS * sizeof(uint64_t));
		}
		o->kind = VT_MC_COMM;
		o->id = h | 1;
		o->size = o->remote = n;
		o->whole = o->members != NULL;
	}
	vt_mc_unlock();
	return o;
}

static struct vt_mc_object *find_whole(MPI_Comm comm)
{
	struct vt_mc_object *c;

	vt_mc_lock();
	c = vt_mc_comm(comm);
	vt_mc_unlock();
	return c && c->whole && !c->freed ? c : NULL;
}

static void meet_group(struct vt_mc_call *k)
{
	const struct vt_mc_object *c = find_whole((MPI_Comm)k->w[0]);
	uint64_t members[VT_MC_BITS] = { 0 };
	int n = c ? vt_mc_group_members((MPI_Group)k->w[1], members) : 0;

	if (n > 1 && vt_mc_has_bit(members, vt_mc_rank)) {
		vt_mc_meeting_join(k, find_party(c->id, members, n, (int)k->w[2]), 1);
	}
}

/* The leaders of the two groups wait for each other. */
static void meet_leader(struct vt_mc_call *k)
{
	const struct vt_mc_object *bridge = find_whole((MPI_Comm)k->w[2]);
	uint64_t members[VT_MC_BITS] = { 0 };
	int there = (int)k->w[3];

	if (!bridge || there < 0 || there >= bridge->remote || bridge->world[there] == vt_mc_rank) {
		return;
	}
	vt_mc_set_bit(members, vt_mc_rank);
	vt_mc_set_bit(members, bridge->world[there]);
	vt_mc_meeting_join(k, find_party(bridge->id, members, 2, (int)k->w[4]), 1);
}

static void meet_groups(struct vt_mc_call *k)
{
	struct vt_mc_object *own = find_whole((MPI_Comm)k->w[0]);

	if (!own || own->inter) {
		return;
	}
	vt_mc_meeting_join(k, own, 1);
	if (!k->refused && own->rank == (int)k->w[1]) {
		meet_leader(k);
	}
	if (!k->refused) {
		/* the others wait for their leader */
		vt_mc_meeting_join(k, own, 1);
	}
}

void vt_mc_parties_meet(struct vt_mc_call *k)
{
	if (vt_mc_is(k, "Comm_create_group")) {
		meet_group(k);
	} else if (vt_mc_is(k, "Intercomm_create")) {
		meet_groups(k);
	}
}

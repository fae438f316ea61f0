/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations with a count for each member, like MPI_Gatherv: what one member sends to another must be what that one
 * expects. No member has all counts, and the sums of struct vt_mc_fit need no room for them. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1, SEVERAL = -2 };

/* The count and the type for the j-th member; of those that are no arrays, for all. Returns 0 if they are not known. */
static int signature_for(
	const struct vt_mc_call *k, enum vt_mc_role count, enum vt_mc_role type, int j, struct vt_mc_signature *out)
{
	int c = k->f->at[count], t = k->f->at[type];
	const struct vt_mc_object *o;
	uintptr_t handle;
	long long n;

	n = !k->f->pointer[c]                ? vt_mc_count(k, count)
		: k->f->kind[c] == VT_MC_INT ? ((const int *)k->w[c])[j]
					     : ((const MPI_Count *)k->w[c])[j];
	if (n <= 0) {
		*out = (struct vt_mc_signature){ 0, 1, 0 };
		return 1;
	}
	handle = k->f->pointer[t] ? vt_mc_handle_at(VT_MC_TYPE, (const MPI_Datatype *)k->w[t] + j) : k->w[t];
	o = vt_mc_type((MPI_Datatype)handle);
	if (!o || !o->signature.power) {
		return 0;
	}
	*out = vt_mc_repeat(o->signature, (uint64_t)n);
	return 1;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 32) * UINT64_C(0xff51afd7ed558ccd);
	return x ^ x >> 29;
}

/* sign: 1 what `from` says of what it sends to `to`; -1 what `to` says of it. */
static void add_pair(struct vt_mc_fit *fit, int from, int to, int sign, const struct vt_mc_signature *s)
{
	uint64_t pair = mix((uint64_t)(unsigned)from << 32 | (unsigned)to) | 1,
		 number = mix(pair ^ mix(s->n) ^ s->hash);

	if (s->n) {
		fit->sender[from % VT_MC_FITS] += sign > 0 ? number : -number;
		fit->receiver[to % VT_MC_FITS] += sign > 0 ? number : -number;
		fit->elements += sign > 0 ? pair * s->n : -pair * s->n;
	}
}

struct sides {
	enum vt_mc_role count, type;
	int used; /* not with MPI_IN_PLACE */
};

/* Pairs of this member with all others, or with the root only. */
static void add_side(struct vt_mc_fit *fit, const struct vt_mc_call *k, const struct vt_mc_object *c,
	const struct sides *side, int sign, int only)
{
	struct vt_mc_signature s;
	int j;

	for (j = 0; j < c->size && !fit->unknown; j++) {
		if (only >= 0 && j != only) {
			continue;
		}
		if (!signature_for(k, side->count, side->type, j, &s)) {
			fit->unknown = 1;
		} else if (sign > 0) {
			add_pair(fit, c->rank, j, 1, &s);
		} else {
			add_pair(fit, j, c->rank, -1, &s);
		}
	}
}

/* MPI_Gatherv and MPI_Scatterv. gathers: the root receives. */
static void fill_rooted(struct vt_mc_fit *fit, const struct vt_mc_call *k, const struct vt_mc_object *c, int gathers,
	const struct sides *side)
{
	int root = VT_MC_NUMBER(k, VT_MC_ROOT_RANK), at_root = c->rank == root, both = side[0].used && side[1].used, j;
	const struct sides *many = &side[gathers], *one = &side[!gathers];
	struct vt_mc_signature s;

	for (j = 0; at_root && j < c->size && !fit->unknown; j++) {
		if (j == root && !both) {
			continue;
		}
		fit->unknown |= !signature_for(k, many->count, many->type, j, &s);
		add_pair(fit, gathers ? j : root, gathers ? root : j, gathers ? -1 : 1, &s);
	}
	if (!at_root || both) {
		add_side(fit, k, c, one, gathers ? 1 : -1, root);
	}
}

/* MPI_Reduce_scatter has one array, which must be the same at all: what each other has for this member, this one has, too. */
static void fill_reduce_scatter(struct vt_mc_fit *fit, const struct vt_mc_call *k, const struct vt_mc_object *c)
{
	const struct sides side = { VT_MC_RCOUNT, VT_MC_DATATYPE, 1 };
	struct vt_mc_signature s;
	int j;

	add_side(fit, k, c, &side, 1, -1);
	fit->unknown |= !signature_for(k, VT_MC_RCOUNT, VT_MC_DATATYPE, c->rank, &s);
	for (j = 0; j < c->size && !fit->unknown; j++) {
		add_pair(fit, j, c->rank, -1, &s);
	}
}

static void fill_all(
	struct vt_mc_fit *fit, const struct vt_mc_call *k, const struct vt_mc_object *c, const struct sides *side)
{
	int to_all = !k->f->pointer[k->f->at[VT_MC_COUNT]];
	struct vt_mc_signature s;
	int j;

	if (side[0].used) {
		add_side(fit, k, c, &side[0], 1, -1);
	} else if (to_all) {
		/* MPI_Allgatherv in place: it sends what it has in its own part */
		fit->unknown |= !signature_for(k, side[1].count, side[1].type, c->rank, &s);
		for (j = 0; j < c->size && !fit->unknown; j++) {
			add_pair(fit, c->rank, j, 1, &s);
		}
	} else {
		add_side(fit, k, c, &side[1], 1, -1);
	}
	add_side(fit, k, c, &side[1], -1, -1);
}

/* ---- neighbours ---- */

struct neighbours {
	int n_in, n_out, *in, *out;
};

static int make_room(struct neighbours *b, int n_in, int n_out)
{
	b->n_in = n_in;
	b->n_out = n_out;
	b->in = calloc((size_t)n_in + 1, sizeof(int));
	b->out = calloc((size_t)n_out + 1, sizeof(int));
	return b->in && b->out;
}

/* In the order of the standard, section 7.6 of MPI 3.1. Returns 0 if they are not known. */
static int list_neighbours(const struct vt_mc_object *c, struct neighbours *b)
{
	MPI_Comm comm = (MPI_Comm)c->handle;
	int topology = MPI_UNDEFINED, n = 0, out = 0, weighted, i, *weights;

	PMPI_Topo_test(comm, &topology);
	if (topology == MPI_CART && PMPI_Cartdim_get(comm, &n) == MPI_SUCCESS && make_room(b, 2 * n, 2 * n)) {
		for (i = 0; i < n; i++) {
			PMPI_Cart_shift(comm, i, 1, &b->in[2 * i], &b->in[2 * i + 1]);
			memcpy(b->out + 2 * i, b->in + 2 * i, 2 * sizeof(int));
		}
		return 1;
	}
	if (topology == MPI_GRAPH && PMPI_Graph_neighbors_count(comm, c->rank, &n) == MPI_SUCCESS &&
		make_room(b, n, n)) {
		PMPI_Graph_neighbors(comm, c->rank, n, b->in);
		return PMPI_Graph_neighbors(comm, c->rank, n, b->out) == MPI_SUCCESS;
	}
	if (topology == MPI_DIST_GRAPH && PMPI_Dist_graph_neighbors_count(comm, &n, &out, &weighted) == MPI_SUCCESS &&
		make_room(b, n, out)) {
		weights = calloc((size_t)n + (size_t)out + 2, sizeof(*weights));
		i = weights ? PMPI_Dist_graph_neighbors(comm, n, b->in, weights, out, b->out, weights + n + 1)
			    : MPI_ERR_OTHER;
		free(weights);
		return i == MPI_SUCCESS;
	}
	return 0;
}

static void fill_neighbours(struct vt_mc_fit *fit, const struct vt_mc_call *k, const struct vt_mc_object *c)
{
	struct neighbours b = { 0, 0, NULL, NULL };
	struct vt_mc_signature s;
	int i;

	fit->used = 1;
	fit->unknown = !list_neighbours(c, &b);
	for (i = 0; i < b.n_out && !fit->unknown; i++) {
		fit->unknown |= !signature_for(k, VT_MC_COUNT, VT_MC_DATATYPE, i, &s);
		if (!fit->unknown && b.out[i] >= 0) {
			add_pair(fit, c->rank, b.out[i], 1, &s);
		}
	}
	for (i = 0; i < b.n_in && !fit->unknown; i++) {
		fit->unknown |= !signature_for(k, VT_MC_RCOUNT, VT_MC_RTYPE, i, &s);
		if (!fit->unknown && b.in[i] >= 0) {
			add_pair(fit, b.in[i], c->rank, -1, &s);
		}
	}
	free(b.in);
	free(b.out);
}

/* MPI_Comm_create: all members of a group must give it. Each tells each of them which one it has, and expects the same. */
static void fill_group(struct vt_mc_fit *fit, const struct vt_mc_call *k, const struct vt_mc_object *c)
{
	MPI_Group group = (MPI_Group)VT_MC_WORD(k, VT_MC_OF_GROUP), all;
	struct vt_mc_signature s = { 1, 1, 1 };
	int n = 0, i, is_in = 0, *there = NULL;

	fit->used = 1;
	if (PMPI_Comm_group((MPI_Comm)c->handle, &all) == MPI_SUCCESS) {
		there = vt_mc_group_ranks(group, all, &n);
		PMPI_Group_free(&all);
	}
	fit->unknown = there == NULL;
	for (i = 0; i < n; i++) {
		s.hash = mix(s.hash ^ (uint64_t)(unsigned)there[i]);
		is_in |= there[i] == c->rank;
		fit->unknown |= there[i] < 0;
	}
	for (i = 0; i < n && is_in && !fit->unknown; i++) {
		add_pair(fit, c->rank, there[i], 1, &s);
		add_pair(fit, there[i], c->rank, -1, &s);
	}
	free(there);
}

void vt_mc_fit_fill(struct vt_mc_fit *fit, const struct vt_mc_call *k, const struct vt_mc_object *c)
{
	struct sides side[2] = { { VT_MC_COUNT, VT_MC_DATATYPE, 1 }, { VT_MC_RCOUNT, VT_MC_RTYPE, 1 } };
	const char *name = k->f->text;
	int reduces = strstr(name, "educe_scatter") && !strstr(name, "_block");

	memset(fit, 0, sizeof(*fit));
	if (!c->inter && strstr(name, "eighbor")) {
		fill_neighbours(fit, k, c);
		return;
	}
	if (!c->inter && vt_mc_is(k, "Comm_create")) {
		fill_group(fit, k, c);
		return;
	}
	if (c->inter ||
		!(reduces || strstr(name, "atherv") || strstr(name, "catterv") || strstr(name, "lltoallv") ||
			strstr(name, "lltoallw"))) {
		return;
	}
	fit->used = 1;
	if (reduces) {
		fill_reduce_scatter(fit, k, c);
		return;
	}
	side[0].used = (void *)VT_MC_WORD(k, VT_MC_BUF) != MPI_IN_PLACE;
	side[1].used = (void *)VT_MC_WORD(k, VT_MC_RBUF) != MPI_IN_PLACE;
	if (VT_MC_HAS(k, VT_MC_ROOT_RANK)) {
		fill_rooted(fit, k, c, strstr(name, "atherv") != NULL, side);
	} else {
		fill_all(fit, k, c, side);
	}
}

void vt_mc_fit_add(struct vt_mc_fit *all, const struct vt_mc_fit *one)
{
	int i;

	for (i = 0; i < VT_MC_FITS; i++) {
		all->sender[i] += one->sender[i];
		all->receiver[i] += one->receiver[i];
	}
	all->elements += one->elements;
	all->used |= one->used;
	all->unknown |= one->unknown;
}

/* The only one that is not 0. */
static int find_left(const uint64_t *sums)
{
	int i, at = NOBODY;

	for (i = 0; i < VT_MC_FITS; i++) {
		at = !sums[i] ? at : at == NOBODY ? i : SEVERAL;
	}
	return at;
}

int vt_mc_fit_judge(const struct vt_mc_fit *all)
{
	if (!all->used || all->unknown || find_left(all->sender) == NOBODY) {
		return -1;
	}
	return all->elements ? VT_MC_SIZE : VT_MC_COLL_TYPE;
}

void vt_mc_fit_describe(const struct vt_mc_fit *all, const struct vt_mc_object *c, char *text, size_t room)
{
	int from = find_left(all->sender), to = find_left(all->receiver);

	/* the ranks of the job, as in the rest of the report */
	from = from >= 0 && from < c->remote ? c->world[from] : from;
	to = to >= 0 && to < c->remote ? c->world[to] : to;
	if (c->size > VT_MC_FITS || (from < 0 && to < 0)) {
		snprintf(text, room, "some ranks send others");
	} else if (from < 0) {
		snprintf(text, room, "several ranks send rank %d", to);
	} else if (to < 0) {
		snprintf(text, room, "rank %d sends several ranks", from);
	} else {
		snprintf(text, room, "rank %d sends rank %d", from, to);
	}
}

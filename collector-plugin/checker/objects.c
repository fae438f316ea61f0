/* SPDX-License-Identifier: BSD-3-Clause */
/* The handles of MPI that the program has: what they stand for, where they were made, and whether they were freed. Any call
 * whose arguments point to a handle makes, changes or frees one. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

static struct tkm_table tables[VT_MC_KINDS], alike;

static const struct {
	const char *name;
	size_t size;
} kinds[VT_MC_KINDS] = { [VT_MC_COMM] = { "communicator", sizeof(MPI_Comm) },
	[VT_MC_TYPE] = { "datatype", sizeof(MPI_Datatype) },
	[VT_MC_OP] = { "operator", sizeof(MPI_Op) },
	[VT_MC_REQUEST] = { "request", sizeof(MPI_Request) },
	[VT_MC_WIN] = { "window", sizeof(MPI_Win) },
	[VT_MC_GROUP] = { "group", sizeof(MPI_Group) },
	[VT_MC_FILE] = { "file", sizeof(MPI_File) },
	[VT_MC_INFO] = { "info object", sizeof(MPI_Info) },
	[VT_MC_ERRHANDLER] = { "error handler", sizeof(MPI_Errhandler) },
	[VT_MC_MESSAGE] = { "message of a matched probe", sizeof(MPI_Message) } };

static uintptr_t null_of(enum vt_mc_kind kind)
{
	switch (kind) {
	case VT_MC_COMM:
		return (uintptr_t)MPI_COMM_NULL;
	case VT_MC_TYPE:
		return (uintptr_t)MPI_DATATYPE_NULL;
	case VT_MC_OP:
		return (uintptr_t)MPI_OP_NULL;
	case VT_MC_REQUEST:
		return (uintptr_t)MPI_REQUEST_NULL;
	case VT_MC_WIN:
		return (uintptr_t)MPI_WIN_NULL;
	case VT_MC_GROUP:
		return (uintptr_t)MPI_GROUP_NULL;
	case VT_MC_FILE:
		return (uintptr_t)MPI_FILE_NULL;
	case VT_MC_INFO:
		return (uintptr_t)MPI_INFO_NULL;
	case VT_MC_ERRHANDLER:
		return (uintptr_t)MPI_ERRHANDLER_NULL;
	default:
		return (uintptr_t)MPI_MESSAGE_NULL;
	}
}

int vt_mc_is_null(enum vt_mc_kind kind, uintptr_t handle)
{
	return kinds[kind].size && (handle == null_of(kind) || handle == 0);
}

uintptr_t vt_mc_handle_at(enum vt_mc_kind kind, const void *at)
{
	int32_t small;
	uintptr_t handle;

	if (!at || !kinds[kind].size) {
		return 0;
	}
	if (kinds[kind].size == sizeof(small)) {
		memcpy(&small, at, sizeof(small));
		return (uintptr_t)small;
	}
	memcpy(&handle, at, sizeof(handle));
	return handle;
}

static struct vt_mc_object *find_object(enum vt_mc_kind kind, uintptr_t handle)
{
	static struct vt_mc_object *last[VT_MC_KINDS]; /* a value stays where it is */
	struct vt_mc_object *o = __atomic_load_n(&last[kind], __ATOMIC_RELAXED);

	if (o && o->handle == handle) {
		return o;
	}
	o = tkm_table_find(&tables[kind], &handle, sizeof(handle));
	if (o) {
		__atomic_store_n(&last[kind], o, __ATOMIC_RELAXED);
	}
	return o;
}

static void drop_epoch(struct vt_mc_epoch *e)
{
	if (e) {
		free(e->locked);
		free(e->targets);
		free(e->origins);
		free(e->units);
		free(e);
	}
}

static struct vt_mc_object *add_object(enum vt_mc_kind kind, uintptr_t handle)
{
	struct vt_mc_object *o = find_object(kind, handle);

	if (o && kind == VT_MC_GROUP && !o->freed) {
		/* communicators with the same members may have one group, which is freed as often as MPI gave it */
		o->again++;
		return o;
	}
	if (o) {
		/* MPI has given the handle of one that was freed to another */
		if (kind == VT_MC_TYPE && vt_mc_type_again) {
			vt_mc_type_again(o);
		}
		free(o->block);
		free(o->world);
		free(o->members);
		drop_epoch(o->epoch);
		memset(o, 0, sizeof(*o));
	} else {
		o = tkm_table_put(&tables[kind], &handle, sizeof(handle), sizeof(*o));
	}
	if (o) {
		o->kind = kind;
		o->handle = handle;
	}
	return o;
}

/* ---- communicators ---- */

int *vt_mc_group_ranks(MPI_Group group, MPI_Group of, int *n)
{
	int i, *own, *there;

	if (PMPI_Group_size(group, n) != MPI_SUCCESS) {
		*n = 0;
		return NULL;
	}
	own = calloc((size_t)*n + 1, sizeof(*own));
	there = calloc((size_t)*n + 1, sizeof(*there));
	for (i = 0; own && i < *n; i++) {
		own[i] = i;
	}
	if (!own || !there || PMPI_Group_translate_ranks(group, *n, own, of, there) != MPI_SUCCESS) {
		free(there);
		there = NULL;
		*n = 0;
	}
	free(own);
	return there;
}

static void set_members(struct vt_mc_object *o, MPI_Group group, MPI_Group world)
{
	int n, i, *to = vt_mc_group_ranks(group, world, &n);

	free(o->world);
	o->world = to;
	o->whole &= to != NULL;
	for (i = 0; i < n; i++) {
		if (to[i] == MPI_UNDEFINED || to[i] < 0 || to[i] >= VT_MC_RANKS || !vt_mc_shared ||
			vt_mc_shared->rank[to[i]].state == VT_MC_ABSENT) {
			o->whole = 0;
		} else {
			vt_mc_set_bit(o->members, to[i]);
		}
	}
}

/* All members find the same number, without a message: from the parent's, how many were made of it, and who is in it. */
static void identify_comm(struct vt_mc_object *o, uint64_t parent, uint32_t number)
{
	uint64_t h = (parent ^ number * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
	int i;

	/* neighbours in number and members, like the rows and columns of a grid, must not meet */
	h ^= h >> 29;
	for (i = 0; i < VT_MC_BITS; i++) {
		h = (h ^ o->members[i]) * UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 29;
	}
	o->id = h ? h : 1;
}

static void learn_comm(struct vt_mc_object *o, MPI_Comm comm, uint64_t parent, uint32_t number)
{
	MPI_Group group, remote, world;

	PMPI_Comm_test_inter(comm, &o->inter);
	PMPI_Comm_rank(comm, &o->rank);
	PMPI_Comm_size(comm, &o->size);
	o->remote = o->size;
	if (o->inter) {
		PMPI_Comm_remote_size(comm, &o->remote);
	}
	o->whole = vt_mc_shared != NULL;
	o->members = calloc(VT_MC_BITS, sizeof(uint64_t));
	if (!o->members) {
		o->whole = 0;
		return;
	}
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Comm_group(comm, &group);
	set_members(o, group, world);
	PMPI_Group_free(&group);
	if (o->inter) {
		PMPI_Comm_remote_group(comm, &remote);
		set_members(o, remote, world);
		PMPI_Group_free(&remote);
	}
	PMPI_Group_free(&world);
	identify_comm(o, parent, number);
}

struct vt_mc_object *vt_mc_object(enum vt_mc_kind kind, uintptr_t handle)
{
	return find_object(kind, handle);
}

struct vt_mc_object *vt_mc_comm(MPI_Comm comm)
{
	struct vt_mc_object *o = find_object(VT_MC_COMM, (uintptr_t)comm);

	if (!o && !vt_mc_is_null(VT_MC_COMM, (uintptr_t)comm)) {
		/* one that a library made by calls that do not come here */
		o = add_object(VT_MC_COMM, (uintptr_t)comm);
		if (o) {
			o->predefined = 1;
			learn_comm(o, comm, 0, 0);
			o->whole = 0;
		}
	}
	return o;
}

struct vt_mc_object *vt_mc_window(const struct vt_mc_call *k)
{
	struct vt_mc_object *o = NULL;

	if (k->f->sort == VT_MC_WIN_FREE) {
		o = vt_mc_object(VT_MC_WIN, vt_mc_handle_at(VT_MC_WIN, (void *)k->w[0]));
	} else if (VT_MC_HAS(k, VT_MC_OF_WIN) && !k->f->pointer[k->f->at[VT_MC_OF_WIN]]) {
		o = vt_mc_object(VT_MC_WIN, VT_MC_WORD(k, VT_MC_OF_WIN));
	}
	return o && o->epoch ? o : NULL;
}

struct vt_mc_object *vt_mc_type(MPI_Datatype type)
{
	struct vt_mc_object *o = find_object(VT_MC_TYPE, (uintptr_t)type);

	if (vt_mc_is_null(VT_MC_TYPE, (uintptr_t)type) || (o && o->freed)) {
		return o;
	}
	if (!o) {
		o = add_object(VT_MC_TYPE, (uintptr_t)type);
		if (o) {
			o->predefined = o->committed = 1;
		}
	}
	if (o && !o->known) {
		vt_mc_type_learn(o);
	}
	return o;
}

void vt_mc_objects_begin(void)
{
	struct vt_mc_object *o = add_object(VT_MC_COMM, (uintptr_t)MPI_COMM_WORLD);

	if (o) {
		learn_comm(o, MPI_COMM_WORLD, 1, 0);
		o->predefined = 1;
	}
	o = add_object(VT_MC_COMM, (uintptr_t)MPI_COMM_SELF);
	if (o) {
		learn_comm(o, MPI_COMM_SELF, 2, 0);
		o->predefined = 1;
	}
}

/* ---- calls that make and free ---- */

static int is_named(const struct vt_mc_function *f, const char *const *names)
{
	while (*names && strcmp(f->text + 4, *names)) {
		names++;
	}
	return *names != NULL;
}

/* Calls that point to a handle and neither make nor free it, or whose result need not be freed. */
static int only_reads(const struct vt_mc_function *f)
{
	static const char *const names[] = { "Comm_get_parent", "Type_match_size", "Type_create_f90_complex",
		"Type_create_f90_integer", "Type_create_f90_real", NULL };

	return is_named(f, names);
}

/* Calls that give handles of what was made before. The program frees each once more. */
static int gives_again(const struct vt_mc_function *f)
{
	static const char *const names[] = { "Comm_get_errhandler", "Win_get_errhandler", "File_get_errhandler",
		"File_get_view", "Type_get_contents", NULL };

	return is_named(f, names);
}

static int frees(const struct vt_mc_function *f)
{
	const char *end = f->text + strlen(f->text) - 5;

	return (end > f->text && !strcmp(end, "_free")) || f->sort == VT_MC_COMM_FREE || f->sort == VT_MC_WIN_FREE ||
		f->sort == VT_MC_FILE_CLOSE;
}

static int is_handle_at(const struct vt_mc_function *f, int i)
{
	return f->pointer[i] && !f->constant[i] && kinds[f->kind[i]].size && f->kind[i] != VT_MC_REQUEST &&
		f->kind[i] != VT_MC_MESSAGE;
}

void vt_mc_objects_learn(struct vt_mc_function *f)
{
	int i;

	for (i = 0; i < f->n && !is_handle_at(f, i); i++) {
	}
	f->frees = i < f->n && frees(f);
	f->gives_again = i < f->n && gives_again(f);
	f->makes = i < f->n && !f->frees && !f->gives_again && !only_reads(f);
}

/* A matched probe has given a message, which only its receive takes. */
void vt_mc_message_matched(struct vt_mc_call *k)
{
	uintptr_t handle = vt_mc_handle_at(VT_MC_MESSAGE, (const void *)VT_MC_WORD(k, VT_MC_OF_MESSAGE));
	struct vt_mc_object *o = vt_mc_is_null(VT_MC_MESSAGE, handle) || handle == (uintptr_t)MPI_MESSAGE_NO_PROC
		? NULL
		: add_object(VT_MC_MESSAGE, handle);

	if (o) {
		vt_mc_here(&o->made, k);
	}
}

void vt_mc_objects_before(struct vt_mc_call *k)
{
	struct vt_mc_object *o;
	int i;

	if (k->f->sort == VT_MC_MRECV || k->f->sort == VT_MC_IMRECV) {
		o = find_object(
			VT_MC_MESSAGE, vt_mc_handle_at(VT_MC_MESSAGE, (const void *)VT_MC_WORD(k, VT_MC_OF_MESSAGE)));
		if (o) {
			o->freed = 1;
		}
	}

	for (i = 0; k->f->frees && i < k->f->n; i++) {
		if (is_handle_at(k->f, i)) {
			o = find_object((enum vt_mc_kind)k->f->kind[i],
				vt_mc_handle_at((enum vt_mc_kind)k->f->kind[i], (void *)k->w[i]));
			if (o && o->again) {
				o->again--;
			} else if (o) {
				/* by name, because another thread may get the handle before we come back */
				o->freed = !o->predefined;
			}
		}
	}
	if (k->f->sort == VT_MC_SET_ERRHANDLER && vt_mc_is(k, "Comm_set_errhandler") && vt_mc_on(VT_MC_CALL_FAILED)) {
		/* errors are to come back to us: the guide, section 3.3.2 */
		k->done = 1;
		k->rc = MPI_SUCCESS;
	}
}

/* MPI is to return its errors to us. */
void vt_mc_handler(MPI_Comm comm)
{
	if (vt_mc_on(VT_MC_CALL_FAILED)) {
		PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	}
}

static void comm_made(struct vt_mc_call *k, struct vt_mc_object *o, MPI_Comm comm)
{
	struct vt_mc_object *parent =
		VT_MC_HAS(k, VT_MC_OF_COMM) ? vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM)) : NULL;
	int all = k->f->sort == VT_MC_NEWCOMM;

	/* the two sides of an intercommunicator have different parents */
	learn_comm(o, comm, parent && !o->inter && !vt_mc_is(k, "Intercomm_create") ? parent->id : 0,
		parent && all ? ++parent->creations : 0);
	if (k->f->sort == VT_MC_JOINED || (parent && !parent->whole)) {
		o->whole = 0;
	}
	if (k->f->sort == VT_MC_GROUPCOMM && VT_MC_HAS(k, VT_MC_TAG)) {
		/* made of some members only: the tag tells apart those that are made at a time */
		o->id += (uint64_t)(unsigned)VT_MC_NUMBER(k, VT_MC_TAG) * 0x10001u;
	}
	if (k->f->sort == VT_MC_GROUPCOMM) {
		uint32_t *times = tkm_table_put(&alike, &o->id, sizeof(o->id), sizeof(*times));

		/* the same members may make several, in the same order */
		o->id += times ? (uint64_t)(*times)++ * UINT64_C(0x9e3779b97f4a7c15) : 0;
	}
	vt_mc_handler(comm);
}

/* MPI_Comm_idup has begun. Most MPIs have put the handle there, and where a wrapper of Fortran lets them put it is not there any more
 * when the request is complete. */
void vt_mc_comm_begins(struct vt_mc_pending *p, uintptr_t at)
{
	uintptr_t handle = (uintptr_t) * (const MPI_Comm *)at;

	p->makes = vt_mc_is_null(VT_MC_COMM, handle) ? -1 : 1;
	p->buffer = p->makes > 0 ? handle : at;
}

/* MPI_Comm_idup is complete. */
void vt_mc_comm_arrived(const struct vt_mc_pending *p)
{
	MPI_Comm comm = p->makes > 0 ? (MPI_Comm)p->buffer : *(const MPI_Comm *)p->buffer;
	struct vt_mc_object *o;

	if (vt_mc_is_null(VT_MC_COMM, (uintptr_t)comm)) {
		return;
	}
	o = add_object(VT_MC_COMM, (uintptr_t)comm);
	if (o) {
		o->made = p->started;
		learn_comm(o, comm, p->comm ? p->comm->id : 0, (uint32_t)p->number);
		o->whole &= p->comm && p->comm->whole;
		vt_mc_handler(comm);
	}
}

/* Members that a split leaves out count the creation, too. */
static void count_creation(struct vt_mc_call *k)
{
	struct vt_mc_object *parent = vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM));

	if (parent) {
		parent->creations++;
	}
}

void vt_mc_members_copy(struct vt_mc_object *o, const struct vt_mc_object *c)
{
	o->rank = c->rank;
	o->size = c->size;
	o->remote = c->remote;
	o->members = calloc(VT_MC_BITS, sizeof(*o->members));
	o->world = calloc((size_t)c->remote + 1, sizeof(*o->world));
	o->whole = c->whole && c->members && c->world && o->members && o->world;
	if (o->whole) {
		memcpy(o->members, c->members, VT_MC_BITS * sizeof(*o->members));
		memcpy(o->world, c->world, (size_t)c->remote * sizeof(*o->world));
	}
}

/* A file has the members of its communicator. */
static void file_made(struct vt_mc_call *k, struct vt_mc_object *o)
{
	const struct vt_mc_object *c = vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM));

	if (c && c->whole) {
		vt_mc_members_copy(o, c);
		/* the members have made as many collective calls before */
		o->id = (c->id ^ c->meetings * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xc4ceb9fe1a85ec53) | 1;
	}
}

/* A copy of a type that is committed is committed, too. */
static int is_committed(const struct vt_mc_call *k)
{
	const struct vt_mc_object *from = vt_mc_is(k, "Type_dup") ? vt_mc_type((MPI_Datatype)k->w[0]) : NULL;

	return from && from->committed;
}

/* May the program not free it? */
static int is_predefined(enum vt_mc_kind kind, uintptr_t handle)
{
	int integers, addresses, types, combiner;

	if (kind != VT_MC_TYPE) {
		return !find_object(kind, handle);
	}
	PMPI_Type_get_envelope((MPI_Datatype)handle, &integers, &addresses, &types, &combiner);
	return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_INTEGER ||
		combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX;
}

/* MPI may give the handle that the program has, one that it has freed while MPI still needed it, or a new one. */
static void handle_given(const struct vt_mc_call *k, enum vt_mc_kind kind, uintptr_t handle)
{
	struct vt_mc_object *o = vt_mc_is_null(kind, handle) ? NULL : find_object(kind, handle);

	if (vt_mc_is_null(kind, handle) || is_predefined(kind, handle)) {
		return;
	}
	if (o && !o->freed) {
		o->again++;
		return;
	}
	o = add_object(kind, handle);
	if (o) {
		vt_mc_here(&o->made, k);
		o->committed = 1; /* the standard leaves that open */
	}
}

static void handles_given(const struct vt_mc_call *k)
{
	int i, j, integers, addresses, combiner, n;

	for (i = 0; i < k->f->n; i++) {
		if (!is_handle_at(k->f, i)) {
			continue;
		}
		n = 1;
		if (vt_mc_is(k, "Type_get_contents")) {
			PMPI_Type_get_envelope((MPI_Datatype)k->w[0], &integers, &addresses, &n, &combiner);
		}
		for (j = 0; j < n; j++) {
			handle_given(k, (enum vt_mc_kind)k->f->kind[i],
				vt_mc_handle_at((enum vt_mc_kind)k->f->kind[i],
					(const char *)k->w[i] + (size_t)j * kinds[k->f->kind[i]].size));
		}
	}
}

void vt_mc_objects_after(struct vt_mc_call *k)
{
	const struct vt_mc_function *f = k->f;
	struct vt_mc_object *o;
	uintptr_t handle;
	int i;

	if (f->gives_again) {
		handles_given(k);
	}
	if (!f->makes) {
		return;
	}
	for (i = 0; i < f->n; i++) {
		if (!is_handle_at(f, i)) {
			continue;
		}
		handle = vt_mc_handle_at((enum vt_mc_kind)f->kind[i], (void *)k->w[i]);
		if (vt_mc_is(k, "Type_commit")) {
			o = find_object(VT_MC_TYPE, handle);
			if (o) {
				o->committed = 1;
			}
			continue;
		}
		if (vt_mc_is_null((enum vt_mc_kind)f->kind[i], handle) || k->f->sort == VT_MC_IDUP) {
			if (f->kind[i] == VT_MC_COMM && f->sort == VT_MC_NEWCOMM) {
				count_creation(k);
			}
			continue;
		}
		o = add_object((enum vt_mc_kind)f->kind[i], handle);
		if (o) {
			vt_mc_here(&o->made, k);
			o->predefined = f->kind[i] == VT_MC_GROUP && handle == (uintptr_t)MPI_GROUP_EMPTY;
			o->committed = is_committed(k);
			if (f->sort == VT_MC_FILE_OPEN) {
				file_made(k, o);
			}
			if (f->kind[i] == VT_MC_COMM) {
				comm_made(k, o, (MPI_Comm)handle);
			}
		}
	}
}

const struct vt_mc_object *vt_mc_object_next(enum vt_mc_kind kind, const struct vt_mc_object *o)
{
	return tkm_table_next(&tables[kind], o);
}

const char *vt_mc_kind_name(enum vt_mc_kind kind)
{
	return kinds[kind].name;
}

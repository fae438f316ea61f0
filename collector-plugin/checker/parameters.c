/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that no call may have. MPI finds many of these itself, but not all, not at all ranks of a collective operation, and
 * sometimes by a crash. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct wrong {
	char *why;
	size_t size;
	int found;
};

__attribute__((format(printf, 2, 3))) static int complain(struct wrong *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->why, w->size, fmt, ap);
	va_end(ap);
	w->found = 1;
	return 1;
}

static int communicates(const struct vt_mc_function *f)
{
	enum vt_mc_sort s = f->sort;

	return (s >= VT_MC_SEND && s <= VT_MC_PARTITIONED) || (s >= VT_MC_COLL && s <= VT_MC_COLL_INIT) ||
		s == VT_MC_RMA;
}

/* A rooted operation uses some arguments at the root only. Is this argument not used here? */
int vt_mc_is_unused(const struct vt_mc_call *k, int i)
{
	const struct vt_mc_function *f = k->f;
	struct vt_mc_object *c =
		VT_MC_HAS(k, VT_MC_OF_COMM) ? vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM)) : NULL;
	int root = VT_MC_HAS(k, VT_MC_ROOT_RANK) ? VT_MC_NUMBER(k, VT_MC_ROOT_RANK) : -1;
	int first = i == f->at[VT_MC_BUF] || i == f->at[VT_MC_COUNT] || i == f->at[VT_MC_DATATYPE];
	int second = i == f->at[VT_MC_RBUF] || i == f->at[VT_MC_RCOUNT] || i == f->at[VT_MC_RTYPE];
	int at_root;

	if ((first && VT_MC_HAS(k, VT_MC_BUF) && (void *)VT_MC_WORD(k, VT_MC_BUF) == MPI_IN_PLACE &&
		    !VT_MC_HAS(k, VT_MC_OPERATOR)) ||
		(second && VT_MC_HAS(k, VT_MC_RBUF) && (void *)VT_MC_WORD(k, VT_MC_RBUF) == MPI_IN_PLACE)) {
		return 1;
	}
	if (first && f->sort == VT_MC_RMA && VT_MC_HAS(k, VT_MC_OPERATOR) &&
		(MPI_Op)VT_MC_WORD(k, VT_MC_OPERATOR) == MPI_NO_OP) {
		return 1;
	}
	if (!c || f->sort < VT_MC_COLL || f->sort > VT_MC_COLL_INIT) {
		return 0;
	}
	if (c->inter) {
		return 1;
	}
	at_root = root == c->rank;
	if (root < 0) {
		/* nothing comes before the first rank */
		return second && c->rank == 0 && strstr(f->text, "xscan");
	}
	if (strstr(f->text, "atter")) {
		return first && !at_root;
	}
	if (strstr(f->text, "ather") || strstr(f->text, "educe")) {
		return second && !at_root;
	}
	return 0;
}

static int wrong_counts(struct vt_mc_call *k, int i, struct wrong *w)
{
	struct vt_mc_object *c = vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM));
	const int *counts = (const int *)k->w[i];
	int n;

	/* those of neighbourhoods have another length */
	if (!c || strstr(k->f->text, "eighbor") || k->f->kind[i] != VT_MC_INT || vt_mc_is_unused(k, i)) {
		return 0;
	}
	if (!counts) {
		return complain(w, "%.*s is NULL", k->f->name[i].length, k->f->name[i].at);
	}
	for (n = 0; n < c->remote; n++) {
		if (counts[n] < 0) {
			return complain(w, "%.*s[%d] is %d", k->f->name[i].length, k->f->name[i].at, n, counts[n]);
		}
	}
	return 0;
}

static int wrong_type(struct vt_mc_call *k, int i, struct wrong *w)
{
	const struct vt_mc_object *o;

	if (vt_mc_is_unused(k, i)) {
		return 0;
	}
	if (vt_mc_is_null(VT_MC_TYPE, k->w[i])) {
		k->rc = MPI_ERR_TYPE;
		return complain(w, "%.*s is MPI_DATATYPE_NULL", k->f->name[i].length, k->f->name[i].at);
	}
	o = vt_mc_object(VT_MC_TYPE, k->w[i]);
	if (o && o->freed) {
		k->rc = MPI_ERR_TYPE;
		return complain(w, "%.*s was freed before", k->f->name[i].length, k->f->name[i].at);
	}
	o = vt_mc_type((MPI_Datatype)k->w[i]);
	if (o && !o->committed && communicates(k->f)) {
		k->rc = MPI_ERR_TYPE;
		return complain(w, "%.*s was not committed (MPI_Type_commit)", k->f->name[i].length, k->f->name[i].at);
	}
	return 0;
}

static int wrong_handle(struct vt_mc_call *k, int i, struct wrong *w)
{
	enum vt_mc_kind kind = (enum vt_mc_kind)k->f->kind[i];
	const struct vt_mc_object *o = vt_mc_object(kind, k->w[i]);
	static const char *const null[VT_MC_KINDS] = { [VT_MC_COMM] = "MPI_COMM_NULL",
		[VT_MC_OP] = "MPI_OP_NULL",
		[VT_MC_WIN] = "MPI_WIN_NULL",
		[VT_MC_GROUP] = "MPI_GROUP_NULL",
		[VT_MC_FILE] = "MPI_FILE_NULL" };

	if (kind == VT_MC_INFO && o && o->freed) {
		k->rc = MPI_ERR_INFO;
		return complain(w, "%.*s was freed before", k->f->name[i].length, k->f->name[i].at);
	}
	/* error handlers of files are set for MPI_FILE_NULL */
	if (!null[kind] || (kind == VT_MC_FILE && strstr(k->f->text, "errhandler"))) {
		return 0;
	}
	if (kind == VT_MC_OP && (vt_mc_is(k, "Reduce") || vt_mc_is(k, "Ireduce")) &&
		vt_mc_is_unused(k, k->f->at[VT_MC_RBUF]) && vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM)) &&
		vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM))->inter) {
		return 0;
	}
	if (vt_mc_is_null(kind, k->w[i])) {
		k->rc = kind == VT_MC_COMM ? MPI_ERR_COMM : MPI_ERR_ARG;
		return complain(w, "%.*s is %s", k->f->name[i].length, k->f->name[i].at, null[kind]);
	}
	if (o && o->freed) {
		return complain(w, "%.*s was freed before", k->f->name[i].length, k->f->name[i].at);
	}
	return 0;
}

/* The pointed-to handle of MPI_Comm_free and its like. */
static int wrong_handle_at(struct vt_mc_call *k, int i, struct wrong *w)
{
	enum vt_mc_kind kind = (enum vt_mc_kind)k->f->kind[i];
	uintptr_t handle = vt_mc_handle_at(kind, (void *)k->w[i]);
	const struct vt_mc_object *o = vt_mc_object(kind, handle);

	if (!k->w[i]) {
		return complain(w, "%.*s is a null pointer", k->f->name[i].length, k->f->name[i].at);
	}
	if (vt_mc_is_null(kind, handle)) {
		return complain(w, "the handle is null: it was never made, or was freed before");
	}
	if (!o && !vt_mc_may_be(kind, handle)) {
		return complain(w, "the handle is none: the variable was never set");
	}
	return o && o->freed ? complain(w, "the handle was freed before") : 0;
}

static int wrong_rank(struct vt_mc_call *k, int rank, int any, const char *name, struct wrong *w)
{
	struct vt_mc_object *o = VT_MC_HAS(k, VT_MC_OF_COMM) ? vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM))
		: VT_MC_HAS(k, VT_MC_OF_WIN)                 ? vt_mc_object(VT_MC_WIN, VT_MC_WORD(k, VT_MC_OF_WIN))
							     : NULL;

	if (!o || (rank >= 0 && rank < o->remote) || rank == MPI_PROC_NULL || (any && rank == MPI_ANY_SOURCE)) {
		return 0;
	}
	k->rc = MPI_ERR_RANK;
	return complain(w, "%s is %d, and %s has ranks 0 to %d", name, rank,
		VT_MC_HAS(k, VT_MC_OF_COMM) ? "the communicator" : "the window", o->remote - 1);
}

static int wrong_root(struct vt_mc_call *k, struct wrong *w)
{
	struct vt_mc_object *c =
		VT_MC_HAS(k, VT_MC_OF_COMM) ? vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM)) : NULL;
	int root = VT_MC_NUMBER(k, VT_MC_ROOT_RANK);

	if (!c || (root >= 0 && root < c->remote) || (c->inter && (root == MPI_ROOT || root == MPI_PROC_NULL))) {
		return 0;
	}
	k->rc = MPI_ERR_ROOT;
	return complain(w, "root is %d, and the communicator has ranks 0 to %d", root, c->remote - 1);
}

static int wrong_tag(struct vt_mc_call *k, int tag, int any, struct wrong *w)
{
	static int most;
	int *at, flag = 0;

	if (!most) {
		most = PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &at, &flag) == MPI_SUCCESS && flag ? *at : 32767;
	}
	if ((tag >= 0 && tag <= most) || (any && tag == MPI_ANY_TAG)) {
		return 0;
	}
	k->rc = MPI_ERR_TAG;
	return tag == MPI_ANY_TAG ? complain(w, "a message that is sent cannot have MPI_ANY_TAG")
				  : complain(w, "the tag is %d, and tags are 0 to %d", tag, most);
}

static int wrong_envelope(struct vt_mc_call *k, struct wrong *w)
{
	enum vt_mc_sort s = k->f->sort;
	int receives = s == VT_MC_RECV || s == VT_MC_IRECV || s == VT_MC_RECV_INIT || s == VT_MC_LOOK ||
		s == VT_MC_MPROBE || s == VT_MC_IMPROBE || vt_mc_is(k, "Probe");

	if (VT_MC_HAS(k, VT_MC_DEST) &&
		wrong_rank(k, VT_MC_NUMBER(k, VT_MC_DEST), 0, s == VT_MC_RMA ? "target_rank" : "dest", w)) {
		return 1;
	}
	if (VT_MC_HAS(k, VT_MC_SOURCE) && wrong_rank(k, VT_MC_NUMBER(k, VT_MC_SOURCE), 1, "source", w)) {
		return 1;
	}
	if (VT_MC_HAS(k, VT_MC_TAG) && (receives || (s >= VT_MC_SEND && s <= VT_MC_PARTITIONED)) &&
		!(VT_MC_HAS(k, VT_MC_DEST) && VT_MC_NUMBER(k, VT_MC_DEST) == MPI_PROC_NULL) &&
		wrong_tag(k, VT_MC_NUMBER(k, VT_MC_TAG), receives, w)) {
		return 1;
	}
	return VT_MC_HAS(k, VT_MC_RTAG) && wrong_tag(k, VT_MC_NUMBER(k, VT_MC_RTAG), 1, w);
}

/* A buffer that begins at a null address and is not addressed from MPI_BOTTOM, which is NULL, too. */
static int wrong_buffer(
	struct vt_mc_call *k, enum vt_mc_role buffer, enum vt_mc_role count, enum vt_mc_role type, struct wrong *w)
{
	int c = k->f->at[count], t = k->f->at[type];
	const struct vt_mc_object *o;
	int peer = VT_MC_HAS(k, VT_MC_DEST)  ? VT_MC_NUMBER(k, VT_MC_DEST)
		: VT_MC_HAS(k, VT_MC_SOURCE) ? VT_MC_NUMBER(k, VT_MC_SOURCE)
					     : 0;

	if (VT_MC_HAS(k, buffer) && (void *)VT_MC_WORD(k, buffer) == MPI_IN_PLACE && k->f->sort < VT_MC_COLL) {
		k->rc = MPI_ERR_BUFFER;
		return complain(w, "MPI_IN_PLACE is for collective operations only");
	}
	if (!VT_MC_HAS(k, buffer) || c < 0 || t < 0 || k->f->pointer[c] || k->f->pointer[t] || peer == MPI_PROC_NULL ||
		vt_mc_is_unused(k, k->f->at[buffer]) || VT_MC_WORD(k, buffer) != 0 || vt_mc_count(k, count) == 0) {
		return 0;
	}
	o = vt_mc_type((MPI_Datatype)k->w[t]);
	if (!o || !o->known || o->bytes == 0 || o->true_lb >= 4096 || o->true_lb < 0) {
		return 0;
	}
	k->rc = MPI_ERR_BUFFER;
	return complain(w, "%.*s is NULL, and %lld element%s to be transferred", k->f->name[k->f->at[buffer]].length,
		k->f->name[k->f->at[buffer]].at, vt_mc_count(k, count), vt_mc_count(k, count) == 1 ? " is" : "s are");
}

static int wrong_buffers(struct vt_mc_call *k, struct wrong *w)
{
	enum vt_mc_role count = VT_MC_HAS(k, VT_MC_RCOUNT) ? VT_MC_RCOUNT : VT_MC_COUNT,
			type = VT_MC_HAS(k, VT_MC_RTYPE) ? VT_MC_RTYPE : VT_MC_DATATYPE;

	return communicates(k->f) &&
		(wrong_buffer(k, VT_MC_BUF, VT_MC_HAS(k, VT_MC_COUNT) ? VT_MC_COUNT : VT_MC_RCOUNT,
			 VT_MC_HAS(k, VT_MC_DATATYPE) ? VT_MC_DATATYPE : VT_MC_RTYPE, w) ||
			(k->f->sort != VT_MC_RMA && wrong_buffer(k, VT_MC_RBUF, count, type, w)));
}

static int wrong_operator(struct vt_mc_call *k, struct wrong *w)
{
	MPI_Datatype type =
		VT_MC_HAS(k, VT_MC_DATATYPE) ? (MPI_Datatype)VT_MC_WORD(k, VT_MC_DATATYPE) : MPI_DATATYPE_NULL;
	MPI_Op op = (MPI_Op)VT_MC_WORD(k, VT_MC_OPERATOR);
	const char *name = vt_mc_op_name(op);
	const struct vt_mc_object *o = vt_mc_type(type);

	if (!name || !o || k->f->sort == VT_MC_RMA || k->f->pointer[k->f->at[VT_MC_OPERATOR]]) {
		return 0;
	}
	k->rc = MPI_ERR_OP;
	if (o->made.n) {
		return complain(w, "%s needs a predefined datatype", name);
	}
	if (!strcmp(name, "MPI_REPLACE") || !strcmp(name, "MPI_NO_OP")) {
		return complain(w, "%s is for one-sided operations only", name);
	}
	if (!vt_mc_op_fits(op, type)) {
		return complain(w, "%s is not defined for this datatype", name);
	}
	k->rc = 0;
	return 0;
}

/* What is looked at in an argument. */
enum check { NOTHING, COUNTS, HANDLE_AT, TYPE, COUNT, OFFSET, HANDLE };

static enum check check_of_pointer(const struct vt_mc_function *f, int i)
{
	const char *end = f->text + f->length - 5;
	enum vt_mc_kind kind = (enum vt_mc_kind)f->kind[i];

	if (vt_mc_name_is(f, i, "sendcounts") || vt_mc_name_is(f, i, "recvcounts")) {
		return f->at[VT_MC_OF_COMM] >= 0 ? COUNTS : NOTHING;
	}
	return !f->constant[i] && kind != VT_MC_REQUEST && kind != VT_MC_INFO && kind != VT_MC_ERRHANDLER &&
			kind != VT_MC_MESSAGE && (!strcmp(end, "_free") || !strcmp(f->text, "MPI_Type_commit"))
		? HANDLE_AT
		: NOTHING;
}

static enum check check_of(const struct vt_mc_function *f, int i)
{
	const char *name = f->name[i].at;
	int length = f->name[i].length;

	if (f->pointer[i]) {
		return check_of_pointer(f, i);
	}
	switch (f->kind[i]) {
	case VT_MC_TYPE:
		return TYPE;
	case VT_MC_INT:
	case VT_MC_LONG:
		return length >= 5 && !memcmp(name + length - 5, "count", 5)      ? COUNT
			: strstr(f->text, "_at") && vt_mc_name_is(f, i, "offset") ? OFFSET
										  : NOTHING;
	case VT_MC_COMM:
	case VT_MC_OP:
	case VT_MC_WIN:
	case VT_MC_GROUP:
	case VT_MC_FILE:
	case VT_MC_INFO:
		return HANDLE;
	default:
		return NOTHING;
	}
}

void vt_mc_parameters_learn(struct vt_mc_function *f)
{
	int i;

	f->checked = communicates(f) || f->at[VT_MC_DEST] >= 0 || f->at[VT_MC_SOURCE] >= 0 || f->at[VT_MC_RTAG] >= 0 ||
		f->at[VT_MC_OPERATOR] >= 0 || !strncmp(f->text, "MPI_Group_", 10);
	for (i = 0; i < f->n; i++) {
		f->check[i] = (uint8_t)check_of(f, i);
		f->checked |= f->check[i] != NOTHING;
	}
}

static int wrong_argument(struct vt_mc_call *k, int i, struct wrong *w)
{
	const struct vt_mc_function *f = k->f;
	long long value = f->kind[i] == VT_MC_INT ? (int)k->w[i] : (long long)(intptr_t)k->w[i];

	switch ((enum check)f->check[i]) {
	case COUNTS:
		return wrong_counts(k, i, w);
	case HANDLE_AT:
		return wrong_handle_at(k, i, w);
	case TYPE:
		return wrong_type(k, i, w);
	case HANDLE:
		return wrong_handle(k, i, w);
	case COUNT:
		if (value < 0 && !vt_mc_is_unused(k, i)) {
			k->rc = MPI_ERR_COUNT;
			return complain(w, "%.*s is %lld", f->name[i].length, f->name[i].at, value);
		}
		return 0;
	case OFFSET:
		if (value < 0) {
			k->rc = MPI_ERR_ARG;
			return complain(w, "offset is %lld", value);
		}
		return 0;
	default:
		return 0;
	}
}

/* MPI_Group_incl() and MPI_Group_excl(): a rank may be there once. Groups of thousands are left to MPI. */
static int wrong_ranks(struct vt_mc_call *k, struct wrong *w)
{
	const int *ranks = (const int *)k->w[2];
	int n = (int)k->w[1], i, j;

	for (i = 1; ranks && n <= 1024 && i < n; i++) {
		for (j = 0; j < i; j++) {
			if (ranks[i] == ranks[j]) {
				k->rc = MPI_ERR_RANK;
				return complain(w, "ranks[%d] and ranks[%d] are both %d", j, i, ranks[i]);
			}
		}
	}
	return 0;
}

/* A receive into a datatype that has some bytes twice. */
static int wrong_layout(struct vt_mc_call *k, struct wrong *w)
{
	enum vt_mc_sort s = k->f->sort;
	enum vt_mc_role role = s == VT_MC_SENDRECV ? VT_MC_RTYPE : VT_MC_DATATYPE;
	const struct vt_mc_object *o;

	if ((s != VT_MC_RECV && s != VT_MC_IRECV && s != VT_MC_RECV_INIT && s != VT_MC_SENDRECV) ||
		!VT_MC_HAS(k, role)) {
		return 0;
	}
	o = vt_mc_type((MPI_Datatype)VT_MC_WORD(k, role));
	if (!o || !o->known || !o->doubled) {
		return 0;
	}
	k->rc = MPI_ERR_TYPE;
	return complain(w, "the datatype has some bytes more than once: nothing can be received into it");
}

/* MPI_Allgather() and MPI_Alltoall(): what a rank sends to each is also what it expects of each, since it is one of them. */
static int wrong_sides(struct vt_mc_call *k, struct wrong *w)
{
	const struct vt_mc_object *c = vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM)), *sent, *taken;
	const char *more = VT_MC_HAS(k, VT_MC_RTYPE) ? strstr(k->f->more, "LL") : NULL;
	unsigned long long n[2];

	if (!more || strstr(k->f->text, "eighbor") ||
		!(!strncmp(more, "LLGATHER,", 9) || !strncmp(more, "LLTOALL,", 8)) || !c || c->inter ||
		vt_mc_is_unused(k, k->f->at[VT_MC_BUF])) {
		return 0;
	}
	sent = vt_mc_type((MPI_Datatype)VT_MC_WORD(k, VT_MC_DATATYPE));
	taken = vt_mc_type((MPI_Datatype)VT_MC_WORD(k, VT_MC_RTYPE));
	if (!sent || !taken || !sent->signature.n || !taken->signature.n) {
		return 0;
	}
	n[0] = sent->signature.n * (unsigned long long)vt_mc_count(k, VT_MC_COUNT);
	n[1] = taken->signature.n * (unsigned long long)vt_mc_count(k, VT_MC_RCOUNT);
	k->rc = n[0] == n[1] ? 0 : MPI_ERR_COUNT;
	return n[0] == n[1] ? 0
			    : complain(w, "it sends %llu elements of basic types to each rank and expects %llu of each",
				      n[0], n[1]);
}

int vt_mc_parameters_wrong(struct vt_mc_call *k, char *why, size_t size)
{
	struct wrong w = { why, size, 0 };
	enum vt_mc_sort s = k->f->sort;
	int i, collective = s >= VT_MC_COLL && s <= VT_MC_COLL_INIT;

	for (i = k->f->n - 1; i >= 0 && !w.found; i--) {
		if (k->f->check[i]) {
			wrong_argument(k, i, &w);
		}
	}
	if (!w.found && VT_MC_HAS(k, VT_MC_ROOT_RANK) && collective) {
		wrong_root(k, &w);
	}
	if (!w.found && !collective) {
		wrong_envelope(k, &w);
	}
	if (!w.found && VT_MC_HAS(k, VT_MC_OPERATOR)) {
		wrong_operator(k, &w);
	}
	if (!w.found) {
		wrong_buffers(k, &w);
	}
	if (!w.found && collective && VT_MC_HAS(k, VT_MC_OF_COMM)) {
		wrong_sides(k, &w);
	}
	if (!w.found) {
		wrong_layout(k, &w);
	}
	if (!w.found && (vt_mc_is(k, "Group_incl") || vt_mc_is(k, "Group_excl"))) {
		wrong_ranks(k, &w);
	}
	return !w.found                       ? VT_MC_CLASSES
		: collective                  ? VT_MC_PARAMETER
		: strstr(k->f->text, "_free") ? VT_MC_FREE_FAILED
					      : VT_MC_CALL_FAILED;
}

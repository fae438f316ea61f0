/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrappers of libVTmc in Fortran: a third use of the table mpi/calls.def. Each makes the arguments of C from those of Fortran,
 * calls the wrapper in C, and gives back what it returns. That is what Open MPI's own Fortran calls do. Calls with strings,
 * functions of the program or attributes are passed on unchecked, because those differ between the languages. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdlib.h>
#include <string.h>

#include "collector-plugin/mpi/abi/fortran.h"
#include "collector-plugin/mpi/abi/version.h"

enum { FEW = 16 };

/* The arguments of one call, in both languages. */
struct both {
	struct vt_mc_function *f;
	void **w;                          /* Fortran's */
	uintptr_t c[VT_MC_ARGUMENTS + 1];  /* those of C */
	uintptr_t handle[VT_MC_ARGUMENTS]; /* where one handle or pointer is enough */
	void *list[VT_MC_ARGUMENTS];       /* where several are needed; to be freed */
	MPI_Status status[FEW];
};

static int is_status(const struct vt_mc_function *f, int i)
{
	return f->kind[i] == VT_MC_POINTER &&
		(vt_mc_name_is(f, i, "status") || vt_mc_name_is(f, i, "array_of_statuses"));
}

/* Does the call have arguments that are something else in C? */
static int is_passed_on(const struct vt_mc_function *f)
{
	static const char *const names[] = { "_attr", "Get_address", "Type_get_contents_c", "alltoallw", "Comm_spawn",
		"Win_shared_query", "Status_set", "Status_get", NULL };
	int i;

	if (f->sort == VT_MC_CALLBACK || f->sort == VT_MC_GREQUEST_START) {
		return 1;
	}
	for (i = 0; i < f->n; i++) {
		if (f->kind[i] == VT_MC_TEXT) {
			return 1;
		}
	}
	for (i = 0; names[i] && !strstr(f->text, names[i]); i++) {
	}
	return names[i] != NULL;
}

/* ---- handles ---- */

/* clang-format off */
#define HANDLES(do) do(COMM, Comm) do(TYPE, Type) do(OP, Op) do(REQUEST, Request) do(WIN, Win) do(GROUP, Group) \
	do(FILE, File) do(INFO, Info) do(ERRHANDLER, Errhandler) do(MESSAGE, Message)
#define TO_C(kind, name) case VT_MC_##kind: return (uintptr_t)PMPI_##name##_f2c(handle);
#define TO_FORTRAN(kind, name) \
	case VT_MC_##kind: return PMPI_##name##_c2f((__typeof__(PMPI_##name##_f2c(0)))handle);
#define SIZE(kind, name) case VT_MC_##kind: return sizeof(PMPI_##name##_f2c(0));
/* clang-format on */

static uintptr_t handle_to_c(int kind, MPI_Fint handle)
{
	switch (kind) {
		HANDLES(TO_C)
	default:
		return 0;
	}
}

static MPI_Fint handle_to_fortran(int kind, uintptr_t handle)
{
	switch (kind) {
		HANDLES(TO_FORTRAN)
	default:
		return 0;
	}
}

/* 0: it is no handle. */
static size_t handle_size(int kind)
{
	switch (kind) {
		HANDLES(SIZE)
	default:
		return 0;
	}
}

static void put_handle(void *list, size_t i, size_t size, uintptr_t handle)
{
	int small = (int)handle;

	memcpy((char *)list + i * size, size == sizeof(small) ? (void *)&small : (void *)&handle, size);
}

static int gives_types(const struct vt_mc_function *f)
{
	return !strcmp(f->text, "MPI_Type_get_contents");
}

/* How many elements an array of requests, types or statuses has. */
static size_t array_length(const struct both *b, int i)
{
	const struct vt_mc_function *f = b->f;
	int n = 1;

	if (f->n && !strncmp(f->name[i].at, "array_of_", 9)) {
		n = *(const MPI_Fint *)b->w[gives_types(f) ? 3 : 0];
	}
	return n > 0 ? (size_t)n : 0;
}

/* How many of them MPI has set. */
static size_t array_set(const struct both *b, int i)
{
	size_t n = array_length(b, i);
	int integers, addresses, types = 0, combiner;

	if (gives_types(b->f)) {
		PMPI_Type_get_envelope((MPI_Datatype)b->c[0], &integers, &addresses, &types, &combiner);
		n = n < (size_t)types ? n : (size_t)types;
	}
	return n;
}

static int handles_to_c(struct both *b, int i)
{
	size_t size = handle_size(b->f->kind[i]), n = array_length(b, i), k;
	void *list = &b->handle[i];

	if (n > 1 || !n) {
		list = b->list[i] = calloc(n + 1, sizeof(uintptr_t));
	}
	for (k = 0; list && k < n; k++) {
		put_handle(list, k, size, handle_to_c(b->f->kind[i], ((const MPI_Fint *)b->w[i])[k]));
	}
	b->c[i] = (uintptr_t)list;
	return list != NULL;
}

static void handles_to_fortran(struct both *b, int i)
{
	size_t size = handle_size(b->f->kind[i]), n = array_set(b, i), k;

	for (k = 0; k < n && !b->f->constant[i]; k++) {
		((MPI_Fint *)b->w[i])[k] = handle_to_fortran(
			b->f->kind[i], vt_mc_handle_at((enum vt_mc_kind)b->f->kind[i], (char *)b->c[i] + k * size));
	}
}

/* ---- statuses ---- */

static int statuses_to_c(struct both *b, int i)
{
	size_t n = array_length(b, i);

	if (vt_mpi_ignored(b->w[i])) {
		b->c[i] = vt_mc_name_is(b->f, i, "status") ? (uintptr_t)MPI_STATUS_IGNORE
							   : (uintptr_t)MPI_STATUSES_IGNORE;
		return 1;
	}
	b->list[i] = n > FEW ? calloc(n, sizeof(MPI_Status)) : NULL;
	b->c[i] = b->list[i] ? (uintptr_t)b->list[i] : (uintptr_t)b->status;
	if (b->f->constant[i]) {
		PMPI_Status_f2c(b->w[i], (MPI_Status *)b->c[i]);
	}
	return n <= FEW || b->list[i];
}

static void statuses_to_fortran(struct both *b, int i, int rc)
{
	const struct vt_mc_function *f = b->f;
	size_t n = array_length(b, i), k, words = sizeof(MPI_Status) / sizeof(MPI_Fint);
	int flag = f->at[VT_MC_FLAG], out = f->at[VT_MC_OUTCOUNT];

	if (f->constant[i] || vt_mpi_ignored(b->w[i]) || (flag >= 0 && !*(const MPI_Fint *)b->c[flag]) ||
		(rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS)) {
		return;
	}
	if (out >= 0) {
		n = *(const MPI_Fint *)b->c[out] > 0 ? (size_t) * (const MPI_Fint *)b->c[out] : 0;
	}
	for (k = 0; k < n; k++) {
		PMPI_Status_c2f((const MPI_Status *)b->c[i] + k, (MPI_Fint *)b->w[i] + k * words);
	}
}

/* ---- one call ---- */

static uintptr_t buffer_to_c(const struct both *b, int i)
{
	return vt_mpi_in_place(b->w[i])  ? (uintptr_t)MPI_IN_PLACE
		: vt_mpi_bottom(b->w[i]) ? (uintptr_t)MPI_BOTTOM
					 : (uintptr_t)b->w[i];
}

static uintptr_t weights_to_c(void *array)
{
	return vt_mpi_unweighted(array) ? (uintptr_t)MPI_UNWEIGHTED : (uintptr_t)array;
}

static int argument_to_c(struct both *b, int i)
{
	const struct vt_mc_function *f = b->f;

	if (is_status(f, i)) {
		return statuses_to_c(b, i);
	}
	if (f->pointer[i] && handle_size(f->kind[i])) {
		return handles_to_c(b, i);
	}
	if (handle_size(f->kind[i])) {
		b->c[i] = handle_to_c(f->kind[i], *(const MPI_Fint *)b->w[i]);
	} else if (f->pointer[i]) {
		b->c[i] = f->kind[i] == VT_MC_POINTER ? buffer_to_c(b, i) : weights_to_c(b->w[i]);
	} else {
		b->c[i] = f->kind[i] == VT_MC_INT ? (uintptr_t)(intptr_t) * (const MPI_Fint *)b->w[i]
						  : (uintptr_t) * (const MPI_Aint *)b->w[i];
	}
	return 1;
}

/* Fortran counts from 1. */
static void count_from_one(struct both *b)
{
	const struct vt_mc_function *f = b->f;
	int one = f->at[VT_MC_INDEX], many = f->at[VT_MC_INDICES], i;
	MPI_Fint *index;

	if (one >= 0 && f->sort >= VT_MC_WAIT && f->sort <= VT_MC_TESTSOME) {
		index = (MPI_Fint *)b->c[one];
		*index += *index >= 0;
	}
	if (many >= 0) {
		index = (MPI_Fint *)b->c[many];
		for (i = 0; i < *(const MPI_Fint *)b->c[f->at[VT_MC_OUTCOUNT]]; i++) {
			index[i]++;
		}
	}
}

static void result_to_fortran(struct both *b, int rc)
{
	int i;

	for (i = 0; i < b->f->n; i++) {
		if (is_status(b->f, i)) {
			statuses_to_fortran(b, i, rc);
		} else if (b->f->pointer[i] && handle_size(b->f->kind[i])) {
			handles_to_fortran(b, i);
		}
	}
	if (rc == MPI_SUCCESS || rc == MPI_ERR_IN_STATUS) {
		count_from_one(b);
	}
	if (b->w[b->f->n]) {
		*(MPI_Fint *)b->w[b->f->n] = rc;
	}
}

static int call_wrapper(const uintptr_t *c, void *wrapper)
{
	int (*call)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
		uintptr_t, uintptr_t, uintptr_t, uintptr_t) = (__typeof__(call))wrapper;

	return call(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12]);
}

/* Returns 0 if MPI's own call must be made instead. */
static int call_in_c(struct vt_mc_function *f, void *wrapper, void **w, void *pc)
{
	struct both b = { .f = f, .w = w };
	int i, good = 1;

	vt_mc_prepare(f);
	if (is_passed_on(f)) {
		return 0;
	}
	for (i = 0; i < f->n; i++) {
		good &= argument_to_c(&b, i);
	}
	if (!strcmp(f->text, "MPI_Buffer_detach")) {
		/* Fortran does not get the address */
		b.c[0] = (uintptr_t)&b.handle[0];
	}
	if (good) {
		vt_mc_fortran_pc = pc;
		vt_mc_fortran_request = f->at[VT_MC_OF_REQUEST] >= 0 ? w[f->at[VT_MC_OF_REQUEST]] : NULL;
		i = call_wrapper(b.c, wrapper);
		vt_mc_fortran_pc = vt_mc_fortran_request = NULL;
		result_to_fortran(&b, i);
	}
	for (i = 0; i < f->n; i++) {
		free(b.list[i]);
	}
	return good;
}

/* ---- the wrappers ---- */

#define ENTRY(lower, function, ...) \
	void function(VT_WORDS); \
	void function(VT_WORDS) \
	{ \
		static void *found; \
		static const char *const names[] = { __VA_ARGS__, NULL }; \
		void *w[] = { VT_WORDS_ON }, *next; \
		if (!call_in_c(&function_##lower, wrapper_##lower, w, __builtin_return_address(0))) { \
			next = vt_mpi_next_fortran(&found, names); \
			if (next) { \
				((vt_words_fn *)next)(VT_WORDS_ON); \
			} \
		} \
	}

#ifdef OPEN_MPI
#define ENTRIES(lower, UPPER) \
	ENTRY(lower, mpi_##lower##_, "mpi_" #lower "_", "mpi_" #lower "__", "mpi_" #lower, "MPI_" #UPPER) \
	void mpi_##lower##__(VT_WORDS) __attribute__((alias("mpi_" #lower "_"))); \
	void mpi_##lower(VT_WORDS) __attribute__((alias("mpi_" #lower "_"))); \
	void MPI_##UPPER(VT_WORDS) __attribute__((alias("mpi_" #lower "_"))); \
	ENTRY(lower, mpi_##lower##_f08_, "mpi_" #lower "_f08_")
#else
/* In MPICH and related libraries all others use the calls in C, which are checked there. */
#define ENTRIES(lower, UPPER) ENTRY(lower, mpi_##lower##_f08_, "mpi_" #lower "_f08_")
#endif
#define FORTRAN(kind, name, lower, UPPER, parameters, ...) \
	static struct vt_mc_function function_##lower = { \
		.text = "MPI_" #name, .params = #parameters, .more = "", .sort = kind \
	}; \
	static void *const wrapper_##lower = (void *)MPI_##name; \
	ENTRIES(lower, UPPER)

#define BY_HAND(...)
#define CALL(...) FORTRAN(VT_MC_CALL, __VA_ARGS__, 0)
#define OUTSIDE(...) FORTRAN(VT_MC_OUTSIDE, __VA_ARGS__, 0)
#define LOOK(...) FORTRAN(VT_MC_LOOK, __VA_ARGS__, 0)
#define LOOK_SOME(...) FORTRAN(VT_MC_LOOK, __VA_ARGS__, 0)
#define LOCAL(...) FORTRAN(VT_MC_LOCAL, __VA_ARGS__, 0)
#define SET_ERRHANDLER(...) FORTRAN(VT_MC_SET_ERRHANDLER, __VA_ARGS__, 0)
#define CALLBACK(...) FORTRAN(VT_MC_CALLBACK, __VA_ARGS__, 0)
#define CALLBACKS(...) FORTRAN(VT_MC_CALLBACK, __VA_ARGS__, 0)
#define GREQUEST_START(...) FORTRAN(VT_MC_GREQUEST_START, __VA_ARGS__, 0)
#define GREQUEST_COMPLETE(...) FORTRAN(VT_MC_GREQUEST_COMPLETE, __VA_ARGS__, 0)
#define SEND(...) FORTRAN(VT_MC_SEND, __VA_ARGS__, 0)
#define ISEND(...) FORTRAN(VT_MC_ISEND, __VA_ARGS__, 0)
#define SEND_INIT(...) FORTRAN(VT_MC_SEND_INIT, __VA_ARGS__, 0)
#define RECV(...) FORTRAN(VT_MC_RECV, __VA_ARGS__, 0)
#define IRECV(...) FORTRAN(VT_MC_IRECV, __VA_ARGS__, 0)
#define RECV_INIT(...) FORTRAN(VT_MC_RECV_INIT, __VA_ARGS__, 0)
#define SENDRECV(...) FORTRAN(VT_MC_SENDRECV, __VA_ARGS__, 0)
#define SENDRECV_REPLACE(...) FORTRAN(VT_MC_SENDRECV_REPLACE, __VA_ARGS__, 0)
#define ISENDRECV(...) FORTRAN(VT_MC_ISENDRECV, __VA_ARGS__, 0)
#define ISENDRECV_REPLACE(...) FORTRAN(VT_MC_ISENDRECV, __VA_ARGS__, 0)
#define PSEND_INIT(...) FORTRAN(VT_MC_PARTITIONED, __VA_ARGS__, 0)
#define PRECV_INIT(...) FORTRAN(VT_MC_PARTITIONED, __VA_ARGS__, 0)
#define MPROBE(...) FORTRAN(VT_MC_MPROBE, __VA_ARGS__, 0)
#define IMPROBE(...) FORTRAN(VT_MC_IMPROBE, __VA_ARGS__, 0)
#define MRECV(...) FORTRAN(VT_MC_MRECV, __VA_ARGS__, 0)
#define IMRECV(...) FORTRAN(VT_MC_IMRECV, __VA_ARGS__, 0)
#define CANCEL(...) FORTRAN(VT_MC_CANCEL, __VA_ARGS__, 0)
#define REQUEST_FREE(...) FORTRAN(VT_MC_REQUEST_FREE, __VA_ARGS__, 0)
#define START(...) FORTRAN(VT_MC_START, __VA_ARGS__, 0)
#define STARTALL(...) FORTRAN(VT_MC_STARTALL, __VA_ARGS__, 0)
#define WAIT(...) FORTRAN(VT_MC_WAIT, __VA_ARGS__, 0)
#define TEST(...) FORTRAN(VT_MC_TEST, __VA_ARGS__, 0)
#define WAITANY(...) FORTRAN(VT_MC_WAITANY, __VA_ARGS__, 0)
#define TESTANY(...) FORTRAN(VT_MC_TESTANY, __VA_ARGS__, 0)
#define WAITALL(...) FORTRAN(VT_MC_WAITALL, __VA_ARGS__, 0)
#define TESTALL(...) FORTRAN(VT_MC_TESTALL, __VA_ARGS__, 0)
#define WAITSOME(...) FORTRAN(VT_MC_WAITSOME, __VA_ARGS__, 0)
#define TESTSOME(...) FORTRAN(VT_MC_TESTSOME, __VA_ARGS__, 0)
#define COLL(...) FORTRAN(VT_MC_COLL, __VA_ARGS__, 0)
#define COLL_I(...) FORTRAN(VT_MC_COLL_I, __VA_ARGS__, 0)
#define COLL_INIT(...) FORTRAN(VT_MC_COLL_INIT, __VA_ARGS__, 0)
#define NEWCOMM(...) FORTRAN(VT_MC_NEWCOMM, __VA_ARGS__, 0)
#define GROUPCOMM(...) FORTRAN(VT_MC_GROUPCOMM, __VA_ARGS__, 0)
#define JOINED(...) FORTRAN(VT_MC_JOINED, __VA_ARGS__, 0)
#define SPAWN(...) FORTRAN(VT_MC_JOINED, __VA_ARGS__, 0)
#define COMM_FREE(...) FORTRAN(VT_MC_COMM_FREE, __VA_ARGS__, 0)
#define COMM_DISCONNECT(...) FORTRAN(VT_MC_COMM_FREE, __VA_ARGS__, 0)
#define COMM_NAME(...) FORTRAN(VT_MC_COMM_NAME, __VA_ARGS__, 0)
#define IDUP(...) FORTRAN(VT_MC_IDUP, __VA_ARGS__, 0)
#define IDUP_WITH_INFO(...) FORTRAN(VT_MC_IDUP, __VA_ARGS__, 0)
#define IO(...) FORTRAN(VT_MC_IO, __VA_ARGS__, 0)
#define IO_POSTED(...) FORTRAN(VT_MC_IO_POSTED, __VA_ARGS__, 0)
#define IO_BEGUN(...) FORTRAN(VT_MC_IO, __VA_ARGS__, 0)
#define FILE_OPEN(...) FORTRAN(VT_MC_FILE_OPEN, __VA_ARGS__, 0)
#define FILE_CLOSE(...) FORTRAN(VT_MC_FILE_CLOSE, __VA_ARGS__, 0)
#define NEWWIN(...) FORTRAN(VT_MC_NEWWIN, __VA_ARGS__, 0)
#define WIN_FREE(...) FORTRAN(VT_MC_WIN_FREE, __VA_ARGS__, 0)
#define WIN_FENCE(...) FORTRAN(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_WAIT(...) FORTRAN(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_POST(...) FORTRAN(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_START(...) FORTRAN(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_COMPLETE(...) FORTRAN(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_LOCK(...) FORTRAN(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_FLUSH(...) FORTRAN(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_FLUSH_ALL(...) FORTRAN(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_UNLOCK(...) FORTRAN(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_TEST(...) FORTRAN(VT_MC_CALL, __VA_ARGS__, 0)
#define RMA(...) FORTRAN(VT_MC_RMA, __VA_ARGS__, 0)
#define RMA_BOTH(...) FORTRAN(VT_MC_RMA, __VA_ARGS__, 0)
#define RMA_ONE(...) FORTRAN(VT_MC_RMA, __VA_ARGS__, 0)

#include "collector-plugin/mpi/calls.def"
#if VT_MPI >= 400
#include "collector-plugin/mpi/calls4.def"
#endif
#if MPI_VERSION >= 4
#include "collector-plugin/mpi/calls_large.def"
#endif

/* ---- start and end ---- */

#define BEGIN_OR_END(lower, UPPER, parameters, call) \
	void mpi_##lower##_ parameters; \
	void mpi_##lower##_ parameters \
	{ \
		MPI_Fint rc = call; \
		if (ierr) { \
			*ierr = rc; \
		} \
	} \
	void mpi_##lower##__ parameters __attribute__((alias("mpi_" #lower "_"))); \
	void mpi_##lower parameters __attribute__((alias("mpi_" #lower "_"))); \
	void MPI_##UPPER parameters __attribute__((alias("mpi_" #lower "_"))); \
	void mpi_##lower##_f08_ parameters __attribute__((alias("mpi_" #lower "_")));

BEGIN_OR_END(init, INIT, (MPI_Fint * ierr), MPI_Init(NULL, NULL))
BEGIN_OR_END(init_thread, INIT_THREAD, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *ierr),
	MPI_Init_thread(NULL, NULL, *required, provided))
BEGIN_OR_END(finalize, FINALIZE, (MPI_Fint * ierr), MPI_Finalize())
BEGIN_OR_END(abort, ABORT, (MPI_Fint * comm, MPI_Fint *errorcode, MPI_Fint *ierr),
	MPI_Abort(PMPI_Comm_f2c(*comm), *errorcode))

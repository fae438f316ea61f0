/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrappers of MPI calls in Fortran, under the names that compilers make of each, and those of the module mpi_f08.
 * Their arguments are references, followed by the lengths of strings. So a wrapper passes on a fixed number of
 * machine words, whatever they mean. For a call with fewer arguments, the remaining words are arbitrary and MPI does
 * not read them. record.h has what is recorded. Handles are converted for recording only; MPI gets the program's
 * own. */
#include "config.h"
#include "collector-plugin/mpi/abi/fortran.h"
#include "collector-plugin/mpi/files.h"
#include "collector-plugin/mpi/outside.h"
#include "collector-plugin/mpi/polls.h"
#include "collector-plugin/mpi/record.h"
#include "collector-plugin/mpi/shares.h"
#include "collector-plugin/mpi/spawned.h"

#include <stddef.h>

#ifdef OPEN_MPI
/* Open MPI's Fortran calls use the PMPI_ calls in C, so they do not pass the wrappers of calls.c. */
enum { RECORD_MPIF = 1, RECORD_F08 = 1, RECORD_F08TS = 1 };
#else
/* In MPICH and related libraries the Fortran calls use the C calls, where they are recorded. Only those of mpi_f08
 * without a buffer use PMPI_ calls. */
enum { RECORD_MPIF = 0, RECORD_F08 = 1, RECORD_F08TS = 0 };
#endif

/* A function of these words, which passes them on to the first of these names that MPI has. */
#define ENTRY(lower, function, record, ...) \
	void function(VT_WORDS); \
	void function(VT_WORDS) \
	{ \
		static void *found; \
		static const char *const names[] = { __VA_ARGS__, NULL }; \
		void *w[] = { VT_WORDS_ON }, *next = vt_mpi_next_fortran(&found, names); \
		if (next) { \
			fortran_##lower(next, w, record); \
		} \
	}

/* Wrappers for mpif.h and the module mpi, and for the module mpi_f08, which has the same arguments, with handles that
 * are structures of one integer. In MPICH's _f08ts_ calls buffers are descriptors, which these wrappers do not read. */
#define FORTRAN(name, lower, UPPER, may_follow, variables, before, after) \
	FORTRAN_BY(name, lower, UPPER, may_follow, may_follow, variables, before, after, vt_mpi_enter(&k, &f), \
		vt_mpi_leave(&k))
/* result: which argument has the result; found: as in calls.c */
#define POLL(name, lower, UPPER, result, variables, before, found, after) \
	FORTRAN_BY(name, lower, UPPER, 1 | VT_ALONE, (RESULT(result) != MPI_SUCCESS || (found)) | VT_ALONE, variables, \
		   before, vt_poll_returned(&k, &f, RESULT(result) != MPI_SUCCESS || (found)); \
		   after, vt_poll_enter(&k, &f), vt_poll_leave(&k, RESULT(result) != MPI_SUCCESS || (found)))
#define FORTRAN_BY(name, lower, UPPER, may_follow, follows, variables, before, after, enter, leave) \
	static inline void fortran_##lower(void *next, void *w[16], int record) \
	{ \
		static struct vt_mpi_function f = { .text = "MPI_" #name, VT_MPI_KIND(may_follow) }; \
		struct vt_mpi_call k = { .at = 0 }; \
		variables; \
		(void)f; \
		(void)k; \
		if (record && (enter)) { \
			before; \
		} \
		((vt_words_fn *)next)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], \
			w[13], w[14], w[15]); \
		if (record && vt_mpi_returned(&k, follows)) { \
			after; \
			leave; \
		} \
	} \
	ENTRY(lower, mpi_##lower##_, RECORD_MPIF, "mpi_" #lower "_", "mpi_" #lower "__", "mpi_" #lower, "MPI_" #UPPER) \
	void mpi_##lower##__(VT_WORDS) __attribute__((alias("mpi_" #lower "_"))); \
	void mpi_##lower(VT_WORDS) __attribute__((alias("mpi_" #lower "_"))); \
	void MPI_##UPPER(VT_WORDS) __attribute__((alias("mpi_" #lower "_"))); \
	ENTRY(lower, mpi_##lower##_f08_, RECORD_F08, "mpi_" #lower "_f08_") \
	ENTRY(lower, mpi_##lower##_f08ts_, RECORD_F08TS, "mpi_" #lower "_f08ts_")
/* The i-th argument, and the result; ierr may be absent in the module mpi_f08. */
#define INT(i) (*(const MPI_Fint *)w[i])
#define COUNT(i) (*(const COUNT_TYPE *)w[i])
#define COUNT_TYPE MPI_Fint
#define COMM(i) PMPI_Comm_f2c(INT(i))
#define TYPE(i) PMPI_Type_f2c(INT(i))
#define REQUEST(i) PMPI_Request_f2c(INT(i))
#define MESSAGE(i) PMPI_Message_f2c(INT(i))
#define RESULT(i) (w[i] ? INT(i) : MPI_SUCCESS)
#define OK(i) if (RESULT(i) == MPI_SUCCESS)
#define FAILED(from, tag, comm, result) vt_receive_failed(&k, RESULT(result), &status, INT(from), INT(tag), COMM(comm))
/* Asks MPI for a status even if the program does not want it. */
#define OWN \
	MPI_Fint own[sizeof(MPI_Status) / sizeof(MPI_Fint)]; \
	MPI_Status status
#define STATUS(i) w[i] = vt_mpi_ignored(w[i]) ? own : w[i]
/* libVTfs gives MPI a handler that ends the job. */
#define FATAL(i) \
	MPI_Fint fatal; \
	if (vt_mpi_errhandler(MPI_ERRHANDLER_NULL) != MPI_ERRHANDLER_NULL) { \
		fatal = PMPI_Errhandler_c2f(MPI_ERRORS_ARE_FATAL); \
		w[i] = &fatal; \
	}
#define READ_STATUS(i) PMPI_Status_f2c(w[i], &status)

#define BY_HAND(name, lower, UPPER, params, args)
#define CALL(name, lower, UPPER, params, args) FORTRAN(name, lower, UPPER, 1, , , )
#define OUTSIDE(name, lower, UPPER, params, args) FORTRAN(name, lower, UPPER, VT_OUTSIDE, , , )
#define LOCAL(name, lower, UPPER, params, args) FORTRAN(name, lower, UPPER, VT_ALONE, , , )
#define LOOK(name, lower, UPPER, params, args, i) POLL(name, lower, UPPER, (i) + 2, , , INT(i), )
#define LOOK_SOME(name, lower, UPPER, params, args) POLL(name, lower, UPPER, 5, , , INT(2), )

#define SET_ERRHANDLER(name, lower, UPPER, params, args) FORTRAN(name, lower, UPPER, 0, FATAL(1), , )

#define CALLBACK(name, lower, UPPER, params, args, one, i) FORTRAN(name, lower, UPPER, 0, , vt_mpi_calls_back(w[i]), )
#define CALLBACKS(name, lower, UPPER, params, args, one, two, i) \
	FORTRAN(name, lower, UPPER, 0, , vt_mpi_calls_back(w[i]); vt_mpi_calls_back(w[(i) + 1]), )
#define GREQUEST_START(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 0, , vt_mpi_calls_back(w[0]), OK(5) { vt_mpi_outside(1); })
#define GREQUEST_COMPLETE(name, lower, UPPER, params, args) FORTRAN(name, lower, UPPER, 0, , vt_mpi_outside(-1), )

/* ---- messages ---- */

#define SEND(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 1, , vt_send(&k, COUNT(1), TYPE(2), INT(3), INT(4), COMM(5)), \
		if (RESULT(6) != MPI_SUCCESS) { vt_send_failed(&k); })
#define ISEND(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 0, , vt_send(&k, COUNT(1), TYPE(2), INT(3), INT(4), COMM(5)), \
		OK(7) { \
			vt_posted(&k, VT_REQUEST_SEND, 0, COUNT(1), TYPE(2), INT(3), INT(4), COMM(5), REQUEST(6)); \
		} else { vt_send_failed(&k); })
#define POSTED(name, lower, UPPER, kind, persistent) \
	FORTRAN( \
		name, lower, UPPER, 0, , , \
		OK(7) { vt_posted(&k, kind, persistent, COUNT(1), TYPE(2), INT(3), INT(4), COMM(5), REQUEST(6)); })
#define SEND_INIT(name, lower, UPPER, params, args) POSTED(name, lower, UPPER, VT_REQUEST_SEND, 1)
#define IRECV(name, lower, UPPER, params, args) POSTED(name, lower, UPPER, VT_REQUEST_RECEIVE, 0)
#define RECV_INIT(name, lower, UPPER, params, args) POSTED(name, lower, UPPER, VT_REQUEST_RECEIVE, 1)
#define RECV(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 1, OWN, STATUS(6), READ_STATUS(6); \
		OK(7) { vt_received(&k, &status, INT(3), COMM(5)); } else { FAILED(3, 4, 5, 7); })
#define SENDRECV(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 1, OWN, STATUS(11); \
		vt_send(&k, COUNT(1), TYPE(2), INT(3), INT(4), COMM(10)), READ_STATUS(11); OK(12) { \
			vt_received(&k, &status, INT(8), COMM(10)); \
		} else if (!FAILED(8, 9, 10, 12)) { vt_send_failed(&k); })
#define SENDRECV_REPLACE(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 1, OWN, STATUS(8); \
		vt_send(&k, COUNT(1), TYPE(2), INT(3), INT(4), COMM(7)), READ_STATUS(8); OK(9) { \
			vt_received(&k, &status, INT(5), COMM(7)); \
		} else if (!FAILED(5, 6, 7, 9)) { vt_send_failed(&k); })
#define ISENDRECV(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 0, , vt_send(&k, COUNT(1), TYPE(2), INT(3), INT(4), COMM(10)), \
		OK(12) { vt_posted_both(&k, COUNT(6), TYPE(7), INT(8), INT(9), COMM(10), REQUEST(11)); } else { \
			vt_send_failed(&k); \
		})
#define ISENDRECV_REPLACE(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 0, , vt_send(&k, COUNT(1), TYPE(2), INT(3), INT(4), COMM(7)), \
		OK(9) { vt_posted_both(&k, COUNT(1), TYPE(2), INT(5), INT(6), COMM(7), REQUEST(8)); } else { \
			vt_send_failed(&k); \
		})
#define PARTITIONED(name, lower, UPPER, kind) \
	FORTRAN( \
		name, lower, UPPER, 0, , , OK(9) { \
			vt_partitioned(&k, kind, INT(1), *(const MPI_Count *)w[2], TYPE(3), INT(4), INT(5), COMM(6), \
				REQUEST(8)); \
		})
#define PSEND_INIT(name, lower, UPPER, params, args) PARTITIONED(name, lower, UPPER, VT_REQUEST_SEND)
#define PRECV_INIT(name, lower, UPPER, params, args) PARTITIONED(name, lower, UPPER, VT_REQUEST_RECEIVE)
#define MPROBE(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 1, OWN, STATUS(4), OK(5) { \
			READ_STATUS(4); \
			vt_matched(&k, MESSAGE(3), &status, COMM(2)); \
		})
#define IMPROBE(name, lower, UPPER, params, args) \
	POLL( \
		name, lower, UPPER, 6, OWN, STATUS(5), INT(3), if (RESULT(6) == MPI_SUCCESS && INT(3)) { \
			READ_STATUS(5); \
			vt_matched(&k, MESSAGE(4), &status, COMM(2)); \
		})
#define MRECV(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 1, OWN; struct vt_request *m = NULL, STATUS(4); \
		m = vt_message_take(MESSAGE(3)), READ_STATUS(4); \
		vt_message_received(&k, m, vt_took_message(RESULT(5)) ? &status : NULL))
#define IMRECV(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 0, struct vt_request *m = NULL, m = vt_message_take(MESSAGE(3)), \
		vt_message_posted(&k, m, RESULT(5) == MPI_SUCCESS ? REQUEST(4) : MPI_REQUEST_NULL))

/* ---- requests ---- */

#define CANCEL(name, lower, UPPER, params, args) FORTRAN(name, lower, UPPER, 0, , vt_cancel(REQUEST(0)), )
#define REQUEST_FREE(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 0, , vt_request_freed(&k, REQUEST(0)), )
#define START(name, lower, UPPER, params, args) FORTRAN(name, lower, UPPER, 0, , vt_started(&k, REQUEST(0)), )
#define STARTALL(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 0, int i, \
		for (i = 0; i < INT(0); i++) { vt_started(&k, PMPI_Request_f2c(((const MPI_Fint *)w[1])[i])); }, )

/* s: which argument has the statuses. Indexes count from 1. */
#define WAITING(name, lower, UPPER, n, requests, s, after) \
	FORTRAN(name, lower, UPPER, 1, struct vt_wait v, vt_wait_begin_f(&v, n, w[requests]); \
		w[s] = vt_wait_statuses(&v, w[s], vt_mpi_ignored(w[s])), after vt_wait_end(&v))
#define TESTING(name, lower, UPPER, result, n, requests, s, found, after) \
	POLL(name, lower, UPPER, result, struct vt_wait v, vt_wait_begin_f(&v, n, w[requests]); \
		w[s] = vt_wait_statuses(&v, w[s], vt_mpi_ignored(w[s])), found, after vt_wait_end(&v))
/* clang-format off */
#define WAIT(name, lower, UPPER, params, args) \
	WAITING(name, lower, UPPER, 1, 0, 1, vt_wait_some(&k, &v, 0, 0, RESULT(2));)
#define TEST(name, lower, UPPER, params, args) \
	TESTING(name, lower, UPPER, 3, 1, 0, 2, INT(1), if (RESULT(3) != MPI_SUCCESS || INT(1)) { vt_wait_some(&k, &v, 0, 0, RESULT(3)); })
/* clang-format on */
#define WAITANY(name, lower, UPPER, params, args) \
	WAITING( \
		name, lower, UPPER, INT(0), 1, 3, if (vt_took_message(RESULT(4)) && INT(2) != MPI_UNDEFINED) { \
			vt_wait_some(&k, &v, INT(2) - 1, 0, RESULT(4)); \
		})
#define TESTANY(name, lower, UPPER, params, args) \
	TESTING( \
		name, lower, UPPER, 5, INT(0), 1, 4, INT(3) && INT(2) != MPI_UNDEFINED, \
		if (vt_took_message(RESULT(5)) && INT(3) && INT(2) != MPI_UNDEFINED) { \
			vt_wait_some(&k, &v, INT(2) - 1, 0, RESULT(5)); \
		})
#define WAITALL(name, lower, UPPER, params, args) \
	WAITING(name, lower, UPPER, INT(0), 1, 2, vt_wait_all(&k, &v, RESULT(3));)
#define TESTALL(name, lower, UPPER, params, args) \
	TESTING( \
		name, lower, UPPER, 4, INT(0), 1, 3, INT(2), \
		if (RESULT(4) != MPI_SUCCESS || INT(2)) { vt_wait_all(&k, &v, RESULT(4)); })
#define COMPLETED_SOME \
	if ((RESULT(5) == MPI_SUCCESS || RESULT(5) == MPI_ERR_IN_STATUS) && INT(2) != MPI_UNDEFINED) { \
		int i; \
		for (i = 0; i < INT(2); i++) { \
			vt_wait_some(&k, &v, ((const MPI_Fint *)w[3])[i] - 1, (size_t)i, RESULT(5)); \
		} \
	}
#define WAITSOME(name, lower, UPPER, params, args) WAITING(name, lower, UPPER, INT(0), 1, 4, COMPLETED_SOME)
#define TESTSOME(name, lower, UPPER, params, args) \
	TESTING(name, lower, UPPER, 5, INT(0), 1, 4, INT(2) > 0 && INT(2) != MPI_UNDEFINED, COMPLETED_SOME)

/* ---- collective operations. ARGUMENTS_: number of arguments of each, with the communicator as the last of them
 * ---- */

#define IN_PLACE(i) vt_mpi_in_place(w[i])
#define SIDE(i) VT_SIDE(COUNT(i), TYPE((i) + 1))
#define COUNTS(i, type) VT_SIDE_COUNTS(w[i], sizeof(COUNT_TYPE), TYPE(type))
#define TYPES(i) VT_SIDE_TYPES(w[i], sizeof(COUNT_TYPE), w[(i) + 2], 1)
enum {
	ARGUMENTS_barrier = 1,
	ARGUMENTS_bcast = 5,
	ARGUMENTS_reduce = 7,
	ARGUMENTS_allreduce = 6,
	ARGUMENTS_gather = 8,
	ARGUMENTS_gatherv = 9,
	ARGUMENTS_scatter = 8,
	ARGUMENTS_scatterv = 9,
	ARGUMENTS_allgather = 7,
	ARGUMENTS_allgatherv = 8,
	ARGUMENTS_alltoall = 7,
	ARGUMENTS_alltoallv = 9,
	ARGUMENTS_alltoallw = 9,
	ARGUMENTS_reduce_scatter = 6,
	ARGUMENTS_reduce_scatter_block = 6,
	ARGUMENTS_neighbor_allgather = 7,
	ARGUMENTS_neighbor_allgatherv = 8,
	ARGUMENTS_neighbor_alltoall = 7,
	ARGUMENTS_neighbor_alltoallv = 9,
	ARGUMENTS_neighbor_alltoallw = 9,
};
#define SHARE_barrier(s)
#define SHARE_bcast(s) vt_share_bcast(s, COUNT(1), TYPE(2), INT(3))
#define SHARE_reduce(s) vt_share_reduce(s, COUNT(2), TYPE(3), INT(5))
#define SHARE_allreduce(s) vt_share_allreduce(s, COUNT(2), TYPE(3))
#define SHARE_gather(s) vt_share_gather(s, IN_PLACE(0), SIDE(1), SIDE(4), INT(6))
#define SHARE_gatherv(s) vt_share_gather(s, IN_PLACE(0), SIDE(1), COUNTS(4, 6), INT(7))
#define SHARE_scatter(s) vt_share_scatter(s, IN_PLACE(3), SIDE(1), SIDE(4), INT(6))
#define SHARE_scatterv(s) vt_share_scatter(s, IN_PLACE(4), COUNTS(1, 3), SIDE(5), INT(7))
#define SHARE_allgather(s) vt_share_allgather(s, IN_PLACE(0), SIDE(1), SIDE(4))
#define SHARE_allgatherv(s) vt_share_allgather(s, IN_PLACE(0), SIDE(1), COUNTS(4, 6))
#define SHARE_alltoall(s) vt_share_alltoall(s, IN_PLACE(0), SIDE(1), SIDE(4))
#define SHARE_alltoallv(s) vt_share_alltoall(s, IN_PLACE(0), COUNTS(1, 3), COUNTS(5, 7))
#define SHARE_alltoallw(s) vt_share_alltoall(s, IN_PLACE(0), TYPES(1), TYPES(5))
#define SHARE_reduce_scatter(s) vt_share_reduce_scatter(s, COUNTS(2, 3))
#define SHARE_reduce_scatter_block(s) vt_share_reduce_scatter(s, SIDE(2))
#define SHARE_neighbor_allgather(s) vt_share_neighbors(s, SIDE(1), SIDE(4))
#define SHARE_neighbor_allgatherv(s) vt_share_neighbors(s, SIDE(1), COUNTS(4, 6))
#define SHARE_neighbor_alltoall(s) vt_share_neighbors(s, SIDE(1), SIDE(4))
#define SHARE_neighbor_alltoallv(s) vt_share_neighbors(s, COUNTS(1, 3), COUNTS(5, 7))
#define SHARE_neighbor_alltoallw(s) vt_share_neighbors(s, TYPES(1), TYPES(5))

#define COLLECTIVE(name, lower, UPPER, may_follow, op, measure, result, after) \
	FORTRAN( \
		name, lower, UPPER, may_follow, struct vt_share s; \
		int known = 0, known = vt_share_begin(&s, VT_RAW_OP_##op, COMM(ARGUMENTS_##measure - 1)); \
		if (known) { SHARE_##measure(&s); }, if (known && RESULT(result) == MPI_SUCCESS) { after; })
#define COLL(name, lower, UPPER, params, args, op, measure) \
	COLLECTIVE(name, lower, UPPER, 1, op, measure, ARGUMENTS_##measure, vt_share_end(&k, &s))
#define COLL_I(name, lower, UPPER, params, args, op, measure) \
	COLLECTIVE(name, lower, UPPER, 0, op, measure, ARGUMENTS_##measure + 1, \
		vt_share_posted(&k, &s, REQUEST(ARGUMENTS_##measure)))

#define COLL_INIT(name, lower, UPPER, params, args, op, measure) \
	COLLECTIVE(name, lower, UPPER, 1, op, measure, ARGUMENTS_##measure + 2, \
		vt_share_prepared(&k, &s, REQUEST(ARGUMENTS_##measure + 1)))

/* ---- communicators ---- */

#define NEWCOMM(name, lower, UPPER, params, args, prefix, parent, fresh, i, j) \
	FORTRAN( \
		name, lower, UPPER, 1, struct vt_comm *p = NULL; uint32_t number = 0, p = vt_comm_of(COMM(i)); \
		number = vt_comm_creates(p), \
		OK(j + 1) { vt_comm_created(VT_RAW_COMM_COLLECTIVE, prefix, p, number, 0, COMM(j)); })
#define GROUPCOMM(name, lower, UPPER, params, args, prefix, parent, fresh, tag, i, j, l) \
	FORTRAN( \
		name, lower, UPPER, 1, struct vt_comm *p = NULL, p = vt_comm_of((i) < 0 ? MPI_COMM_NULL : COMM(i)), \
		OK(j + 1) { vt_comm_created(VT_RAW_COMM_GROUP, prefix, p, 0, (l) < 0 ? 0 : INT(l), COMM(j)); })
/* MPI_Comm_spawn has error codes after the communicator. If they are absent, the call counts as successful */
#define JOINED(name, lower, UPPER, params, args, prefix, parent, fresh, i, j) \
	FORTRAN(name, lower, UPPER, VT_OUTSIDE, struct vt_comm *p = NULL, p = vt_comm_of(COMM(i)), \
		vt_comm_created(VT_RAW_COMM_GROUP, prefix, p, 0, 0, COMM(j)))
#define SPAWN(name, lower, UPPER, params, args, prefix, parent, fresh, i, j, n, commands) \
	FORTRAN(name, lower, UPPER, VT_OUTSIDE, struct vt_comm *p = NULL, p = vt_comm_of(COMM(i)), \
		vt_comm_created(VT_RAW_COMM_GROUP, prefix, p, 0, 0, COMM(j)); \
		vt_ranks_spawned(0, NULL, INT(i - 1), COMM(i)))
#define COMM_FREE(name, lower, UPPER, params, args) FORTRAN(name, lower, UPPER, 1, , vt_comm_gone(COMM(0)), )
#define COMM_DISCONNECT(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, VT_OUTSIDE, , vt_comm_disconnected(COMM(0)), )
#define COMM_NAME(name, lower, UPPER, params, args) FORTRAN(name, lower, UPPER, 0, , , vt_comm_named(COMM(0)))
#define IDUP(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 0, struct vt_comm *p = NULL; uint32_t number = 0, p = vt_comm_of(COMM(0)); \
		number = vt_comm_creates(p), OK(3) { vt_comm_posted(&k, p, number, REQUEST(2), w[1], 1); })
#define IDUP_WITH_INFO(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, 0, struct vt_comm *p = NULL; uint32_t number = 0, p = vt_comm_of(COMM(0)); \
		number = vt_comm_creates(p), OK(4) { vt_comm_posted(&k, p, number, REQUEST(3), w[2], 1); })

/* ---- files and windows. at: 1 if an offset follows the file ---- */

#define FILE_(i) PMPI_File_f2c(INT(i))
#define WIN(i) PMPI_Win_f2c(INT(i))
#define IO_BEGIN(dir, at) vt_io_begin(&k, VT_RAW_##dir, FILE_(0), COUNT(2 + (at)), TYPE(3 + (at)))
#define IO(name, lower, UPPER, params, args, dir, at) \
	FORTRAN(name, lower, UPPER, VT_OUTSIDE, OWN, STATUS(4 + (at)); IO_BEGIN(dir, at), READ_STATUS(4 + (at)); \
		vt_io_end(&k, RESULT(5 + (at)) == MPI_SUCCESS ? &status : NULL))
#define IO_POSTED(name, lower, UPPER, params, args, dir, at) \
	FORTRAN(name, lower, UPPER, VT_OUTSIDE, , IO_BEGIN(dir##_POSTED, at), \
		vt_io_posted( \
			&k, RESULT(5 + (at)), RESULT(5 + (at)) == MPI_SUCCESS ? REQUEST(4 + (at)) : MPI_REQUEST_NULL))
#define IO_BEGUN(name, lower, UPPER, params, args, dir, at) \
	FORTRAN(name, lower, UPPER, VT_OUTSIDE, , IO_BEGIN(dir, at), vt_io_all(&k, RESULT(4 + (at))))
/* The length of the name follows the result ierr. */
#define FILE_OPEN(name, lower, UPPER, params, args) \
	FORTRAN( \
		name, lower, UPPER, VT_OUTSIDE, , , \
		OK(5) { vt_file_opened(FILE_(4), w[1], trimmed(w[1], (size_t)w[6]), COMM(0)); })
#define FILE_CLOSE(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, VT_OUTSIDE, , vt_file_closed(FILE_(0)), )
/* clang-format off */
#define NEWWIN(name, lower, UPPER, params, args, i, j) \
	FORTRAN(name, lower, UPPER, 1, , , OK(j + 1) { vt_window_made(WIN(j), COMM(i)); })
/* clang-format on */
#define WIN_FREE(name, lower, UPPER, params, args) FORTRAN(name, lower, UPPER, 1, , vt_window_gone(WIN(0)), )
/* clang-format off */
#define WIN_FENCE(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 1, , , OK(2) { vt_window_fenced(&k, WIN(1)); })
#define WIN_WAIT(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 1, , , OK(1) { vt_window_waited(&k, WIN(0)); })
#define WIN_POST(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 1, , vt_window_posts(&k, WIN(2), PMPI_Group_f2c(INT(0))), \
		vt_window_posted(&k, WIN(2), RESULT(3) != MPI_SUCCESS))
#define WIN_START(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 1, , , OK(3) { vt_window_started(&k, WIN(2), PMPI_Group_f2c(INT(0))); })
#define WIN_COMPLETE(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 1, , vt_window_completes(&k, WIN(0)), \
		vt_window_completed(&k, WIN(0), RESULT(1) != MPI_SUCCESS))
#define WIN_LOCK(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 1, , , OK(4) { vt_window_locked(&k, WIN(3), INT(1), INT(0), INT(2)); })
#define WIN_FLUSH(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 1, , , OK(2) { vt_window_flushed(&k, WIN(1), INT(0)); })
#define WIN_FLUSH_ALL(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 1, , , OK(1) { vt_window_flushed(&k, WIN(0), -1); })
#define WIN_UNLOCK(name, lower, UPPER, params, args) \
	FORTRAN(name, lower, UPPER, 1, , , OK(2) { vt_window_unlocked(&k, WIN(1), INT(0)); })
#define WIN_TEST(name, lower, UPPER, params, args) \
	POLL(name, lower, UPPER, 2, , , INT(1), if (RESULT(2) == MPI_SUCCESS && INT(1)) { vt_window_waited(&k, WIN(0)); })
/* clang-format on */
#define RMA(name, lower, UPPER, params, args, dir, win, result) \
	FORTRAN(name, lower, UPPER, 1, , vt_rma_begin(&k, VT_RAW_##dir, INT(3), WIN(win), COUNT(1), TYPE(2)), \
		vt_io_all(&k, RESULT(result)))
#define RMA_BOTH(name, lower, UPPER, params, args, win, result) \
	FORTRAN(name, lower, UPPER, 1, , vt_rma_begin(&k, VT_RAW_WRITE, INT(6), WIN(win), COUNT(1), TYPE(2)), \
		vt_rma_both(&k, INT(6), WIN(win), COUNT(4), TYPE(5), RESULT(result)))
#define RMA_ONE(name, lower, UPPER, params, args, type, win) \
	FORTRAN(name, lower, UPPER, 1, , vt_rma_begin(&k, VT_RAW_WRITE, INT((type) + 1), WIN(win), 1, TYPE(type)), \
		vt_rma_both(&k, INT((type) + 1), WIN(win), 1, TYPE(type), RESULT(7)))

static size_t trimmed(const char *name, size_t length)
{
	while (length && length < 1 << 16 && name[length - 1] == ' ') {
		length--;
	}
	return length < 1 << 16 ? length : 0;
}

#include "collector-plugin/mpi/calls.def"
/* Those of MPI 4 end in the C wrappers, but for Open MPI. */
#if defined(OPEN_MPI) && VT_MPI >= 400
#include "collector-plugin/mpi/calls4.def"
#endif
#if defined(OPEN_MPI) && MPI_VERSION >= 4
#undef COUNT_TYPE
#define COUNT_TYPE MPI_Count
#include "collector-plugin/mpi/calls_large.def"
#endif

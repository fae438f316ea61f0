/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrappers of MPI calls in C. Each calls the next library in the order of loading, which is another tool or MPI
 * itself. MPI gets the program's arguments and the program gets MPI's results, with two exceptions: where the program
 * does not want a status or statuses, MPI gets a place of ours for them, because only a status tells what a wildcard
 * has received; and with libVTfs no error handler of the program is installed. The body of each wrapper is made of calls.def and of the macros in this file. record.h has what they
 * record. */
#include "config.h"
#include "collector-plugin/mpi/files.h"
#include "collector-plugin/mpi/outside.h"
#include "collector-plugin/mpi/polls.h"
#include "collector-plugin/mpi/record.h"
#include "collector-plugin/mpi/shares.h"
#include "collector-plugin/mpi/spawned.h"

#include <dlfcn.h>
#include <string.h>

void *vt_mpi_next(const char *name, void *own)
{
	void *next = dlsym(RTLD_NEXT, name);

	/* a library loaded MPI by dlopen() without making its names global; then there is no tool after us either */
	return next ? next : own;
}

/* variables: local variables of the wrapper. before, after: statements that run only if the call is to be recorded;
 * `after` has the result in rc. */
#define WRAPPER(name, params, args, may_follow, variables, before, after) \
	WRAPPER_BY(name, params, args, may_follow, may_follow, variables, before, after, vt_mpi_enter(&k, &f), \
		vt_mpi_leave(&k))
/* found: the expression that is true unless the call has found nothing (polls.h); then it follows nothing. */
#define POLL(name, params, args, variables, before, found, after) \
	WRAPPER_BY(name, params, args, 1 | VT_ALONE, (rc != MPI_SUCCESS || (found)) | VT_ALONE, variables, before, \
		   vt_poll_returned(&k, &f, rc != MPI_SUCCESS || (found)); \
		   after, vt_poll_enter(&k, &f), vt_poll_leave(&k, rc != MPI_SUCCESS || (found)))
/* follows: may_follow of this call, when its result is known */
#define WRAPPER_BY(name, params, args, may_follow, follows, variables, before, after, enter, leave) \
	int MPI_##name params \
	{ \
		static struct vt_mpi_function f = { .text = "MPI_" #name, VT_MPI_KIND(may_follow) }; \
		void *next = __atomic_load_n(&f.next, __ATOMIC_RELAXED); \
		struct vt_mpi_call k; \
		variables int rc; \
		if (!next) { \
			next = vt_mpi_next(f.text, (void *)PMPI_##name); \
			__atomic_store_n(&f.next, next, __ATOMIC_RELAXED); \
		} \
		if (enter) { \
			before; \
		} \
		rc = ((int(*) params)next)args; \
		if (vt_mpi_returned(&k, follows)) { \
			after; \
			leave; \
		} \
		return rc; \
	}
#define OK if (rc == MPI_SUCCESS)
/* The program's status, or ours if it gave none. */
#define STATUS status = status == MPI_STATUS_IGNORE ? &own : status

#define BY_HAND(name, lower, UPPER, params, args)
#define CALL(name, lower, UPPER, params, args) WRAPPER(name, params, args, 1, , , )
#define OUTSIDE(name, lower, UPPER, params, args) WRAPPER(name, params, args, VT_OUTSIDE, , , )
/* MPI_Iprobe, MPI_Request_get_status */
#define LOOK(name, lower, UPPER, params, args, i) POLL(name, params, args, , , *flag, )
#define LOOK_SOME(name, lower, UPPER, params, args) POLL(name, params, args, , , *outcount != 0, )
#define LOCAL(name, lower, UPPER, params, args) WRAPPER(name, params, args, VT_ALONE, , , )

#define SET_ERRHANDLER(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 0, errhandler = vt_mpi_errhandler(errhandler);, , )

#define CALLBACK(name, lower, UPPER, params, args, one, i) \
	WRAPPER(name, params, args, 0, , vt_mpi_calls_back((void *)one), )
#define CALLBACKS(name, lower, UPPER, params, args, one, two, i) \
	WRAPPER(name, params, args, 0, , vt_mpi_calls_back((void *)one); vt_mpi_calls_back((void *)two), )
/* clang-format off */
#define GREQUEST_START(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 0, , vt_mpi_calls_back((void *)query_fn), OK { vt_mpi_outside(1); })
/* clang-format on */
#define GREQUEST_COMPLETE(name, lower, UPPER, params, args) WRAPPER(name, params, args, 0, , vt_mpi_outside(-1), )

/* ---- messages ---- */

#define SEND(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 1, , vt_send(&k, count, datatype, dest, tag, comm), \
		if (rc != MPI_SUCCESS) { vt_send_failed(&k); })
#define ISEND(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 0, , vt_send(&k, count, datatype, dest, tag, comm), \
		OK { vt_posted(&k, VT_REQUEST_SEND, 0, count, datatype, dest, tag, comm, *request); } else { \
			vt_send_failed(&k); \
		})
#define SEND_INIT(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 0, , , \
		OK { vt_posted(&k, VT_REQUEST_SEND, 1, count, datatype, dest, tag, comm, *request); })
/* clang-format off */
#define RECV(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 1, MPI_Status own;, STATUS, \
		OK { vt_received(&k, status, source, comm); } else { vt_receive_failed(&k, rc, status, source, tag, comm); })
/* clang-format on */
#define IRECV(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 0, , , \
		OK { vt_posted(&k, VT_REQUEST_RECEIVE, 0, count, datatype, source, tag, comm, *request); })
#define RECV_INIT(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 0, , , \
		OK { vt_posted(&k, VT_REQUEST_RECEIVE, 1, count, datatype, source, tag, comm, *request); })
#define SENDRECV(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 1, MPI_Status own;, STATUS; vt_send(&k, sendcount, sendtype, dest, sendtag, comm), \
		OK { \
			vt_received(&k, status, source, comm); \
		} else if (!vt_receive_failed(&k, rc, status, source, recvtag, comm)) { vt_send_failed(&k); })
#define SENDRECV_REPLACE(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 1, MPI_Status own;, STATUS; vt_send(&k, count, datatype, dest, sendtag, comm), \
		OK { \
			vt_received(&k, status, source, comm); \
		} else if (!vt_receive_failed(&k, rc, status, source, recvtag, comm)) { vt_send_failed(&k); })
#define ISENDRECV(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 0, , vt_send(&k, sendcount, sendtype, dest, sendtag, comm), \
		OK { vt_posted_both(&k, recvcount, recvtype, source, recvtag, comm, *request); } else { \
			vt_send_failed(&k); \
		})
#define ISENDRECV_REPLACE(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 0, , vt_send(&k, count, datatype, dest, sendtag, comm), \
		OK { vt_posted_both(&k, count, datatype, source, recvtag, comm, *request); } else { \
			vt_send_failed(&k); \
		})
#define PSEND_INIT(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 0, , , \
		OK { vt_partitioned(&k, VT_REQUEST_SEND, partitions, count, datatype, dest, tag, comm, *request); })
#define PRECV_INIT(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 0, , , OK { \
			vt_partitioned( \
				&k, VT_REQUEST_RECEIVE, partitions, count, datatype, dest, tag, comm, *request); \
		})

/* clang-format off */
#define MPROBE(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 1, MPI_Status own;, STATUS, OK { vt_matched(&k, *message, status, comm); })
/* clang-format on */
#define IMPROBE(name, lower, UPPER, params, args) \
	POLL( \
		name, params, args, MPI_Status own; \
		, STATUS, *flag, if (rc == MPI_SUCCESS && *flag) { vt_matched(&k, *message, status, comm); })
#define MRECV(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 1, MPI_Status own; struct vt_request *m = NULL;, STATUS; \
		m = vt_message_take(*message), vt_message_received(&k, m, vt_took_message(rc) ? status : NULL))
#define IMRECV(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 0, struct vt_request *m = NULL;, m = vt_message_take(*message), \
		vt_message_posted(&k, m, rc == MPI_SUCCESS ? *request : MPI_REQUEST_NULL))

/* ---- requests ---- */

#define CANCEL(name, lower, UPPER, params, args) WRAPPER(name, params, args, 0, , vt_cancel(*request), )
#define REQUEST_FREE(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 0, , vt_request_freed(&k, *request), )
#define START(name, lower, UPPER, params, args) WRAPPER(name, params, args, 0, , vt_started(&k, *request), )
/* clang-format off */
#define STARTALL(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 0, int i;, for (i = 0; i < count; i++) { vt_started(&k, array_of_requests[i]); }, )
/* clang-format on */

#define WAITING(name, params, args, n, requests, statuses, ignored, after) \
	WRAPPER(name, params, args, 1, struct vt_wait w;, vt_wait_begin(&w, n, requests); \
		statuses = vt_wait_statuses(&w, statuses, statuses == ignored), after vt_wait_end(&w))
#define TESTING(name, params, args, n, requests, statuses, ignored, found, after) \
	POLL(name, params, args, struct vt_wait w;, vt_wait_begin(&w, n, requests); \
		statuses = vt_wait_statuses(&w, statuses, statuses == ignored), found, after vt_wait_end(&w))
/* clang-format off */
#define WAIT(name, lower, UPPER, params, args) \
	WAITING(name, params, args, 1, request, status, MPI_STATUS_IGNORE, vt_wait_some(&k, &w, 0, 0, rc);)
/* clang-format on */
#define TEST(name, lower, UPPER, params, args) \
	TESTING( \
		name, params, args, 1, request, status, MPI_STATUS_IGNORE, *flag, \
		if (rc != MPI_SUCCESS || *flag) { vt_wait_some(&k, &w, 0, 0, rc); })
#define WAITANY(name, lower, UPPER, params, args) \
	WAITING( \
		name, params, args, count, array_of_requests, status, MPI_STATUS_IGNORE, \
		if (vt_took_message(rc) && *index != MPI_UNDEFINED) { vt_wait_some(&k, &w, *index, 0, rc); })
#define TESTANY(name, lower, UPPER, params, args) \
	TESTING( \
		name, params, args, count, array_of_requests, status, MPI_STATUS_IGNORE, \
		*flag &&*index != MPI_UNDEFINED, \
		if (vt_took_message(rc) && *flag && *index != MPI_UNDEFINED) { vt_wait_some(&k, &w, *index, 0, rc); })
#define WAITALL(name, lower, UPPER, params, args) \
	WAITING(name, params, args, count, array_of_requests, array_of_statuses, MPI_STATUSES_IGNORE, \
		vt_wait_all(&k, &w, rc);)
#define TESTALL(name, lower, UPPER, params, args) \
	TESTING( \
		name, params, args, count, array_of_requests, array_of_statuses, MPI_STATUSES_IGNORE, *flag, \
		if (rc != MPI_SUCCESS || *flag) { vt_wait_all(&k, &w, rc); })
#define COMPLETED_SOME \
	if ((rc == MPI_SUCCESS || rc == MPI_ERR_IN_STATUS) && *outcount != MPI_UNDEFINED) { \
		int i; \
		for (i = 0; i < *outcount; i++) { \
			vt_wait_some(&k, &w, array_of_indices[i], (size_t)i, rc); \
		} \
	}
#define WAITSOME(name, lower, UPPER, params, args) \
	WAITING(name, params, args, incount, array_of_requests, array_of_statuses, MPI_STATUSES_IGNORE, COMPLETED_SOME)
#define TESTSOME(name, lower, UPPER, params, args) \
	TESTING(name, params, args, incount, array_of_requests, array_of_statuses, MPI_STATUSES_IGNORE, \
		*outcount > 0 && *outcount != MPI_UNDEFINED, COMPLETED_SOME)

/* ---- collective operations: the arguments of each ---- */

#define IN_PLACE(buffer) ((buffer) == MPI_IN_PLACE)
#define SENT VT_SIDE(sendcount, sendtype)
#define RECEIVED VT_SIDE(recvcount, recvtype)
#define COUNTS_SENT VT_SIDE_COUNTS(sendcounts, sizeof(sendcounts[0]), sendtype)
#define COUNTS_RECEIVED VT_SIDE_COUNTS(recvcounts, sizeof(recvcounts[0]), recvtype)
#define TYPES_SENT VT_SIDE_TYPES(sendcounts, sizeof(sendcounts[0]), sendtypes, 0)
#define TYPES_RECEIVED VT_SIDE_TYPES(recvcounts, sizeof(recvcounts[0]), recvtypes, 0)

#define SHARE_barrier(s)
#define SHARE_bcast(s) vt_share_bcast(s, count, datatype, root)
#define SHARE_reduce(s) vt_share_reduce(s, count, datatype, root)
#define SHARE_allreduce(s) vt_share_allreduce(s, count, datatype)
#define SHARE_gather(s) vt_share_gather(s, IN_PLACE(sendbuf), SENT, RECEIVED, root)
#define SHARE_gatherv(s) vt_share_gather(s, IN_PLACE(sendbuf), SENT, COUNTS_RECEIVED, root)
#define SHARE_scatter(s) vt_share_scatter(s, IN_PLACE(recvbuf), SENT, RECEIVED, root)
#define SHARE_scatterv(s) vt_share_scatter(s, IN_PLACE(recvbuf), COUNTS_SENT, RECEIVED, root)
#define SHARE_allgather(s) vt_share_allgather(s, IN_PLACE(sendbuf), SENT, RECEIVED)
#define SHARE_allgatherv(s) vt_share_allgather(s, IN_PLACE(sendbuf), SENT, COUNTS_RECEIVED)
#define SHARE_alltoall(s) vt_share_alltoall(s, IN_PLACE(sendbuf), SENT, RECEIVED)
#define SHARE_alltoallv(s) vt_share_alltoall(s, IN_PLACE(sendbuf), COUNTS_SENT, COUNTS_RECEIVED)
#define SHARE_alltoallw(s) vt_share_alltoall(s, IN_PLACE(sendbuf), TYPES_SENT, TYPES_RECEIVED)
#define SHARE_reduce_scatter(s) vt_share_reduce_scatter(s, VT_SIDE_COUNTS(recvcounts, sizeof(recvcounts[0]), datatype))
#define SHARE_reduce_scatter_block(s) vt_share_reduce_scatter(s, VT_SIDE(recvcount, datatype))
#define SHARE_neighbor_allgather(s) vt_share_neighbors(s, SENT, RECEIVED)
#define SHARE_neighbor_allgatherv(s) vt_share_neighbors(s, SENT, COUNTS_RECEIVED)
#define SHARE_neighbor_alltoall(s) vt_share_neighbors(s, SENT, RECEIVED)
#define SHARE_neighbor_alltoallv(s) vt_share_neighbors(s, COUNTS_SENT, COUNTS_RECEIVED)
#define SHARE_neighbor_alltoallw(s) vt_share_neighbors(s, TYPES_SENT, TYPES_RECEIVED)

#define COLLECTIVE(name, params, args, may_follow, op, measure, after) \
	WRAPPER( \
		name, params, args, may_follow, struct vt_share s; int known = 0; \
		, known = vt_share_begin(&s, VT_RAW_OP_##op, comm); \
		if (known) { SHARE_##measure(&s); }, if (known && rc == MPI_SUCCESS) { after; })
#define COLL(name, lower, UPPER, params, args, op, measure) \
	COLLECTIVE(name, params, args, 1, op, measure, vt_share_end(&k, &s))
#define COLL_I(name, lower, UPPER, params, args, op, measure) \
	COLLECTIVE(name, params, args, 0, op, measure, vt_share_posted(&k, &s, *request))
#define COLL_INIT(name, lower, UPPER, params, args, op, measure) \
	COLLECTIVE(name, params, args, 1, op, measure, vt_share_prepared(&k, &s, *request))

/* ---- communicators ---- */

#define NEWCOMM(name, lower, UPPER, params, args, prefix, parent, fresh, i, j) \
	WRAPPER( \
		name, params, args, 1, struct vt_comm *p = NULL; uint32_t number = 0;, p = vt_comm_of(parent); \
		number = vt_comm_creates(p), \
		OK { vt_comm_created(VT_RAW_COMM_COLLECTIVE, prefix, p, number, 0, *fresh); })
#define GROUPCOMM(name, lower, UPPER, params, args, prefix, parent, fresh, tag, i, j, l) \
	WRAPPER( \
		name, params, args, 1, struct vt_comm *p = NULL; \
		, p = vt_comm_of(parent), OK { vt_comm_created(VT_RAW_COMM_GROUP, prefix, p, 0, tag, *fresh); })
#define JOINED(name, lower, UPPER, params, args, prefix, parent, fresh, i, j) \
	WRAPPER( \
		name, params, args, VT_OUTSIDE, struct vt_comm *p = NULL; \
		, p = vt_comm_of(parent), OK { vt_comm_created(VT_RAW_COMM_GROUP, prefix, p, 0, 0, *fresh); })
#define SPAWN(name, lower, UPPER, params, args, prefix, parent, fresh, i, j, n, commands) \
	WRAPPER( \
		name, params, args, VT_OUTSIDE, struct vt_comm *p = NULL;, p = vt_comm_of(parent), OK { \
			vt_comm_created(VT_RAW_COMM_GROUP, prefix, p, 0, 0, *fresh); \
			vt_ranks_spawned(n, (const char *const *)commands, root, comm); \
		})
#define COMM_FREE(name, lower, UPPER, params, args) WRAPPER(name, params, args, 1, , vt_comm_gone(*comm), )
#define COMM_DISCONNECT(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, VT_OUTSIDE, , vt_comm_disconnected(*comm), )
/* clang-format off */
#define COMM_NAME(name, lower, UPPER, params, args) WRAPPER(name, params, args, 0, , , OK { vt_comm_named(comm); })
/* clang-format on */
#define IDUP(name, lower, UPPER, params, args) \
	WRAPPER( \
		name, params, args, 0, struct vt_comm *p = NULL; uint32_t number = 0;, p = vt_comm_of(comm); \
		number = vt_comm_creates(p), OK { vt_comm_posted(&k, p, number, *request, newcomm, 0); })
#define IDUP_WITH_INFO(name, lower, UPPER, params, args) IDUP(name, lower, UPPER, params, args)

/* ---- files and windows: dir is READ or WRITE ---- */

#define IO_AROUND(name, params, args, may_follow, variables, status, dir, after) \
	WRAPPER(name, params, args, may_follow, variables, status; \
		vt_io_begin(&k, VT_RAW_##dir, fh, count, datatype), after)
#define IO(name, lower, UPPER, params, args, dir, at) \
	IO_AROUND(name, params, args, VT_OUTSIDE, MPI_Status own; \
		  , STATUS, dir, vt_io_end(&k, rc == MPI_SUCCESS ? status : NULL))
#define IO_POSTED(name, lower, UPPER, params, args, dir, at) \
	IO_AROUND(name, params, args, VT_OUTSIDE, , , dir##_POSTED, \
		vt_io_posted(&k, rc, rc == MPI_SUCCESS ? *request : MPI_REQUEST_NULL))
#define IO_BEGUN(name, lower, UPPER, params, args, dir, at) \
	IO_AROUND(name, params, args, VT_OUTSIDE, , , dir, vt_io_all(&k, rc))
/* clang-format off */
#define FILE_OPEN(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, VT_OUTSIDE, , , OK { vt_file_opened(*fh, filename, filename ? strlen(filename) : 0, comm); })
/* clang-format on */
#define FILE_CLOSE(name, lower, UPPER, params, args) WRAPPER(name, params, args, VT_OUTSIDE, , vt_file_closed(*fh), )
/* clang-format off */
#define NEWWIN(name, lower, UPPER, params, args, i, j) \
	WRAPPER(name, params, args, 1, , , OK { vt_window_made(*win, comm); })
/* clang-format on */
#define WIN_FREE(name, lower, UPPER, params, args) WRAPPER(name, params, args, 1, , vt_window_gone(*win), )
/* clang-format off */
#define WIN_FENCE(name, lower, UPPER, params, args) WRAPPER(name, params, args, 1, , , OK { vt_window_fenced(&k, win); })
#define WIN_WAIT(name, lower, UPPER, params, args) WRAPPER(name, params, args, 1, , , OK { vt_window_waited(&k, win); })
#define WIN_POST(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 1, , vt_window_posts(&k, win, group), vt_window_posted(&k, win, rc != MPI_SUCCESS))
#define WIN_START(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 1, , , OK { vt_window_started(&k, win, group); })
#define WIN_COMPLETE(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 1, , vt_window_completes(&k, win), \
		vt_window_completed(&k, win, rc != MPI_SUCCESS))
#define WIN_LOCK(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 1, , , OK { vt_window_locked(&k, win, rank, lock_type, assert); })
#define WIN_FLUSH(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 1, , , OK { vt_window_flushed(&k, win, rank); })
#define WIN_FLUSH_ALL(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 1, , , OK { vt_window_flushed(&k, win, -1); })
#define WIN_UNLOCK(name, lower, UPPER, params, args) \
	WRAPPER(name, params, args, 1, , , OK { vt_window_unlocked(&k, win, rank); })
#define WIN_TEST(name, lower, UPPER, params, args) \
	POLL(name, params, args, , , *flag, if (rc == MPI_SUCCESS && *flag) { vt_window_waited(&k, win); })
/* clang-format on */
#define RMA(name, lower, UPPER, params, args, dir, w, r) \
	WRAPPER(name, params, args, 1, , \
		vt_rma_begin(&k, VT_RAW_##dir, target_rank, win, origin_count, origin_datatype), vt_io_all(&k, rc))
#define RMA_BOTH(name, lower, UPPER, params, args, w, r) \
	WRAPPER(name, params, args, 1, , \
		vt_rma_begin(&k, VT_RAW_WRITE, target_rank, win, origin_count, origin_datatype), \
		vt_rma_both(&k, target_rank, win, result_count, result_datatype, rc))
#define RMA_ONE(name, lower, UPPER, params, args, t, w) \
	WRAPPER(name, params, args, 1, , vt_rma_begin(&k, VT_RAW_WRITE, target_rank, win, 1, datatype), \
		vt_rma_both(&k, target_rank, win, 1, datatype, rc))

#include "collector-plugin/mpi/calls.def"
#if VT_MPI >= 400
#include "collector-plugin/mpi/calls4.def"
#endif
#if MPI_VERSION >= 4
#include "collector-plugin/mpi/calls_large.def"
#endif

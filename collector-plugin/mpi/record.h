/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wrappers of MPI calls record, in terms of C handles. calls.c and fortran.c say for each call of calls.def
 * where its arguments are. All functions do nothing if no collector runs. They also track requests while the thread
 * does not record, because a request posted now may complete when it does. */
#ifndef COLLECTOR_PLUGIN_MPI_RECORD_H
#define COLLECTOR_PLUGIN_MPI_RECORD_H

#include <mpi.h>
#include <stdint.h>

#include "collector-plugin/mpi/abi/version.h"
#include "collector-plugin/mpi/communicators.h"
#include "collector-plugin/mpi/private.h"
#include "collector-plugin/mpi/requests.h"
#include "collector-plugin/raw/operations.h"

/* ---- messages ---- */

/* Before a call that sends or that posts a send. */
VT_HIDDEN void vt_send(struct vt_mpi_call *k, long long count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
/* After such a call that failed, so nothing was sent. */
VT_HIDDEN void vt_send_failed(struct vt_mpi_call *k);
/* Has a call with this result taken its message? One that was too long is gone, too, and counts in the order of its
 * channel. */
static inline int vt_took_message(int rc)
{
	int class = MPI_SUCCESS;

	return __builtin_expect(rc == MPI_SUCCESS, 1) ||
		(PMPI_Error_class(rc, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE);
}

/* After a call that has received. status may be NULL. */
VT_HIDDEN void vt_received(struct vt_mpi_call *k, const MPI_Status *status, int from, MPI_Comm comm);
/* After such a call that failed. Returns 1 if it has taken its message all the same. */
VT_HIDDEN int vt_receive_failed(
	struct vt_mpi_call *k, int rc, const MPI_Status *status, int from, int tag, MPI_Comm comm);
/* After a call that has posted a send or receive: makes an entry for its request. bytes: count x type. */
VT_HIDDEN void vt_posted(struct vt_mpi_call *k, enum vt_request_kind kind, int persistent, long long count,
	MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request request);
/* MPI_Isendrecv. count, type: the room for what it receives. */
VT_HIDDEN void vt_posted_both(struct vt_mpi_call *k, long long count, MPI_Datatype type, int from, int tag,
	MPI_Comm comm, MPI_Request request);
VT_HIDDEN void vt_partitioned(struct vt_mpi_call *k, enum vt_request_kind kind, int partitions, long long count,
	MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request request);
/* Before MPI_Start(). */
VT_HIDDEN void vt_started(struct vt_mpi_call *k, MPI_Request request);

/* MPI_Mprobe and the calls that receive its message. The entry of a message is taken before the call, while the
 * message still has its handle, and given back after the call. status NULL, request MPI_REQUEST_NULL: the call
 * failed. */
VT_HIDDEN void vt_matched(struct vt_mpi_call *k, MPI_Message message, const MPI_Status *status, MPI_Comm comm);
VT_HIDDEN struct vt_request *vt_message_take(MPI_Message message);
VT_HIDDEN void vt_message_received(struct vt_mpi_call *k, struct vt_request *message, const MPI_Status *status);
VT_HIDDEN void vt_message_posted(struct vt_mpi_call *k, struct vt_request *message, MPI_Request request);

/* This rank lets another one go on, and has gone on because another one let it, without a message of the program: a message of no
 * bytes. It has waited since `post`, in a call that it left at `left`, or in this one if the other came later; left 0: in this one. */
VT_HIDDEN void vt_lets_go(const struct vt_mpi_call *k, const struct vt_comm *c, int to, int tag);
/* After the call, if it failed: it did not let the rank go on. */
VT_HIDDEN void vt_holds_back(const struct vt_mpi_call *k, const struct vt_comm *c, int to, int tag);
VT_HIDDEN void vt_went_on(
	const struct vt_mpi_call *k, const struct vt_comm *c, int from, int tag, int64_t post, int64_t left);

/* The lock of a window at a rank of it, and when it was asked for. */
struct vt_window_lock {
	int64_t enter, leave; /* of the call that asked; enter 0: there is no lock */
	int64_t done; /* end of the first call that was complete with the lock only; 0: that which gives it back */
	int exclusive;
};
/* The call gave it back. */
VT_HIDDEN void vt_unlocked(
	const struct vt_mpi_call *k, const struct vt_comm *c, int target, const struct vt_window_lock *l);

VT_HIDDEN void vt_cancel(MPI_Request request);
/* Before MPI_Request_free(). */
VT_HIDDEN void vt_request_freed(struct vt_mpi_call *k, MPI_Request request);

/* ---- waiting and testing ---- */

enum { VT_WAIT_FEW = 16 };

/* The requests of a call that may complete them, as they were before the call, with room for statuses that the
 * program does not want. */
struct vt_wait {
	size_t n; /* 0: none of them can have an entry */
	union {
		uint64_t handle;
		struct vt_request *entry; /* NULL: none, or it is complete */
	} * request, few_requests[VT_WAIT_FEW];
	MPI_Status *status;
	int held;    /* the entries are held before the call; else they are looked for after it */
	int fortran; /* status[] has Fortran statuses */
	MPI_Status few_statuses[VT_WAIT_FEW];
};

VT_HIDDEN void vt_wait_begin(struct vt_wait *w, long long n, const MPI_Request *request);
VT_HIDDEN void vt_wait_begin_f(struct vt_wait *w, long long n, const MPI_Fint *request);
/* The array of statuses to pass to MPI. */
static inline void *vt_wait_statuses(struct vt_wait *w, void *own, int ignored)
{
	if (!ignored) {
		w->status = own;
	}
	return w->n ? w->status : own;
}

/* After the call, for each request that it reports as complete: the i-th request, whose status is the at-th. */
/* rc: the result of the call. */
VT_HIDDEN void vt_wait_some(struct vt_mpi_call *k, struct vt_wait *w, long long i, size_t at, int rc);
VT_HIDDEN void vt_wait_all(struct vt_mpi_call *k, struct vt_wait *w, int rc);
/* What is left after that. */
VT_HIDDEN void vt_wait_release(struct vt_wait *w);
static inline void vt_wait_end(struct vt_wait *w)
{
	if (w->n && (w->held || w->n > VT_WAIT_FEW)) {
		vt_wait_release(w);
	}
}

/* ---- collective operations ---- */

/* The part of this process in a collective operation. */
struct vt_share {
	int op; /* VT_RAW_OP_... */
	struct vt_comm *comm;
	/* The root: the own rank if it is this process; -1: there is none, or it is another process of the own group
	 * of an intercommunicator. */
	int root;
	uint32_t number;
	uint64_t sent, received;
};

VT_HIDDEN uint64_t vt_type_bytes(long long count, MPI_Datatype type);
/* After a blocking operation; after the start of one with a request; after the preparation of a persistent one. */
VT_HIDDEN void vt_share_end(struct vt_mpi_call *k, const struct vt_share *s);
VT_HIDDEN void vt_share_posted(struct vt_mpi_call *k, const struct vt_share *s, MPI_Request request);
VT_HIDDEN void vt_share_prepared(struct vt_mpi_call *k, const struct vt_share *s, MPI_Request request);

/* After a call that has posted a transfer to or from a file. Returns 1: the call that completes the request ends the
 * transfer. */
VT_HIDDEN int vt_outside_posted(struct vt_mpi_call *k, MPI_Request request);

/* ---- communicators ---- */

/* MPI_Comm_idup: the new handle is valid when the request is complete. */
VT_HIDDEN void vt_comm_posted(
	struct vt_mpi_call *k, struct vt_comm *parent, uint32_t number, MPI_Request request, void *target, int fortran);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wrappers of MPI calls record, in terms of C handles: calls.c and fortran.c say for each call of calls.def where its
 * arguments are. All do nothing where no collector runs, and track requests also while the thread does not record, because what is
 * posted now may be complete when it does. */
#ifndef COLLECTOR_PLUGIN_MPI_RECORD_H
#define COLLECTOR_PLUGIN_MPI_RECORD_H

#include <mpi.h>
#include <stdint.h>

#include "collector-plugin/mpi/communicators.h"
#include "collector-plugin/mpi/private.h"
#include "collector-plugin/mpi/requests.h"
#include "collector-plugin/raw/operations.h"

/* ---- messages ---- */

/* Before a call that sends, or that posts a send. NULL status is none. */
VT_HIDDEN void vt_send(struct vt_mpi_call *k, long long count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
/* After it: it failed, so nothing was sent. */
VT_HIDDEN void vt_send_failed(struct vt_mpi_call *k);
/* After a call that has received. */
VT_HIDDEN void vt_received(struct vt_mpi_call *k, const MPI_Status *status, int from, MPI_Comm comm);
/* After a call that has posted one: entry of its request. bytes: count x type. */
VT_HIDDEN void vt_posted(struct vt_mpi_call *k, enum vt_request_kind kind, int persistent, long long count,
	MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request request);
VT_HIDDEN void vt_posted_both(struct vt_mpi_call *k, int from, int tag, MPI_Comm comm, MPI_Request request);
VT_HIDDEN void vt_partitioned(struct vt_mpi_call *k, enum vt_request_kind kind, int partitions, long long count,
	MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request request);
/* Before MPI_Start(). */
VT_HIDDEN void vt_started(struct vt_mpi_call *k, MPI_Request request);

/* MPI_Mprobe and what receives its message: taken before the call, while the message still has its handle, and given back after it.
 * status NULL, request MPI_REQUEST_NULL: the call failed. */
VT_HIDDEN void vt_matched(struct vt_mpi_call *k, MPI_Message message, const MPI_Status *status, MPI_Comm comm);
VT_HIDDEN struct vt_request *vt_message_take(MPI_Message message);
VT_HIDDEN void vt_message_received(struct vt_mpi_call *k, struct vt_request *message, const MPI_Status *status);
VT_HIDDEN void vt_message_posted(struct vt_mpi_call *k, struct vt_request *message, MPI_Request request);

VT_HIDDEN void vt_cancel(MPI_Request request);
/* Before MPI_Request_free(). */
VT_HIDDEN void vt_request_freed(struct vt_mpi_call *k, MPI_Request request);

/* ---- waiting and testing ---- */

enum { VT_WAIT_FEW = 16 };

/* The requests of a call that may complete them, as they were before it, and a place for statuses that the program does not want. */
struct vt_wait {
	size_t n, there; /* there: how many of them are known; 0: the rest is not filled in */
	struct vt_request **request;
	MPI_Status *status;
	int fortran; /* status[] is of Fortran's kind */
	struct vt_request *few_requests[VT_WAIT_FEW];
	MPI_Status few_statuses[VT_WAIT_FEW];
};

VT_HIDDEN void vt_wait_begin(struct vt_mpi_call *k, struct vt_wait *w, long long n, const MPI_Request *request);
VT_HIDDEN void vt_wait_begin_f(struct vt_mpi_call *k, struct vt_wait *w, long long n, const MPI_Fint *request);
/* What the call is to be given for statuses. */
VT_HIDDEN void *vt_wait_statuses(struct vt_wait *w, void *own, int ignored);

/* After the call. done: it says that the i-th (in statuses: the at-th) request is complete. */
VT_HIDDEN void vt_wait_one(struct vt_mpi_call *k, struct vt_wait *w, long long i, size_t at);
VT_HIDDEN void vt_wait_all(struct vt_mpi_call *k, struct vt_wait *w, int rc);
VT_HIDDEN void vt_wait_end(struct vt_mpi_call *k, struct vt_wait *w);

/* ---- collective operations ---- */

/* What this process does in one. */
struct vt_share {
	int op; /* VT_RAW_OP_... */
	struct vt_comm *comm;
	int root; /* own rank: this one; -1: none, or another process of the own group of an intercommunicator */
	uint32_t number;
	uint64_t sent, received;
};

VT_HIDDEN uint64_t vt_type_bytes(long long count, MPI_Datatype type);
/* Begins with the communicator. 0: nothing is to be recorded. */
VT_HIDDEN int vt_share_begin(struct vt_share *s, int op, MPI_Comm comm);
VT_HIDDEN void vt_share_root(struct vt_share *s, int root);
/* Degrees of neighbourhoods. */
VT_HIDDEN void vt_degrees(MPI_Comm comm, int *in, int *out);
/* After a blocking one, one that has been begun with a request, and one that is only prepared. */
VT_HIDDEN void vt_share_end(struct vt_mpi_call *k, const struct vt_share *s);
VT_HIDDEN void vt_share_posted(struct vt_mpi_call *k, const struct vt_share *s, MPI_Request request);
VT_HIDDEN void vt_share_prepared(struct vt_mpi_call *k, const struct vt_share *s, MPI_Request request);

/* ---- communicators ---- */

/* MPI_Comm_idup: the handle is there when the request is complete. */
VT_HIDDEN void vt_comm_posted(
	struct vt_mpi_call *k, struct vt_comm *parent, uint32_t number, MPI_Request request, void *target, int fortran);

#endif

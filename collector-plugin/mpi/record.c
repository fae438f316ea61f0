/* SPDX-License-Identifier: BSD-3-Clause */
/* Records calls of MPI: states, messages, requests and collective operations. */
#include "config.h"
#include "collector-plugin/mpi/record.h"

#include <stdlib.h>
#include <string.h>

#include "collector-plugin/core/hooks.h"
#include "collector-plugin/mpi/outside.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/stats/stats.h"
#include "collector-plugin/trace/trace.h"

static struct vt_requests requests, messages, channels;

static uint64_t key(MPI_Request request)
{
	return (uint64_t)(uintptr_t)request;
}

static uint64_t message_key(MPI_Message message)
{
	return (uint64_t)(uintptr_t)message;
}

static void find_bytes(void);

/* One thread calls MPI: the records of the one that posted a transfer can be ended where its request completes. */
static int one_completes;

void vt_record_begin(struct vt_collect *c)
{
	int level = MPI_THREAD_MULTIPLE;

	vt_hooks.mpi_left = vt_mpi_leave_abandoned;
	PMPI_Query_thread(&level);
	requests.threads = messages.threads = channels.threads = level == MPI_THREAD_MULTIPLE;
	one_completes = level <= MPI_THREAD_FUNNELED;
	find_bytes();
	vt_comms_begin(c);
}

/* ---- records ---- */

/* Records one end of a message. */
static inline void emit_message(
	const struct vt_mpi_call *k, int64_t stamp, enum vt_raw_message_kind kind, const struct vt_raw_message *m)
{
	if (k->recorded && vt_trace_on()) {
		vt_trace_message(ltick(stamp), kind, m);
	}
}

static inline struct vt_raw_message message_of(const struct vt_comm *c, int peer, int tag, uint64_t bytes)
{
	return (struct vt_raw_message){ .communicator = c->id,
		.peer = peer,
		.tag = tag,
		.bytes = (uint32_t)bytes,
		.bytes_high = (uint32_t)(bytes >> 32) };
}

/* Counts for STATISTICS, whether the call is recorded or not. */
static inline void count_communication(
	const struct vt_mpi_call *k, enum vt_raw_row_kind kind, uint32_t communicator, int peer, uint64_t bytes)
{
	if (__builtin_expect(k->frame && vt_tls.trace && vt_tls.trace->stats, 0)) {
		vt_trace_communicates(kind, communicator, peer, bytes);
	}
}

/* The bytes of this process's share that STATISTICS counts (Intel Trace Collector guide, section 2.8.2). */
static uint64_t counted_bytes(const struct vt_share *s)
{
	switch (s->op) {
	case VT_RAW_OP_GATHER:
	case VT_RAW_OP_GATHERV:
	case VT_RAW_OP_IGATHER:
	case VT_RAW_OP_IGATHERV:
	case VT_RAW_OP_REDUCE:
	case VT_RAW_OP_IREDUCE:
		return s->sent;
	case VT_RAW_OP_SCATTER:
	case VT_RAW_OP_SCATTERV:
	case VT_RAW_OP_ISCATTER:
	case VT_RAW_OP_ISCATTERV:
		return s->received;
	default:
		return s->sent + s->received;
	}
}

static inline void emit_send(const struct vt_mpi_call *k, struct vt_raw_message m)
{
	count_communication(k, VT_RAW_ROW_SEND, m.communicator, m.peer, (uint64_t)m.bytes_high << 32 | m.bytes);
	emit_message(k, k->enter, VT_RAW_MESSAGE_SEND, &m);
}

/* Records a receive that is complete, and was posted at that tick. */
static inline void emit_receive(const struct vt_mpi_call *k, struct vt_raw_message m, int64_t post)
{
	count_communication(k, VT_RAW_ROW_RECEIVE, m.communicator, m.peer, (uint64_t)m.bytes_high << 32 | m.bytes);
	m.since = k->leave - post; /* negative if the clock was set back meanwhile */
	emit_message(k, k->leave, VT_RAW_MESSAGE_RECEIVE, &m);
}

/* ---- messages ---- */

uint64_t vt_type_bytes(long long count, MPI_Datatype type)
{
	MPI_Count size = 0;

	/* most messages have one of these types */
	if (count > 0 && (type == MPI_BYTE || type == MPI_CHAR)) {
		return (uint64_t)count;
	}
	if (count > 0 && (type == MPI_DOUBLE || type == MPI_INT || type == MPI_FLOAT)) {
		return (uint64_t)count *
			(type == MPI_DOUBLE               ? sizeof(double)
					: type == MPI_INT ? sizeof(int)
							  : sizeof(float));
	}
	if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) {
		return 0;
	}
	return (uint64_t)count * (uint64_t)size;
}

/* Where in a status MPI stores the number of bytes received, if it stores it as it is; 0: MPI must be asked. */
static size_t bytes_at;

/* Finds that place by trying, so it works with any MPI: sets a number of bytes through MPI and searches the status
 * for it. */
static void find_bytes(void)
{
	static const MPI_Count tried[] = { 1, 0x12345, ((MPI_Count)1 << 33) + 7 };
	size_t at, i, right;

	bytes_at = 0;
	for (at = sizeof(uint64_t); at + sizeof(uint64_t) <= sizeof(MPI_Status); at += sizeof(uint64_t)) {
		for (i = right = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
			MPI_Status status;
			uint64_t there;

			memset(&status, 0, sizeof(status));
			if (PMPI_Status_set_elements_x(&status, MPI_BYTE, tried[i]) == MPI_SUCCESS) {
				memcpy(&there, (const char *)&status + at, sizeof(there));
				right += there == (uint64_t)tried[i];
			}
		}
		if (right == sizeof(tried) / sizeof(tried[0])) {
			bytes_at = at;
		}
	}
}

static inline uint64_t status_bytes(const MPI_Status *status)
{
	MPI_Count n = 0;
	uint64_t there;

	if (__builtin_expect(bytes_at != 0, 1)) {
		memcpy(&there, (const char *)status + bytes_at, sizeof(there));
		return there;
	}
	return PMPI_Get_elements_x(status, MPI_BYTE, &n) == MPI_SUCCESS && n > 0 ? (uint64_t)n : 0;
}

void vt_send(struct vt_mpi_call *k, long long count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
	struct vt_comm *c = to == MPI_PROC_NULL ? NULL : vt_comm_of(comm);

	k->sent = NULL;
	if (c) {
		k->sent = c;
		k->to = to;
		k->tag = tag;
		k->bytes = vt_type_bytes(count, type);
		emit_send(k, message_of(c, to, tag, k->bytes));
		if (__builtin_expect(vt_mpi_own_errors, 0)) {
			vt_tls.mpi.sent = c;
			vt_tls.mpi.to = to;
			vt_tls.mpi.tag = tag;
			vt_tls.mpi.recorded = k->recorded;
			vt_tls.mpi.sent_at = k->enter;
		}
	}
}

/* Records that a send did not happen. post: when it was posted, which also identifies it among the events of its
 * thread. */
static void take_back_send(
	const struct vt_mpi_call *k, int64_t stamp, const struct vt_comm *c, int to, int tag, int64_t post)
{
	struct vt_raw_message m = message_of(c, to, tag, 0);

	m.since = stamp - post;
	emit_message(k, stamp, VT_RAW_MESSAGE_TAKEN_BACK, &m);
}

void vt_send_failed(struct vt_mpi_call *k)
{
	if (k->sent) {
		take_back_send(k, k->leave, k->sent, k->to, k->tag, k->enter);
	}
}

void vt_received(struct vt_mpi_call *k, const MPI_Status *status, int from, MPI_Comm comm)
{
	struct vt_comm *c = from == MPI_PROC_NULL ? NULL : vt_comm_of(comm);

	if (c && (k->recorded || vt_stats_wanted())) {
		emit_receive(k, message_of(c, status->MPI_SOURCE, status->MPI_TAG, status_bytes(status)), k->enter);
	}
}

/* Records a receive whose status may be undefined: MPICH 4.0 does not set that of an MPI_Isendrecv, Open MPI in Fortran
 * none of a call that failed. The arguments count first, then a status that agrees with them. room: 0: unknown. */
static void emit_doubtful_receive(
	struct vt_mpi_call *k, const struct vt_request *r, const MPI_Status *status, uint64_t room)
{
	int peer = status->MPI_SOURCE, tag = status->MPI_TAG;
	struct vt_raw_message m = message_of(r->comm, r->peer, r->tag, status_bytes(status));

	if ((r->peer == MPI_ANY_SOURCE ? peer < 0 || peer >= r->comm->remote : peer != r->peer) ||
		(r->tag == MPI_ANY_TAG ? tag < 0 : tag != r->tag) ||
		(room && ((uint64_t)m.bytes_high << 32 | m.bytes) > room)) {
		peer = r->peer == MPI_ANY_SOURCE ? VT_RAW_ANY : r->peer;
		tag = r->tag == MPI_ANY_TAG ? VT_RAW_ANY : r->tag;
		m = message_of(r->comm, peer, tag, room);
		if (peer == VT_RAW_ANY || tag == VT_RAW_ANY) {
			m.since = k->leave - r->post;
			m.during = (uint32_t)(r->posted - r->post);
			emit_message(k, k->leave, VT_RAW_MESSAGE_FREED, &m);
			return;
		}
	}
	m.peer = peer;
	m.tag = tag;
	emit_receive(k, m, r->post);
}

int vt_receive_failed(struct vt_mpi_call *k, int rc, const MPI_Status *status, int from, int tag, MPI_Comm comm)
{
	struct vt_request r = { .comm = from == MPI_PROC_NULL ? NULL : vt_comm_of(comm),
		.peer = from,
		.tag = tag,
		.post = k->enter,
		.posted = k->leave };

	if (r.comm && vt_took_message(rc)) {
		emit_doubtful_receive(k, &r, status, 0);
	}
	return vt_took_message(rc);
}

void vt_lets_go(const struct vt_mpi_call *k, const struct vt_comm *c, int to, int tag)
{
	emit_send(k, message_of(c, to, tag, 0));
}

void vt_holds_back(const struct vt_mpi_call *k, const struct vt_comm *c, int to, int tag)
{
	take_back_send(k, k->leave, c, to, tag, k->enter);
}

void vt_went_on(const struct vt_mpi_call *k, const struct vt_comm *c, int from, int tag, int64_t post, int64_t left)
{
	struct vt_raw_message m = message_of(c, from, tag, left ? (uint64_t)(left - post) : 0);

	if (!left) {
		emit_receive(k, m, post);
		return;
	}
	count_communication(k, VT_RAW_ROW_RECEIVE, m.communicator, m.peer, 0);
	m.since = k->leave - post;
	emit_message(k, k->leave, VT_RAW_MESSAGE_EITHER, &m);
}

void vt_unlocked(const struct vt_mpi_call *k, const struct vt_comm *c, int target, const struct vt_window_lock *l)
{
	int tag = l->exclusive ? VT_RAW_LOCK_EXCLUSIVE : VT_RAW_LOCK_SHARED;
	struct vt_raw_message m = message_of(c, target, tag, (uint64_t)(l->leave - l->enter));

	m.since = k->leave - l->enter;
	emit_message(k, k->leave, VT_RAW_MESSAGE_LOCKED, &m);
	m = message_of(c, target, tag, l->done ? (uint64_t)(k->leave - l->done) : 0);
	m.since = k->leave - k->enter;
	emit_message(k, k->leave, VT_RAW_MESSAGE_UNLOCKED, &m);
}

static struct vt_request *add_request(
	struct vt_mpi_call *k, enum vt_request_kind kind, struct vt_comm *c, MPI_Request request)
{
	struct vt_request *r = request == MPI_REQUEST_NULL ? NULL : vt_requests_add(&requests, key(request));

	if (r) {
		r->kind = (uint8_t)kind;
		r->comm = c;
		r->active = 1;
		r->post = k->enter;
		r->posted = k->leave;
		r->recorded = (uint8_t)k->recorded;
	}
	return r;
}

void vt_posted(struct vt_mpi_call *k, enum vt_request_kind kind, int persistent, long long count, MPI_Datatype type,
	int peer, int tag, MPI_Comm comm, MPI_Request request)
{
	struct vt_comm *c = peer == MPI_PROC_NULL ? NULL : vt_comm_of(comm);
	struct vt_request *r = c ? add_request(k, kind, c, request) : NULL;

	if (r) {
		r->persistent = (uint8_t)persistent;
		r->active = !persistent;
		r->peer = peer;
		r->tag = tag;
		r->bytes = persistent ? vt_type_bytes(count, type) : 0;
	}
}

int vt_outside_posted(struct vt_mpi_call *k, MPI_Request request)
{
	struct vt_request *r = vt_mpi_watched || k->file ? add_request(k, VT_REQUEST_OUTSIDE, NULL, request) : NULL;

	if (!r) {
		return 0;
	}
	vt_mpi_outside(1);
	/* another thread may complete it, whose records cannot end what this one has begun */
	if (!one_completes || !r->recorded) {
		return 0;
	}
	r->number = k->file;
	r->op = (uint16_t)k->io;
	r->bytes = k->moving;
	return k->file != 0;
}

/* NULL: the status is not known. */
static void complete_outside(int64_t stamp, const struct vt_request *r, const MPI_Status *status)
{
	ltick_t at = ltick(stamp);
	MPI_Count n = -1;

	vt_mpi_outside(-1);
	if (r->number) {
		if (status && PMPI_Get_elements_x(status, MPI_BYTE, &n) != MPI_SUCCESS) {
			n = -1;
		}
		vt_trace_transfer(&at, 0, (enum vt_raw_io)r->op, r->number, n >= 0 ? (uint64_t)n : r->bytes);
	}
}

void vt_posted_both(struct vt_mpi_call *k, long long count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	MPI_Request request)
{
	struct vt_comm *c = vt_comm_of(comm);
	/* when a send alone is complete, nothing is recorded */
	struct vt_request *r =
		c ? add_request(k, from == MPI_PROC_NULL ? VT_REQUEST_SEND : VT_REQUEST_RECEIVE, c, request) : NULL;

	if (r) {
		r->doubtful = 1;
		r->peer = from == MPI_PROC_NULL ? 0 : from;
		r->tag = tag;
		r->bytes = vt_type_bytes(count, type);
	}
}

/* Partitioned sends and receives are paired in the order in which they are prepared. */
static uint32_t channel_number(const struct vt_comm *c, enum vt_request_kind kind, int peer, int tag)
{
	uint64_t channel = (uint64_t)c->id << 49 | (uint64_t)(kind == VT_REQUEST_RECEIVE) << 48 |
		(uint64_t)(uint16_t)peer << 32 | (uint32_t)tag;
	struct vt_request *r = vt_requests_hold(&channels, channel);
	uint32_t number;

	if (!r) {
		r = vt_requests_add(&channels, channel);
		return r ? r->number = 1 : 0;
	}
	number = ++r->number;
	vt_requests_release(&channels, r, 0);
	return number;
}

void vt_partitioned(struct vt_mpi_call *k, enum vt_request_kind kind, int partitions, long long count,
	MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request request)
{
	struct vt_comm *c = peer == MPI_PROC_NULL ? NULL : vt_comm_of(comm);
	struct vt_request *r = c ? add_request(k, kind, c, request) : NULL;

	if (r) {
		r->persistent = r->partitioned = 1;
		r->active = 0;
		r->peer = peer;
		r->tag = tag;
		r->bytes = vt_type_bytes(count * partitions, type);
		r->number = channel_number(c, kind, peer, tag);
	}
}

/* The message as its request was posted. */
static struct vt_raw_message message_posted(const struct vt_request *r)
{
	struct vt_raw_message m = message_of(r->comm, r->peer, r->tag, r->bytes);

	m.number = r->number;
	return m;
}

void vt_started(struct vt_mpi_call *k, MPI_Request request)
{
	struct vt_request *r = vt_requests_hold(&requests, key(request));

	if (!r) {
		return;
	}
	r->active = 1;
	r->cancelled = 0;
	r->post = r->posted = k->enter;
	if (r->kind == VT_REQUEST_SEND) {
		emit_send(k, message_posted(r));
	} else if (r->kind == VT_REQUEST_COLLECTIVE) {
		r->number = atomic_fetch_add_explicit(r->comm->operations, 1, memory_order_relaxed);
	}
	vt_requests_release(&requests, r, 0);
}

/* ---- matched probes ---- */

void vt_matched(struct vt_mpi_call *k, MPI_Message message, const MPI_Status *status, MPI_Comm comm)
{
	struct vt_comm *c = vt_comm_of(comm);
	struct vt_request *r = NULL;

	if (c && message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC) {
		r = vt_requests_add(&messages, message_key(message));
	}
	if (r) {
		r->kind = VT_REQUEST_MATCHED;
		r->comm = c;
		r->peer = status->MPI_SOURCE;
		r->tag = status->MPI_TAG;
		r->post = k->enter;
		r->posted = k->leave;
	}
}

struct vt_request *vt_message_take(MPI_Message message)
{
	return vt_requests_hold(&messages, message_key(message));
}

void vt_message_received(struct vt_mpi_call *k, struct vt_request *m, const MPI_Status *status)
{
	if (!m) {
		return;
	}
	/* if the call failed, the message may still be there */
	if (status) {
		emit_receive(k, message_of(m->comm, m->peer, m->tag, status_bytes(status)), m->post);
	}
	vt_requests_release(&messages, m, status != NULL);
}

void vt_message_posted(struct vt_mpi_call *k, struct vt_request *m, MPI_Request request)
{
	struct vt_request *r = m ? add_request(k, VT_REQUEST_RECEIVE, m->comm, request) : NULL;

	if (r) {
		/* the message got its place in the order of receives by the probe */
		r->peer = m->peer;
		r->tag = m->tag;
		r->post = m->post;
		r->posted = m->posted;
	}
	if (m) {
		vt_requests_release(&messages, m, request != MPI_REQUEST_NULL);
	}
}

/* ---- ends of requests ---- */

void vt_cancel(MPI_Request request)
{
	struct vt_request *r = vt_requests_hold(&requests, key(request));

	if (r) {
		r->cancelled = 1;
		vt_requests_release(&requests, r, 0);
	}
}

static void emit_share(const struct vt_mpi_call *k, int64_t stamp, const struct vt_share *s, int64_t begin)
{
	struct vt_raw_collective c = { .communicator = s->comm->id,
		.number = s->number,
		.root = s->root,
		.sent = (uint32_t)s->sent,
		.received = (uint32_t)s->received,
		.sent_high = (uint16_t)(s->sent >> 32),
		.received_high = (uint16_t)(s->received >> 32),
		.since = stamp - begin };

	count_communication(k, VT_RAW_ROW_COLLECTIVE, c.communicator, 0, counted_bytes(s));
	if (k->recorded && vt_trace_on()) {
		vt_trace_record(ltick(stamp), VT_RAW_COLLECTIVE, (uint8_t)s->op, &c, sizeof(c));
	}
}

/* The request is complete. Its entry is removed, or, if it is persistent, waits for the next start. */
static void complete_request(struct vt_mpi_call *k, struct vt_request *r, const MPI_Status *status)
{
	int cancelled = 0, recorded = k->recorded;
	MPI_Comm fresh;

	if (r->persistent && !r->active) {
		return;
	}
	/* whether it is recorded depends on the call that posted it: filters may leave out the one that completes it
	 * only */
	k->recorded = r->recorded;
	if (r->cancelled) {
		PMPI_Test_cancelled(status, &cancelled);
	}
	if (r->kind == VT_REQUEST_RECEIVE && !cancelled && r->doubtful && !r->partitioned) {
		emit_doubtful_receive(k, r, status, r->bytes);
	} else if (r->kind == VT_REQUEST_RECEIVE && !cancelled) {
		/* partitioned receives have no wildcards, and their status has no useful values */
		emit_receive(k,
			r->partitioned ? message_posted(r)
				       : message_of(r->comm, status->MPI_SOURCE, status->MPI_TAG, status_bytes(status)),
			r->post);
	} else if (r->kind == VT_REQUEST_SEND && cancelled) {
		take_back_send(k, k->leave, r->comm, r->peer, r->tag, r->post);
	} else if (r->kind == VT_REQUEST_COLLECTIVE) {
		emit_share(k, k->leave,
			&(struct vt_share){ .op = r->op,
				.comm = r->comm,
				.root = r->peer,
				.number = r->number,
				.sent = r->bytes,
				.received = r->bytes_back },
			r->post);
	} else if (r->kind == VT_REQUEST_OUTSIDE) {
		complete_outside(k->leave, r, r->doubtful ? NULL : status);
	} else if (r->kind == VT_REQUEST_COMMUNICATOR && r->target) {
		fresh = r->tag ? PMPI_Comm_f2c(*(MPI_Fint *)r->target) : *(MPI_Comm *)r->target;
		vt_comm_created(VT_RAW_COMM_COLLECTIVE, "DUP", r->comm, r->number, 0, fresh);
	}
	k->recorded = recorded;
	r->active = 0;
}

void vt_request_freed(struct vt_mpi_call *k, MPI_Request request)
{
	struct vt_request *r = request == MPI_REQUEST_NULL ? NULL : vt_requests_hold(&requests, key(request));
	struct vt_raw_message m;
	MPI_Status status;
	int over = 0;

	if (!r) {
		return;
	}
	/* nobody else asks whether it was cancelled in time */
	if (r->cancelled && r->active && (r->kind == VT_REQUEST_RECEIVE || r->kind == VT_REQUEST_SEND) &&
		PMPI_Request_get_status(request, &over, &status) == MPI_SUCCESS && over) {
		k->leave = k->enter;
		complete_request(k, r, &status);
	}
	if (r->active && r->kind == VT_REQUEST_RECEIVE && r->comm) {
		m = message_of(r->comm, r->peer == MPI_ANY_SOURCE ? VT_RAW_ANY : r->peer,
			r->tag == MPI_ANY_TAG ? VT_RAW_ANY : r->tag, 0);
		m.since = k->enter - r->post;
		m.during = (uint32_t)(r->posted - r->post);
		m.number = r->number;
		emit_message(k, k->enter, VT_RAW_MESSAGE_FREED, &m);
	}
	if (r->kind == VT_REQUEST_OUTSIDE) {
		complete_outside(k->enter, r, NULL);
	}
	vt_requests_release(&requests, r, 1);
}

/* ---- waiting and testing ---- */

/* Sets n and makes room for n requests and statuses. Returns 0 if none of them can have an entry, or without memory. */
static inline __attribute__((always_inline)) int begin_wait(
	struct vt_wait *w, long long n, const void *requests_of_call, int fortran)
{
	w->n = n > 0 && requests_of_call && requests.used ? (size_t)n : 0;
	w->held = requests.threads;
	w->fortran = fortran;
	w->request = w->few_requests;
	w->status = w->few_statuses;
	if (w->n > VT_WAIT_FEW) {
		w->request = malloc(w->n * (sizeof(*w->request) + sizeof(*w->status)));
		w->status = (MPI_Status *)(void *)(w->request + w->n);
		w->n = w->request ? w->n : 0;
	}
	return w->n != 0;
}

/* Between the calls of one thread the table does not change. With several threads, the handle can be that of another
 * request when the call returns. */
static void hold_requests(struct vt_wait *w)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		w->request[i].entry = vt_requests_hold(&requests, w->request[i].handle);
	}
}

void vt_wait_begin(struct vt_wait *w, long long n, const MPI_Request *request)
{
	size_t i;

	if (!begin_wait(w, n, request, 0)) {
		return;
	}
	for (i = 0; i < w->n; i++) {
		w->request[i].handle = key(request[i]);
	}
	if (w->held) {
		hold_requests(w);
	}
}

void vt_wait_begin_f(struct vt_wait *w, long long n, const MPI_Fint *request)
{
	size_t i;

	if (!begin_wait(w, n, request, 1)) {
		return;
	}
	for (i = 0; i < w->n; i++) {
		w->request[i].handle = key(PMPI_Request_f2c(request[i]));
	}
	if (w->held) {
		hold_requests(w);
	}
}

/* Takes the entry of the i-th request, which is held for this call; NULL: it has none. */
static struct vt_request *take_request(struct vt_wait *w, long long i)
{
	struct vt_request *r;

	if (i < 0 || (size_t)i >= w->n) {
		return NULL;
	}
	if (!w->held) {
		return vt_requests_hold(&requests, w->request[i].handle);
	}
	r = w->request[i].entry;
	w->request[i].entry = NULL;
	return r;
}

/* The request is complete, with the status at that place. */
static void wait_one(struct vt_mpi_call *k, const struct vt_wait *w, struct vt_request *r, size_t at)
{
	MPI_Status copy;
	int persistent;

	/* when a send is complete, nothing is recorded */
	if (r->kind == VT_REQUEST_SEND && !r->cancelled) {
		r->active = 0;
		vt_requests_release(&requests, r, !r->persistent);
		return;
	}
	if (w->fortran) {
		PMPI_Status_f2c((const MPI_Fint *)(const void *)&w->status[at], &copy);
	}
	persistent = r->persistent;
	complete_request(k, r, w->fortran ? &copy : &w->status[at]);
	vt_requests_release(&requests, r, !persistent);
}

/* Did a call that failed complete the request all the same? */
static int is_complete(const struct vt_wait *w, size_t at, int rc)
{
	MPI_Status copy;
	int unset;

	if (w->fortran) {
		PMPI_Status_f2c((const MPI_Fint *)(const void *)&w->status[at], &copy);
	} else {
		copy = w->status[at];
	}
	/* Open MPI does not set the statuses of Fortran if the call failed */
	unset = w->fortran && rc == MPI_ERR_IN_STATUS && copy.MPI_ERROR != MPI_ERR_PENDING;
	return unset || vt_took_message(rc == MPI_ERR_IN_STATUS ? copy.MPI_ERROR : rc);
}

void vt_wait_some(struct vt_mpi_call *k, struct vt_wait *w, long long i, size_t at, int rc)
{
	struct vt_request *r = take_request(w, i);

	if (!r) {
		return;
	}
	if (__builtin_expect(rc != MPI_SUCCESS, 0)) {
		if (!is_complete(w, at, rc)) {
			vt_requests_release(&requests, r, 0);
			return;
		}
		r->doubtful = 1;
	}
	wait_one(k, w, r, at);
}

void vt_wait_all(struct vt_mpi_call *k, struct vt_wait *w, int rc)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		vt_wait_some(k, w, (long long)i, i, rc);
	}
}

void vt_wait_release(struct vt_wait *w)
{
	size_t i;

	for (i = 0; w->held && i < w->n; i++) {
		if (w->request[i].entry) {
			vt_requests_release(&requests, w->request[i].entry, 0);
		}
	}
	if (w->n > VT_WAIT_FEW) {
		free(w->request);
	}
}

/* ---- collective operations, also those that make communicators ---- */

/* Called by operations that begin: one that is only prepared must not count. */
static uint32_t next_number(const struct vt_share *s)
{
	return atomic_fetch_add_explicit(s->comm->operations, 1, memory_order_relaxed);
}

void vt_share_end(struct vt_mpi_call *k, const struct vt_share *s)
{
	struct vt_share numbered = *s;

	numbered.number = next_number(s);
	emit_share(k, k->leave, &numbered, k->enter);
}

static struct vt_request *add_share_request(struct vt_mpi_call *k, const struct vt_share *s, MPI_Request request)
{
	struct vt_request *r = add_request(k, VT_REQUEST_COLLECTIVE, s->comm, request);

	if (r) {
		r->op = (uint16_t)s->op;
		r->peer = s->root;
		r->bytes = s->sent;
		r->bytes_back = s->received;
	}
	return r;
}

void vt_share_posted(struct vt_mpi_call *k, const struct vt_share *s, MPI_Request request)
{
	uint32_t number = next_number(s);
	struct vt_request *r = add_share_request(k, s, request);

	if (r) {
		r->number = number;
	}
}

void vt_share_prepared(struct vt_mpi_call *k, const struct vt_share *s, MPI_Request request)
{
	struct vt_request *r = add_share_request(k, s, request);

	if (r) {
		r->persistent = 1;
		r->active = 0;
	}
}

void vt_comm_posted(
	struct vt_mpi_call *k, struct vt_comm *c, uint32_t number, MPI_Request request, void *target, int fortran)
{
	struct vt_request *r = c ? add_request(k, VT_REQUEST_COMMUNICATOR, c, request) : NULL;

	if (r) {
		r->number = number;
		r->target = target;
		r->tag = fortran;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers under way: requests from the call that makes them to the one that completes them, and blocking calls meanwhile. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

enum { LAST = 64, LAST_SHIFT = 58 };

/* From the handle to a pointer to the entry. Handles stay in it without an entry, since MPI soon gives them again. */
static struct tkm_table requests;
static struct tkm_table variables; /* from the address of one to a pointer to the last entry whose handle it got */
__thread void *vt_mc_fortran_request;
static struct vt_mc_pending *unused; /* entries, in a list by `next` */

struct vt_mc_pending *vt_mc_pending_find(MPI_Request request)
{
	static struct vt_mc_pending **last[LAST]; /* a value stays where it is */
	uintptr_t handle = (uintptr_t)request;
	struct vt_mc_pending ***at = &last[handle / sizeof(request) * UINT64_C(0x9e3779b97f4a7c15) >> LAST_SHIFT],
			     **p = *at;

	if (p && *p && (*p)->handle == request) {
		return *p;
	}
	p = tkm_table_find(&requests, &handle, sizeof(handle));
	*at = p ? p : *at;
	return p ? *p : NULL;
}

static void leave_meeting(struct vt_mc_pending *p)
{
	if (p->meeting && p->comm) {
		vt_mc_meeting_leave(NULL, p->comm, p->meeting);
		p->meeting = 0;
	}
}

/* A call that is not seen here has completed it: a later receive does not get its message. */
static void take_unseen(struct vt_mc_pending *p)
{
	if (p->active && p->transfer == VT_MC_RECEIVES) {
		vt_mc_message_received(NULL, p, NULL, MPI_ERR_OTHER);
	}
}

static void recycle(struct vt_mc_pending *p)
{
	p->active = 0;
	p->next = unused;
	unused = p;
}

/* Calls of other threads, too, may wait for it, and look at it when they return: the last one frees it. */
static void free_both(struct vt_mc_pending *p)
{
	p->ended = p->held > 0;
	if (p->held) {
		return;
	}
	vt_mc_active_take(p);
	if (p->twin) {
		vt_mc_active_take(p->twin);
		recycle(p->twin);
	}
	recycle(p);
}

static void set_handle(struct vt_mc_pending *p, MPI_Request request)
{
	uintptr_t handle = (uintptr_t)request;
	struct vt_mc_pending **at = tkm_table_put(&requests, &handle, sizeof(handle), sizeof(p));

	p->handle = request;
	if (at) {
		if (*at && *at != p) {
			/* it was complete when it began */
			leave_meeting(*at);
			take_unseen(*at);
			free_both(*at);
		}
		*at = p;
	}
}

/* ---- making entries ---- */

static struct vt_mc_pending *new_entry(struct vt_mc_call *k, enum vt_mc_transfer transfer)
{
	struct vt_mc_pending *p = unused ? unused : malloc(sizeof(*p));

	if (p) {
		unused = p == unused ? p->next : unused;
		memset(p, 0, sizeof(*p));
		p->transfer = transfer;
		p->message = -1;
		p->peer = MPI_PROC_NULL;
		p->comm = VT_MC_HAS(k, VT_MC_OF_COMM) ? vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM)) : NULL;
		if (k->f->sort == VT_MC_SEND || k->f->sort == VT_MC_RECV || k->f->sort == VT_MC_SENDRECV) {
			/* it ends with the call: the stack is still there if it must be shown */
			p->made = (struct vt_mc_place){ .f = k->f, .pc = { k->pc }, .n = 1 };
		} else {
			vt_mc_here(&p->made, k);
		}
	}
	return p;
}

/* Nothing is known of a count for each other member. */
static void set_side(struct vt_mc_pending *p, struct vt_mc_call *k, struct vt_mc_side side)
{
	enum vt_mc_role b = side.buffer, c = side.count, t = side.type;

	if (!VT_MC_HAS(k, b) || !VT_MC_HAS(k, c) || !VT_MC_HAS(k, t) || k->f->pointer[k->f->at[c]] ||
		k->f->pointer[k->f->at[t]] || (void *)VT_MC_WORD(k, b) == MPI_IN_PLACE) {
		return;
	}
	p->buffer = VT_MC_WORD(k, b);
	p->count = vt_mc_count(k, c) * side.times;
	p->type = vt_mc_type((MPI_Datatype)VT_MC_WORD(k, t));
	vt_mc_set_range(p);
}

static void set_buffer(
	struct vt_mc_pending *p, struct vt_mc_call *k, enum vt_mc_role b, enum vt_mc_role c, enum vt_mc_role t)
{
	set_side(p, k, (struct vt_mc_side){ b, c, t, 1 });
}

void vt_mc_pending_buffer(struct vt_mc_pending *p, struct vt_mc_call *k)
{
	set_buffer(p, k, VT_MC_BUF, VT_MC_COUNT, VT_MC_DATATYPE);
}

struct vt_mc_pending *vt_mc_pending_new(struct vt_mc_call *k, enum vt_mc_transfer transfer)
{
	struct vt_mc_pending *p = new_entry(k, transfer);
	int both = VT_MC_HAS(k, VT_MC_RTAG);

	if (!p) {
		return NULL;
	}
	if (transfer == VT_MC_SENDS) {
		set_buffer(p, k, VT_MC_BUF, VT_MC_COUNT, VT_MC_DATATYPE);
		p->peer = VT_MC_NUMBER(k, VT_MC_DEST);
		p->tag = VT_MC_NUMBER(k, VT_MC_TAG);
		p->buffered = strstr(k->f->text, "send") && strchr("Bb", *(strstr(k->f->text, "send") - 1));
		p->standard = vt_mc_is(k, "Send") || vt_mc_is(k, "Isend") || vt_mc_is(k, "Send_init") || both;
	} else if (transfer == VT_MC_RECEIVES) {
		if (both && VT_MC_HAS(k, VT_MC_RBUF)) {
			set_buffer(p, k, VT_MC_RBUF, VT_MC_RCOUNT, VT_MC_RTYPE);
		} else if (!both) {
			set_buffer(p, k, VT_MC_BUF, VT_MC_COUNT, VT_MC_DATATYPE);
		}
		p->peer = VT_MC_NUMBER(k, VT_MC_SOURCE);
		p->tag = VT_MC_NUMBER(k, both ? VT_MC_RTAG : VT_MC_TAG);
		p->writes = 1;
		if (both && !VT_MC_HAS(k, VT_MC_RBUF)) {
			/* MPI_Sendrecv_replace: one buffer, twice */
			p->count = vt_mc_count(k, VT_MC_COUNT);
			p->type = vt_mc_type((MPI_Datatype)VT_MC_WORD(k, VT_MC_DATATYPE));
		}
	}
	return p;
}

/* A receive begins and its message was there before: then a ready send came before its receive. */
static void check_ready(struct vt_mc_call *k, const struct vt_mc_pending *p)
{
	struct vt_mc_involved other = { "made by", &p->made };
	char place[300];

	/* a message that may be another one has no signature */
	if (p->claimed && p->got.signature.power &&
		(strstr(p->got.name, "MPI_Rsend") || strstr(p->got.name, "MPI_Irsend"))) {
		vt_mc_report(VT_MC_READY, k, p->persistent ? &other : NULL,
			"rank %d has sent the message of this receive by %s, which needs a receive that was begun before   %s",
			p->got.from, p->got.name, vt_mc_print_offset(p->got.place, place, sizeof(place)));
	}
}

void vt_mc_pending_start(struct vt_mc_call *k, struct vt_mc_pending *p)
{
	if (p->persistent) {
		vt_mc_here(&p->started, k);
	} else {
		p->started = p->made;
	}
	p->started_offset = p->transfer == VT_MC_SENDS ? vt_mc_place_offset(k, &p->started) : 0;
	p->active = 1;
	p->claimed = p->cancelled = p->told = p->has_shown = p->ready = 0;
	vt_mc_buffer_begins(k, p);
	if (p->transfer == VT_MC_SENDS && !p->partitioned) {
		vt_mc_message_sent(p);
	}
	if (p->buffered) {
		vt_mc_bsend_begins(k, p);
	}
	vt_mc_active_add(p);
	if (p->transfer == VT_MC_RECEIVES) {
		vt_mc_pending_claim();
		check_ready(k, p);
	}
	if (p->twin) {
		vt_mc_pending_start(k, p->twin);
	}
}

void vt_mc_pending_drop(struct vt_mc_pending *p)
{
	uintptr_t handle;
	void *at;

	if (!p) {
		return;
	}
	handle = (uintptr_t)p->handle;
	at = p->handle ? tkm_table_find(&requests, &handle, sizeof(handle)) : NULL;
	if (at && *(struct vt_mc_pending **)at == p) {
		*(struct vt_mc_pending **)at = NULL;
	}
	free_both(p);
}

int vt_mc_pending_lives(struct vt_mc_pending *p)
{
	if (p->held || !vt_mc_is_over(p)) {
		return 1;
	}
	leave_meeting(p);
	take_unseen(p);
	p->active = 0;
	if (!p->persistent || !vt_mc_is_request((uintptr_t)p->handle)) {
		vt_mc_pending_drop(p);
		return 0;
	}
	vt_mc_active_take(p);
	vt_mc_set_range(p);
	if (p->twin) {
		p->twin->active = 0;
		vt_mc_active_take(p->twin);
		vt_mc_set_range(p->twin);
	}
	return 0;
}

/* ---- the end of a transfer ---- */

void vt_mc_pending_end(struct vt_mc_call *k, struct vt_mc_pending *p, const MPI_Status *status, int rc)
{
	int cancelled = 0;

	if (!p || !p->active) {
		return;
	}
	if (p->cancelled && status) {
		PMPI_Test_cancelled(status, &cancelled);
	}
	p->active = 0;
	vt_mc_buffer_ends(k, p);
	if (p->twin) {
		vt_mc_buffer_ends(k, p->twin);
		p->twin->active = 0;
		vt_mc_active_take(p->twin);
	}
	if (cancelled && p->transfer == VT_MC_SENDS) {
		vt_mc_message_back(p);
	} else if (!cancelled && p->transfer == VT_MC_RECEIVES && vt_mc_message_received(k, p, status, rc)) {
		vt_mc_buffer_received(k, p, status);
	}
	if (p->makes && rc == MPI_SUCCESS) {
		vt_mc_comm_arrived(p);
	}
	leave_meeting(p);
	vt_mc_active_take(p);
	if (!p->persistent) {
		vt_mc_pending_drop(p);
	}
}

static int is_no_request(MPI_Request request)
{
	return !vt_mc_pending_find(request) && !vt_mc_is_null(VT_MC_REQUEST, (uintptr_t)request) &&
		!vt_mc_is_request((uintptr_t)request);
}

/* That of a request, if it is not over. */
static struct vt_mc_pending *find_living(MPI_Request request)
{
	struct vt_mc_pending *p = vt_mc_pending_find(request);

	return !p || !p->active || vt_mc_pending_lives(p) ? p : vt_mc_pending_find(request);
}

static int makes_request(const struct vt_mc_call *k)
{
	return VT_MC_HAS(k, VT_MC_OF_REQUEST) && k->f->pointer[k->f->at[VT_MC_OF_REQUEST]] &&
		(k->f->sort < VT_MC_CANCEL || k->f->sort > VT_MC_TESTSOME);
}

/* Where the call puts the handle that it makes. */
static uintptr_t variable_of_call(const struct vt_mc_call *k)
{
	return vt_mc_fortran_request ? (uintptr_t)vt_mc_fortran_request : VT_MC_WORD(k, VT_MC_OF_REQUEST);
}

/* The variable gets another handle: from then on it does not tell of this transfer, which may be over. */
static void leave_variable(const struct vt_mc_call *k)
{
	uintptr_t at = variable_of_call(k);
	struct vt_mc_pending **last = tkm_table_find(&variables, &at, sizeof(at));

	if (last && (*last)->active && (*last)->request_at == at && vt_mc_pending_lives(*last)) {
		(*last)->request_at = 0;
	}
}

static void keep_variable(const struct vt_mc_call *k, struct vt_mc_pending *p)
{
	uintptr_t at = variable_of_call(k);
	struct vt_mc_pending **last = p->persistent ? NULL : tkm_table_put(&variables, &at, sizeof(at), sizeof(p));

	if (last) {
		*last = p;
		p->request_at = at;
		p->in_fortran = vt_mc_fortran_request != NULL;
	}
}

/* ---- calls ---- */

static void start_persistent(struct vt_mc_call *k, MPI_Request request)
{
	struct vt_mc_pending *p = find_living(request);

	if (p && p->persistent && !p->active) {
		vt_mc_pending_start(k, p);
	} else if (p || vt_mc_is_null(VT_MC_REQUEST, (uintptr_t)request)) {
		vt_mc_refuse_start(k, p);
	}
}

static void start_requests(struct vt_mc_call *k, const MPI_Request *list, size_t n)
{
	size_t i;

	for (i = 0; i < n && !k->refused; i++) {
		if (is_no_request(list[i])) {
			vt_mc_refuse_stale(k, i);
		}
	}
	for (i = 0; i < n && !k->refused; i++) {
		start_persistent(k, list[i]);
	}
}

static void free_request(struct vt_mc_call *k, MPI_Request request)
{
	struct vt_mc_pending *p = find_living(request);

	if (is_no_request(request)) {
		vt_mc_refuse_stale(k, 0);
		return;
	}
	vt_mc_check_free(k, p, request);
	if (p && p->active) {
		p->freed = 1;
	} else if (p) {
		vt_mc_pending_drop(p);
	}
}

/* MPI_Pready and its like. */
static void count_ready(const struct vt_mc_call *k)
{
	struct vt_mc_pending *p = vt_mc_pending_find((MPI_Request)VT_MC_WORD(k, VT_MC_OF_REQUEST));

	if (p) {
		p->ready += vt_mc_is(k, "Pready")     ? 1
			: vt_mc_is(k, "Pready_range") ? (int)k->w[1] - (int)k->w[0] + 1
						      : (int)k->w[0];
	}
}

static void hold_all_named(struct vt_mc_call *k, const MPI_Request *list, size_t n)
{
	size_t i;

	k->n = n;
	k->request = n <= 16 ? k->few : calloc(n, sizeof(k->few[0]));
	if (!k->request || !list) {
		k->n = 0;
		return;
	}
	for (i = 0; i < n; i++) {
		k->request[i] = list[i] == MPI_REQUEST_NULL ? NULL : vt_mc_pending_find(list[i]);
		if (k->request[i]) {
			k->request[i]->held++;
		} else if (list[i] != MPI_REQUEST_NULL && is_no_request(list[i])) {
			vt_mc_refuse_stale(k, i);
		}
	}
}

static size_t how_many(const struct vt_mc_call *k)
{
	enum vt_mc_sort s = k->f->sort;
	int n = s == VT_MC_WAIT || s == VT_MC_TEST ? 1
		: VT_MC_HAS(k, VT_MC_N)            ? VT_MC_NUMBER(k, VT_MC_N)
						   : VT_MC_NUMBER(k, VT_MC_COUNT);

	return n > 0 ? (size_t)n : 0;
}

static void start_blocking(struct vt_mc_call *k, int sends, int receives)
{
	k->received = receives ? vt_mc_pending_new(k, VT_MC_RECEIVES) : NULL;
	k->sent = sends ? vt_mc_pending_new(k, VT_MC_SENDS) : NULL;
	if (k->received) {
		k->received->blocking = 1;
		vt_mc_pending_start(k, k->received);
	}
	if (k->sent) {
		k->sent->blocking = 1;
		vt_mc_pending_start(k, k->sent);
		/* its own message takes the place of the one that it sends */
		k->sent->summed &= k->f->sort != VT_MC_SENDRECV_REPLACE;
	}
}

static void cancel_request(struct vt_mc_call *k, MPI_Request request)
{
	struct vt_mc_pending *p = is_no_request(request) ? NULL : vt_mc_pending_find(request);

	if (is_no_request(request)) {
		vt_mc_refuse_stale(k, 0);
	} else if (p) {
		p->cancelled = 1;
		if (vt_mc_shared) {
			vt_mc_shared->unordered = 1;
		}
	}
}

void vt_mc_requests_before(struct vt_mc_call *k)
{
	enum vt_mc_sort s = k->f->sort;
	const MPI_Request *at =
		VT_MC_HAS(k, VT_MC_OF_REQUEST) ? (const MPI_Request *)VT_MC_WORD(k, VT_MC_OF_REQUEST) : NULL;

	if (makes_request(k)) {
		leave_variable(k);
	}
	switch (s) {
	case VT_MC_SEND:
		start_blocking(k, 1, 0);
		break;
	case VT_MC_RECV:
		start_blocking(k, 0, 1);
		break;
	case VT_MC_SENDRECV:
	case VT_MC_SENDRECV_REPLACE:
		start_blocking(k, 1, 1);
		break;
	case VT_MC_ISEND:
		k->sent = vt_mc_pending_new(k, VT_MC_SENDS);
		if (k->sent) {
			vt_mc_pending_start(k, k->sent);
		}
		break;
	case VT_MC_IRECV:
		k->received = vt_mc_pending_new(k, VT_MC_RECEIVES);
		if (k->received) {
			vt_mc_pending_start(k, k->received);
		}
		break;
	case VT_MC_START:
		start_requests(k, at, 1);
		break;
	case VT_MC_STARTALL:
		start_requests(k, at, how_many(k));
		break;
	case VT_MC_REQUEST_FREE:
		free_request(k, *at);
		break;
	case VT_MC_CANCEL:
		cancel_request(k, *at);
		break;
	case VT_MC_ISENDRECV:
		if (vt_mc_shared) {
			/* its message is not followed, so no receive can be known to be in vain */
			vt_mc_shared->untracked++;
		}
		break;
	default:
		if (s >= VT_MC_WAIT && s <= VT_MC_TESTSOME) {
			hold_all_named(k, at, how_many(k));
		} else if (s == VT_MC_LOCAL && !strncmp(k->f->text, "MPI_Pready", 10)) {
			count_ready(k);
		}
		break;
	}
}

/* ---- after the call ---- */

static void set_collective(struct vt_mc_call *k, struct vt_mc_pending *p)
{
	const struct vt_mc_object *c = p->comm;
	int root = VT_MC_HAS(k, VT_MC_ROOT_RANK) ? VT_MC_NUMBER(k, VT_MC_ROOT_RANK) : -1;
	struct vt_mc_side sent, taken;

	if (!c || c->inter || strstr(k->f->text, "eighbor")) {
		return;
	}
	if (!VT_MC_HAS(k, VT_MC_RBUF)) {
		set_buffer(p, k, VT_MC_BUF, VT_MC_COUNT, VT_MC_DATATYPE);
		p->writes = c->rank != root;
		return;
	}
	vt_mc_buffer_sides(k, c, &sent, &taken);
	if (!vt_mc_is_unused(k, k->f->at[VT_MC_BUF])) {
		p->twin = new_entry(k, VT_MC_OTHER);
		if (p->twin) {
			set_side(p->twin, k, sent);
			p->twin->persistent = p->persistent;
		}
	}
	if (!vt_mc_is_unused(k, k->f->at[VT_MC_RBUF])) {
		set_side(p, k, taken);
		p->writes = 1;
	}
}

static void request_made(struct vt_mc_call *k, struct vt_mc_pending *p)
{
	MPI_Request request = *(const MPI_Request *)VT_MC_WORD(k, VT_MC_OF_REQUEST);

	if (p && k->rc == MPI_SUCCESS && request != MPI_REQUEST_NULL) {
		keep_variable(k, p);
		set_handle(p, request);
	} else if (p) {
		vt_mc_message_back(p);
		vt_mc_pending_drop(p);
	}
}

static void make_request(struct vt_mc_call *k)
{
	enum vt_mc_sort s = k->f->sort;
	struct vt_mc_pending *p;

	if (k->rc != MPI_SUCCESS) {
		return;
	}
	p = s == VT_MC_SEND_INIT       ? vt_mc_pending_new(k, VT_MC_SENDS)
		: s == VT_MC_RECV_INIT ? vt_mc_pending_new(k, VT_MC_RECEIVES)
				       : new_entry(k, s == VT_MC_COLL_I ? VT_MC_MEETS : VT_MC_OTHER);
	if (!p) {
		return;
	}
	p->persistent = s == VT_MC_SEND_INIT || s == VT_MC_RECV_INIT || s == VT_MC_COLL_INIT || s == VT_MC_PARTITIONED;
	p->partitioned = s == VT_MC_PARTITIONED;
	p->parts = vt_mc_is(k, "Psend_init") ? (int)k->w[1] : 0;
	p->meeting = s == VT_MC_COLL_I || s == VT_MC_IDUP ? k->meeting : 0;
	if (s == VT_MC_COLL_I || s == VT_MC_COLL_INIT) {
		set_collective(k, p);
	}
	if (s == VT_MC_IDUP && p->comm) {
		vt_mc_comm_begins(p, VT_MC_WORD(k, VT_MC_FRESH_COMM));
		p->number = ++p->comm->creations;
	}
	if (s == VT_MC_IO_POSTED) {
		set_buffer(p, k, VT_MC_BUF, VT_MC_COUNT, VT_MC_DATATYPE);
		p->writes = strstr(k->f->text, "read") != NULL;
		p->file = 1;
	}
	if (s == VT_MC_RMA && !strstr(k->f->text, "accumulate")) {
		/* until it is complete or the epoch ends */
		set_buffer(p, k, VT_MC_BUF, VT_MC_COUNT, VT_MC_DATATYPE);
		p->writes = vt_mc_is(k, "Rget");
		p->win = vt_mc_object(VT_MC_WIN, VT_MC_WORD(k, VT_MC_OF_WIN));
		p->target = VT_MC_NUMBER(k, VT_MC_DEST);
	}
	if (!p->persistent) {
		vt_mc_pending_start(k, p);
	}
	request_made(k, p);
}

static void end_some(struct vt_mc_call *k, int index, const MPI_Status *status)
{
	if (index >= 0 && (size_t)index < k->n && k->request[index]) {
		vt_mc_pending_end(k, k->request[index], status, k->rc);
	}
}

static void end_requests(struct vt_mc_call *k)
{
	enum vt_mc_sort s = k->f->sort;
	const MPI_Status *status = k->statuses;
	const int *list;
	size_t i;

	if (k->rc != MPI_SUCCESS && s != VT_MC_WAIT && s != VT_MC_WAITALL) {
		return;
	}
	if (s == VT_MC_WAIT || s == VT_MC_WAITALL ||
		((s == VT_MC_TEST || s == VT_MC_TESTALL) && *(const int *)VT_MC_WORD(k, VT_MC_FLAG))) {
		for (i = 0; i < k->n; i++) {
			end_some(k, (int)i, status ? &status[i] : NULL);
		}
	} else if (s == VT_MC_WAITANY || (s == VT_MC_TESTANY && *(const int *)VT_MC_WORD(k, VT_MC_FLAG))) {
		end_some(k, *(const int *)VT_MC_WORD(k, VT_MC_INDEX), status);
	} else if (s == VT_MC_WAITSOME || s == VT_MC_TESTSOME) {
		list = (const int *)VT_MC_WORD(k, VT_MC_INDICES);
		for (i = 0; (int)i < *(const int *)VT_MC_WORD(k, VT_MC_OUTCOUNT); i++) {
			end_some(k, list[i], status ? &status[i] : NULL);
		}
	}
}

void vt_mc_requests_after(struct vt_mc_call *k)
{
	const MPI_Status *status;
	enum vt_mc_sort s = k->f->sort;

	if (s == VT_MC_MPROBE || s == VT_MC_IMPROBE) {
		vt_mc_message_probed(k);
		if (k->rc == MPI_SUCCESS && (s == VT_MC_MPROBE || *(const int *)VT_MC_WORD(k, VT_MC_FLAG))) {
			vt_mc_message_matched(k);
		}
	}
	if (s == VT_MC_ISEND || s == VT_MC_IRECV) {
		request_made(k, k->sent ? k->sent : k->received);
	} else if (k->sent || k->received) {
		if (k->rc != MPI_SUCCESS && k->sent) {
			vt_mc_message_back(k->sent);
		}
		vt_mc_pending_end(k, k->sent, NULL, k->rc);
		status = s != VT_MC_SENDRECV_REPLACE || k->done ? &k->status
			: (MPI_Status *)VT_MC_WORD(k, VT_MC_STATUS) == MPI_STATUS_IGNORE
			? NULL
			: (const MPI_Status *)VT_MC_WORD(k, VT_MC_STATUS);
		vt_mc_pending_end(k, k->received, status, k->rc);
		k->sent = k->received = NULL;
	} else if (s >= VT_MC_WAIT && s <= VT_MC_TESTSOME) {
		end_requests(k);
	} else if (makes_request(k)) {
		make_request(k);
	}
	vt_mc_requests_release(k);
}

void vt_mc_requests_release(struct vt_mc_call *k)
{
	size_t i;

	for (i = 0; k->request && i < k->n; i++) {
		if (k->request[i] && --k->request[i]->held == 0 && k->request[i]->ended) {
			free_both(k->request[i]);
		}
	}
	if (k->request && k->request != k->few) {
		free(k->request);
	}
	k->request = NULL;
	if (k->statuses && k->statuses != k->few_statuses) {
		free(k->statuses);
	}
	k->statuses = NULL;
}

static void lose_type(struct vt_mc_pending *p, const struct vt_mc_object *type)
{
	if (p->type == type) {
		p->type = NULL;
		p->low = p->high = 0;
		p->summed = p->has_shown = 0;
	}
	p->type_there = p->type_there == type ? NULL : p->type_there;
	if (p->twin) {
		lose_type(p->twin, type);
	}
}

void vt_mc_pending_lose(const struct vt_mc_object *type)
{
	struct vt_mc_pending *p;
	void *at = NULL;

	for (p = vt_mc_active_next(NULL); p; p = vt_mc_active_next(p)) {
		lose_type(p, type);
	}
	while ((p = vt_mc_pending_known(&at)) != NULL) {
		lose_type(p, type);
	}
}

/* The requests of the program, one after another. */
struct vt_mc_pending *vt_mc_pending_known(void **at)
{
	struct vt_mc_pending **next = tkm_table_next(&requests, *at);

	while (next && !*next) {
		next = tkm_table_next(&requests, next);
	}
	*at = next;
	return next ? *next : NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that wait for other ranks. They are made of calls that do not wait, in a loop, so that this process can tell the others
 * what it waits for and see whether that can still come. No thread is needed for this. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector-plugin/mpi/abi/version.h"

#define HOLD_NS INT64_C(250000000)

/* ---- what is waited for ---- */

void vt_mc_needs_members(struct vt_mc_wait *w, const struct vt_mc_object *c, int source)
{
	uint64_t set[VT_MC_BITS] = { 0 };
	int i, others = 0;

	if (source != MPI_ANY_SOURCE) {
		vt_mc_set_bit(w->all, c->world[source]);
		return;
	}
	for (i = 0; i < c->remote; i++) {
		if (c->world[i] != vt_mc_rank) {
			vt_mc_set_bit(set, c->world[i]);
			others = 1;
		}
	}
	if (!others) {
		vt_mc_set_bit(w->all, vt_mc_rank);
		return;
	}
	if (!w->has_any) {
		memcpy(w->any, set, sizeof(set));
		w->has_any = 1;
	}
}

static void needs_message(struct vt_mc_wait *w, const struct vt_mc_object *c, int source, int tag)
{
	vt_mc_needs_members(w, c, source);
	w->receives++;
	w->receive_comm = c->id;
	w->receive_tag = tag;
}

/* Is the message of a send still without a receive that takes it? */
static int send_waits(const struct vt_mc_pending *p)
{
	return p->message >= 0 && vt_mc_message_waits(p->message, p->number) &&
		!vt_mc_shared->message[p->message].accepted;
}

/* Partitions of a send that the program has not given yet: no other rank can. In a loop it may still do so, or by another thread. */
static void needs_parts(struct vt_mc_wait *w)
{
	if (w->looks || vt_mc_others_may_call(1)) {
		w->unknown = w->outside = 1;
	} else {
		vt_mc_set_bit(w->all, vt_mc_rank);
	}
}

/* It is not known which rank ends the transfer. Is it one of this job? */
static void needs_unknown(struct vt_mc_wait *w, const struct vt_mc_pending *p, int one_of_many)
{
	int inside = p->win       ? p->win->whole
		: p->comm == NULL ? 0
		: p->partitioned  ? p->comm->whole
				  : p->comm->whole && p->transfer <= VT_MC_MEETS;

	w->unknown = 1;
	w->idle |= inside;
	w->outside |= one_of_many && !inside;
}

/* Returns 0: which rank ends the transfer is not known. */
static int needs_transfer(struct vt_mc_wait *w, const struct vt_mc_pending *p, int one_of_many)
{
	if (p->meeting && p->comm) {
		vt_mc_meeting_missing(p->comm, p->meeting, w->all);
	} else if (p->peer == MPI_PROC_NULL && p->transfer <= VT_MC_RECEIVES) {
		w->unknown |= one_of_many;
		return 0;
	} else if (p->ready < p->parts) {
		needs_parts(w);
	} else if (!p->comm || !p->comm->whole || p->transfer > VT_MC_RECEIVES || p->partitioned || p->cancelled ||
		vt_mc_shared->untracked || vt_mc_pending_many()) {
		needs_unknown(w, p, one_of_many);
		return 0;
	} else if (p->transfer == VT_MC_SENDS) {
		if (send_waits(p)) {
			vt_mc_needs_members(w, p->comm, p->peer);
		}
	} else if (!p->claimed && vt_mc_message_find(p->comm, p->peer, p->tag) < 0) {
		needs_message(w, p->comm, p->peer, p->tag);
	}
	return 1;
}

void vt_mc_needs_pending(struct vt_mc_wait *w, const struct vt_mc_pending *p, int one_of_many)
{
	struct vt_mc_wait one;
	int i;

	if (!p) {
		return;
	}
	if (!one_of_many) {
		needs_transfer(w, p, 0);
		return;
	}
	/* any rank that ends any of them is enough */
	one = *w;
	memset(one.all, 0, sizeof(one.all));
	memset(one.any, 0, sizeof(one.any));
	one.has_any = 0;
	if (needs_transfer(&one, p, 1)) {
		one.unknown |= vt_mc_has_no_bit(one.all) && !one.has_any;
	}
	for (i = 0; i < VT_MC_BITS; i++) {
		w->any[i] |= one.all[i] | one.any[i];
		w->has_any |= w->any[i] != 0;
	}
	w->unknown = one.unknown;
	w->idle = one.idle;
	w->outside = one.outside;
}

static void needs_of_call(struct vt_mc_wait *w)
{
	struct vt_mc_call *k = w->k;
	enum vt_mc_sort s = k->f->sort;
	size_t i;

	vt_mc_pending_claim();
	if (k->sent || k->received) {
		vt_mc_needs_pending(w, w->soft ? NULL : k->received, 0);
		vt_mc_needs_pending(w, k->sent, 0);
		return;
	}
	for (i = 0; i < k->n; i++) {
		if (k->request[i] && k->request[i]->active && (!w->soft || k->request[i]->standard)) {
			vt_mc_needs_pending(w, k->request[i],
				s == VT_MC_WAITANY || s == VT_MC_WAITSOME || s == VT_MC_TESTANY || s == VT_MC_TESTSOME);
		}
	}
}

static void needs_of_probe(struct vt_mc_wait *w)
{
	struct vt_mc_object *c = vt_mc_comm((MPI_Comm)VT_MC_WORD(w->k, VT_MC_OF_COMM));
	int source = VT_MC_NUMBER(w->k, VT_MC_SOURCE), tag = VT_MC_NUMBER(w->k, VT_MC_TAG);

	vt_mc_pending_claim();
	if (!c || !c->whole || vt_mc_shared->untracked) {
		w->unknown = 1;
		w->idle = c && c->whole;
	} else if (source != MPI_PROC_NULL && vt_mc_message_find(c, source, tag) < 0) {
		needs_message(w, c, source, tag);
	}
}

#if VT_MPI >= 400
/* MPI_Parrived in a loop. */
static void needs_partition(struct vt_mc_wait *w)
{
	vt_mc_needs_pending(w, vt_mc_pending_find((MPI_Request)VT_MC_WORD(w->k, VT_MC_OF_REQUEST)), 0);
}
#endif

/* ---- sends that MPI has buffered ---- */

/* From each place of the program a few sends are held until their receive has come, so that ranks that live by buffers are
 * seen whatever the timing is. */
static int may_hold(const void *pc)
{
	return vt_mc_on(VT_MC_POTENTIAL) && vt_mc_shared && !vt_mc_several_threads && vt_mc_first_from(pc);
}

static int any_send_waits(const struct vt_mc_call *k)
{
	size_t i;

	if (k->sent && k->sent->standard && send_waits(k->sent)) {
		return 1;
	}
	for (i = 0; i < k->n; i++) {
		if (k->request[i] && k->request[i]->transfer == VT_MC_SENDS && k->request[i]->standard &&
			k->request[i]->active && send_waits(k->request[i])) {
			return 1;
		}
	}
	return 0;
}

static void hold_sends(struct vt_mc_call *k)
{
	struct vt_mc_wait w;

	if (!vt_mc_shared || k->rc != MPI_SUCCESS || !any_send_waits(k) || !may_hold(k->pc)) {
		return;
	}
	vt_mc_wait_begin(&w, k);
	w.soft = 1;
	while (any_send_waits(k) && vt_mc_now_ns() - w.began_ns < HOLD_NS && !vt_mc_shared->rank[vt_mc_rank].released) {
		vt_mc_wait_turn(&w, needs_of_call);
	}
	vt_mc_wait_end(&w);
}

/* ---- the calls ---- */

static int perform_transfers(struct vt_mc_call *k, MPI_Request *send, MPI_Request *receive)
{
	MPI_Status status;
	struct vt_mc_wait w;
	int sent = *send == MPI_REQUEST_NULL, received = *receive == MPI_REQUEST_NULL, rc = MPI_SUCCESS, one;

	vt_mc_wait_begin(&w, k);
	while (!sent || !received) {
		if (!received) {
			one = PMPI_Test(receive, &received, &k->status);
			if (one != MPI_SUCCESS) {
				rc = one;
				received = 1;
			}
		}
		if (!sent) {
			one = PMPI_Test(send, &sent, &status);
			if (one != MPI_SUCCESS) {
				rc = one;
				sent = 1;
			}
		}
		if (!sent || !received) {
			vt_mc_wait_turn(&w, needs_of_call);
		}
	}
	vt_mc_wait_end(&w);
	return rc;
}

/* MPI_Send, MPI_Ssend, MPI_Bsend or MPI_Rsend without waiting. */
static int post_send(struct vt_mc_call *k, MPI_Request *request)
{
	const uintptr_t *w = k->w;
	int (*post)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = vt_mc_is(k, "Ssend")
		? PMPI_Issend
		: vt_mc_is(k, "Bsend") ? PMPI_Ibsend
		: vt_mc_is(k, "Rsend") ? PMPI_Irsend
				       : PMPI_Isend;

	return post((const void *)w[0], (int)w[1], (MPI_Datatype)w[2], (int)w[3], (int)w[4], (MPI_Comm)w[5], request);
}

static void give_status(const struct vt_mc_call *k)
{
	MPI_Status *to = VT_MC_HAS(k, VT_MC_STATUS) ? (MPI_Status *)VT_MC_WORD(k, VT_MC_STATUS) : MPI_STATUS_IGNORE;
	int error;

	if (to != MPI_STATUS_IGNORE && to != NULL) {
		error = to->MPI_ERROR;
		*to = k->status;
		to->MPI_ERROR = error;
	}
}

/* A receive that was posted beside a send that failed. */
static void take_back(MPI_Request *receive)
{
	PMPI_Cancel(receive);
	PMPI_Wait(receive, MPI_STATUS_IGNORE);
}

static int perform_message(struct vt_mc_call *k)
{
	const uintptr_t *w = k->w;
	MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
	int rc = MPI_SUCCESS;

	switch (k->f->sort) {
	case VT_MC_SEND:
		rc = post_send(k, &send);
		break;
	case VT_MC_RECV:
		rc = PMPI_Irecv(
			(void *)w[0], (int)w[1], (MPI_Datatype)w[2], (int)w[3], (int)w[4], (MPI_Comm)w[5], &receive);
		break;
	default: /* VT_MC_SENDRECV */
		rc = PMPI_Irecv(
			(void *)w[5], (int)w[6], (MPI_Datatype)w[7], (int)w[8], (int)w[9], (MPI_Comm)w[10], &receive);
		if (rc == MPI_SUCCESS) {
			rc = PMPI_Isend((const void *)w[0], (int)w[1], (MPI_Datatype)w[2], (int)w[3], (int)w[4],
				(MPI_Comm)w[10], &send);
			if (rc != MPI_SUCCESS) {
				take_back(&receive);
			}
		}
		break;
	}
	k->rc = rc == MPI_SUCCESS ? perform_transfers(k, &send, &receive) : rc;
	if (k->f->sort == VT_MC_SEND) {
		hold_sends(k);
	} else {
		give_status(k);
	}
	return 1;
}

/* The data that MPI_Sendrecv_replace() sends, packed: a type may have holes without memory. NULL: none. */
static char *pack_sent(const struct vt_mc_pending *p, const struct vt_mc_call *k, int *packed)
{
	MPI_Comm comm = (MPI_Comm)k->w[7];
	MPI_Datatype type = (MPI_Datatype)k->w[2];
	int size = 0;
	char *copy;

	*packed = 0;
	if (!p || !p->type || (p->high <= p->low && p->count > 0) || !vt_mc_is_readable(p->low, p->high) ||
		PMPI_Pack_size((int)k->w[1], type, comm, &size) != MPI_SUCCESS) {
		return NULL;
	}
	copy = malloc((size_t)size + 1);
	if (copy && PMPI_Pack((const void *)k->w[0], (int)k->w[1], type, copy, size, packed, comm) != MPI_SUCCESS) {
		free(copy);
		return NULL;
	}
	return copy;
}

/* MPI_Sendrecv_replace(), from a copy of the buffer. Returns 0 if MPI must do it. */
static int perform_replace(struct vt_mc_call *k)
{
	const uintptr_t *w = k->w;
	MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
	int packed;
	char *copy = pack_sent(k->sent, k, &packed);

	if (!copy) {
		return 0;
	}
	k->rc = PMPI_Irecv((void *)w[0], (int)w[1], (MPI_Datatype)w[2], (int)w[5], (int)w[6], (MPI_Comm)w[7], &receive);
	if (k->rc == MPI_SUCCESS) {
		k->rc = PMPI_Isend(copy, packed, MPI_PACKED, (int)w[3], (int)w[4], (MPI_Comm)w[7], &send);
		if (k->rc != MPI_SUCCESS) {
			take_back(&receive);
		}
	}
	if (k->rc == MPI_SUCCESS) {
		k->rc = perform_transfers(k, &send, &receive);
	}
	free(copy);
	give_status(k);
	k->done = 1;
	return 1;
}

static int perform_probe(struct vt_mc_call *k)
{
	const uintptr_t *w = k->w;
	struct vt_mc_wait wait;
	int flag = 0;

	vt_mc_wait_begin(&wait, k);
	for (;;) {
		k->rc = k->f->sort == VT_MC_MPROBE
			? PMPI_Improbe((int)w[0], (int)w[1], (MPI_Comm)w[2], &flag, (MPI_Message *)w[3], &k->status)
			: PMPI_Iprobe((int)w[0], (int)w[1], (MPI_Comm)w[2], &flag, &k->status);
		if (k->rc != MPI_SUCCESS || flag) {
			break;
		}
		vt_mc_wait_turn(&wait, needs_of_probe);
	}
	vt_mc_wait_end(&wait);
	give_status(k);
	return 1;
}

/* Room for the statuses, also where the program wants none. */
static int make_statuses(struct vt_mc_call *k)
{
	k->statuses = k->n <= 16 ? k->few_statuses : calloc(k->n, sizeof(*k->statuses));
	return k->statuses != NULL;
}

static void give_statuses(struct vt_mc_call *k, size_t n)
{
	MPI_Status *to = (MPI_Status *)VT_MC_WORD(k, VT_MC_STATUS);
	size_t i;
	int error;

	if ((void *)to == (void *)MPI_STATUSES_IGNORE || (void *)to == (void *)MPI_STATUS_IGNORE || !to) {
		return;
	}
	for (i = 0; i < n; i++) {
		error = to[i].MPI_ERROR;
		to[i] = k->statuses[i];
		to[i].MPI_ERROR = k->rc == MPI_ERR_IN_STATUS ? k->statuses[i].MPI_ERROR : error;
	}
}

/* One test of the requests of the call. Returns 1 if the call can return. */
static int test_once(struct vt_mc_call *k, int *flag)
{
	const uintptr_t *w = k->w;
	int n = VT_MC_HAS(k, VT_MC_OF_REQUEST) && k->f->at[VT_MC_OF_REQUEST] == 1 ? (int)w[0] : 1, index;
	MPI_Request *list = (MPI_Request *)VT_MC_WORD(k, VT_MC_OF_REQUEST);

	switch (k->f->sort) {
	case VT_MC_WAIT:
	case VT_MC_TEST:
		k->rc = PMPI_Test(list, flag, k->statuses);
		break;
	case VT_MC_WAITALL:
	case VT_MC_TESTALL:
		k->rc = PMPI_Testall(n, list, flag, k->statuses);
		break;
	case VT_MC_WAITANY:
	case VT_MC_TESTANY:
		k->rc = PMPI_Testany(n, list, &index, flag, k->statuses);
		*(int *)VT_MC_WORD(k, VT_MC_INDEX) = index;
		break;
	default:
		k->rc = PMPI_Testsome(n, list, (int *)VT_MC_WORD(k, VT_MC_OUTCOUNT),
			(int *)VT_MC_WORD(k, VT_MC_INDICES), k->statuses);
		*flag = *(int *)VT_MC_WORD(k, VT_MC_OUTCOUNT) != 0;
		break;
	}
	return k->rc != MPI_SUCCESS || *flag;
}

static size_t how_many_statuses(const struct vt_mc_call *k, int flag)
{
	enum vt_mc_sort s = k->f->sort;

	return !flag && k->rc == MPI_SUCCESS               ? 0
		: s == VT_MC_WAITALL || s == VT_MC_TESTALL ? k->n
		: s == VT_MC_WAITSOME || s == VT_MC_TESTSOME
		? (size_t)(*(int *)VT_MC_WORD(k, VT_MC_OUTCOUNT) < 0 ? 0 : *(int *)VT_MC_WORD(k, VT_MC_OUTCOUNT))
		: 1;
}

static int perform_wait(struct vt_mc_call *k)
{
	struct vt_mc_wait w;
	int flag = 0;

	if (!make_statuses(k)) {
		return 0;
	}
	vt_mc_wait_begin(&w, k);
	while (!test_once(k, &flag)) {
		vt_mc_wait_turn(&w, needs_of_call);
	}
	vt_mc_wait_end(&w);
	if (k->f->sort == VT_MC_WAIT || k->f->sort == VT_MC_WAITALL) {
		hold_sends(k);
	}
	give_statuses(k, how_many_statuses(k, flag));
	return 1;
}

/* MPI_Win_wait. */
static int perform_epoch_end(struct vt_mc_call *k)
{
	MPI_Win win = (MPI_Win)k->w[0];
	struct vt_mc_wait w;
	int flag = 0;

	vt_mc_wait_begin(&w, k);
	while ((k->rc = PMPI_Win_test(win, &flag)) == MPI_SUCCESS && !flag) {
		vt_mc_wait_turn(&w, vt_mc_needs_origins);
	}
	vt_mc_wait_end(&w);
	return 1;
}

/* ---- calls that look ---- */

static void looked(struct vt_mc_call *k, const int *found, void (*needs)(struct vt_mc_wait *w))
{
	vt_mc_poll_ends(k, k->rc != MPI_SUCCESS || *found, needs);
}

static int perform_look(struct vt_mc_call *k)
{
	int flag = 0, done;

#if VT_MPI >= 400
	if (vt_mc_is(k, "Parrived")) {
		k->rc = PMPI_Parrived((MPI_Request)k->w[0], (int)k->w[1], (int *)k->w[2]);
		looked(k, (const int *)k->w[2], needs_partition);
		return 1;
	}
#endif
	if (vt_mc_is(k, "Iprobe")) {
		const uintptr_t *w = k->w;

		k->rc = PMPI_Iprobe((int)w[0], (int)w[1], (MPI_Comm)w[2], (int *)w[3], (MPI_Status *)w[4]);
		looked(k, (const int *)w[3], needs_of_probe);
		return 1;
	}
	if (vt_mc_is(k, "Win_test")) {
		k->rc = PMPI_Win_test((MPI_Win)k->w[0], (int *)k->w[1]);
		looked(k, (const int *)k->w[1], vt_mc_needs_origins);
		return 1;
	}
	if (k->f->sort == VT_MC_IMPROBE) {
		const uintptr_t *w = k->w;

		k->rc = PMPI_Improbe(
			(int)w[0], (int)w[1], (MPI_Comm)w[2], (int *)w[3], (MPI_Message *)w[4], &k->status);
		if (k->rc == MPI_SUCCESS && *(int *)w[3]) {
			give_status(k);
		}
		looked(k, (const int *)w[3], needs_of_probe);
		return 1;
	}
	if (!make_statuses(k)) {
		return 0;
	}
	done = test_once(k, &flag);
	if (VT_MC_HAS(k, VT_MC_FLAG)) {
		*(int *)VT_MC_WORD(k, VT_MC_FLAG) = flag;
	}
	looked(k, &done, needs_of_call);
	give_statuses(k, how_many_statuses(k, flag));
	return 1;
}

/* Those who connect to this job, or accept that, are processes of another one, which may come as late as they like, unless the user
 * has set a limit. */
static void needs_other_job(struct vt_mc_wait *w)
{
	w->unknown = w->idle = 1;
}

static void watch_other_job(struct vt_mc_call *k)
{
	const struct vt_mc_object *c;

	vt_mc_lock();
	c = vt_mc_comm((MPI_Comm)VT_MC_WORD(k, VT_MC_OF_COMM));
	vt_mc_unlock();
	if (vt_mc_shared && c && !vt_mc_several_threads && vt_mc_idle_limit_ns(1) > 0 &&
		(vt_mc_is(k, "Comm_accept") || vt_mc_is(k, "Comm_connect"))) {
		vt_mc_watch_begin(k, needs_other_job, c->id);
	}
}

int vt_mc_perform(struct vt_mc_call *k)
{
	switch (k->f->sort) {
	case VT_MC_JOINED:
		watch_other_job(k);
		return 0;
	case VT_MC_SEND:
		/* calls of MPI-4 with large counts are passed on unchanged */
		return strstr(k->f->text, "_c") ? 0 : perform_message(k);
	case VT_MC_RECV:
	case VT_MC_SENDRECV:
		return strstr(k->f->text, "_c") ? 0 : perform_message(k);
	case VT_MC_SENDRECV_REPLACE:
		return strstr(k->f->text, "_c") ? 0 : perform_replace(k);
	case VT_MC_MPROBE:
		return perform_probe(k);
	case VT_MC_WAIT:
	case VT_MC_WAITALL:
	case VT_MC_WAITANY:
	case VT_MC_WAITSOME:
		return perform_wait(k);
	case VT_MC_TEST:
	case VT_MC_TESTALL:
	case VT_MC_TESTANY:
	case VT_MC_TESTSOME:
	case VT_MC_IMPROBE:
		return perform_look(k);
	default:
		return vt_mc_is(k, "Probe")       ? perform_probe(k)
			: vt_mc_is(k, "Win_wait") ? perform_epoch_end(k)
			: vt_mc_is(k, "Iprobe") || vt_mc_is(k, "Win_test") || vt_mc_is(k, "Parrived") ? perform_look(k)
												      : 0;
	}
}

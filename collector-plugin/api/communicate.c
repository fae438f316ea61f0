/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and collective operations that the program logs itself (Intel Trace Collector guide, section 3.1.9). The
 * merge matches them like those of MPI. An operation that began earlier is recorded with the time since its
 * beginning, and the merge sorts it into order. So VT_begin_unordered() need not record anything; its calls only have
 * to nest. */
#include "config.h"
#include "collector-plugin/core/thread.h"

#include "include/VT.h"
#include "collector-plugin/raw/operations.h"
#include "collector-plugin/trace/define.h"
#include "collector-plugin/trace/trace.h"
#include "collector-plugin/trace/world.h"

_Static_assert((int)VT_RAW_OP_SHMEM_BARRIER == (int)VT_OP_COUNT && (int)VT_RAW_OP_IEXSCAN == (int)VT_OP_IEXSCAN,
	"operations of the raw file begin with those of VT.h");

/* Number of members of a communicator; 0: there is none. */
static int size_of_logged(const struct vt_collect *c, int commid)
{
	return commid == VT_COMM_WORLD   ? vt_world_size(c)
		: commid == VT_COMM_SELF ? 1
					 : vt_world_attached(commid - VT_COMM_SELF - 1);
}

/* Checks that commid is a communicator and that it has this rank, and defines the communicator. */
static VT_ErrorCode check_logged(int commid, int rank, int sclhandle)
{
	VT_ErrorCode rc = vt_self();
	struct vt_collect *c = vt_tls.collect;

	if (rc != VT_OK) {
		return rc;
	}
	if (sclhandle != VT_NOSCL && !vt_location_known((uint32_t)sclhandle)) {
		return VT_ERR_BADSCLID;
	}
	if (rank < 0 || rank >= size_of_logged(c, commid)) {
		return VT_ERR_BADARG;
	}
	vt_world_define(c, c->rank < 0 ? 0 : c->rank, vt_world_size(c));
	return VT_OK;
}

static uint32_t logged_communicator(int commid)
{
	return VT_WORLD_ID + (uint32_t)commid;
}

/* Ticks from a stamp of VT_timestamp() until now; 0 if the stamp is later than now. */
static int64_t ticks_since_logged(double stamp, ltick_t now)
{
	const struct vt_collect *c = vt_tls.collect;
	double back = (double)ltick_sub(now, c->start) - stamp * c->timer->hz;

	return back > 0 ? (int64_t)(back + 0.5) : 0;
}

/* The location of what is logged: the one that is given, or that of VT_thisloc(), which counts once. */
static uint32_t take_location(int sclhandle)
{
	uint32_t scl = (uint32_t)sclhandle;

	if (sclhandle == VT_NOSCL && vt_tls.trace) {
		scl = vt_tls.trace->scl;
		vt_tls.trace->scl = 0;
	}
	return scl;
}

static VT_ErrorCode log_message(enum vt_raw_message_kind kind, int other, int count, int tag, int commid, int sclhandle)
{
	VT_ErrorCode rc = check_logged(commid, other, sclhandle);
	struct vt_raw_message m = {
		.communicator = logged_communicator(commid), .peer = other, .tag = tag, .bytes = (uint32_t)count
	};

	if (rc != VT_OK || count < 0) {
		return rc != VT_OK ? rc : VT_ERR_BADARG;
	}
	m.scl = take_location(sclhandle);
	if (vt_trace_logs()) {
		vt_trace_message(tmr_read_ordered(vt_tls.collect->timer), kind, &m);
	}
	return vt_event();
}

VT_ErrorCode VT_log_sendmsg(int other_rank, int count, int tag, int commid, int sclhandle)
{
	return log_message(VT_RAW_MESSAGE_SEND, other_rank, count, tag, commid, sclhandle);
}

VT_ErrorCode VT_log_recvmsg(int other_rank, int count, int tag, int commid, int sclhandle)
{
	return log_message(VT_RAW_MESSAGE_RECEIVE, other_rank, count, tag, commid, sclhandle);
}

VT_ErrorCode VT_log_msgevent(
	int sender, int receiver, int count, int tag, int commid, double sendts, int sendscl, int recvscl)
{
	VT_ErrorCode rc = check_logged(commid, sender, sendscl);
	struct vt_raw_message m = { .communicator = logged_communicator(commid),
		.peer = sender,
		.tag = tag,
		.bytes = (uint32_t)count,
		.number = (uint32_t)receiver,
		.during = sendscl == VT_NOSCL ? 0 : (uint32_t)sendscl,
		.scl = recvscl == VT_NOSCL ? 0 : (uint32_t)recvscl };
	ltick_t now;

	rc = rc == VT_OK ? check_logged(commid, receiver, recvscl) : rc;
	if (rc != VT_OK || count < 0) {
		return rc != VT_OK ? rc : VT_ERR_BADARG;
	}
	if (vt_trace_logs()) {
		now = tmr_read_ordered(vt_tls.collect->timer);
		m.since = ticks_since_logged(sendts, now);
		vt_trace_message(now, VT_RAW_MESSAGE_WHOLE, &m);
	}
	return vt_event();
}

static int has_root(int opid)
{
	static const uint8_t type[] = {
#define ROW(name, text, type) type,
		VT_RAW_OPERATIONS(ROW)
#undef ROW
	};

	return type[opid] == VT_RAW_ONE_TO_ALL || type[opid] == VT_RAW_ALL_TO_ONE;
}

static struct vt_raw_collective logged_share(int opid, int commid, int root, int bsend, int brecv, int sclhandle)
{
	return (struct vt_raw_collective){ .communicator = logged_communicator(commid),
		.root = has_root(opid) ? root : VT_RAW_ROOT_UNKNOWN,
		.sent = bsend > 0 ? (uint32_t)bsend : 0,
		.received = brecv > 0 ? (uint32_t)brecv : 0,
		.scl = sclhandle == VT_NOSCL ? 0 : (uint32_t)sclhandle };
}

VT_ErrorCode VT_log_op(int opid, int commid, int root, int bsend, int brecv, double startts, int sclhandle)
{
	VT_ErrorCode rc = opid < 0 || opid >= VT_OP_COUNT ? VT_ERR_BADARG
							  : check_logged(commid, has_root(opid) ? root : 0, sclhandle);
	struct vt_raw_collective r;
	ltick_t now;

	if (rc != VT_OK) {
		return vt_self() == VT_OK ? rc : vt_self();
	}
	r = logged_share(opid, commid, root, bsend, brecv, (int)take_location(sclhandle));
	r.number = atomic_fetch_add(&vt_world_operations[logged_communicator(commid) - 1], 1);
	if (vt_trace_logs()) {
		now = tmr_read_ordered(vt_tls.collect->timer);
		r.since = ticks_since_logged(startts, now);
		vt_trace_record(now, VT_RAW_COLLECTIVE, (uint8_t)opid, &r, sizeof(r));
	}
	return vt_event();
}

VT_ErrorCode VT_log_opevent(
	int opid, int commid, int root, int numprocs, int *bsend, int *brecv, double *startts, int sclhandle)
{
	static _Atomic uint32_t logged; /* operations that this process logged for all members at once */
	VT_ErrorCode rc = opid < 0 || opid >= VT_OP_COUNT ? VT_ERR_BADARG
							  : check_logged(commid, has_root(opid) ? root : 0, sclhandle);
	struct vt_raw_logged_share r;
	uint32_t number;
	ltick_t now;
	int i;

	if (rc == VT_OK &&
		(numprocs < 1 || numprocs > size_of_logged(vt_tls.collect, commid) || !bsend || !brecv || !startts)) {
		rc = VT_ERR_BADARG;
	}
	if (rc != VT_OK) {
		return vt_self() == VT_OK ? rc : vt_self();
	}
	if (vt_trace_logs()) {
		number = atomic_fetch_add(&logged, 1);
		now = tmr_read_ordered(vt_tls.collect->timer);
		for (i = 0; i < numprocs; i++) {
			r.member = (uint32_t)i;
			r.filler = 0;
			r.share = logged_share(opid, commid, root, bsend[i], brecv[i], sclhandle);
			r.share.number = number;
			r.share.since = ticks_since_logged(startts[i], now);
			vt_trace_record(now, VT_RAW_LOGGED_SHARE, (uint8_t)opid, &r, sizeof(r));
		}
	}
	return vt_event();
}

static _Thread_local int unordered;

VT_ErrorCode VT_begin_unordered(void)
{
	VT_ErrorCode rc = vt_event();

	unordered += rc == VT_OK;
	return rc;
}

VT_ErrorCode VT_end_unordered(void)
{
	VT_ErrorCode rc = vt_event();

	if (rc == VT_OK && unordered == 0) {
		return VT_ERR_BADREQUEST;
	}
	unordered -= rc == VT_OK;
	return rc;
}

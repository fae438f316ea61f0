/* SPDX-License-Identifier: BSD-3-Clause */
/* Which receive got which message, and who took part in which collective operation.
 * MPI delivers messages of one sender to one receiver on one communicator with one tag in the order in which the
 * receives were posted. So the n-th send belongs to the n-th receive. No order is known where two threads of a
 * process posted at the same time: such messages are marked. The k-th collective operation that each member begins on
 * a communicator is the same operation.
 * This file depends on no file format and no trace. */
#ifndef COLLECTOR_PLUGIN_MERGE_COMMON_MATCH_H
#define COLLECTOR_PLUGIN_MERGE_COMMON_MATCH_H

#include <stddef.h>
#include <stdint.h>

enum vt_match_kind {
	VT_MATCH_SEND,
	VT_MATCH_RECEIVE,
	VT_MATCH_EITHER,     /* a receive that was complete at `time`, or at `later` if it was sent after that */
	VT_MATCH_FREED,      /* a receive whose request was freed: its end is unknown, its peer or tag may be, too */
	VT_MATCH_TAKEN_BACK, /* the send of this thread with this `post` was cancelled, or failed */
};

enum { VT_MATCH_NOBODY = 0xffff, VT_MATCH_ANY_TAG = INT32_MIN };

/* One end of a message. */
struct vt_match_end {
	uint64_t time;    /* of the send's call, or when the receive was complete, in ticks of the trace */
	int64_t post;     /* earliest time when it can have been posted, by the clock of its process */
	uint32_t during;  /* how much later that may have been, in ticks; UINT32_MAX if it does not fit */
	uint32_t earlier; /* of VT_MATCH_EITHER, TRACE-IMBALANCE: number of the call that ended at `time`; 0: none */
	union {
		uint64_t bytes;
		uint64_t later; /* of VT_MATCH_EITHER, which has no bytes */
	};
	uint32_t communicator, function, scl; /* ids in the trace; 0: none */
	/* of TRACE-IMBALANCE (records/idle.h): number of the call that it is in; else 1 + index of the send before it in its call; 0:
	 * none */
	uint32_t call;
	int32_t tag;
	/* 0: messages; else it pairs with ends of the same channel only (partitioned communication) */
	uint32_t channel;
	uint16_t process, thread; /* the process and thread that this end belongs to */
	uint16_t peer;            /* process at the other end; VT_MATCH_NOBODY: it is not in the trace */
	uint8_t kind;             /* enum vt_match_kind */
	uint8_t ambiguous;        /* set by vt_match_messages() */
};

/* Was a receive complete only at `later`? */
static inline int vt_match_late(const struct vt_match_end *send, const struct vt_match_end *receive)
{
	return receive->kind == VT_MATCH_EITHER && (!send || receive->time < send->time);
}

struct vt_match_ends {
	struct vt_match_end *end;
	size_t n, room;
};

/* Adds a zeroed end and returns it; NULL: no memory. */
struct vt_match_end *vt_match_add_end(struct vt_match_ends *l);

/* A lock of a window that a thread had. Times in ticks of the trace. */
struct vt_match_lock {
	uint64_t asks, asked;                 /* begin and end of the call that asked for it */
	uint64_t done;                        /* end of the first call that was complete with the lock only */
	uint64_t gives, gave;                 /* begin and end of the call that gave it back */
	uint32_t communicator, function, scl; /* function, scl: of that call */
	uint16_t process, thread;
	uint16_t target; /* process */
	uint8_t exclusive;
};
struct vt_match_locks {
	struct vt_match_lock *lock;
	size_t n, room;
};

/* Who waited for which lock: adds the two ends of a message of no bytes from the thread that gave it back to the one that waited. Of the
 * locks of one target that exclude each other, one that is given back later was got later. Returns 0 or -1: no memory. */
int vt_match_window_locks(const struct vt_match_locks *l, struct vt_match_ends *to);

/* send or receive may be NULL: the other end is not in the trace. */
typedef int vt_match_message_fn(void *ctx, const struct vt_match_end *send, const struct vt_match_end *receive);

struct vt_match_counts {
	uint64_t messages;        /* with both ends */
	uint64_t ambiguous;       /* messages whose order is unknown */
	uint64_t sends, receives; /* ends without the other end */
	uint64_t outside;         /* of `sends` and `receives`: the other end is no process of the trace */
	uint64_t freed;           /* receives with freed requests, from an unknown sender */
	uint64_t sizes;           /* messages whose sent and received bytes differ: ends were paired wrongly */
	uint64_t operations;      /* collective operations */
	uint64_t incomplete;      /* operations of which not all members were seen */
	uint64_t mixed;           /* operations in which members called different functions */
};

/* Calls fn for each message in the order of time (that of the send, else that of the receive). If fn returns anything
 * but 0, the call ends and returns that. Also returns -1 if there is no memory. The ends are marked. Needs 12 bytes
 * more for each end. It is fastest if the ends are in the order of time. */
int vt_match_messages(struct vt_match_ends *l, struct vt_match_counts *counts, vt_match_message_fn *fn, void *ctx);

/* What one member did in a collective operation. */
struct vt_match_share {
	uint64_t begin, end;
	uint64_t sent, received;
	uint64_t number;       /* number of the operation on its communicator, from 0 */
	uint32_t communicator; /* of the trace */
	uint32_t member;       /* the process's place in the communicator */
	uint32_t root;         /* place of the root; UINT32_MAX: none, or unknown to this member */
	uint32_t scl;
	uint32_t call; /* as of struct vt_match_end */
	uint16_t op;
};

struct vt_match_shares {
	struct vt_match_share *share;
	size_t n, room;
};

struct vt_match_share *vt_match_add_share(struct vt_match_shares *l);

/* Called with all shares of one operation, sorted by member, each member once. */
typedef int vt_match_operation_fn(void *ctx, const struct vt_match_share *share, size_t n);
/* Calls fn for each operation, in the order of the earliest begin. size[communicator]: how many members. */
int vt_match_operations(struct vt_match_shares *l, const uint32_t *size, uint32_t n_sizes,
	struct vt_match_counts *counts, vt_match_operation_fn *fn, void *ctx);

#endif

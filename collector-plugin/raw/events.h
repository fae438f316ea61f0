/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the program's threads in the raw file: one list with the number and the body of each kind. Every event
 * except most states and messages (raw/short.h) is a struct vt_raw_record (type, n, where, dt: 8 bytes) and a body of
 * fixed size, a multiple of 4 bytes. vt_raw_event() appends it to the calling thread's stream, without lock, system call or
 * memory allocation. doc/raw-format.md describes the bytes.
 *
 * To add a kind of event:
 *   1. Declare the struct of its body below, without padding and without pointers. Members that are ids (functions,
 *      source locations, scopes, communicators) are the numbers of definitions of this raw file.
 *   2. Add a line to VT_RAW_EVENT_LIST, with a free number: 6 to 31. The reader takes the size from there.
 *   3. Record it with vt_raw_event(stream, stamp, thread number, VT_RAW_..., n, &body, sizeof(body)). The byte `n` is
 *      free for your use. In api/ and mpi/, use vt_trace_record() of trace/trace.h, which knows stream, thread and
 *      whether the thread records.
 *   4. Add a function to the table in merge/records/events.c, which writes the record of the trace. vt_merge_id() converts
 *      ids of the raw file to those of the trace.
 *   5. Add it to doc/raw-format.md, and to tests/unit/collector-plugin/merge/records/test_events.c. */
#ifndef COLLECTOR_PLUGIN_RAW_EVENTS_H
#define COLLECTOR_PLUGIN_RAW_EVENTS_H

#include <stdint.h>
#include <string.h>

#include "collector-plugin/raw/format.h"

/* VT_RAW_ENTER and VT_RAW_LEAVE. Leaves are of the innermost state, and their function is 0. */
struct vt_raw_state_change {
	uint32_t function, scl; /* scl 0: no source location */
};
/* `n` of VT_RAW_LEAVE: the program leaves the state; or its thread ended with the state open; or the program left it
 * earlier, and the record of that was lost. */
enum { VT_RAW_LEFT = 0, VT_RAW_CLOSED_BY_END = 1, VT_RAW_LEFT_BEFORE = 2 };
/* VT_RAW_OWNER has no body: the short records after it in its block (raw/short.h) belong to the thread `where`. */
struct vt_raw_scope {
	uint32_t scope, seqnr, scl;
};

/* Messages of MPI, of VT_log_sendmsg() and of similar calls. A communicator is the id of its definition; peers are
 * ranks in it, or in its remote group. A send has the stamp of the beginning of its call. A receive has the stamp of
 * the end of the call that completed it. */
enum vt_raw_message_kind {
	VT_RAW_MESSAGE_SEND = 1,
	VT_RAW_MESSAGE_RECEIVE,
	VT_RAW_MESSAGE_FREED, /* a receive whose request was freed, so that its end is not seen */
	VT_RAW_MESSAGE_WHOLE, /* both ends, of VT_log_msgevent(): peer sent it `since` ticks ago at the source location `during`,
	                       * rank `number` received it */
	VT_RAW_MESSAGE_TAKEN_BACK, /* the send that was posted `since` ticks ago failed, or was cancelled */
	/* a receive of no bytes at the end of one of two calls: of the one that posted it `since` ticks ago and took `bytes` ticks, or of
	 * this one if it was sent later */
	VT_RAW_MESSAGE_EITHER,
	/* This call gave back the lock of a window at rank `peer`, which was asked for `since` ticks ago, in a call of `bytes` ticks. tag:
	 * VT_RAW_LOCK_... */
	VT_RAW_MESSAGE_LOCKED,
	/* And of the same lock: this call began `since` ticks ago; so many ticks ago (`bytes`) the first call ended that was complete with
	 * the lock only */
	VT_RAW_MESSAGE_UNLOCKED,
};
enum { VT_RAW_LOCK_SHARED, VT_RAW_LOCK_EXCLUSIVE };
enum { VT_RAW_ANY = INT32_MIN }; /* peer and tag of a freed receive */
struct vt_raw_message {          /* n: enum vt_raw_message_kind */
	uint32_t communicator;
	int32_t peer, tag;
	uint32_t bytes, bytes_high;
	uint32_t number; /* number in its channel of partitioned communication, from 1; 0: a message */
	uint32_t during; /* FREED: ticks that the call that posted it took; WHOLE: see there */
	uint32_t scl;    /* source location of VT_log_sendmsg(); 0: that of the function */
	int64_t since;
};

/* The part of this process in a collective operation, recorded when it is complete. n: enum vt_raw_operation
 * (raw/operations.h) */
struct vt_raw_collective {
	uint32_t communicator;
	uint32_t number; /* counts the operations on the communicator, from 0 */
	int32_t root;    /* its rank, or one of those below */
	uint32_t sent, received;
	uint16_t sent_high, received_high;
	uint32_t scl;
	int64_t since; /* ticks since the beginning of the call that started it */
};
/* One member's part in an operation of VT_log_opevent(), which one process logs for all members. Its number counts
 * the operations of that process. */
struct vt_raw_logged_share {
	uint32_t member, filler;
	struct vt_raw_collective share;
};
enum {
	VT_RAW_ROOT_UNKNOWN = -1,
	VT_RAW_ROOT_SELF = -2,           /* this process, of an intercommunicator */
	VT_RAW_ROOT_REMOTE = 0x40000000, /* plus the rank in the other group */
};

/* Bytes to or from a file of VT_RAW_DEF_FILE, inside the state that transfers them, or POSTED: the end is in the state that completes
 * the request. The record at the beginning has the bytes that were requested, the record at the end those that were transferred. n: enum
 * vt_raw_io */
struct vt_raw_transfer {
	uint32_t file, bytes, bytes_high;
};
enum vt_raw_io { VT_RAW_WRITE, VT_RAW_READ, VT_RAW_WRITE_POSTED, VT_RAW_READ_POSTED };

/* Something is wrong in the program. Texts are numbers of VT_RAW_DEF_TEXT, 0: none. n: how many calls it names */
enum { VT_RAW_REPORT_CALLS = 4 };
struct vt_raw_report {
	uint32_t type, level, text;
	struct vt_raw_report_call {
		uint32_t header, call, function, scl;
		int32_t rank; /* < 0: this process, whose innermost state has what is 0 here */
	} call[VT_RAW_REPORT_CALLS];
};

/* clang-format off */
#define VT_RAW_EVENT_LIST(X) \
	X(ENTER,       3, sizeof(struct vt_raw_state_change)) \
	X(LEAVE,       4, sizeof(struct vt_raw_state_change)) \
	X(REPORT,      7, sizeof(struct vt_raw_report)) \
	X(SCOPE_BEGIN, 8, sizeof(struct vt_raw_scope)) \
	X(SCOPE_END,   9, sizeof(struct vt_raw_scope)) \
	X(OWNER,      10, 0) \
	X(MESSAGE,    18, sizeof(struct vt_raw_message)) \
	X(COLLECTIVE, 19, sizeof(struct vt_raw_collective)) \
	X(LOGGED_SHARE, 20, sizeof(struct vt_raw_logged_share)) \
	X(IO_BEGIN,   21, sizeof(struct vt_raw_transfer)) \
	X(IO_END,     22, sizeof(struct vt_raw_transfer))
/* clang-format on */

enum vt_raw_event_type {
#define VT_RAW_EVENT_NUMBER(name, number, size) VT_RAW_##name = number,
	VT_RAW_EVENT_LIST(VT_RAW_EVENT_NUMBER)
#undef VT_RAW_EVENT_NUMBER
};

/* Returns the bytes of the whole record; 0: there is no such kind. */
static inline size_t vt_raw_event_size(unsigned type)
{
	switch (type) {
#define VT_RAW_EVENT_SIZE(name, number, size) \
	case number: \
		return 8 + (size);
		VT_RAW_EVENT_LIST(VT_RAW_EVENT_SIZE)
#undef VT_RAW_EVENT_SIZE
	default:
		return 0;
	}
}

#endif

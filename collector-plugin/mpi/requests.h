/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program's requests and matched messages mean, found by their handles.
 * MPI reuses a handle as soon as its request is complete, and sets the program's variable to MPI_REQUEST_NULL in the
 * call that completes it. So a call that may complete a request holds the entry from before the MPI call until after
 * it. If another thread gets the same handle meanwhile, it makes a new entry. Entries never move. An entry whose
 * request has ended stays in the chain of its handle, which MPI will soon reuse; up to VT_REQUESTS_IDLE entries stay
 * so.
 * This file does not use MPI. The table takes memory when it grows, and never frees it. */
#ifndef COLLECTOR_PLUGIN_MPI_REQUESTS_H
#define COLLECTOR_PLUGIN_MPI_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

enum vt_request_kind {
	VT_REQUEST_SEND,
	VT_REQUEST_RECEIVE,
	VT_REQUEST_COLLECTIVE,
	VT_REQUEST_COMMUNICATOR, /* MPI_Comm_idup: a new communicator, valid when the request is complete */
	VT_REQUEST_OUTSIDE,      /* of a file: it ends because of something that is in no trace (outside.h) */
	VT_REQUEST_MATCHED,      /* a message found by MPI_Mprobe that has not been received yet */
};

struct vt_comm;

struct vt_request {
	uint64_t handle;
	struct vt_request *next; /* next entry in its chain, or in the list of free entries */
	/* all members from here on are 0 in a new entry */
	uint8_t kind;
	uint8_t persistent;
	uint8_t doubtful;    /* its status may be undefined */
	uint8_t active;      /* persistent: it has been started */
	uint8_t partitioned; /* it pairs with the partitioned request of the same number, not with messages */
	uint8_t cancelled;   /* MPI_Cancel() was called; the status says whether it was in time */
	uint8_t recorded;    /* the call that posted it was recorded */
	uint8_t linked;      /* in the chain of its handle */
	uint8_t live;        /* linked, and its request has not ended */
	uint16_t held;       /* number of calls under way that may complete it */
	uint16_t op;         /* of a collective: VT_RAW_OP_...; of a file: enum vt_raw_io */
	uint32_t number; /* of the collective on its communicator; of the partitioned one in its channel; of the file */
	int32_t peer, tag; /* as posted, so wildcards are possible; the root of a collective */
	struct vt_comm *comm;
	uint64_t bytes;       /* sent, or room for what is received */
	uint64_t bytes_back;  /* of a collective: bytes received */
	int64_t post, posted; /* when the call that started it was entered and left, in ticks */
	void *target;         /* VT_REQUEST_COMMUNICATOR: where MPI stores the new handle */
};

enum { VT_REQUESTS_CHUNK = 256, VT_REQUESTS_CHUNKS = 4096, VT_REQUESTS_IDLE = 1024 };

struct vt_requests {
	struct vt_request **bucket;
	size_t n_buckets; /* a power of two */
	size_t used;      /* number of live entries */
	size_t idle;      /* number of entries that are linked and not live */
	struct vt_request *free;
	struct vt_request *chunk[VT_REQUESTS_CHUNKS];
	size_t n_chunks;
	uint64_t forgotten; /* entries whose handle was reused before we had seen the end of their request */
	uint64_t refused;   /* requests without an entry: no memory, or too many */
	int threads;        /* several threads may call, so the lock is needed */
	volatile char lock;
};

/* Makes an entry for this handle, all other members 0; NULL: no memory, which is counted in `refused`. */
struct vt_request *vt_requests_add(struct vt_requests *t, uint64_t handle);

/* Finds the entry of a handle that a call may complete, and holds it until vt_requests_release(); NULL: there is
 * none. */
struct vt_request *vt_requests_hold(struct vt_requests *t, uint64_t handle);

/* The call has ended. gone: the handle is no longer valid (freed, or complete and not persistent). */
void vt_requests_release(struct vt_requests *t, struct vt_request *r, int gone);

#endif

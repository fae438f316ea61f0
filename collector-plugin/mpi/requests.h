/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program's requests and matched messages stand for, found by their handle. MPI gives a handle out again as soon as
 * what it named is complete, and sets the program's variable to MPI_REQUEST_NULL in the call that completes it: so a call that may
 * complete a request holds its entry from before MPI is called until after, and another thread that gets the same handle meanwhile
 * makes a new entry. Entries never move. An entry whose request is gone stays at its handle, which MPI soon gives out again: up to
 * VT_REQUESTS_IDLE of them. No MPI here; memory is taken when the table grows, never given back. */
#ifndef COLLECTOR_PLUGIN_MPI_REQUESTS_H
#define COLLECTOR_PLUGIN_MPI_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

enum vt_request_kind {
	VT_REQUEST_SEND,
	VT_REQUEST_RECEIVE,
	VT_REQUEST_COLLECTIVE,
	VT_REQUEST_COMMUNICATOR, /* MPI_Comm_idup: a new communicator, when it is complete */
	VT_REQUEST_MATCHED,      /* of MPI_Mprobe: a message that has not been received yet */
};

struct vt_comm;

struct vt_request {
	uint64_t handle;
	struct vt_request *next; /* in its chain, or free */
	/* a new entry has 0 from here on */
	uint8_t kind;
	uint8_t persistent;
	uint8_t active;      /* persistent: it has been started */
	uint8_t partitioned; /* pairs with the partitioned one of the same number, not with messages */
	uint8_t cancelled;   /* MPI_Cancel() was called: whether in time the status says */
	uint8_t recorded;    /* the call that posted it was */
	uint8_t linked;      /* in the chain of its handle */
	uint8_t live;        /* and found there: its request is not gone */
	uint16_t held;       /* calls under way that may complete it */
	uint16_t op;         /* collective */
	uint32_t number;     /* of the collective on its communicator; of the partitioned one in its channel */
	int32_t peer, tag;   /* as posted, maybe wildcards; root of a collective */
	struct vt_comm *comm;
	uint64_t bytes;       /* sent, or room for what is received */
	uint64_t bytes_back;  /* collective: received */
	int64_t post, posted; /* the call that started it: entered, left, in ticks */
	void *target;         /* VT_REQUEST_COMMUNICATOR: where its handle will be */
};

enum { VT_REQUESTS_CHUNK = 256, VT_REQUESTS_CHUNKS = 4096, VT_REQUESTS_IDLE = 1024 };

struct vt_requests {
	struct vt_request **bucket;
	size_t n_buckets; /* a power of two */
	size_t used;      /* entries that are live, */
	size_t idle;      /* and that are linked and not live */
	struct vt_request *free;
	struct vt_request *chunk[VT_REQUESTS_CHUNKS];
	size_t n_chunks;
	uint64_t forgotten; /* entries whose handle was given out again without our having seen their end */
	uint64_t refused;   /* no memory, or too many */
	int threads;        /* several threads may call: take the lock */
	volatile char lock;
};

/* A new entry for this handle, all else 0; NULL: no memory, counted in `refused`. */
struct vt_request *vt_requests_add(struct vt_requests *t, uint64_t handle);

/* The entry of a handle that a call may complete, held until vt_requests_release(); NULL: there is none. */
struct vt_request *vt_requests_hold(struct vt_requests *t, uint64_t handle);
/* The same for n handles, under one lock. Returns how many entries there are. */
size_t vt_requests_hold_all(struct vt_requests *t, const uint64_t *handle, size_t n, struct vt_request **out);

/* The call is over. gone: the handle means nothing any more (complete and not persistent, or freed). */
void vt_requests_release(struct vt_requests *t, struct vt_request *r, int gone);

#endif

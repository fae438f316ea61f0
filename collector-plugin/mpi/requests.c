/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the program's requests: entries, their chains by handle, and the list of free entries. */
#include "config.h"
#include "collector-plugin/mpi/requests.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static void lock_requests(struct vt_requests *t)
{
	int turns = 0;

	if (!t->threads) {
		return;
	}
	while (__atomic_test_and_set(&t->lock, __ATOMIC_ACQUIRE)) {
		/* the thread that holds the lock may be waiting for our CPU */
		if (++turns % 100 == 0) {
			sched_yield();
		}
	}
}

static void unlock_requests(struct vt_requests *t)
{
	if (t->threads) {
		__atomic_clear(&t->lock, __ATOMIC_RELEASE);
	}
}

static struct vt_request **bucket_of(const struct vt_requests *t, uint64_t handle)
{
	/* handles that are addresses differ in their middle bits, numbers in their low ones */
	return &t->bucket[(handle * 0x9e3779b97f4a7c15u) >> 32 & (t->n_buckets - 1)];
}

static struct vt_request *find_request(const struct vt_requests *t, uint64_t handle)
{
	struct vt_request *r = t->n_buckets ? *bucket_of(t, handle) : NULL;

	while (r && r->handle != handle) {
		r = r->next;
	}
	return r;
}

static void unlink_entry(struct vt_requests *t, struct vt_request *r)
{
	struct vt_request **at = bucket_of(t, r->handle);

	while (*at != r) {
		at = &(*at)->next;
	}
	*at = r->next;
	r->linked = 0;
}

/* Marks an entry whose request has ended. */
static void end_request(struct vt_requests *t, struct vt_request *r)
{
	r->live = 0;
	t->used--;
	t->idle++;
}

/* Removes an idle entry from the chain of its handle. */
static void unlink_idle_entry(struct vt_requests *t, struct vt_request *r)
{
	unlink_entry(t, r);
	t->idle--;
}

static void recycle(struct vt_requests *t, struct vt_request *r)
{
	r->next = t->free;
	t->free = r;
}

static int grow_requests(struct vt_requests *t)
{
	size_t n = t->n_buckets ? 2 * t->n_buckets : 256, i;
	struct vt_request **old = t->bucket, *r, *next;
	struct vt_request **fresh = calloc(n, sizeof(struct vt_request *));
	size_t n_old = t->n_buckets;

	if (!fresh) {
		/* without memory for a larger table, the present one is used with longer chains */
		return n_old ? 0 : -1;
	}
	t->bucket = fresh;
	t->n_buckets = n;
	for (i = 0; i < n_old; i++) {
		for (r = old[i]; r; r = next) {
			struct vt_request **at = bucket_of(t, r->handle);

			next = r->next;
			r->next = *at;
			*at = r;
		}
	}
	free(old);
	return 0;
}

static struct vt_request *take_free(struct vt_requests *t)
{
	struct vt_request *r = t->free;
	size_t i;

	if (!r && t->n_chunks < VT_REQUESTS_CHUNKS) {
		struct vt_request *c = calloc(VT_REQUESTS_CHUNK, sizeof(*c));

		for (i = 0; c && i < VT_REQUESTS_CHUNK; i++) {
			recycle(t, &c[i]);
		}
		if (c) {
			t->chunk[t->n_chunks++] = c;
		}
		r = t->free;
	}
	if (r) {
		t->free = r->next;
	}
	return r;
}

/* Takes a free entry for this handle and links it into its chain. */
static struct vt_request *claim_entry(struct vt_requests *t, uint64_t handle)
{
	struct vt_request *r = find_request(t, handle), **at;

	if (r && r->live) {
		/* a call that holds the entry is about to report its end */
		t->forgotten += !r->held;
		end_request(t, r);
	}
	if (r && !r->held) {
		t->idle--;
		return r;
	}
	if (r) {
		unlink_idle_entry(t, r);
		r = NULL;
	}
	if (t->used + t->idle < t->n_buckets || grow_requests(t) == 0) {
		r = take_free(t);
	}
	if (r) {
		r->handle = handle;
		r->linked = 1;
		at = bucket_of(t, handle);
		r->next = *at;
		*at = r;
	}
	return r;
}

struct vt_request *vt_requests_add(struct vt_requests *t, uint64_t handle)
{
	struct vt_request *r;

	lock_requests(t);
	r = claim_entry(t, handle);
	if (r) {
		memset(&r->kind, 0, sizeof(*r) - offsetof(struct vt_request, kind));
		r->linked = r->live = 1;
		t->used++;
	} else {
		t->refused++;
	}
	unlock_requests(t);
	return r;
}

struct vt_request *vt_requests_hold(struct vt_requests *t, uint64_t handle)
{
	struct vt_request *r;

	lock_requests(t);
	r = find_request(t, handle);
	if (r && r->live) {
		r->held++;
	} else {
		r = NULL;
	}
	unlock_requests(t);
	return r;
}

void vt_requests_release(struct vt_requests *t, struct vt_request *r, int gone)
{
	lock_requests(t);
	r->held--;
	if (gone && r->live) {
		end_request(t, r);
	}
	if (r->linked && !r->live && !r->held && t->idle > VT_REQUESTS_IDLE) {
		unlink_idle_entry(t, r);
	}
	if (!r->linked && !r->held) {
		recycle(t, r);
	}
	unlock_requests(t);
}

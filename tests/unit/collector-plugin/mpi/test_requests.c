/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of requests against a plain list, and what MPI does to handles: gives them out again, from other threads too. */
#include "config.h"
#include "tests/lib/check.h"

#include <pthread.h>
#include <sched.h>

#include "collector-plugin/mpi/requests.h"

static struct vt_requests table;

static void entries_are_found_as_long_as_they_live(void)
{
	enum { HANDLES = 3000 };
	static int32_t tag[HANDLES]; /* 0: not there */
	struct vt_request *r;
	int i, wrong = 0;

	for (i = 0; i < 200000; i++) {
		unsigned h = (unsigned)(check_random() % HANDLES);

		r = vt_requests_hold(&table, 0x7f0000001000u + 0x180u * h);
		wrong += tag[h] ? !r || r->tag != tag[h] : r != NULL;
		if (r) {
			int gone = check_random() % 2 != 0;

			vt_requests_release(&table, r, gone);
			tag[h] = gone ? 0 : tag[h];
		} else {
			r = vt_requests_add(&table, 0x7f0000001000u + 0x180u * h);
			tag[h] = r->tag = i + 1;
		}
	}
	CHECK_INT(wrong, 0);
	CHECK_INT(table.forgotten, 0);
	CHECK_INT(table.refused, 0);
	for (i = 0, wrong = 0; i < HANDLES; i++) {
		wrong += tag[i] != 0;
	}
	CHECK_INT(table.used, wrong);
}

/* A call holds the entry of a request that is complete; MPI has given its handle to another thread meanwhile. */
static void a_handle_given_out_again_is_another_request(void)
{
	static struct vt_requests t; /* its memory is never given back: a leak if it were of this call */
	struct vt_request *old = vt_requests_add(&t, 42), *held, *fresh, *again;

	old->tag = 1;
	held = vt_requests_hold(&t, 42);
	CHECK(held == old, "not held");
	fresh = vt_requests_add(&t, 42);
	fresh->tag = 2;
	CHECK(fresh != old && held->tag == 1, "the entry that is held was taken");
	CHECK_INT(t.forgotten, 0);
	vt_requests_release(&t, held, 1);
	again = vt_requests_hold(&t, 42);
	CHECK(again == fresh && again->tag == 2, "the new one went with the old one");
	vt_requests_release(&t, again, 1);
	CHECK_INT(t.used, 0);
}

/* Completed past us, as by a library that calls PMPI_Wait(): counted, and no memory is lost. */
static void a_request_that_ended_unseen_is_forgotten(void)
{
	static struct vt_requests t; /* its memory is never given back: a leak if it were of this call */
	int i;

	for (i = 0; i < 100000; i++) {
		vt_requests_add(&t, 7);
	}
	CHECK_INT(t.forgotten, 99999);
	CHECK_INT(t.used, 1);
	CHECK_INT(t.n_chunks, 1);
}

static void entries_do_not_move(void)
{
	enum { MANY = 20000 };
	static struct vt_requests t; /* its memory is never given back: a leak if it were of this call */
	static struct vt_request *r[MANY];
	int i, wrong = 0;

	for (i = 0; i < MANY; i++) {
		r[i] = vt_requests_add(&t, 3 * (uint64_t)i);
	}
	for (i = 0; i < MANY; i++) {
		struct vt_request *held = vt_requests_hold(&t, 3 * (uint64_t)i);

		wrong += held != r[i] || r[i]->handle != 3 * (uint64_t)i;
		vt_requests_release(&t, r[i], 1);
	}
	CHECK_INT(wrong, 0);
	CHECK_INT(t.used, 0);
}

/* Two calls hold a request, which the first of them completes; its handle is given out again before the second returns. */
static void two_calls_hold_one(void)
{
	static struct vt_requests t; /* its memory is never given back: a leak if it were of this call */
	struct vt_request *r = vt_requests_add(&t, 42), *fresh;

	r->tag = 1;
	CHECK(vt_requests_hold(&t, 42) == r && vt_requests_hold(&t, 42) == r, "not held");
	vt_requests_release(&t, r, 1);
	CHECK_INT(t.used, 0);
	CHECK(!vt_requests_hold(&t, 42), "found after its end");
	fresh = vt_requests_add(&t, 42);
	CHECK(fresh != r && fresh->tag == 0 && r->tag == 1, "the entry that is held was taken");
	vt_requests_release(&t, r, 0);
	CHECK(vt_requests_hold(&t, 42) == fresh, "the new one went with the old one");
	vt_requests_release(&t, fresh, 1);
	CHECK_INT(t.used, 0);
	CHECK_INT(t.idle, 1);
	CHECK_INT(t.forgotten, 0);
}

/* Handles that are never given out again do not fill the table. */
static void few_entries_wait_for_their_handle(void)
{
	static struct vt_requests t; /* its memory is never given back: a leak if it were of this call */
	int i;

	for (i = 0; i < 100000; i++) {
		struct vt_request *r = vt_requests_add(&t, 3 * (uint64_t)i);

		CHECK(r && vt_requests_hold(&t, 3 * (uint64_t)i) == r, "%d", i);
		vt_requests_release(&t, r, 1);
	}
	CHECK_INT(t.idle, VT_REQUESTS_IDLE);
	CHECK_INT(t.used, 0);
	CHECK(t.n_chunks <= VT_REQUESTS_IDLE / VT_REQUESTS_CHUNK + 1, "%zu", t.n_chunks);
	CHECK_INT(t.refused, 0);
}

static struct vt_requests shared = { .threads = 1 };
static _Atomic int bad;

/* Each thread has handles of its own, all of them in one table. */
static void *use(void *arg)
{
	uint64_t base = (uint64_t)(uintptr_t)arg << 32;
	struct vt_request *r;
	int i;

	for (i = 0; i < 20000; i++) {
		r = vt_requests_add(&shared, base + (uint64_t)(i % 97));
		r->tag = i;
		r = vt_requests_hold(&shared, base + (uint64_t)(i % 97));
		bad += !r || r->tag != i;
		if (r) {
			vt_requests_release(&shared, r, 1);
		}
	}
	return NULL;
}

static void threads_share_it(void)
{
	pthread_t t[4];
	int i;

	for (i = 0; i < 4; i++) {
		CHECK_INT(pthread_create(&t[i], NULL, use, (void *)(uintptr_t)(i + 1)), 0);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
	}
	CHECK_INT(bad, 0);
	CHECK_INT(shared.used, 0);
}

static _Atomic int yields, done;

/* In place of libc's: who waits for the lock calls it now and then. */
int sched_yield(void)
{
	yields++;
	return 0;
}

static void *one_call(void *arg)
{
	static const uint64_t handle = 77;

	switch ((int)(intptr_t)arg) {
	case 0:
		vt_requests_add(&shared, handle);
		break;
	case 1:
		vt_requests_hold(&shared, handle);
		break;
	default:
		vt_requests_release(&shared, arg, 0);
	}
	done = 1;
	return NULL;
}

/* While another thread holds the table's lock, no call comes through. */
static void each_call_waits_for_the_lock(void)
{
	struct vt_request *r = vt_requests_add(&shared, 78);
	pthread_t t;
	int i;

	CHECK(vt_requests_hold(&shared, 78) == r, "held");
	for (i = 0; i < 3; i++) {
		yields = done = 0;
		CHECK(!__atomic_test_and_set(&shared.lock, __ATOMIC_ACQUIRE), "nobody has it");
		CHECK_INT(pthread_create(&t, NULL, one_call, i < 2 ? (void *)(intptr_t)i : r), 0);
		while (!yields && !done) {
		}
		CHECK(!done, "call %d came through", i);
		__atomic_clear(&shared.lock, __ATOMIC_RELEASE);
		pthread_join(t, NULL);
		CHECK(done, "call %d", i);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(entries_are_found_as_long_as_they_live);
	RUN(a_handle_given_out_again_is_another_request);
	RUN(a_request_that_ended_unseen_is_forgotten);
	RUN(two_calls_hold_one);
	RUN(few_entries_wait_for_their_handle);
	RUN(entries_do_not_move);
	RUN(threads_share_it);
	RUN(each_call_waits_for_the_lock);
	return check_end();
}

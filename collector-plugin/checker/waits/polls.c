/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that look, and find nothing, in a loop of the program. Such a loop waits, unless the program computes between its calls: MPI is
 * then only given time to go on. Which of the two it is, the time tells that the thread runs outside these calls. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"

/* The calls are looked at in blocks. */
enum { BLOCK = 64 };
#define POLLED_NS INT64_C(1500000000)
/* From here on it is worth to ask how long the thread lacked a processor. */
#define ASKED_NS INT64_C(100000000)
/* The time between two calls in which more is done than to look whether to go on. */
#define BETWEEN_NS INT64_C(50000)
/* What the wrapper of a call takes itself, at most. */
#define WRAPPER_NS INT64_C(2000)
/* A block that lasts so much longer than the shortest one has a pause in it. */
#define PAUSE_NS INT64_C(200000000)
enum { PAUSE_TIMES = 8 };

static __thread struct {
	const void *pc;
	int64_t since_ns;
	uint64_t calls;
	unsigned times;
	int64_t inside_ns;        /* that the thread has run in the last call of the block */
	int64_t ran_ns, ended_ns; /* when the last block ended, on the clock of the thread and on that of all */
	int64_t shortest_ns;      /* block */
	int64_t lacked_ns;        /* as lacked_ns() was when the loop had lasted ASKED_NS; -1: not asked yet */
	struct vt_mc_wait w;
} poll;

static int64_t thread_ran_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* How long this thread has been ready without a processor. 0: unknown. */
static int64_t lacked_ns(void)
{
	char text[100] = "";
	int root = tkm_root_open("/");
	unsigned long long lacked = 0;

	if (root >= 0) {
		tkm_root_read(root, "/proc/thread-self/schedstat", text, sizeof(text));
		close(root);
	}
	return sscanf(text, "%*u %llu", &lacked) == 1 ? (int64_t)lacked : 0;
}

static void end_poll(void)
{
	if (poll.w.shown_ns) {
		vt_mc_wait_end(&poll.w);
		poll.w.shown_ns = 0;
	}
}

void vt_mc_leave_loop(const struct vt_mc_call *k)
{
	if (poll.w.shown_ns && poll.pc != k->pc) {
		end_poll();
	}
	if (poll.pc == k->pc && poll.times % BLOCK == BLOCK - 1) {
		poll.inside_ns = thread_ran_ns();
	}
}

/* At the end of a block. Was there nothing but calls, and pauses of one length? */
static int only_waits(int64_t now)
{
	int64_t ran = thread_ran_ns(), all = ran - poll.ran_ns, lasted = now - poll.ended_ns, outside;
	int first = !poll.since_ns,
	    paused = poll.shortest_ns && lasted > PAUSE_NS && lasted > PAUSE_TIMES * poll.shortest_ns;

	outside = all - BLOCK * (ran - poll.inside_ns);
	poll.ran_ns = ran;
	poll.ended_ns = now;
	if (first) {
		return 0;
	}
	/* the next pause of this length is that of the loop */
	poll.shortest_ns = paused || !poll.shortest_ns || lasted < poll.shortest_ns ? lasted : poll.shortest_ns;
	return !paused && outside < BLOCK * BETWEEN_NS &&
		(outside < BLOCK * WRAPPER_NS || outside < all / 4 * 3 || all < lasted / 10 * 3);
}

/* The call has found nothing. If the program makes no other call for some time, it is one that waits. */
static void found_nothing(struct vt_mc_call *k, void (*needs)(struct vt_mc_wait *w))
{
	int64_t now;

	if (poll.pc != k->pc || vt_mc_shared->rank[vt_mc_rank].calls != poll.calls + 1) {
		end_poll();
		poll.pc = k->pc;
		poll.times = 0;
		poll.since_ns = poll.shortest_ns = 0;
		poll.lacked_ns = -1;
	}
	poll.calls = vt_mc_shared->rank[vt_mc_rank].calls;
	if (++poll.times % BLOCK) {
		return;
	}
	now = vt_mc_now_ns();
	if (!only_waits(now)) {
		end_poll();
		poll.since_ns = now;
		poll.lacked_ns = -1;
		vt_mc_wait_begin(&poll.w, k);
		poll.w.looks = 1;
		return;
	}
	if (poll.lacked_ns < 0 && now - poll.since_ns > ASKED_NS) {
		poll.lacked_ns = lacked_ns();
	}
	if (now - poll.since_ns > POLLED_NS && now - poll.since_ns - (lacked_ns() - poll.lacked_ns) > POLLED_NS) {
		poll.w.k = k;
		poll.w.turns = 1 << 10;
		vt_mc_wait_turn(&poll.w, needs);
		/* what that takes is not the program's */
		poll.ran_ns = thread_ran_ns();
		poll.ended_ns = vt_mc_now_ns();
	}
}

void vt_mc_poll_ends(struct vt_mc_call *k, int found, void (*needs)(struct vt_mc_wait *w))
{
	if (found) {
		end_poll();
		poll.pc = NULL;
	} else if (vt_mc_shared) {
		found_nothing(k, needs);
	}
}

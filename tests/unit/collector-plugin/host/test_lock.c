/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of the library: while one is held its thread has no signals and is not cancelled, and after it all is as before. */
#include "config.h"
#include "collector-plugin/host/lock.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "tests/lib/check.h"

static int is_blocked(int sig)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	return sigismember(&now, sig);
}

static int cannot_be_cancelled(void)
{
	int was;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
	pthread_setcancelstate(was, NULL);
	return was == PTHREAD_CANCEL_DISABLE;
}

static int is_protected(void)
{
	return is_blocked(SIGTERM) && is_blocked(SIGPROF) && cannot_be_cancelled();
}

static int as_before(void)
{
	return !is_blocked(SIGTERM) && is_blocked(SIGUSR1) && !is_blocked(SIGPROF) && !cannot_be_cancelled();
}

/* One signal of the program is blocked, and stays so. */
static void block_one(void)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &one, NULL);
}

static void holders_are_protected(void)
{
	static struct vt_lock l = VT_LOCK_INIT, inner = VT_LOCK_INIT;
	int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT };
	size_t i;

	block_one();
	vt_lock(&l);
	CHECK(is_protected(), "held");
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		CHECK(!is_blocked(faults[i]), "a fault of our own: signal %d", faults[i]);
	}
	vt_lock(&inner);
	vt_unlock(&inner);
	CHECK(is_protected(), "the inner one is given back");
	vt_unlock(&l);
	CHECK(as_before(), "given back");
	CHECK(vt_lock_try(&l) == 0 && is_protected(), "tried");
	vt_unlock(&l);
	CHECK(as_before(), "tried and given back");
}

static void the_same_lock_twice(void)
{
	static struct vt_lock l = VT_LOCK_RECURSIVE;

	block_one();
	vt_lock(&l);
	vt_lock(&l);
	CHECK_INT(l.depth, 2);
	vt_unlock(&l);
	CHECK(is_protected(), "held once");
	vt_unlock(&l);
	CHECK(as_before() && l.depth == 0, "given back");
}

static struct vt_lock shared = VT_LOCK_INIT;
static pthread_cond_t changed;
static int got, state;

static void *tries(void *p)
{
	(void)p;
	got = vt_lock_try(&shared) == 0;
	if (got) {
		vt_unlock(&shared);
	}
	CHECK(!is_blocked(SIGTERM) && !cannot_be_cancelled(), "of the one who tried");
	return NULL;
}

static int another_gets_it(void)
{
	pthread_t t;
	sigset_t none, mine;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, &mine);
	CHECK(pthread_create(&t, NULL, tries, NULL) == 0 && pthread_join(t, NULL) == 0, "thread");
	pthread_sigmask(SIG_SETMASK, &mine, NULL);
	return got;
}

static void others_have_it_meanwhile(void)
{
	struct vt_lock held;
	int was;

	memset(&held, 0, sizeof(held));
	block_one();
	CHECK(another_gets_it(), "nobody has it");
	vt_lock(&shared);
	CHECK(!another_gets_it(), "held");
	vt_lock_pause(&shared, &held);
	CHECK(is_protected() && another_gets_it(), "paused: the caller stays protected");
	vt_lock_resume(&shared, &held);
	CHECK(is_protected() && !another_gets_it() && shared.depth == 1, "resumed");
	vt_unlock(&shared);
	CHECK(as_before() && another_gets_it(), "given back");
	/* who may not be cancelled when it takes the lock may not be after that */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
	vt_lock(&shared);
	vt_lock_pause(&shared, &held);
	CHECK(another_gets_it(), "paused again");
	vt_lock_resume(&shared, &held);
	vt_unlock(&shared);
	CHECK(cannot_be_cancelled(), "as before");
	pthread_setcancelstate(was, NULL);
	/* as in the child of a fork whose parent has it */
	vt_lock(&shared);
	vt_unlock(&shared);
	shared.depth = 1;
	vt_lock_forget(&shared);
	CHECK(shared.depth == 0 && another_gets_it(), "forgotten");
}

/* What the waiting one has told, and what it is told: both while they hold the lock. */
static void *answers(void *p)
{
	int i;

	(void)p;
	for (i = 0; i < 2; i++) {
		vt_lock(&shared);
		while (state != 2 * i + 1) {
			vt_unlock(&shared);
			sched_yield();
			vt_lock(&shared);
		}
		state++;
		pthread_cond_broadcast(&changed);
		vt_unlock(&shared);
		CHECK(!is_blocked(SIGTERM) && !cannot_be_cancelled(), "of the one who answers");
	}
	return NULL;
}

static void waiting_gives_it_back(void)
{
	struct timespec until;
	pthread_t t;
	sigset_t none;
	int rc;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	CHECK(pthread_cond_init(&changed, NULL) == 0 && pthread_create(&t, NULL, answers, NULL) == 0, "thread");
	block_one();
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	vt_lock(&shared);
	for (state = 1; state != 4; state += state == 2) {
		rc = vt_lock_wait(&shared, &changed, &until);
		CHECK(rc == 0 && is_protected() && shared.depth == 1, "waited: %d", rc);
		if (rc) {
			break;
		}
	}
	until.tv_sec -= 61;
	CHECK_INT(vt_lock_wait(&shared, &changed, &until), ETIMEDOUT);
	CHECK(is_protected() && shared.depth == 1 && !another_gets_it(), "after the time was over");
	vt_unlock(&shared);
	CHECK(as_before(), "given back");
	pthread_join(t, NULL);
}

static void without_system_calls(void)
{
	static struct vt_lock l = VT_LOCK_INIT;

	block_one();
	CHECK(!vt_lock_is_without_calls(), "not yet");
	vt_lock_without_calls();
	vt_lock(&l);
	CHECK(vt_lock_is_without_calls() && !is_blocked(SIGTERM) && cannot_be_cancelled(), "no signal is blocked");
	vt_unlock(&l);
	CHECK(as_before(), "given back");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(holders_are_protected);
	RUN(the_same_lock_twice);
	RUN(others_have_it_meanwhile);
	RUN(waiting_gives_it_back);
	RUN(without_system_calls); /* for good */
	return check_end();
}

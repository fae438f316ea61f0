/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread stamps plainly after a call of MPI that may have received something is after what the call has seen. One thread
 * publishes the counter, another one reads that, leaves a call, and reads the counter. */
#include "config.h"
#include "collector-plugin/mpi/private.h"
#include "tests/lib/check.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/rootfs.h"
#include "timers/timer_private.h"

/* A thread that records and samples nothing. */
_Thread_local struct vt_tls vt_tls;
struct vt_raw_head *vt_mpi_watched;
union vt_life vt_life;

#if TMR_HAVE_COUNTER
static ltick_t read_counter(struct tmr_timer *t)
{
	(void)t;
	return ltick(tmr_counter());
}

enum { READINGS = 3000000 };

static _Alignas(128) atomic_llong published;
static _Alignas(128) atomic_int ready, over;

static void pin(int nth)
{
	cpu_set_t all, one;
	int unit;

	sched_getaffinity(0, sizeof(all), &all);
	for (unit = 0; unit < CPU_SETSIZE; unit++) {
		if (CPU_ISSET((size_t)unit, &all) && nth-- == 0) {
			CPU_ZERO(&one);
			CPU_SET((size_t)unit, &one);
			sched_setaffinity(0, sizeof(one), &one);
		}
	}
}

static void *publish(void *arg)
{
	volatile int i;

	pin(1);
	atomic_store(&ready, 1);
	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		atomic_store_explicit(&published, tmr_counter_ordered(), memory_order_release);
		for (i = 0; i < 20; i++) {
		}
	}
	return arg;
}

/* How many readings were seen, and how many of these before they were published. */
static void leave_calls(int may_follow, long *seen, long *reversed)
{
	struct tmr_timer counter = { .read = read_counter };
	const struct vt_collect collect = { .timer = &counter };
	struct vt_mpi_call k = { .at = 1, .collect = &collect };
	long long old = 0;
	long i;

	*seen = *reversed = 0;
	for (i = 0; i < READINGS; i++) {
		long long then, now;

		vt_tls.mpi.at = k.at;
		then = atomic_load_explicit(&published, memory_order_acquire);
		vt_mpi_returned(&k, may_follow);
		now = k.leave;
		if (then != old) {
			old = then;
			++*seen;
			*reversed += now < then;
		}
	}
}

static void plain_stamps_after_a_call(void)
{
	cpu_set_t before;
	long seen, reversed;
	pthread_t t;

	vt_tls.state = VT_TLS_ON;
	sched_getaffinity(0, sizeof(before), &before);
	pthread_create(&t, NULL, publish, NULL);
	pin(0);
	while (!atomic_load(&ready)) {
		sched_yield();
	}
	leave_calls(0, &seen, &reversed);
	printf("# a call that only inquires: %ld seen, %ld of them before they were published\n", seen, reversed);
	leave_calls(1, &seen, &reversed);
	printf("# a call that may have received: %ld seen, %ld of them before they were "
	       "published\n",
		seen, reversed);
	CHECK_INT(reversed, 0);
	CHECK(seen > 0, "the threads never ran at the same time");
	atomic_store(&over, 1);
	pthread_join(t, NULL);
	sched_setaffinity(0, sizeof(before), &before);
}

#endif

static int one_counter(void)
{
	char source[64] = "";
	int root = tkm_root_open("/");

	tkm_root_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof(source));
	close(root);
	return strcmp(source, "tsc") == 0 || strcmp(source, "arch_sys_counter") == 0;
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || !one_counter()) {
		SKIP("plain_stamps_after_a_call",
			"one processing unit, or a counter that the kernel does not take for one "
			"clock");
		return check_end();
	}
#if TMR_HAVE_COUNTER
	RUN(plain_stamps_after_a_call);
#else
	SKIP("plain_stamps_after_a_call", "no counter");
#endif
	return check_end();
}

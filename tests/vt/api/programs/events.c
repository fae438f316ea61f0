/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads with EVENTS state changes each, one after the other; with an argument, over tens of milliseconds, and with
 * half a second of computing after the first two, of CPU time by the thread's own clock. */
#include <VT.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 200 };

static void compute(void)
{
	struct timespec t = { 0, 0 };
	long long begin = -1, now = 0;

	while (begin < 0 || now - begin < 500000000) {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * 1000000000ll + t.tv_nsec;
		begin = begin < 0 ? now : begin;
	}
}

static void *events(void *arg)
{
	int i;

	for (i = 0; i < EVENTS / 2; i++) {
		VT_enter(1, VT_NOSCL);
		VT_leave(VT_NOSCL);
		if (arg && i == 0) {
			compute();
		}
		if (arg && i % 5 == 0) {
			usleep(1000);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	void *slow = argc > 1 ? argv[1] : NULL;
	pthread_t other;

	VT_initialize(&argc, &argv);
	VT_symdef(1, "state", "Application");
	events(slow);
	pthread_create(&other, NULL, events, slow);
	pthread_join(other, NULL);
	VT_finalize();
	return 0;
}

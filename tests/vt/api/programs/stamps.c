/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps and what they follow. argv[1]:
 * threads  one thread publishes VT_timestamp() in shared memory, another one calls it after having read what is there. Prints how many
 *          were seen and how many of these were seen before they were published.
 * events   counters at state changes and VT_countval() in turn, each with the reading of a clock as its value. */
#include <VT.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { READINGS = 3000000, EVENTS = 50 };

static _Alignas(128) _Atomic double published;
static _Alignas(128) atomic_int ready, over;
static int counter[2];

static void pin(int nth)
{
	cpu_set_t all, one;
	int unit;

	sched_getaffinity(0, sizeof(all), &all);
	for (unit = 0; unit < CPU_SETSIZE; unit++) {
		if (CPU_ISSET(unit, &all) && nth-- == 0) {
			CPU_ZERO(&one);
			CPU_SET(unit, &one);
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
		atomic_store_explicit(&published, VT_timestamp(), memory_order_release);
		for (i = 0; i < 20; i++) {
		}
	}
	return arg;
}

static void threads(void)
{
	double old = 0, worst = 0;
	long i, seen = 0, reversed = 0;
	pthread_t t;

	pthread_create(&t, NULL, publish, NULL);
	pin(0);
	while (!atomic_load(&ready)) {
		sched_yield();
	}
	for (i = 0; i < READINGS; i++) {
		/* no branch on what was read lies between the two, as in a program whose branch is predicted */
		double then = atomic_load_explicit(&published, memory_order_acquire), now = VT_timestamp();

		if (then != old) {
			old = then;
			seen++;
			if (now < then) {
				reversed++;
				worst = then - now > worst ? then - now : worst;
			}
		}
	}
	atomic_store(&over, 1);
	pthread_join(t, NULL);
	printf("%ld seen, %ld before they were published, by %.0f ns at most\n", seen, reversed, worst * 1e9);
}

static uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int sample(void *custom, int ncounters, int *handles, void *values)
{
	uint64_t now = clock_now();

	(void)custom;
	(void)ncounters;
	handles[0] = counter[0];
	memcpy(values, &now, sizeof(now));
	return 1;
}

static void events(void)
{
	int i, cls;

	VT_classdef("Stamps", &cls);
	VT_countdef("event", cls, VT_COUNT_INTEGER64, VT_ME, NULL, "ns", &counter[0]);
	VT_countdef("value", cls, VT_COUNT_INTEGER64, VT_ME, NULL, "ns", &counter[1]);
	VT_countsetcallback(sample, NULL, 1);
	for (i = 0; i < EVENTS; i++) {
		struct timespec nap = { 0, 3000000 };
		uint64_t now;

		VT_wakeup();
		nanosleep(&nap, NULL);
		now = clock_now();
		VT_countval(1, &counter[1], &now);
		nanosleep(&nap, NULL);
	}
	VT_countsetcallback(NULL, NULL, 0);
}

int main(int argc, char **argv)
{
	VT_initialize(&argc, &argv);
	if (argc > 1 && strcmp(argv[1], "threads") == 0) {
		threads();
	} else {
		events();
	}
	VT_finalize();
	return 0;
}

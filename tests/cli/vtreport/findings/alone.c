/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs without MPI, each with one trouble: alone KIND [FILE | COMMAND]. Each takes about a second. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOT_RECORDED __attribute__((no_instrument_function))

static void compute(double s) NOT_RECORDED;
static void take_memory(void) NOT_RECORDED;
#include "tests/cli/vtreport/findings/compute.h"

static NOT_RECORDED double seconds_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one lock for all work ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static NOT_RECORDED void *work_below_the_lock(void *arg)
{
	double until = seconds_of(CLOCK_MONOTONIC) + 1.2;

	(void)arg;
	while (seconds_of(CLOCK_MONOTONIC) < until) {
		pthread_mutex_lock(&lock);
		compute(50e-6);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void run_with_one_lock(void)
{
	pthread_t t[4];
	char name[16];
	int i;

	for (i = 0; i < 4; i++) {
		pthread_create(&t[i], NULL, work_below_the_lock, NULL);
		snprintf(name, sizeof(name), "worker%d", i);
		pthread_setname_np(t[i], name);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
	}
}

static NOT_RECORDED void *sleep_beside(void *arg)
{
	sleep(1);
	return arg;
}

static void sleep_with_others(void)
{
	pthread_t t[2];
	int i;

	for (i = 0; i < 2; i++) {
		pthread_create(&t[i], NULL, sleep_beside, NULL);
	}
	for (i = 0; i < 2; i++) {
		pthread_join(t[i], NULL);
	}
}

/* ---- calls ---- */

__attribute__((noinline)) static int tiny(int n)
{
	return n + 1;
}

static NOT_RECORDED void call_often(void)
{
	double until = seconds_of(CLOCK_MONOTONIC) + 1;
	volatile int n = 0;
	int i;

	while (seconds_of(CLOCK_MONOTONIC) < until) {
		for (i = 0; i < 1000; i++) {
			n = tiny(n);
		}
	}
}

static NOT_RECORDED int write_to_disk(const char *path)
{
	enum { BYTES = 1 << 19 };
	static char bytes[BYTES];
	double until = seconds_of(CLOCK_MONOTONIC) + 1.5;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), i;

	for (i = 0; fd >= 0 && seconds_of(CLOCK_MONOTONIC) < until; i++) {
		if (pwrite(fd, bytes, BYTES, (off_t)(i % 64) * BYTES) != BYTES || fsync(fd) < 0) {
			return 1;
		}
	}
	return fd < 0 || close(fd) < 0;
}

/* The innermost of the two functions that end with the process. */
static void give_up(void)
{
	compute(0.3);
	abort();
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	int i;

	if (!strcmp(kind, "works")) {
		compute(1);
	} else if (!strcmp(kind, "starts") && argc > 2) {
		return system(argv[2]) != 0;
	} else if (!strcmp(kind, "grows")) {
		for (i = 0; i < 20; i++) {
			take_memory();
		}
	} else if (!strcmp(kind, "sleeps")) {
		sleep(1);
	} else if (!strcmp(kind, "sleep-all")) {
		sleep_with_others();
	} else if (!strcmp(kind, "lock")) {
		run_with_one_lock();
	} else if (!strcmp(kind, "calls")) {
		call_often();
	} else if (!strcmp(kind, "writes") && argc > 2) {
		return write_to_disk(argv[2]);
	} else if (!strcmp(kind, "dies")) {
		give_up();
	} else {
		fprintf(stderr, "alone: no kind '%s'\n", kind);
		return 2;
	}
	return 0;
}

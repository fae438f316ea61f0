/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded: every clock of libc shows three years ago. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#define YEARS (3 * 365 * 86400l)

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, t);

	t->tv_sec -= clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID ? 0 : YEARS;
	return rc;
}

int gettimeofday(struct timeval *t, void *zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (t) {
		*t = now.tv_sec;
	}
	return now.tv_sec;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiler of its own: SIGPROF. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t n;
static void handler(int sig)
{
	(void)sig;
	n++;
}

int main(void)
{
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
	volatile double x = 0;
	long i;

	signal(SIGPROF, handler);
	setitimer(ITIMER_PROF, &every, NULL);
	for (i = 0; i < 2000000000 && n < 20; i++) {
		x += 1;
	}
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_PROF, &every, NULL);
	puts(n >= 20 ? "profiled" : "no signal");
	return 4;
}

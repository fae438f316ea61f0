/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a function for 1.5 s, prints how often, and is killed. Compiled with -finstrument-functions. */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) void work(void)
{
	__asm__ volatile("");
}

int main(void)
{
	struct timespec a, b;
	long n = 0;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do {
		work();
		n++;
		clock_gettime(CLOCK_MONOTONIC, &b);
	} while ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec) < 1.5);
	printf("%ld\n", n);
	fflush(stdout);
	kill(getpid(), SIGKILL);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a function that does nothing, many times: functions_many CALLS [CALLS-PER-MILLISECOND]. Prints how many calls of instrumented
 * functions there were, main() included, and ends with status 7. Compiled with -finstrument-functions. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) static void nothing(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 0, pace = argc > 2 ? atol(argv[2]) : 0, i;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (i = 0; i < calls; i++) {
		nothing();
		if (pace && i % pace == pace - 1) {
			next.tv_nsec += 1000000;
			next.tv_sec += next.tv_nsec / 1000000000;
			next.tv_nsec %= 1000000000;
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		}
	}
	printf("%ld\n", calls + 1);
	return 7;
}

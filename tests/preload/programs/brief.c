/* SPDX-License-Identifier: BSD-3-Clause */
/* brief THREADS MS CHILDREN: that many threads, one after the other, use so many ms of CPU each; that many children end at once. Prints what
 * the threads have used, and the whole process, in ns. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long ms;

static long long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void *work(void *used)
{
	while (now(CLOCK_THREAD_CPUTIME_ID) < ms * 1000000) {
	}
	*(long long *)used += now(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

int main(int argc, char **argv)
{
	long long used = 0;
	pthread_t t;
	int i;

	if (argc != 4) {
		return 2;
	}
	ms = atol(argv[2]);
	/* it is written after the first sample */
	for (i = 0; i < 3000 && access("brief.prot", R_OK) < 0; i++) {
		usleep(10000);
	}
	for (i = 0; i < atoi(argv[1]); i++) {
		if (pthread_create(&t, NULL, work, &used) || pthread_join(t, NULL)) {
			return 1;
		}
	}
	for (i = 0; i < atoi(argv[3]); i++) {
		pid_t child = fork();

		if (child == 0) {
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	printf("%lld %lld\n", used, now(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}

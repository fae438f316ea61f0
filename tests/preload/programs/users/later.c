/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that begins after its process is not dumpable. */
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *thread(void *unused)
{
	usleep(600000);
	return unused;
}

int main(void)
{
	pthread_t t;

	prctl(PR_SET_DUMPABLE, 0);
	pthread_create(&t, NULL, thread, NULL);
	usleep(700000);
	pthread_join(t, NULL);
	return 4;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* exec from a thread with a small stack. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *thread(void *unused)
{
	execl("/bin/echo", "echo", "became", (char *)0);
	return unused;
}

int main(void)
{
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	if (pthread_attr_setstacksize(&a, 20480) || pthread_create(&t, &a, thread, NULL)) {
		return 77;
	}
	pthread_join(t, NULL);
	return 1;
}

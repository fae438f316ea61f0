/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads with EVENTS state changes each, one behind the other; with an argument, over tens of milliseconds. */
#include <VT.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

enum { EVENTS = 200 };

static void *events(void *arg)
{
	int i;

	for (i = 0; i < EVENTS / 2; i++) {
		VT_enter(1, VT_NOSCL);
		VT_leave(VT_NOSCL);
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
	events(slow);
	pthread_create(&other, NULL, events, slow);
	pthread_join(other, NULL);
	VT_finalize();
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads with EVENTS state changes each, one behind the other. */
#include <VT.h>
#include <pthread.h>
#include <stddef.h>

enum { EVENTS = 200 };

static void *events(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < EVENTS / 2; i++) {
		VT_enter(1, VT_NOSCL);
		VT_leave(VT_NOSCL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	VT_initialize(&argc, &argv);
	events(NULL);
	pthread_create(&other, NULL, events, NULL);
	pthread_join(other, NULL);
	VT_finalize();
	return 0;
}

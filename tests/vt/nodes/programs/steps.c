/* SPDX-License-Identifier: BSD-3-Clause */
/* A process of a job without MPI: steps.c TENTHS [dies|client N]. It records what all hosts of one machine share however their monotonic clocks
 * differ: CLOCK_REALTIME before each stamp and after it (tests/vt/lib/truth.c), in states of 1 ms. "dies": it kills itself
 * halfway. client N: it prints a contact, and waits for its server. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <VT.h>

static int64_t realtime(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	int steps = 100 * (argc > 1 ? atoi(argv[1]) : 10), dies = argc == 3, function, class, h[3], i;
	const char *contact = NULL;
	int64_t ns[2];

	if (argc > 3 &&
		(VT_clientinit(atoi(argv[3]), "steps", &contact) != VT_OK || puts(contact) < 0 || fflush(stdout))) {
		return 1;
	}
	if (VT_initialize(&argc, &argv) != VT_OK || VT_funcdef("step", VT_NOCLASS, &function) != VT_OK) {
		return 1;
	}
	VT_classdef("Truth", &class);
	VT_countdef("realtime", class, VT_COUNT_INTEGER64 | VT_COUNT_VALID_POINT, VT_ME, NULL, "ns", &h[0]);
	VT_countdef("realtime of", class, VT_COUNT_INTEGER64 | VT_COUNT_VALID_POINT, VT_ME, NULL, "ns", &h[1]);
	VT_countdef("realtime after", class, VT_COUNT_INTEGER64 | VT_COUNT_VALID_POINT, VT_ME, NULL, "ns", &h[2]);
	for (i = 0; i < steps; i++) {
		VT_enter(function, VT_NOSCL);
		ns[0] = realtime();
		VT_countval(1, &h[0], ns);
		ns[1] = realtime();
		VT_countval(2, &h[1], ns);
		usleep(1000);
		VT_leave(VT_NOSCL);
		if (dies && i == steps / 2) {
			kill(getpid(), SIGKILL);
		}
	}
	return VT_finalize() == VT_OK ? 0 : 1;
}

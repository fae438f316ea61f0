/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces CLOCK_BOOTTIME by one that moves in steps, to be preloaded. Rank r reads CLOCK_MONOTONIC plus r * TEST_CLOCK_PHASE ns, rounded
 * down to a multiple of TEST_CLOCK_STEP ns. With TEST_CLOCK_BUMP=1 a second read within a step shows one more than the first. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static int64_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? atoll(text) : 0;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int (*next)(clockid_t, struct timespec *);
	static int64_t step, phase, bump;
	static __thread int64_t last;
	int64_t now;
	int rc;

	if (!next) {
		phase = (getenv("OMPI_COMM_WORLD_RANK") ? number("OMPI_COMM_WORLD_RANK") : number("PMI_RANK")) *
			number("TEST_CLOCK_PHASE");
		bump = number("TEST_CLOCK_BUMP");
		step = number("TEST_CLOCK_STEP");
		next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	}
	if (id != CLOCK_BOOTTIME || step <= 0) {
		return next(id, ts);
	}
	rc = next(CLOCK_MONOTONIC, ts);
	now = (int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec + phase;
	now -= now % step;
	if (bump) {
		now = now <= last ? last + 1 : now;
		last = now;
	}
	ts->tv_sec = now / 1000000000;
	ts->tv_nsec = now % 1000000000;
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: simulates a machine whose clocks and NTP state are correct except for one defect, which the
 * variable LIE names. CLOCK_MONOTONIC_RAW stays true. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

static int (*next)(clockid_t id, struct timespec *t);
static const char *lie;
static int64_t started;
static long reads, asked;

static int is(const char *what)
{
	return strcmp(lie, what) == 0;
}

static int64_t now(clockid_t id)
{
	struct timespec t;

	next(id, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

__attribute__((constructor)) static void begin(void)
{
	lie = getenv("LIE") ? getenv("LIE") : "";
	next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	started = now(CLOCK_MONOTONIC_RAW);
}

int adjtimex(struct timex *t)
{
	asked++;
	memset(t, 0, sizeof(*t));
	t->maxerror = is("unsynchronised") ? 16000000 : 400;
	t->status = STA_PLL | STA_NANO | (is("unsynchronised") ? STA_UNSYNC : 0);
	t->tai = is("tai") ? 36 : 37;
	return is("unsynchronised") ? TIME_ERROR : TIME_OK;
}

/* CLOCK_MONOTONIC, the clock that is judged, as it is on this processing unit. */
static int64_t judged(int64_t v)
{
	static int64_t stuck;

	if (is("cores_apart") && sched_getcpu() > 0) {
		v += (v - started) / 20000; /* 50 ppm */
	} else if (is("core_offset") && sched_getcpu() > 0) {
		v += 1000;
	} else if (is("stuck")) {
		v = stuck = stuck ? stuck : v;
	} else if (is("backward")) {
		v -= __atomic_add_fetch(&reads, 1, __ATOMIC_RELAXED) % 1000 ? 0 : 5000;
	} else if (is("coarse")) {
		v -= v % 1000000;
	}
	return v;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	int64_t v;

	if (!next) { /* before begin() */
		memset(t, 0, sizeof(*t));
		return 0;
	}
	v = now(id);
	if (id == CLOCK_MONOTONIC) {
		v = judged(v);
	}
	/* the second question is asked by the checks themselves, after they have read the clocks for the first time */
	if (id == CLOCK_REALTIME && is("step") && asked > 1) {
		v += 10000000;
	}
	if ((id == CLOCK_REALTIME || id == CLOCK_BOOTTIME) && is("suspended")) {
		v += INT64_C(30000000000);
	}
	if (id != CLOCK_MONOTONIC_RAW && is("slewing")) {
		v += (now(CLOCK_MONOTONIC_RAW) - started) / 2000; /* 500 ppm */
	}
	t->tv_sec = v / 1000000000;
	t->tv_nsec = v % 1000000000;
	return 0;
}

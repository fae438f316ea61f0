/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded: gives the clocks of a host an offset and a rate of their own. SHIFT is "NS PPM T0 STEP": the clock of the kernel with
 * number N is (N + 1) x NS ahead, all are PPM too fast since T0 of CLOCK_BOOTTIME in ns, and CLOCK_REALTIME jumps STEP ns ahead
 * 2 s later. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long ns, ppm, since, step;
static int shifts;

__attribute__((constructor)) static void read_shift(void)
{
	const char *shift = getenv("SHIFT");

	shifts = shift && sscanf(shift, "%lld %lld %lld %lld", &ns, &ppm, &since, &step) == 4;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	long long boot;
	int rc = (int)syscall(SYS_clock_gettime, id, ts);
	struct timespec now;
	int64_t t;

	if (rc < 0 || !shifts ||
		(id != CLOCK_REALTIME && id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_RAW && id != CLOCK_BOOTTIME)) {
		return rc;
	}
	syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
	boot = now.tv_sec * 1000000000ll + now.tv_nsec - since;
	t = ts->tv_sec * 1000000000ll + ts->tv_nsec + (id + 1) * ns + boot / 1000 * ppm / 1000;
	t += id == CLOCK_REALTIME && boot > 2000000000 ? step : 0;
	ts->tv_sec = t / 1000000000;
	ts->tv_nsec = t % 1000000000;
	return 0;
}

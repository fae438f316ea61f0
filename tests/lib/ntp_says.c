/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: shows the kernel's clock as an NTP daemon would keep it, with a known error. CLOCK_REALTIME is
 * NTP_OFFSET_US ahead of the true time, and adjtimex() says that it is synchronised to within NTP_BOUND_US. Once the file NTP_SLEPT
 * is there, the machine was suspended for 5 s. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static long number(const char *name)
{
	const char *text = getenv(name);

	return text ? atol(text) : 0;
}

int adjtimex(struct timex *t)
{
	memset(t, 0, sizeof(*t));
	t->maxerror = number("NTP_BOUND_US");
	t->status = STA_PLL | STA_NANO;
	return TIME_OK;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int (*next)(clockid_t, struct timespec *);
	static long offset_ns;
	int rc;

	if (!next) {
		offset_ns = 1000 * number("NTP_OFFSET_US");
		next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	}
	rc = next(id, ts);
	if (rc == 0 && id == CLOCK_BOOTTIME && getenv("NTP_SLEPT") && access(getenv("NTP_SLEPT"), F_OK) == 0) {
		ts->tv_sec += 5;
	}
	if (rc == 0 && id == CLOCK_REALTIME) {
		ts->tv_nsec += offset_ns;
		while (ts->tv_nsec >= 1000000000) {
			ts->tv_nsec -= 1000000000;
			ts->tv_sec++;
		}
		while (ts->tv_nsec < 0) {
			ts->tv_nsec += 1000000000;
			ts->tv_sec--;
		}
	}
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: shows the kernel's clock as a daemon would keep it, with a known error. CLOCK_REALTIME is NTP_OFFSET_US
 * ahead of the true time, and fast by NTP_FAST_PPM from the first reading on. adjtimex() states the maximum error NTP_BOUND_US, which rises by 500 us a second for
 * NTP_EVERY s if that is set, the estimated error NTP_EST_US (1 us), NTP_STATUS (STA_PLL | STA_NANO), NTP_STATE, NTP_LEFT_NS still to be
 * corrected, NTP_TICK us; with NTP_DENY it fails. Once the file NTP_SLEPT is there, the machine was suspended for 5 s. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static long number(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 0) : otherwise;
}

static long long true_ns(clockid_t id)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

int adjtimex(struct timex *t)
{
	memset(t, 0, sizeof(*t));
	if (number("NTP_DENY", 0)) {
		errno = EPERM;
		return -1;
	}
	t->maxerror = number("NTP_BOUND_US", 0);
	t->esterror = number("NTP_EST_US", 1);
	t->status = (int)number("NTP_STATUS", STA_PLL | STA_NANO);
	t->offset = number("NTP_LEFT_NS", 0);
	t->tick = number("NTP_TICK", 10000);
	if (number("NTP_EVERY", 0)) {
		t->maxerror += true_ns(CLOCK_REALTIME) / 1000000000 % number("NTP_EVERY", 1) * 500;
	}
	return (int)number("NTP_STATE", TIME_OK);
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int (*next)(clockid_t, struct timespec *);
	static long long offset_ns, since;
	long long fast = 0;
	int rc;

	if (!next) {
		offset_ns = 1000 * number("NTP_OFFSET_US", 0);
		since = true_ns(CLOCK_MONOTONIC_RAW);
		next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	}
	rc = next(id, ts);
	if (rc == 0 && id == CLOCK_BOOTTIME && getenv("NTP_SLEPT") && access(getenv("NTP_SLEPT"), F_OK) == 0) {
		ts->tv_sec += 5;
	}
	if (rc == 0 && id == CLOCK_REALTIME) {
		fast = (true_ns(CLOCK_MONOTONIC_RAW) - since) / 1000 * number("NTP_FAST_PPM", 0) / 1000 + offset_ns;
		ts->tv_sec += fast / 1000000000;
		ts->tv_nsec += fast % 1000000000;
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel says of UTC. */
#include "config.h"
#include "base/err.h"
#include "base/ticks.h"
#include "clock/clockd/reference.h"
#include "clock/clockd/track.h"
#include "clock/names.h"
#include "include/clock.h"
#include "timers/counter.h"
#include "timers/timer.h"
#include "tests/lib/check.h"

#include <sys/stat.h>
#include <sys/timex.h>
#include <time.h>

/* ---- pages as files ---- */

static char folder[64];

/* ---- UTC by the kernel's clock ---- */

static struct timex ntp;

static int ntp_state;

/* Instead of the kernel's. */
int adjtimex(struct timex *t)
{
	CHECK(t->modes == 0, "modes %#x: this sets the clock", t->modes);
	*t = ntp;
	return ntp_state;
}

/* So that what is not set does not happen to be 0. */
static __attribute__((noinline)) void fill_stack(void)
{
	volatile char a[8192];
	size_t i;

	for (i = 0; i < sizeof(a); i++) {
		a[i] = 0x55;
	}
}

static int64_t utc_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The stated bound is ntp's 1.2 ms and what of a correction is to be made; what the kernel adds once a second is at most 505 us. */
static void expect_reading(struct tkc_reference *r, double lag_s, double stated_ns)
{
	struct tkc_reading now;
	int64_t raw[2], utc[2];

	raw[0] = tmr_read_ordered(r->timer).v;
	utc[0] = utc_now();
	tkc_reference_read(r, &now);
	utc[1] = utc_now();
	raw[1] = tmr_read_ordered(r->timer).v;
	CHECK_INT(now.status, TICKMARK_OK);
	CHECK(raw[0] < now.raw && now.raw < raw[1], "its stamp is not from the reading");
	CHECK(utc[0] <= now.at_ns && now.at_ns <= utc[1], "its time is not from the reading");
	CHECK(now.realtime_half_ns >= stated_ns && now.realtime_half_ns <= stated_ns + 600e3, "%g ns",
		now.realtime_half_ns);
	CHECK(now.half_ns >= now.realtime_half_ns + 1e9 * lag_s &&
			now.half_ns <= now.realtime_half_ns + 1e9 * lag_s + 0.5 * (double)(raw[1] - raw[0]) + 2,
		"%g ns and %g", now.half_ns, now.realtime_half_ns);
}

static void what_the_kernel_says_of_utc(void)
{
	struct tkm_err err = { .text = "" };
	struct tmr_timer *t = tmr_open("clock_monotonic_raw", 0, &err);
	struct tkc_reference r;
	struct tkc_reading now;
	const int64_t day = INT64_C(86400000000000);

	CHECK(t != NULL, "%s", err.text);
	ntp = (struct timex){ .maxerror = 16000000, .esterror = 16000000, .status = STA_UNSYNC };
	ntp_state = TIME_ERROR;
	CHECK_INT(tkc_reference_open(&r, "ntp", t, 0, &err), -1);
	CHECK(strstr(err.text, "not synchronised") != NULL, "%s", err.text);
	CHECK_INT(tkc_reference_open(&r, "gps", t, 0, &err), -1);
	ntp = (struct timex){ .maxerror = 0, .status = STA_PLL }; /* systemd-timesyncd */
	ntp_state = TIME_OK;
	CHECK_INT(tkc_reference_open(&r, "ntp", t, 0, &err), -1);
	CHECK(strstr(err.text, "set to 0") != NULL, "%s", err.text);
	ntp = (struct timex){ .maxerror = 1000, .esterror = 200 };
	ntp.status = STA_PLL | STA_NANO;
	ntp.offset = -3000;
	ntp_state = TIME_OK;
	CHECK_INT(tkc_reference_open(&r, "ntp", t, 0, &err), 0);
	expect_reading(&r, 0, 1.203e6);
	fill_stack();
	ntp.status = STA_PLL; /* of microseconds */
	expect_reading(&r, 0, 4.2e6);
	tkc_reference_read(&r, &now);
	CHECK_INT(now.leap_ns, 0);
	ntp.status = STA_PLL | STA_INS;
	fill_stack();
	tkc_reference_read(&r, &now);
	CHECK(now.leap_ns > now.at_ns && now.leap_ns - now.at_ns <= day && now.leap_ns % day == 0,
		"a leap second at %lld", (long long)now.leap_ns);
	ntp_state = TIME_OOP;
	tkc_reference_read(&r, &now);
	CHECK_INT(now.status, TICKMARK_UNSYNCHRONISED);
	CHECK(strstr(now.reason, "leap second") != NULL, "%s", now.reason);
	tkc_reference_close(&r);
	ntp_state = TIME_OK;
	ntp.status = STA_PLL | STA_NANO;
	CHECK_INT(tkc_reference_open(&r, "ntp", t, 2e-3, &err), 0);
	expect_reading(&r, 2e-3, 1.203e6);
	tkc_reference_close(&r);
	tmr_close(t);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	snprintf(folder, sizeof(folder), "/tmp/test_clock.XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0) {
		printf("Bail out! no folder\n");
		return 99;
	}
	RUN(what_the_kernel_says_of_utc);
	rmdir(folder);
	return check_end();
}

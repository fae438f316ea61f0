/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of the clock of the node are told from slewing. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "sampler/source.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>

/* ---- clocks that we set -------------------------------------------------------------------------- */

static struct {
	int on;
	int64_t raw, real, boot;
	long freq, tick;
} fake;

/* These are before libc's for this program: the source asks them. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	int64_t ns = id == CLOCK_REALTIME ? fake.real : id == CLOCK_BOOTTIME ? fake.boot : fake.raw;

	if (!fake.on || (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC_RAW && id != CLOCK_BOOTTIME)) {
		return (int)syscall(SYS_clock_gettime, id, t);
	}
	fake.raw += 25;
	fake.real += 25;
	fake.boot += 25;
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return 0;
}

int adjtimex(struct timex *t)
{
	if (!fake.on) {
		return (int)syscall(SYS_adjtimex, t);
	}
	t->freq = fake.freq;
	t->tick = fake.tick;
	return 0;
}

static void pass(int64_t ns, double slew)
{
	fake.raw += ns;
	fake.real += ns + (int64_t)((double)ns * slew);
	fake.boot += ns + (int64_t)((double)ns * slew);
	read_again();
}

static void steps_are_told_from_slewing(void)
{
	int i;

	smp_env_init(&env);
	fake.on = 1;
	fake.raw = 1000000000;
	fake.real = 1700000000000000000;
	fake.tick = 10000;
	OPEN(SMP_NODE, 0, "clock_* on", "ntp_freq");
	for (i = 0; i < 50; i++) {
		pass(100000000, 500e-6);
	}
	HAS("clock_steps", 0);
	fake.freq = 200 * 65536; /* 200 ppm, and a tick that makes 83 000 ppm: chrony's fastest slew */
	fake.tick = 10830;
	read_again();
	HAS("ntp_freq", 83000000 + 200000);
	for (i = 0; i < 50; i++) {
		pass(100000000, 0.0832);
	}
	HAS("clock_steps", 0);
	/* between two samples the slew begins and ends: what the kernel says of its rate at a sample tells nothing */
	fake.tick = 10000;
	fake.freq = 0;
	for (i = 0; i < 50; i++) {
		pass(100000000, i % 2 ? 0.005 : -0.1);
	}
	HAS("clock_steps", 0);
	fake.boot += 3600000000000; /* the node sleeps for an hour, in which the raw clock stands still */
	fake.real += 3600000000000;
	pass(100000000, 0);
	HAS("clock_steps", 0);
	fake.real += 1500; /* somebody sets the clock by 1.5 us */
	pass(100000000, 0);
	HAS("clock_steps", 1);
	CHECK_NEAR((double)got("clock_stepped"), 1500, 50);
	fake.real -= 1500;
	pass(100000000, 0);
	HAS("clock_steps", 2);
	fake.real += 1500000; /* somebody sets the clock by 1.5 ms */
	pass(100000000, 0);
	HAS("clock_steps", 3);
	CHECK_NEAR((double)got("clock_stepped"), 1500000, 1000);
	fake.real -= 3000000000;
	pass(100000000, 0);
	HAS("clock_steps", 4);
	CHECK_NEAR((double)got("clock_stepped"), 1500000 - 3000000000.0, 2000);
	fake.on = 0;
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(steps_are_told_from_slewing);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads UTC so many times between two reads of CLOCK_REALTIME, which here is the true time, and prints how often the interval had
 * nothing of it. Status 0: never, and each reading had an interval. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "include/clock.h"

static int64_t realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1, i, outside = 0, without = 0;
	struct tickmark_options o = TICKMARK_OPTIONS;
	struct tickmark_error err;
	struct tickmark_clock *c;
	struct tickmark_time t = { 0, 0, 0, 0, 0 };
	struct timespec nap = { 0, 10000 };
	int64_t before, after;

	o.scale = TICKMARK_UTC;
	c = tickmark_open(&o, &err);
	if (!c) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	for (i = 0; i < n; i++) {
		before = realtime_ns();
		tickmark_now(c, &t);
		after = realtime_ns();
		outside += t.latest_ns < before || t.earliest_ns > after;
		without += t.status != TICKMARK_OK;
		if (i % 64 == 0) {
			nanosleep(&nap, NULL);
		}
	}
	printf("%ld readings, %ld outside, %ld without an interval, the last %" PRId64 " ns wide\n", n, outside,
		without, t.latest_ns - t.earliest_ns);
	tickmark_close(c);
	return outside || without;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves the realtime clock of a machine whose owner does not mind, and puts it back to its rate.
 * usage: steer freq PPM SECONDS | tick PERCENT SECONDS | slew MICROSECONDS | set SECONDS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static int adjust(unsigned modes, long freq, long tick, long offset)
{
	struct timex t = { .modes = modes, .freq = freq, .tick = tick, .offset = offset };

	if (adjtimex(&t) < 0) {
		perror("adjtimex");
		return 1;
	}
	return 0;
}

static int set_by(double seconds)
{
	struct timespec t;
	long long ns;

	clock_gettime(CLOCK_REALTIME, &t);
	ns = t.tv_sec * 1000000000LL + t.tv_nsec + (long long)(seconds * 1e9);
	t.tv_sec = ns / 1000000000;
	t.tv_nsec = ns % 1000000000;
	if (clock_settime(CLOCK_REALTIME, &t) < 0) {
		perror("clock_settime");
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	double by = argc > 2 ? atof(argv[2]) : 0, lasts_s = argc > 3 ? atof(argv[3]) : 0;
	int rc;

	if (!strcmp(how, "set")) {
		return set_by(by);
	}
	if (!strcmp(how, "slew")) {
		return adjust(ADJ_OFFSET_SINGLESHOT, 0, 0, (long)by);
	}
	if (!strcmp(how, "freq")) {
		rc = adjust(ADJ_FREQUENCY, (long)(by * 65536), 0, 0);
		usleep((useconds_t)(lasts_s * 1e6));
		return adjust(ADJ_FREQUENCY, 0, 0, 0) || rc;
	}
	if (!strcmp(how, "tick")) {
		rc = adjust(ADJ_TICK, 0, (long)(10000 * (1 + by / 100)), 0);
		usleep((useconds_t)(lasts_s * 1e6));
		return adjust(ADJ_TICK, 0, 10000, 0) || rc;
	}
	fprintf(stderr, "usage: steer freq PPM SECONDS | tick PERCENT SECONDS | slew MICROSECONDS | set SECONDS\n");
	return 2;
}

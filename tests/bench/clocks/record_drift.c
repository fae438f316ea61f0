/* SPDX-License-Identifier: BSD-3-Clause */
/* Records how one clock of this machine runs against another, for calibsim --drift-recording.
 * usage: record_drift CLOCK REFERENCE EVERY_S POINTS, e.g. record_drift CPU clock_tai 20 180
 * Each line: seconds on the reference since the beginning, and the clock's offset to it since then, in seconds. The offset
 * is that of the narrowest of 200 readings of the reference between two readings of the clock; half of that width is how
 * well it is known, and the largest one is in the last line. The recording is worth something as a model of drift only
 * if the two clocks are driven by different oscillators, or if one of them is steered: lines that begin with # say what
 * they were. */
#include "config.h"
#include "timers/timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>

struct reading {
	int64_t clock2; /* twice the middle of the two readings */
	int64_t reference;
	double half_s;
};

static struct reading read_pair(struct tmr_timer *clock, struct tmr_timer *reference)
{
	struct reading best = { .half_s = INFINITY };
	int i;

	for (i = 0; i < 200; i++) {
		int64_t a = tmr_read_ordered(clock).v, r = tmr_read_ordered(reference).v, b = tmr_read_ordered(clock).v;
		double half = 0.5 * (double)(b - a) / clock->hz;

		if (half < best.half_s) {
			best = (struct reading){ a + b, r, half };
		}
	}
	return best;
}

static void print_head(const struct tmr_timer *clock, const struct tmr_timer *reference)
{
	struct utsname u = { .sysname = "unknown" };
	time_t now = time(NULL);
	char date[32];

	uname(&u);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", gmtime(&now));
	printf("# drift recording 1\n# clock: %s, %.9g Hz\n# reference: %s, %.9g Hz\n# begun: %s\n# machine: %s %s "
	       "%s\n# columns: time[s] offset[s]\n",
		clock->name, clock->hz, reference->name, reference->hz, date, u.sysname, u.release, u.machine);
}

int main(int argc, char **argv)
{
	struct tkm_err err = { .text = "" };
	struct tmr_timer *clock = argc == 5 ? tmr_open(argv[1], 0, &err) : NULL,
			 *reference = clock ? tmr_open(argv[2], 0, &err) : NULL;
	double every = argc == 5 ? atof(argv[3]) : 0, widest = 0;
	long points = argc == 5 ? atol(argv[4]) : 0, i;
	struct timespec pause;
	struct reading first, r;

	if (!reference || !(every > 0) || points < 2) {
		fprintf(stderr, "record_drift: %s\n",
			err.text[0] ? err.text : "usage: record_drift CLOCK REFERENCE EVERY_S POINTS");
		tmr_close(clock);
		return 2;
	}
	print_head(clock, reference);
	first = read_pair(clock, reference);
	for (i = 0; i < points; i++) {
		double at, offset;

		r = read_pair(clock, reference);
		at = (double)(r.reference - first.reference) / reference->hz;
		offset = 0.5 * (double)(r.clock2 - first.clock2) / clock->hz - at;
		widest = fmax(widest, r.half_s);
		printf("%.6f %.12f\n", at, offset);
		fflush(stdout);
		pause.tv_sec = (time_t)every;
		pause.tv_nsec = (long)((every - (double)pause.tv_sec) * 1e9);
		nanosleep(&pause, NULL);
	}
	printf("# each offset is known to within %.0f ns\n", (widest + first.half_s) * 1e9);
	tmr_close(reference);
	tmr_close(clock);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers are found by name; what a machine lacks is listed with its reason. */
#include "config.h"
#include "timers/sources/sim.h"
#include "timers/timer.h"
#include "tests/lib/check.h"

#include <time.h>

static void names_ignore_case_and_unknown_ones_say_so(void)
{
	struct tkm_err err = { 0 };
	struct tmr_timer *t = tmr_open("GETTIMEOFDAY", 0, &err);

	CHECK(t != NULL, "%s", err.text);
	CHECK_STR(t->name, "gettimeofday");
	tmr_close(t);
	CHECK(tmr_open("sundial", 0, &err) == NULL, "opened");
	CHECK_INT(err.code, TKM_ERR_ARG);
	CHECK(strstr(err.text, "'sundial'") && strstr(err.text, "VT_TIMER=LIST"), "%s", err.text);
	CHECK(tmr_open("clock_monotonic:x", 0, &err) == NULL && strstr(err.text, "takes no argument"), "%s", err.text);
	CHECK(tmr_open("ptp:/dev/null", 0, &err) == NULL && strstr(err.text, "/dev/null is no PTP clock"), "%s",
		err.text);
	CHECK(tmr_open("ptp:/nowhere", 0, &err) == NULL && strstr(err.text, "/nowhere"), "%s", err.text);
	CHECK(tmr_open("MPI_Wtime", 0, &err) == NULL && err.code == TKM_ERR_UNAVAIL, "%s", err.text);
	CHECK(tmr_open("cuda_globaltimer:1", 0, &err) == NULL && err.code == TKM_ERR_UNAVAIL &&
			strstr(err.text, "timer cuda_globaltimer: this program reads no GPU; timertest does"),
		"%s", err.text);
}

static void list_has_every_timer_and_every_reason(void)
{
	static const char *const names[] = { "gettimeofday", "CPU ", "CPU_Norm", "MPI_Wtime", "clock_monotonic ",
		"clock_monotonic_raw", "clock_realtime", "clock_tai", "clock_boottime", "ptp:/dev/ptp0",
		"cuda_globaltimer", "sim:" };
	char *text = NULL;
	size_t len, i;
	FILE *f = open_memstream(&text, &len);

	tmr_list(f);
	fclose(f);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK(strstr(text, names[i]), "%s is not listed in\n%s", names[i], text);
	}
	CHECK(strstr(text, "MPI_Wtime                -          -        unavailable: this program has no MPI"), "%s",
		text);
	CHECK(strstr(text, "cuda_globaltimer         -          -        unavailable: this program reads no GPU"), "%s",
		text);
	free(text);
}

static double monotonic_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* The kernel slews its clocks by at most a tenth. A clock that is set may be set just now: it gets another chance. */
static void check_one_real_timer(const char *name, void *ctx)
{
	struct tkm_err err;
	struct tmr_timer *t = tmr_open(name, 0, &err);
	struct timespec nap = { 0, 20000000 };
	double s, before, most, tick;
	ltick_t a, b;
	int i = 0, good;

	(void)ctx;
	CHECK(t && t->hz > 0, "%s has no frequency", name);
	tick = tmr_period(t);
	do {
		before = monotonic_s();
		a = tmr_read_ordered(t);
		nanosleep(&nap, NULL);
		b = tmr_read_ordered(t);
		most = monotonic_s() - before;
		s = (double)ltick_sub(b, a) * tick;
		good = s >= 0.02 / 1.11 - 2 * tick && s <= 1.11 * most + 2 * tick;
	} while (!good && (t->flags & TMR_STEPPED) && ++i < 10);
	CHECK(good, "%s counted %g s in 0.02 to %g s", name, s, most);
	tmr_close(t);
}

static void real_timers_count_seconds(void)
{
	tmr_each_available(check_one_real_timer, NULL);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(names_ignore_case_and_unknown_ones_say_so);
	RUN(list_has_every_timer_and_every_reason);
	RUN(real_timers_count_seconds);
	return check_end();
}

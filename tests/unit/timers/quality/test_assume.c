/* SPDX-License-Identifier: BSD-3-Clause */
/* What is assumed about each kind of timer, the free clock beside a steered one, and the marker of a virtual machine. */
#include "config.h"
#include "timers/quality/assume.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "timers/quality/rate.h"

static void kinds(void)
{
	static const struct {
		const char *name;
		int steered;
	} timers[] = { { "CPU", 0 }, { "clock_monotonic_raw", 0 }, { "clock_monotonic", 1 }, { "clock_realtime", 1 },
		{ "clock_boottime", 1 }, { "clock_tai", 1 }, { "gettimeofday", 1 },
		{ "sim:base=clock_monotonic,drift=5ppm", 0 }, { "sim:base=clock_monotonic_raw,slewed=on", 1 },
		{ "sim:base=clock_monotonic_raw,slew=50ppm/1s/2s/3s", 1 } };
	size_t i;

	for (i = 0; i < sizeof(timers) / sizeof(timers[0]); i++) {
		struct tkm_err err = { .text = "" };
		struct tmr_timer *t = tmr_open(timers[i].name, 0, &err), *r;
		struct tmr_assumption a;
		int why;

		if (!t) {
			printf("# %s: %s\n", timers[i].name, err.text);
			continue;
		}
		tmr_assume(t, &a);
		CHECK(a.max_drift > 0 && a.drift_from[0] && a.wander_from[0], "%s: nothing assumed", timers[i].name);
		CHECK((a.max_wander > 1e-4) == timers[i].steered, "%s: wander %g", timers[i].name, a.max_wander);
		CHECK((strstr(a.wander_from, "simulated clock that is slewed") != NULL) ==
				(timers[i].steered && strncmp(timers[i].name, "sim:", 4) == 0),
			"%s: '%s'", timers[i].name, a.wander_from);
		CHECK((a.max_slew > 0) == timers[i].steered && (a.slew_limit > 0.1) == timers[i].steered,
			"%s: slew %g, %g", timers[i].name, a.max_slew, a.slew_limit);
		r = tmr_open_reference(t, &why, &err);
		CHECK((r != NULL) == timers[i].steered && !why, "%s: reference %s", timers[i].name,
			r ? r->name : "none");
		CHECK(!r || !(r->flags & (TMR_SLEWED | TMR_STEPPED)), "%s: its reference is steered", timers[i].name);
		CHECK(!r || strncmp(timers[i].name, "sim:", 4) || !strcmp(r->name, "sim:free"), "%s: '%s'",
			timers[i].name, r ? r->name : "");
		tmr_close(r);
		tmr_close(t);
	}
}

static struct timex ntp = { .tick = 10000 };
static int ntp_state = TIME_ERROR;

/* Instead of the kernel's. */
int adjtimex(struct timex *t)
{
	*t = ntp;
	return ntp_state;
}

/* Only a clock that NTP keeps tells a true rate. */
static void what_the_kernel_says_of_its_clock(void)
{
	static const struct {
		int state, status, refused;
		const char *words;
	} cases[] = { { TIME_OK, STA_PLL, 0, ", synchronised" }, { TIME_INS, STA_INS, 0, ", synchronised" },
		{ TIME_ERROR, STA_UNSYNC, 1, ", not synchronised" }, { TIME_OK, STA_PLL, 1, ", synchronised" },
		{ -1, 0, 1, "(adjtimex is refused)" } };
	static const long maxerror[] = { 1510, 1510, 16000000, 0, 1510 };
	struct tmr_timer *t = tmr_open("clock_monotonic", 0, NULL);
	struct tmr_assumption a;
	struct tmr_mark m;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ntp_state = cases[i].state;
		ntp.status = cases[i].status;
		ntp.maxerror = maxerror[i];
		tmr_mark_take(t, &m);
		CHECK((m.bounded == 0) == cases[i].refused, "case %zu: bounded %d, %s", i, m.bounded, m.why);
		CHECK(!m.bounded || (m.max_error_s >= 1510e-6 && m.max_error_s < 2100e-6), "%g", m.max_error_s);
		tmr_assume(t, &a);
		CHECK(strlen(a.wander_from) >= strlen(cases[i].words) &&
				!strcmp(a.wander_from + strlen(a.wander_from) - strlen(cases[i].words), cases[i].words),
			"case %zu: '%s'", i, a.wander_from);
	}
	tmr_close(t);
}

static void marker_of_a_virtual_machine(void)
{
	char dir[] = "/tmp/test_assume.XXXXXX", path[64];
	unsigned char page[64] = { 'V', 'C', 'L', 'K' };
	uint64_t marker = 0, wanted = 0x123456789abcdef;
	FILE *f;
	int root;

	CHECK(mkdtemp(dir) != NULL, "mkdtemp");
	root = tkm_root_open(dir);
	CHECK_INT(tmr_disruption_marker(root, &marker), 0);
	snprintf(path, sizeof(path), "%s/dev", dir);
	CHECK_INT(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/dev/vmclock0", dir);
	memcpy(page + 16, &wanted, sizeof(wanted));
	f = fopen(path, "w");
	CHECK(f && fwrite(page, sizeof(page), 1, f) == 1 && fclose(f) == 0, "cannot write %s", path);
	CHECK_INT(tmr_disruption_marker(root, &marker), 1);
	CHECK(marker == wanted, "%llx", (unsigned long long)marker);
	page[0] = 0;
	f = fopen(path, "w");
	CHECK(f && fwrite(page, sizeof(page), 1, f) == 1 && fclose(f) == 0, "cannot write %s", path);
	CHECK_INT(tmr_disruption_marker(root, &marker), 0);
	close(root);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(kinds);
	RUN(what_the_kernel_says_of_its_clock);
	RUN(marker_of_a_virtual_machine);
	return check_end();
}

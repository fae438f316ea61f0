/* SPDX-License-Identifier: BSD-3-Clause */
/* A sound machine has no defect; the worse of two runs is kept. */
#define _GNU_SOURCE
#include "config.h"
#include "check/check.h"
#include "timers/timer.h"
#include "tests/lib/check.h"
#include "tests/unit/check/machine.h"

static void a_sound_machine_has_no_defect(void)
{
	struct tmr_timer t = counter(NO_DEFECT);
	struct chk_report r;
	size_t i;

	healthy_files();
	run_all(&t, NULL, &r);
	for (i = 0; i < chk_count; i++) {
		/* a busy machine may leave a pair of cores unmeasured, and delay what is timed */
		int may = !strcmp(chk_table[i].name, "tsc.cross_core") || !strcmp(chk_table[i].name, "clock.cost") ||
			!strcmp(chk_table[i].name, "clock.vdso");

		CHECK(r.result[i].status == CHK_OK || r.result[i].status == CHK_ABSENT ||
				(may && r.result[i].status != CHK_CRITICAL),
			"%s: %s %s", chk_table[i].name, chk_status_name(r.result[i].status), r.result[i].text);
		CHECK(strlen(chk_table[i].why) > 10 && strlen(chk_table[i].what) > 10, "%s explains nothing",
			chk_table[i].name);
	}
	CHECK(r.duration_s < 2, "%g s", r.duration_s);
}

static void the_worse_of_two_runs_is_kept(void)
{
	struct chk_report a = { .host = "" }, b = { .host = "" };
	size_t i;

	for (i = 0; i < chk_count; i++) {
		a.result[i].status = b.result[i].status = CHK_OK;
	}
	a.result[0] = (struct chk_result){ .status = CHK_UNKNOWN, .value = NAN, .text = "a" };
	b.result[0] = (struct chk_result){ .status = CHK_WARNING, .value = 1, .text = "b" };
	a.result[1] = (struct chk_result){ .status = CHK_OK, .value = 2, .text = "a" };
	b.result[1] = (struct chk_result){ .status = CHK_OK, .value = 3, .text = "b" };
	chk_worse(&a, &b);
	CHECK_INT(a.result[0].status, CHK_WARNING);
	CHECK_STR(a.result[1].text, "b");
	CHECK_INT(chk_overall(&a), CHK_WARNING);
	a.result[2].status = CHK_CRITICAL;
	CHECK_INT(chk_overall(&a), CHK_CRITICAL);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	if (begin_machine() < 0) {
		return 99;
	}
	RUN(a_sound_machine_has_no_defect);
	RUN(the_worse_of_two_runs_is_kept);
	return end_machine();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters with a known defect. */
#define _GNU_SOURCE
#include "config.h"
#include "check/check.h"
#include "tests/lib/check.h"
#include "tests/unit/check/machine.h"

static void counters_with_a_defect_are_found(void)
{
	static const struct found all[] = {
		{ CORE_RATE, NULL, "tsc.cross_core", CHK_CRITICAL },   /* 50 ppm between cores */
		{ CORE_OFFSET, NULL, "tsc.cross_core", CHK_CRITICAL }, /* a core is 1 us off */
		{ STUCK, NULL, "clock.tick", CHK_CRITICAL },
		{ BACKWARD, NULL, "clock.monotonic", CHK_CRITICAL },
		{ COARSE, NULL, "clock.tick", CHK_CRITICAL },
	};

	each_is_found(all, sizeof(all) / sizeof(all[0]));
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	if (begin_machine() < 0) {
		return 99;
	}
	RUN(counters_with_a_defect_are_found);
	return end_machine();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Ticks are subtracted in integers. */
#include "config.h"
#include "base/ticks.h"
#include "tests/lib/check.h"

static void ticks_subtract(void)
{
	CHECK_INT(ltick_sub(ltick(INT64_MAX), ltick(INT64_MAX - 5)), 5);
	CHECK_INT(gtick_sub(gtick_add(gtick(7), -9), gtick(7)), -9);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(ticks_subtract);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as people read them. */
#include "config.h"
#include "check/check.h"
#include "tests/lib/check.h"

static void values_are_readable(void)
{
	char a[32];

	CHECK_STR(chk_print_value(a, sizeof(a), CHK_PPM, 1000), "1000ppm");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_PPM, 250000), "250000ppm");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_PPM, -0.0359), "-0.0359ppm");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_SECONDS, 123456), "123456s");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_SECONDS, 1.5), "1.5s");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_COUNT, 12000), "12000");
	CHECK_STR(chk_print_value(a, sizeof(a), CHK_PPM, NAN), "unknown");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(values_are_readable);
	return check_end();
}

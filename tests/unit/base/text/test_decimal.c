/* SPDX-License-Identifier: BSD-3-Clause */
/* Decimal numbers of tables, exact. */
#include "config.h"
#include "base/text/decimal.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <string.h>

/* The number as digits, an 'e' and the exponent. */
static const char *read_as(const char *text)
{
	static char shown[80];
	struct tkm_decimal d;
	__int128 v;

	if (tkm_decimal_read(text, &d) < 0) {
		return "no";
	}
	if (tkm_decimal_whole(&d, d.places, &v) < 0) {
		return "far";
	}
	snprintf(shown, sizeof(shown), "%s%llu%018llue%d %d%s", d.negative ? "-" : "",
		(unsigned long long)(d.digits / 1000000000000000000u),
		(unsigned long long)(d.digits % 1000000000000000000u), -d.places, d.shown, d.is_plain ? " plain" : "");
	return shown + strspn(shown, "0");
}

static void numbers_are_exact(void)
{
	static const struct {
		const char *text, *want;
	} row[] = {
		{ "12", "12e0 0 plain" },
		{ "0", "e0 0 plain" },
		{ "000", "e0 0 plain" },
		{ "-0.0", "-0000000000000000000e0 1" },
		{ "+3.50", "35e-1 2" },
		{ ".5", "5e-1 1" },
		{ "5.", "5e0 0" },
		{ "1200", "12e2 0 plain" },
		{ "18446744073709551615", "18446744073709551615e0 0 plain" },
		{ "1.5e+09", "15e8 0" },
		{ "1.234500000000000000e-03", "12345e-7 7" },
		/* a double's digits are those of the shortest number that is the same double */
		{ "1.000000000000000056e-01", "1e-1 1" },
		{ "1.763689000123456717e+09", "17636890001234567e-7 7" },
		/* without an exponent they are what is written */
		{ "0.1000000000000000056", "1000000000000000056e-19 19" },
		{ "4.000000000000000002e18", "4e18 0" },
		{ "9.007199254740993e15", "9007199254740993e0 0" },
		{ "1e400", "1e400 0" },
		{ "999999999999999999999999999999999999999", "no" },
		{ "", "no" },
		{ "-", "no" },
		{ ".", "no" },
		{ "e5", "no" },
		{ "1e", "no" },
		{ "1e+", "no" },
		{ "1,5", "no" },
		{ " 1", "no" },
		{ "1 ", "no" },
		{ "1.2.3", "no" },
		{ "--1", "no" },
		{ "0x10", "no" },
		{ "nan", "no" },
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		CHECK_STR(read_as(row[i].text), row[i].want);
	}
}

static long long scaled(const char *text, int places)
{
	struct tkm_decimal d;
	__int128 v = -77;

	return tkm_decimal_read(text, &d) == 0 && tkm_decimal_whole(&d, places, &v) == 0 ? (long long)v : -77;
}

static void scaled_numbers_are_rounded_to_the_nearest(void)
{
	CHECK_INT(scaled("1.5", 3), 1500);
	CHECK_INT(scaled("-1.5", 0), -2);
	CHECK_INT(scaled("0.49999", 0), 0);
	CHECK_INT(scaled("0.00006", 4), 1);
	CHECK_INT(scaled("6e-500", 4), 0);
	CHECK_INT(scaled("1e39", 0), -77);
	CHECK_INT(scaled("0e999", 12), 0);
}

static void a_decimal_comma_is_named(void)
{
	CHECK(strstr(tkm_decimal_why("1,5"), "decimal comma") != NULL, "not named");
	CHECK_STR(tkm_decimal_why("a,b"), "");
	CHECK_STR(tkm_decimal_why(",5"), "");
	CHECK_STR(tkm_decimal_why("15"), "");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(numbers_are_exact);
	RUN(scaled_numbers_are_rounded_to_the_nearest);
	RUN(a_decimal_comma_is_named);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Times and small values as text, and back. */
#include "config.h"
#include "base/text/text.h"
#include "tests/lib/check.h"

static void times_print_as_in_the_guide(void)
{
	char b[32];

	CHECK_STR(tkm_print_time(b, sizeof(b), 374.738e-9, 3), "374.738ns");
	CHECK_STR(tkm_print_time(b, sizeof(b), 2.152e-6, 3), "2.152us");
	CHECK_STR(tkm_print_time(b, sizeof(b), 800.011e-3, 3), "800.011ms");
	CHECK_STR(tkm_print_time(b, sizeof(b), -1.031e-6, 3), "-1.031us");
	CHECK_STR(tkm_print_time(b, sizeof(b), 0, 2), "0.00s");
	CHECK_STR(tkm_print_time(b, sizeof(b), -1e-16, 3), "0.000ps");
	CHECK_STR(tkm_print_time(b, sizeof(b), 1001e-6, 2), "1.00ms");
	CHECK_STR(tkm_print_time(b, sizeof(b), 0.418e-9, 3), "418.000ps");
	CHECK_STR(tkm_print_time(b, sizeof(b), 0.9999999e-6, 3), "1.000us");
	CHECK_STR(tkm_print_time(b, sizeof(b), NAN, 3), "unknown");
	CHECK_STR(tkm_print_mhz(b, sizeof(b), 2392.218e6), "2392.218MHz");
}

static void a_bound_is_never_rounded_to_less(void)
{
	static const int digits[] = { 0, 1, 3, 9 };
	uint64_t random = 1;
	double v, least, scale;
	char b[400];
	int i, d;

	CHECK_STR(tkm_print_upper(b, sizeof(b), 1.21e-6, 1), "1.3us");
	CHECK_STR(tkm_print_upper(b, sizeof(b), 1.2e-6, 1), "1.2us");
	CHECK_STR(tkm_print_upper(b, sizeof(b), 0.1 + 0.2, 1), "300.0ms");
	CHECK_STR(tkm_print_upper(b, sizeof(b), 1e-16, 1), "0.1ps");
	CHECK_STR(tkm_print_upper(b, sizeof(b), 999.91e-6, 1), "1.0ms");
	CHECK_STR(tkm_print_upper(b, sizeof(b), 0, 2), "0.00s");
	CHECK_STR(tkm_print_upper(b, sizeof(b), -1.29e-6, 1), "-1.2us");
	CHECK_STR(tkm_print_lower(b, sizeof(b), -1.21e-6, 1), "-1.3us");
	CHECK_STR(tkm_print_lower(b, sizeof(b), 1.29e-6, 1), "1.2us");
	CHECK_STR(tkm_print_upper(b, sizeof(b), INFINITY, 1), "unknown");
	CHECK(isnan(tkm_round_up(NAN, 3, 'g')), "NaN");
	CHECK_STR((snprintf(b, sizeof(b), "%.3g", tkm_round_up(1125e-9, 3, 'g') * 1e6), b), "1.13");
	for (i = 0; i < 20000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		v = ldexp((double)(random >> 11), (int)(random % 120) - 110);
		for (d = 0; d < 4; d++) {
			snprintf(b, sizeof(b), "%.*g", digits[d], tkm_round_up(v, digits[d], 'g'));
			scale = pow(10, floor(log10(v)) - (digits[d] ? digits[d] - 1 : 0));
			least = v * (1 - 2e-12);
			CHECK(strtod(b, NULL) >= least && strtod(b, NULL) <= v + 1.001 * scale,
				"%.17g to %d digits: %s", v, digits[d], b);
			snprintf(b, sizeof(b), "%.*f", digits[d], tkm_round_up(v, digits[d], 'f'));
			CHECK(strtod(b, NULL) >= least && strtod(b, NULL) <= v * (1 + 1e-12) + pow(10, -digits[d]),
				"%.17g to %d places: %s", v, digits[d], b);
		}
	}
}

static void times_read_as_in_the_guide(void)
{
	static const struct {
		const char *text;
		double want;
		/* clang-format off */
	} good[] = {
		{ "1m+30s", 90 }, { "2s", 2 }, { "5", 5 }, { "10c", 10e-6 }, { "10l", 10e-3 },
		{ "1ms", 1e-3 }, { "1.5h", 5400 }, { "1w", 604800 }, { "1d+1h", 90000 }, { "7.3ns", 7.3e-9 },
		{ "-1", -1 }, { ".5s", 0.5 }, { "10US", 10e-6 }, { "1min", 60 }, { "1e-3s", 1e-3 },
	};
	/* clang-format on */
	static const char *const bad[] = { "", "s", "1x", "1s+", "+1s", "1s+-2s", "nan", "inf", "0x10", " 1", "1 ",
		"1s 2s", "--1", "1e999", "1s+1m+" };
	size_t i;
	double v;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		v = -7;
		CHECK(tkm_parse_time(good[i].text, &v) == 0, "%s refused", good[i].text);
		CHECK_NEAR(v, good[i].want, 1e-12 * fabs(good[i].want));
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(tkm_parse_time(bad[i], &v) < 0, "\"%s\" taken", bad[i]);
	}
}

static void small_values_are_read(void)
{
	double f;
	long long n;
	int b;

	CHECK(tkm_parse_fraction("50ppm", &f) == 0 && fabs(f - 50e-6) < 1e-18, "%g", f);
	CHECK(tkm_parse_fraction("-3ppb", &f) == 0 && fabs(f + 3e-9) < 1e-21, "%g", f);
	CHECK(tkm_parse_fraction("0.1%", &f) == 0 && fabs(f - 1e-3) < 1e-15, "%g", f);
	CHECK(tkm_parse_fraction("1ppm ", &f) < 0, "trailing space taken");
	CHECK(tkm_parse_int("100", 0, 1000, &n) == 0 && n == 100, "%lld", n);
	CHECK(tkm_parse_int("1001", 0, 1000, &n) < 0, "too large");
	CHECK(tkm_parse_int("99999999999999999999", 0, INT64_MAX, &n) < 0, "overflow");
	CHECK(tkm_parse_int("", 0, 9, &n) < 0 && tkm_parse_int("1a", 0, 9, &n) < 0, "no number");
	CHECK(tkm_parse_bool("ON", &b) == 0 && b == 1, "ON");
	CHECK(tkm_parse_bool("", &b) == 0 && b == 1, "the option's name alone is on");
	CHECK(tkm_parse_bool("False", &b) == 0 && b == 0, "False");
	CHECK(tkm_parse_bool("yes", &b) < 0, "yes is not in the guide");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(times_print_as_in_the_guide);
	RUN(a_bound_is_never_rounded_to_less);
	RUN(times_read_as_in_the_guide);
	RUN(small_values_are_read);
	return check_end();
}

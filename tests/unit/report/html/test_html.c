/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a trace in pages and terminals, and numbers with a suitable unit. */
#include "config.h"
#include "report/html/html.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

static char *written(void (*write)(FILE *f, const char *text), const char *text)
{
	static char out[4][400];
	static int n;
	char *to = out[n++ % 4];
	FILE *f = fmemopen(to, sizeof(out[0]), "w");

	write(f, text);
	fclose(f);
	return to;
}

static void text_stays_text(void)
{
	CHECK_STR(written(vtr_html, "<b a='1' c=\"2\">&"), "&#60;b a=&#39;1&#39; c=&#34;2&#34;&#62;&#38;");
	CHECK_STR(written(vtr_json, "</script>&\\\"'"), "\"\\u003c/script\\u003e\\u0026\\u005c\\u0022\\u0027\"");
	CHECK_STR(written(vtr_plain, "a\33[1m\n\x7f"), "a?[1m??");
}

/* What is no UTF-8 or is not shown: control characters, surrogates, other directions, too long forms. */
static void only_characters_are_shown(void)
{
	static const char *const bad[] = { "\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x9f\xbf", "\xed\xa0\x80",
		"\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\1", "\x1f",
		"\x7f", "\xc2\x80", "\xc2\x9f", "\xe2\x80\x8b", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xae",
		"\xe2\x81\xa0", "\xe2\x81\xaf", "\xef\xbb\xbf", "\xef\xbf\xbe", "\xef\xbf\xbf" };
	static const char *const good[] = { " ", "~", "\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xe2\x80\x8a",
		"\xe2\x80\x90", "\xe2\x80\xa7", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe2\x81\xb0", "\xed\x9f\xbf",
		"\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf" };
	char quoted[20];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(strstr(written(vtr_html, bad[i]), "\xef\xbf\xbd"), "bad %zu in HTML", i);
		CHECK(written(vtr_plain, bad[i])[0] == '?', "bad %zu in a terminal", i);
		CHECK(strstr(written(vtr_json, bad[i]), "\\ufffd"), "bad %zu in JSON", i);
	}
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(quoted, sizeof(quoted), "\"%s\"", good[i]);
		CHECK_STR(written(vtr_html, good[i]), good[i]);
		CHECK_STR(written(vtr_plain, good[i]), good[i]);
		CHECK_STR(written(vtr_json, good[i]), quoted);
	}
}

static void a_cut_takes_whole_characters(void)
{
	char buf[40];

	CHECK_INT(vtr_cut(buf, sizeof(buf), "abc", 3), 3);
	CHECK_STR(buf, "abc");
	CHECK_INT(vtr_cut(buf, sizeof(buf), "abcd", 3), 3);
	CHECK_STR(buf, "abc");
	CHECK_INT(vtr_cut(buf, 3, "abcd", 10), 2);
	CHECK_STR(buf, "ab");
	CHECK_INT(vtr_cut(buf, sizeof(buf), "a\33b\xff", 10), 4);
	CHECK_STR(buf, "a?b?");
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		return;
	}
	CHECK_INT(vtr_cut(buf, sizeof(buf), "a\xc3\xb6\xc3\xb6", 2), 2);
	CHECK_STR(buf, "a\xc3\xb6");
	CHECK_INT(vtr_cut(buf, 4, "a\xc3\xb6\xc3\xb6", 9), 2);
	CHECK_STR(buf, "a\xc3\xb6");
	/* two columns wide; an accent of its own takes none */
	CHECK_INT(vtr_cut(buf, sizeof(buf), "a\xe6\x97\xa5\xe6\x9c\xac", 4), 3);
	CHECK_STR(buf, "a\xe6\x97\xa5");
	CHECK_INT(vtr_cut(buf, sizeof(buf), "o\xcc\x88u", 1), 1);
	CHECK_STR(buf, "o\xcc\x88");
	setlocale(LC_CTYPE, "C");
	CHECK_INT(vtr_cut(buf, sizeof(buf), "a\xc3\xb6", 9), 2);
	CHECK_STR(buf, "a?");
}

static char *shown(double v, const char *unit)
{
	static char out[4][80];
	static int n;

	return vtr_value(out[n++ % 4], sizeof(out[0]), v, unit);
}

static void values_get_the_unit_that_fits(void)
{
	char buf[40];

	CHECK_STR(shown(1023, "bytes"), "1023 bytes");
	CHECK_STR(shown(1024, "bytes"), "1 KB");
	CHECK_STR(shown(-1536, "bytes"), "-1.5 KB");
	CHECK_STR(shown(0.5, "KB/s"), "512 bytes/s");
	CHECK_STR(shown(1024. * 1024, "TB"), "1.05e+06 TB");
	CHECK_STR(shown(999, "us"), "999 us");
	CHECK_STR(shown(1000, "us"), "1 ms");
	CHECK_STR(shown(0.02, "ns"), "20 ps");
	CHECK_STR(shown(0, "s"), "0 s");
	CHECK_STR(shown(0.001, "ps"), "0.001 ps");
	CHECK_STR(shown(9999, "calls"), "9999 calls");
	CHECK_STR(shown(10000, "calls"), "10 thousand calls");
	CHECK_STR(shown(2e16, "calls"), "2e+04 trillion calls");
	CHECK_STR(shown(20000, "percent"), "2e+04 %");
	CHECK_STR(shown(20000, "ppm"), "2e+04 ppm");
	CHECK_STR(shown(3, ""), "3");
	CHECK_STR(vtr_number(buf, sizeof(buf), NAN), "unknown");
	CHECK_STR(vtr_number(buf, sizeof(buf), 1e6), "1e+06");
	CHECK_STR(vtr_number(buf, sizeof(buf), 999999), "1e+06");
	CHECK_STR(vtr_number(buf, sizeof(buf), 0.001), "0.001");
	CHECK_STR(vtr_number(buf, sizeof(buf), 0.00012345), "0.000123");
	CHECK_STR(vtr_number(buf, sizeof(buf), 0), "0");
	CHECK_STR(vtr_value(buf, sizeof(buf), vtr_upper(1.23646e-6, "s"), "s"), "1.237 us");
	CHECK_STR(vtr_value(buf, sizeof(buf), vtr_upper(1.2364e-6, "s"), "s"), "1.237 us");
	CHECK_STR(vtr_value(buf, sizeof(buf), vtr_upper(123e-9, "s"), "s"), "123 ns");
	CHECK_STR(vtr_value(buf, sizeof(buf), vtr_upper(0, "s"), "s"), "0 s");
	CHECK_STR(vtr_value(buf, sizeof(buf), vtr_upper(NAN, "s"), "s"), "unknown s");
}

static void durations_round_into_the_next_unit(void)
{
	char buf[40];

	CHECK_STR(vtr_duration(buf, sizeof(buf), 0.0045), "4.5 ms");
	CHECK_STR(vtr_duration(buf, sizeof(buf), 119.94), "119.9 s");
	CHECK_STR(vtr_duration(buf, sizeof(buf), 119.95), "2 min 00 s");
	CHECK_STR(vtr_duration(buf, sizeof(buf), 179.5), "3 min 00 s");
	CHECK_STR(vtr_duration(buf, sizeof(buf), 5999), "99 min 59 s");
	CHECK_STR(vtr_duration(buf, sizeof(buf), 5999.5), "1 h 40 min");
	CHECK_STR(vtr_duration(buf, sizeof(buf), 7169), "1 h 59 min");
	CHECK_STR(vtr_duration(buf, sizeof(buf), 7170), "2 h 00 min");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(text_stays_text);
	RUN(only_characters_are_shown);
	RUN(a_cut_takes_whole_characters);
	RUN(values_get_the_unit_that_fits);
	RUN(durations_round_into_the_next_unit);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The option table: configuration file, environment, command line, and the guide's syntax of values. */
#include "config.h"
#include "base/bytes.h"
#include "base/cli/option.h"
#include "base/err.h"
#include "base/text/text.h"
#include "tests/lib/check.h"

#include <limits.h>
#include <stdarg.h>

struct values {
	const char *text, *name;
	long long count, bytes, level;
	int on;
	double time_s;
	struct tkm_option_list list;
	struct tkm_option_storage *storage;
	struct tkm_option table[9];
};

static void begin(struct values *v)
{
	/* clang-format off */
	const struct tkm_option table[] = {
		{ "TKMT-TEXT", TKM_OPTION_TEXT, &v->text, 0, 0, NULL, NULL },
		{ "TKMT-NAME", TKM_OPTION_NAME, &v->name, 0, 0, NULL, NULL },
		{ "TKMT-COUNT", TKM_OPTION_COUNT, &v->count, 0, 9, NULL, NULL },
		{ "TKMT-BYTES", TKM_OPTION_BYTES, &v->bytes, 0, 1e9, NULL, NULL },
		{ "TKMT-LEVEL", TKM_OPTION_LEVEL, &v->level, 0, 4, NULL, NULL },
		{ "TKMT-ON", TKM_OPTION_BOOL, &v->on, 0, 0, NULL, NULL },
		{ "TKMT-TIME", TKM_OPTION_TIME, &v->time_s, 0, 100, NULL, NULL },
		{ "TKMT-LIST", TKM_OPTION_LIST, &v->list, 0, 0, NULL, NULL },
		{ .name = NULL },
	};
	/* clang-format on */

	memset(v, 0, sizeof(*v));
	v->text = "default";
	v->on = -1;
	memcpy(v->table, table, sizeof(table));
}

static void end(struct values *v)
{
	tkm_option_free(v->table, v->storage);
}

/* Reads `text` as a configuration file. */
static int config(struct values *v, const char *text, struct tkm_err *e)
{
	char path[] = "/tmp/tkm-option-XXXXXX";
	int fd = mkstemp(path), rc;

	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		return -2;
	}
	close(fd);
	rc = tkm_option_file(v->table, path, &v->storage, e);
	unlink(path);
	return rc;
}

static void a_file_is_read_as_the_guide_says(void)
{
	struct values v;
	struct tkm_err e = { 0 };

	begin(&v);
	CHECK(config(&v,
		      "# a comment with \" in it\n\n  tkmt-Text \"My Directory/tracing\"\r\nTKMT-BYTES 8KB\n"
		      "TKMT-COUNT 3\nTKMT-COUNT 4\nTKMT-ON\nTKMT-LEVEL off\nTKMT-TIME 1m+30s\nPROCESS 0:N OFF\n"
		      "TKMT-LIST \"a b\", 0:3\nTKMT-LIST x",
		      &e) == 0,
		"%s", e.text);
	CHECK_STR(v.text, "My Directory/tracing");
	CHECK_INT(v.bytes, 8192);
	CHECK_INT(v.count, 4);
	CHECK_INT(v.on, 1);
	CHECK_INT(v.level, 0);
	CHECK_NEAR(v.time_s, 90, 0);
	CHECK_INT(v.list.n, 2);
	CHECK_STR(v.list.text[0], "\"a b\", 0:3");
	CHECK(config(&v, "TKMT-COUNT 8B\n", &e) == 0 && v.count == 8, "a count with a unit: %s", e.text);
	CHECK(config(&v, "TKMT-COUNT 1KB\n", &e) < 0 && strstr(e.text, "'1KB' is not a whole number"), "%s", e.text);
	CHECK(config(&v, "\nTKMT-COUNT 10\n", &e) < 0 && strstr(e.text, ":2: '10' is not a whole number"), "%s",
		e.text);
	CHECK(config(&v, "TKMT-TEXT a b\n", &e) < 0 && strstr(e.text, "more than one value"), "%s", e.text);
	CHECK(config(&v, "TKMT-TEXT\n", &e) < 0 && strstr(e.text, "needs a value"), "%s", e.text);
	CHECK(tkm_option_file(v.table, "/nowhere/x.conf", &v.storage, &e) < 0 &&
			strstr(e.text, "/nowhere/x.conf: No such"),
		"%s", e.text);
	end(&v);
}

static int arguments(struct values *v, const char **positional, struct tkm_err *e, int n, ...)
{
	char program[] = "program", *argv[20] = { program };
	va_list ap;
	int i;

	va_start(ap, n);
	for (i = 1; i <= n; i++) {
		argv[i] = va_arg(ap, char *);
	}
	va_end(ap);
	return tkm_option_arguments(v->table, n + 1, argv, positional, 1, e);
}

static void the_command_line_is_read_as_the_guide_says(void)
{
	struct values v;
	struct tkm_err e = { 0 };
	const char *file[1] = { NULL };

	begin(&v);
	CHECK_INT(arguments(&v, file, &e, 8, "--tkmt-on", "T.stf", "--tkmt-name", "-", "--tkmt-list", "0:3,", "1s:5s",
			  "--tkmt-text=a b"),
		1);
	CHECK_STR(file[0], "T.stf");
	CHECK_STR(v.name, "-");
	CHECK_STR(v.text, "a b");
	CHECK_STR(v.list.text[0], "0:3, 1s:5s");
	CHECK_INT(arguments(&v, file, &e, 4, "T.stf", "--tkmt-on", "off", "--tkmt-name"), 1);
	CHECK_INT(v.on, 0);
	CHECK_STR(v.name, "");
	CHECK_INT(arguments(&v, file, &e, 4, "--tkmt-level", "3", "--", "--x"), 1);
	CHECK_INT(v.level, 3);
	CHECK_INT(arguments(&v, file, &e, 2, "--tkmt-level", "T.stf"), 1);
	CHECK_INT(v.level, 1);
	CHECK(arguments(&v, file, &e, 2, "a", "b") < 0 && !strcmp(e.text, "'b': one argument too many"), "%s", e.text);
	CHECK(arguments(&v, file, &e, 1, "--sundial") < 0 && strstr(e.text, "unknown option '--sundial'"), "%s",
		e.text);
	CHECK(arguments(&v, file, &e, 1, "-x") < 0, "taken");
	CHECK(arguments(&v, file, &e, 1, "--tkmt-text") < 0 && !strcmp(e.text, "--tkmt-text needs a value"), "%s",
		e.text);
	end(&v);
}

static void the_later_source_wins(void)
{
	struct values v;
	struct tkm_err e = { 0 };
	const char *file[1];

	begin(&v);
	CHECK(config(&v, "TKMT-COUNT 1\nTKMT-BYTES 1\nTKMT-TEXT 1\n", &e) == 0, "%s", e.text);
	setenv("VT_TKMT_BYTES", "2GB", 1);
	CHECK(tkm_option_environment(v.table, &e) < 0 && strstr(e.text, "VT_TKMT_BYTES: '2GB'"), "%s", e.text);
	setenv("VT_TKMT_BYTES", "2", 1);
	setenv("VT_TKMT_TEXT", "2", 1);
	CHECK(tkm_option_environment(v.table, &e) == 0, "%s", e.text);
	CHECK_INT(arguments(&v, file, &e, 2, "--tkmt-text", "3"), 0);
	CHECK(v.count == 1 && v.bytes == 2 && !strcmp(v.text, "3"), "%lld %lld %s", v.count, v.bytes, v.text);
	unsetenv("VT_TKMT_BYTES");
	unsetenv("VT_TKMT_TEXT");
	end(&v);
}

static void bytes_and_triplets(void)
{
	static const struct {
		const char *text;
		long long first, last, step;
	} good[] = { { "3", 3, 3, 1 }, { "0:N", 0, LLONG_MAX, 1 }, { "0:n:2", 0, LLONG_MAX, 2 }, { "1:1:1", 1, 1, 1 },
		{ "10:100", 10, 100, 1 }, { "1:", 1, LLONG_MAX, 1 }, { "1::2", 1, LLONG_MAX, 2 } };
	static const char *const bad[] = { "", ":", "N", "1:2:0", "2:1", "1:2:3:4", "-1", "1 ", "a",
		"1:2:", "99999999999999999999", "0:Nx" };
	struct tkm_triplet t;
	long long n;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK(tkm_parse_triplet(good[i].text, strlen(good[i].text), &t) == 0 && t.first == good[i].first &&
				t.last == good[i].last && t.step == good[i].step,
			"%s", good[i].text);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(tkm_parse_triplet(bad[i], strlen(bad[i]), &t) < 0, "\"%s\" taken", bad[i]);
	}
	CHECK(tkm_parse_bytes("7b", &n) == 0 && n == 7, "7b");
	CHECK(tkm_parse_bytes("3MB", &n) == 0 && n == 3 << 20, "3MB");
	CHECK(tkm_parse_bytes("64K", &n) == 0 && n == 64 << 10, "64K");
	CHECK(tkm_parse_bytes("2m", &n) == 0 && n == 2 << 20, "2m");
	CHECK(tkm_parse_bytes("1GiB", &n) == 0 && n == 1 << 30, "1GiB");
	CHECK(tkm_parse_bytes("1Ki", &n) < 0 && tkm_parse_bytes("1 K", &n) < 0, "taken");
	CHECK(tkm_parse_bytes("8589934591GB", &n) == 0 && n == 8589934591LL << 30, "the most");
	CHECK(tkm_parse_bytes("8589934592GB", &n) < 0, "too many");
	CHECK(tkm_parse_bytes("-1", &n) < 0 && tkm_parse_bytes("1TB", &n) < 0 && tkm_parse_bytes("", &n) < 0, "taken");
}

static void another_word_is_not_suggested(void)
{
	static const struct tkm_option table[] = { { .name = "LSD" }, { .name = "ON" }, { .name = NULL } };
	struct tkm_err e;

	tkm_option_unknown(table, "lsx", &e);
	CHECK(strstr(e.text, "did you mean --lsd?"), "%s", e.text);
	tkm_option_unknown(table, "psi", &e);
	CHECK(!strstr(e.text, "did you mean"), "%s", e.text);
	tkm_option_unknown(table, "x", &e);
	CHECK(!strstr(e.text, "did you mean"), "%s", e.text);
}

static void how_far_names_are_apart(void)
{
	static const struct {
		const char *a, *b;
		int want;
	} all[] = { { "", "", 0 }, { "abc", "abc", 0 }, { "abc", "ABC", 0 }, { "abc", "", 3 }, { "", "abc", 3 },
		{ "xxabc", "abc", 2 }, { "abc", "xxabc", 2 }, { "abcxx", "abc", 2 }, { "abc", "abcxx", 2 },
		{ "axbxc", "abc", 2 }, { "abc", "axbxc", 2 }, { "abc", "adc", 1 }, { "abcd", "bacd", 1 },
		{ "abcd", "ABDC", 1 }, { "abcd", "badc", 2 }, { "TIMER", "TMIER", 1 }, { "TIMER", "TIEMRS", 2 },
		{ "counter", "cuonters", 2 }, { "kitten", "sitting", 3 }, { "aab", "baa", 2 } };
	char text[70];
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CHECK(tkm_option_distance(all[i].a, all[i].b) == all[i].want, "%s, %s: %d", all[i].a, all[i].b,
			tkm_option_distance(all[i].a, all[i].b));
	}
	memset(text, 'x', 60);
	text[60] = '\0';
	CHECK(tkm_option_distance(text, "x") == 59 && tkm_option_distance("", text) == 60, "60 letters");
	strcat(text, "x");
	CHECK(tkm_option_distance(text, text) == 99 && tkm_option_distance("x", text) == 99, "61 letters");
}

static void options_come_from_the_environment(void)
{
	const char *text = "default";
	long long count = 5;
	double seconds = 1, share = 0;
	int on = -1;
	/* clang-format off */
	const struct tkm_option table[] = {
		{ "SOME-TEXT", TKM_OPTION_TEXT, &text, 0, 0, "T", "" },
		{ "SOME-COUNT", TKM_OPTION_COUNT, &count, 1, 10, "N", "" },
		{ "SOME-TIME", TKM_OPTION_TIME, &seconds, 0, 60, "TIME", "" },
		{ "SOME-SHARE", TKM_OPTION_FRACTION, &share, 0, 1, "F", "" },
		{ "SOME-SWITCH", TKM_OPTION_BOOL, &on, 0, 0, "on|off", "" },
		{ .name = NULL },
	};
	/* clang-format on */
	struct tkm_err e;
	char b[40], small[4];

	CHECK_STR(tkm_option_variable(&table[1], b, sizeof(b)), "VT_SOME_COUNT");
	CHECK_STR(tkm_option_long(&table[1], b, sizeof(b)), "some-count");
	CHECK_STR(tkm_option_long(&table[1], small, sizeof(small)), "som");
	CHECK(tkm_option_environment(table, &e) == 0, "%s", e.text);
	CHECK(!strcmp(text, "default") && count == 5 && on == -1, "defaults changed");
	setenv("VT_SOME_TEXT", "a b", 1);
	setenv("VT_SOME_COUNT", "10", 1);
	setenv("VT_SOME_TIME", "1m", 1);
	setenv("VT_SOME_SHARE", "50ppm", 1);
	setenv("VT_SOME_SWITCH", "off", 1);
	CHECK(tkm_option_environment(table, &e) == 0, "%s", e.text);
	CHECK(!strcmp(text, "a b") && count == 10 && seconds == 60 && fabs(share - 5e-5) < 1e-12 && on == 0,
		"not taken");
	setenv("VT_SOME_TIME", "61s", 1);
	CHECK(tkm_option_environment(table, &e) < 0, "taken");
	CHECK_STR(e.text, "VT_SOME_TIME: '61s' is not a time like 2s, 1m+30s or 10ms between 0 s and 60 s");
	CHECK(seconds == 60, "a refused value was stored");
	CHECK(tkm_option_set(&table[4], "maybe", "--some-switch", &e) < 0, "taken");
	CHECK_STR(e.text, "--some-switch: 'maybe' is not on or off");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_file_is_read_as_the_guide_says);
	RUN(the_command_line_is_read_as_the_guide_says);
	RUN(the_later_source_wins);
	RUN(bytes_and_triplets);
	RUN(how_far_names_are_apart);
	RUN(another_word_is_not_suggested);
	RUN(options_come_from_the_environment);
	return check_end();
}

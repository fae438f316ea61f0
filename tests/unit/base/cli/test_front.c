/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line that all programs share: help in the width of the terminal, single letters, and what is printed for what word. */
#include "config.h"
#include "base/cli/front.h"
#include "tests/lib/check.h"

static const char *text_value;
static long long number;
static int flag;
static int shape = 1;
static struct tkm_option_list list;
static struct tkm_option_storage *storage;
static const struct tkm_option table[] = { { "OUTPUT", TKM_OPTION_TEXT, &text_value, 0, 0, "FILE", "where to write" },
	{ "A-LONG-NAME-OF-AN-OPTION", TKM_OPTION_COUNT, &number, 0, 100, "N",
		"a number between 0 and 100 that has a long description, which needs two lines" },
	{ "QUIET", TKM_OPTION_BOOL, &flag, 0, 0, "", "print less" }, { .name = NULL } };
static const struct tkm_option more[] = { { "OUTPUT", TKM_OPTION_TEXT, &text_value, 0, 0, "FILE", "where to write" },
	{ "TKMT-SHAPE", TKM_OPTION_WORD, &shape, 0, 0, "auto|star|tree", "which" },
	{ "TKMT-QUIET", TKM_OPTION_BOOL, &flag, 0, 0, "", "print less" },
	{ "TKMT-LIST", TKM_OPTION_LIST, &list, 0, 0, "X", "several" }, { .name = NULL } };
static const struct tkm_letter letters[] = { { 'o', "OUTPUT" }, { 'q', "QUIET" }, { 0, NULL } };
static const struct tkm_front front = { .program = "program",
	.arguments = "[OPTION...] FILE\n--list",
	.what = "Does what it does, and says so in a sentence that is longer than one line of eighty columns.",
	.after = "The end.\nOf all.",
	.table = table,
	.letter = letters };

static char *printed(const char *word, int want)
{
	static char *text;
	size_t size;
	FILE *f;

	free(text);
	f = open_memstream(&text, &size);
	CHECK_INT(tkm_front_answer(&front, word, f), want);
	fclose(f);
	return text;
}

static void help(void)
{
	static const char want[] = "Usage: program [OPTION...] FILE\n"
				   "   or: program --list\n"
				   "Does what it does, and says so in a sentence that is longer than one line of\n"
				   "eighty columns.\n"
				   "\n"
				   "  -o, --output=FILE           where to write\n"
				   "      --a-long-name-of-an-option=N\n"
				   "                              a number between 0 and 100 that has a long\n"
				   "                              description, which needs two lines\n"
				   "  -q, --quiet                 print less\n"
				   "  -h, --help                  print this text\n"
				   "      --usage                 print how to call it, and the names of the options\n"
				   "  -V, --version               print the version\n"
				   "\n"
				   "The end.\n"
				   "Of all.\n";

	setenv("COLUMNS", "80", 1);
	CHECK_STR(printed("--help", 1), want);
	CHECK_STR(printed("-h", 1), want);
	CHECK_STR(printed("-?", 1), want);
	/* never narrower than 40 columns, nor wider than 120 */
	setenv("COLUMNS", "10", 1);
	CHECK(strstr(printed("-h", 1), "Does what it does, and says so in a\nsentence that"), "40 columns");
	setenv("COLUMNS", "1000", 1);
	CHECK(strstr(printed("-h", 1), "of eighty columns.\n"), "120 columns");
	setenv("COLUMNS", "80", 1);
}

/* --help is short where a program says what most people need; --help=all has
 * all. */
static void brief_help(void)
{
	static const struct tkm_option most[] = { { "QUIET", TKM_OPTION_BOOL, NULL, 0, 0, NULL, "less" },
		{ .name = NULL } };
	static const char want[] = "Usage: program FILE\n"
				   "Does it.\n"
				   "  -q, --quiet                 less\n"
				   "  -h, --help                  print this text; --help=all: all options\n"
				   "  -V, --version               print the version\n";
	struct tkm_front brief = front;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	brief.arguments = "FILE";
	brief.what = "Does it.";
	brief.brief = most;
	CHECK_INT(tkm_front_answer(&brief, "--help", f), 1);
	fclose(f);
	CHECK_STR(text, want);
	free(text);
	f = open_memstream(&text, &size);
	CHECK_INT(tkm_front_answer(&brief, "--help=all", f), 1);
	fclose(f);
	CHECK(strstr(text, "--a-long-name-of-an-option=N"), "%s", text);
	free(text);
	CHECK(strstr(printed("--help=all", 1), "--a-long-name-of-an-option=N"), "all options");
}

static void other_answers(void)
{
	CHECK_STR(printed("--usage", 1),
		"Usage: program [OPTION...] FILE\n   or: program --list\n"
		"       [--output=FILE] [--a-long-name-of-an-option=N] [--quiet]\n");
	/* a line that just fits */
	setenv("COLUMNS", "47", 1);
	CHECK(strstr(printed("--usage", 1), "\n       [--a-long-name-of-an-option=N] [--quiet]\n"), "47 columns");
	setenv("COLUMNS", "46", 1);
	CHECK(strstr(printed("--usage", 1), "\n       [--a-long-name-of-an-option=N]\n       [--quiet]\n"),
		"46 columns");
	setenv("COLUMNS", "80", 1);
	CHECK_STR(printed("--version", 1), "program (" PACKAGE_NAME ") " PACKAGE_VERSION "\n");
	CHECK_STR(printed("-V", 1), "program (" PACKAGE_NAME ") " PACKAGE_VERSION "\n");
	CHECK_STR(printed("--helpless", 0), "");
}

static const struct tkm_front *asked = &front;

static int arguments(const char *const *word, int n, const char **positional, struct tkm_err *err)
{
	text_value = NULL;
	number = 0;
	flag = 0;
	return tkm_front_arguments(asked, n, (char **)(uintptr_t)word, positional, 2, err);
}
#define ARGUMENTS(...) \
	arguments((const char *const[]){ "program", __VA_ARGS__, NULL }, \
		(int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)) + 1, positional, &err)

static void words_of_the_command_line(void)
{
	const char *positional[2] = { NULL, NULL };
	struct tkm_err err = { TKM_OK, "" };

	CHECK_INT(ARGUMENTS("-o", "x", "a", "--a-long-name-of-an-option=7", "-q"), 1);
	CHECK(text_value && !strcmp(text_value, "x") && number == 7 && flag == 1, "%s, %lld, %d", text_value, number,
		flag);
	CHECK_STR(positional[0], "a");
	CHECK_INT(ARGUMENTS("-ox", "b", "c"), 2);
	CHECK_STR(text_value, "x");
	CHECK_STR(positional[1], "c");
	/* after "--" all are arguments, and "-" is one */
	CHECK_INT(ARGUMENTS("-q", "--", "-o", "--help"), 2);
	CHECK_STR(positional[0], "-o");
	CHECK_STR(positional[1], "--help");
	CHECK_INT(ARGUMENTS("-"), 1);
	CHECK_STR(positional[0], "-");
	CHECK(ARGUMENTS("-x") == -1 && strstr(err.text, "unknown option '-x'; program --help=all shows all"), "%s",
		err.text);
	CHECK(ARGUMENTS("--outptu=x") == -1 && strstr(err.text, "--output"), "%s", err.text);
	CHECK_INT(ARGUMENTS("a", "b", "c"), -1);
}

static void an_option_that_needs_another_is_refused_on_the_command_line_only(void)
{
	static const struct tkm_needs needs[] = { { "TKMT-SHAPE", "TKMT-QUIET" }, { "TKMT-LIST", "OUT..." },
		{ .name = NULL } };
	struct tkm_front f = { .program = "program", .arguments = "", .table = more, .needs = needs, .environment = 1 };
	const char *positional[2];
	struct tkm_err err = { TKM_OK, "" };

	asked = &f;
	CHECK(ARGUMENTS("--tkmt-shape", "tree") == -1 &&
			!strcmp(err.text, "--tkmt-shape has an effect only with --tkmt-quiet"),
		"%s", err.text);
	CHECK_INT(ARGUMENTS("--TKMT-SHAPE=tree", "--tkmt-quiet"), 0);
	CHECK_INT(shape, 2);
	CHECK(ARGUMENTS("--tkmt-list", "x") == -1 && !strcmp(err.text, "--tkmt-list has an effect only with --out..."),
		"%s", err.text);
	CHECK_INT(ARGUMENTS("--tkmt-list", "x", "--output=y"), 0);
	CHECK_INT(ARGUMENTS("--", "--tkmt-shape"), 1);
	setenv("VT_TKMT_SHAPE", "star", 1);
	CHECK_INT(ARGUMENTS("a"), 1);
	CHECK_INT(shape, 1);
	unsetenv("VT_TKMT_SHAPE");
	CHECK(ARGUMENTS("--tkmt-shape", "ring") == -1 &&
			!strcmp(err.text, "--tkmt-shape 'ring': auto, star and tree are known"),
		"%s", err.text);
	tkm_option_free(more, NULL);
	asked = &front;
}

static void the_later_source_wins(void)
{
	struct tkm_front f = {
		.program = "program", .arguments = "", .table = more, .environment = 1, .storage = &storage
	};
	const char *positional[2];
	struct tkm_err err = { TKM_OK, "" };
	char path[] = "/tmp/test_front.XXXXXX", option[64];
	int fd = mkstemp(path);

	CHECK(fd >= 0 && dprintf(fd, "TKMT-LIST of the file\nTKMT-LIST twice\nTKMT-SHAPE tree\nOUTPUT file\n") > 0,
		"no file");
	snprintf(option, sizeof(option), "--config=%s", path);
	asked = &f;
	setenv("VT_CONFIG", path, 1);
	CHECK_INT(ARGUMENTS("a"), 1);
	CHECK(list.n == 2 && !strcmp(list.text[1], "twice") && shape == 2, "%zu, %d", list.n, shape);
	CHECK_STR(text_value, "file");
	setenv("VT_TKMT_LIST", "of the environment", 1);
	setenv("VT_TKMT_SHAPE", "star", 1);
	CHECK_INT(ARGUMENTS("a"), 1);
	CHECK(list.n == 1 && !strcmp(list.text[0], "of the environment") && shape == 1, "%zu, %d", list.n, shape);
	CHECK_INT(ARGUMENTS("--tkmt-list", "b", "c", "--tkmt-list", "d"), 0);
	CHECK(list.n == 2 && !strcmp(list.text[0], "b c") && !strcmp(list.text[1], "d"), "%zu", list.n);
	setenv("VT_CONFIG", "/nowhere/at/all", 1);
	CHECK_INT(ARGUMENTS("a"), 1);
	CHECK(ARGUMENTS(option) == -1 && strstr(err.text, "unknown option"), "no option CONFIG: %s", err.text);
	unsetenv("VT_CONFIG");
	unsetenv("VT_TKMT_LIST");
	unsetenv("VT_TKMT_SHAPE");
	unlink(path);
	close(fd);
	tkm_option_free(more, storage);
	storage = NULL;
	asked = &front;
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(help);
	RUN(brief_help);
	RUN(other_answers);
	RUN(words_of_the_command_line);
	RUN(an_option_that_needs_another_is_refused_on_the_command_line_only);
	RUN(the_later_source_wins);
	return check_end();
}

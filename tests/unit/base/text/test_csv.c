/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables as programs write them. */
#define _GNU_SOURCE
#include "config.h"
#include "base/text/csv.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>

/* All rows: cells joined by '|', rows by '/', of comments '#' before them; then the reason if it is refused. */
static char *read_table(const char *text, size_t n)
{
	char *shown = NULL;
	size_t size, i;
	FILE *out = open_memstream(&shown, &size);
	struct tkm_csv *c = calloc(1, sizeof(*c));
	int rc;

	c->f = n ? fmemopen((void *)(size_t)text, n, "r") : fopen("/dev/null", "r");
	while ((rc = tkm_csv_next(c)) > 0) {
		fprintf(out, "%s%llu:", c->is_comment ? "#" : "", (unsigned long long)c->line);
		for (i = 0; i < c->n; i++) {
			fprintf(out, "%s%s", i ? "|" : "", c->cell[i]);
		}
		putc('/', out);
	}
	if (rc < 0) {
		fprintf(out, "%llu %s", (unsigned long long)c->line, c->why);
	}
	fclose(out);
	fclose(c->f);
	tkm_csv_free(c);
	free(c);
	return shown;
}

static void rows_are_read(void)
{
	static const struct {
		const char *text, *want;
	} row[] = {
		{ "", "" },
		{ "a,b\n1,2\n", "1:a|b/2:1|2/" },
		{ "a,b\n1,2", "1:a|b/2:1|2/" },
		{ "a,b\r\n1,\r\n", "1:a|b/2:1|/" },
		{ "a,b\r1,2\r", "1:a|b/2:1|2/" },
		{ "\xef\xbb\xbf"
		  "a,b\n\xef\xbb\xbf"
		  "1\n",
			"1:a|b/2:\xef\xbb\xbf"
			"1/" },
		{ "\xef\xbb\xbf\"a\",b\n", "1:a|b/" },
		{ "\xef\xbb\xbf# a,b\n", "#1:a|b/" },
		{ " a , b c\t,\" d \" ,e\n", "1:a|b c| d |e/" },
		{ "\"a,\n\"\"b\"\"\",c\nd\n", "1:a,\n\"b\"|c/3:d/" },
		{ "5\"\",\"x\"\n", "1:5\"\"|x/" },
		{ "\"\",\"\"\"\"\n", "1:|\"/" },
		{ "# it's \"open\n  # b,c\n1#,2\n\n \n", "#1:it's \"open/#2:b|c/3:1#|2/#4:/#5:/" },
		{ "a\n\"b\nc", "1:a/2 a quote is not closed" },
	};
	char *got;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		got = read_table(row[i].text, strlen(row[i].text));
		CHECK_STR(got, row[i].want);
		free(got);
	}
}

static void what_is_no_table_is_refused(void)
{
	enum { WIDE = 5000, LONG = (1 << 24) + 10 };
	char *text = malloc(LONG), *got;

	got = read_table("a,b\n1\0,2\n", 9);
	CHECK(strstr(got, "1:a|b/2 a zero byte") != NULL, "%s", got);
	free(got);
	memset(text, ',', WIDE);
	got = read_table(text, WIDE);
	CHECK_STR(got, "1 more than 4096 columns");
	free(got);
	memset(text, 'x', LONG);
	got = read_table(text, LONG);
	CHECK_STR(got, "1 longer than 16 MB");
	free(got);
	free(text);
}

static void other_separators_are_named(void)
{
	char with_tab[] = "a\tb", with_semicolon[] = "a;b", plain[] = "a";
	struct tkm_csv *c = calloc(1, sizeof(*c));

	c->n = 1;
	c->cell[0] = with_semicolon;
	CHECK(strstr(tkm_csv_why(c), "semicolons") != NULL, "semicolons");
	c->cell[0] = with_tab;
	CHECK(strstr(tkm_csv_why(c), "tabs") != NULL, "tabs");
	c->cell[0] = plain;
	CHECK(tkm_csv_why(c) == NULL, "a name");
	c->n = 2;
	c->cell[0] = with_semicolon;
	CHECK(tkm_csv_why(c) == NULL, "two columns");
	free(c);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(rows_are_read);
	RUN(what_is_no_table_is_refused);
	RUN(other_separators_are_named);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* CHECK-SUPPRESS: which reports a line matches, and files that are refused. */
#include "config.h"
#include "collector-plugin/settings/suppress.c"
#include "collector-plugin/settings/suppress.h"
#include "tests/lib/check.h"

static char path[] = "/tmp/test_suppress_XXXXXX";

static void write_lines(const char *text, size_t size)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fwrite(text, 1, size, f) == size && fclose(f) == 0, "%s", path);
}

/* Reads a file of this text. Returns what it returns. */
static int read_text(struct vt_suppress *s, const char *text, struct tkm_err *e)
{
	write_lines(text, strlen(text));
	return vt_suppress_read(s, path, e);
}

static const char calls[] = "   MPI_Send(buf=0x1, count=2, comm=MPI_COMM_WORLD)   exchange (ring.c:62)\n"
			    "         ns::solve(int, double) (m\xc3\xbcll er.c:7)\n"
			    "         main (main.c:100)\n"
			    "   started by MPI_Irecv   prepare (begin.f90:3)\n";

static void reports_that_match(void)
{
	static const struct {
		const char *line;
		int want;
	} all[] = { { "* * *", 1 }, { "LOCAL:MEMORY:OVERLAP * *", 1 }, { "LOCAL:* * *", 1 }, { "*OVERLAP * *", 1 },
		{ "LOCAL:MEMORY:OVER * *", 0 }, { "GLOBAL:* * *", 0 }, { "*:*:* * *", 1 }, { "local:* * *", 0 },
		{ "* MPI_Send *", 1 }, { "* MPI_* *", 1 }, { "* MPI_Recv *", 0 }, { "* MPI_Sen *", 0 },
		{ "* MPI_Irecv *", 1 }, { "* MPI_COMM_WORLD *", 0 }, { "* main *", 1 }, { "* mai *", 0 },
		{ "* exchange ring.c", 1 }, { "* exchange ring.c:62", 1 }, { "* exchange ring.c:6", 0 },
		{ "* exchange main.c", 0 }, { "* main ring.c", 0 }, { "* MPI_Send main.c:100", 1 },
		{ "* MPI_Send begin.f90", 0 }, { "* MPI_Irecv begin.f90", 1 }, { "* MPI_Irecv ring.c", 0 },
		{ "* * ring.c", 1 }, { "* * *.f90", 1 }, { "* * other.c", 0 }, { "* \"ns::solve(int, double)\" *", 1 },
		{ "* ns::* \"m\xc3\xbcll er.c\"", 1 }, { "* ns::* m\xc3\xbcll*", 1 }, { "* * *er.c:7", 1 },
		{ "* * \"m\xc3\xb6ll er.c\"", 0 }, { "* ns::solve(int* *", 1 },
		{ "\"LOCAL:*\" \"main\" \"main.c\"", 1 }, { "\t*  MPI_Send\tring.c:*  # why", 1 }, { "* * *\r", 1 },
		{ "\xef\xbb\xbf* main *", 1 } };
	struct vt_suppress s;
	struct tkm_err e = { .text = "" };
	size_t i;
	int at;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CHECK(read_text(&s, all[i].line, &e) == 0 && s.n == 1, "%s: %s", all[i].line, e.text);
		at = vt_suppress_find(&s, 0, "LOCAL:MEMORY:OVERLAP", calls);
		CHECK(at == (all[i].want ? 0 : -1), "%s: %d", all[i].line, at);
		vt_suppress_free(&s);
	}
}

static void reports_without_a_place(void)
{
	struct vt_suppress s;
	struct tkm_err e;

	CHECK(read_text(&s, "A * *\nB main *\nC * ring.c\nD MPI_Send *\n", &e) == 0 && s.n == 4, "four lines");
	CHECK(vt_suppress_find(&s, 0, "A", "") == 0 && vt_suppress_find(&s, 0, "B", "") == -1 &&
			vt_suppress_find(&s, 0, "C", "") == -1,
		"no call at all");
	CHECK(vt_suppress_find(&s, 0, "D", "   MPI_Send(buf=0x1)   \n") == 3 &&
			vt_suppress_find(&s, 0, "C", "   MPI_Send(buf=0x1)   \n") == -1,
		"a call without a place");
	vt_suppress_free(&s);
}

static void the_first_line_and_its_number(void)
{
	struct vt_suppress s;
	struct tkm_err e;
	int at;

	CHECK(read_text(&s, "# nothing\n\n   \n* none *\n  # more\n* main *\n* * *", &e) == 0 && s.n == 3,
		"three lines");
	at = vt_suppress_find(&s, 0, "X", calls);
	CHECK(at == 1 && s.line[at].number == 6, "line %d", at);
	CHECK_INT(vt_suppress_find(&s, at + 1, "X", calls), 2);
	CHECK_INT(vt_suppress_find(&s, 3, "X", calls), -1);
	vt_suppress_free(&s);
	CHECK(read_text(&s, "", &e) == 0 && s.n == 0 && vt_suppress_find(&s, 0, "X", calls) == -1, "an empty file");
	vt_suppress_free(&s);
}

static void files_that_are_refused(void)
{
	static const struct {
		const char *text, *where, *why;
	} all[] = { { "* * *\n* *\n", ":2: ", "a pattern is missing" }, { "\n*\n", ":2: ", "a pattern is missing" },
		{ "* main my file.c\n", ":1: ", "more than three" },
		{ "* \"main *\n", ":1: ", "a quote is not ended" } };
	struct vt_suppress s;
	struct tkm_err e = { .text = "" };
	char lines[8 * (VT_SUPPRESS_LINES + 1) + 1] = "";
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CHECK(read_text(&s, all[i].text, &e) < 0, "%s is read", all[i].text);
		CHECK(strstr(e.text, path) && strstr(e.text, all[i].where) && strstr(e.text, all[i].why), "%s", e.text);
	}
	for (i = 0; i < VT_SUPPRESS_LINES; i++) {
		strcpy(lines + 6 * i, "* * *\n");
	}
	CHECK(read_text(&s, lines, &e) == 0 && s.n == VT_SUPPRESS_LINES, "%s", e.text);
	vt_suppress_free(&s);
	strcpy(lines + 6 * i, "* * *\n");
	CHECK(read_text(&s, lines, &e) < 0 && strstr(e.text, ":1025: more than 1024 lines"), "%s", e.text);
	write_lines("* * *\0\n", 7);
	CHECK(vt_suppress_read(&s, path, &e) < 0 && strstr(e.text, "is no file of text"), "%s", e.text);
	CHECK(vt_suppress_read(&s, "/nowhere/file", &e) < 0 && strstr(e.text, "cannot read /nowhere/file: "), "%s",
		e.text);
	CHECK(vt_suppress_read(&s, "/tmp", &e) < 0 && strstr(e.text, "/tmp is no file of text"), "%s", e.text);
	CHECK(vt_suppress_read(&s, "/dev/zero", &e) < 0 && strstr(e.text, "is no file of text"), "%s", e.text);
	CHECK(vt_suppress_read(&s, "/proc/self/mem", &e) < 0 && strstr(e.text, "cannot read /proc/self/mem: "), "%s",
		e.text);
}

int main(int argc, char **argv)
{
	int fd;

	check_args(argc, argv);
	fd = mkstemp(path);
	CHECK(fd >= 0 && close(fd) == 0, "%s", path);
	RUN(reports_that_match);
	RUN(reports_without_a_place);
	RUN(the_first_line_and_its_number);
	RUN(files_that_are_refused);
	unlink(path);
	return check_end();
}

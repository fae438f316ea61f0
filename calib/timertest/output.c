/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the lines of timertest go: all of them to BASENAME.txt, and to standard output where they fit on a screen. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/newfile.h"
#include "base/text/text.h"

/* The guide's lines are about 27 for each rank, and one for each pair and burst. */
enum { RANKS_IN_FULL = 4 };

static const char mark[] = "everything that timertest found";

int cal_test_prints(const struct cal_test *t)
{
	return !t->o.quiet && t->link->rank == 0;
}

int cal_test_prints_all(const struct cal_test *t)
{
	return cal_test_prints(t) && (!t->details || t->link->size <= RANKS_IN_FULL || t->o.verbose >= 2);
}

static const char *details_path(const char *output, char *buf, size_t size)
{
	snprintf(buf, size, "%s.txt", output);
	return buf;
}

int cal_test_has_details(const char *output)
{
	char path[4096];

	return tkm_newfile_may_replace(details_path(output, path, sizeof(path)), mark, 0);
}

/* A file of the name that is no earlier result may be where the user's shell puts our output: it is never replaced. */
void cal_test_keep_details(struct cal_test *t)
{
	char path[4096];
	struct stat st;

	if (cal_test_has_details(t->o.output) || lstat(details_path(t->o.output, path, sizeof(path)), &st) < 0) {
		t->details = open_memstream(&t->text, &t->length);
	}
}

void cal_test_print_text(const struct cal_test *t, const char *text, size_t length)
{
	if (t->details) {
		fwrite(text, 1, length, t->details);
	}
	if (cal_test_prints_all(t)) {
		fwrite(text, 1, length, stdout);
		fflush(stdout);
	}
}

void cal_test_print(const struct cal_test *t, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (t->link->rank == 0 && n > 0 && (size_t)n < sizeof(text)) {
		cal_test_print_text(t, text, (size_t)n);
	}
}

/* The lines so far; what is printed afterwards is in no file. */
static char *end_details(struct cal_test *t)
{
	char *text;

	if (t->details) {
		tkm_text_end(t->details, &t->text);
	}
	text = t->text;
	t->details = NULL;
	t->text = NULL;
	return text;
}

static int write_text(const char *path, const char *text, int force, struct tkm_err *err)
{
	struct tkm_newfile n;

	if (!text) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	if (tkm_newfile_begin(&n, path, force, err) < 0) {
		return -1;
	}
	fprintf(n.f, "%s: %s\n", PACKAGE_STRING, mark);
	fputs(text, n.f);
	return tkm_newfile_commit(&n, err);
}

void cal_test_write_details(struct cal_test *t)
{
	int shown = cal_test_prints_all(t);
	struct tkm_err err;
	char path[4096], *text;

	if (!t->details) {
		return;
	}
	text = end_details(t);
	t->wrote_details = write_text(details_path(t->o.output, path, sizeof(path)), text, t->o.force, &err) == 0;
	if (!t->wrote_details) {
		fprintf(stderr, "%s: note: there is no %s: %s\n", program_invocation_short_name, path, err.text);
	}
	if (!t->wrote_details && !shown && cal_test_prints(t) && text) {
		fputs(text, stdout);
	}
	free(text);
}

void cal_test_drop_details(struct cal_test *t)
{
	free(end_details(t));
}

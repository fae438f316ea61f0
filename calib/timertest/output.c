/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the lines of timertest go: all of them to BASENAME.txt, and to standard output where they fit on a screen. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
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

/* A file of the name that is no earlier result may be where the user's shell puts our output: it is never replaced. */
void cal_test_keep_details(struct cal_test *t)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.txt", t->o.output);
	if (tkm_newfile_may_replace(path, mark, 0) || access(path, F_OK) != 0) {
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

int cal_test_write_details(struct cal_test *t, struct tkm_err *err)
{
	struct tkm_newfile n;
	char path[4096], *text;

	if (!t->details) {
		return 0;
	}
	text = end_details(t);
	if (!text) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the text of %s.txt", t->o.output);
	}
	snprintf(path, sizeof(path), "%s.txt", t->o.output);
	if (tkm_newfile_begin(&n, path, tkm_newfile_may_replace(path, mark, 0), err) < 0) {
		free(text);
		return -1;
	}
	fprintf(n.f, "%s: %s\n", PACKAGE_STRING, mark);
	fputs(text, n.f);
	free(text);
	return tkm_newfile_commit(&n, err);
}

void cal_test_drop_details(struct cal_test *t)
{
	free(end_details(t));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which reports CHECK-SUPPRESS leaves out. */
#include "config.h"
#include "collector-plugin/settings/suppress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/text.h"

/* ---- the file ---- */

/* The text of a file; NULL, with err. A pipe is refused, since nobody may write into it. */
static char *read_file(const char *path, struct tkm_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st = { 0 };
	char *text = NULL;
	FILE *f = NULL;
	size_t n = 0;

	if (fd < 0) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "CHECK-SUPPRESS: cannot read %s", path);
		return NULL;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		tkm_fail(err, TKM_ERR_ARG, "CHECK-SUPPRESS: %s is no file of text", path);
	} else if (!(f = fdopen(fd, "r")) || tkm_read_text(f, &text, &n) < 0) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "CHECK-SUPPRESS: cannot read %s", path);
		text = NULL;
	} else if (strlen(text) != n) {
		tkm_fail(err, TKM_ERR_FORMAT, "CHECK-SUPPRESS: %s is no file of text", path);
		free(text);
		text = NULL;
	}
	if (f) {
		fclose(f);
	} else {
		close(fd);
	}
	return text;
}

/* Takes the next word of the line, in place; *at is then behind it. NULL: there is none, or its quotes do not end: then *at is NULL, too. */
static char *take_word(char **at)
{
	char *word = *at + strspn(*at, " \t\r"), *to = word, *p = word;
	int quoted = 0;

	if (!*word || *word == '#') {
		*at = word + strlen(word);
		return NULL;
	}
	for (; *p && (quoted || !strchr(" \t\r", *p)); p++) {
		if (*p == '"') {
			quoted = !quoted;
		} else {
			*to++ = *p;
		}
	}
	*at = quoted ? NULL : p + (*p != '\0');
	*to = '\0';
	return quoted ? NULL : word;
}

/* Returns 1, 0: the line has no patterns, or -1 with err. */
static int read_line(char *text, struct vt_suppress_line *line, const char *path, struct tkm_err *err)
{
	char *word[4] = { NULL };
	int n;

	for (n = 0; n < 4 && text && (word[n] = take_word(&text)); n++) {
	}
	if (!text) {
		return tkm_fail(err, TKM_ERR_FORMAT, "CHECK-SUPPRESS: %s:%d: a quote is not ended", path, line->number);
	}
	if (n != 0 && n != 3) {
		return tkm_fail(err, TKM_ERR_FORMAT,
			"CHECK-SUPPRESS: %s:%d: %s: a line has a class, a function and a source, like GLOBAL:MSG:* "
			"main ring.c; what has blanks is in quotes",
			path, line->number, n < 3 ? "a pattern is missing" : "there are more than three patterns");
	}
	line->class = word[0];
	line->function = word[1];
	line->source = word[2];
	return n == 3;
}

int vt_suppress_read(struct vt_suppress *s, const char *path, struct tkm_err *err)
{
	char *at, *next;
	int number = 0, rc = 0;

	memset(s, 0, sizeof(*s));
	s->text = read_file(path, err);
	if (!s->text) {
		return -1;
	}
	s->line = calloc(VT_SUPPRESS_LINES, sizeof(*s->line));
	if (!s->line) {
		rc = tkm_fail(err, TKM_ERR_NOMEM, "CHECK-SUPPRESS: no memory for %s", path);
	}
	/* an editor may have begun it with a byte order mark */
	at = s->text + (strncmp(s->text, "\xef\xbb\xbf", 3) ? 0 : 3);
	for (; rc >= 0 && *at; at = next) {
		next = at + strcspn(at, "\n");
		next += *next ? (*next = '\0', 1) : 0;
		if (s->n == VT_SUPPRESS_LINES) {
			rc = tkm_fail(err, TKM_ERR_FORMAT, "CHECK-SUPPRESS: %s:%d: more than %d lines of patterns",
				path, number + 1, VT_SUPPRESS_LINES);
			break;
		}
		s->line[s->n].number = ++number;
		rc = read_line(at, &s->line[s->n], path, err);
		s->n += rc > 0;
	}
	if (rc < 0) {
		vt_suppress_free(s);
	}
	return rc < 0 ? -1 : 0;
}

void vt_suppress_free(struct vt_suppress *s)
{
	free(s->text);
	free(s->line);
	memset(s, 0, sizeof(*s));
}

/* ---- matching ---- */

/* `*` matches any text, also none. Only the last one needs to be tried again. */
static int matches(const char *pattern, const char *text, size_t length)
{
	const char *star = NULL, *from = NULL, *end = text + length;

	while (text < end || *pattern == '*') {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return 0;
		}
	}
	return !*pattern;
}

/* "main (ring.c:7)", from `at` to `end`. The names of a function and of a file may have brackets and blanks, too. mpi: the function of
 * MPI is the one that is looked for. */
static int frame_matches(const struct vt_suppress_line *line, const char *at, const char *end, int mpi)
{
	const char *open, *colon;

	for (open = at; open + 2 < end; open++) {
		if (open[0] != ' ' || open[1] != '(' || !(mpi || matches(line->function, at, (size_t)(open - at)))) {
			continue;
		}
		for (colon = end - 1; colon > open + 2 && *colon != ':'; colon--) {
		}
		if (matches(line->source, open + 2, (size_t)(end - 1 - open - 2)) ||
			(*colon == ':' && matches(line->source, open + 2, (size_t)(colon - open - 2)))) {
			return 1;
		}
	}
	return 0;
}

/* One line of a report. *mpi: the function that is looked for is the one of MPI whose stack follows. */
static int line_matches(const struct vt_suppress_line *line, const char *at, const char *end, int *mpi)
{
	const char *name, *frame = at, *p;
	size_t blanks = strspn(at, " ");

	if (blanks < 9) {
		name = memmem(at, (size_t)(end - at), "MPI_", 4);
		*mpi = name && matches(line->function, name, strcspn(name, "( \n,"));
		for (p = at; p + 3 <= end; p++) {
			frame = strncmp(p, "   ", 3) ? frame : p;
		}
	}
	frame += strspn(frame, " ");
	if (frame < end && end[-1] == ')' && frame_matches(line, frame, end, *mpi)) {
		return 1;
	}
	return (*mpi || matches(line->function, "", 0)) && matches(line->source, "", 0);
}

int vt_suppress_find(const struct vt_suppress *s, int first, const char *class, const char *calls)
{
	const char *at, *end;
	int i, mpi;

	for (i = first; i < s->n; i++) {
		if (!matches(s->line[i].class, class, strlen(class))) {
			continue;
		}
		mpi = 0;
		at = calls;
		do {
			end = at + strcspn(at, "\n");
			if (line_matches(&s->line[i], at, end, &mpi)) {
				return i;
			}
			at = end + 1;
		} while (*end && *at);
	}
	return -1;
}

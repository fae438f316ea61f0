/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads tables of comma-separated values (csv.h). */
#include "config.h"
#include "base/text/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { MAX_ROW = 1 << 24 };

static const char mark[] = "\xef\xbb\xbf"; /* byte order mark of UTF-8 */

static int csv_fails(struct tkm_csv *c, const char *why)
{
	c->why = why;
	return -1;
}

static int is_blank(int ch)
{
	return ch == ' ' || ch == '\t';
}

static size_t length_of_mark(const struct tkm_csv *c)
{
	return c->line == 1 && strncmp(c->raw, mark, sizeof(mark) - 1) == 0 ? sizeof(mark) - 1 : 0;
}

static int add_byte(struct tkm_csv *c, size_t *n, int ch)
{
	if (ch == 0 || *n > MAX_ROW || TKM_GROW(c->raw, c->raw_room, *n + 2) < 0) {
		return csv_fails(c,
			ch == 0                ? "a zero byte; if this is UTF-16, save it as CSV in UTF-8"
				: *n > MAX_ROW ? "longer than 16 MB"
					       : "out of memory");
	}
	c->raw[(*n)++] = (char)ch;
	return 0;
}

/* Reads the bytes of a row: to the end of a line outside of quotes. Returns 1, 0 or -1. */
static int read_row(struct tkm_csv *c)
{
	size_t n = 0;
	int ch = getc_unlocked(c->f), quoted = 0, at_start = 1, is_first = 1, has_closed = 0;

	if (ch == EOF) {
		return ferror(c->f) ? csv_fails(c, NULL) : 0;
	}
	c->line = c->next_line++;
	c->is_comment = 0;
	for (; ch != EOF && (quoted || (ch != '\n' && ch != '\r')); ch = getc_unlocked(c->f)) {
		if (add_byte(c, &n, ch) < 0) {
			return -1;
		}
		c->next_line += ch == '\n';
		c->raw[n] = '\0';
		if (n == length_of_mark(c)) {
			at_start = is_first = 1;
			continue;
		}
		c->is_comment |= ch == '#' && is_first;
		is_first &= is_blank(ch);
		/* the second of two quotes within a cell opens it again */
		if (ch == '"' && !c->is_comment && (quoted || at_start || has_closed)) {
			has_closed = quoted;
			quoted = !quoted;
			at_start = 0;
		} else {
			has_closed = 0;
			at_start = !quoted && (ch == ',' || (at_start && is_blank(ch)));
		}
	}
	if (ch == '\r' && (ch = getc_unlocked(c->f)) != '\n' && ch != EOF) {
		ungetc(ch, c->f);
	}
	if (add_byte(c, &n, 'x') < 0) {
		return -1;
	}
	c->raw[n - 1] = '\0';
	return quoted ? csv_fails(c, "a quote is not closed") : ferror(c->f) ? csv_fails(c, NULL) : 1;
}

/* Copies one cell from *p on, which then points after it, at a comma or the end. Returns the end of the copy. */
static char *copy_cell(const char **p, char *to)
{
	const char *s = *p;
	char *end = to;
	int quoted;

	while (is_blank(*s)) {
		s++;
	}
	quoted = *s == '"';
	s += quoted;
	for (; *s && (quoted || *s != ','); s++) {
		if (quoted && *s == '"' && *++s != '"') {
			quoted = 0;
			s--;
			end = to;
			continue;
		}
		*to++ = *s;
		/* blanks at the end of a cell do not count, but in quotes they do */
		end = quoted || !is_blank(*s) ? to : end;
	}
	*p = s;
	return end;
}

int tkm_csv_next(struct tkm_csv *c)
{
	const char *p;
	char *to;
	int rc;

	c->next_line += c->next_line == 0;
	rc = read_row(c);
	if (rc <= 0) {
		return rc;
	}
	if (TKM_GROW(c->text, c->text_room, 2 * strlen(c->raw) + 2) < 0) {
		return csv_fails(c, "out of memory");
	}
	p = c->raw + length_of_mark(c);
	p += c->is_comment ? strspn(p, " \t#") : 0;
	c->is_comment |= !p[strspn(p, " \t")];
	for (c->n = 0, to = c->text;; p++) {
		if (c->n == TKM_CSV_CELLS) {
			return csv_fails(c, "more than 4096 columns");
		}
		c->cell[c->n++] = to;
		to = copy_cell(&p, to);
		*to++ = '\0';
		if (!*p) {
			return 1;
		}
	}
}

void tkm_csv_rewind(struct tkm_csv *c)
{
	rewind(c->f);
	c->line = c->next_line = 0;
}

void tkm_csv_free(struct tkm_csv *c)
{
	free(c->raw);
	free(c->text);
	c->raw = c->text = NULL;
	c->raw_room = c->text_room = 0;
}

const char *tkm_csv_why(const struct tkm_csv *c)
{
	const char *text = c->n ? c->cell[0] : "";

	return c->n > 1              ? NULL
		: strchr(text, ';')  ? "its columns are separated by semicolons: write commas, and points in numbers"
		: strchr(text, '\t') ? "its columns are separated by tabs: write commas"
				     : NULL;
}

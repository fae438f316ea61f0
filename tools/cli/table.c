/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints tables as aligned text, CSV or JSON. */
#include "config.h"
#include "base/text/text.h"
#include "tools/cli/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "base/grow.h"

struct stt_cell {
	enum {
		CELL_TEXT,
		CELL_UINT,
		CELL_INT,
		CELL_REAL,
		CELL_MEAN,
		CELL_SHORT,
		CELL_UPPER,
		CELL_UNKNOWN,
		CELL_NONE
	} type;
	char *text;
	size_t n;
	uint64_t u;
	double d;
};

void stt_table_begin(struct stt_table *t, const char *name, const char *title, const char **column, size_t columns)
{
	*t = (struct stt_table){ .name = name, .title = title, .column = column, .columns = columns };
}

static struct stt_cell *add_table_cell(struct stt_table *t)
{
	static struct stt_cell nowhere;
	struct stt_cell *p = TKM_APPEND(t->cell, t->cells);

	t->failed |= !p;
	return p ? p : &nowhere;
}

void stt_cell_bytes(struct stt_table *t, const char *text, size_t n)
{
	struct stt_cell *c = add_table_cell(t);

	c->type = CELL_TEXT;
	c->n = n;
	if (!t->failed) {
		c->text = malloc(n + 1);
		if (!c->text) {
			t->failed = 1;
			return;
		}
		memcpy(c->text, text, n);
		c->text[n] = '\0';
	}
}

void stt_cell_text(struct stt_table *t, const char *text)
{
	if (text) {
		stt_cell_bytes(t, text, strlen(text));
	} else {
		stt_cell_unknown(t);
	}
}

void stt_cell_uint(struct stt_table *t, uint64_t v)
{
	struct stt_cell *c = add_table_cell(t);

	c->type = CELL_UINT;
	c->u = v;
}

void stt_cell_at_least(struct stt_table *t, uint64_t v)
{
	char text[32];

	stt_cell_bytes(t, text, (size_t)snprintf(text, sizeof(text), ">=%" PRIu64, v));
}

void stt_cell_int(struct stt_table *t, int64_t v)
{
	struct stt_cell *c = add_table_cell(t);

	c->type = CELL_INT;
	c->u = (uint64_t)v;
}

void stt_cell_real(struct stt_table *t, double v)
{
	struct stt_cell *c = add_table_cell(t);

	c->type = CELL_REAL;
	c->d = v;
}

void stt_cell_mean(struct stt_table *t, double v)
{
	struct stt_cell *c = add_table_cell(t);

	c->type = CELL_MEAN;
	c->d = v;
}

void stt_cell_short(struct stt_table *t, double v)
{
	struct stt_cell *c = add_table_cell(t);

	c->type = CELL_SHORT;
	c->d = v;
}

void stt_cell_upper(struct stt_table *t, double v)
{
	struct stt_cell *c = add_table_cell(t);

	c->type = isnan(v) ? CELL_UNKNOWN : CELL_UPPER;
	c->d = v;
}

void stt_cell_unknown(struct stt_table *t)
{
	add_table_cell(t)->type = CELL_UNKNOWN;
}

void stt_cell_none(struct stt_table *t)
{
	add_table_cell(t)->type = CELL_NONE;
}

/* ---- text and CSV ---- */

/* A text that awk would read as two fields, or as none, is quoted. */
static int needs_quotes(const struct stt_cell *c)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		if ((unsigned char)c->text[i] <= ' ' || c->text[i] == '"' || c->text[i] == '\\' || c->text[i] == 0x7f) {
			return 1;
		}
	}
	return c->n == 0;
}

static void print_csv_text(FILE *f, const struct stt_cell *c)
{
	size_t i;

	fputc('"', f);
	for (i = 0; i < c->n; i++) {
		if (c->text[i] == '"') {
			fputc('"', f);
		}
		fputc(c->text[i], f);
	}
	fputc('"', f);
}

static void print_cell(FILE *f, const struct stt_cell *c, int csv)
{
	char buf[32];

	switch (c->type) {
	case CELL_TEXT:
		if (csv) {
			print_csv_text(f, c);
		} else if (needs_quotes(c)) {
			stt_quote(f, c->text, c->n);
		} else {
			fputs(c->text, f);
		}
		break;
	case CELL_UINT:
		fprintf(f, "%" PRIu64, c->u);
		break;
	case CELL_INT:
		fprintf(f, "%" PRId64, (int64_t)c->u);
		break;
	case CELL_MEAN:
	case CELL_SHORT:
	case CELL_UPPER:
		if (!csv && isfinite(c->d)) {
			fprintf(f, "%.*g", c->type == CELL_MEAN ? 9 : 4,
				c->type == CELL_UPPER ? tkm_round_up(c->d, 4, 'g') : c->d);
			break;
		}
		/* fall through */
	case CELL_REAL:
		fputs(stt_real(c->d, buf), f);
		break;
	case CELL_UNKNOWN:
		fputs(csv ? "" : "unknown", f);
		break;
	case CELL_NONE:
		fputs(csv ? "" : "-", f);
		break;
	}
}

/* The number of columns that a UTF-8 text takes on the screen, one for each character. */
static size_t width_of_text(const char *s, size_t n)
{
	size_t i, w = 0;

	for (i = 0; i < n; i++) {
		w += ((unsigned char)s[i] & 0xc0) != 0x80;
	}
	return w;
}

static char *cell_string(const struct stt_cell *c)
{
	char *s = NULL;
	size_t n;
	FILE *f = open_memstream(&s, &n);

	if (!f) {
		return NULL;
	}
	print_cell(f, c, 0);
	tkm_text_end(f, &s);
	return s;
}

static void pad(FILE *f, size_t n)
{
	while (n-- > 0) {
		fputc(' ', f);
	}
}

static int print_aligned(const struct stt_table *t, FILE *f)
{
	size_t *width = calloc(t->columns, sizeof(*width)), i, k, w;
	char **s = calloc(t->cells + 1, sizeof(*s));
	int rc = width && s ? 0 : -1;

	for (k = 0; rc == 0 && k < t->columns; k++) {
		width[k] = strlen(t->column[k]);
	}
	for (i = 0; rc == 0 && i < t->cells; i++) {
		s[i] = cell_string(&t->cell[i]);
		rc = s[i] ? 0 : -1;
		w = s[i] ? width_of_text(s[i], strlen(s[i])) : 0;
		width[i % t->columns] = w > width[i % t->columns] ? w : width[i % t->columns];
	}
	for (i = 0; rc == 0 && i < t->cells + t->columns; i++) {
		const char *text = i < t->columns ? t->column[i] : s[i - t->columns];
		int left = t->cells == 0 || t->cell[i % t->columns].type == CELL_TEXT;

		k = i % t->columns;
		w = width[k] - width_of_text(text, strlen(text));
		pad(f, left ? 0 : w);
		fputs(text, f);
		pad(f, left && k + 1 < t->columns ? w : 0);
		fputc(k + 1 < t->columns ? ' ' : '\n', f);
	}
	for (i = 0; s && i < t->cells; i++) {
		free(s[i]);
	}
	free(s);
	free(width);
	return rc;
}

static void print_csv(const struct stt_table *t, FILE *f)
{
	size_t i;

	for (i = 0; i < t->columns; i++) {
		fprintf(f, "%s%s", t->column[i], i + 1 < t->columns ? "," : "\r\n");
	}
	for (i = 0; i < t->cells; i++) {
		print_cell(f, &t->cell[i], 1);
		fputs((i + 1) % t->columns ? "," : "\r\n", f);
	}
}

/* ---- JSON ---- */

#ifdef HAVE_JANSSON

int stt_have_json(void)
{
	return 1;
}

/* JSON is UTF-8, but names are arbitrary bytes. */
static json_t *json_text(const struct stt_cell *c)
{
	json_t *j = json_stringn(c->text, c->n);
	char *clean;
	size_t i;

	if (j) {
		return j;
	}
	clean = malloc(c->n + 1);
	for (i = 0; clean && i < c->n; i++) {
		clean[i] = (unsigned char)c->text[i] < 0x80 ? c->text[i] : '?';
	}
	j = clean ? json_stringn(clean, c->n) : NULL;
	free(clean);
	return j;
}

static json_t *json_cell(const struct stt_cell *c)
{
	char buf[32];

	switch (c->type) {
	case CELL_TEXT:
		return json_text(c);
	case CELL_UINT:
		if (c->u > INT64_MAX) {
			/* jansson's integers are signed: a larger number is written exactly as text, not rounded */
			snprintf(buf, sizeof(buf), "%" PRIu64, c->u);
			return json_string(buf);
		}
		return json_integer((json_int_t)c->u);
	case CELL_INT:
		return json_integer((json_int_t)(int64_t)c->u);
	case CELL_MEAN:
	case CELL_SHORT:
	case CELL_UPPER:
	case CELL_REAL:
		return isfinite(c->d) ? json_real(c->d) : json_null();
	default:
		return json_null();
	}
}

static int begin_json(struct stt_report *r)
{
	if (r->json) {
		return 0;
	}
	r->json = json_object();
	return json_object_set_new(r->json, "schema", json_string("stftool/1"));
}

static int keep_json(struct stt_report *r, const struct stt_table *t)
{
	json_t *rows = json_array(), *row = NULL;
	size_t i;
	int rc = rows ? 0 : -1;

	rc |= begin_json(r);
	for (i = 0; rc == 0 && i < t->cells; i++) {
		if (i % t->columns == 0) {
			row = json_object();
			rc |= json_array_append_new(rows, row);
		}
		rc |= json_object_set_new(row, t->column[i % t->columns], json_cell(&t->cell[i]));
	}
	return rc | json_object_set_new(r->json, t->name, rows);
}

int stt_report_end(struct stt_report *r)
{
	int rc = STT_OK;

	/* an empty result is an object, too */
	if (r->o->json && begin_json(r) < 0) {
		rc = stt_fault(r->o, "out of memory");
	}
	if (r->json) {
		if (rc == STT_OK &&
			(json_dumpf(r->json, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER) < 0 ||
				putchar('\n') == EOF)) {
			rc = stt_fault(r->o, "cannot write to standard output");
		}
		json_decref(r->json);
		r->json = NULL;
	}
	return rc;
}

#else

int stt_have_json(void)
{
	return 0;
}

static int keep_json(struct stt_report *r, const struct stt_table *t)
{
	(void)r;
	(void)t;
	return -1;
}

int stt_report_end(struct stt_report *r)
{
	(void)r;
	return STT_OK;
}

#endif

int stt_report_add(struct stt_report *r, struct stt_table *t)
{
	size_t i;
	int rc = t->failed ? -1 : 0;

	if (rc == 0 && r->o->json) {
		rc = keep_json(r, t);
	} else if (rc == 0) {
		if (r->tables++) {
			fputs(r->o->csv ? "\r\n" : "\n", stdout);
		}
		if (t->title && !r->o->csv) {
			printf("%s:\n", t->title);
		}
		if (r->o->csv) {
			print_csv(t, stdout);
		} else {
			rc = print_aligned(t, stdout);
		}
	}
	for (i = 0; i < t->cells; i++) {
		free(t->cell[i].text);
	}
	free(t->cell);
	t->cell = NULL;
	return rc ? stt_fault(r->o, "out of memory") : STT_OK;
}

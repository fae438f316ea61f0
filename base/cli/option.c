/* SPDX-License-Identifier: BSD-3-Clause */
/* Options from the environment, the configuration file and the command line; see base/cli/option.h. */
#include "config.h"
#include "base/cli/option.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/text/text.h"

static int out_of_range(const struct tkm_option *o, const char *text, const char *origin, struct tkm_err *err)
{
	static const char *const kinds[] = { "a text", "a whole number", "a time like 2s, 1m+30s or 10ms",
		"a fraction like 50ppm", "on or off", "a number of bytes like 64KB", "on, off or a level", "a text",
		"a text", "a word" };

	if (o->type == TKM_OPTION_BOOL) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: '%s' is not %s", origin, text, kinds[o->type]);
	}
	if (o->type == TKM_OPTION_TIME) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: '%s' is not %s between %.15g s and %.15g s", origin, text,
			kinds[o->type], o->min, o->max);
	}
	if (o->type == TKM_OPTION_FRACTION) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: '%s' is not %s between %.15g ppm and %.15g ppm", origin, text,
			kinds[o->type], 1e6 * o->min, 1e6 * o->max);
	}
	return tkm_fail(err, TKM_ERR_ARG, "%s: '%s' is not %s between %.15g and %.15g%s", origin, text, kinds[o->type],
		o->min, o->max, o->type == TKM_OPTION_BYTES ? " bytes" : "");
}

static int add_list_text(struct tkm_option_list *l, const char *text, const char *origin, struct tkm_err *err)
{
	return tkm_append_text(&l->text, &l->n, text) < 0 ? tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", origin)
							  : 0;
}

static int parse_level(const struct tkm_option *o, const char *text)
{
	int on;

	if (tkm_parse_bool(text, &on) == 0) {
		*(long long *)o->value = on;
		return 0;
	}
	return tkm_parse_int(text, (long long)o->min, (long long)o->max, o->value);
}

static int parse_bytes(const struct tkm_option *o, const char *text)
{
	long long v;

	if (tkm_parse_bytes(text, &v) < 0 || (double)v < o->min || (double)v > o->max) {
		return -1;
	}
	*(long long *)o->value = v;
	return 0;
}

/* "--shape 'ring': auto, star and tree are known". */
static int unknown_word(const struct tkm_option *o, const char *text, const char *origin, struct tkm_err *err)
{
	const char *p;
	char words[200];
	size_t n = 0;

	for (p = o->arg; *p && n + 6 < sizeof(words); p++) {
		if (*p != '|') {
			words[n++] = *p;
		} else {
			n += (size_t)snprintf(words + n, 6, "%s", strchr(p + 1, '|') ? ", " : " and ");
		}
	}
	return tkm_fail(err, TKM_ERR_ARG, "%s '%s': %.*s %s known", origin, text, (int)n, words,
		strchr(o->arg, '|') ? "are" : "is");
}

static int set_word(const struct tkm_option *o, const char *text, const char *origin, struct tkm_err *err)
{
	const char *p = o->arg;
	int i;

	for (i = 0; *p; i++) {
		size_t length = strcspn(p, "|");

		if (strlen(text) == length && !strncasecmp(p, text, length)) {
			*(int *)o->value = i;
			return 0;
		}
		p += length + (p[length] == '|');
	}
	return unknown_word(o, text, origin, err);
}

int tkm_option_set(const struct tkm_option *o, const char *text, const char *origin, struct tkm_err *err)
{
	double d = 0;
	int ok = 0;

	switch (o->type) {
	case TKM_OPTION_TEXT:
	case TKM_OPTION_NAME:
		*(const char **)o->value = text;
		return 0;
	case TKM_OPTION_COUNT:
		/* the Intel Trace Collector guide (section 3.2.1) has a count with a unit: MEM-MAXBLOCKS 8KB */
		ok = tkm_parse_int(text, (long long)o->min, (long long)o->max, o->value) == 0 ||
			parse_bytes(o, text) == 0;
		break;
	case TKM_OPTION_TIME:
		ok = tkm_parse_time(text, &d) == 0;
		break;
	case TKM_OPTION_FRACTION:
		ok = tkm_parse_fraction(text, &d) == 0;
		break;
	case TKM_OPTION_BOOL:
		ok = tkm_parse_bool(text, o->value) == 0;
		break;
	case TKM_OPTION_BYTES:
		ok = parse_bytes(o, text) == 0;
		break;
	case TKM_OPTION_LEVEL:
		ok = parse_level(o, text) == 0;
		break;
	case TKM_OPTION_LIST:
		return add_list_text(o->value, text, origin, err);
	case TKM_OPTION_WORD:
		return set_word(o, text, origin, err);
	}
	if (ok && (o->type == TKM_OPTION_TIME || o->type == TKM_OPTION_FRACTION)) {
		ok = d >= o->min && d <= o->max;
		if (ok) {
			*(double *)o->value = d;
		}
	}
	return ok ? 0 : out_of_range(o, text, origin, err);
}

static char *spell_name(const char *prefix, const char *name, int (*letter)(int), char dash, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size, "%s", prefix);

	for (; *name && n + 1 < size; name++) {
		buf[n++] = *name == '-' ? dash : (char)letter((unsigned char)*name);
	}
	buf[n] = '\0';
	return buf;
}

char *tkm_option_variable(const struct tkm_option *o, char *buf, size_t size)
{
	return spell_name("VT_", o->name, toupper, '_', buf, size);
}

char *tkm_option_long(const struct tkm_option *o, char *buf, size_t size)
{
	return spell_name("", o->name, tolower, '-', buf, size);
}

int tkm_option_environment(const struct tkm_option *table, struct tkm_err *err)
{
	char name[64];

	for (; table->name; table++) {
		const char *text = table->value ? getenv(tkm_option_variable(table, name, sizeof(name))) : NULL;

		if (text && tkm_option_set(table, text, name, err) < 0) {
			return -1;
		}
	}
	return 0;
}

/* ---- the configuration file ---- */

/* A line of the file; the texts of options point into it. */
struct tkm_option_storage {
	struct tkm_option_storage *next;
	char text[];
};

/* The next field of *p, its quotes removed in place; NULL if there is none. */
static char *next_field(char **p)
{
	char *s = *p, *start, *to;

	while (isspace((unsigned char)*s)) {
		s++;
	}
	if (!*s) {
		return NULL;
	}
	for (start = to = s; *s && !isspace((unsigned char)*s);) {
		if (*s != '"') {
			*to++ = *s++;
			continue;
		}
		for (s++; *s && *s != '"';) {
			*to++ = *s++;
		}
		s += *s == '"';
	}
	*p = *s ? s + 1 : s;
	*to = '\0';
	return start;
}

static const struct tkm_option *find_option_of(const struct tkm_option *table, const char *name, size_t len)
{
	for (; table->name; table++) {
		if (strlen(table->name) == len && !strncasecmp(table->name, name, len)) {
			return table;
		}
	}
	return NULL;
}

const struct tkm_option *tkm_option_find(const struct tkm_option *table, const char *name)
{
	return find_option_of(table, name, strlen(name));
}

int tkm_option_set_rest(const struct tkm_option *o, char *text, const char *origin, struct tkm_err *err)
{
	char *value;

	if (o->type == TKM_OPTION_LIST) {
		/* a list keeps its text as it is: the syntax of the text has quotes of its own */
		return tkm_option_set(o, text, origin, err);
	}
	value = next_field(&text);
	if (next_field(&text)) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: more than one value for %s; put \"\" around a value with blanks",
			origin, o->name);
	}
	if (!value && o->type == TKM_OPTION_TEXT) {
		return tkm_fail(err, TKM_ERR_ARG, "%s: %s needs a value", origin, o->name);
	}
	return tkm_option_set(o, value ? value : "", origin, err);
}

struct file_context {
	const struct tkm_option *table;
	struct tkm_err *err;
};

static int set_line(const char *name, char *rest, const char *origin, void *ctx)
{
	const struct file_context *c = ctx;
	const struct tkm_option *o = tkm_option_find(c->table, name);

	return o ? tkm_option_set_rest(o, rest, origin, c->err) : 0;
}

static int read_option_line(char *text, const char *origin, tkm_option_line line, void *ctx)
{
	char *name;

	while (isspace((unsigned char)*text)) {
		text++;
	}
	if (!*text || *text == '#') {
		return 0;
	}
	name = next_field(&text);
	return line(name, text, origin, ctx);
}

static int read_option_lines(FILE *f, const char *path, const struct tkm_option_reader *reader, struct tkm_err *err)
{
	struct tkm_option_storage *s;
	char *line = NULL, origin[300];
	size_t cap = 0;
	ssize_t n;
	int rc = 0, number = 0;

	while (rc == 0 && (n = getline(&line, &cap, f)) >= 0) {
		snprintf(origin, sizeof(origin), "%.250s:%d", path, ++number);
		if (memchr(line, 0, (size_t)n)) {
			rc = tkm_fail(err, TKM_ERR_FORMAT, "%s: not a text file", origin);
			break;
		}
		s = malloc(sizeof(*s) + (size_t)n + 1);
		if (!s) {
			rc = tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", origin);
			break;
		}
		s->next = *reader->storage;
		*reader->storage = s;
		memcpy(s->text, line, (size_t)n + 1);
		s->text[strcspn(s->text, "\r\n")] = '\0';
		rc = read_option_line(s->text, origin, reader->line, reader->ctx);
	}
	if (rc == 0 && ferror(f)) {
		rc = tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot read %s", path);
	}
	free(line);
	fclose(f);
	return rc;
}

int tkm_option_lines(const char *path, const struct tkm_option_reader *reader, struct tkm_err *err)
{
	FILE *f = fopen(path, "re");

	return f ? read_option_lines(f, path, reader, err)
		 : tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot open %s", path);
}

int tkm_option_text(
	const char *text, size_t size, const char *name, const struct tkm_option_reader *reader, struct tkm_err *err)
{
	FILE *f = size ? fmemopen((char *)(uintptr_t)text, size, "r") : NULL;

	if (size == 0) {
		return 0;
	}
	return f ? read_option_lines(f, name, reader, err)
		 : tkm_fail_errno(err, TKM_ERR_NOMEM, errno, "cannot read %s", name);
}

int tkm_option_file(
	const struct tkm_option *table, const char *path, struct tkm_option_storage **storage, struct tkm_err *err)
{
	struct file_context c = { table, err };

	return tkm_option_lines(path, &(struct tkm_option_reader){ storage, set_line, &c }, err);
}

int tkm_option_distance(const char *a, const char *b)
{
	enum { MAX = 60 };
	int row[3][MAX + 1], best;
	size_t i, j, n = strlen(a), m = strlen(b);

	if (n > MAX || m > MAX) {
		return 99;
	}
	for (j = 0; j <= m; j++) {
		row[0][j] = (int)j;
	}
	for (i = 1; i <= n; i++) {
		int *now = row[i % 3], *last = row[(i + 2) % 3], *older = row[(i + 1) % 3];

		now[0] = (int)i;
		for (j = 1; j <= m; j++) {
			best = last[j - 1] + (toupper((unsigned char)a[i - 1]) != toupper((unsigned char)b[j - 1]));
			best = last[j] + 1 < best ? last[j] + 1 : best;
			best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
			if (i > 1 && j > 1 && toupper((unsigned char)a[i - 1]) == toupper((unsigned char)b[j - 2]) &&
				toupper((unsigned char)a[i - 2]) == toupper((unsigned char)b[j - 1])) {
				best = older[j - 2] + 1 < best ? older[j - 2] + 1 : best;
			}
			now[j] = best;
		}
	}
	return row[n % 3][m];
}

void tkm_option_free(const struct tkm_option *table, struct tkm_option_storage *storage)
{
	struct tkm_option_storage *next;
	struct tkm_option_list *l;

	for (; storage; storage = next) {
		next = storage->next;
		free(storage);
	}
	for (; table->name; table++) {
		if (table->type == TKM_OPTION_LIST) {
			l = table->value;
			tkm_free_texts(l->text, l->n);
			*l = (struct tkm_option_list){ 0 };
		}
	}
}

/* ---- the command line ---- */

int tkm_option_begins(const char *word)
{
	return word[0] == '-' && word[1] == '-' && word[2];
}

int tkm_option_takes(const struct tkm_option *o, const char *word)
{
	long long level;
	int on;

	switch (o->type) {
	case TKM_OPTION_BOOL:
		return *word && tkm_parse_bool(word, &on) == 0;
	case TKM_OPTION_LEVEL:
		return *word && (tkm_parse_bool(word, &on) == 0 || tkm_parse_int(word, -1000000, 1000000, &level) == 0);
	case TKM_OPTION_NAME:
	case TKM_OPTION_LIST:
		return !tkm_option_begins(word);
	default:
		return 1;
	}
}

/* Joins words first to last-1 with blanks and adds the text to a list. */
static int set_list_of_words(
	const struct tkm_option *o, char **argv, int first, int last, const char *origin, struct tkm_err *err)
{
	size_t n = 1, at = 0;
	char *text;
	int i, rc;

	for (i = first; i < last; i++) {
		n += strlen(argv[i]) + 1;
	}
	text = calloc(n, 1);
	if (!text) {
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", origin);
	}
	for (i = first; i < last; i++) {
		at += (size_t)sprintf(text + at, "%s%s", i > first ? " " : "", argv[i]);
	}
	rc = tkm_option_set(o, text, origin, err);
	free(text);
	return rc;
}

/* "print-stats" begins as print-statistics but for its last letter. Writes the names that begin like `typed` longest, at most
 * three, joined by " or --"; none if less than all but two letters are alike. */
static void find_alike_beginnings(const struct tkm_option *table, const char *typed, char *best, size_t size)
{
	size_t longest = strlen(typed) > 5 ? strlen(typed) - 2 : 4, k, n = 0;
	int found = 0;
	char name[64];

	for (; table->name; table++) {
		tkm_option_long(table, name, sizeof(name));
		for (k = 0; typed[k] && typed[k] == name[k]; k++) {
		}
		if (k < longest || (k == longest && found == 3)) {
			continue;
		}
		if (k > longest) {
			longest = k;
			n = 0;
			found = 0;
		}
		n += (size_t)snprintf(best + n, size - n, "%s%s", found ? " or --" : "", name);
		found++;
	}
}

int tkm_option_unknown(const struct tkm_option *table, const char *typed, struct tkm_err *err)
{
	static const char *const common[] = { "help", "version", "usage", NULL };
	const struct tkm_option *o;
	char name[64], best[3 * 70] = "";
	size_t half = strlen(typed) / 2; /* another word, if more of it is wrong */
	int nearest = half < 2 ? (int)half + 1 : 3, i;

	for (i = 0; common[i]; i++) {
		if (tkm_option_distance(typed, common[i]) < nearest) {
			nearest = tkm_option_distance(typed, common[i]);
			snprintf(best, sizeof(best), "%s", common[i]);
		}
	}
	for (o = table; o->name; o++) {
		tkm_option_long(o, name, sizeof(name));
		if (tkm_option_distance(typed, name) < nearest) {
			nearest = tkm_option_distance(typed, name);
			snprintf(best, sizeof(best), "%s", name);
		}
	}
	if (!best[0]) {
		find_alike_beginnings(table, typed, best, sizeof(best));
	}
	return tkm_fail(err, TKM_ERR_ARG, "unknown option '--%s'%s%s%s", typed,
		best[0] ? "; did you mean --" : "; --help=all shows all", best,
		best[0] ? "? (--help=all shows all)" : "");
}

/* Sets the option at argv[i]. Returns the number of words that it took, or -1. */
static int one_argument(const struct tkm_option *table, int argc, char **argv, int i, struct tkm_err *err)
{
	const char *name = argv[i] + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct tkm_option *o = find_option_of(table, name, len);
	char origin[80], typed[64];
	int k = i + 1;

	if (!o) {
		snprintf(typed, sizeof(typed), "%.*s", (int)len, name);
		return tkm_option_unknown(table, typed, err);
	}
	snprintf(origin, sizeof(origin), "--%.*s", (int)len, name);
	if (equals) {
		return tkm_option_set(o, equals + 1, origin, err) < 0 ? -1 : 1;
	}
	if (o->type == TKM_OPTION_LIST) {
		while (k < argc && tkm_option_takes(o, argv[k])) {
			k++;
		}
		return set_list_of_words(o, argv, i + 1, k, origin, err) < 0 ? -1 : k - i;
	}
	if (k < argc && tkm_option_takes(o, argv[k])) {
		return tkm_option_set(o, argv[k], origin, err) < 0 ? -1 : 2;
	}
	if (o->type != TKM_OPTION_BOOL && o->type != TKM_OPTION_LEVEL && o->type != TKM_OPTION_NAME) {
		return tkm_fail(err, TKM_ERR_ARG, "%s needs a value", origin);
	}
	return tkm_option_set(o, "", origin, err) < 0 ? -1 : 1;
}

int tkm_option_arguments(
	const struct tkm_option *table, int argc, char **argv, const char **positional, int max, struct tkm_err *err)
{
	int i = 1, n = 0, used, only_words = 0;

	while (i < argc) {
		used = 1;
		if (!only_words && !strcmp(argv[i], "--")) {
			only_words = 1;
		} else if (!only_words && tkm_option_begins(argv[i])) {
			used = one_argument(table, argc, argv, i, err);
			if (used < 0) {
				return -1;
			}
		} else if (!only_words && argv[i][0] == '-' && argv[i][1]) {
			return tkm_fail(err, TKM_ERR_ARG, "unknown option '%s'; --help=all shows all", argv[i]);
		} else if (n == max) {
			return tkm_fail(err, TKM_ERR_ARG, "'%s': one argument too many", argv[i]);
		} else {
			positional[n++] = argv[i];
		}
		i += used;
	}
	return n;
}

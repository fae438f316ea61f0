/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits one line of ASCII VTF into words, and makes a record of them. */
#include "config.h"
#include "tools/vtf/vtf_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int refuse_line(struct vtf_line *line, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int refuse_line(struct vtf_line *line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line->why, sizeof(line->why), fmt, ap);
	va_end(ap);
	return -1;
}

/* ---- words ---- */

static int hex(int c)
{
	return c >= '0' && c <= '9'    ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : -1;
}

/* Decodes the text between quotes in place. At the start *p is after the first quote, at the end after the last
 * one. */
static int unquote(struct vtf_line *line, char **p, char *end, struct vtf_word *w)
{
	char *s = *p, *to = s;

	*w = (struct vtf_word){ s, 0, 1 };
	while (s < end && *s != '"') {
		if (*s != '\\') {
			*to++ = *s++;
		} else if (s + 1 < end && (s[1] == '"' || s[1] == '\\')) {
			*to++ = s[1];
			s += 2;
		} else if (s + 3 < end && s[1] == 'x' && hex(s[2]) >= 0 && hex(s[3]) >= 0) {
			*to++ = (char)(hex(s[2]) << 4 | hex(s[3]));
			s += 4;
		} else {
			return refuse_line(
				line, "a backslash without a quote, a backslash or two hexadecimal digits after it");
		}
	}
	if (s == end) {
		return refuse_line(line, "a text without its closing quote");
	}
	w->n = (size_t)(to - w->s);
	*p = s + 1;
	if (*p < end && **p != ' ' && **p != '\t') {
		return refuse_line(line, "no blank after a text");
	}
	*to = '\0';
	return 0;
}

static struct vtf_word *add_word(struct vtf_line *line)
{
	size_t cap = line->cap ? 2 * line->cap : 32;
	struct vtf_word *p;

	if (line->n == line->cap) {
		p = realloc(line->word, cap * sizeof(*p));
		if (!p) {
			refuse_line(line, "out of memory");
			return NULL;
		}
		line->word = p;
		line->cap = cap;
	}
	return &line->word[line->n++];
}

int vtf_line_split(struct vtf_line *line, char *text, size_t n)
{
	char *p = text, *end = text + n;
	struct vtf_word *w;

	line->n = 0;
	while (end > text && (end[-1] == '\n' || end[-1] == '\r')) {
		*--end = '\0';
	}
	for (;;) {
		while (p < end && (*p == ' ' || *p == '\t')) {
			p++;
		}
		if (p == end) {
			return 0;
		}
		w = add_word(line);
		if (!w) {
			return -1;
		}
		if (*p == '"') {
			p++;
			if (unquote(line, &p, end, w) < 0) {
				return -1;
			}
			continue;
		}
		*w = (struct vtf_word){ p, 0, 0 };
		while (p < end && *p != ' ' && *p != '\t') {
			if (*p == '\0') {
				return refuse_line(line, "a zero byte");
			}
			p++;
		}
		w->n = (size_t)(p - w->s);
		if (p < end) {
			*p++ = '\0';
		}
	}
}

void vtf_line_clear(struct vtf_line *line)
{
	while (line->n_memory) {
		free(line->memory[--line->n_memory]);
	}
	line->n = 0;
}

void vtf_line_end(struct vtf_line *line)
{
	vtf_line_clear(line);
	free(line->memory);
	free(line->word);
}

int vtf_uint(struct vtf_line *line, const struct vtf_word *w, uint64_t max, uint64_t *out)
{
	const char *s = w->s;
	uint64_t v = 0;

	if (w->quoted || !*s) {
		return refuse_line(line, "a text in place of a number: \"%.60s\"", s);
	}
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*s - '0'), &v)) {
			return refuse_line(line, "'%.60s' is not a whole number of at most 64 bits", w->s);
		}
	}
	if (v > max) {
		return refuse_line(line, "%" PRIu64 " is more than %" PRIu64, v, max);
	}
	*out = v;
	return 0;
}

static int signed_number(struct vtf_line *line, const struct vtf_word *w, int64_t min, int64_t max, uint64_t *out)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(w->s, &end, 10);
	if (w->quoted || !*w->s || *end || errno || *w->s == '+' || *w->s <= ' ' || v < min || v > max) {
		return refuse_line(
			line, "'%.60s' is not a whole number between %" PRId64 " and %" PRId64, w->s, min, max);
	}
	*out = (uint64_t)v;
	return 0;
}

int vtf_real(struct vtf_line *line, const struct vtf_word *w, double *out)
{
	char *end;

	*out = strtod(w->s, &end);
	if (w->quoted || !*w->s || *end || (unsigned char)*w->s <= ' ') {
		return refuse_line(line, "'%.60s' is not a number", w->s);
	}
	return 0;
}

int vtf_cpu(struct vtf_line *line, const struct vtf_word *w, uint32_t *out)
{
	uint64_t v;

	if (vtf_uint(line, w, (uint64_t)UINT32_MAX + 1, &v) < 0) {
		return -1;
	}
	if (v == 0) {
		return refuse_line(line, "CPUs count from 1");
	}
	*out = (uint32_t)(v - 1);
	return 0;
}

static int real_bits(struct vtf_line *line, const struct vtf_word *w, uint64_t *out)
{
	double d;

	if (vtf_real(line, w, &d) < 0) {
		return -1;
	}
	memcpy(out, &d, sizeof(d));
	return 0;
}

int vtf_counter(struct vtf_line *line, const struct vtf_word *w, unsigned type, uint64_t *out)
{
	switch (type & 15) {
	case STF_COUNTER_F8:
		return real_bits(line, w, out);
	case STF_COUNTER_I8:
		return signed_number(line, w, INT64_MIN, INT64_MAX, out);
	default:
		return vtf_uint(line, w, UINT64_MAX, out);
	}
}

/* ---- records ---- */

/* The index of the word after KEY, or -1. */
static long find_key(const struct vtf_line *line, size_t at, const char *key)
{
	size_t i;

	for (i = at; i + 1 < line->n; i++) {
		if (!line->word[i].quoted && !strcmp(line->word[i].s, key)) {
			return (long)i + 1;
		}
	}
	return -1;
}

static int text_id(struct vtf_line *line, const struct vtf_word *w, struct stf_writer *writer, uint64_t *out)
{
	if (!w->quoted) {
		return vtf_uint(line, w, 0, out) < 0
			? refuse_line(line, "'%.60s' where a text in quotes belongs, or 0", w->s)
			: 0;
	}
	if (strlen(w->s) != w->n) {
		return refuse_line(line, "a name with a zero byte in it");
	}
	*out = stf_writer_string(writer, w->s);
	return *out ? 0 : refuse_line(line, "%s", stf_writer_error(writer)->text);
}

static int scalar(struct vtf_line *line, const struct stf_field *f, const struct vtf_word *w, struct stf_writer *writer,
	uint64_t *out)
{
	uint32_t willy = 0;

	if (f->ref_class == STF_ID_stf_string) {
		return text_id(line, w, writer, out);
	}
	if (f->is_time == 0 && f->is_array && !strcmp(f->name, "start_time") && !strcmp(w->s, "-")) {
		*out = UINT64_MAX;
		return 0;
	}
	switch (f->type) {
	case STF_WILLYID:
		if (vtf_cpu(line, w, &willy) < 0) {
			return -1;
		}
		*out = willy;
		return 0;
	case STF_U1:
		return vtf_uint(line, w, UINT8_MAX, out);
	case STF_U2:
		return vtf_uint(line, w, UINT16_MAX, out);
	case STF_U4:
		return vtf_uint(line, w, UINT32_MAX, out);
	case STF_I4:
		return signed_number(line, w, INT32_MIN, INT32_MAX, out);
	case STF_I8:
		if (!strcmp(w->s, "NORECV") || !strcmp(w->s, "NOSEND")) {
			*out = (uint64_t)(w->s[2] == 'R' ? STF_RECEIVE_UNKNOWN : STF_SEND_UNKNOWN);
			return 0;
		}
		return signed_number(line, w, INT64_MIN, INT64_MAX, out);
	case STF_F4:
	case STF_F8:
		return real_bits(line, w, out);
	default:
		return vtf_uint(line, w, UINT64_MAX, out);
	}
}

static void *memory(struct vtf_line *line, size_t bytes)
{
	void **p = realloc(line->memory, (line->n_memory + 1) * sizeof(*p));

	if (!p) {
		return NULL;
	}
	line->memory = p;
	p[line->n_memory] = calloc(1, bytes + 1);
	return p[line->n_memory] ? p[line->n_memory++] : NULL;
}

static void store(void *array, enum stf_type type, uint32_t i, uint64_t u)
{
	switch (type) {
	case STF_U1:
		((uint8_t *)array)[i] = (uint8_t)u;
		break;
	case STF_I4:
	case STF_U4:
	case STF_WILLYID:
		((uint32_t *)array)[i] = (uint32_t)u;
		break;
	default: /* no array in the record table has reals of 2 or 4 bytes */
		((uint64_t *)array)[i] = u;
	}
}

/* Reads n and the elements, from word `at` on; a text is one word. */
static int array(
	struct vtf_line *line, const struct stf_field *f, size_t *at, struct stf_writer *writer, struct stf_value *v)
{
	uint64_t n, u;
	uint32_t i;
	void *p;

	if (f->type == STF_C1) {
		if (!line->word[*at].quoted || line->word[*at].n > UINT32_MAX) {
			return refuse_line(line, "'%.60s' where a text in quotes belongs", line->word[*at].s);
		}
		v->array = line->word[*at].s;
		v->count = (uint32_t)line->word[(*at)++].n;
		return 0;
	}
	if (vtf_uint(line, &line->word[*at], UINT32_MAX, &n) < 0) {
		return -1;
	}
	if (n > line->n - *at - 1) {
		return refuse_line(
			line, "%" PRIu64 " elements are announced, %zu words are left", n, line->n - *at - 1);
	}
	++*at;
	p = memory(line, (size_t)n * 8);
	if (!p) {
		return refuse_line(line, "out of memory");
	}
	for (i = 0; i < n; i++) {
		if (scalar(line, f, &line->word[(*at)++], writer, &u) < 0) {
			return -1;
		}
		store(p, f->type, i, u);
	}
	v->array = p;
	v->count = (uint32_t)n;
	return 0;
}

/* Reads the field of `part` from word *at on, and moves *at after it. */
static int field(struct vtf_line *line, const struct stf_layout *l, const struct vtf_part *part, size_t *at,
	size_t first, struct stf_writer *writer)
{
	const struct stf_field *f = &l->fields[part->field];
	struct stf_value *v = &line->values[part->field];
	uint64_t type = 0;
	uint32_t group = 0;
	long k;

	if (*at >= line->n) {
		return refuse_line(line, "no value after %s", part->key[0] ? part->key : f->name);
	}
	if (f->is_array) {
		return array(line, f, at, writer, v);
	}
	if (l->class_id == STF_ID_group_definition && !strcmp(f->name, "id")) {
		if (vtf_cpu(line, &line->word[*at], &group) < 0) {
			return -1;
		}
		v->u = group & 0x7fffffff;
	} else if (f->type == STF_O8) {
		k = find_key(line, first, "TYPE");
		if (k >= 0 && vtf_uint(line, &line->word[k], 255, &type) < 0) {
			return -1;
		}
		if (vtf_counter(line, &line->word[*at], (unsigned)type, &v->u) < 0) {
			return -1;
		}
	} else if (scalar(line, f, &line->word[*at], writer, &v->u) < 0) {
		return -1;
	}
	++*at;
	return 0;
}

static const struct vtf_part *part_of(const struct vtf_form *form, const char *key)
{
	int i;

	for (i = 0; i < form->n; i++) {
		if (form->part[i].key[0] && form->part[i].field >= 0 && !strcmp(form->part[i].key, key)) {
			return &form->part[i];
		}
	}
	return NULL;
}

/* Reads all words as fields of one incarnation. Returns 1: the incarnation lacks one of the keys. */
static int try_layout(struct vtf_line *line, const struct stf_layout *l, size_t first, struct stf_writer *writer)
{
	const struct vtf_form *form = vtf_form(l->id);
	const struct vtf_part *part;
	size_t at = first;
	int i;

	memset(line->values, 0, sizeof(line->values));
	for (i = 0; i < form->n && !form->part[i].key[0]; i++) {
		if (field(line, l, &form->part[i], &at, first, writer) < 0) {
			return -1;
		}
	}
	while (at < line->n) {
		part = line->word[at].quoted ? NULL : part_of(form, line->word[at].s);
		if (!part) {
			refuse_line(line, "%s has no '%.40s'", form->head, line->word[at].s);
			return 1;
		}
		at++;
		if (field(line, l, part, &at, first, writer) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Sets the size fields from the arrays after them, which must have the same length. */
static int set_sizes(struct vtf_line *line, const struct stf_layout *l)
{
	unsigned i, k;

	for (i = 0; i < l->n_fields; i++) {
		if (!l->fields[i].is_size) {
			continue;
		}
		line->values[i].u = line->values[i + 1].count;
		for (k = 1; k < l->fields[i].is_size; k++) {
			struct stf_value *v = &line->values[i + 1 + k];

			if (!v->array && line->values[i].u) {
				/* missing arrays are filled with zeros */
				v->array = memory(line, (size_t)line->values[i].u * 8);
				v->count = (uint32_t)line->values[i].u;
			}
			if (!v->array && v->count) {
				return refuse_line(line, "out of memory");
			}
			if (v->count != line->values[i].u) {
				return refuse_line(line, "%s and %s have not equally many elements",
					l->fields[i + 1].name, l->fields[i + 1 + k].name);
			}
		}
	}
	return 0;
}

int vtf_line_record(struct vtf_line *line, unsigned class_id, size_t at, struct stf_writer *w)
{
	const struct stf_layout *l = NULL;
	unsigned id;
	int rc = 1;

	for (id = class_id; id < STF_ID_END && rc > 0; id++) {
		l = stf_layout(id);
		if (l && l->class_id == stf_layout(class_id)->class_id) {
			rc = try_layout(line, l, at, w);
		}
	}
	if (rc != 0 || set_sizes(line, l) < 0) {
		return -1;
	}
	line->record = (struct stf_record){ .layout = l, .values = line->values };
	return 0;
}

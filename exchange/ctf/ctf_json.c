/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "exchange/ctf/ctf_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 200 };

struct json_text {
	char *p, *end;
	struct xch_json **all;
	const char *why;
	int depth;
};

static void skip_blanks(struct json_text *s)
{
	while (s->p < s->end && strchr(" \t\r\n", *s->p) && *s->p) {
		s->p++;
	}
}

static struct xch_json *fail_json(struct json_text *s, const char *why)
{
	s->why = s->why ? s->why : why;
	return NULL;
}

static struct xch_json *new_value(struct json_text *s, enum xch_json_kind kind)
{
	struct xch_json *j = calloc(1, sizeof(*j));

	if (!j) {
		return fail_json(s, "out of memory");
	}
	j->kind = kind;
	j->at = s->p;
	j->made_before = *s->all;
	*s->all = j;
	return j;
}

static char *put_letter(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = (char)(c ? c : ' ');
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 63));
	} else {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	}
	return to;
}

/* The text after a quote, which takes the place of its notation. Halves of letters beyond 16 bits become U+FFFD. */
static const char *take_text(struct json_text *s)
{
	static const char escapes[] = "b\bf\fn\nr\rt\t";
	char *from = ++s->p, *to = from, digits[5] = "";
	const char *known;
	unsigned c;

	while (s->p < s->end && *s->p != '"') {
		if (*s->p != '\\') {
			*to++ = *s->p ? *s->p : ' ';
			s->p++;
		} else if (s->end - s->p >= 6 && s->p[1] == 'u') {
			memcpy(digits, s->p + 2, 4);
			c = (unsigned)strtoul(digits, NULL, 16);
			to = put_letter(to, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
			s->p += 6;
		} else if (s->end - s->p >= 2) {
			known = strchr("bfnrt", s->p[1]);
			*to++ = known && *known ? strchr(escapes, s->p[1])[1] : s->p[1];
			s->p += 2;
		} else {
			break;
		}
	}
	if (s->p >= s->end || *s->p != '"') {
		fail_json(s, "a text without its end");
		return NULL;
	}
	s->p++;
	*to = '\0';
	return from;
}

static struct xch_json *take_number(struct json_text *s)
{
	struct xch_json *j = new_value(s, XCH_JSON_NUMBER);
	char *end, *real_end;

	if (!j) {
		return NULL;
	}
	errno = 0;
	j->number = *s->p == '-' ? (uint64_t)strtoll(s->p, &end, 10) : strtoull(s->p, &end, 10);
	strtod(s->p, &real_end);
	j->kind = errno || real_end > end ? XCH_JSON_REAL : XCH_JSON_NUMBER;
	s->p = real_end;
	return j;
}

static struct xch_json *take_word(struct json_text *s)
{
	static const char *const words[] = { "false", "true", "null" };
	struct xch_json *j;
	size_t i, n;

	for (i = 0; i < 3; i++) {
		n = strlen(words[i]);
		if ((size_t)(s->end - s->p) >= n && !memcmp(s->p, words[i], n)) {
			j = new_value(s, i < 2 ? XCH_JSON_BOOL : XCH_JSON_NULL);
			if (j) {
				j->number = i == 1;
				s->p += n;
			}
			return j;
		}
	}
	return fail_json(s, "this is no JSON");
}

static struct xch_json *take_any(struct json_text *s);

/* An array or an object. */
static struct xch_json *take_values(struct json_text *s, char closing)
{
	struct xch_json *j = new_value(s, closing == '}' ? XCH_JSON_OBJECT : XCH_JSON_ARRAY), *v, **last;
	const char *key = NULL;

	if (!j || ++s->depth > MOST_DEPTH) {
		return fail_json(s, "more than 200 brackets in each other");
	}
	s->p++;
	for (last = &j->first;; last = &v->next) {
		skip_blanks(s);
		if (s->p < s->end && *s->p == closing && last == &j->first) {
			break;
		}
		if (closing == '}') {
			key = s->p < s->end && *s->p == '"' ? take_text(s) : NULL;
			skip_blanks(s);
			if (!key || s->p >= s->end || *s->p++ != ':') {
				return fail_json(s, "a member without its name");
			}
		}
		v = take_any(s);
		if (!v) {
			return NULL;
		}
		v->key = key;
		*last = v;
		skip_blanks(s);
		if (s->p < s->end && *s->p == closing) {
			break;
		}
		if (s->p >= s->end || *s->p++ != ',') {
			return fail_json(s, "a comma or a bracket is missing");
		}
	}
	s->p++;
	s->depth--;
	return j;
}

static struct xch_json *take_any(struct json_text *s)
{
	struct xch_json *j;

	skip_blanks(s);
	if (s->p >= s->end) {
		return fail_json(s, "a value is missing");
	}
	switch (*s->p) {
	case '{':
		return take_values(s, '}');
	case '[':
		return take_values(s, ']');
	case '"':
		j = new_value(s, XCH_JSON_TEXT);
		return j && (j->text = take_text(s)) ? j : NULL;
	case '-':
	case '0' ... '9':
		return take_number(s);
	default:
		return take_word(s);
	}
}

struct xch_json *xch_json_read(char **p, char *end, struct xch_json **all, const char **why)
{
	struct json_text s = { .p = *p, .end = end, .all = all };
	struct xch_json *j = take_any(&s);

	*p = s.p;
	*why = s.why ? s.why : "out of memory";
	return j;
}

void xch_json_free(struct xch_json *all)
{
	struct xch_json *before;

	for (; all; all = before) {
		before = all->made_before;
		free(all);
	}
}

const struct xch_json *xch_json_member(const struct xch_json *j, const char *key)
{
	const struct xch_json *v = j && j->kind == XCH_JSON_OBJECT ? j->first : NULL;

	while (v && strcmp(v->key, key) != 0) {
		v = v->next;
	}
	return v;
}

const char *xch_json_text(const struct xch_json *j, const char *key, const char *otherwise)
{
	const struct xch_json *v = xch_json_member(j, key);

	return v && v->kind == XCH_JSON_TEXT ? v->text : otherwise;
}

uint64_t xch_json_number(const struct xch_json *j, const char *key, uint64_t otherwise)
{
	const struct xch_json *v = xch_json_member(j, key);

	return v && v->kind == XCH_JSON_NUMBER ? v->number : otherwise;
}

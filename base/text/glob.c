/* SPDX-License-Identifier: BSD-3-Clause */
/* The wildcards of the Intel Trace Collector guide, in which '*' does not match a colon. */
#include "config.h"
#include "base/text/glob.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text/text.h"

static int same(char a, char b)
{
	return a == b || tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The list after '[', p after the bracket. Returns the position after ']' with *in set, or NULL where
 * the list has no end: then '[' is an ordinary character. */
static const char *match_list(const char *p, char c, int *in)
{
	int negated = *p == '!' || *p == '^', found = 0, first = 1;

	for (p += negated; *p && (first || *p != ']'); first = 0) {
		unsigned char from = (unsigned char)*p++, to = from;

		if (p[0] == '-' && p[1] && p[1] != ']') {
			to = (unsigned char)p[1];
			p += 2;
		}
		found |= (from <= (unsigned char)c && (unsigned char)c <= to) ||
			(from <= tolower((unsigned char)c) && tolower((unsigned char)c) <= to) ||
			(from <= toupper((unsigned char)c) && toupper((unsigned char)c) <= to);
	}
	*in = found != negated;
	return *p == ']' ? p + 1 : NULL;
}

/* One element that takes one character. Returns the position after it, or NULL when c does not match. */
static const char *match_one(const char *p, char c)
{
	const char *after;
	int in;

	if (*p == '?') {
		return c != ':' ? p + 1 : NULL;
	}
	if (*p == '[' && (after = match_list(p + 1, c, &in)) != NULL) {
		return in && c != ':' ? after : NULL;
	}
	if (*p == '\\' && p[1]) {
		p++;
	}
	return *p && same(*p, c) ? p + 1 : NULL;
}

/* Only the last star of each kind needs to be tried again: what a later '**' can take, an earlier one need
 * not give up; a '*' that meets its colon falls back to the last '**'. */
int tkm_glob_match(const char *pattern, const char *name)
{
	const char *star = NULL, *star_name = NULL, *wide = NULL, *wide_name = NULL, *next;

	for (;;) {
		if (pattern[0] == '*' && pattern[1] == '*') {
			pattern += 2;
			wide = pattern;
			wide_name = name;
			star = NULL;
		} else if (*pattern == '*') {
			star = ++pattern;
			star_name = name;
		} else if (*name && (next = match_one(pattern, *name)) != NULL) {
			pattern = next;
			name++;
		} else if (!*name && !*pattern) {
			return 1;
		} else if (star && *star_name && *star_name != ':') {
			pattern = star;
			name = ++star_name;
		} else if (wide && *wide_name) {
			pattern = wide;
			name = ++wide_name;
			star = NULL;
		} else {
			return 0;
		}
	}
}

int tkm_glob_is_name(const char *pattern)
{
	return strpbrk(pattern, "*?[\\") == NULL;
}

int tkm_glob_may_match(const char *pattern, const char *prefix)
{
	while (*prefix && *pattern && !strchr("*?[\\", *pattern)) {
		if (!same(*prefix++, *pattern++)) {
			return 0;
		}
	}
	return *pattern || !*prefix;
}

int tkm_glob_rule_parse(const char *option, const char *text, struct tkm_glob_rule *r, struct tkm_err *err)
{
	const char *pattern = text + (*text == '+');
	size_t len = strcspn(pattern, " \t");
	const char *state = pattern + len + strspn(pattern + len, " \t");

	if (len == 0 || len >= sizeof(r->pattern)) {
		return tkm_fail(err, TKM_ERR_ARG, "%s wants a pattern and on or off, as in \"cpu_* on\", not \"%s\"",
			option, text);
	}
	memcpy(r->pattern, pattern, len);
	r->pattern[len] = '\0';
	r->adds = pattern > text;
	if (tkm_parse_bool(state, &r->on) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "%s %s: only on or off can follow the pattern, not \"%s\"", option,
			r->pattern, state);
	}
	return 0;
}

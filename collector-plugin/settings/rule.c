/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses and matches the rules STATE, SYMBOL and ACTIVITY. */
#include "config.h"
#include "collector-plugin/settings/rule.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int vt_rule_name(const char *name)
{
	return !strcasecmp(name, "STATE") || !strcasecmp(name, "SYMBOL") || !strcasecmp(name, "ACTIVITY");
}

/* ---- patterns ---- */

static int lower(char c)
{
	return tolower((unsigned char)c);
}

/* Is c in the list after '['? *end is set to the character after ']', or to NULL if there is no ']'. Then '[' is an
 * ordinary character. */
static int in_list(const char *p, char c, const char **end)
{
	int not = *p == '!' || *p == '^', found = 0;
	const char *first = p += not ;

	for (; *p && (*p != ']' || p == first); p++) {
		if (p[1] == '-' && p[2] && p[2] != ']') {
			found |= lower(c) >= lower(p[0]) && lower(c) <= lower(p[2]);
			p += 2;
		} else {
			found |= lower(*p) == lower(c);
		}
	}
	*end = *p ? p + 1 : NULL;
	return found != not ;
}

int vt_rule_match(const char *p, const char *s)
{
	const char *end = NULL;
	int colons;

	for (; *p; p++, s++) {
		if (*p == '*') {
			colons = p[1] == '*';
			p += 1 + colons;
			while (!vt_rule_match(p, s)) {
				if (!*s || (!colons && *s == ':')) {
					return 0;
				}
				s++;
			}
			return 1;
		}
		if (!*s) {
			return 0;
		}
		if (*p == '[' && strchr(p + 1, ']')) {
			if (!in_list(p + 1, *s, &end) || !end) {
				return 0;
			}
			p = end - 1;
		} else if (*p == '?' ? *s == ':' : lower(*p) != lower(*s)) {
			return 0;
		}
	}
	return !*s;
}

/* ---- words ---- */

/* Copies the next word, without its quotes, to `word`. Returns 0 if there is none. */
static int next_word(const char **p, char *word, size_t size)
{
	size_t n = 0;
	char quote = 0;

	*p += strspn(*p, " \t\r\n");
	if (!**p) {
		return 0;
	}
	for (; **p && (quote || !strchr(" \t\r\n", **p)); ++*p) {
		if (**p == '"') {
			quote = !quote;
		} else if (n + 1 < size) {
			word[n++] = **p;
		}
	}
	word[n] = '\0';
	return 1;
}

/* Parses LOWER[:UPPER[:STRIDE]]; N is the end. What is left out stays as it is in *t. */
static int take_triplet(const char *word, struct vt_trigger *t)
{
	char *end = NULL;

	if (!isdigit((unsigned char)word[0])) {
		return 0;
	}
	t->first = strtol(word, &end, 10);
	if (*end == ':') {
		t->last = toupper((unsigned char)end[1]) == 'N' ? -1 : strtol(end + 1, NULL, 10);
		end = toupper((unsigned char)end[1]) == 'N' ? end + 2 : end + 1 + strspn(end + 1, "0123456789");
	}
	if (*end == ':') {
		t->stride = strtol(end + 1, &end, 10);
	}
	return *end == '\0' && t->stride > 0 && (t->last < 0 || t->last >= t->first);
}

static int take_action(const char *word, const char **p, struct vt_trigger *t)
{
	/* clang-format off */
	static const struct { const char *name; int action; } actions[] = {
		{ "traceon", VT_TRACEON }, { "traceoff", VT_TRACEOFF }, { "restore", VT_RESTORE }, { "none", -1 },
		{ "begin_scope", VT_BEGIN_SCOPE }, { "end_scope", VT_END_SCOPE },
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcasecmp(word, actions[i].name)) {
			continue;
		}
		if (actions[i].action < 0) {
			t->n = 0;
			return 1;
		}
		if (t->n == (int)(sizeof(t->action) / sizeof(t->action[0])) ||
			(actions[i].action >= VT_BEGIN_SCOPE && !next_word(p, t->scope[t->n], sizeof(t->scope[0])))) {
			return 0;
		}
		t->action[t->n++] = (enum vt_action)actions[i].action;
		return 1;
	}
	return 0;
}

/* Parses ON, OFF, a level, or skip:level. */
static int take_record(const char *word, struct vt_rule *r)
{
	char *end;
	long a, b;

	if (!strcasecmp(word, "on") || !strcasecmp(word, "true")) {
		r->record = VT_RULE_ON;
		r->level = -1; /* PCTRACE sets it */
		return 1;
	}
	if (!strcasecmp(word, "off") || !strcasecmp(word, "false")) {
		r->record = VT_RULE_OFF;
		return 1;
	}
	if (!isdigit((unsigned char)word[0])) {
		return 0;
	}
	a = strtol(word, &end, 10);
	b = *end == ':' && isdigit((unsigned char)end[1]) ? strtol(end + 1, &end, 10) : -1;
	if (*end || a > 15 || b > 15) {
		return 0;
	}
	r->record = VT_RULE_ON;
	r->skip = b < 0 ? 0 : (int)a;
	r->level = b < 0 ? (int)a : (int)b;
	return 1;
}

static int is_caller(const char *word)
{
	return !strcasecmp(word, "caller");
}

static int take_word(const char *word, const char **p, struct vt_rule *r)
{
	if (!strcasecmp(word, "fold") || !strcasecmp(word, "unfold")) {
		r->fold = tolower((unsigned char)word[0]) == 'f' ? VT_RULE_ON : VT_RULE_OFF;
		return 1;
	}
	if (!strcasecmp(word, "counteron") || !strcasecmp(word, "counteroff")) {
		r->count = tolower((unsigned char)word[8]) == 'n' ? VT_RULE_ON : VT_RULE_OFF;
		return 1;
	}
	if (is_caller(word)) {
		return next_word(p, r->caller, sizeof(r->caller));
	}
	return take_record(word, r);
}

int vt_rule_parse(const char *name, const char *text, struct vt_rule *r, char *why, size_t size)
{
	struct vt_trigger *trigger = NULL;
	const char *p = text;
	char word[300];
	int fresh = 0, ranks; /* after "entry": a triplet may follow */

	*r = (struct vt_rule){ .record = VT_RULE_UNSAID, .fold = VT_RULE_UNSAID, .count = VT_RULE_UNSAID, .level = 1 };
	if (!next_word(&p, word, sizeof(word)) || !word[0]) {
		snprintf(why, size, "%s needs a pattern", name);
		return -1;
	}
	snprintf(r->pattern, sizeof(r->pattern), "%s%.280s%s", strcasecmp(name, "SYMBOL") ? "" : "**:", word,
		strcasecmp(name, "ACTIVITY") ? "" : ":*");
	while (next_word(&p, word, sizeof(word))) {
		if (!strcasecmp(word, "entry") || !strcasecmp(word, "exit")) {
			trigger = tolower((unsigned char)word[1]) == 'n' ? &r->entry : &r->exit;
			*trigger = (struct vt_trigger){ .last = -1, .stride = 1 };
			fresh = 1;
			continue;
		}
		ranks = fresh && isdigit((unsigned char)word[0]);
		if (trigger && (ranks ? take_triplet(word, trigger) : take_action(word, &p, trigger))) {
			fresh = 0;
			continue;
		}
		if (ranks || !take_word(word, &p, r)) {
			snprintf(why, size, "%s %s: %s", name, text, is_caller(word) ? "a pattern must follow " : "");
			snprintf(why + strlen(why), size - strlen(why), "'%s'%s", word,
				is_caller(word) ? ""
					: ranks ? " is no triplet of ranks START[:STOP[:STEP]]"
						: " is none of ON, OFF, a level, SKIP:LEVEL, ENTRY, EXIT, COUNTERON, "
						  "COUNTEROFF, FOLD, UNFOLD, CALLER");
			return -1;
		}
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses and matches the rules STATE, SYMBOL and ACTIVITY. */
#include "config.h"
#include "collector-plugin/settings/rule.h"

#include <ctype.h>
#include <limits.h>
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
	int negated = *p == '!' || *p == '^', found = 0;
	const char *first = p += negated;

	for (; *p && (*p != ']' || p == first); p++) {
		if (p[1] == '-' && p[2] && p[2] != ']') {
			found |= lower(c) >= lower(p[0]) && lower(c) <= lower(p[2]);
			p += 2;
		} else {
			found |= lower(*p) == lower(c);
		}
	}
	*end = *p ? p + 1 : NULL;
	return found != negated;
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

#define BLANKS " \t\r\n"

/* Copies the next word, without its quotes, to `word`. Returns 0 if there is none, or if it is longer than that. */
static int next_rule_word(const char **p, char *word, size_t size)
{
	size_t n = 0;
	char quote = 0;

	*p += strspn(*p, BLANKS);
	if (!**p) {
		return 0;
	}
	for (; **p && (quote || !strchr(BLANKS, **p)); ++*p) {
		if (**p == '"') {
			quote = !quote;
		} else if (n < size) {
			word[n++] = **p;
		}
	}
	word[n < size ? n : 0] = '\0';
	return n < size;
}

/* Parses FIRST[:LAST[:STEP]][,...]; a last rank that is left out is the end. */
static int take_ranks(const char *word, struct vt_trigger *t)
{
	size_t n;

	for (t->n_ranks = 0; t->n_ranks < (int)(sizeof(t->ranks) / sizeof(t->ranks[0])); word += n + 1) {
		struct tkm_triplet *r = &t->ranks[t->n_ranks++];

		n = strcspn(word, ",");
		if (tkm_parse_triplet(word, n, r) < 0) {
			return 0;
		}
		r->last = memchr(word, ':', n) ? r->last : LLONG_MAX;
		if (!word[n]) {
			return 1;
		}
	}
	return 0;
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
			(actions[i].action >= VT_BEGIN_SCOPE &&
				!next_rule_word(p, t->scope[t->n], sizeof(t->scope[0])))) {
			return 0;
		}
		t->action[t->n++] = (enum vt_action)actions[i].action;
		return 1;
	}
	return 0;
}

int vt_rule_levels(const char *text, int *skip, int *level)
{
	char *end;
	unsigned long a = strtoul(text, &end, 10), b = a;

	if (!isdigit((unsigned char)*text)) {
		return -1;
	}
	if (*end == ':' && isdigit((unsigned char)end[1])) {
		b = strtoul(end + 1, &end, 10);
	} else {
		a = 0;
	}
	if (*end || a > 15 || b > 15) {
		return -1;
	}
	*skip = (int)a;
	*level = (int)b;
	return 0;
}

/* Parses ON, OFF, a level, or skip:level. */
static int take_record(const char *word, struct vt_rule *r)
{
	int on = 1;

	if (tkm_parse_bool(word, &on) == 0) {
		r->level = on ? -1 : r->level; /* -1: PCTRACE sets it */
	} else if (vt_rule_levels(word, &r->skip, &r->level) < 0) {
		return 0;
	}
	r->record = on ? VT_RULE_ON : VT_RULE_OFF;
	return 1;
}

static int take_word(const char *word, struct vt_rule *r)
{
	if (!strcasecmp(word, "fold") || !strcasecmp(word, "unfold")) {
		r->fold = tolower((unsigned char)word[0]) == 'f' ? VT_RULE_ON : VT_RULE_OFF;
		return 1;
	}
	if (!strcasecmp(word, "counteron") || !strcasecmp(word, "counteroff")) {
		r->count = tolower((unsigned char)word[8]) == 'n' ? VT_RULE_ON : VT_RULE_OFF;
		return 1;
	}
	return take_record(word, r);
}

/* No "class:name" matches a pattern without a colon. */
static int matches_nothing(const char *pattern)
{
	return !strpbrk(pattern, ":[") && !strstr(pattern, "**");
}

static const char no_rule[] =
	"is none of ON, OFF, a level, SKIP:LEVEL, ENTRY, EXIT, COUNTERON, COUNTEROFF, FOLD, UNFOLD, CALLER";

/* Takes the words after the pattern. Returns NULL, or what is wrong with `word`, where *p then is. */
static const char *take_words(const char **p, struct vt_rule *r, char *word, size_t size)
{
	struct vt_trigger *trigger = NULL;
	const char *begin;
	int fresh = 0, ranks; /* after "entry": a triplet may follow */

	for (begin = *p; next_rule_word(p, word, size); begin = *p) {
		if (!strcasecmp(word, "entry") || !strcasecmp(word, "exit")) {
			trigger = tolower((unsigned char)word[1]) == 'n' ? &r->entry : &r->exit;
			*trigger = (struct vt_trigger){ .n_ranks = 1, .ranks = { { 0, LLONG_MAX, 1 } } };
			fresh = 1;
			continue;
		}
		ranks = fresh && isdigit((unsigned char)word[0]);
		if (trigger && (ranks ? take_ranks(word, trigger) : take_action(word, p, trigger))) {
			fresh = 0;
		} else if (ranks) {
			return "is no list of triplets of ranks START[:STOP[:STEP]]";
		} else if (!strcasecmp(word, "caller")) {
			if (!next_rule_word(p, r->caller, sizeof(r->caller)) || matches_nothing(r->caller)) {
				return "must be followed by a pattern of CLASS:NAME";
			}
		} else if (fresh) {
			return "is no action";
		} else if (!take_word(word, r)) {
			*p = begin;
			return no_rule;
		}
	}
	return fresh ? "must be followed by an action" : NULL;
}

int vt_rule_parse(const char *name, const char *text, struct vt_rule *r, const char **rest, char *why, size_t size)
{
	const char *p = text, *begin, *wrong;
	char word[280];

	*r = (struct vt_rule){ .record = VT_RULE_UNSAID, .fold = VT_RULE_UNSAID, .count = VT_RULE_UNSAID, .level = 1 };
	if (!next_rule_word(&p, word, sizeof(word)) || !word[0]) {
		snprintf(why, size, "%s needs a pattern", name);
		return -1;
	}
	/* "* OFF MPI:* ON" is an example of the guide, section 2.4.2 */
	snprintf(r->pattern, sizeof(r->pattern), "%s%s%s",
		strcasecmp(name, "SYMBOL") ? "" : "**:", strcasecmp(name, "STATE") || strcmp(word, "*") ? word : "**",
		strcasecmp(name, "ACTIVITY") ? "" : ":*");
	begin = p += strspn(p, BLANKS);
	if (matches_nothing(r->pattern)) {
		wrong = "matches nothing: names are CLASS:NAME";
	} else if (!*p) {
		wrong = "is without a rule";
	} else {
		wrong = take_words(&p, r, word, sizeof(word));
	}
	if (wrong && (!rest || wrong != no_rule || p == begin)) {
		snprintf(why, size, "%s %.150s: '%.60s' %s", name, text, word, wrong);
		return -1;
	}
	if (rest) {
		*rest = p;
	}
	return 0;
}

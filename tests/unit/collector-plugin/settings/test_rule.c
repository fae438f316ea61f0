/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules: their patterns, their words, and lines that are refused. */
#include "config.h"
#include "base/bytes.h"
#include "collector-plugin/settings/rule.c"
#include "collector-plugin/settings/rule.h"
#include "tests/lib/check.h"
#include "tests/lib/heap.h"

static void patterns(void)
{
	static const struct {
		const char *pattern, *text;
		int want;
	} all[] = { { "a:b", "a:b", 1 }, { "a:b", "A:B", 1 }, { "A:b", "a:bc", 0 }, { "a:bc", "a:b", 0 }, { "", "", 1 },
		{ "", "a", 0 }, { "*", "", 1 }, { "*", "abc", 1 }, { "*", "a:b", 0 }, { "**", "a:b", 1 },
		{ "**", "", 1 }, { "*:b", "a:b", 1 }, { "*:b", "a:c:b", 0 }, { "**:b", "a:c:b", 1 }, { "**:b", "b", 0 },
		{ "a*c", "abbc", 1 }, { "a*c", "a:c", 0 }, { "a**c", "a:c", 1 }, { "a*bc", "abbbc", 1 },
		{ "*a*", "bab", 1 }, { "*a*", "bbb", 0 }, { "a*", "b", 0 }, { "?", "a", 1 }, { "?", ":", 0 },
		{ "?", "", 0 }, { "a?c", "abc", 1 }, { "a?c", "ac", 0 }, { "[abc]", "b", 1 }, { "[abc]", "B", 1 },
		{ "[abc]", "d", 0 }, { "[a-c]x", "bx", 1 }, { "[a-c]x", "cx", 1 }, { "[a-c]x", "dx", 0 },
		{ "[a-c]", "A", 1 }, { "[!a-c]", "d", 1 }, { "[!a-c]", "b", 0 }, { "[^a]", "b", 1 }, { "[^a]", "a", 0 },
		{ "[]a]", "]", 1 }, { "[]a]", "a", 1 }, { "[]a]", "b", 0 }, { "[!]]", "]", 0 }, { "[!]]", "a", 1 },
		{ "[a-]", "-", 1 }, { "[a-]", "b", 0 }, { "[ab", "[ab", 1 }, { "[ab", "a", 0 },
		{ "x[0-9][0-9]", "x42", 1 }, { "x[0-9][0-9]", "x4", 0 }, { "x[0-9]*", "x4y", 1 },
		{ "MPI:*", "MPI:MPI_Send", 1 }, { "MPI:*", "MPIX:f", 0 } };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CHECK(vt_rule_match(all[i].pattern, all[i].text) == all[i].want, "%s, %s", all[i].pattern, all[i].text);
	}
	CHECK(vt_rule_name("state") && vt_rule_name("SYMBOL") && vt_rule_name("Activity") && !vt_rule_name("STATES"),
		"names");
}

static struct vt_rule rule(const char *name, const char *text)
{
	struct vt_rule r;
	char why[400] = "";

	CHECK(vt_rule_parse(name, text, &r, NULL, why, sizeof(why)) == 0, "%s %s: %s", name, text, why);
	return r;
}

static int ranks_are(const struct vt_trigger *t, int i, long long first, long long last, long long step)
{
	return t->ranks[i].first == first && t->ranks[i].last == last && t->ranks[i].step == step;
}

static void words(void)
{
	struct vt_rule r = rule("STATE", "  a:b\tON");

	CHECK_STR(r.pattern, "a:b");
	CHECK(r.record == VT_RULE_ON && r.level == -1 && r.skip == 0 && r.fold == VT_RULE_UNSAID &&
			r.count == VT_RULE_UNSAID && !r.caller[0] && !r.entry.n_ranks && !r.exit.n_ranks,
		"ON");
	r = rule("SYMBOL", "main off");
	CHECK_STR(r.pattern, "**:main");
	CHECK_INT(r.record, VT_RULE_OFF);
	r = rule("ACTIVITY", "\"a class\" false");
	CHECK_STR(r.pattern, "a class:*");
	CHECK_INT(r.record, VT_RULE_OFF);
	r = rule("STATE", "x:* 7");
	CHECK(r.record == VT_RULE_ON && r.level == 7 && r.skip == 0, "%d, %d", r.level, r.skip);
	r = rule("STATE", "a:x 2:15");
	CHECK(r.record == VT_RULE_ON && r.level == 15 && r.skip == 2, "%d, %d", r.level, r.skip);
	r = rule("STATE", "a:x FOLD COUNTEROFF");
	CHECK(r.record == VT_RULE_UNSAID && r.fold == VT_RULE_ON && r.count == VT_RULE_OFF, "%d, %d", r.fold, r.count);
	r = rule("STATE", "a:x unfold counteron caller \"b:y z\" true");
	CHECK(r.record == VT_RULE_ON && r.fold == VT_RULE_OFF && r.count == VT_RULE_ON, "%d, %d", r.fold, r.count);
	CHECK_STR(r.caller, "b:y z");
	r = rule("STATE", "a:x ENTRY 1:5:2 traceon restore EXIT traceoff");
	CHECK(r.entry.n == 2 && r.entry.action[0] == VT_TRACEON && r.entry.action[1] == VT_RESTORE &&
			r.entry.n_ranks == 1 && ranks_are(&r.entry, 0, 1, 5, 2),
		"entry: %d", r.entry.n);
	CHECK(r.exit.n == 1 && r.exit.action[0] == VT_TRACEOFF && r.exit.n_ranks == 1 &&
			ranks_are(&r.exit, 0, 0, LLONG_MAX, 1),
		"exit: %d", r.exit.n);
	r = rule("STATE", "a:x entry 3:N begin_scope \"in x\" end_scope other on");
	CHECK(r.entry.n == 2 && ranks_are(&r.entry, 0, 3, LLONG_MAX, 1) && r.record == VT_RULE_ON, "%d", r.entry.n);
	CHECK_STR(r.entry.scope[0], "in x");
	CHECK_STR(r.entry.scope[1], "other");
	r = rule("STATE", "a:x exit 0:n:4 traceon none");
	CHECK(r.exit.n == 0 && ranks_are(&r.exit, 0, 0, LLONG_MAX, 4), "%d", r.exit.n);
	r = rule("STATE", "a:x entry 2 traceoff 4");
	CHECK(ranks_are(&r.entry, 0, 2, LLONG_MAX, 1) && r.level == 4, "a level after an action");
	r = rule("STATE", "a:x entry 1:1,7,0:N:2 traceoff");
	CHECK(r.entry.n_ranks == 3 && ranks_are(&r.entry, 0, 1, 1, 1) && ranks_are(&r.entry, 1, 7, LLONG_MAX, 1) &&
			ranks_are(&r.entry, 2, 0, LLONG_MAX, 2),
		"several triplets: %d", r.entry.n_ranks);
	r = rule("STATE", "* OFF");
	CHECK_STR(r.pattern, "**");
}

static void lines_that_are_refused(void)
{
	static const struct {
		const char *text, *says;
	} all[] = { { "", "needs a pattern" }, { "\"\"", "needs a pattern" }, { "a:x maybe", "'maybe' is none of" },
		{ "a:x 16", "'16'" }, { "a:x 1:16", "'1:16'" }, { "a:x 16:1", "'16:1'" }, { "a:x 3:", "'3:'" },
		{ "a:x 3x", "'3x'" }, { "a:x caller", "'caller' must be followed" },
		{ "a:x off caller main", "'caller' must be followed" }, { "a:x", "'a:x' is without a rule" },
		{ "main off", "'main' matches nothing" }, { "m?in* off", "'m?in*' matches nothing" },
		{ "a:x entry 5:2 traceon", "'5:2' is no list of triplets" },
		{ "a:x entry 1:2:0 traceon", "'1:2:0' is no list of triplets" },
		{ "a:x entry 1:2:3:4", "no list of triplets" }, { "a:x entry 1,,2 traceoff", "'1,,2' is no list" },
		{ "a:x entry 1, traceoff", "'1,' is no list" },
		{ "a:x entry 1,2,3,4,5,6,7,8,9 traceoff", "is no list" }, { "a:x off b:y off", "'b:y' is none of" },
		{ "a:x entry begin_scope", "'begin_scope' is no action" }, { "a:x entry on", "'on' is no action" },
		{ "a:x exit", "'exit' must be followed" },
		{ "a:x entry traceon traceon traceon traceon traceon", "'traceon'" } };
	struct vt_rule r;
	char why[400];
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		why[0] = '\0';
		CHECK(vt_rule_parse("STATE", all[i].text, &r, NULL, why, sizeof(why)) < 0 && strstr(why, all[i].says),
			"%s: %s", all[i].text, why);
	}
}

/* In a variable another pattern may follow; a wrong word without a rule before it is wrong there, too. */
static void several_patterns(void)
{
	static const char text[] = "* OFF MPI:* ON";
	const char *rest = NULL;
	struct vt_rule r;
	char why[400] = "";

	CHECK(vt_rule_parse("STATE", text, &r, &rest, why, sizeof(why)) == 0 && r.record == VT_RULE_OFF, "%s", why);
	CHECK(rest == text + 5, "%s", rest);
	CHECK(vt_rule_parse("STATE", rest, &r, &rest, why, sizeof(why)) == 0 && r.record == VT_RULE_ON && !*rest, "%s",
		why);
	CHECK_STR(r.pattern, "MPI:*");
	CHECK(vt_rule_parse("STATE", "a:b maybe on", &r, &rest, why, sizeof(why)) < 0, "%s", rest);
}

/* A name that does not fit is not cut: the rule would be one for other functions. */
static void long_names(void)
{
	char text[700], why[400] = "";
	struct vt_rule r;

	memset(text, 'x', sizeof(text));
	memcpy(text, "a:", 2);
	strcpy(text + 500, " off");
	CHECK(vt_rule_parse("STATE", text, &r, NULL, why, sizeof(why)) < 0 && strstr(why, "needs a pattern"), "%s",
		why);
	strcpy(text + 100, " off");
	CHECK(vt_rule_parse("STATE", text, &r, NULL, why, sizeof(why)) == 0 && strlen(r.pattern) == 100, "%s", why);
	memcpy(text, "a:b entry begin_scope ", 22);
	memset(text + 22, 'x', 200);
	strcpy(text + 222, " off");
	CHECK(vt_rule_parse("STATE", text, &r, NULL, why, sizeof(why)) < 0 && strstr(why, "'begin_scope'"), "%s", why);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(patterns);
	RUN(words);
	RUN(lines_that_are_refused);
	RUN(several_patterns);
	RUN(long_names);
	return check_end();
}

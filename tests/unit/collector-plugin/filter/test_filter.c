/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines STATE, SYMBOL and ACTIVITY: which names a pattern matches, what a line's words mean, and what several lines decide of a function
 * (Intel Trace Collector guide, sections 2.5.2 and 2.12). */
#include "config.h"
#include "collector-plugin/filter/filter.c"
#include "collector-plugin/settings/rule.c"

#include "tests/lib/check.h"
#include "tests/lib/heap.h"

static const char *internal_mpi;

/* In place of the options' table: only INTERNAL-MPI is asked for. */
const char *vt_settings_other(const struct vt_settings *s, const char *name)
{
	(void)s;
	return strcmp(name, "INTERNAL-MPI") ? NULL : internal_mpi;
}

/* In place of the collector's messages: they are counted. */
static int said;

void vt_say(int level, const char *kind, const char *fmt, ...)
{
	CHECK(level == 1 && !strcmp(kind, "WARNING") && strstr(fmt, "more than"), "%d %s %s", level, kind, fmt);
	said++;
}

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

/* Starts the filter with lines in the order of the file; each is "NAME rest". */
static void start(const char *const *line, size_t n)
{
	static struct vt_setting_other other[40];
	static char name[40][20];
	struct vt_settings s = { .others = NULL };
	size_t i, k;

	for (i = 0; i < n; i++) {
		k = strcspn(line[i], " ");
		snprintf(name[i], sizeof(name[i]), "%.*s", (int)k, line[i]);
		/* the settings have the last line first */
		other[i] = (struct vt_setting_other){
			.next = s.others, .name = name[i], .text = (char *)(uintptr_t)line[i] + k
		};
		s.others = &other[i];
	}
	vt_filter_start(&s);
}
#define START(...) \
	start((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static struct vt_verdict of(const char *class_name, const char *name)
{
	struct vt_verdict v;

	vt_filter_decide(class_name, name, &v);
	return v;
}

static void without_lines(void)
{
	struct vt_verdict v;

	start(NULL, 0);
	CHECK(!vt_filter_any() && !vt_filter_context(), "no lines");
	v = of("A", "f");
	CHECK(v.record == 1 && v.fold == -1 && v.count == 1 && v.level == -1 && !v.callers && !v.caller_bit &&
			!v.entry && !v.exit,
		"f");
	CHECK_INT(of("SYSTEM", "read").record, 0);
	START("COUNTER x on");
	CHECK(!vt_filter_any(), "another option");
}

static void the_last_line_that_matches_decides(void)
{
	struct vt_verdict v;

	START("STATE **:* OFF", "STATE A:* 3", "SYMBOL g OFF", "STATE A:h COUNTEROFF", "STATE SYSTEM:write ON",
		"STATE A:broken nonsense");
	CHECK(vt_filter_any() && !vt_filter_context(), "lines");
	CHECK_INT(of("B", "f").record, 0);
	v = of("A", "f");
	CHECK(v.record == 1 && v.level == 3 && v.count == 1, "%d, %d", v.record, v.level);
	CHECK_INT(of("A", "g").record, 0);
	v = of("A", "h");
	CHECK(v.record == 1 && v.count == 0 && v.level == 3, "%d, %d", v.record, v.count);
	CHECK(of("SYSTEM", "write").record == 1 && of("SYSTEM", "read").record == 0, "SYSTEM");
	CHECK_INT(of("A", "broken").record, 1);
	START("STATE A:f ON ENTRY traceon EXIT 1 traceoff", "STATE A:f 2:5");
	v = of("A", "f");
	CHECK(v.entry && v.exit && v.entry->action[0] == VT_TRACEON && v.exit->ranks[0].first == 1 && v.level == 5 &&
			v.skip == 2,
		"triggers");
	CHECK(!of("A", "g").entry, "another function");
}

static void callers(void)
{
	struct vt_verdict v, main_v;

	START("STATE lib:* ON CALLER app:main", "STATE lib:slow OFF CALLER **:loop", "STATE app:x FOLD");
	CHECK(vt_filter_any() && vt_filter_context(), "context");
	main_v = of("app", "main");
	CHECK(main_v.callers == VT_FILTER_FIRST_CALLER && main_v.record == 1, "%x", main_v.callers);
	CHECK_INT(of("app", "loop").callers, VT_FILTER_FIRST_CALLER << 1);
	CHECK_INT(of("app", "other").callers, 0);
	v = of("lib", "quick");
	CHECK(v.caller_bit == main_v.callers && v.called_record == 1 && v.called_fold == -1 && v.record == 0,
		"only where main calls it");
	v = of("lib", "slow");
	CHECK(v.caller_bit == VT_FILTER_FIRST_CALLER << 1 && v.called_record == 0, "%x, %d", v.caller_bit,
		v.called_record);
	v = of("app", "x");
	CHECK(v.fold == 1 && v.record == 1 && v.caller_bit == 0, "%d", v.fold);
	START("STATE lib:f UNFOLD CALLER app:*", "STATE lib:g FOLD CALLER app:*", "STATE lib:g ON");
	v = of("lib", "f");
	CHECK(v.record == 1 && v.called_record == 1 && v.called_fold == 0 && v.fold == -1 &&
			v.caller_bit == VT_FILTER_FIRST_CALLER,
		"folding of others stays as it was: %d, %d", v.record, v.called_fold);
	CHECK_INT(of("lib", "g").caller_bit, 0);
	CHECK_INT(of("app", "f").callers, VT_FILTER_FIRST_CALLER);
}

static void at_most_sixteen_callers(void)
{
	static char text[20][40];
	const char *line[20];
	int i;

	for (i = 0; i < 20; i++) {
		snprintf(text[i], sizeof(text[i]), "STATE :f%d ON CALLER :c%d", i, i);
		line[i] = text[i];
	}
	said = 0;
	start(line, 20);
	CHECK_INT(said, 4);
	CHECK(of("", "f15").caller_bit && !of("", "f15").record, "the sixteenth caller");
	CHECK(!of("", "f16").caller_bit && of("", "f16").record, "a line that is left out rejects nothing");
	CHECK_INT(of("", "f").caller_bit, 0);
	for (i = 0; i < 20; i++) {
		CHECK_INT(caller_bit(line[i] + strlen(line[i]) - (i < 10 ? 3 : 4)),
			i < 16 ? (uint32_t)VT_FILTER_FIRST_CALLER << i : 0);
	}
	CHECK_INT(filter.n_callers, VT_FILTER_CALLERS);
}

static void without_what_is_inside_mpi(void)
{
	internal_mpi = "off";
	start(NULL, 0);
	CHECK(vt_filter_any() && vt_filter_context() && of("MPI", "MPI_Send").fold == 1 && of("A", "f").fold == -1,
		"INTERNAL-MPI off");
	START("STATE MPI:MPI_Send UNFOLD");
	CHECK(of("MPI", "MPI_Send").fold == 0 && of("MPI", "MPI_Recv").fold == 1, "a line decides after it");
	internal_mpi = "on";
	start(NULL, 0);
	CHECK(!vt_filter_any(), "INTERNAL-MPI on");
	internal_mpi = NULL;
}

#if HEAP_IS_COUNTED
/* The function is recorded then, as without lines. */
static void without_memory_for_a_name(void)
{
	struct vt_verdict v;

	heap_fails = heap_asked + 1;
	vt_filter_decide("a class", "function", &v);
	CHECK(heap_asked == heap_fails, "%ld allocations, not 1", heap_asked - heap_fails + 1);
	heap_fails = 0;
	CHECK(v.record == 1 && v.fold == -1 && v.count == 1 && v.level == -1, "%d, %d, %d, %d", v.record, v.fold,
		v.count, v.level);
}
#endif

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(patterns);
	RUN(words);
	RUN(lines_that_are_refused);
	RUN(several_patterns);
	RUN(long_names);
	RUN(without_lines);
	RUN(the_last_line_that_matches_decides);
	RUN(callers);
	RUN(at_most_sixteen_callers);
	RUN(without_what_is_inside_mpi);
#if HEAP_IS_COUNTED
	RUN(without_memory_for_a_name);
#else
	SKIP("without_memory_for_a_name", HEAP_WHY);
#endif
	return check_end();
}

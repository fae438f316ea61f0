/* SPDX-License-Identifier: BSD-3-Clause */
/* The wildcards with which counters are chosen. */
#include "config.h"
#include "base/text/glob.h"

#include <string.h>

#include "tests/lib/check.h"

static void wildcards_of_the_guide(void)
{
	static const struct {
		const char *pattern, *name;
		int match;
		/* clang-format off */
	} t[] = {
		{ "cpu_idle", "cpu_idle", 1 }, { "cpu_idle", "cpu_idle:cpu0", 0 }, { "cpu_*", "cpu_idle", 1 },
		{ "cpu_*", "cpu_idle:cpu0", 0 }, { "cpu_**", "cpu_idle:cpu0", 1 }, { "**", "a:b::c", 1 }, { "*", "a:b", 0 },
		{ "*", "", 1 }, { "**", "", 1 }, { "", "", 1 }, { "", "a", 0 }, { "?", ":", 0 }, { "?", "a", 1 },
		{ "*:*", "a:b", 1 }, { "*:*", "a:b:c", 0 }, { "*:**", "a:b:c", 1 }, { "**:c", "a:b:c", 1 }, { "[a-c]x", "bx", 1 },
		{ "[!a-c]x", "bx", 0 }, { "[!a-c]x", ":x", 0 }, { "[]]", "]", 1 }, { "[", "[", 1 }, { "\\*", "*", 1 },
		{ "\\*", "a", 0 }, { "a*b*c", "aXbXbXc", 1 }, { "a*b*c", "aXb:bXc", 0 }, { "**a*b", "x:aa:aab", 1 },
		{ "**x*y:z", "x:xqy:z", 1 }, { "*aab", "aaaab", 1 }, { "CPU_*", "cpu_idle", 1 },
		{ "papi_TOT_ins", "PAPI_TOT_INS", 1 }, { "[A-C]x", "bX", 1 }, { "[!A-C]x", "bX", 0 }, { "\\A", "a", 1 }, { "net_[rt]x:*", "net_tx:eth0", 1 },
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		CHECK(tkm_glob_match(t[i].pattern, t[i].name) == t[i].match, "\"%s\" and \"%s\"", t[i].pattern,
			t[i].name);
	}
	CHECK_INT(tkm_glob_may_match("cpu_*", "cpu_"), 1);
	CHECK_INT(tkm_glob_may_match("c*", "cpu_"), 1);
	CHECK_INT(tkm_glob_may_match("disk_io", "cpu_"), 0);
	CHECK_INT(tkm_glob_may_match("CPU_idle", "cpu_"), 1);
	CHECK_INT(tkm_glob_may_match("cpu", "cpu_"), 0);
}

/* Against the plain recursive definition, on random short texts. */
static int slow_match(const char *p, const char *s)
{
	if (p[0] == '*' && p[1] == '*') {
		return slow_match(p + 2, s) || (*s && slow_match(p, s + 1));
	}
	if (*p == '*') {
		return slow_match(p + 1, s) || (*s && *s != ':' && slow_match(p, s + 1));
	}
	if (!*p || !*s) {
		return !*p && !*s;
	}
	return (*p == '?' ? *s != ':' : *p == *s) && slow_match(p + 1, s + 1);
}

static void matching_is_what_its_definition_says(void)
{
	char p[8], s[10];
	int i, k, n;

	for (i = 0; i < 20000 * check_times; i++) {
		n = (int)(check_random() % 7);
		for (k = 0; k < n; k++) {
			p[k] = "ab:**?"[check_random() % 6];
		}
		p[n] = '\0';
		n = (int)(check_random() % 9);
		for (k = 0; k < n; k++) {
			s[k] = "ab:"[check_random() % 3];
		}
		s[n] = '\0';
		CHECK(tkm_glob_match(p, s) == slow_match(p, s), "\"%s\" and \"%s\"", p, s);
	}
}

static void a_rule_is_a_pattern_and_on_or_off(void)
{
	struct tkm_glob_rule r;
	struct tkm_err err;

	CHECK(tkm_glob_rule_parse("COUNTER", "cpu_* maybe", &r, &err) < 0 && strstr(err.text, "COUNTER cpu_*") &&
			strstr(err.text, "maybe"),
		"%s", err.text);
	CHECK(tkm_glob_rule_parse("COUNTER", "", &r, &err) < 0, "an empty rule");
	CHECK(tkm_glob_rule_parse("COUNTER", "cpu_*", &r, &err) == 0 && r.on && !strcmp(r.pattern, "cpu_*"), "%s",
		r.pattern);
	CHECK(tkm_glob_rule_parse("COUNTER", "cpu_*  OFF", &r, NULL) == 0 && !r.on, "%s", r.pattern);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(wildcards_of_the_guide);
	RUN(matching_is_what_its_definition_says);
	RUN(a_rule_is_a_pattern_and_on_or_off);
	return check_end();
}

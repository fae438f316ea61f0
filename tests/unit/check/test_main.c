/* SPDX-License-Identifier: BSD-3-Clause */
/* A check is asked for by its options. */
#include "config.h"
#include "check/main.h"
#include "tests/lib/check.h"

static int is_check(const char *one, const char *two, const char *three)
{
	char name[] = "timertest",
	     *argv[] = { name, (char *)(uintptr_t)one, (char *)(uintptr_t)two, (char *)(uintptr_t)three, NULL };
	int argc = 1;

	while (argv[argc]) {
		argc++;
	}
	return chk_asked(argc, argv);
}

static void a_check_is_asked_for_by_its_options(void)
{
	CHECK(!is_check(NULL, NULL, NULL) && !is_check("-o", "file", NULL), "other options");
	CHECK(is_check("--check", NULL, NULL) && is_check("-q", "--CHECK=1", NULL) &&
			is_check("a", "b", "--fingerprint") && is_check("--taskprolog", "--", NULL),
		"options of a check");
	CHECK(!is_check("--checks", "--chec", "check") && !is_check("--", "--check", NULL), "arguments");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_check_is_asked_for_by_its_options);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the names that a program defines: numbers in the order of arrival, the same text the same number, from any thread. */
#include "config.h"
#include "collector-plugin/core/names.c"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"

enum { NAMES = 1000 };

static struct vt_names names;

static void numbers_in_order(void)
{
	char key[20];
	int fresh, i;

	CHECK(!vt_names_any() && vt_names_count(&names) == 0 && !vt_names_text(&names, 1), "an empty table");
	for (i = 1; i <= NAMES; i++) {
		snprintf(key, sizeof(key), "name %d", i);
		CHECK(vt_names_number(&names, key, &fresh) == (uint32_t)i && fresh, "%s is new", key);
		CHECK_INT(vt_names_count(&names), i);
	}
	CHECK(vt_names_any(), "there are names");
	for (i = 1; i <= NAMES; i++) {
		snprintf(key, sizeof(key), "name %d", i);
		CHECK(vt_names_number(&names, key, &fresh) == (uint32_t)i && !fresh, "%s is known", key);
		CHECK_STR(vt_names_text(&names, (uint32_t)i), key);
	}
	CHECK_INT(vt_names_count(&names), NAMES);
	CHECK(!vt_names_text(&names, 0) && !vt_names_text(&names, NAMES + 1), "numbers of no name");
}

/* Another thread can take both locks: no call keeps one. */
static void *try_locks(void *arg)
{
	int *held = arg;

	held[0] = vt_lock_try(&tables);
	if (held[0] == 0) {
		vt_unlock(&tables);
	}
	held[1] = vt_lock_try(&defining);
	if (held[1] == 0) {
		vt_unlock(&defining);
	}
	return NULL;
}

static void locks_held(int *held)
{
	pthread_t t;

	held[0] = held[1] = -1;
	CHECK(pthread_create(&t, NULL, try_locks, held) == 0 && pthread_join(t, NULL) == 0, "a thread");
}

static void no_lock_stays(void)
{
	int held[2], fresh;

	vt_names_number(&names, "name 1", &fresh);
	locks_held(held);
	CHECK(held[0] == 0 && held[1] == 0, "after a number: %d %d", held[0], held[1]);
	vt_names_count(&names);
	locks_held(held);
	CHECK(held[0] == 0, "after the number of names: %d", held[0]);
	vt_names_text(&names, 1);
	locks_held(held);
	CHECK(held[0] == 0, "after a text: %d", held[0]);
	/* a definition may need another one */
	vt_names_define();
	vt_names_define();
	locks_held(held);
	CHECK(held[0] == 0 && held[1] != 0, "while something is defined: %d %d", held[0], held[1]);
	vt_names_defined();
	locks_held(held);
	CHECK(held[1] != 0, "while the outer one is defined: %d", held[1]);
	vt_names_defined();
	locks_held(held);
	CHECK(held[1] == 0, "after both: %d", held[1]);
}

static void clean_names(void)
{
	static const char *const pairs[][2] = { { "", "" }, { ":", "" }, { "::", "" }, { "A", "A" }, { "A:B", "A:B" },
		{ ":A::B:", "A:B" }, { "A:::B::C::", "A:B:C" } };
	char *clean = vt_clean_name(NULL);
	size_t i;

	CHECK_STR(clean, "");
	free(clean);
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		clean = vt_clean_name(pairs[i][0]);
		CHECK_STR(clean, pairs[i][1]);
		free(clean);
	}
}

/* Both are taken at the moment of a fork, and free after it on both sides. */
static void fork_waits(void)
{
	int held[2], status = 0;
	pid_t pid;

	vt_names_before_fork();
	locks_held(held);
	CHECK(held[0] != 0 && held[1] != 0, "before: %d %d", held[0], held[1]);
	pid = fork();
	if (pid == 0) {
		if (!vt_names_after_fork(1)) {
			_exit(1);
		}
		locks_held(held);
		_exit(held[0] || held[1] ? 2 : 3);
	}
	CHECK_INT(vt_names_after_fork(0), 1);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 3, "child: %x", status);
	locks_held(held);
	CHECK(held[0] == 0 && held[1] == 0, "after: %d %d", held[0], held[1]);
	CHECK_INT(vt_names_after_fork(0), 0);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(numbers_in_order);
	RUN(no_lock_stays);
	RUN(clean_names);
	tkm_table_free(&names.table);
	free(names.key);
	RUN(fork_waits);
	return check_end();
}

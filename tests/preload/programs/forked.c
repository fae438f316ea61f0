/* SPDX-License-Identifier: BSD-3-Clause */
/* For forked.sh: what was defined before fork() is used after it, at once, by the child and by its own child. */
#include <VT.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define PLAIN __attribute__((no_instrument_function))

void before(void);
void after(void);

void before(void)
{
	__asm__ volatile("");
}

void after(void)
{
	__asm__ volatile("");
}

static int function, counter, scope, place;

PLAIN static void work(void)
{
	double v;
	int i, number;

	for (i = 0; i < 50; i++) {
		before();
		after();
		VT_enter(function, place);
		v = i;
		VT_countval(1, &counter, &v);
		VT_scopebegin(scope, VT_NOSCL, &number);
		VT_scopeend(scope, number, VT_NOSCL);
		VT_leave(VT_NOSCL);
	}
}

PLAIN static void in_child(int generations)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		work();
		if (generations > 1) {
			in_child(generations - 1);
		}
		exit(7);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7) {
		printf("child ended with %x\n", status);
		exit(1);
	}
}

PLAIN int main(void)
{
	int class;

	VT_classdef("mine", &class);
	VT_funcdef("by hand", class, &function);
	VT_scldef("forked.c", 11, &place);
	VT_scopedef("scope", class, VT_NOSCL, VT_NOSCL, &scope);
	VT_countdef("my counter", class, VT_COUNT_FLOAT | VT_COUNT_ABSVAL | VT_COUNT_VALID_POINT, VT_GROUP_PROCESS,
		NULL, "1", &counter);
	before();
	in_child(2);
	work();
	return 0;
}

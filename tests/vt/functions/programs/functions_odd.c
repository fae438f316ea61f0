/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with -finstrument-functions: calls that do not end where they began. argv[1]: "tail": functions that end by calling another
 * one, which the compiler may make a jump of, "must" where clang is told to. "fork": a child goes on inside the calls of its parent; it
 * returns from them, or ends by _exit with "fork exit". "windows": calls now and 2.5 s later, inside one that lasts. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN_FROM_TRACE __attribute__((no_instrument_function))
#define APART __attribute__((noinline))
#if defined(__clang__)
#define JUMP __attribute__((musttail)) return
#else
#define JUMP return
#endif

static volatile int sum;

int APART leaf(int n);
int APART ping(int n);
int APART pong(int n);
int APART jump_ping(int n);
int APART jump_pong(int n);

int leaf(int n)
{
	sum += n;
	return sum;
}

int pong(int n)
{
	return n > 0 ? ping(n - 1) : leaf(n);
}

int ping(int n)
{
	return n > 0 ? pong(n - 1) : leaf(n);
}

int jump_pong(int n)
{
	if (n > 0) {
		JUMP jump_ping(n - 1);
	}
	JUMP leaf(n);
}

int jump_ping(int n)
{
	if (n > 0) {
		JUMP jump_pong(n - 1);
	}
	JUMP leaf(n);
}

/* After each of them the stack is that of main. */
static APART void tail(void)
{
	int i;

	for (i = 0; i < 10; i++) {
		ping(9);
		leaf(1);
		jump_ping(9);
		leaf(1);
	}
}

static APART void in_parent(void)
{
	leaf(1);
}

static APART void in_child(void)
{
	leaf(2);
}

static APART int divide(int ends)
{
	int i;
	pid_t pid = fork();

	if (pid == 0) {
		for (i = 0; i < 1000; i++) {
			in_child();
		}
		if (ends) {
			_exit(0);
		}
		return 1;
	}
	waitpid(pid, NULL, 0);
	in_parent();
	return pid < 0;
}

static APART void early(void)
{
	leaf(1);
}

static APART void late(void)
{
	leaf(1);
}

static APART void lasting(void)
{
	const struct timespec nap = { 2, 500000000 };

	early();
	nanosleep(&nap, NULL);
	late();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "tail")) {
		tail();
	} else if (!strcmp(what, "fork")) {
		leaf(1);
		if (divide(argc > 2)) {
			in_child();
			return 0;
		}
		leaf(1);
	} else {
		lasting();
	}
	return 0;
}

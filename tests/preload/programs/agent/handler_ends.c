/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends in a handler that has a stack of 8 KB, the size that SIGSTKSZ long had, as ARGUMENT says; before that the handler calls
 * a function, which is instrumented, for the first time. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define PLAIN __attribute__((no_instrument_function))
static const char *how;
static volatile int calls;

void of_handler(void);
void of_handler(void)
{
	calls++;
}

static void on_signal(int signal)
{
	pid_t child;

	(void)signal;
	of_handler();
	if (!strcmp(how, "exit")) {
		exit(3);
	} else if (!strcmp(how, "quick_exit")) {
		quick_exit(3);
	} else if (!strcmp(how, "fork")) {
		child = fork();
		if (child == 0) {
			of_handler();
			_exit(3);
		}
		while (waitpid(child, NULL, 0) < 0) {
		}
	}
	_exit(3);
}

PLAIN int main(int argc, char **argv)
{
	enum { SIZE = 8192, GUARD = 65536 };
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	char *p = mmap(NULL, SIZE + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = p + GUARD, .ss_size = SIZE };

	how = argc > 1 ? argv[1] : "_exit";
	if (p == MAP_FAILED || mprotect(p, GUARD, PROT_NONE) < 0) {
		return 77;
	}
	if (sigaltstack(&stack, NULL) < 0 || sigaction(SIGUSR1, &a, NULL) < 0) {
		return 77; /* the kernel wants more for a frame alone */
	}
	raise(SIGUSR1);
	return 9;
}

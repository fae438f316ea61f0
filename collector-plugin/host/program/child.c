/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts a child process that shares the caller's memory, and waits for its end. */
#include "config.h"
#include "collector-plugin/host/program/child.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int vt_child_start(int (*child)(void *arg), char *stack_end, void *arg)
{
	sigset_t all, old;
	int pid, error;

	/* no signal handler of the program may run in the memory that both processes share */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = VT_CLONE(child, stack_end, CLONE_VM | CLONE_VFORK, arg);
	error = errno;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = error;
	return pid;
}

int vt_child_wait(int pid)
{
	int status;

	while (waitpid(pid, &status, __WALL) < 0) {
		if (errno != EINTR) {
			return -1;
		}
	}
	return status;
}

void vt_child_signals(void)
{
	struct sigaction plain;
	sigset_t none;
	int i;

	memset(&plain, 0, sizeof(plain));
	plain.sa_handler = SIG_DFL;
	for (i = 1; i < NSIG; i++) {
		sigaction(i, &plain, NULL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void vt_child_environment(char **to, int most)
{
	static const char *const left_out[] = { "LD_PRELOAD=", "LD_AUDIT=", "TICKMARK_RUN=", "VT_", "LC_",
		"LANG=", "ASAN_OPTIONS=", "TICKMARK_CLIENTS=" };
	size_t k;
	int i, n = 0;

	for (i = 0; environ && environ[i] && n < most; i++) {
		for (k = 0; k < sizeof(left_out) / sizeof(*left_out) &&
			strncmp(environ[i], left_out[k], strlen(left_out[k])) != 0;
			k++) {
		}
		if (k == sizeof(left_out) / sizeof(*left_out)) {
			to[n++] = environ[i];
		}
	}
	to[n] = NULL;
}

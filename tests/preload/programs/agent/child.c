/* SPDX-License-Identifier: BSD-3-Clause */
/* How much shared memory a program, its fork and its clone have mapped. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int mapped(void)
{
	char line[4096];
	FILE *f = fopen("/proc/self/maps", "r");
	int n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		n += strstr(line, "rw-s") != NULL;
	}
	return n;
}

int main(void)
{
	int in_fork, in_clone;
	pid_t pid = fork();

	if (pid == 0) {
		_exit(mapped());
	}
	waitpid(pid, &in_fork, 0);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		exit(mapped());
	}
	waitpid(pid, &in_clone, 0);
	printf("%d %d %d\n", mapped() > 0, in_fork, in_clone);
	return 0;
}

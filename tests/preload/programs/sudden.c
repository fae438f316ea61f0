/* SPDX-License-Identifier: BSD-3-Clause */
/* sudden HOW: ends after 0.2 s without exit(), or so that the recording cannot reach anything at its end. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int end_child(void *unused)
{
	(void)unused;
	syscall(SYS_exit_group, 5);
	return 0;
}

/* In a child that shares the memory. */
static void end_of_child(void)
{
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int pid = stack == MAP_FAILED ? -1 : clone(end_child, stack + 65536, CLONE_VM | SIGCHLD, NULL);

	if (pid < 0 || waitpid(pid, NULL, 0) != pid) {
		exit(99);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct rlimit none = { 0, 0 };

	usleep(200000);
	if (!strcmp(how, "group")) {
		syscall(SYS_exit_group, 3);
	} else if (!strcmp(how, "daemon")) {
		return daemon(1, 1) == 0 ? 4 : 99;
	} else if (!strcmp(how, "child")) {
		end_of_child();
		syscall(SYS_exit_group, 3);
	} else if (!strcmp(how, "main")) {
		syscall(SYS_exit, 3);
	} else if (!strcmp(how, "abort")) {
		abort();
	} else if (!strcmp(how, "files")) {
		return setrlimit(RLIMIT_NOFILE, &none) == 0 ? 3 : 99;
	} else if (!strcmp(how, "user")) {
		return setgid(65534) == 0 && setuid(65534) == 0 ? 3 : 99;
	} else {
		raise(atoi(how));
	}
	return 98;
}

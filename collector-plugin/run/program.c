/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program of this installation and waits for it. In an MPI job this happens inside the program: the child has
 * no exit signal and is waited for by its number, so the program sees neither SIGCHLD nor a child to wait for. */
#include "config.h"
#include "collector-plugin/run/program.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector-plugin/host/program/child.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/program/near.h"

enum { STACK_BYTES = 64 << 10, MOST_ENVIRONMENT = 1000, MOST_ARGUMENTS = 16 };

struct child {
	char path[PATH_MAX];
	const char *argv[MOST_ARGUMENTS + 2];
	char *env[MOST_ENVIRONMENT + 1];
	int to;             /* the pipe for what it prints; -1: none */
	_Atomic int failed; /* errno of the exec */
	char stack[STACK_BYTES];
};

/* Runs in the memory of the caller, which is stopped meanwhile: system calls only. */
static int exec_program(void *arg)
{
	struct child *c = arg;
	int i, null;

	vt_child_signals();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* the pipe may have one of the numbers 0 to 2, if the program has closed its own files */
	i = c->to < 0 ? null : fcntl(c->to, F_DUPFD_CLOEXEC, 3);
	if (i >= 0) {
		dup2(i, 1);
	}
	if (i >= 0 && c->to >= 0) {
		dup2(i, 2);
	}
	if (null >= 0) {
		dup2(null, 0);
	}
	execve(c->path, (char *const *)(const void *)c->argv, c->env);
	c->failed = errno;
	syscall(SYS_exit, 127);
	return 127;
}

/* Reads all that the child prints, and keeps the beginning of it. */
static void read_text(int from, char *text, size_t size)
{
	char rest[512];
	size_t n = 0;
	ssize_t k;

	while ((k = n < size - 1 ? read(from, text + n, size - 1 - n) : read(from, rest, sizeof(rest))) > 0 ||
		(k < 0 && errno == EINTR)) {
		n += k > 0 && n < size - 1 ? (size_t)k : 0;
	}
	text[n] = '\0';
}

/* Runs the program. Returns the wait status, or -1 with errno. */
static int run_installed_program(struct child *c, char *text, size_t size)
{
	int status, pid, error, pipes[2] = { -1, -1 };

	if (text && pipe2(pipes, O_CLOEXEC) < 0) {
		return -1;
	}
	c->to = pipes[1];
	pid = vt_child_start(exec_program, c->stack + STACK_BYTES, c);
	error = pid < 0 ? errno : 0;
	if (text) {
		close(pipes[1]);
		read_text(pipes[0], text, size);
		close(pipes[0]);
	}
	status = pid < 0 ? -1 : vt_child_wait(pid);
	error = error ? error : status < 0 ? errno : c->failed;
	errno = error;
	return error ? -1 : status;
}

/* Adds these variables; what finds no room is left out. */
static void add_variables(char **env, const char *const *variables)
{
	int i, n = 0;

	while (env[n]) {
		n++;
	}
	for (i = 0; variables && variables[i] && n < MOST_ENVIRONMENT; i++) {
		env[n++] = (char *)(uintptr_t)variables[i];
	}
	env[n] = NULL;
}

int vt_program_run(
	const char *name, const char *const *arguments, const char *const *variables, char *text, size_t size)
{
	static const char *const folders[] = { "/", "/../", "/../bin/", "/../../bin/" };
	char place[4][64], fallback[PATH_MAX];
	const char *places[5] = { place[0], place[1], place[2], place[3], NULL };
	struct child *c = vt_pages(sizeof(*c));
	Dl_info info;
	int i, status = -1, saved;

	if (!c) {
		errno = ENOMEM;
		return -1;
	}
	for (i = 0; i < 4; i++) {
		snprintf(place[i], sizeof(place[i]), "%s%s", folders[i], name);
	}
	snprintf(fallback, sizeof(fallback), "%s/%s", VT_BINDIR, name);
	if (vt_find_installed_program(dladdr((void *)&vt_program_run, &info) ? info.dli_fname : NULL, places, fallback,
		    c->path, sizeof(c->path)) == 0) {
		c->argv[0] = c->path;
		for (i = 0; arguments[i] && i < MOST_ARGUMENTS; i++) {
			c->argv[i + 1] = arguments[i];
		}
		vt_child_environment(c->env, MOST_ENVIRONMENT);
		add_variables(c->env, variables);
		status = run_installed_program(c, text, size);
	} else {
		errno = ENOENT;
	}
	saved = errno;
	munmap(c, sizeof(*c));
	errno = saved;
	return status;
}

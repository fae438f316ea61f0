/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the sampler process. The caller binds its socket, so that processes can connect before it is ready. The
 * sampler has a session of its own and /dev/null as its three standard files. It is not a child of the program: the
 * process in between has no exit signal, so that the program sees neither SIGCHLD nor a child to wait for. */
#include "config.h"
#include "collector-plugin/attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/host/program/child.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/program/near.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { STACK_BYTES = 64 << 10, MOST_ENVIRONMENT = 1000, LISTENING = 3, PAUSE_NS = 1000000, CONNECT_TRIES = 1000 };

int vt_attach_program(const char *near, char *path, size_t size)
{
	static const char *const places[] = { "/vtsampler", "/../vtsampler", "/../libexec/tickmark/vtsampler",
		"/../../libexec/tickmark/vtsampler", NULL };

	return vt_find_installed_program(near, places, VT_LIBEXECDIR "/vtsampler", path, size);
}

struct start {
	const char *path;
	char *argv[2], *env[MOST_ENVIRONMENT + 1];
	int listening;
	char *stack;
	_Atomic int failed; /* errno of the call that failed */
};

/* exec_vtsampler() and part_from_caller() run in memory that they share with the caller, which is stopped meanwhile:
 * system calls only. */
static int exec_vtsampler(void *arg)
{
	struct start *s = arg;
	int i, null;

	vt_child_signals();
	if (s->listening != LISTENING && dup3(s->listening, LISTENING, 0) < 0) {
		s->failed = errno;
	}
	if (s->listening == LISTENING) {
		fcntl(LISTENING, F_SETFD, 0);
	}
	null = open("/dev/null", O_RDWR);
	for (i = 0; i < 3; i++) {
		if (null < 0) {
			close(i); /* a container without /dev */
		} else if (null != i) {
			dup2(null, i);
		}
	}
	if (syscall(SYS_close_range, (unsigned)LISTENING + 1, ~0u, 0) < 0) {
		for (i = LISTENING + 1; i < 1024; i++) {
			close(i);
		}
	}
	if (chdir("/") == 0 && !s->failed) {
		execve(s->path, s->argv, s->env);
	}
	s->failed = errno ? errno : EINVAL;
	syscall(SYS_exit, 127);
	return 127;
}

static int part_from_caller(void *arg)
{
	struct start *s = arg;

	syscall(SYS_setsid);
	if (VT_CLONE(exec_vtsampler, s->stack + STACK_BYTES / 2, CLONE_VM | CLONE_VFORK, s) < 0) {
		s->failed = errno;
	}
	syscall(SYS_exit, 0);
	return 0;
}

static int clone_vtsampler(struct start *s)
{
	int pid = vt_child_start(part_from_caller, s->stack + STACK_BYTES, s);
	int rc = pid < 0 ? errno : 0;

	if (pid > 0) {
		vt_child_wait(pid);
	}
	return rc ? rc : s->failed;
}

/* Binds the n-th name. A process that starts a sampler binds first and listens then. In between, and while the queue
 * is full, there seems to be no sampler, and a second one would count the node a second time. Therefore this
 * function waits. Returns a descriptor, or -1 with errno: EADDRINUSE: a sampler of this user listens there; EPERM:
 * another user has the name, or does not release it. */
static int bind_one(const char *job, int n)
{
	const struct timespec pause = { 0, PAUSE_NS };
	struct sockaddr_un a;
	int tries, fd;

	for (tries = 0; tries < CONNECT_TRIES; tries++) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0) {
			return -1;
		}
		if (bind(fd, (struct sockaddr *)&a, vt_attach_name(job, n, &a)) == 0 &&
			listen(fd, VT_ATTACH_QUEUE) == 0) {
			return fd;
		}
		close(fd);
		fd = vt_attach_connect_to(job, n);
		if (fd >= 0) {
			close(fd);
			errno = EADDRINUSE;
			return -1;
		}
		if (errno != ECONNREFUSED && errno != EAGAIN) {
			break;
		}
		nanosleep(&pause, NULL);
	}
	errno = EPERM;
	return -1;
}

static int bind_name(const char *job)
{
	int fd = -1, n;

	for (n = 0; n < 8 && fd < 0; n++) {
		fd = bind_one(job, n);
		if (fd < 0 && errno != EPERM) {
			return -1;
		}
	}
	return fd;
}

int vt_attach_start(const char *job, const char *near, struct tkm_err *err)
{
	char path[PATH_MAX];
	struct start *s;
	int rc, taken;

	if (vt_attach_program(near, path, sizeof(path)) < 0) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "there is no %s/vtsampler", VT_LIBEXECDIR);
	}
	s = vt_pages(sizeof(*s) + STACK_BYTES);
	if (!s) {
		return tkm_fail(err, TKM_ERR_NOMEM, "no memory to start the sampler process");
	}
	s->path = path;
	s->argv[0] = path;
	vt_child_environment(s->env, MOST_ENVIRONMENT);
	s->stack = (char *)s + sizeof(*s);
	s->listening = bind_name(job);
	taken = s->listening < 0 && errno == EPERM;
	rc = s->listening < 0 ? errno : clone_vtsampler(s);
	if (s->listening >= 0) {
		close(s->listening);
	}
	munmap(s, sizeof(*s) + STACK_BYTES);
	if (rc == EPERM && taken) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"another user has taken the names of the sampler's socket, @tickmark-%u-0-%s and so on",
			(unsigned)geteuid(), job);
	}
	if (rc && rc != EADDRINUSE) {
		return tkm_fail_errno(err, TKM_ERR_UNAVAIL, rc, "cannot start the sampler process %s", path);
	}
	return 0;
}

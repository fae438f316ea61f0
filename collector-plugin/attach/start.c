/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting the sampler process. The caller binds its socket, so that processes can connect before it is ready. It has a session of
 * its own, /dev/null as its three standard files, and is nobody's child: the process in between has no exit signal, so that the
 * program sees neither SIGCHLD nor a child to wait for. */
#include "config.h"
#include "collector-plugin/attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/near.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { QUEUE = 4096, STACK = 64 << 10, MOST_ENVIRONMENT = 1000, LISTENING = 3 };

extern char **environ;

int vt_attach_program(const char *near, char *path, size_t size)
{
	static const char *const places[] = { "/vtsampler", "/../vtsampler", "/../libexec/tickmark/vtsampler",
		"/../../libexec/tickmark/vtsampler", NULL };

	return vt_near_program(near, places, VT_LIBEXECDIR "/vtsampler", path, size);
}

struct start {
	const char *path;
	char *argv[3], *env[MOST_ENVIRONMENT + 1];
	int listening;
	char *stack;
	_Atomic int failed; /* errno of what did not work */
};

/* What loads something into it, or is meant for the program. */
static int is_left_out(const char *variable)
{
	return !strncmp(variable, "LD_PRELOAD=", 11) || !strncmp(variable, "LD_AUDIT=", 9) ||
		!strncmp(variable, "TICKMARK_RUN=", 13) || !strncmp(variable, "VT_", 3) ||
		!strncmp(variable, "LC_", 3) || !strncmp(variable, "LANG=", 5) ||
		!strncmp(variable, "ASAN_OPTIONS=", 13);
}

/* These two share memory with the caller, which is stopped meanwhile: system calls only. */
static int become(void *arg)
{
	struct start *s = arg;
	struct sigaction plain;
	sigset_t none;
	int i, null;

	memset(&plain, 0, sizeof(plain));
	plain.sa_handler = SIG_DFL;
	for (i = 1; i < NSIG; i++) {
		sigaction(i, &plain, NULL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (s->listening != LISTENING && dup3(s->listening, LISTENING, 0) < 0) {
		s->failed = errno;
	}
	if (s->listening == LISTENING) {
		fcntl(LISTENING, F_SETFD, 0);
	}
	null = open("/dev/null", O_RDWR);
	for (i = 0; i < 3; i++) {
		if (null >= 0 && null != i) {
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
	if (clone(become, s->stack + STACK / 2, CLONE_VM | CLONE_VFORK, s) < 0) {
		s->failed = errno;
	}
	syscall(SYS_exit, 0);
	return 0;
}

static int run(struct start *s)
{
	sigset_t all, old;
	int status, pid, rc;

	/* a handler of the program must not run in the memory that both share */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = clone(part_from_caller, s->stack + STACK, CLONE_VM | CLONE_VFORK, s);
	rc = pid < 0 ? errno : 0;
	while (pid > 0 && waitpid(pid, &status, __WALL) < 0 && errno == EINTR) {
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc ? rc : s->failed;
}

static int bind_name(const char *job)
{
	struct sockaddr_un a;
	int fd, n;

	for (n = 0; n < 8; n++) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0) {
			return -1;
		}
		if (bind(fd, (struct sockaddr *)&a, vt_attach_name(job, n, &a)) == 0 && listen(fd, QUEUE) == 0) {
			return fd;
		}
		close(fd);
		/* one of ours has it, or another user */
		fd = vt_attach_connect(job);
		if (fd >= 0) {
			close(fd);
			errno = EADDRINUSE;
			return -1;
		}
	}
	errno = EPERM;
	return -1;
}

int vt_attach_start(const char *job, const char *near, int prepare, struct tkm_err *err)
{
	char path[PATH_MAX];
	struct start *s;
	int rc, i, n, taken;

	if (vt_attach_program(near, path, sizeof(path)) < 0) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "there is no %s/vtsampler", VT_LIBEXECDIR);
	}
	s = vt_pages(sizeof(*s) + STACK);
	if (!s) {
		return tkm_fail(err, TKM_ERR_NOMEM, "no memory to start the sampler process");
	}
	s->path = path;
	s->argv[0] = path;
	s->argv[1] = prepare ? (char *)(uintptr_t)VT_ATTACH_PREPARE : NULL;
	for (i = n = 0; environ && environ[i] && n < MOST_ENVIRONMENT; i++) {
		if (!is_left_out(environ[i])) {
			s->env[n++] = environ[i];
		}
	}
	s->stack = (char *)s + sizeof(*s);
	s->listening = bind_name(job);
	taken = s->listening < 0 && errno == EPERM;
	rc = s->listening < 0 ? errno : run(s);
	if (s->listening >= 0) {
		close(s->listening);
	}
	munmap(s, sizeof(*s) + STACK);
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

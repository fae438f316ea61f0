/* SPDX-License-Identifier: BSD-3-Clause */
/* REPORT: vtreport makes the pictures of the trace that was just written. In an MPI job that happens inside the program: the child
 * has no exit signal, so the program sees neither SIGCHLD nor a child to wait for. */
#include "config.h"
#include "collector-plugin/run/report.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/near.h"
#include "collector-plugin/host/say.h"

enum { STACK = 64 << 10, MOST_ENVIRONMENT = 1000 };

struct child {
	char path[PATH_MAX];
	const char *argv[4];
	const char *env[MOST_ENVIRONMENT + 1];
	_Atomic int failed; /* errno of the exec */
	char stack[STACK];
};

extern char **environ;

/* Shares memory with the caller, which is stopped meanwhile: system calls only. */
static int become(void *arg)
{
	struct child *c = arg;
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
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, 0);
		dup2(null, 1);
	}
	execve(c->path, (char *const *)(const void *)c->argv, (char *const *)(const void *)c->env);
	c->failed = errno;
	syscall(SYS_exit, 127);
	return 127;
}

/* Returns the wait status, or -1 with errno. */
static int run(struct child *c)
{
	sigset_t all, old;
	int status = 0, rc = 0, pid;

	/* a handler of the program must not run in the memory that both share */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = clone(become, c->stack + STACK, CLONE_VM | CLONE_VFORK, c);
	if (pid < 0) {
		rc = errno;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	while (pid > 0 && waitpid(pid, &status, __WALL) < 0) {
		if (errno != EINTR) {
			rc = errno;
			break;
		}
	}
	rc = rc ? rc : c->failed;
	errno = rc;
	return rc ? -1 : status;
}

static int is_left_out(const char *variable)
{
	return !strncmp(variable, "LD_PRELOAD=", 11) || !strncmp(variable, "LD_AUDIT=", 9) ||
		!strncmp(variable, "TICKMARK_RUN=", 13) || !strncmp(variable, "VT_", 3);
}

static void say_result(const char *trace, int status)
{
	char word[PATH_MAX];

	if (status == 0) {
		vt_say(1, "INFO", "Writing report %.*s.html", (int)(strlen(trace) - 4), trace);
	} else if (status < 0) {
		vt_say(1, "WARNING", "no report: vtreport cannot be run: %s", strerror(errno));
	} else if (WIFSIGNALED(status)) {
		vt_say(1, "WARNING", "no report: vtreport ended by signal %d", WTERMSIG(status));
	} else {
		vt_say(1, "WARNING", "vtreport ended with status %d; to see why, run: vtreport %s", WEXITSTATUS(status),
			tkm_shell_word(word, sizeof(word), trace));
	}
}

void vt_report_make(const char *trace, int force)
{
	static const char *const places[] = { "/vtreport", "/../vtreport", "/../bin/vtreport", "/../../bin/vtreport",
		NULL };
	struct child *child = vt_pages(sizeof(*child));
	Dl_info info;
	int i, n = 0;

	if (!child) {
		vt_say(1, "WARNING", "no report: out of memory");
		return;
	}
	if (vt_near_program(dladdr((void *)&vt_report_make, &info) ? info.dli_fname : NULL, places,
		    VT_BINDIR "/vtreport", child->path, sizeof(child->path)) < 0) {
		vt_say(1, "WARNING", "no report: there is no %s/vtreport", VT_BINDIR);
		munmap(child, sizeof(*child));
		return;
	}
	child->argv[n++] = child->path;
	child->argv[n++] = trace;
	if (force) {
		child->argv[n++] = "--force";
	}
	for (i = n = 0; environ && environ[i] && n < MOST_ENVIRONMENT; i++) {
		if (!is_left_out(environ[i])) {
			child->env[n++] = environ[i];
		}
	}
	say_result(trace, run(child));
	munmap(child, sizeof(*child));
}

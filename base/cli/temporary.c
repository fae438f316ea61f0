/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "base/cli/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/newname.h"

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXCPU };
static char **folder;
static size_t folders;
static int watched;

/* As getdents64() returns it. */
struct entry_of_folder {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* Removes a folder of files by calls that a signal handler may make. */
static void remove_in_handler(const char *path)
{
	_Alignas(struct entry_of_folder) char buf[2048];
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct entry_of_folder *e;
	long n, at;

	while (fd >= 0 && (n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0) {
		for (at = 0; at < n; at += e->length) {
			e = (const struct entry_of_folder *)(const void *)(buf + at);
			unlinkat(fd, e->name, 0);
		}
	}
	if (fd >= 0) {
		close(fd);
	}
	rmdir(path);
}

static void end_program(int sig)
{
	size_t i;

	for (i = 0; i < folders; i++) {
		remove_in_handler(folder[i]);
	}
	signal(sig, SIG_DFL);
	raise(sig);
}

/* A signal that was ignored stays so. */
static void watch_signals(void)
{
	struct sigaction is, to = { .sa_handler = end_program };
	size_t i;

	sigemptyset(&to.sa_mask);
	for (i = 0; !watched && i < sizeof(ending) / sizeof(ending[0]); i++) {
		sigaddset(&to.sa_mask, ending[i]);
	}
	for (i = 0; !watched && i < sizeof(ending) / sizeof(ending[0]); i++) {
		if (sigaction(ending[i], NULL, &is) == 0 && is.sa_handler == SIG_DFL) {
			sigaction(ending[i], &to, NULL);
		}
	}
	watched = 1;
}

/* Holds these signals back while the list changes. */
static void hold_signals(sigset_t *before)
{
	sigset_t s;
	size_t i;

	sigemptyset(&s);
	for (i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		sigaddset(&s, ending[i]);
	}
	sigprocmask(SIG_BLOCK, &s, before);
}

char *tkm_temporary_folder(const char *program, struct tkm_err *err)
{
	const char *where = getenv("TMPDIR");
	char *dir = NULL;
	sigset_t before;

	if (asprintf(&dir, "%s/%s-XXXXXX", where && *where ? where : "/tmp", program) < 0) {
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
		return NULL;
	}
	watch_signals();
	hold_signals(&before);
	if (!mkdtemp(dir)) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot create the folder %s for the trace", dir);
		free(dir);
		dir = NULL;
	} else if (tkm_append_text(&folder, &folders, dir) < 0) {
		rmdir(dir);
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
		free(dir);
		dir = NULL;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return dir;
}

void tkm_temporary_remove(char *dir)
{
	sigset_t before;
	size_t i;

	tkm_remove_tree(dir);
	hold_signals(&before);
	for (i = 0; i < folders && strcmp(folder[i], dir) != 0; i++) {
	}
	if (i < folders) {
		free(folder[i]);
		folder[i] = folder[--folders];
	}
	if (folders == 0) {
		free(folder);
		folder = NULL;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(dir);
}

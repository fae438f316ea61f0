/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a process that a signal ended, which cannot print them itself. They go to its standard error: a terminal
 * is opened again; of a file its own descriptor is kept, because the others who write there share its offset. A pipe is
 * not kept, because its reader would wait for this process. Instead the lines go to the standard error of the process
 * that started it, like mpirun or a shell. */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector-plugin/settings/run_value.h"

static int open_stderr(pid_t pid, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)pid);
	return open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC | flags);
}

/* A file opened anew has an offset of its own, and what others write may come over the lines. */
static int take_file(pid_t pid)
{
	int fd = -1;
#ifdef SYS_pidfd_getfd
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct stat st;

	fd = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, 2, 0);
	if (pidfd >= 0) {
		close(pidfd);
	}
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
#endif
	/* a kernel before 5.6, or one whose rules for debuggers forbid that */
	return fd < 0 ? open_stderr(pid, O_APPEND) : fd;
}

static int stat_stderr(pid_t pid, struct stat *st)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)pid);
	return stat(path, st);
}

/* Keeps the name of a terminal. Returns 0: its standard error is none. */
static int find_terminal(struct vt_measured *p, pid_t pid)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)pid);
	n = readlink(path, p->terminal, sizeof(p->terminal) - 1);
	p->terminal[n > 0 ? n : 0] = '\0';
	if (strncmp(p->terminal, "/dev/pts/", 9) && strncmp(p->terminal, "/dev/tty", 8)) {
		p->terminal[0] = '\0';
	}
	return p->terminal[0] != '\0';
}

/* Is that the file that was vtrun's standard error? A program without one may have opened a file of its own in its place. */
static int is_file_of_vtrun(const struct vt_measured *p, const struct stat *st)
{
	char text[64];
	unsigned long long dev, ino;

	return vt_run_value(p->c.run, "err", text, sizeof(text)) && sscanf(text, "%llu:%llu", &dev, &ino) == 2 &&
		dev == (unsigned long long)st->st_dev && ino == (unsigned long long)st->st_ino;
}

/* Who started it, in the same session: not a daemon. 0: none. */
static pid_t find_starter(pid_t pid)
{
	char path[64], text[400] = "", *at;
	int fd, parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		at = read(fd, text, sizeof(text) - 1) > 0 ? strrchr(text, ')') : NULL;
		parent = at && sscanf(at, ") %*c %d", &parent) == 1 && parent > 1 && getsid(parent) == getsid(pid)
			? parent
			: 0;
		close(fd);
	}
	return parent;
}

void vt_measured_find_stderr(struct vt_measured *p)
{
	struct stat st;
	pid_t starter;

	p->err = -1;
	if (find_terminal(p, p->pid) || !p->c.run[0] || stat_stderr(p->pid, &st) < 0) {
		return;
	}
	if (S_ISREG(st.st_mode)) {
		p->err = is_file_of_vtrun(p, &st) ? take_file(p->pid) : -1;
		return;
	}
	starter = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ? find_starter(p->pid) : 0;
	if (!starter || find_terminal(p, starter) || stat_stderr(starter, &st) < 0) {
		return;
	}
	if (S_ISREG(st.st_mode)) {
		p->err = take_file(starter);
	} else if (S_ISFIFO(st.st_mode)) {
		p->starter = starter; /* its reader waits for that one anyway */
		p->pipe = st.st_ino;
	}
}

int vt_measured_open_stderr(const struct vt_measured *p)
{
	struct stat st;

	/* all lines go through one descriptor: written through two, the later ones may come over the others */
	return p->err >= 0 && stat_stderr(p->pid, &st) == 0 && S_ISREG(st.st_mode) ? fcntl(p->err, F_DUPFD_CLOEXEC, 0)
										   : open_stderr(p->pid, O_APPEND);
}

/* The pipe, if who started the process still has it. */
static int open_pipe(const struct vt_measured *p)
{
	struct stat st;
	int fd = open_stderr(p->starter, 0);

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) || st.st_ino != p->pipe)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void vt_measured_print_lines(struct vt_measured *p)
{
	int fd = p->err;

	p->err = -1;
	if (p->terminal[0]) {
		fd = open(p->terminal, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	} else if (p->starter) {
		fd = open_pipe(p);
	}
	if (fd >= 0 && (!p->terminal[0] || isatty(fd)) && write(fd, p->lines, p->lines_size) > 0) {
		p->lines_size = 0;
	}
	if (fd >= 0) {
		close(fd);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Files, directories and reasons for the sources (private.h). */
#include "config.h"
#include "sampler/private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"

static int own_process;

void smp_own_process(void)
{
	own_process = 1;
}

int smp_is_own_process(void)
{
	return own_process;
}

int smp_live(const struct smp_env *env)
{
	return strcmp(env->root, "/") == 0;
}

int smp_root(const struct smp_env *env)
{
	return tkm_root_open(env->root);
}

int smp_fd_high(int fd)
{
	struct rlimit limit;
	int high = 512, moved;

	if (fd < 0 || own_process) {
		return fd;
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1024) {
		high = (int)(limit.rlim_cur / 2);
	}
	moved = fcntl(fd, F_DUPFD_CLOEXEC, high);
	if (moved < 0) {
		return fd;
	}
	close(fd);
	return moved;
}

void smp_fd_room(void)
{
	int fd = smp_fd_high(open("/", O_PATH | O_CLOEXEC));

	if (fd >= 0) {
		close(fd);
	}
}

/* Only one thread of vtsampler opens files. */
static int is_kernels_file(int fd, dev_t dev)
{
	static dev_t last; /* the file system of the last one */
	struct statfs fs;
	int is;

	if (!own_process || (last && dev == last)) {
		return own_process;
	}
	is = fstatfs(fd, &fs) == 0 &&
		(fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC || fs.f_type == CGROUP_SUPER_MAGIC ||
			fs.f_type == CGROUP2_SUPER_MAGIC);
	last = is ? dev : last;
	return is;
}

int smp_file_open(struct smp_file *f, int root, const char *path)
{
	struct stat st;
	int fd = smp_fd_high(tkm_root_openat(root, path));

	f->fd = -1;
	if (fd < 0) {
		return -1;
	}
	if (fstat(fd, &st) < 0) {
		close(fd);
		return -1;
	}
	*f = (struct smp_file){ fd, st.st_dev, st.st_ino, is_kernels_file(fd, st.st_dev) };
	return 0;
}

ssize_t smp_file_read(const struct smp_file *f, char *buf, size_t size)
{
	ssize_t n = -1;

	if (f->fd >= 0) {
		do {
			n = pread(f->fd, buf, size - 1, 0);
		} while (n < 0 && errno == EINTR);
	}
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

ssize_t smp_file_whole(const struct smp_file *f, struct smp_room *room)
{
	ssize_t n;

	do {
		n = room->size ? smp_file_read(f, room->text, room->size) : 0;
		if (room->size && n < (ssize_t)room->size - 1) {
			return n;
		}
	} while (TKM_GROW(room->text, room->size, room->size ? room->size + 1 : 4096) == 0);
	return -1;
}

static int is_our_file(const struct smp_file *f, struct stat *st)
{
	return f->fd >= 0 && fstat(f->fd, st) == 0 && st->st_dev == f->dev && st->st_ino == f->ino;
}

int smp_file_there(struct smp_file *f)
{
	struct stat st;

	if (f->fd >= 0 && f->stays) {
		return 1;
	}
	if (is_our_file(f, &st)) {
		if (st.st_nlink > 0) {
			return 1;
		}
		close(f->fd);
	}
	f->fd = -1;
	return 0;
}

void smp_file_close(struct smp_file *f)
{
	struct stat st;

	if (is_our_file(f, &st)) {
		close(f->fd);
	}
	f->fd = -1;
}

/* A directory entry as getdents64(2) returns it. */
struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

int smp_dir_each(int root, const char *path, int (*each)(const char *name, void *ctx), void *ctx)
{
	char buf[4096] __attribute__((aligned(8)));
	int fd = tkm_root_openat(root, path), rc = 0, saved;
	long n = 0, at;

	if (fd < 0) {
		return -1;
	}
	while (rc == 0 && (n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0) {
		for (at = 0; rc == 0 && at < n;) {
			const struct entry *e = (const struct entry *)(buf + at);

			at += e->len;
			if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0) {
				rc = each(e->name, ctx);
			}
		}
	}
	saved = errno;
	close(fd);
	errno = saved;
	return n < 0 ? -1 : rc;
}

int64_t smp_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t smp_reading_ms(const struct smp_env *env, int64_t last_ms)
{
	return smp_live(env) ? smp_now_ms() : last_ms + 1000;
}

int smp_exists(int root, const char *path)
{
	while (*path == '/') {
		path++;
	}
	return faccessat(root, path, F_OK, 0) == 0;
}

const char *smp_why_closed(int errnum, const char *otherwise)
{
	return errnum == EMFILE || errnum == ENFILE ? "too many open files: ulimit -n" : otherwise;
}

int smp_why(char why[SMP_TEXT], const char *fmt, ...)
{
	va_list ap;

	if (why) {
		va_start(ap, fmt);
		vsnprintf(why, SMP_TEXT, fmt, ap);
		va_end(ap);
	}
	return -1;
}

const char *smp_errno(int errnum, char *buf, size_t size)
{
	const char *text = strerrordesc_np(errnum);

	if (text) {
		snprintf(buf, size, "%s", text);
	} else {
		snprintf(buf, size, "error %d", errnum);
	}
	return buf;
}

struct smp_counter smp_age(const char *name, const char *of)
{
	return (struct smp_counter){
		.name = name,
		.unit = "us",
		.what = "how old that value was when it was read",
		.scope = SMP_NODE,
		.type = SMP_U64,
		.kind = SMP_LEVEL,
		.factor = 1e-3,
		.shown_unit = "ms",
		.with = of,
	};
}

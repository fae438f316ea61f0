/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into a tool: the FAIL_NTH-th call of FAIL_WHAT (malloc, write, rename, open) fails, and all after it if
 * FAIL_ON is set, as on a disk that stays full. "malloc" counts calloc and realloc too, "rename" link; stdio's own writes do not
 * come by here. At the
 * end the number of calls goes to FAIL_COUNT, so that a test knows when it has seen them all. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long calls, nth;
static int ready, on;
static char what[16];
static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static ssize_t (*next_write)(int, const void *, size_t);
static int (*next_rename)(const char *, const char *), (*next_link)(const char *, const char *);
static int (*next_renameat2)(int, const char *, int, const char *, unsigned);

/* dlsym() itself may allocate. */
static char early[8192];
static size_t early_used;

static void begin(void)
{
	ready = -1;
	next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	next_write = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	next_rename = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
	next_link = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "link");
	next_renameat2 = (int (*)(int, const char *, int, const char *, unsigned))dlsym(RTLD_NEXT, "renameat2");
	nth = getenv("FAIL_NTH") ? atol(getenv("FAIL_NTH")) : 0;
	on = getenv("FAIL_ON") != NULL;
	snprintf(what, sizeof(what), "%s", getenv("FAIL_WHAT") ? getenv("FAIL_WHAT") : "");
	ready = 1;
}

static int fails(const char *kind)
{
	if (ready == 0) {
		begin();
	}
	if (ready < 0 || strcmp(kind, what) != 0) {
		return 0;
	}
	calls++;
	return nth && (on ? calls >= nth : calls == nth);
}

/* The same identity for every trace, so that their bytes can be compared. */
ssize_t getrandom(void *p, size_t n, unsigned flags)
{
	(void)flags;
	memset(p, 1, n);
	return (ssize_t)n;
}

void *malloc(size_t n)
{
	if (fails("malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	if (ready < 0) {
		void *p = early + early_used;

		early_used += (n + 15) & ~(size_t)15;
		return early_used <= sizeof(early) ? p : NULL;
	}
	return next_malloc(n);
}

void *calloc(size_t k, size_t n)
{
	if (fails("malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return ready < 0 ? malloc(k * n) : next_calloc(k, n); /* the early bytes are zeros */
}

void *realloc(void *p, size_t n)
{
	if (fails("malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return ready < 0 ? NULL : next_realloc(p, n);
}

ssize_t write(int fd, const void *p, size_t n)
{
	if (fd != STDERR_FILENO && fails("write")) {
		errno = ENOSPC;
		return -1;
	}
	if (ready == 0) {
		begin();
	}
	return next_write(fd, p, n);
}

int rename(const char *from, const char *to)
{
	if (fails("rename")) {
		errno = EIO;
		return -1;
	}
	return next_rename(from, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	if (fails("rename")) {
		errno = EIO;
		return -1;
	}
	return next_renameat2(a, from, b, to, flags);
}

int link(const char *from, const char *to)
{
	if (fails("rename")) {
		errno = EIO;
		return -1;
	}
	return next_link(from, to);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	char text[32];
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1,
	    n = snprintf(text, sizeof(text), "%ld\n", calls);

	if (fd >= 0) {
		if (next_write(fd, text, (size_t)n) < 0) {
			_exit(98);
		}
		close(fd);
	}
}

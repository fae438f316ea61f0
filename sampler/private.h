/* SPDX-License-Identifier: BSD-3-Clause */
/* What the sources share: files that stay open in a process whose program may
 * close all descriptors, and parsing of numbers. */
#ifndef SAMPLER_PRIVATE_H
#define SAMPLER_PRIVATE_H

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

#include "base/grow.h"
#include "base/text/glob.h"
#include "sampler/count.h"
#include "sampler/source.h"

/* Is the root that of this machine, so that system calls and the files of /proc and /sys agree? */
int smp_live(const struct smp_env *env);

/* Was smp_own_process() called? */
int smp_is_own_process(void);

/* Opens the root of env for a moment (base/rootfs.h). A descriptor kept for later could by then be the
 * program's own file. Returns it or -1 with errno. */
int smp_root(const struct smp_env *env);

/* Moves a new descriptor out of the range where programs expect their own. Returns the new one (close on
 * exec), or fd itself. -1 stays -1. */
int smp_fd_high(int fd);
/* To be called before a program has threads, which is when its plan is opened. The kernel's table of descriptors
 * grows to those that sets keep open. Once there are threads, this takes the kernel 10 to 50 ms (synchronize_rcu), in
 * which the other ranks of a job wait, and MPI waits by polling. */
void smp_fd_room(void);

/* A file of /proc or /sys that is kept open. A program may close our descriptor and open its own file under
 * the number; dev and ino tell, so that we neither believe nor close what is not ours. */
struct smp_file {
	int fd; /* -1: not open */
	dev_t dev;
	ino_t ino;
	int stays; /* nobody closes it, and it is of the kernel: it fails when what it is about is gone */
};
/* Returns 0, or -1 with errno and f->fd = -1. root: of smp_root(). */
int smp_file_open(struct smp_file *f, int root, const char *path);
/* Reads from the start; at most size-1 bytes, terminated. Returns the length or -1. */
ssize_t smp_file_read(const struct smp_file *f, char *buf, size_t size);
/* A text that grows: lists of processing units make /proc/PID/status as long as the machine is large. */
struct smp_room {
	char *text;
	size_t size;
};
/* As smp_file_read(), of a file of any length. */
ssize_t smp_file_whole(const struct smp_file *f, struct smp_room *room);

/* Is the descriptor still ours, and has the file still a name? One that was replaced shows what was. Returns 1, or 0 and
 * f->fd = -1. */
int smp_file_there(struct smp_file *f);
void smp_file_close(struct smp_file *f);

/* Calls each(name) for the entries of a directory but "." and "..", without the heap. Returns 0, what each()
 * returned if not 0, or -1 with errno when the directory cannot be read. */
int smp_dir_each(int root, const char *path, int (*each)(const char *name, void *ctx), void *ctx);

/* Milliseconds of a clock that never steps, as exact as the kernel's tick, without a system call. */
int64_t smp_now_ms(void);
/* The time of a reading that follows one at last_ms: of a snapshot, which has no clock, a second later. */
int64_t smp_reading_ms(const struct smp_env *env, int64_t last_ms);

/* What a sum of devices says of itself where there is no device: it is 0, and cannot be tried. */
#define SMP_NONE_HERE "; none is here now"

/* Does path exist below root? */
int smp_exists(int root, const char *path);

/* Is a counter of this name wanted by the hint that list() got? */
static inline int smp_is_hinted(const char *hint, const char *name)
{
	return tkm_glob_is_name(hint) ? strcasecmp(hint, name) == 0 : tkm_glob_match(hint, name);
}

/* The line after this one, or NULL. */
static inline const char *smp_next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

/* Reads a decimal number after blanks; *p then points after it. Returns 0 or -1 (no digit, beyond 64 bits). */
static inline int smp_number(const char **p, uint64_t *out)
{
	const char *s = *p;
	uint64_t v = 0;

	while (*s == ' ' || *s == '\t') {
		s++;
	}
	if (*s < '0' || *s > '9') {
		return -1;
	}
	for (; *s >= '0' && *s <= '9'; s++) {
		unsigned d = (unsigned)(*s - '0');

		if (v > (UINT64_MAX - d) / 10) {
			return -1;
		}
		v = v * 10 + d;
	}
	*p = s;
	*out = v;
	return 0;
}

/* Reads a number as smp_number() does, which a blank or the end of the text follows: "0x10", "1.5", "12a" are errors. */
static inline int smp_whole_word(const char **p, uint64_t *out)
{
	return smp_number(p, out) < 0 || !strchr(" \t\n", **p) ? -1 : 0;
}

/* Why a file or folder of the system was not opened: `otherwise`, unless the process has too many files open. */
const char *smp_why_closed(int errnum, const char *otherwise);
/* Writes a reason; always terminated. Returns -1, for `return smp_why(...)`. */
int smp_why(char why[SMP_TEXT], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The counter of how old the values of counter `of` are; both names stay the caller's. */
struct smp_counter smp_age(const char *name, const char *of);

/* The text of an errno value without locale or static buffer. Returns buf. */
const char *smp_errno(int errnum, char *buf, size_t size);

/* The sources, in the order of listing: smp_NAME is at the end of a file in sources/ or gpu/. */
#ifdef HAVE_PAPI
#define SMP_WITH_PAPI(X) X(papi)
#else
#define SMP_WITH_PAPI(X)
#endif
/* clang-format off */
#define SMP_SOURCES(X) \
	X(cpu) X(disk) X(net) X(rdma) X(proc_io) X(rusage) X(proc) X(perf) X(node) X(group) X(space) X(power) X(clock) \
	SMP_WITH_PAPI(X) X(amd) X(hwmon) X(cray) X(nvml)
/* clang-format on */
#define SMP_DECLARE(name) extern const struct smp_source smp_##name;
SMP_SOURCES(SMP_DECLARE)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the sources share: files that stay open in a process whose program may
 * close all descriptors, parsing of numbers, and totals that continue when the kernel's counts wrap. */
#ifndef SAMPLER_PRIVATE_H
#define SAMPLER_PRIVATE_H

#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "base/grow.h"
#include "base/text/glob.h"
#include "sampler/source.h"

/* Is the root that of this machine, so that system calls and the files of /proc and /sys agree? */
int smp_live(const struct smp_env *env);

/* Opens the root of env for a moment (base/rootfs.h). A descriptor kept for later could by then be the
 * program's own file. Returns it or -1 with errno. */
int smp_root(const struct smp_env *env);

/* Moves a new descriptor out of the range where programs expect their own. Returns the new one (close on
 * exec), or fd itself. -1 stays -1. */
int smp_fd_high(int fd);

/* A file of /proc or /sys that is kept open. A program may close our descriptor and open its own file under
 * the number; dev and ino tell, so that we neither believe nor close what is not ours. */
struct smp_file {
	int fd; /* -1: not open */
	dev_t dev;
	ino_t ino;
};
/* Returns 0, or -1 with errno and f->fd = -1. root: of smp_root(). */
int smp_file_open(struct smp_file *f, int root, const char *path);
/* Reads from the start; at most size-1 bytes, terminated. Returns the length or -1. */
ssize_t smp_file_read(const struct smp_file *f, char *buf, size_t size);
/* Is the descriptor still ours? Returns 1 or 0. */
int smp_file_ours(const struct smp_file *f);
void smp_file_close(struct smp_file *f);

/* Calls each(name) for the entries of a directory but "." and "..", without the heap. Returns 0, what each()
 * returned if not 0, or -1 with errno when the directory cannot be read. */
int smp_dir_each(int root, const char *path, int (*each)(const char *name, void *ctx), void *ctx);

/* Milliseconds of a clock that never steps, as exact as the kernel's tick, without a system call. */
int64_t smp_now_ms(void);

/* What a sum of devices says of itself where there is no device: it is 0, and cannot be tried. */
#define SMP_NONE_HERE "; none is here now"

/* Does path exist below root? */
int smp_exists(int root, const char *path);

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

/* A running total made of what the kernel shows. */
struct smp_total {
	uint64_t raw, sum;
};

/* The kernel now shows raw. 32-bit counts that wrap go on; a count that starts anew loses what it counted
 * between the last read and its end, and the return says so. Returns SMP_VALID, perhaps with SMP_RESTARTED. */
static inline uint8_t smp_total_add(struct smp_total *t, uint64_t raw)
{
	uint8_t state = SMP_VALID;

	if (raw >= t->raw) {
		t->sum += raw - t->raw;
	} else if (t->raw <= UINT32_MAX && raw + (UINT64_C(1) << 32) - t->raw < UINT64_C(1) << 31) {
		t->sum += raw + (UINT64_C(1) << 32) - t->raw;
	} else {
		t->sum += raw;
		state |= SMP_RESTARTED;
	}
	t->raw = raw;
	return state;
}

/* Continues a total, as smp_total_add() does, for counts of which it is known how much they can have grown since the
 * last read. What is more than `most` was not counted in that time, but comes from another account of the kernel's, as
 * when a CPU is switched off or on. Small steps back (iowait) wait, large ones begin anew. */
static inline uint8_t smp_total_within(struct smp_total *t, uint64_t raw, uint64_t most, uint64_t back)
{
	uint8_t state = SMP_VALID;

	if (raw < t->raw ? t->raw - raw > back : raw - t->raw > most) {
		state |= SMP_RESTARTED;
	} else if (raw <= t->raw) {
		return state;
	} else {
		t->sum += raw - t->raw;
	}
	t->raw = raw;
	return state;
}

/* Why a file or folder of the system was not opened: `otherwise`, unless the process has too many files open. */
const char *smp_why_closed(int errnum, const char *otherwise);
/* Writes a reason; always terminated. Returns -1, for `return smp_why(...)`. */
int smp_why(char why[SMP_TEXT], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The text of an errno value without locale or static buffer. Returns buf. */
const char *smp_errno(int errnum, char *buf, size_t size);

/* The sources. */
extern const struct smp_source smp_cpu, smp_disk, smp_net, smp_rdma, smp_rusage, smp_proc, smp_perf, smp_papi, smp_node,
	smp_group, smp_space, smp_power, smp_clock;

#endif

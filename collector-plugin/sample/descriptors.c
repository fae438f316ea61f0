/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives the background thread a table of descriptors of its own. */
#include "config.h"
#include "collector-plugin/sample/descriptors.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rootfs.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { MOST_FDS = 256 };

static int by_descriptor(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Closes all descriptors except `keep`, which are in ascending order. Returns 0 on an older kernel. */
static int close_others(const int *keep, int n_keep)
{
	unsigned from = 0, to;
	int i, rc = 0;

	for (i = 0; i <= n_keep && rc == 0; i++) {
		to = i < n_keep ? (unsigned)keep[i] : ~0u;
		if (to > from) {
			rc = (int)syscall(SYS_close_range, from, i < n_keep ? to - 1 : to, 0);
		}
		from = to + 1;
	}
	return rc == 0;
}

int vt_own_descriptors(const struct smp_set *shared)
{
	int keep[MOST_FDS], n_keep = shared ? smp_set_descriptors(shared, keep, MOST_FDS) : 0, i;
	char buf[4096];
	long n, at;
	int dir;

	if (n_keep == 0 && syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) == 0) {
		return 1;
	}
	if (unshare(CLONE_FILES) != 0) {
		return 0;
	}
	qsort(keep, (size_t)n_keep, sizeof(keep[0]), by_descriptor);
	if (n_keep > 0 && close_others(keep, n_keep)) {
		return 1;
	}
	/* an older kernel: one by one */
	dir = tkm_root_open("/");
	if (dir >= 0) {
		int fds = tkm_root_openat(dir, "/proc/thread-self/fd");

		while (fds >= 0 && (n = syscall(SYS_getdents64, fds, buf, sizeof(buf))) > 0) {
			for (at = 0; at < n;) {
				const struct dirent64 *d = (const struct dirent64 *)(const void *)(buf + at);
				int fd = atoi(d->name);

				for (i = 0; i < n_keep && keep[i] != fd; i++) {
				}
				if (d->name[0] != '.' && fd != fds && fd != dir && i == n_keep) {
					close(fd);
				}
				at += d->reclen;
			}
		}
		if (fds >= 0) {
			close(fds);
		}
		close(dir);
	}
	return 1;
}

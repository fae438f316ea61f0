/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded: as far as statfs() tells, the folders below $SHARED are on NFS, and all have room. */
#define _GNU_SOURCE
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

int statfs(const char *path, struct statfs *fs)
{
	const char *shared = getenv("SHARED");
	int rc = (int)syscall(SYS_statfs, path, fs);

	fs->f_bavail = rc == 0 ? (1 << 30) / (unsigned long)fs->f_bsize : 0;
	if (rc == 0 && shared && !strncmp(path, shared, strlen(shared))) {
		fs->f_type = NFS_SUPER_MAGIC;
	}
	return rc;
}

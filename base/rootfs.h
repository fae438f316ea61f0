/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading /proc and /sys below a root directory descriptor, so that every parser also runs on a
 * snapshot of another machine. No other place in the tree opens an absolute /proc or /sys path. */
#ifndef BASE_ROOTFS_H
#define BASE_ROOTFS_H

#include <stddef.h>
#include <sys/types.h>

/* Opens a root: "/" for the live machine or a folder with a snapshot. Returns a descriptor that the
 * caller closes, or -1 with errno. */
int tkm_root_open(const char *dir);

/* Opens `path` ("/proc/stat" or "proc/stat") read-only below root. Returns a descriptor or -1 with
 * errno. A path with a ".." component is refused. */
int tkm_root_openat(int root, const char *path);

/* Reads at most size-1 (size > 0) bytes of `path` into buf and terminates it. Returns the length, or -1 with
 * errno; a longer file is cut. */
ssize_t tkm_root_read(int root, const char *path, char *buf, size_t size);

/* The whole of `path`, however long, in memory that the caller frees. NULL with errno. */
char *tkm_root_text(int root, const char *path);

/* As tkm_root_read(), but only the first line, without white space at its end; "" if the file cannot be read. Returns
 * buf. */
char *tkm_root_line(int root, const char *path, char *buf, size_t size);

/* The number of a process or thread in its own PID namespace, by its "/proc/.../status". The numbers below a /proc of a namespace above are
 * others (pid_namespaces(7)). Returns 0 if it is not known. */
int tkm_root_own_number(int root, const char *status);

/* Do the numbers below /proc belong to a PID namespace above that of the calling process? */
int tkm_root_is_above(int root);

#endif

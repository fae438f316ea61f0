/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that get their name only when they are complete. */
#include "config.h"
#include "stf/write/outfile.h"
#include "stf/format/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A file that has this many bytes is given so many more places at a time. */
#define RESERVED_AT_ONCE (16u << 20)
#define RESERVED_FROM (1u << 20)

static int check_name(const char *path, int force, struct stf_err *err)
{
	struct stat st;

	return !force && lstat(path, &st) == 0
		? stf_fail(err, STF_ERR_EXISTS, path, 0, 0, "exists already and is not replaced without force")
		: 0;
}

int stf_out_open(struct stf_out *o, const char *path, int force, struct stf_err *err)
{
	size_t n = strlen(path) + 48;
	char *temporary;
	int tries;

	o->fd = -1;
	if (check_name(path, force, err) < 0) {
		return -1;
	}
	temporary = malloc(n);
	/* The pid distinguishes two jobs; the counter avoids the files that a killed job left. */
	for (tries = 0; temporary && tries < 1000; tries++) {
		snprintf(temporary, n, "%s.tmp-%ld-%d", path, (long)getpid(), tries);
		o->fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (o->fd >= 0 || errno != EEXIST) {
			break;
		}
	}
	if (temporary && o->fd < 0) {
		stf_fail_errno(err, errno, temporary, "cannot create");
		free(temporary);
		return -1;
	}
	return tkm_newname_init(&o->name, strdup(path), temporary, force) < 0 ? stf_no_memory(err) : 0;
}

int stf_out_adopt(struct stf_out *o, const struct stf_where *to, const char *suffix, const char *name, size_t n,
	struct stf_err *err)
{
	size_t len = strlen(to->path) + strlen(suffix) + 5;
	char *path = malloc(len);

	o->fd = -1;
	if (path) {
		snprintf(path, len, "%s%s%s", to->path, suffix, to->level ? ".zst" : "");
	}
	if (tkm_newname_init(&o->name, path, strndup(name, n), to->force) < 0) {
		return stf_no_memory(err);
	}
	if (access(o->name.temporary, F_OK) < 0) {
		return stf_fail_errno(err, errno, o->name.temporary, "cannot take what another writer left");
	}
	return check_name(o->name.path, to->force, err);
}

int stf_out_open_later(struct stf_out *o, const char *path, int force, struct stf_err *err)
{
	o->fd = -1;
	o->park = 1;
	o->name = (struct tkm_newname){ .path = strdup(path), .force = force };
	return o->name.path ? check_name(path, force, err) : stf_no_memory(err);
}

/* Opens the file for the next bytes: the first time it is made, later they come at its end. */
static int open_parked(struct stf_out *o, struct stf_err *err)
{
	if (!o->name.temporary) {
		char *path = o->name.path;
		int rc = stf_out_open(o, path, o->name.force, err);

		if (o->name.path != path) {
			free(path);
		}
		return rc;
	}
	if (o->fd < 0) {
		o->fd = open(o->name.temporary, O_WRONLY | O_APPEND | O_CLOEXEC);
	}
	return o->fd < 0 ? stf_fail_errno(err, errno, o->name.path, "cannot write") : 0;
}

/* Reserves places on the disk for the next n bytes and for some after them: writing to reserved places takes two thirds of the time.
 * Nothing depends on its success. In a tmpfs it would take longer. */
static void reserve(struct stf_out *o, size_t n)
{
	uint64_t end = o->size + n;
	struct statfs fs;

	if (end <= o->reserved || end < RESERVED_FROM || o->park || !o->name.temporary) {
		return;
	}
	if ((!o->reserved && (fstatfs(o->fd, &fs) < 0 || fs.f_type == TMPFS_MAGIC)) ||
		fallocate(o->fd, FALLOC_FL_KEEP_SIZE, (off_t)o->size, (off_t)(n + RESERVED_AT_ONCE)) < 0) {
		o->reserved = UINT64_MAX;
		return;
	}
	o->reserved = end + RESERVED_AT_ONCE;
}

/* Gives back the places that were reserved and not used. */
static int close_file(struct stf_out *o, struct stf_err *err)
{
	int fd = o->fd;

	o->fd = -1;
	if (fd >= 0 && o->reserved > o->size && o->reserved != UINT64_MAX && ftruncate(fd, (off_t)o->size) < 0) {
		close(fd);
		return stf_fail_errno(err, errno, o->name.path, "cannot write");
	}
	/* some file systems report only here that the disk is full */
	return fd >= 0 && close(fd) < 0 ? stf_fail_errno(err, errno, o->name.path, "cannot write") : 0;
}

int stf_out_write(struct stf_out *o, const void *p, size_t n, struct stf_err *err)
{
	const char *c = p;
	ssize_t got;

	if (o->hash) {
		stf_hash_add(o->hash, p, n);
	}
	reserve(o, n);
	o->size += n;
	if (o->park && n && open_parked(o, err) < 0) {
		return -1;
	}
	while (n) {
		got = write(o->fd, c, n);
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			return stf_fail_errno(err, got ? errno : ENOSPC, o->name.path, "cannot write");
		}
		c += got;
		n -= (size_t)got;
	}
	return o->park ? close_file(o, err) : 0;
}

int stf_out_restart(struct stf_out *o, struct stf_err *err)
{
	o->size = o->reserved = 0;
	return ftruncate(o->fd, 0) < 0 || lseek(o->fd, 0, SEEK_SET) < 0
		? stf_fail_errno(err, errno, o->name.path, "cannot write")
		: 0;
}

int stf_out_close(struct stf_out *o, struct stf_err *err)
{
	if (!o->name.temporary && !o->park) { /* the caller's own descriptor has no name */
		o->fd = -1;
		return 0;
	}
	return (o->name.temporary || open_parked(o, err) == 0) && close_file(o, err) == 0 ? 0 : -1;
}

int stf_out_set_aside(struct stf_out *o, struct stf_err *err)
{
	struct stat st;

	if (o->name.aside && lstat(o->name.path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		return stf_fail(err, STF_ERR_IO, o->name.path, 0, 0, "cannot replace: not a regular file");
	}
	return tkm_newname_set_aside(&o->name) < 0 ? stf_fail_errno(err, errno, o->name.path, "cannot replace") : 0;
}

int stf_out_publish(struct stf_out *o, struct stf_err *err)
{
	return o->name.temporary && tkm_newname_publish(&o->name) < 0
		? stf_fail_errno(err, errno, o->name.path, "cannot give the finished file its name")
		: 0;
}

void stf_out_keep(struct stf_out *o)
{
	tkm_newname_keep(&o->name);
	stf_out_free(o);
}

void stf_out_discard(struct stf_out *o)
{
	if (o->fd >= 0 && o->name.temporary) {
		close(o->fd);
		o->fd = -1;
	}
	tkm_newname_discard(&o->name);
}

void stf_out_free(struct stf_out *o)
{
	stf_hash_free(o->hash);
	tkm_newname_free(&o->name);
	memset(o, 0, sizeof(*o));
	o->fd = -1;
}

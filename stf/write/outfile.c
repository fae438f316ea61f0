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

/* The pid distinguishes two jobs; the counter avoids the files that a killed job left. */
static int create_temp(struct stf_out *o, struct stf_err *err)
{
	size_t n = strlen(o->final_name) + 48;
	int tries;

	o->temp_name = malloc(n);
	if (!o->temp_name) {
		return stf_no_memory(err);
	}
	for (tries = 0; tries < 1000; tries++) {
		snprintf(o->temp_name, n, "%s.tmp-%ld-%d", o->final_name, (long)getpid(), tries);
		o->fd = open(o->temp_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (o->fd >= 0 || errno != EEXIST) {
			break;
		}
	}
	if (o->fd < 0) {
		stf_fail_errno(err, errno, o->temp_name, "cannot create");
		free(o->temp_name);
		o->temp_name = NULL;
		return -1;
	}
	return 0;
}

static int check_name(const char *path, int force, struct stf_err *err)
{
	struct stat st;

	return !force && lstat(path, &st) == 0
		? stf_fail(err, STF_ERR_EXISTS, path, 0, 0, "exists already and is not replaced without force")
		: 0;
}

/* Chooses the name to which the file that has this name now can be moved. */
static int name_aside(struct stf_out *o, struct stf_err *err)
{
	o->aside = malloc(strlen(o->temp_name) + 5);
	if (!o->aside) {
		return stf_no_memory(err);
	}
	sprintf(o->aside, "%s-old", o->temp_name);
	return 0;
}

int stf_out_open(struct stf_out *o, const char *path, int force, struct stf_err *err)
{
	o->fd = -1;
	o->final_name = strdup(path);
	if (!o->final_name) {
		return stf_no_memory(err);
	}
	if (check_name(path, force, err) < 0 || create_temp(o, err) < 0) {
		return -1;
	}
	return force ? name_aside(o, err) : 0;
}

int stf_out_adopt(struct stf_out *o, const struct stf_where *to, const char *suffix, const char *name, size_t n,
	struct stf_err *err)
{
	size_t len = strlen(to->path) + strlen(suffix) + 5;

	o->fd = -1;
	o->final_name = malloc(len);
	o->temp_name = strndup(name, n);
	if (!o->final_name || !o->temp_name) {
		return stf_no_memory(err);
	}
	snprintf(o->final_name, len, "%s%s%s", to->path, suffix, to->level ? ".zst" : "");
	if (access(o->temp_name, F_OK) < 0) {
		return stf_fail_errno(err, errno, o->temp_name, "cannot take what another writer left");
	}
	if (check_name(o->final_name, to->force, err) < 0) {
		return -1;
	}
	return to->force ? name_aside(o, err) : 0;
}

/* Opens the file again, to write at its end. */
static int reopen(struct stf_out *o, struct stf_err *err)
{
	if (o->fd < 0) {
		o->fd = open(o->temp_name, O_WRONLY | O_APPEND | O_CLOEXEC);
	}
	return o->fd < 0 ? stf_fail_errno(err, errno, o->final_name, "cannot write") : 0;
}

/* Reserves places on the disk for the next n bytes and for some after them: writing to reserved places takes two thirds of the time.
 * Nothing depends on its success. In a tmpfs it would take longer. */
static void reserve(struct stf_out *o, size_t n)
{
	uint64_t end = o->size + n;
	struct statfs fs;

	if (end <= o->reserved || end < RESERVED_FROM || o->park || !o->temp_name) {
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
		return stf_fail_errno(err, errno, o->final_name, "cannot write");
	}
	/* some file systems report only here that the disk is full */
	return fd >= 0 && close(fd) < 0 ? stf_fail_errno(err, errno, o->final_name, "cannot write") : 0;
}

int stf_out_park(struct stf_out *o, struct stf_err *err)
{
	o->park = 1;
	return close_file(o, err);
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
	if (o->park && n && reopen(o, err) < 0) {
		return -1;
	}
	while (n) {
		got = write(o->fd, c, n);
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			return stf_fail_errno(err, got ? errno : ENOSPC, o->final_name, "cannot write");
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
		? stf_fail_errno(err, errno, o->final_name, "cannot write")
		: 0;
}

int stf_out_close(struct stf_out *o, struct stf_err *err)
{
	if (!o->temp_name) { /* the caller's own descriptor has no name */
		o->fd = -1;
		return 0;
	}
	return close_file(o, err);
}

int stf_out_set_aside(struct stf_out *o, struct stf_err *err)
{
	struct stat st;

	if (!o->aside || (lstat(o->final_name, &st) < 0 && errno == ENOENT)) {
		return 0;
	}
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		return stf_fail(err, STF_ERR_IO, o->final_name, 0, 0, "cannot replace: not a regular file");
	}
	if (rename(o->final_name, o->aside) < 0) {
		return stf_fail_errno(err, errno, o->final_name, "cannot replace");
	}
	o->set_aside = 1;
	return 0;
}

int stf_out_publish(struct stf_out *o, int force, struct stf_err *err)
{
	int rc;

	if (!o->temp_name) { /* the caller's own descriptor has no name */
		return 0;
	}
	if (force) {
		rc = rename(o->temp_name, o->final_name);
	} else {
		/* unlike rename(), neither call replaces a file that was created meanwhile */
		rc = renameat2(AT_FDCWD, o->temp_name, AT_FDCWD, o->final_name, RENAME_NOREPLACE);
		if (rc < 0 && (errno == EINVAL || errno == ENOSYS)) {
			rc = link(o->temp_name, o->final_name);
			if (rc == 0) {
				unlink(o->temp_name);
			}
		}
	}
	if (rc < 0) {
		return stf_fail_errno(err, errno, o->final_name, "cannot give the finished file its name");
	}
	o->published = 1;
	return 0;
}

void stf_out_keep(struct stf_out *o)
{
	if (o->set_aside) {
		unlink(o->aside);
	}
	stf_out_free(o);
}

void stf_out_discard(struct stf_out *o)
{
	if (o->fd >= 0 && o->temp_name) {
		close(o->fd);
		o->fd = -1;
	}
	if (o->published) {
		unlink(o->final_name);
	} else if (o->temp_name) {
		unlink(o->temp_name);
	}
	if (o->set_aside) {
		rename(o->aside, o->final_name);
	}
}

void stf_out_free(struct stf_out *o)
{
	stf_hash_free(o->hash);
	free(o->final_name);
	free(o->temp_name);
	free(o->aside);
	memset(o, 0, sizeof(*o));
	o->fd = -1;
}

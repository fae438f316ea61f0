/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens clocks: finds and maps the page, or reads the .clk file; see include/clock.h. */
#include "config.h"
#include "clock/handle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock/names.h"

static int errno_of(enum tkm_code code)
{
	static const int of[] = { [TKM_OK] = 0,
		[TKM_ERR_ARG] = EINVAL,
		[TKM_ERR_IO] = EIO,
		[TKM_ERR_EXISTS] = EEXIST,
		[TKM_ERR_FORMAT] = EPROTO,
		[TKM_ERR_NOMEM] = ENOMEM,
		[TKM_ERR_UNAVAIL] = ENOENT,
		[TKM_ERR_TIMEOUT] = ETIMEDOUT,
		[TKM_ERR_DATA] = ENODATA };

	return (size_t)code < sizeof(of) / sizeof(of[0]) ? of[code] : EIO;
}

static void report_error(struct tickmark_error *to, const struct tkm_err *err)
{
	if (to) {
		to->code = errno_of(err->code);
		snprintf(to->text, sizeof(to->text), "%.255s", err->text);
	}
}

/* ---- a page ---- */

static int fits_here(const struct tkc_page *p, const char *path, int scale, struct tkm_err *err)
{
	char here[24];

	if (p->magic != TKC_MAGIC || p->version != TKC_VERSION || p->size != sizeof(struct tkc_page) ||
		p->scale != scale || tkc_timer_id(p->timer_name) != p->timer) {
		return tkm_fail(err, TKM_ERR_FORMAT, "%s is no clock page of this version of Tickmark", path);
	}
	tkc_domain(here);
	if (!here[0]) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"%s: the boot id of this machine cannot be read (/proc/sys/kernel/random/boot_id), so the page may be "
			"of another one",
			path);
	}
	if (strncmp(p->domain, here, sizeof(here)) != 0) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"%s is of another machine, an earlier boot or another time namespace", path);
	}
	return 0;
}

/* Maps the page of descriptor fd, if the page can be trusted. Returns it or NULL. */
static const struct tkc_page *map_page(int fd, const char *path, const struct tickmark_options *o, struct tkm_err *err)
{
	const struct tkc_page *p;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < TKC_BYTES) {
		tkm_fail(err, TKM_ERR_FORMAT, "%s is no clock page", path);
		return NULL;
	}
	if ((o->owner >= 0 ? st.st_uid != (uid_t)o->owner : st.st_uid != 0 && st.st_uid != geteuid()) ||
		(st.st_mode & (S_IWGRP | S_IWOTH))) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "%s is not used: it belongs to user %u, or others may write it", path,
			(unsigned)st.st_uid);
		return NULL;
	}
	p = mmap(NULL, TKC_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot map %s", path);
		return NULL;
	}
	if (fits_here(p, path, o->scale, err) < 0) {
		munmap((void *)(uintptr_t)p, TKC_BYTES);
		return NULL;
	}
	return p;
}

/* If no job is named, finds the only page of a job whose writer is running. Returns 0, or -1: none or several. */
static int only_job(int folder, char *name, size_t size)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, found = 0;
	DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *e;
	char tail[32];

	tkc_job_page(tail, sizeof(tail), "");
	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name), t = strlen(tail) - strlen(TKC_JOB_PREFIX);

		if (strncmp(e->d_name, TKC_JOB_PREFIX, strlen(TKC_JOB_PREFIX)) || n < t || n >= size ||
			strcmp(e->d_name + n - t, tail + strlen(TKC_JOB_PREFIX))) {
			continue;
		}
		fd = openat(folder, e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0 && tkc_writer_lives(fd)) {
			found++;
			memcpy(name, e->d_name, n + 1);
		}
		if (fd >= 0) {
			close(fd);
		}
	}
	if (d) {
		closedir(d);
	} else if (copy >= 0) {
		close(copy);
	}
	return found == 1 ? 0 : -1;
}

/* The name of the page's file. */
static int page_name(const struct tickmark_clock *c, int folder, char *name, size_t size)
{
	char job[64];

	if (c->scale == TICKMARK_UTC) {
		snprintf(name, size, "%s", TKC_UTC_NAME);
		return 0;
	}
	if (c->name) {
		tkc_job_page(name, size, c->name);
		return 0;
	}
	tkc_job_name(job, sizeof(job));
	if (job[0]) {
		tkc_job_page(name, size, job);
		return 0;
	}
	return only_job(folder, name, size);
}

/* Looks for the page in the k-th folder of a user. Returns a descriptor, -1: not there, or -2: there are no more folders. */
static int open_page_of_user(struct tickmark_clock *c, int k, unsigned uid, struct tkm_err *err)
{
	char path[400], name[96];
	struct tkm_err why;
	int folder, fd = -1;

	if (c->folder ? k > 0 : tkc_folder(k, uid, path, sizeof(path)) < 0) {
		return -2;
	}
	if (c->folder) {
		snprintf(path, sizeof(path), "%s", c->folder);
	}
	folder = tkc_folder_open(path, uid, 0, &why);
	if (folder >= 0 && page_name(c, folder, name, sizeof(name)) == 0) {
		snprintf(c->path, sizeof(c->path), "%s/%s", path, name);
		fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd < 0 && why.code == TKM_ERR_UNAVAIL && folder < 0) {
		*err = why;
	}
	if (folder >= 0) {
		close(folder);
	}
	return fd;
}

static int open_page(struct tickmark_clock *c, struct tkm_err *err)
{
	unsigned uid[2] = { c->o.owner >= 0 ? (unsigned)c->o.owner : geteuid(), 0 };
	int u, k, fd = -1;

	tkm_fail(err, TKM_ERR_UNAVAIL,
		c->scale == TICKMARK_UTC ? "no page with UTC was found: start tickmark-clockd on this node"
					 : "no page of the job%s%s was found: does it run with libVT on this node?",
		c->name ? " " : "", c->name ? c->name : "");
	for (u = 0; fd < 0 && u < (c->o.owner >= 0 || uid[0] == 0 ? 1 : 2); u++) {
		for (k = 0; fd == -1; k++) {
			fd = open_page_of_user(c, k, uid[u], err);
		}
		fd = fd == -2 && u == 0 ? -1 : fd;
	}
	if (fd < 0) {
		return -1;
	}
	c->page = map_page(fd, c->path, &c->o, err);
	if (!c->page) {
		close(fd);
		return -1;
	}
	c->fd = fd;
	fstat(fd, &c->seen);
	return 0;
}

/* ---- opening ---- */

static int use_page(struct tickmark_clock *c, struct tkm_err *err)
{
	c->timer = c->page->timer;
	c->axis = c->page->axis;
	if ((c->page->flags & TKC_VMCLOCK) && !c->vmclock && !(c->o.flags & TICKMARK_WITHOUT_VMCLOCK)) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"%s: this process cannot read /dev/vmclock0, by which its writer notices migrations "
			"(TICKMARK_WITHOUT_VMCLOCK opens it all the same)",
			c->path);
	}
	/* the first call checks it */
	c->check_ticks = 0;
	c->checked_raw = tickmark_raw(c) - 1;
	return 0;
}

static void unmap(struct tickmark_clock *c)
{
	if (c->page && c->fd >= 0) {
		munmap((void *)(uintptr_t)c->page, TKC_BYTES);
		close(c->fd);
	}
}

static int open_clock(struct tickmark_clock *c, struct tkm_err *err)
{
	if (c->scale == TICKMARK_FILE) {
		if (!c->name) {
			return tkm_fail(err, TKM_ERR_ARG, "TICKMARK_FILE needs the path of a .clk file");
		}
		c->own = aligned_alloc(64, TKC_BYTES);
		if (!c->own) {
			return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a clock");
		}
		memset(c->own, 0, TKC_BYTES);
		c->page = c->own;
		c->within_s = -1;
		snprintf(c->path, sizeof(c->path), "%s", c->name);
		return tkc_file_load(c, err);
	}
	if (c->scale != TICKMARK_JOB && c->scale != TICKMARK_UTC) {
		return tkm_fail(err, TKM_ERR_ARG, "scale %d is unknown", c->scale);
	}
	return open_page(c, err);
}

struct tickmark_clock *tickmark_open(const struct tickmark_options *o, struct tickmark_error *error)
{
	struct tickmark_options all = TICKMARK_OPTIONS;
	struct tickmark_clock *c = calloc(1, sizeof(*c));
	struct tkm_err err = { .text = "" };
	int rc;

	/* a program built with an older header passes a smaller struct */
	memcpy(&all, o, o->size < sizeof(all) ? o->size : sizeof(all));
	if (!c) {
		tkm_fail(&err, TKM_ERR_NOMEM, "out of memory for a clock");
		report_error(error, &err);
		return NULL;
	}
	c->fd = -1;
	c->o = all;
	c->scale = all.scale;
	c->name = all.name ? strdup(all.name) : NULL;
	c->folder = all.folder ? strdup(all.folder) : NULL;
	c->vmclock = tkc_vmclock_open();
	rc = (all.name && !c->name) || (all.folder && !c->folder)
		? tkm_fail(&err, TKM_ERR_NOMEM, "out of memory for a clock")
		: open_clock(c, &err);
	if (rc < 0 || use_page(c, &err) < 0) {
		report_error(error, &err);
		tickmark_close(c);
		return NULL;
	}
	return c;
}

void tickmark_close(struct tickmark_clock *c)
{
	if (c) {
		unmap(c);
		tkc_vmclock_close(c->vmclock);
		free(c->own);
		free(c->name);
		free(c->folder);
		free(c);
	}
}

int tickmark_refresh(struct tickmark_clock *c, struct tickmark_error *error)
{
	struct tkm_err err = { .text = "" };
	struct tickmark_clock fresh = *c;
	struct stat st;
	int rc;

	if (stat(c->path, &st) == 0 && st.st_ino == c->seen.st_ino && st.st_dev == c->seen.st_dev &&
		(c->scale != TICKMARK_FILE ||
			(st.st_size == c->seen.st_size && st.st_mtim.tv_sec == c->seen.st_mtim.tv_sec &&
				st.st_mtim.tv_nsec == c->seen.st_mtim.tv_nsec))) {
		return 0;
	}
	if (c->scale == TICKMARK_FILE) {
		rc = tkc_file_load(c, &err);
	} else {
		fresh.page = NULL;
		rc = open_page(&fresh, &err);
		if (rc == 0 && use_page(&fresh, &err) < 0) {
			unmap(&fresh);
			rc = -1;
		}
		if (rc == 0) {
			unmap(c);
			*c = fresh;
		}
	}
	if (rc < 0) {
		report_error(error, &err);
	}
	return rc < 0 ? -1 : 1;
}

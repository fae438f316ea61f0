/* SPDX-License-Identifier: BSD-3-Clause */
/* Output files that appear whole or not at all; see base/newfile.h. */
#include "config.h"
#include "base/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse_existing(const char *path, struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_EXISTS, "%s exists; --force replaces it, --output gives another name", path);
}

/* A rename by root would replace the device for the whole machine. */
static int begin_device(struct tkm_newfile *n, const char *path, struct tkm_err *err)
{
	n->f = fopen(path, "we");
	n->path = strdup(path);
	if (!n->f || !n->path) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write %s", path);
		tkm_newfile_abort(n);
		return -1;
	}
	return 0;
}

int tkm_newfile_begin(struct tkm_newfile *n, const char *path, int force, struct tkm_err *err)
{
	struct stat st;
	mode_t mask;
	int fd = -1;

	memset(n, 0, sizeof(*n));
	if (stat(path, &st) == 0 && S_ISCHR(st.st_mode)) {
		return begin_device(n, path, err);
	}
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		return tkm_fail(err, TKM_ERR_IO, "cannot replace %s: it is no regular file", path);
	}
	if (!force && lstat(path, &st) == 0) {
		return refuse_existing(path, err);
	}
	n->force = force;
	n->path = strdup(path);
	if (!n->path || asprintf(&n->temporary, "%s.XXXXXX", path) < 0) {
		n->temporary = NULL;
		tkm_newfile_abort(n);
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", path);
	}
	fd = mkostemp(n->temporary, O_CLOEXEC);
	if (fd >= 0) {
		mask = umask(0);
		umask(mask);
		fchmod(fd, 0666 & ~mask); /* mkostemp made it private */
		n->f = fdopen(fd, "w");
	}
	if (!n->f) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot create %s", path);
		if (fd >= 0) {
			close(fd);
			unlink(n->temporary);
		}
		free(n->temporary);
		n->temporary = NULL;
		tkm_newfile_abort(n);
		return -1;
	}
	return 0;
}

int tkm_newfile_commit(struct tkm_newfile *n, struct tkm_err *err)
{
	int bad = fflush(n->f) != 0 || ferror(n->f), rc = 0;
	int saved = errno;

	if (fclose(n->f) != 0 && !bad) {
		bad = 1;
		saved = errno;
	}
	n->f = NULL;
	if (bad) {
		rc = tkm_fail_errno(err, TKM_ERR_IO, saved, "cannot write %s", n->path);
	} else if (!n->temporary) {
		rc = 0; /* a device */
	} else if (n->force) {
		if (rename(n->temporary, n->path) < 0) {
			rc = tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot name %s", n->path);
		}
	} else if (link(n->temporary, n->path) < 0) { /* unlike rename(), link() refuses to replace a file */
		rc = errno == EEXIST ? refuse_existing(n->path, err)
				     : tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot name %s", n->path);
	}
	tkm_newfile_abort(n);
	return rc;
}

void tkm_newfile_abort(struct tkm_newfile *n)
{
	if (n->f) {
		fclose(n->f);
	}
	if (n->temporary) {
		unlink(n->temporary);
	}
	free(n->temporary);
	free(n->path);
	memset(n, 0, sizeof(*n));
}

int tkm_newfiles_possible(const char *output, const char *const *suffixes, int force, struct tkm_err *err)
{
	struct tkm_newfile n;
	char path[4096];

	for (; *suffixes; suffixes++) {
		if ((size_t)snprintf(path, sizeof(path), "%s%s", output, *suffixes) >= sizeof(path) - 32) {
			return tkm_fail(err, TKM_ERR_ARG, "--output: the name is too long");
		}
		if (tkm_newfile_begin(&n, path, force, err) < 0) {
			return -1;
		}
		tkm_newfile_abort(&n);
	}
	return 0;
}

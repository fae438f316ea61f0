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

int tkm_newfile_may_replace(const char *path, const char *mark, int force)
{
	enum { END = 4096 };
	char text[2 * END];
	struct stat st;
	/* a pipe would wait for its writer */
	int fd = force ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), found;
	ssize_t head, tail;

	if (fd < 0) {
		return force;
	}
	head = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? pread(fd, text, END, 0) : -1;
	tail = head == END ? pread(fd, text + END, END, st.st_size > 2 * END ? st.st_size - END : END) : 0;
	found = head > 0 && memmem(text, (size_t)(head + (tail > 0 ? tail : 0)), mark, strlen(mark)) != NULL;
	close(fd);
	return found;
}

/* A rename by root would replace the device for the whole machine. */
static int begin_device(struct tkm_newfile *n, const char *path, struct tkm_err *err)
{
	n->f = fopen(path, "we");
	n->device = strdup(path);
	if (!n->f || !n->device) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write %s", path);
		tkm_newfile_abort(n);
		return -1;
	}
	return 0;
}

int tkm_newfile_begin(struct tkm_newfile *n, const char *path, int force, struct tkm_err *err)
{
	struct stat st;
	char *temporary;
	mode_t mask;
	int fd;

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
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0 ||
		tkm_newname_init(&n->name, strdup(path), temporary, force) < 0) {
		tkm_newname_free(&n->name);
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", path);
	}
	fd = mkostemp(temporary, O_CLOEXEC);
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
			unlink(temporary);
		}
		tkm_newname_free(&n->name);
		return -1;
	}
	return 0;
}

int tkm_newfile_commit(struct tkm_newfile *n, struct tkm_err *err)
{
	const char *path = n->device ? n->device : n->name.path;
	int bad = fflush(n->f) != 0 || ferror(n->f), saved = errno, rc = 0;

	if (fclose(n->f) != 0 && !bad) {
		bad = 1;
		saved = errno;
	}
	n->f = NULL;
	if (bad) {
		rc = tkm_fail_errno(err, TKM_ERR_IO, saved, "cannot write %s", path);
	} else if (!n->device && tkm_newname_publish(&n->name) < 0) {
		rc = errno == EEXIST ? refuse_existing(path, err)
				     : tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot name %s", path);
	}
	if (rc == 0) {
		tkm_newname_free(&n->name);
	}
	tkm_newfile_abort(n);
	return rc;
}

void tkm_newfile_abort(struct tkm_newfile *n)
{
	if (n->f) {
		fclose(n->f);
	}
	tkm_newname_discard(&n->name);
	tkm_newname_free(&n->name);
	free(n->device);
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

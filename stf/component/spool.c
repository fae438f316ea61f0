/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes input that comes through a pipe readable more than once. */
#include "config.h"
#include "stf/component/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (256u << 10)

static int make_file(struct stf_err *err)
{
	const char *folder = secure_getenv("TMPDIR");
	char path[512];
	int fd;

	folder = folder && *folder ? folder : "/tmp";
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && snprintf(path, sizeof(path), "%s/stf-XXXXXX", folder) < (int)sizeof(path)) {
		/* the file system does not support O_TMPFILE */
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0) {
			unlink(path);
		}
	}
	return fd < 0 ? stf_fail_errno(err, errno, folder, "cannot make a temporary file") : fd;
}

static int put(int fd, const char *p, size_t n)
{
	ssize_t got;

	while (n) {
		got = write(fd, p, n);
		if (got < 0 && errno != EINTR) {
			return -1;
		}
		p += got > 0 ? got : 0;
		n -= got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static int copy(int from, int to, const char *name, struct stf_err *err)
{
	char *p = malloc(PIECE);
	ssize_t n = 1;
	int rc = p ? 0 : stf_no_memory(err);

	while (rc == 0 && n) {
		n = read(from, p, PIECE);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			rc = stf_fail_errno(err, errno, name, "cannot read");
		} else if (put(to, p, (size_t)n) < 0) {
			rc = stf_fail_errno(err, errno, name, "cannot keep the trace in a temporary file");
		}
	}
	free(p);
	return rc;
}

int stf_spool(int fd, const char *name, struct stf_err *err)
{
	struct stat st;
	int own;

	err->code = STF_OK;
	if (fstat(fd, &st) < 0) {
		return stf_fail_errno(err, errno, name, "cannot read");
	}
	if (S_ISREG(st.st_mode)) {
		own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		return own < 0 ? stf_fail_errno(err, errno, name, "cannot read") : own;
	}
	own = make_file(err);
	if (own >= 0 && copy(fd, own, name, err) < 0) {
		close(own);
		return -1;
	}
	return own;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces standard input by an unnamed file, so that an action can read it twice. */
#include "config.h"
#include "tools/cli/stdin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_stdin_file(const struct stt_options *o)
{
	const char *where = getenv("TMPDIR");
	char path[512];
	int fd;

	where = where && *where ? where : "/tmp";
	if (snprintf(path, sizeof(path), "%s/stftool-XXXXXX", where) >= (int)sizeof(path)) {
		stt_fault(o, "TMPDIR is too long");
		return -1;
	}
	fd = mkstemp(path);
	if (fd < 0) {
		stt_fault(o, "cannot make a file in %s: %s", where, strerror(errno));
		return -1;
	}
	unlink(path);
	return fd;
}

static int copy_stdin(const struct stt_options *o, int to)
{
	char buf[65536];
	FILE *f = fdopen(dup(to), "we");
	size_t n;
	int rc = 0;

	if (!f) {
		return stt_fault(o, "out of memory");
	}
	while ((n = fread(buf, 1, sizeof(buf), stdin)) > 0 && fwrite(buf, 1, n, f) == n) {
	}
	if (ferror(stdin)) {
		rc = stt_fault(o, "cannot read standard input: %s", strerror(errno));
	} else if (n > 0 || fflush(f) != 0) {
		rc = stt_fault(o, "cannot keep standard input in a temporary file: %s", strerror(errno));
	}
	fclose(f);
	return rc;
}

int stt_take_stdin(struct stt_options *o)
{
	struct stat st;
	int fd;

	if (!o->input || strcmp(o->input, "-") != 0) {
		return 0;
	}
	if (fstat(STDIN_FILENO, &st) < 0 || !S_ISREG(st.st_mode)) {
		fd = make_stdin_file(o);
		if (fd < 0) {
			return -1;
		}
		if (copy_stdin(o, fd) != 0 || dup2(fd, STDIN_FILENO) < 0) {
			close(fd);
			return -1;
		}
		close(fd);
	}
	o->input = "/dev/stdin";
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes all components of a trace into one file or pipe, after a directory that lists them. */
#include "config.h"
#include "stf/write/single.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE (256u << 10)

static void put_line(struct stf_buf *b, const char *suffix, uint64_t *at, uint64_t size)
{
	stf_buf_printf(b, "FILE %s %llu %llu\n", suffix, (unsigned long long)*at, (unsigned long long)size);
	*at += size;
}

int stf_single_directory(struct stf_buf *dir, uint64_t base, const struct stf_part *part, size_t n, struct stf_err *err)
{
	uint64_t at, was;
	size_t i;

	/* the offsets depend on the directory's length, and its length on their digits: this converges quickly */
	do {
		was = dir->n;
		at = was;
		dir->n = 0;
		stf_buf_printf(dir, "STFSINGLE 1.0\n");
		put_line(dir, "base", &at, base);
		for (i = 0; i < n; i++) {
			put_line(dir, part[i].suffix, &at, part[i].out->size);
		}
		stf_buf_printf(dir, "END\n");
	} while (!dir->failed && dir->n != was);
	return dir->failed ? stf_no_memory(err) : 0;
}

int stf_single_copy(struct stf_out *to, const struct stf_part *part, struct stf_err *err)
{
	const struct stf_out *from = part->out;
	int fd = open(from->name.temporary, O_RDONLY | O_CLOEXEC), rc = -1;
	uint64_t left = from->size;
	uint8_t *p = malloc(PIECE);
	ssize_t n;

	if (!p || fd < 0) {
		rc = p ? stf_fail_errno(err, errno, from->name.temporary, "cannot read") : stf_no_memory(err);
		goto out;
	}
	while (left) {
		n = read(fd, p, left < PIECE ? (size_t)left : PIECE);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			stf_fail_errno(err, n ? errno : EIO, from->name.temporary, "cannot read");
			goto out;
		}
		if (stf_out_write(to, p, (size_t)n, err) < 0) {
			goto out;
		}
		left -= (uint64_t)n;
	}
	rc = 0;
out:
	if (fd >= 0) {
		close(fd);
	}
	free(p);
	return rc;
}

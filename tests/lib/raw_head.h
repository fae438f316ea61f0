/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes the head of a raw file that is on the disk. */
#ifndef TESTS_LIB_RAW_HEAD_H
#define TESTS_LIB_RAW_HEAD_H

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "collector-plugin/raw/format.h"
#include "tests/lib/check.h"

/* As if the file's process had run on a node of that name. */
static inline void raw_on_node(const char *path, const char *name)
{
	struct vt_raw_head h;
	int fd = open(path, O_RDWR);

	CHECK(pread(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h), "read");
	snprintf(h.host, sizeof(h.host), "%s", name);
	h.check = vt_raw_check(&h.pid, offsetof(struct vt_raw_head, state) - offsetof(struct vt_raw_head, pid), 0);
	CHECK(pwrite(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h), "write");
	close(fd);
}

#endif

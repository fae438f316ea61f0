/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder of its own for the raw file of one test program. */
#ifndef TESTS_LIB_RAW_FILE_H
#define TESTS_LIB_RAW_FILE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collector-plugin/raw/writer.h"

static char dir[64], path[128];

static inline struct vt_raw *create(struct vt_raw_options o)
{
	struct vt_raw *r;
	struct tkm_err e = { TKM_OK, "" };

	unlink(path);
	o.path = path;
	o.block_size = o.block_size ? o.block_size : 4096;
	o.max_blocks = o.max_blocks ? o.max_blocks : 64;
	o.timer = "test";
	o.program = "prog";
	o.job = "job";
	o.trace = "/t.stf";
	o.hz = 1e9;
	o.start = ltick(1000);
	r = vt_raw_create(&o, &e);
	if (!r) {
		printf("# %s\n", e.text);
	}
	return r;
}

/* Descriptors of this process. */
static inline int open_files(void)
{
	int n = 0, fd;

	for (fd = 0; fd < 256; fd++) {
		n += fcntl(fd, F_GETFD) >= 0;
	}
	return n;
}

static inline void make_dir(void)
{
	snprintf(dir, sizeof(dir), "/tmp/test_raw.XXXXXX");
	if (!mkdtemp(dir)) {
		printf("Bail out! no temporary directory\n");
		exit(99);
	}
	snprintf(path, sizeof(path), "%s/raw.dat", dir);
}

static inline void remove_dir(void)
{
	unlink(path);
	rmdir(dir);
}

#endif

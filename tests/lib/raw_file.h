/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder of its own for the raw file of one test program. */
#ifndef TESTS_LIB_RAW_FILE_H
#define TESTS_LIB_RAW_FILE_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "tests/lib/check.h"

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
	o.program = o.program ? o.program : "prog";
	o.job = o.job ? o.job : "job";
	o.trace = o.trace ? o.trace : "/t.stf";
	o.hz = 1e9;
	o.start = ltick(1000);
	r = vt_raw_create(&o, &e);
	if (!r) {
		printf("# %s\n", e.text);
	}
	return r;
}

/* A child runs `record`, which counts in *done what it has recorded and never returns, and is killed up to 3 ms after its first
 * record. Opens its file; NULL: the file cannot be read. */
static inline struct vt_raw_file *killed_writer(
	void (*record)(volatile uint64_t *done, int turn), int turn, uint64_t *recorded)
{
	volatile uint64_t *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tkm_err e = { TKM_OK, "" };
	struct vt_raw_file *f;
	pid_t pid = fork();

	if (pid == 0) {
		record(done, turn);
		_exit(1);
	}
	while (*done == 0) {
		usleep(100);
	}
	usleep((useconds_t)(check_random() % 3000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	*recorded = *done;
	munmap((void *)(uintptr_t)done, 4096);
	f = vt_raw_open(path, &e);
	CHECK(f != NULL, "%s: %s", path, e.text);
	return f;
}

/* Records the values `from` to `to`, step ticks apart, each with up to six zeros. */
static inline void write_some(struct vt_raw_stream *s, uint64_t from, uint64_t to, int64_t step)
{
	static const uint32_t id[255] = { 1, 2, 3, 4, 5, 6, 7 };
	uint64_t v[7] = { 0 }, i;

	for (i = from; i <= to; i++) {
		v[0] = i;
		vt_raw_counters(s, ltick(1000 + (int64_t)i * step), 0, 1 + (unsigned)(i % 7), id, v);
	}
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs that are traces of several files: the input begins with the sizes of all files but the last, two bytes each, least
 * significant first; then come the files. They are written to a directory in memory. */
#ifndef TESTS_FUZZ_FILES_H
#define TESTS_FUZZ_FILES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/common/format.h"

enum { FUZZ_MAX_FILES = 8, FUZZ_PATH = 160 };

static char fuzz_dir[64];
static const char *const
	*fuzz_names; /* files below the directory, directories before what is in them end with a slash */

static void fuzz_remove_dir(void)
{
	char path[FUZZ_PATH];
	size_t n = 0;

	while (fuzz_names[n]) {
		n++;
	}
	while (n-- > 0) {
		snprintf(path, sizeof(path), "%s/%s", fuzz_dir, fuzz_names[n]);
		remove(path);
	}
	remove(fuzz_dir);
}

static void fuzz_make_dir(const char *const *names)
{
	char path[FUZZ_PATH];
	size_t i;

	fuzz_names = names;
	snprintf(fuzz_dir, sizeof(fuzz_dir), "%s/fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(fuzz_dir)) {
		abort();
	}
	for (i = 0; names[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s", fuzz_dir, names[i]);
		if (names[i][strlen(names[i]) - 1] == '/' && mkdir(path, 0700) != 0) {
			abort();
		}
	}
	atexit(fuzz_remove_dir);
}

static void fuzz_put(const char *name, const uint8_t *data, size_t size)
{
	char path[FUZZ_PATH];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fuzz_dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	close(fd);
}

/* Writes the files of an input. Returns 0 if it is too short for its sizes. */
static int fuzz_put_files(const char *const *names, const uint8_t *data, size_t size)
{
	size_t files = 0, i, k, n;
	const uint8_t *p;

	if (!*fuzz_dir) {
		fuzz_make_dir(names);
	}
	for (i = 0; names[i]; i++) {
		files += names[i][strlen(names[i]) - 1] != '/';
	}
	if (size < 2 * (files - 1)) {
		return 0;
	}
	p = data + 2 * (files - 1);
	size -= 2 * (files - 1);
	for (i = k = 0; names[i]; i++) {
		if (names[i][strlen(names[i]) - 1] != '/') {
			n = k + 1 < files ? data[2 * k] | (size_t)data[2 * k + 1] << 8 : size;
			n = n < size ? n : size;
			fuzz_put(names[i], p, n);
			p += n;
			size -= n;
			k++;
		}
	}
	return 1;
}

/* The lowest descriptor that is not in use. */
static int fuzz_free_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

/* Reads it: what is written then is a trace, and an error says what it is and leaves nothing, no open file either. */
static inline int fuzz_read_files(const char *format, const char *input)
{
	int free_fd = fuzz_free_fd();
	struct xch_input in = { .stf = { .force = 1, .single = STF_SINGLE_FILE } };
	char path[FUZZ_PATH], to[FUZZ_PATH];
	struct tkm_err err = { 0 };
	struct stf_reader *r;
	struct stf_err e;

	snprintf(path, sizeof(path), "%s/%s", fuzz_dir, input);
	snprintf(to, sizeof(to), "%s/out.stf", fuzz_dir);
	in.path = path;
	in.to = to;
	if (xch_read(&in, xch_by_name(format), &err) < 0) {
		if (!*err.text || access(to, F_OK) == 0 || fuzz_free_fd() != free_fd) {
			fprintf(stderr, "error \"%s\", descriptor %d, %d before\n", err.text, fuzz_free_fd(), free_fd);
			abort();
		}
		return 0;
	}
	r = stf_reader_open(to, 0, &e);
	if (!r) {
		fprintf(stderr, "%s: %s\n", e.file, e.text);
		abort();
	}
	stf_reader_close(r);
	unlink(to);
	return 0;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a trace in every way that the library has. */
#ifndef TESTS_FUZZ_READ_TRACE_H
#define TESTS_FUZZ_READ_TRACE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "include/stf.h"

/* Where what was read goes, so that the reading is not optimised away. */
static volatile uint64_t sink;

static void read_records(struct stf_reader *r, const struct stf_cursor_options *o)
{
	const struct stf_record *rec;
	struct stf_err err;
	struct stf_cursor *c = stf_cursor_open_with(r, o, &err);
	unsigned i;

	while (c && stf_cursor_next(c, &rec, &err) > 0) {
		for (i = 0; i < rec->layout->n_fields; i++) {
			if (rec->values[i].array && rec->values[i].count) {
				sink ^= ((const unsigned char *)rec->values[i].array)[rec->values[i].count - 1];
			}
		}
	}
	stf_cursor_close(c);
}

static void read_batches(struct stf_reader *r, const struct stf_cursor_options *o)
{
	const struct stf_record *rec;
	struct stf_counter_batch b;
	struct stf_err err;
	struct stf_cursor *c = stf_cursor_open_with(r, o, &err);
	int rc;

	while (c && (rc = stf_cursor_next_batch(c, &rec, &b, &err)) > 0) {
		if (rc == 1) {
			continue;
		}
		sink ^= b.times[b.n - 1] ^ stf_batch_willy(&b, b.n - 1);
		if (b.k) {
			sink ^= stf_batch_value(&b, b.n - 1, b.k - 1) ^ stf_batch_counter(&b, b.n - 1, b.k - 1);
		}
	}
	stf_cursor_close(c);
}

/* With `part` only what concerns that component is read: the others are good ones. `alone`: the window too is only of it, or of
 * the data whose anchors it has. */
static void read_open_trace(struct stf_reader *r, const char *part, int alone)
{
	struct stf_triplet t = { 0, 100, 2 };
	struct stf_cursor_options all = { 0 }, window = { .window = 1, .from = 900, .to = 20000, .state = 1 };
	struct stf_err err;
	struct stf_check check;
	char data[40] = "";
	size_t i, n;

	if (alone && part && *part) {
		n = strlen(part);
		n -= n > 4 && !strcmp(part + n - 4, ".anc") ? 4 : 0;
		snprintf(data, sizeof(data), "%.*s", (int)n, part);
		window.suffix = data;
	}
	read_records(r, &window);
	window.willies = &t;
	window.n_willies = 1;
	read_batches(r, part ? &all : &window);
	for (i = 0; !part && stf_reader_check(r, i, &check, &err) > 0; i++) {
		all.suffix = check.suffix;
		read_records(r, &all);
	}
	all.suffix = part;
	read_records(r, &all);
	read_batches(r, &all);
}

static inline void read_trace(const char *path, unsigned flags, const char *part, int alone)
{
	struct stf_err err;
	struct stf_reader *r = stf_reader_open(path, flags, &err);

	if (r) {
		read_open_trace(r, part, alone);
		stf_reader_close(r);
	}
}

/* The bytes as a file, a single-file trace. */
static inline void read_bytes(const uint8_t *data, size_t size, unsigned flags, const char *part, int alone)
{
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	read_trace(path, flags, part, alone);
	close(fd);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as a single-file trace: directory, definition layer, index, declarations, data, anchors, frames. With
 * clang -fsanitize=fuzzer it searches; built plainly it writes small traces, damages them from a fixed seed and
 * reads them, and the files that are named too (tests/fuzz/corpus). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stf/stf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_records(struct stf_reader *r, const struct stf_cursor_options *o)
{
	const struct stf_record *rec;
	struct stf_err err;
	struct stf_cursor *c = stf_cursor_open_with(r, o, &err);
	volatile unsigned char sink = 0;
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
	struct stf_counter_batch b;
	struct stf_err err;
	struct stf_cursor *c = stf_cursor_open_with(r, o, &err);
	volatile uint64_t sink = 0;

	while (c && stf_cursor_counters(c, &b, &err) > 0) {
		sink ^= b.times[b.n - 1] ^ stf_batch_willy(&b, b.n - 1);
		if (b.k) {
			sink ^= stf_batch_value(&b, b.n - 1, b.k - 1) ^ stf_batch_counter(&b, b.n - 1, b.k - 1);
		}
	}
	stf_cursor_close(c);
}

static void read_trace(const char *path, unsigned flags)
{
	struct stf_triplet t = { 0, 100, 2 };
	struct stf_cursor_options all = { 0 }, window = { .window = 1, .from = 900, .to = 20000, .state = 1 };
	struct stf_err err;
	struct stf_reader *r = stf_reader_open(path, flags, &err);
	struct stf_check check;
	size_t i;

	if (!r) {
		return;
	}
	read_records(r, &all);
	read_batches(r, &all);
	read_records(r, &window);
	window.willies = &t;
	window.n_willies = 1;
	read_batches(r, &window);
	for (i = 0; stf_reader_check(r, i, &check, &err) > 0; i++) {
		all.suffix = check.suffix;
		read_records(r, &all);
	}
	all.suffix = "";
	read_records(r, &all);
	stf_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = memfd_create("fuzz", 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	read_trace(path, STF_READ_DAMAGED);
	read_trace(path, STF_READ_CHECK_REFS);
	close(fd);
	return 0;
}

#ifndef FUZZING
static uint64_t state = 20261121;

static uint64_t draw(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void write_some(struct stf_writer *w)
{
	static const uint64_t v[3] = { 5, 6, 7 };
	static const uint32_t id[3] = { 1, 2, 3 };
	uint64_t t;

	stf_writer_info(w, "program", "fuzz");
	for (t = 100; t < 30000; t += 100) {
		struct stf_counter_value c = { .time = t - (t % 7000 == 0 ? 50 : 0), .willy = (uint32_t)(t / 100 % 4),
					       .size_1_2 = 3, .values = v, .counters = id };
		struct stf_enter_function f = { .time = t, .willy = c.willy };
		struct stf_one_to_one_communication m = { .time = t, .receive_time = (int64_t)(t % 1900) };

		stf_write_counter_value(w, &c);
		if (t % 1000 == 0) {
			stf_write_enter_function(w, &f);
			stf_write_one_to_one_communication(w, &m);
		}
	}
}

/* A small trace in memory; NULL if this build cannot write it. */
static uint8_t *make(int compress, int big, size_t *n)
{
	struct stf_writer_options o = { .resolution = 1e-9, .single = STF_SINGLE_FD, .compress = compress, .big_endian = big };
	char path[64];
	struct stf_err err;
	struct stf_writer *w;
	uint8_t *p = NULL;

	o.fd = memfd_create("seed", 0);
	snprintf(path, sizeof(path), "/tmp/fuzz_stf_%ld", (long)getpid());
	w = stf_writer_create(path, &o, &err);
	if (w) {
		write_some(w);
		if (stf_writer_finish(w, 1, 0, &err) == 0) {
			*n = (size_t)lseek(o.fd, 0, SEEK_END);
			p = malloc(*n);
			if (!p || pread(o.fd, p, *n, 0) != (ssize_t)*n) {
				abort();
			}
		}
	}
	close(o.fd);
	return p;
}

static void damage(const uint8_t *seed, size_t n, int times)
{
	uint8_t *p = malloc(n);
	size_t size, k;

	if (!p) {
		abort();
	}
	while (times-- > 0) {
		memcpy(p, seed, n);
		size = draw() % 4 ? n : draw() % n;
		for (k = draw() % 5; k > 0 && size; k--) {
			p[draw() % size] = draw() % 3 ? (uint8_t)draw() : draw() % 2 ? 0xff : '0';
		}
		LLVMFuzzerTestOneInput(p, size);
	}
	free(p);
}

static int replay(const char *path)
{
	static uint8_t buf[1 << 20];
	FILE *f = fopen(path, "rb");

	if (!f) {
		printf("not ok 2 - %s\n", path);
		return 1;
	}
	LLVMFuzzerTestOneInput(buf, fread(buf, 1, sizeof(buf), f));
	fclose(f);
	return 0;
}

/* With -w FOLDER it only writes the seeds there. */
int main(int argc, char **argv)
{
	uint8_t *p;
	size_t n;
	int i, bad = 0;

	for (i = 0; i < 4; i++) {
		p = make(i / 2, i % 2, &n);
		if (p && argc == 3 && strcmp(argv[1], "-w") == 0) {
			char path[400];
			FILE *f;

			snprintf(path, sizeof(path), "%.300s/seed%d", argv[2], i);
			f = fopen(path, "wb");
			if (!f || fwrite(p, 1, n, f) != n || fclose(f)) {
				return 1;
			}
		} else if (p) {
			damage(p, n, 300);
		}
		free(p);
	}
	printf("ok 1 - damaged traces are survived\n");
	for (i = 1; argc != 3 && i < argc; i++) {
		bad |= replay(argv[i]);
	}
	printf("1..1\n");
	return bad;
}
#endif

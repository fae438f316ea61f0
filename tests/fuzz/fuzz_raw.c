/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as a raw file: as it is, and with the checksums made right, which leads after them; what can be opened is
 * merged too. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "config.h"
#include "collector-plugin/merge/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"

static char dir[32] = "/dev/shm/fuzz_raw.XXXXXX", trace[64];
static volatile uint64_t sink;

static int look_at(const struct vt_raw_def *d, void *unused)
{
	const char *const text[] = { d->name, d->text, d->description, d->counter.name, d->counter.unit };
	uint32_t i;

	(void)unused;
	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		sink += text[i] ? strlen(text[i]) : 0;
	}
	for (i = 0; d->members && i < d->n; i++) {
		sink += d->members[i];
	}
	return 0;
}

static void read_streams(struct vt_raw_file *f)
{
	struct vt_raw_cursor c;
	const uint8_t *p;
	size_t i;

	for (i = 0; i < vt_raw_streams(f); i++) {
		vt_raw_cursor(f, i, &c);
		while (vt_raw_cursor_next(&c)) {
			for (p = c.p; p < c.p + c.size; p++) {
				sink += *p;
			}
		}
	}
}

static void clean(void)
{
	unlink(trace);
	rmdir(dir);
}

static void merge(const char *path)
{
	struct vt_merge_input in = { .path = path };
	struct vt_merge_options o = { .trace = trace, .single = 1, .force = 1, .threads = 1 };
	struct tkm_err err;

	if (!trace[0]) {
		if (!mkdtemp(dir) && !mkdtemp(strcpy(dir, "/tmp/fuzz_raw.XXXXXX"))) {
			abort();
		}
		snprintf(trace, sizeof(trace), "%s/t.single.stf", dir);
		atexit(clean);
	}
	vt_merge(&in, 1, &o, NULL, &err);
}

static void read_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("raw", MFD_CLOEXEC);
	struct vt_raw_file *f;
	struct tkm_err err;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	f = vt_raw_open(path, &err);
	if (f) {
		vt_raw_definitions(f, look_at, NULL);
		read_streams(f);
		vt_raw_file_close(f);
		merge(path);
	}
	close(fd);
}

/* Head and blocks as their writer would have signed them. */
static void sign(uint8_t *p, size_t size)
{
	struct vt_raw_head *h = (struct vt_raw_head *)(void *)p;
	struct vt_raw_block *b;
	size_t at;

	if (size < sizeof(*h)) {
		return;
	}
	h->version = VT_RAW_VERSION; /* stored inputs stay of use when it goes up */
	h->check = vt_raw_check(&h->pid, offsetof(struct vt_raw_head, state) - offsetof(struct vt_raw_head, pid), 0);
	if (h->block_size % 8 || h->block_size < sizeof(*b) || h->head_size % 8) {
		return;
	}
	for (at = h->head_size; at < size && size - at >= sizeof(*b); at += h->block_size) {
		b = (struct vt_raw_block *)(void *)(p + at);
		if (b->used % 4 == 0 && b->used <= size - at - sizeof(*b)) {
			b->check = vt_raw_block_check(b, b->used);
		}
	}
}

#ifdef FUZZING
#define AIMED 0
#else
#define AIMED 8
#endif

/* Most of a small file is room that nobody used: damages where there is something. */
static void damage_used(uint8_t *p, size_t size)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	static unsigned state = 20261121;
	const struct vt_raw_head *h = (const struct vt_raw_head *)(const void *)p;
	uint8_t before;
	size_t at, used;
	int i;

	for (i = 0; i < AIMED && size > 4 * sizeof(struct vt_raw_block) + sizeof(*h); i++) {
		at = (size_t)rand_r(&state) % (size / 4096 + 1) * 4096;
		if (at == 0 || size - at < sizeof(struct vt_raw_block)) {
			used = at == 0 ? sizeof(*h) : 1;
		} else {
			used = sizeof(struct vt_raw_block) +
				((const struct vt_raw_block *)(const void *)(p + at))->used % 4096;
		}
		at += (size_t)rand_r(&state) % used;
		if (at < size) {
			before = p[at];
			p[at] = values[rand_r(&state) % sizeof(values)];
			sign(p, size);
			read_file(p, size);
			p[at] = before;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = aligned_alloc(64, (size + 64) / 64 * 64);

	if (!copy) {
		abort();
	}
	read_file(data, size);
	memcpy(copy, data, size);
	sign(copy, size);
	read_file(copy, size);
	damage_used(copy, size);
	free(copy);
	return 0;
}

#define FUZZ_NAME "raw"
#include "tests/fuzz/fuzz.h"

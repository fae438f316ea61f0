/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as an LTTng trace of 2008: the first two bytes say how many bytes control/facilities_0 has, the rest is cpu_0. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/format.h"

#define FUZZ_NAME "lttng"
#include "tests/fuzz/fuzz.h"

static char dir[64];

static void remove_dir(void)
{
	static const char *const names[] = { "/t/control/facilities_0", "/t/control", "/t/cpu_0", "/t", "" };
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, names[i]);
		remove(path);
	}
}

static void put(const char *name, const uint8_t *data, size_t size)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", dir, name);
	f = fopen(path, "w");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xch_input in = { .stf = { .force = 1 } };
	char path[128], to[128];
	struct tkm_err err;
	size_t n;

	if (size < 2) {
		return 0;
	}
	if (!*dir) {
		snprintf(dir, sizeof(dir), "%s/fuzz-lttng-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
		if (!mkdtemp(dir)) {
			abort();
		}
		snprintf(path, sizeof(path), "%s/t", dir);
		mkdir(path, 0700);
		snprintf(path, sizeof(path), "%s/t/control", dir);
		mkdir(path, 0700);
		atexit(remove_dir);
	}
	n = data[0] | (size_t)data[1] << 8;
	n = n < size - 2 ? n : size - 2;
	put("/t/control/facilities_0", data + 2, n);
	put("/t/cpu_0", data + 2 + n, size - 2 - n);
	snprintf(path, sizeof(path), "%s/t", dir);
	snprintf(to, sizeof(to), "%s/out.stf", dir);
	in.path = path;
	in.to = to;
	if (xch_read(&in, xch_by_name("LTTNG"), &err) == 0) {
		struct stf_err e;
		struct stf_reader *r = stf_reader_open(to, 0, &e);

		/* what was written is a trace, and goes */
		if (!r) {
			fprintf(stderr, "%s: %s\n", e.file, e.text);
			abort();
		}
		stf_reader_close(r);
		snprintf(path, sizeof(path), "rm -f %s/out.stf*", dir);
		if (system(path) != 0) {
			abort();
		}
	} else if (!*err.text) {
		abort();
	}
	return 0;
}

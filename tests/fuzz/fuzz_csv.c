/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as a trace in the format FUZZ_FORMAT, of one file, read into a trace that goes to memory. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/common/format.h"

#ifndef FUZZ_FORMAT
#define FUZZ_FORMAT csv
#endif
#define NAME_OF_1(format) #format
#define NAME_OF(format) NAME_OF_1(format)
#define FUZZ_NAME NAME_OF(FUZZ_FORMAT)
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char to[64];
	struct stat st;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct xch_input in = { .path = path, .to = to, .stf = { .force = 1, .single = STF_SINGLE_FILE } };
	struct tkm_err err = { 0 };

	if (!to[0]) {
		snprintf(to, sizeof(to), "%s/fuzz_%s_%ld.stf", stat("/dev/shm", &st) == 0 ? "/dev/shm" : "/tmp",
			FUZZ_NAME, (long)getpid());
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	xch_by_name(FUZZ_NAME)->is(path, data, size);
	if (xch_read(&in, xch_by_name(FUZZ_NAME), &err) == 0) {
		unlink(to);
	} else if (!err.text[0] || access(to, F_OK) == 0) {
		abort(); /* an error says what it is, and leaves nothing */
	}
	close(fd);
	return 0;
}

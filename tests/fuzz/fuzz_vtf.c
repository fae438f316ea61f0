/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as ASCII VTF, read into a trace that goes to memory. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/vtf/vtf.h"

#define FUZZ_NAME "vtf"
#include "tests/fuzz/fuzz.h"

/* Where the components are kept: in memory if the machine has such a place. */
static const char *place(void)
{
	static char path[64];
	struct stat st;

	if (!path[0]) {
		snprintf(path, sizeof(path), "%s/fuzz_vtf_%ld.stf", stat("/dev/shm", &st) == 0 ? "/dev/shm" : "/tmp",
			(long)getpid());
	}
	return path;
}

static void remove_trace(void)
{
	static const char *const suffix[] = { "", ".dcl", ".sts", ".msg", ".msg.anc", ".cop", ".cop.anc" };
	char path[128];
	size_t i;
	const char *k;

	for (i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", place(), suffix[i]);
		unlink(path);
	}
	for (k = "fsicrx"; *k; k++) {
		for (i = 0; i < 2; i++) {
			snprintf(path, sizeof(path), "%s.%c.0%s", place(), *k, i ? ".anc" : "");
			unlink(path);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stt_options o = { .program = "fuzz", .force = 1 };
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	FILE *keep = stderr;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	stderr = fopen("/dev/null", "w"); /* every second line is an error, and says so */
	if (vtf_to_stf(&o, path, place(), STT_STF) == STT_OK) {
		remove_trace();
	}
	fclose(stderr);
	stderr = keep;
	close(fd);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that the sources keep open. */
#define _GNU_SOURCE
#include "config.h"
#include "sampler/private.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void files_of_any_length(void)
{
	static const size_t length[] = { 100000, 0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 300000, 5 };
	char name[] = "/tmp/test_private.XXXXXX";
	int fd = mkstemp(name), root = open("/", O_RDONLY | O_DIRECTORY);
	struct smp_room room = { NULL, 0 };
	struct smp_file f = { .fd = -1 };
	size_t i, k;

	CHECK(fd >= 0 && smp_file_open(&f, root, name) == 0, "cannot open %s", name);
	for (i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
		CHECK_INT(ftruncate(fd, 0), 0);
		for (k = 0; k < length[i]; k++) {
			CHECK(pwrite(fd, &"abcdefg"[k % 7], 1, (off_t)k) == 1, "cannot write");
		}
		CHECK_INT(smp_file_whole(&f, &room), (long long)length[i]);
		CHECK_INT(strlen(room.text), length[i]);
		CHECK(!length[i] || room.text[length[i] - 1] == "abcdefg"[(length[i] - 1) % 7], "%zu bytes", length[i]);
	}
	smp_file_close(&f);
	CHECK_INT(smp_file_whole(&f, &room), -1);
	free(room.text);
	close(fd);
	close(root);
	unlink(name);
}

/* With the descriptors that sets keep open, the kernel's table must not grow again. */
static void room_for_descriptors(void)
{
	char line[100];
	long long size = 0;
	FILE *f;
	int fd = open("/", O_PATH), again;

	smp_fd_room();
	f = fopen("/proc/self/status", "r");
	CHECK(f, "cannot open");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "FDSize: %lld", &size);
	}
	CHECK(size > 512, "room for %lld", size);
	if (f) {
		fclose(f);
	}
	again = smp_fd_high(open("/", O_PATH));
	CHECK_INT(again, 512); /* nothing is left there */
	close(again);
	close(fd);
}

/* Only a process of our own trusts a descriptor of the kernel's files, and never one of another file. */
static void only_the_kernels_files_stay(void)
{
	char name[] = "/tmp/test_private.XXXXXX";
	int fd = mkstemp(name), root = open("/", O_RDONLY | O_DIRECTORY);
	struct smp_file proc, other;

	CHECK(smp_file_open(&proc, root, "/proc/self/stat") == 0 && smp_file_open(&other, root, name) == 0,
		"cannot open");
	CHECK(!proc.stays && !other.stays, "trusted in a program");
	smp_file_close(&proc);
	smp_file_close(&other);
	smp_own_process();
	CHECK(smp_file_open(&proc, root, "/proc/self/stat") == 0 && smp_file_open(&other, root, name) == 0,
		"cannot open");
	CHECK(proc.stays && !other.stays, "%d %d", proc.stays, other.stays);
	CHECK_INT(smp_file_there(&proc), 1);
	CHECK_INT(smp_file_there(&other), 1);
	unlink(name);
	CHECK_INT(smp_file_there(&other), 0);
	smp_file_close(&proc);
	close(fd);
	close(root);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(files_of_any_length);
	RUN(room_for_descriptors);
	RUN(only_the_kernels_files_stay);
	return check_end();
}

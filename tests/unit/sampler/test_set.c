/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of counters is read at once; no value at the moment is not the end. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "sampler/source.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

static void gathered_snapshot_reads(void)
{
	unpack("firecracker");
	OPEN(SMP_NODE, 0, "disk_io", "net_io", "cpu_* on", "mem_* on", "psi_* on");
	CHECK_INT(smp_set_read(set, value, state), (int)smp_set_size(set));
	CHECK(got("disk_io") > 0 && got("net_io") > 0 && got("mem_free") > 0, "a gathered value is 0");
	drop();
}

/* No value at the moment is not the end of what is observed. */
static void a_device_alone_that_goes(void)
{
	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "disk_io:sdb");
	CHECK_INT(smp_set_read(set, value, state), 1);
	shell("rm -r %s/sys/block/%s", "sdb");
	CHECK_INT(smp_set_read(set, value, state), 0);
	drop();
}

static void closed_descriptors_are_opened_again(void)
{
	static const char text[] = "cpu 1 2 3 4 5 6 7 8\n7 7 7 7 7 7 7 7 7 7 7\n";
	int high, own[64], i, name;
	char back[8];

	dir[0] = '\0';
	smp_env_init(&env);
	OPEN(SMP_NODE, 0, "cpu_usr", "disk_io", "disk_ops", "mem_free", "clock_source");
	for (name = 500; name < 600; name++) {
		close(name);
	}
	for (i = 0; i < 64; i++) {
		high = memfd_create("own", 0);
		own[i] = fcntl(high, F_DUPFD, 500);
		close(high);
		CHECK(write(own[i], text, sizeof(text) - 1) == sizeof(text) - 1, "%s", strerror(errno));
		lseek(own[i], 0, SEEK_SET);
	}
	read_again();
	smp_set_close(set);
	set = NULL;
	for (i = 0; i < 64; i++) {
		CHECK(read(own[i], back, 3) == 3 && memcmp(back, text, 3) == 0,
			"descriptor %d of the program was touched", own[i]);
		close(own[i]);
	}
	drop();
}

/* Data of the program's pipe must not be read away through a number that once was ours. */
static void foreign_pipes_are_not_read(void)
{
	int fd[2], i, pipes[200][2], n = 0;
	char c;

	smp_env_init(&env);
	OPEN(SMP_THREAD, (int32_t)gettid(), "perf_task_clock on", "perf_page_faults on");
	for (i = 500; i < 600; i++) {
		close(i);
	}
	for (i = 0; i < 40; i++) {
		if (pipe(fd) < 0) {
			break;
		}
		pipes[n][0] = fcntl(fd[0], F_DUPFD, 500);
		pipes[n][1] = fd[1];
		close(fd[0]);
		CHECK_INT(write(fd[1], "x", 1), 1);
		n++;
	}
	smp_set_read(set, value, state);
	for (i = 0; i < (int)smp_set_size(set); i++) {
		CHECK_INT(state[i], 0);
	}
	smp_set_close(set);
	set = NULL;
	for (i = 0; i < n; i++) {
		CHECK(read(pipes[i][0], &c, 1) == 1 && c == 'x', "pipe %d was read or closed", i);
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(gathered_snapshot_reads);
	RUN(a_device_alone_that_goes);
	RUN(closed_descriptors_are_opened_again);
	RUN(foreign_pipes_are_not_read);
	return check_end();
}

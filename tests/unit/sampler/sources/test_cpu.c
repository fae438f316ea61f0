/* SPDX-License-Identifier: BSD-3-Clause */
/* The times of CPUs that go and come. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

static void cpus_go_and_come(void)
{
	unpack("container");
	OPEN(SMP_NODE, 0, "cpu_usr", "cpu_usr:cpu3", "cpu_iowait");
	put("/proc/stat", "cpu  510 0 100 9000 0 0 0 0\ncpu0 260 0 50 4500 0 0 0 0\nintr 5\n");
	read_again();
	HAS("cpu_usr", 510);
	CHECK_INT(state[place("cpu_usr:cpu3")], 0);
	put("/proc/stat", "cpu  530 0 100 9000 4 0 0 0\ncpu0 260 0 50 4500 0 0 0 0\ncpu3 270 0 1 1 1 1 1 1\nintr 5\n");
	read_again();
	HAS("cpu_usr:cpu3", 270);
	HAS("cpu_iowait", 4);
	/* iowait is taken back by the kernel at times: the total waits */
	put("/proc/stat", "cpu  530 0 100 9000 2 0 0 0\nintr 5\n");
	read_again();
	HAS("cpu_iowait", 4);
	put("/proc/stat", "cpu  530 0 100 9000 5 0 0 0\nintr 5\n");
	read_again();
	HAS("cpu_iowait", 5);
	/* a line that is cut is none */
	put("/proc/stat", "cpu  530 0 100 90");
	read_again();
	CHECK_INT(state[place("cpu_usr")], 0);
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(cpus_go_and_come);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of processing units, on a kernel that may have more than fit into a cpu_set_t. */
#define _GNU_SOURCE
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/cpus.h"
#include "tests/lib/check.h"

/* ---- the kernel: so many possible units, some of which are allowed ---- */

static size_t possible;
static unsigned char may[1 << 16];

/* Instead of libc's. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	if (8 * size < possible) {
		errno = EINVAL;
		return -1;
	}
	memset(set, 0, size);
	memcpy(set, may, possible / 8);
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	size_t i;

	(void)pid;
	memset(may, 0, sizeof(may));
	memcpy(may, set, size < possible / 8 ? size : possible / 8);
	for (i = 0; i < possible / 8 && !may[i]; i++) {
	}
	errno = EINVAL;
	return i < possible / 8 ? 0 : -1;
}

static void a_kernel_of(size_t units)
{
	struct tkm_cpus c = { .set = NULL };

	possible = units;
	CHECK_INT(tkm_cpus_unbind(), 0);
	CHECK_INT(tkm_cpus_own(&c), 0);
	CHECK(tkm_cpus_count(&c) == units, "%zu of %zu units", tkm_cpus_count(&c), units);
	CHECK_INT(tkm_cpus_next(&c, -1), 0);
	CHECK_INT(tkm_cpus_next(&c, (int)units - 1), -1);
	CHECK_INT(tkm_cpus_bind_to((unsigned)units - 1), 0);
	CHECK_INT(tkm_cpus_own(&c), 0);
	CHECK_INT(tkm_cpus_count(&c), 1);
	CHECK_INT(tkm_cpus_next(&c, -1), (int)units - 1);
	CHECK_INT(tkm_cpus_next(&c, (int)units - 1), -1);
	CHECK_INT(tkm_cpus_bind_to((unsigned)units), -1);
	CHECK_INT(tkm_cpus_bind(&c), 0);
	tkm_cpus_free(&c);
	CHECK_INT(tkm_cpus_count(&c), 0);
	CHECK_INT(tkm_cpus_next(&c, -1), -1);
	CHECK_INT(tkm_cpus_bind(&c), -1);
}

static void kernels_of_every_size(void)
{
	static const size_t units[] = { 8, 64, 1024, 1088, 2048, 8192, 16384, 65536 };
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		a_kernel_of(units[i]);
	}
}

static void no_set_is_as_large(void)
{
	struct tkm_cpus c = { .set = NULL };

	possible = (size_t)1 << 40;
	CHECK_INT(tkm_cpus_own(&c), -1);
	CHECK_INT(errno, EINVAL);
	CHECK(!c.set, "a set");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(kernels_of_every_size);
	RUN(no_set_is_as_large);
	return check_end();
}

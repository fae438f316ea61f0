/* SPDX-License-Identifier: BSD-3-Clause */
/* 2000 page faults at the begin. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	long size = 2000 * sysconf(_SC_PAGESIZE), i;
	char *p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, (size_t)size, MADV_NOHUGEPAGE);
	for (i = 0; i < size; i += sysconf(_SC_PAGESIZE)) {
		p[i] = 1;
	}
	usleep(500000);
	return 0;
}

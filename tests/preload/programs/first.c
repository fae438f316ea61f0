/* SPDX-License-Identifier: BSD-3-Clause */
/* 20000 page faults of the main thread, from its first step on. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	size_t i, n = (size_t)20000 * (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, n, MADV_NOHUGEPAGE);
	for (i = 0; i < n; i += n / 20000) {
		p[i] = 1;
	}
	return 0;
}

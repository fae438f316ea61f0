/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a function again and again, and keeps in the file argv[1], which is mapped, how many calls it has begun and ended. After
 * argv[2] calls, if that is not 0, it only waits. Compiled with -finstrument-functions. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) void work(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0644);
	long long most = argc > 2 ? atoll(argv[2]) : 0;
	volatile long long *n;

	if (fd < 0 || ftruncate(fd, 16) < 0) {
		return 1;
	}
	n = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (n == MAP_FAILED) {
		return 1;
	}
	alarm(300); /* if nobody kills it */
	while (!most || n[0] < most) {
		n[0]++;
		work();
		n[1]++;
	}
	for (;;) {
		pause();
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of known work for the tests of counters (validate.h). */
#include "config.h"
#include "sampler/works.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int smp_work_loop(uint64_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("1: sub $1, %0\n\tjnz 1b" : "+r"(n) : : "cc");
	return 0;
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
	return 0;
#else
	(void)n;
	return -1;
#endif
}

/* Small pages, so that n pages are n faults. */
static unsigned char *map_small_pages(size_t bytes)
{
	unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		return NULL;
	}
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static void touch_fresh_pages(unsigned char *p, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;

	for (i = 0; i < bytes; i += page) {
		((volatile unsigned char *)p)[i] = 1;
	}
}

int smp_work_faults(uint64_t n)
{
	size_t bytes = (size_t)n * (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *p = map_small_pages(bytes);

	if (!p) {
		return -1;
	}
	touch_fresh_pages(p, bytes);
	munmap(p, bytes);
	return 0;
}

static uint64_t thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int smp_work_spin(uint64_t n)
{
	uint64_t end = thread_ns() + n * 1000000;
	volatile unsigned i;

	while (thread_ns() < end) {
		for (i = 0; i < 10000; i++) {
		}
	}
	return 0;
}

static int through_pipe(uint64_t times, size_t bytes)
{
	char buf[1024];
	int fd[2], rc = 0;

	memset(buf, 1, sizeof(buf));
	if (pipe2(fd, O_CLOEXEC) < 0) {
		return -1;
	}
	while (times-- > 0 && rc == 0) {
		rc = write(fd[1], buf, bytes) == (ssize_t)bytes && read(fd[0], buf, bytes) == (ssize_t)bytes ? 0 : -1;
	}
	close(fd[0]);
	close(fd[1]);
	return rc;
}

int smp_work_pipe(uint64_t n)
{
	return through_pipe(n, 1024);
}

int smp_work_calls(uint64_t n)
{
	return through_pipe(n, 1);
}

int smp_work_sleep(uint64_t n)
{
	struct timespec t = { 0, 50000 };

	while (n-- > 0) {
		nanosleep(&t, NULL);
	}
	return 0;
}

int smp_work_wait(uint64_t n)
{
	struct timespec t = { (time_t)(n / 1000), (long)(n % 1000) * 1000000 };

	nanosleep(&t, NULL);
	return 0;
}

int smp_work_packets(uint64_t n)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), in = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
	    rc = -1;
	struct timeval limit = { 1, 0 };
	socklen_t len = sizeof(to);
	char buf[1000] = "";

	if (from < 0 || in < 0 || bind(in, (struct sockaddr *)&to, sizeof(to)) < 0 ||
		getsockname(in, (struct sockaddr *)&to, &len) < 0) {
		goto out;
	}
	setsockopt(in, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (rc = 0; rc == 0 && n > 0; n--) {
		/* each datagram is received before the next is sent, so none is dropped */
		rc = sendto(from, buf, sizeof(buf), 0, (struct sockaddr *)&to, sizeof(to)) == sizeof(buf) &&
				recv(in, buf, sizeof(buf), 0) == sizeof(buf)
			? 0
			: -1;
	}
out:
	if (from >= 0) {
		close(from);
	}
	if (in >= 0) {
		close(in);
	}
	return rc;
}

int smp_work_disk(uint64_t n)
{
	char name[] = "vtcounters.XXXXXX";
	static char block[1 << 20];
	int fd = mkostemp(name, O_CLOEXEC), rc = 0;

	if (fd < 0) {
		return -1;
	}
	unlink(name);
	memset(block, (int)n, sizeof(block));
	while (n-- > 0 && rc == 0) {
		rc = write(fd, block, sizeof(block)) == (ssize_t)sizeof(block) ? 0 : -1;
	}
	rc |= fsync(fd);
	close(fd);
	return rc;
}

int smp_work_memory(uint64_t n)
{
	static unsigned char *held;
	static size_t bytes;

	if (held) {
		munmap(held, bytes);
		held = NULL;
	}
	if (n == 0) {
		return 0;
	}
	bytes = (size_t)n << 20;
	held = map_small_pages(bytes);
	if (!held) {
		return -1;
	}
	touch_fresh_pages(held, bytes);
	return 0;
}

int smp_work_mixed(uint64_t n)
{
	enum { SIZE = 1 << 25 };
	uint64_t x = 88172645463325252u, i;
	volatile double f = 1.5;
	unsigned char *p = map_small_pages(SIZE);
	volatile uint64_t sink = 0;

	if (!p) {
		return -1;
	}
	while (n-- > 0) {
		for (i = 0; i < 200000; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			p[x & (SIZE - 1)] = (unsigned char)(p[x >> 32 & (SIZE - 1)] + 1);
			if (x & 64) {
				f = f * 1.0000001 + 0.25;
			} else {
				sink = sink + x * 3;
			}
		}
		smp_work_sleep(2);
	}
	munmap(p, SIZE);
	return 0;
}

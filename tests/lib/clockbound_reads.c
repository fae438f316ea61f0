/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the ClockBound segment, written from what is published of the protocol (version 2) alone: bytes of a file, no header of ours.
 * Reads UTC so many times between two reads of CLOCK_REALTIME, which here is the true time, while the clock that the segment describes
 * is off by NTP_OFFSET_US, and prints how often the interval had nothing of it. Status 0: never, and each had an interval. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 80, UNKNOWN = 0, SYNCHRONISED = 1, FREE_RUNNING = 2 };

static const int64_t second = 1000000000, grace_ns = 5000000000;

static int64_t now_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * second + ts.tv_nsec;
}

static int64_t int_at(const unsigned char *p, size_t bytes)
{
	int64_t v = 0;
	int32_t narrow;

	if (bytes == 4) {
		memcpy(&narrow, p, 4);
		return narrow;
	}
	memcpy(&v, p, 8);
	return v;
}

/* The generation, at byte 14: even if nothing is written just now. */
static uint16_t generation(const volatile unsigned char *segment)
{
	return __atomic_load_n((const volatile uint16_t *)(const volatile void *)(segment + 14), __ATOMIC_ACQUIRE);
}

/* What a client keeps from one reading to the next: while the segment is written, the last copy counts. */
static void look(const volatile unsigned char *segment, unsigned char *copy, uint16_t *copied)
{
	uint16_t first = generation(segment);
	int i, tries;

	for (tries = 0; tries < 1000000 && first && first != *copied && first % 2 == 0; tries++) {
		for (i = 0; i < SIZE; i++) {
			copy[i] = segment[i];
		}
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (generation(segment) == first) {
			*copied = first;
			return;
		}
		first = generation(segment);
	}
}

/* The interval at this moment; the status that follows. */
static int interval(const unsigned char *copy, int64_t offset_ns, int64_t *earliest, int64_t *latest)
{
	int64_t real = now_ns(CLOCK_REALTIME) + offset_ns, age = now_ns(CLOCK_MONOTONIC_COARSE), bound;
	int64_t void_after = int_at(copy + 32, 8) * second + int_at(copy + 40, 8);
	int status = (int)int_at(copy + 68, 4);

	if (status == UNKNOWN || status > FREE_RUNNING || age >= void_after) {
		return UNKNOWN;
	}
	age -= int_at(copy + 16, 8) * second + int_at(copy + 24, 8);
	if (age < -1000) {
		return -1; /* it says what will be */
	}
	bound = int_at(copy + 48, 8) + (int64_t)((double)age * 1e-9 * (double)(uint32_t)int_at(copy + 64, 4));
	*earliest = real - bound;
	*latest = real + bound;
	return age < grace_ns ? status : FREE_RUNNING;
}

static const unsigned char *open_segment(const char *path)
{
	static const uint32_t magic[2] = { 0x414d5a4e, 0x43420200 };
	int fd = open(path, O_RDONLY);
	unsigned char *p = fd < 0 ? MAP_FAILED : mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);

	if (fd >= 0) {
		close(fd);
	}
	if (p == MAP_FAILED) {
		perror(path);
		return NULL;
	}
	if (memcmp(p, magic, 8) != 0 || int_at(p + 8, 4) != SIZE || (int_at(p + 12, 4) & 0xffff) != 2 ||
		generation(p) == 0) {
		fprintf(stderr, "%s is no segment of version 2\n", path);
		return NULL;
	}
	return p;
}

int main(int argc, char **argv)
{
	const char *offset = getenv("NTP_OFFSET_US");
	int64_t offset_ns = 1000 * (offset ? atoll(offset) : 0), before, earliest = 0, latest = 0;
	const unsigned char *segment = argc > 2 ? open_segment(argv[1]) : NULL;
	long n = argc > 2 ? atol(argv[2]) : 0, i, outside = 0, without = 0, changes = 0;
	struct timespec nap = { 0, 20000 };
	unsigned char copy[SIZE] = { 0 };
	uint16_t copied = 0, last = 0;

	if (!segment) {
		return 2;
	}
	for (i = 0; i < n; i++) {
		before = now_ns(CLOCK_REALTIME);
		look(segment, copy, &copied);
		without += interval(copy, offset_ns, &earliest, &latest) != SYNCHRONISED;
		outside += latest < before || earliest > now_ns(CLOCK_REALTIME);
		changes += copied != last;
		last = copied;
		if (i % 64 == 0) {
			nanosleep(&nap, NULL);
		}
	}
	printf("%ld readings of %ld copies, %ld outside, %ld without an interval, the last %" PRId64 " ns wide\n", n,
		changes, outside, without, latest - earliest);
	return outside || without;
}

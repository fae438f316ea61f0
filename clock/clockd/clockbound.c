/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the shared memory segment of AWS ClockBound; see clock/clockd/clockbound.h. */
#include "config.h"
#include "clock/clockd/clockbound.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void put_clockbound_time(int64_t *s, int64_t *ns, int64_t t)
{
	*s = t / 1000000000;
	*ns = t % 1000000000;
}

void tkc_clockbound_write(struct tkc_clockbound *c, const struct tkc_clockbound_state *s)
{
	uint16_t n = atomic_load_explicit(&c->generation, memory_order_relaxed) | 1;
	struct timespec step = { 0, 10000000 };

	clock_getres(CLOCK_MONOTONIC_COARSE, &step);
	atomic_store_explicit(&c->generation, n, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	put_clockbound_time(&c->as_of_s, &c->as_of_ns, s->as_of_ns);
	put_clockbound_time(&c->void_after_s, &c->void_after_ns, s->as_of_ns + s->valid_ns);
	/* a client measures the age with the coarse clock, which can be one step behind */
	c->bound_ns = (int64_t)ceil(s->bound_ns + s->max_drift * (1e9 * (double)step.tv_sec + (double)step.tv_nsec));
	c->disruption_marker = s->marker;
	c->max_drift_ppb = (uint32_t)ceil(fmin(s->max_drift * 1e9, 999999999));
	c->status = s->status;
	c->disruption_support = s->support != 0;
	/* as published, 0 is for a segment that has never been written: after 65535 comes 2 */
	atomic_store_explicit(&c->generation, n == UINT16_MAX ? 2 : (uint16_t)(n + 1), memory_order_release);
}

struct tkc_clockbound *tkc_clockbound_create(int folder, const char *name, struct tkm_err *err)
{
	struct tkc_clockbound *c = MAP_FAILED;
	char temporary[128];
	int fd;

	snprintf(temporary, sizeof(temporary), "%s.%ld", name, (long)getpid());
	unlinkat(folder, temporary, 0);
	fd = openat(folder, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd >= 0 && fchmod(fd, 0644) == 0 && posix_fallocate(fd, 0, sizeof(*c)) == 0) {
		c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (fd >= 0) {
		close(fd);
	}
	if (c == MAP_FAILED) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot make the ClockBound segment %s", name);
		unlinkat(folder, temporary, 0);
		return NULL;
	}
	c->magic[0] = 0x414d5a4e;
	c->magic[1] = 0x43420200;
	atomic_store(&c->size, (uint32_t)sizeof(*c));
	atomic_store(&c->version, 2);
	tkc_clockbound_write(c, &(struct tkc_clockbound_state){ .status = TKC_CLOCKBOUND_UNKNOWN });
	if (renameat(folder, temporary, folder, name) < 0) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot make the ClockBound segment %s", name);
		unlinkat(folder, temporary, 0);
		munmap(c, sizeof(*c));
		return NULL;
	}
	return c;
}

void tkc_clockbound_withdraw(struct tkc_clockbound *c, int folder, const char *name)
{
	if (c) {
		tkc_clockbound_write(c, &(struct tkc_clockbound_state){ .status = TKC_CLOCKBOUND_UNKNOWN });
		unlinkat(folder, name, 0);
		munmap(c, sizeof(*c));
	}
}

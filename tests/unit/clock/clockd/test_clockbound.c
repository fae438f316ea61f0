/* SPDX-License-Identifier: BSD-3-Clause */
/* The segment of ClockBound, byte for byte. */
#include "config.h"
#include "base/err.h"
#include "clock/clockd/clockbound.h"
#include "clock/names.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

/* ---- pages as files ---- */

static char folder[64];

/* ---- ClockBound ---- */

/* A reader written from docs/PROTOCOL.md alone: bytes, no struct. */
static int64_t i64(const unsigned char *p)
{
	int64_t v;

	memcpy(&v, p, 8);
	return v;
}

static uint32_t u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static uint16_t u16(const unsigned char *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return v;
}

static void clockbound_segment_is_as_published(void)
{
	struct tkm_err err = { .text = "" };
	struct timespec step;
	int dir = open(folder, O_RDONLY | O_DIRECTORY), fd, i;
	struct tkc_clockbound *c = tkc_clockbound_create(dir, "clockbound", &err);
	const unsigned char *p;
	struct stat st;
	uint16_t last = 0;

	CHECK(c != NULL, "%s", err.text);
	fd = openat(dir, "clockbound", O_RDONLY);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size == 80 && (st.st_mode & 07777) == 0644, "size or mode");
	p = mmap(NULL, 80, PROT_READ, MAP_SHARED, fd, 0);
	CHECK_INT(u32(p), 0x414d5a4e);
	CHECK_INT(u32(p + 4), 0x43420200);
	CHECK_INT(u32(p + 8), 80);
	CHECK_INT(u16(p + 12), 2);
	CHECK(u16(p + 14) > 0 && u16(p + 14) % 2 == 0, "generation %u", u16(p + 14));
	CHECK_INT((int32_t)u32(p + 68), 0);
	clock_getres(CLOCK_MONOTONIC_COARSE, &step);
	tkc_clockbound_write(c,
		&(struct tkc_clockbound_state){ .as_of_ns = 12000000345,
			.valid_ns = 2000000000,
			.bound_ns = 1234.5,
			.max_drift = 50e-6,
			.status = TKC_CLOCKBOUND_SYNCHRONISED,
			.marker = 0x1122334455667788,
			.support = 1 });
	CHECK_INT(i64(p + 16), 12);
	CHECK_INT(i64(p + 24), 345);
	CHECK_INT(i64(p + 32), 14);
	CHECK_INT(i64(p + 40), 345);
	CHECK_NEAR((double)i64(p + 48), 1234.5 + 50e-6 * (double)step.tv_nsec, 1);
	CHECK_INT(i64(p + 56), 0x1122334455667788);
	CHECK_INT(u32(p + 64), 50000);
	CHECK_INT((int32_t)u32(p + 68), 1);
	CHECK_INT(p[72], 1);
	for (i = 73; i < 80; i++) {
		CHECK_INT(p[i], 0);
	}
	/* never odd between two updates, never 0 */
	for (i = 0; i < 70000; i++) {
		last = u16(p + 14);
		tkc_clockbound_write(c, &(struct tkc_clockbound_state){ .status = TKC_CLOCKBOUND_FREE_RUNNING });
		CHECK(u16(p + 14) == (last == 65534 ? 2 : last + 2), "after %u comes %u", last, u16(p + 14));
	}
	tkc_clockbound_withdraw(c, dir, "clockbound");
	CHECK_INT((int32_t)u32(p + 68), 0);
	CHECK(faccessat(dir, "clockbound", F_OK, 0) < 0, "it is still there");
	munmap((void *)(uintptr_t)p, 80);
	close(fd);
	close(dir);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	snprintf(folder, sizeof(folder), "/tmp/test_clock.XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0) {
		printf("Bail out! no folder\n");
		return 99;
	}
	RUN(clockbound_segment_is_as_published);
	rmdir(folder);
	return check_end();
}

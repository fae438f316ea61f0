/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as trace events in JSON, or with FUZZ_PACKETS as packets of Perfetto, whose corrected copy goes to memory. What is accepted once is refused the second time. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/common/format.h"

#ifdef FUZZ_PACKETS
#define FUZZ_NAME "packets"
#define FORMAT "PERFETTO"
#define SHRINKS 65536 /* the copy has a snapshot for each 50 ns of it, up to 200,000 */
#else
#define FUZZ_NAME "json"
#define FORMAT "CHROME"
#define SHRINKS 2
#endif
#include "tests/fuzz/fuzz.h"

static int begin_any(void *user, uint32_t rank, double hz, struct tkm_err *err)
{
	struct xch_restamp *x = *(struct xch_restamp **)user;

	(void)hz;
	(void)err;
	x->used_timer = x->timer && *x->timer ? x->timer : "clock_realtime";
	x->rank = rank;
	return 0;
}

static int move_stamp(void *user, uint64_t stamp, int64_t *corrected, double *bound_s)
{
	(void)user;
	*bound_s = 1e-6;
	*corrected = (int64_t)(stamp - stamp / SHRINKS);
	return stamp > INT64_MAX ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char to[64];
	struct stat st;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct tkm_err err = { 0 };
	struct xch_restamp *user = NULL,
			   x = { .format = xch_by_name(FORMAT),
				   .path = path,
				   .to = to,
				   .force = 1,
				   .user = &user,
				   .begin = begin_any,
				   .at = move_stamp };

	user = &x;
	if (!to[0]) {
		snprintf(to, sizeof(to), "%s/fuzz_%s_%ld", stat("/dev/shm", &st) == 0 ? "/dev/shm" : "/tmp", FUZZ_NAME,
			(long)getpid());
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	if (x.format->restamp && x.format->restamp(&x, &err) == 0) {
		unlink(to);
	} else if (x.format->restamp && (!err.text[0] || access(to, F_OK) == 0)) {
		abort(); /* an error says what it is, and leaves nothing */
	}
	close(fd);
	return 0;
}

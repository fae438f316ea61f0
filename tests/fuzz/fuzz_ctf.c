/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as a CTF trace that is read and whose clock is to be corrected: description, two streams, the index of the first. */
#include "tests/fuzz/files.h"

#define FUZZ_NAME "ctf"
#include "tests/fuzz/fuzz.h"

static int begin(void *user, uint32_t rank, double hz, struct tkm_err *err)
{
	(void)user;
	(void)err;
	return rank == XCH_NONE && hz > 0 ? 0 : -1;
}

/* A correction that bends, and ends at 2^62. */
static int at(void *user, uint64_t stamp, int64_t *corrected, double *bound_s)
{
	(void)user;
	*corrected = (int64_t)(stamp + stamp / 1000003);
	*bound_s = (double)(stamp % 1000) * 1e-9;
	return stamp >> 62 ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "t/", "t/index/", "t/metadata", "t/s0", "t/s1", "t/index/s0.idx", NULL };
	static const char *const made[] = { "index/s0.idx", "index", "metadata", "s0", "s1", "" };
	struct xch_restamp x = {
		.format = xch_by_name("CTF"), .realtime0_ns = 1700000000123456789, .begin = begin, .at = at
	};
	char path[FUZZ_PATH], to[FUZZ_PATH], name[2 * FUZZ_PATH];
	struct tkm_err err = { 0 };
	size_t i;
	int k;

	if (!fuzz_put_files(names, data, size)) {
		return 0;
	}
	snprintf(path, sizeof(path), "%s/t", fuzz_dir);
	snprintf(to, sizeof(to), "%s/o.ctf", fuzz_dir);
	x.path = path;
	x.to = to;
	for (k = 0; k < 4; k++) {
		/* without an index, too, and of one clock by its name */
		if (k == 1) {
			snprintf(name, sizeof(name), "%s/t/index/s0.idx", fuzz_dir);
			unlink(name);
		}
		x.clock = k < 2 ? NULL : k == 2 ? "a" : "b";
		if (xch_by_name("CTF")->restamp(&x, &err) < 0) {
			if (!*err.text || access(to, F_OK) == 0) {
				abort();
			}
			continue;
		}
		for (i = 0; i < sizeof(made) / sizeof(*made); i++) {
			snprintf(name, sizeof(name), "%s/%s", to, made[i]);
			remove(name);
		}
		if (access(to, F_OK) == 0) {
			abort();
		}
	}
	return fuzz_read_files("CTF", "t");
}

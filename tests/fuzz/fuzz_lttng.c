/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as an LTTng trace of 2008. */
#include "tests/fuzz/files.h"

#define FUZZ_NAME "lttng"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "t/", "t/control/", "t/control/facilities_0", "t/cpu_0", NULL };

	return fuzz_put_files(names, data, size) ? fuzz_read_files("LTTNG", "t") : 0;
}

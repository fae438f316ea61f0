/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as a single-file trace: directory, and all that it leads to. */
#include "tests/fuzz/read_trace.h"

#define FUZZ_NAME "single"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_bytes(data, size, STF_READ_DAMAGED, NULL, 0);
	read_bytes(data, size, STF_READ_CHECK_REFS | STF_READ_MAP, NULL, 0);
	return 0;
}

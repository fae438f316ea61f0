/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as an OTF2 archive: anchor, global definitions, definitions and events of two locations. */
#ifdef ONE_LOCATION /* at a time: the reader makes runs and merges them */
#define CHUNKS_MEMORY 1
#include "exchange/otf2/otf2_read.c"
#define FUZZ_NAME "otf2_runs"
#else
#define FUZZ_NAME "otf2"
#endif
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "t.otf2", "t.def", "t/", "t/0.def", "t/0.evt", "t/1.def", "t/1.evt",
		NULL };

	return fuzz_put_files(names, data, size) ? fuzz_read_files("OTF2", "t.otf2") : 0;
}

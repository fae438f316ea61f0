/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as an OTF trace: the list of streams, the definitions and the events of two streams. */
#include "tests/fuzz/files.h"

#define FUZZ_NAME "otf"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "t.otf", "t.0.def", "t.1.events", "t.2.events", NULL };

	return fuzz_put_files(names, data, size) ? fuzz_read_files("OTF", "t.otf") : 0;
}

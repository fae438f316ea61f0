/* SPDX-License-Identifier: BSD-3-Clause */
/* A library of Intel's Trace Collector that is not built yet. Where ld.so found none, it said so and the job ran without a
 * trace, with status 0. This one ends the program before main() instead, with the line MISSING and status 2. */
#include <unistd.h>

static void __attribute__((constructor)) missing_library_loaded(void)
{
	static const char line[] = MISSING "\n";
	ssize_t n = write(STDERR_FILENO, line, sizeof(line) - 1);

	(void)n;
	_exit(2);
}

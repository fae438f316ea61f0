/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of a library of Intel's Trace Collector that Tickmark does not have. It ends the program before main(), with the line
 * MISSING and status 2: without it ld.so prints an error and the program runs untraced, with status 0. */
#include <unistd.h>

static void __attribute__((constructor)) missing_library_loaded(void)
{
	static const char line[] = MISSING "\n";
	ssize_t n = write(STDERR_FILENO, line, sizeof(line) - 1);

	(void)n;
	_exit(2);
}

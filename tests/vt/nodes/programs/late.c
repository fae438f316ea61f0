/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded: the program sleep begins 2.5 s later. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void wait_a_while(void)
{
	if (!strcmp(program_invocation_short_name, "sleep")) {
		usleep(2500000);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/launch/launch.h"

#include <stdarg.h>
#include <stdio.h>

void vtrun_say(const char *fmt, ...)
{
	va_list ap;

	fputs("vtrun: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

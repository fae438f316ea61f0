/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the messages of vtrun. */
#include "config.h"
#include "collector-plugin/launch/launch.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"

void vt_launch_say(const char *fmt, ...)
{
	char text[2 * PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "vtrun: %s\n", tkm_plain(text));
}

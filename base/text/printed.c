/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints into a text that grows (printed.h). */
#include "config.h"
#include "base/text/printed.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *tkm_printed(struct tkm_printed *p, const char *fmt, ...)
{
	struct tkm_printed new = { 0 };
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	new.room = n < 0 ? 0 : (size_t)n + 1;
	new.text = n < 0 ? NULL : malloc(new.room);
	if (!new.text) {
		return NULL;
	}
	va_start(ap, fmt);
	vsnprintf(new.text, new.room, fmt, ap);
	va_end(ap);
	free(p->text);
	*p = new;
	return p->text;
}

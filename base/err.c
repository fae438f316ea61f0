/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int tkm_fail(struct tkm_err *e, enum tkm_code code, const char *fmt, ...)
{
	va_list ap;

	if (e) {
		e->code = code;
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
	}
	return -1;
}

int tkm_fail_errno(struct tkm_err *e, enum tkm_code code, int errnum, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	if (e) {
		e->code = code;
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
		n = strlen(e->text);
		snprintf(e->text + n, sizeof(e->text) - n, ": %s", strerror(errnum));
	}
	return -1;
}

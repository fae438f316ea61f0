/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats the error lines of base/err.h and removes control characters from them. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *tkm_plain(char *text)
{
	unsigned char *c;

	for (c = (unsigned char *)text; *c; c++) {
		if (*c < ' ' || *c == 0x7f) {
			*c = '?';
		} else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) {
			*c++ = '?'; /* U+0080 to U+009F in UTF-8: U+009B begins a command to the terminal */
			*c = '?';
		}
	}
	return text;
}

int tkm_fail(struct tkm_err *e, enum tkm_code code, const char *fmt, ...)
{
	va_list ap;

	if (e) {
		e->code = code;
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
		tkm_plain(e->text);
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
		tkm_plain(e->text);
	}
	return -1;
}

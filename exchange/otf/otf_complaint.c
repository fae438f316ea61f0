/* SPDX-License-Identifier: BSD-3-Clause */
/* The OTF library prints its error messages through two functions. The functions here replace them, so that the
 * message becomes part of an error. */
#include "config.h"
#include "exchange/otf/otf.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

#ifdef HAVE_OTF1
#include <open-trace-format/OTF_Errno.h>
#endif

static _Thread_local char complaint[300];

const char *xch_otf_complaint(void)
{
	return complaint;
}

void xch_otf_complaint_clear(void)
{
	complaint[0] = 0;
}

#ifdef HAVE_OTF1
static void keep_message(const char *format, va_list ap)
{
	char *p;

	if (*complaint) {
		return; /* the first message names the cause */
	}
	vsnprintf(complaint, sizeof(complaint), format, ap);
	for (p = complaint; *p; p++) {
		*p = (unsigned char)*p < ' ' ? ' ' : *p;
	}
	while (p > complaint && p[-1] == ' ') {
		*--p = 0;
	}
}

void OTF_Error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	keep_message(format, ap);
	va_end(ap);
}

void OTF_Warning(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	keep_message(format, ap);
	va_end(ap);
}
#endif

/* An index file begins with the number of a stream in hexadecimal digits and a colon. Only the suffix is certain. */
int xch_otf_is(const char *path, const unsigned char *head, size_t n)
{
	size_t k = strlen(path), i;

	for (i = 0; i < n && strchr("0123456789abcdef", head[i]) && head[i]; i++) {
		;
	}
	return k > 4 && !strcasecmp(path + k - 4, ".otf") && i > 0 && i < n && head[i] == ':';
}

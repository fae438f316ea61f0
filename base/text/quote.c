/* SPDX-License-Identifier: BSD-3-Clause */
/* Text quoted for gnuplot, the shell and JSON; see base/text/quote.h. */
#include "base/text/quote.h"

#include <ctype.h>
#include <string.h>

#include "base/text/utf8.h"

void tkm_quote_gnuplot(FILE *f, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	putc('\'', f);
	for (; *p; p++) {
		if (*p == '\'') {
			fputs("''", f);
		} else {
			putc(*p < 0x20 || *p == 0x7f ? ' ' : *p, f);
		}
	}
	putc('\'', f);
}

char *tkm_shell_word(char *buf, size_t size, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
	size_t n = 0;

	if (*text && strspn(text, plain) == strlen(text)) {
		snprintf(buf, size, "%s", text);
		return buf;
	}
	n += (size_t)snprintf(buf, size, "'");
	for (; *text && n + 6 < size; text++) {
		if (*text == '\'') {
			memcpy(buf + n, "'\\''", 4);
			n += 4;
		} else if (iscntrl((unsigned char)*text)) {
			memcpy(buf + n, "'?'", 3);
			n += 3;
		} else if ((unsigned char)text[0] == 0xc2 && (unsigned char)text[1] >= 0x80 &&
			(unsigned char)text[1] < 0xa0) {
			memcpy(buf + n, "'*'", 3); /* one character of two bytes, as tkm_plain() has it */
			n += 3;
			text++;
		} else {
			buf[n++] = *text;
		}
	}
	snprintf(buf + n, size - n, "'");
	return buf;
}

void tkm_quote_json(FILE *f, const char *text)
{
	uint32_t code;
	size_t n;

	putc_unlocked('"', f);
	for (; *text; text += n ? n : 1) {
		n = tkm_utf8(text, &code);
		if (n == 0) {
			fputs("\\ufffd", f);
		} else if (code == '"' || code == '\\') {
			fprintf(f, "\\%c", (int)code);
		} else if (code < 0x20) {
			fprintf(f, "\\u%04x", (unsigned)code);
		} else {
			fwrite_unlocked(text, 1, n, f);
		}
	}
	putc_unlocked('"', f);
}

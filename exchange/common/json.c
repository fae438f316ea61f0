/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes pieces of JSON for several formats. */
#include "config.h"
#include "exchange/common/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The length of the UTF-8 character at s, 0: the bytes are not valid UTF-8. */
static int utf8(const unsigned char *s)
{
	int n = s[0] < 0x80                   ? 1
		: s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		: s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		: s[0] >= 0xf0 && s[0] < 0xf5 ? 4
					      : 0;
	int i;

	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	/* overlong forms, surrogates, code points beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
		(s[0] == 0xf4 && s[1] >= 0x90)) {
		return 0;
	}
	return n;
}

char *xch_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char *out = malloc(3 * strlen(text) + 1);
	size_t k = 0;
	int n;

	for (; out && *s; s += n ? n : 1) {
		n = utf8(s);
		memcpy(out + k, n ? (const char *)s : "\xef\xbf\xbd", n ? (size_t)n : 3);
		k += n ? (size_t)n : 3;
	}
	if (out) {
		out[k] = 0;
	}
	return out;
}

void xch_json_text(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	int n;

	putc_unlocked('"', f);
	for (; *s; s += n) {
		n = utf8(s);
		if (n == 0) {
			fputs("\\ufffd", f);
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(f, "\\%c", *s);
		} else if (*s < 0x20) {
			fprintf(f, "\\u%04x", *s);
		} else {
			fwrite_unlocked(s, 1, (size_t)n, f);
		}
	}
	putc_unlocked('"', f);
}

void xch_json_value(FILE *f, const struct xch_counter *c, uint64_t bits)
{
	char buf[48];
	int n = xch_value(c, bits, buf), number = buf[n - 1] >= '0' && buf[n - 1] <= '9';

	fprintf(f, number ? "%s" : "\"%s\"", buf);
}

void xch_json_seconds(FILE *f, const struct xch_trace *t, uint64_t time)
{
	char buf[48];

	xch_seconds(t, time, buf);
	fputs_unlocked(buf, f);
}

void xch_json_microseconds(FILE *f, const struct xch_trace *t, uint64_t time)
{
	int64_t ns = xch_ns(t, time);

	fprintf(f, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes UTF-8. Names in traces and of hosts are any bytes. */
#ifndef BASE_TEXT_UTF8_H
#define BASE_TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The number of bytes of the character at text, which a zero ends, and its code. 0: these bytes are no UTF-8 (cut, overlong, a surrogate,
 * beyond U+10FFFF). At the end of the text: 1, and the code is 0. */
static inline size_t tkm_utf8(const char *text, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0, i;

	*code = n == 1 ? p[0] : n ? p[0] & (0xffu >> (n + 1)) : 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			return 0;
		}
		*code = *code << 6 | (p[i] & 0x3fu);
	}
	return n && *code >= least[n] && *code <= 0x10ffff && (*code & 0xfffff800) != 0xd800 ? n : 0;
}

#endif

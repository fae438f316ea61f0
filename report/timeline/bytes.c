/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes numbers for the script of a page. */
#include "config.h"
#include "report/timeline/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static void add_byte(struct vtr_bytes *b, unsigned char c)
{
	if (b->failed || TKM_GROW(b->byte, b->room, b->n + 1) < 0) {
		b->failed = 1;
	} else {
		b->byte[b->n++] = c;
	}
}

void vtr_bytes_number(struct vtr_bytes *b, uint64_t v)
{
	for (; v > 127; v >>= 7) {
		add_byte(b, (unsigned char)(v | 128));
	}
	add_byte(b, (unsigned char)v);
}

void vtr_bytes_signed(struct vtr_bytes *b, int64_t v)
{
	vtr_bytes_number(b, v < 0 ? ~(uint64_t)v << 1 | 1 : (uint64_t)v << 1);
}

void vtr_bytes_join(struct vtr_bytes *b, const struct vtr_bytes *more)
{
	if (b->failed || more->failed || TKM_GROW(b->byte, b->room, b->n + more->n) < 0) {
		b->failed = 1;
	} else if (more->n) {
		memcpy(b->byte + b->n, more->byte, more->n);
		b->n += more->n;
	}
}

void vtr_bytes_free(struct vtr_bytes *b)
{
	free(b->byte);
	*b = (struct vtr_bytes){ .n = 0 };
}

void vtr_bytes_write(FILE *f, const struct vtr_bytes *b)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t i, k;

	for (i = 0; i < b->n; i += 3) {
		uint32_t three = 0;

		for (k = 0; k < 3; k++) {
			three = three << 8 | (i + k < b->n ? b->byte[i + k] : 0);
		}
		for (k = 0; k < 4; k++) {
			fputc(k && i + k > b->n ? '=' : digit[three >> (18 - 6 * k) & 63], f);
		}
	}
}

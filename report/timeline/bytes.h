/* SPDX-License-Identifier: BSD-3-Clause */
/* Compact bytes for the script of a page: numbers of 7 bits a byte, and base64. */
#ifndef REPORT_TIMELINE_BYTES_H
#define REPORT_TIMELINE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Initialise it with { 0 }. After a failure `failed` is set, and nothing is added any more. */
struct vtr_bytes {
	unsigned char *byte;
	size_t n, room;
	int failed;
};

/* Adds a number, the low bits first; all bytes but the last have bit 7. */
void vtr_bytes_number(struct vtr_bytes *b, uint64_t v);
/* The same of a number that may be negative: 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
void vtr_bytes_signed(struct vtr_bytes *b, int64_t v);
/* Adds the bytes of `more`. */
void vtr_bytes_join(struct vtr_bytes *b, const struct vtr_bytes *more);
void vtr_bytes_free(struct vtr_bytes *b);

/* Writes the bytes as base64. */
void vtr_bytes_write(FILE *f, const struct vtr_bytes *b);

#endif

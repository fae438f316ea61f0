/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of a compressed frame: records of one length by columns, with differences, or unchanged bytes. */
#ifndef STF_COLUMNS_H
#define STF_COLUMNS_H

#include "stf/private.h"

/* What n bytes of a component can need as content, at most. */
size_t stx_columns_bound(size_t n);
/* Content of the n bytes at p; returns its length. */
size_t stx_columns_pack(uint8_t *dst, const uint8_t *p, size_t n, int big);
/* Bytes of the component that the content stands for; -1 if the content is damaged. */
int64_t stx_columns_size(const uint8_t *content, size_t n, int big);
/* Writes these bytes. */
void stx_columns_unpack(uint8_t *dst, const uint8_t *content, size_t n, int big);

#endif

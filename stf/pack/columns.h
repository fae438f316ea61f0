/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and reads the content of a compressed frame: the records of one length by columns, with differences, or
 * else the unchanged bytes. */
#ifndef STF_PACK_COLUMNS_H
#define STF_PACK_COLUMNS_H

#include "stf/format/private.h"

/* The largest size of the content for n bytes of a component. */
size_t stf_columns_bound(size_t n);
/* Makes the content of the n bytes at p; returns its length. */
size_t stf_columns_pack(uint8_t *dst, const uint8_t *p, size_t n, int big);
/* The number of bytes of the component that the content stands for; -1 if the content is damaged. */
int64_t stf_columns_size(const uint8_t *content, size_t n, int big);
/* Restores these bytes. */
void stf_columns_unpack(uint8_t *dst, const uint8_t *content, size_t n, int big);

#endif

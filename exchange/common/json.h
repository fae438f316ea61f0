/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes pieces of JSON for several formats. */
#ifndef EXCHANGE_COMMON_JSON_H
#define EXCHANGE_COMMON_JSON_H

#include "exchange/common/format.h"

/* Returns a copy of a text in UTF-8, with U+FFFD in place of invalid bytes. NULL: out of memory. */
char *xch_utf8(const char *text);
/* Writes a counter's value. JSON has neither not-a-number nor infinities, so these are written as strings. */
void xch_json_value(FILE *f, const struct xch_counter *c, uint64_t bits);
/* Writes ,"KEY":BYTES, and that they are at least so many where the trace knows no more. */
void xch_json_bytes(FILE *f, const char *key, uint64_t bytes);
/* Writes the stamp in seconds. */
void xch_json_seconds(FILE *f, const struct xch_trace *t, uint64_t time);

#endif

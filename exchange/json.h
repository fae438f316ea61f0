/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of JSON that several formats write. */
#ifndef EXCHANGE_JSON_H
#define EXCHANGE_JSON_H

#include "exchange/format.h"

/* A copy of a text in UTF-8: what is none becomes U+FFFD. NULL: memory is short. */
char *xch_utf8(const char *text);
/* Text in quotes; what is no UTF-8 becomes U+FFFD. */
void xch_json_text(FILE *f, const char *text);
/* A counter's value; not-a-number and infinities, which JSON does not have, as texts. */
void xch_json_value(FILE *f, const struct xch_counter *c, uint64_t bits);
/* The stamp in seconds, or in microseconds with the digits of nanoseconds. */
void xch_json_seconds(FILE *f, const struct xch_trace *t, uint64_t time);
void xch_json_microseconds(FILE *f, const struct xch_trace *t, uint64_t time);

#endif

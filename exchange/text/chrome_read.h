/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXCHANGE_TEXT_CHROME_READ_H
#define EXCHANGE_TEXT_CHROME_READ_H

#include "exchange/common/format.h"

/* `read` and `is` of struct xch_format. */
int xch_chrome_read(struct xch_input *in, struct tkm_err *err);
int xch_chrome_is(const char *path, const unsigned char *head, size_t n);

#endif

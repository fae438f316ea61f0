/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXCHANGE_TEXT_CHROME_RESTAMP_H
#define EXCHANGE_TEXT_CHROME_RESTAMP_H

#include "exchange/common/format.h"

/* xch_format.restamp of trace events in JSON, also compressed by gzip. Returns 0 or -1. */
int xch_chrome_restamp(struct xch_restamp *x, struct tkm_err *err);
/* xch_format.together of them. */
int xch_chrome_together(struct xch_together *t, struct tkm_err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXCHANGE_PERFETTO_RESTAMP_H
#define EXCHANGE_PERFETTO_RESTAMP_H

#include "exchange/common/format.h"

/* xch_format.restamp of Perfetto's packets, also compressed by gzip. Returns 0 or -1. */
int xch_perfetto_restamp(struct xch_restamp *x, struct tkm_err *err);

#endif

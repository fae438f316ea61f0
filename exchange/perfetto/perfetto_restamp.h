/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXCHANGE_PERFETTO_RESTAMP_H
#define EXCHANGE_PERFETTO_RESTAMP_H

#include "exchange/common/format.h"

/* What struct xch_format has for Perfetto's packets: `restamp`, also compressed by gzip. Returns 0 or -1. */
int xch_perfetto_restamp(struct xch_restamp *x, struct tkm_err *err);

/* `read` and `is` of it. */
int xch_perfetto_read(struct xch_input *in, struct tkm_err *err);
int xch_perfetto_is(const char *path, const unsigned char *head, size_t n);

#endif

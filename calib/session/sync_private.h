/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods behind cal_sync_session(); out[] already has its kind. */
#ifndef CALIB_SYNC_PRIVATE_H
#define CALIB_SYNC_PRIVATE_H

#include "calib/session/sync.h"

int cal_sync_pairs(struct cal_link *l, int master, const unsigned char *exchanges, const struct cal_sync_options *opt,
	struct cal_session *out, struct tkm_err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The drift of a real pair of clocks, from a recording, for simulated clocks. The file has lines "seconds offset", both
 * in seconds, times ascending, and lines that begin with #. */
#ifndef CALIB_DRIFT_SIM_H
#define CALIB_DRIFT_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct cal_drift;

/* At least 4 points. The mean rate is removed, because the options state a clock's mean rate separately. Returns NULL
 * with file and line. */
struct cal_drift *cal_drift_read(const char *path, struct tkm_err *err);
void cal_drift_free(struct cal_drift *d);

/* From the first point to the last. */
double cal_drift_seconds(const struct cal_drift *d);

/* Offset t seconds after the beginning, any t: a smooth curve through the points (cubic, slopes by the neighbours).
 * Beyond the end the recording is played backwards, then forwards again, so that the rate never jumps. */
double cal_drift_at(const struct cal_drift *d, double t);

/* How a simulated clock uses a recording. Each clock begins at another place in it, so no two have the same rates. */
struct cal_drift_use {
	const struct cal_drift *drift;
	double begin_s;
};

/* Offset dt seconds after the origin of the clock, 0 there; ctx is a struct cal_drift_use. For tmr_sim_add(). */
double cal_drift_ahead(const void *ctx, double dt);

#endif

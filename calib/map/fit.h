/* SPDX-License-Identifier: BSD-3-Clause */
/* From sessions of samples to a line or to points, and to the certain interval of each session. Pure
 * functions, libc only. "Master ticks" are those of the master's own timer. */
#ifndef CALIB_FIT_H
#define CALIB_FIT_H

#include "calib/map/sample.h"

/* Master time as a straight function of local time: master = at + slope (local - local0), where at is
 * master0 + offset. Integers carry the large parts. */
struct cal_line {
	ltick_t local0, master0; /* reference point: a sample's own stamps */
	double offset;           /* master ticks, small */
	double slope;            /* master ticks per local tick */
	double slope_se;         /* NAN with fewer than 3 samples */
	double rms;              /* residuals, master ticks */
	size_t used;
};

/* Least squares through the kept samples of all sessions with used set: the middle of the master's two
 * stamps against the middle of send and recv (Intel Trace Collector guide: the average of local send and receive time coincides with the
 * master's stamp). With one session only, or when the samples cannot carry a slope, the slope is
 * `nominal` (master ticks per local tick). A session whose point is given counts as one sample. Returns 0,
 * or -1 when there is no kept sample. */
int cal_fit_line(
	const struct cal_session *session, size_t sessions, double nominal, struct cal_line *out, struct tkm_err *err);

/* How to estimate: the mean of the kept samples (the guide); or, for CAL_QUIET, if nine tenths of the round trips are
 * within 1.6 times the shortest, the mean over the faster half of the samples, else the midpoint of the two one-way
 * minima, and in both cases nothing outside what is certain. */
enum cal_estimate {
	CAL_MEAN,
	CAL_QUIET,
};

/* Tests whether a clock stepped during the session. It did if the samples contradict each other, but not after they are
 * divided into two parts: then samples 0 .. before - 1 are from before the step and those from `after` on from after it
 * (at most one of both is empty) and 1 is returned. 0: they do not contradict each other, or it is not that simple; -1:
 * memory. Parameters as for cal_condense(). */
int cal_find_step_in_session(const struct cal_session *s, double slope, double slope_error, double tick_local,
	double tick_master, size_t *before, size_t *after);

/* A clock that may be set can have been set during the session by too little to be seen. Then the first and the last
 * sample are still valid, and each other one is consistent with one of them. So this widens the certain interval to
 * contain both. Parameters as for cal_condense(). */
void cal_allow_for_step(const struct cal_session *s, double slope, double slope_error, double tick_local,
	double tick_master, struct cal_point *p);

/* slope: master ticks per local tick, known to +-slope_error (relative); tick_local, tick_master:
 * effective ticks in ticks of each timer, by which a reading can lag behind the clock. All samples
 * count for the interval, kept or not: a slow exchange is still certain. Returns 0, or -1 when the
 * session has no kept sample. */
int cal_condense(const struct cal_session *s, double slope, double slope_error, double tick_local, double tick_master,
	enum cal_estimate how, struct cal_point *out, struct tkm_err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated network in virtual time, with simulated clocks at its ends: everything about it is known,
 * so what comes out of a calibration over it can be held against the truth.
 *
 *   delay=1us,jitter=200ns,dist=exponential,asym=300ns,outlier=8ms,outliers=0.01,loss=0.001,seed=1
 *
 *   delay     one way, smallest
 *   jitter    mean of what is added to each message
 *   dist      of the jitter: exponential (default), uniform, normal (its absolute value)
 *   asym      added to messages towards higher ranks only: a constant asymmetry, which no exchange of
 *             messages can see
 *   outlier   added to the share `outliers` of the messages
 *   loss      share of the messages that never arrive
 *   read      time that reading a clock takes (default 20ns)
 *   seed      of all this */
#ifndef CALIB_LINK_SIM_H
#define CALIB_LINK_SIM_H

#include "calib/link.h"
#include "timers/virtual.h"

/* size processes whose clocks are sim:`clocks` over virtual time, {rank} replaced (timers/sim.h;
 * without "base"). Returns NULL with the reason; freed by cal_link_close(). */
struct cal_link *cal_link_sim(int size, const char *clocks, const char *network, struct tkm_err *err);

/* The simulated clock of a rank; it belongs to the link. */
struct tmr_timer *cal_link_sim_clock(const struct cal_link *l, int rank);

/* The truth that all clocks wrap. */
struct tmr_virtual *cal_link_sim_time(const struct cal_link *l);

#endif

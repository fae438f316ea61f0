/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated network in virtual time, with simulated clocks at its ends: everything about it is known, so the result
 * of a calibration over it can be compared with the true times.
 *
 *   delay=1us,jitter=200ns,dist=exponential,asym=300ns,outlier=8ms,outliers=0.01,loss=0.001,seed=1
 *
 *   delay     one way, smallest
 *   jitter    mean of what is added to each message
 *   dist      of the jitter: exponential (default), uniform, normal (its absolute value), pareto (heavy tail, less its
 *             smallest value)
 *   shape     of pareto: a jitter beyond x has a probability that falls with x^-shape (default 2.5)
 *   asym      added to messages towards higher ranks only: a constant asymmetry, which no exchange of
 *             messages can see
 *   outlier   added to the share `outliers` of the messages
 *   loss      share of the messages that never arrive
 *   read      time that reading a clock takes (default 20ns)
 *   seed      of all this
 *
 * A fat tree: leaf=32,pod=16,hop=110ns,uneven=20ns,byte=0.1ns,slow=0.01,slowness=5us,dead=7,stall=3@1ms/2s,
 *   queue=120ns,load=0.4
 *
 *   leaf      so many processes below one switch; messages pass 1 switch there, 3 to another leaf of the pod
 *   pod       so many leaves in a pod; 5 switches to another pod (0: there is one pod)
 *   hop       added for each switch
 *   uneven    added for each switch and direction: from 0 to this, the same for all messages of that way
 *   byte      added for each byte of a block of data
 *   queue     the link of each leaf switch to the rest of the tree is shared, both ways: a message keeps it busy so long
 *             and waits for those that came before (lab/compare/queue_sim.h)
 *   load      share of the time in which packets of others keep each of these links busy
 *   slow      share of processes whose messages take `slowness` longer, both ways
 *   shuffle   1: the processes lie in the tree in any order, not in that of their ranks
 *   dead      R or R@T: process R answers no message, from the beginning or T after it
 *   stall     R@T/D: process R is stopped for D, T after the beginning. Up to 8 of these two
 *
 * A value outside its range is an error. Each process has its own virtual time: processes that do not wait for each
 * other run at the same time. */
#ifndef CALIB_LINK_SIM_H
#define CALIB_LINK_SIM_H

#include "lab/compare/drift_sim.h"
#include "calib/session/link.h"
#include "timers/sources/virtual.h"

/* size processes whose clocks are sim:`clocks` over virtual time, {rank} replaced (timers/sources/sim.h;
 * without "base"). Returns NULL with the reason; freed by cal_link_close(). */
struct cal_link *cal_link_sim(int size, const char *clocks, const char *network, struct tkm_err *err);

/* From now on the rates of all clocks change as in that recording, each beginning elsewhere in it, besides what their
 * names say; the link owns it, also on failure. Returns 0 or -1. */
int cal_link_sim_drift(struct cal_link *l, struct cal_drift *drift, struct tkm_err *err);

/* Which properties of real networks are simulated. */
struct cal_link_sim_model {
	int heavy_tail;  /* delays whose tail is heavier than exponential */
	double outliers; /* share of messages that are held up for long */
	double load;     /* share of time that others keep the links busy */
};
void cal_link_sim_describe(const struct cal_link *l, struct cal_link_sim_model *out);

/* The simulated clock of a rank; it belongs to the link. */
struct tmr_timer *cal_link_sim_clock(const struct cal_link *l, int rank);

/* The true time, which all clocks wrap: the largest virtual time of any process. */
struct tmr_virtual *cal_link_sim_time(const struct cal_link *l);

#endif

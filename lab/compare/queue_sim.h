/* SPDX-License-Identifier: BSD-3-Clause */
/* A link of a simulated network that many processes share. Messages and the packets of other programs wait in one
 * queue, first come first served. Virtual times in picoseconds. */
#ifndef CALIB_QUEUE_SIM_H
#define CALIB_QUEUE_SIM_H

#include <stdint.h>

struct cal_queue;

/* Each message and each packet of others keeps the link busy for service_s; packets of others come at random (Poisson) so
 * that they alone keep it busy for the share load, 0 to 0.95, of the time. NULL: out of memory. */
struct cal_queue *cal_queue_new(double service_s, double load, uint64_t seed);
void cal_queue_free(struct cal_queue *q);

/* A message comes at `at`; *done is when it has passed. Messages whose times are not in order are possible, as the
 * processes of a simulation have times of their own: one that comes late into the simulation takes the first gap from
 * its time on in which the link is free of messages, so the link never carries two at once. Returns 0, or -1 when memory
 * runs out. */
int cal_queue_pass(struct cal_queue *q, int64_t at, int64_t *done);

/* How long a message that comes at `at` waits for packets of others, in picoseconds. The result for one time is always
 * the same. */
int64_t cal_queue_others(struct cal_queue *q, int64_t at);

#endif

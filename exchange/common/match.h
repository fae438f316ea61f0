/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines sends and receives, which other formats store separately, into messages of STF. Halves with an id are
 * matched by it. All others are matched in order for each sender, receiver, communicator and tag, as MPI delivers
 * messages. Messages are written in the order in which they were sent. */
#ifndef EXCHANGE_COMMON_MATCH_H
#define EXCHANGE_COMMON_MATCH_H

#include "exchange/common/format.h"

struct xch_match;

struct xch_half {
	uint64_t time, id; /* id 0: none */
	uint32_t from, to; /* willies */
	uint32_t communicator, tag;
	uint32_t size, function;
	int receive;
	int paired; /* with an id: from and to are its own thread, and without the other half it is no message */
};

struct xch_match *xch_match_new(struct stf_writer *w);
/* Returns 0, or -1: the writer has failed, or (if the writer's error is STF_OK) out of memory. */
int xch_match_half(struct xch_match *m, const struct xch_half *h);
/* Writes the messages that still wait. */
int xch_match_end(struct xch_match *m);
/* The number of messages written, and how many of these had only one half. */
uint64_t xch_match_count(const struct xch_match *m, uint64_t *alone);
void xch_match_free(struct xch_match *m);

#endif

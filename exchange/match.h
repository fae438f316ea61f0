/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives of formats that keep them apart, made into messages of STF: in order for each sender, receiver, communicator and
 * tag, as MPI delivers them. Messages are written in the order of their sending. */
#ifndef EXCHANGE_MATCH_H
#define EXCHANGE_MATCH_H

#include "exchange/format.h"

struct xch_match;

struct xch_half {
	uint32_t sender, receiver; /* willies */
	uint32_t communicator, tag;
	uint64_t time;
	uint32_t size;
};

struct xch_match *xch_match_new(struct stf_writer *w);
/* Return 0, or -1: the writer's error, or out of memory (its error is STF_OK then). */
int xch_match_send(struct xch_match *m, const struct xch_half *h);
int xch_match_receive(struct xch_match *m, const struct xch_half *h);
/* Writes what is left. */
int xch_match_end(struct xch_match *m);
/* How many were written, and of those without a partner. */
uint64_t xch_match_count(const struct xch_match *m, uint64_t *alone);
void xch_match_free(struct xch_match *m);

#endif

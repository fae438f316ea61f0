/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared memory segment of AWS ClockBound, protocol version 2, for programs that use a ClockBound client: 80 bytes
 * in the machine's byte order, as in https://github.com/aws/clock-bound, docs/PROTOCOL.md of release 2.0. Its bound is
 * that of CLOCK_REALTIME. */
#ifndef CLOCK_CLOCKBOUND_H
#define CLOCK_CLOCKBOUND_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"

enum tkc_clockbound_status {
	TKC_CLOCKBOUND_UNKNOWN = 0,
	TKC_CLOCKBOUND_SYNCHRONISED = 1,
	TKC_CLOCKBOUND_FREE_RUNNING = 2,
	TKC_CLOCKBOUND_DISRUPTED = 3,
};

/* Timestamps are of CLOCK_MONOTONIC_COARSE. */
struct tkc_clockbound {
	uint32_t magic[2];           /* the published clients compare two native words: "AMZN", and "CB" with 2 and 0 */
	_Atomic uint32_t size;       /* 80 */
	_Atomic uint16_t version;    /* 2 */
	_Atomic uint16_t generation; /* odd: being written; never 0 again */
	int64_t as_of_s, as_of_ns;
	int64_t void_after_s, void_after_ns;
	int64_t bound_ns; /* CLOCK_REALTIME was within this of true time at as_of */
	uint64_t disruption_marker;
	uint32_t max_drift_ppb;
	int32_t status;
	uint8_t disruption_support;
	uint8_t padding[7];
};
_Static_assert(sizeof(struct tkc_clockbound) == 80, "the published segment has 80 bytes");

/* What the caller provides for the segment. */
struct tkc_clockbound_state {
	int64_t as_of_ns, valid_ns; /* as_of: CLOCK_MONOTONIC_COARSE before the bound was found */
	double bound_ns, max_drift;
	int status; /* enum tkc_clockbound_status */
	uint64_t marker;
	int support; /* 1: the writer checks the disruption marker */
};

/* Creates the segment in an open folder; replaces an existing one. Returns it, or NULL. */
struct tkc_clockbound *tkc_clockbound_create(int folder, const char *name, struct tkm_err *err);
void tkc_clockbound_write(struct tkc_clockbound *c, const struct tkc_clockbound_state *s);
/* Sets the status "unknown" for readers, and removes the file. */
void tkc_clockbound_withdraw(struct tkc_clockbound *c, int folder, const char *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Who comes last to the collective operations of PyTorch's processes, and whether the clocks can tell. */
#ifndef EXCHANGE_TEXT_CHROME_ARRIVALS_H
#define EXCHANGE_TEXT_CHROME_ARRIVALS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/table.h"

/* The rows that a profile has of one operation, the best one for this purpose first. */
enum xch_arrival_kind {
	XCH_ARRIVAL_KERNEL, /* of the GPU: it waits there for the others */
	XCH_ARRIVAL_CALL,   /* record_param_comms, which names the process group */
	XCH_ARRIVAL_WORK,   /* "nccl:all_reduce", "gloo:all_reduce" */
	XCH_ARRIVAL_C10D,   /* "c10d::allreduce_" */
	XCH_ARRIVAL_KINDS
};

/* A text that many rows have, the key of its table. */
struct xch_word {
	uint32_t number;
	uint64_t ranks;   /* of a group: those that have it */
	uint64_t members; /* of a group: all of it; 0: no file says */
};

struct xch_arrival {
	enum xch_arrival_kind kind;
	long long rank;
	uint64_t members;                /* ranks of the process group; 0: the row does not say */
	uint64_t seq;                    /* its number in the process group; 0: the profile does not say */
	int64_t at_ns;                   /* its start, corrected */
	double bound_s;                  /* how far off that can be */
	struct xch_word *group, *action; /* set by xch_arrivals_add() */
	uint64_t turn;                   /* used by xch_arrivals_print() */
};

/* Initialise it with zeros. */
struct xch_arrivals {
	struct tkm_table groups, actions; /* of struct xch_word */
	struct xch_arrival *v;
	size_t n, room; /* n can be set back */
	uint64_t world; /* ranks of the job; 0: no file says */
};

/* A text that need not end with a zero byte. */
struct xch_span {
	const char *text;
	size_t length;
};

/* Adds a copy. group: name and ranks of the process group, "" if unknown. Messages between two ranks are left out. Returns 0 or -1. */
int xch_arrivals_add(struct xch_arrivals *a, const struct xch_arrival *v, struct xch_span group, struct xch_span action,
	struct tkm_err *err);
/* Prints a table in CSV and, behind "#", how often each rank came last. Returns 0 or -1. */
int xch_arrivals_print(struct xch_arrivals *a, FILE *f, struct tkm_err *err);
void xch_arrivals_free(struct xch_arrivals *a);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the names that a trace declares mean for the analysis: functions of MPI, collective operations, and the members of
 * communicators. */
#ifndef STF_ANALYSIS_NAMES_H
#define STF_ANALYSIS_NAMES_H

#include "base/table.h"
#include "include/analysis.h"

/* What a function is. */
enum {
	STF_CALL_MPI = 1,
	STF_CALL_INIT = 2,
	STF_CALL_FINALIZE = 4,
	STF_CALL_SENDS = 8,     /* comes back when its message is sent, so a long one may wait for the receiver */
	STF_CALL_RECEIVES = 16, /* posts its receive and completes it */
	STF_CALL_POLLS = 32,    /* looks, and comes back whether it found something or not */
	STF_CALL_FILES = 64,    /* works on files, so no network makes it faster */
	STF_CALL_SYNC = 128,    /* comes back after the receiver has come, and not before */
	STF_CALL_STARTS = 256,  /* starts to send, and another call completes that */
	STF_CALL_COMPLETES = 512,
	STF_CALL_POSTS = 1024,       /* lets the origins of a window start */
	STF_CALL_ENDS_ACCESS = 2048, /* lets the target of a window go on */
	STF_CALL_UNLOCKS = 32768,    /* gives back the lock of a window */
	STF_CALL_LOCKS_ALL = 65536,
	/* of OpenMP, not of MPI */
	STF_CALL_BARRIER = 4096,
	STF_CALL_REGION = 8192, /* parallel */
	STF_CALL_OTHER = 16384, /* of OpenMP, of the system or of OpenSHMEM: no function of the program */
};

struct stf_members {
	uint32_t n, *willy;
};

/* What a collective operation does: which of its members wait for which. */
struct stf_operation {
	int kind;       /* enum stf_wait_kind; -1: which members wait for which is unknown */
	unsigned class; /* the class of records that has what is needed to know it */
	const char *name;
};

struct stf_names {
	const struct stf_reader *r;
	uint32_t *flags; /* of the functions with ids below `dense` */
	uint32_t dense;
	int has_openmp; /* some function is a region or barrier of OpenMP */
	struct tkm_table sparse, communicators;
	struct stf_operation operation[256];
};

/* -1: no memory. The caller calls stf_names_free() all the same. */
int stf_names_read(struct stf_names *n, const struct stf_reader *r);
void stf_names_free(struct stf_names *n);
/* The flags above. */
unsigned stf_names_function(const struct stf_names *n, uint32_t id);
/* NULL: not declared. */
const struct stf_members *stf_names_members(const struct stf_names *n, uint32_t communicator);

#endif

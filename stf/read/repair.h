/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a damaged definition layer, and keeps the list of a trace's faults. */
#ifndef STF_READ_REPAIR_H
#define STF_READ_REPAIR_H

#include "stf/component/source.h"

#define STX_MAX_FAULTS 64

/* The first faults; `count` counts all of them. */
struct stf_faults {
	struct stf_err *fault;
	size_t n;
	uint64_t count;
};

/* Returns -1: no memory. */
int stf_faults_add(struct stf_faults *l, const struct stf_err *e);

/* Reads the definition layer at the start of the base file, and positions s after it. A damaged line is a fault;
 * this library's layout of its record takes its place. Returns 1: done; 0: the bytes cannot be interpreted at
 * all, and s is where it was; -1: no memory, the file cannot be read, or the byte order is unknown. */
int stf_repair_layer(struct stf_defs *defs, struct stf_source *s, struct stf_faults *faults, struct stf_err *err);

#endif

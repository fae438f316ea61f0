/* SPDX-License-Identifier: BSD-3-Clause */
/* A damaged definition layer, and the list of what is wrong with a trace. */
#ifndef STF_REPAIR_H
#define STF_REPAIR_H

#include "stf/source.h"

#define STX_MAX_FAULTS 64

/* The first of them; `count` counts all. */
struct stx_faults {
	struct stf_err *fault;
	size_t n, cap;
	uint64_t count;
};

/* -1: no memory. */
int stx_faults_add(struct stx_faults *l, const struct stf_err *e);

/* Reads the layer at the start of the base file, and leaves s after it. A line that is damaged is a fault; the layout that
 * this library has for its record takes its place. 1: done; 0: there is nothing that can be told from anything else, s is
 * where it was; -1: no memory, cannot be read, or the byte order is unknown. */
int stx_repair_layer(struct stx_defs *defs, struct stx_source *s, struct stx_faults *faults, struct stf_err *err);

#endif

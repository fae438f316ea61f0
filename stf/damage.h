/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of components that were found damaged. */
#ifndef STF_DAMAGE_H
#define STF_DAMAGE_H

#include "stf/private.h"

struct stx_damages {
	struct stf_damage *d;
	size_t n, cap;
};

/* One that is known already is not added again, one that goes on where the last ended makes that longer. -1: no memory. */
int stx_damages_add(struct stx_damages *l, const struct stf_damage *d);

#endif

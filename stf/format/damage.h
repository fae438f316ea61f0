/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of the pieces of components that were found damaged. */
#ifndef STF_FORMAT_DAMAGE_H
#define STF_FORMAT_DAMAGE_H

#include "stf/format/private.h"

struct stf_damages {
	struct stf_damage *d;
	size_t n;
};

/* Adds a piece. A known piece is not added again, and a piece that begins at the end of the last one extends it.
 * -1: no memory. */
int stf_damages_add(struct stf_damages *l, const struct stf_damage *d);

#endif

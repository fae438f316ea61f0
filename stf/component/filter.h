/* SPDX-License-Identifier: BSD-3-Clause */
/* Which records a cursor delivers. */
#ifndef STF_COMPONENT_FILTER_H
#define STF_COMPONENT_FILTER_H

#include "stf/format/private.h"

struct stf_filter {
	uint32_t categories; /* all bits set: all categories */
	uint64_t from, to;
	const struct stf_triplet *willys;
	size_t n_willys; /* 0: all willies */
};

int stf_filter_willy(const struct stf_filter *f, uint32_t willy);
/* Does a record match, apart from its time? */
int stf_filter_record(const struct stf_filter *f, const struct stf_record *r);

#endif

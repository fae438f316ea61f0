/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of a table that were used last: a trace repeats what it does, so most are found without the table. */
#ifndef STF_REPLAY_RECENT_H
#define STF_REPLAY_RECENT_H

#include <stdint.h>

#include "base/table.h"

enum { STF_RECENT_BITS = 10 };

/* Initialise it with { 0 }. It is for one table, from which nothing is removed. */
struct stf_recent {
	struct {
		uint32_t key[3];
		void *value;
	} slot[1 << STF_RECENT_BITS];
};

/* As tkm_table_put(), with a key of three words. */
static inline void *stf_recent_put(struct stf_recent *r, struct tkm_table *t, const uint32_t key[3], size_t value_size)
{
	uint32_t at = (key[0] * 0x9e3779b1u + key[1] * 0x85ebca6bu + key[2] * 0xc2b2ae35u) >> (32 - STF_RECENT_BITS);

	if (!r->slot[at].value || r->slot[at].key[0] != key[0] || r->slot[at].key[1] != key[1] ||
		r->slot[at].key[2] != key[2]) {
		r->slot[at].value = tkm_table_put(t, key, 3 * sizeof(*key), value_size);
		r->slot[at].key[0] = key[0];
		r->slot[at].key[1] = key[1];
		r->slot[at].key[2] = key[2];
	}
	return r->slot[at].value;
}

#endif

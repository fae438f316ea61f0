/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which records a cursor delivers. */
#include "config.h"
#include "stf/component/filter.h"

int stf_filter_willy(const struct stf_filter *f, uint32_t willy)
{
	const struct stf_triplet *t;
	size_t i;

	for (i = 0; i < f->n_willys; i++) {
		t = &f->willys[i];
		if (willy >= t->first && willy <= t->last && (willy - t->first) % (t->stride ? t->stride : 1) == 0) {
			return 1;
		}
	}
	return f->n_willys == 0;
}

int stf_filter_record(const struct stf_filter *f, const struct stf_record *r)
{
	const struct stf_layout *l = r->layout;
	unsigned i, any = 0;
	uint32_t k;

	if (l->kind <= STF_KIND_OTHER && !(f->categories >> l->kind & 1)) {
		return 0;
	}
	if (f->n_willys == 0) {
		return 1;
	}
	/* a record of several threads, such as a message, belongs to each of them; a record of no thread belongs
	 * to all */
	for (i = 0; i < l->n_fields; i++) {
		if (l->fields[i].type != STF_WILLYID) {
			continue;
		}
		any = 1;
		if (!l->fields[i].is_array && stf_filter_willy(f, (uint32_t)r->values[i].u)) {
			return 1;
		}
		for (k = 0; l->fields[i].is_array && k < r->values[i].count; k++) {
			if (stf_filter_willy(f, ((const uint32_t *)r->values[i].array)[k])) {
				return 1;
			}
		}
	}
	return !any;
}

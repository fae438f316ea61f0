/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast decoder, for records whose layout in the file is ours. */
#ifndef STF_COMPONENT_NATIVE_H
#define STF_COMPONENT_NATIVE_H

#include "stf/component/input.h"

/* Decodes the record at p into s->value and returns its number of bytes; 0: it needs the general decoder. */
size_t stf_native_decode(const struct stf_fdef *def, const uint8_t *p, const uint8_t *end, struct stf_scratch *s);

struct stf_filter;
/* Reads a batch of equal-shaped counter samples from the current position of s. `f` accepts them, and none is
 * later than `until`. Returns 0: the next record is not such a sample. */
size_t stf_native_counters(
	struct stf_source *s, const struct stf_filter *f, uint64_t until, struct stf_counter_batch *b);
/* Does the same, beginning with s->record. */
void stf_one_counter(struct stf_source *s, const struct stf_counter_value *v, struct stf_counter_batch *b);

#endif

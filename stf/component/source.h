/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads one component, record by record. */
#ifndef STF_COMPONENT_SOURCE_H
#define STF_COMPONENT_SOURCE_H

#include "stf/component/input.h"

/* Does the component begin with an identity of this trace? */
int stf_source_check_start(struct stf_source *s, struct stf_err *err);
/* Reads a line of text. *n is its length without the LF, which becomes 0 in the window. -1: there is no further
 * line. Not for a mapped source. */
int stf_source_line(struct stf_source *s, char **line, size_t *n, struct stf_err *err);

/* Returns 1: s->record is the next known record; 0: end; -1: fault. */
int stf_source_next(struct stf_source *s, struct stf_err *err);
/* Undoes the last stf_source_next(). */
void stf_source_back(struct stf_source *s);

/* ---- native.c: records whose layout in the file is ours ---- */

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

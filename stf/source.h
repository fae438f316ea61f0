/* SPDX-License-Identifier: BSD-3-Clause */
/* One component being read, record by record. */
#ifndef STF_SOURCE_H
#define STF_SOURCE_H

#include "stf/input.h"

/* Does it begin with an identity of this trace? */
int stx_source_check_start(struct stx_source *s, struct stf_err *err);
/* A line of text without its LF, terminated by 0 in the window; *n its length. -1: no further line. Not of a
 * mapped source. */
int stx_source_line(struct stx_source *s, char **line, size_t *n, struct stf_err *err);

/* 1: s->record is the next known record; 0: end; -1: fault. */
int stx_source_next(struct stx_source *s, struct stf_err *err);
/* Undoes the last stx_source_next(). */
void stx_source_back(struct stx_source *s);

/* ---- native.c: records that lie in the file as we lay them out ---- */

/* Bytes of the record at p, its values in s->value; 0: needs the general decoder. */
size_t stx_native_decode(const struct stx_fdef *def, const uint8_t *p, const uint8_t *end, struct stx_scratch *s);

struct stx_filter;
/* Counter samples from where s is that `f` takes, none later than `until`, all alike; 0: the next record
 * is none of these. */
size_t stx_native_counters(
	struct stx_source *s, const struct stx_filter *f, uint64_t until, struct stf_counter_batch *b);
/* The same from s->record. */
void stx_one_counter(struct stx_source *s, const struct stf_counter_value *v, struct stf_counter_batch *b);

#endif

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

#endif

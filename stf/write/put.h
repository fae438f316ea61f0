/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes records of any kind into a given stream. */
#ifndef STF_WRITE_PUT_H
#define STF_WRITE_PUT_H

#include "stf/format/private.h"

struct stf_stream;

/* Writes a view of any incarnation. */
int stf_put_record(struct stf_stream *s, const struct stf_record *r);

/* int stf_put_anchor(struct stf_stream *s, const struct stf_anchor *r), ... */
#define STF_BEGIN(id, cls, name, kind) int stf_put_##name(struct stf_stream *s, const struct stf_##name *r);
#include "include/records.def"

#endif

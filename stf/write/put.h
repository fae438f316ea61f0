/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes records of any kind into a given stream. */
#ifndef STF_WRITE_PUT_H
#define STF_WRITE_PUT_H

#include "stf/format/private.h"

struct stx_stream;

/* Writes a view of any incarnation. */
int stx_put_record(struct stx_stream *s, const struct stf_record *r);

/* int stx_put_anchor(struct stx_stream *s, const struct stf_anchor *r), ... */
#define STF_BEGIN(id, cls, name, kind) int stx_put_##name(struct stx_stream *s, const struct stf_##name *r);
#include "include/records.def"

#endif

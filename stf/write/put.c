/* SPDX-License-Identifier: BSD-3-Clause */
/* stf_put_NAME() of every record. */
#include "stf/write/put.h"
#include "stf/write/encode.h"

#define STF_BEGIN(id_, cls_, name_, kind_) \
	int stf_put_##name_(struct stf_stream *s, const struct stf_##name_ *r) \
	{ \
		struct head h = { 0 }; \
		measure_##name_(r, &h); \
		if (h.too_many || h.no_array) { \
			return stf_refuse_count(s->err, #name_, h.too_many); \
		} \
		s->used[id_] = 1; \
		return put_##name_(s, r, &h); \
	}
#include "include/records.def"

#define STF_BEGIN(id_, cls_, name_, kind_) \
	static int put_view_##name_(struct stf_stream *s, const struct stf_record *v) \
	{ \
		struct stf_##name_ r; \
		return stf_get_##name_(v, &r) < 0 ? -1 : stf_put_##name_(s, &r); \
	}
#include "include/records.def"

int stf_put_record(struct stf_stream *s, const struct stf_record *r)
{
	static int (*const table[STF_ID_END])(struct stf_stream *, const struct stf_record *) = {
#define STF_BEGIN(id_, cls_, name_, kind_) [id_] = put_view_##name_,
#include "include/records.def"
	};

	return table[r->layout->id](s, r);
}

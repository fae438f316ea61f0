/* SPDX-License-Identifier: BSD-3-Clause */
/* stf_write_NAME() of every record. */
#include "stf/write/encode.h"
#include "stf/write/writer.h"

#include <stdio.h>

/* Does a declaration refer only to ids that were declared before it? Data records are not checked, because that
 * would cost more than writing them. */
static int is_declared(struct stf_writer *w, unsigned class_id, uint64_t id, const char *record, const char *field)
{
	char why[100];

	if (id == 0 || w->opt.part || stf_map_find(&w->declared, STX_KEY(class_id, id))) {
		return 1;
	}
	snprintf(why, sizeof(why), "%s refers to what was not declared", field);
	stf_reject(&w->err, record, why, id);
	return 0;
}

#define STF_BEGIN(id_, cls_, name_, kind_) \
	__attribute__((unused)) static int refers_##name_(struct stf_writer *w, const struct stf_##name_ *r) \
	{ \
		const char *record = #name_; \
		uint32_t i, n = 0;
/* clang-format off */
#define STF_FIELD(type_, name_, ref_, dflt_) \
	if (STF_ID_##ref_ != STF_ID_void && \
		!is_declared(w, STF_ID_##ref_, _Generic(r->name_, double: 0, float: 0, default: (uint64_t)r->name_), \
			record, #name_)) { \
		return -1; \
	}
/* clang-format on */
#define STF_SIZE(type_, group_, n_) n = r->size_##group_##_##n_;
/* clang-format off */
#define STF_ARRAY(type_, name_, ref_, dflt_) \
	for (i = 0; STF_ID_##ref_ != STF_ID_void && i < n; i++) { \
		if (!is_declared(w, STF_ID_##ref_, \
			    _Generic(r->name_[0], double: 0, float: 0, default: (uint64_t)r->name_[i]), record, \
			    #name_)) { \
			return -1; \
		} \
	}
/* clang-format on */
#define STF_END(id_, name_) \
	(void)i; \
	(void)n; \
	(void)r; \
	(void)w; \
	(void)record; \
	return 0; \
	}
#include "include/records.def"

#define STF_BEGIN(id_, cls_, name_, kind_) \
	int stf_write_##name_(struct stf_writer *w, const struct stf_##name_ *r) \
	{ \
		struct head h = { 0 }; \
		struct stf_stream *s; \
		measure_##name_(r, &h); \
		if (__builtin_expect(h.too_many != 0 || h.no_array, 0)) { \
			return stf_refuse_count(&w->err, #name_, h.too_many); \
		} \
		if ((id_ == STF_ID_stf_string || id_ == STF_ID_class_definition || id_ == STF_ID_info) && \
			stf_note(w, id_, r)) { \
			return 0; \
		} \
		if ((STF_KIND_##kind_ == STF_KIND_DECL || id_ == STF_ID_info) && refers_##name_(w, r) < 0) { \
			return -1; \
		} \
		s = stf_route(w, id_, STF_KIND_##kind_, h.willy, h.key); \
		if (__builtin_expect(!s, 0)) { \
			return -1; \
		} \
		s->used[id_] = 1; \
		return put_##name_(s, r, &h); \
	}
#include "include/records.def"

#define STF_BEGIN(id_, cls_, name_, kind_) \
	static int write_view_##name_(struct stf_writer *w, const struct stf_record *v) \
	{ \
		struct stf_##name_ r; \
		return stf_get_##name_(v, &r) < 0 ? -1 : stf_write_##name_(w, &r); \
	}
#include "include/records.def"

int stf_write_record(struct stf_writer *w, const struct stf_record *r)
{
	static int (*const table[STF_ID_END])(struct stf_writer *, const struct stf_record *) = {
#define STF_BEGIN(id_, cls_, name_, kind_) [id_] = write_view_##name_,
#include "include/records.def"
	};

	return table[r->layout->id](w, r);
}

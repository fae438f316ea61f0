/* SPDX-License-Identifier: BSD-3-Clause */
/* The encoder: stx_put_NAME() and stf_write_NAME() of every record, from the table. Straight-line code
 * per record, no dispatch on fields. */
#include "stf/writer.h"

#include <stdio.h>

/* What must be known before the bytes: size, time, thread, first field, and whether a count fits. */
struct head {
	uint64_t size, time, key;
	uint64_t too_many; /* count that does not fit its size field */
	uint32_t willy;
	int has_willy, has_key, has_time;
};

#define MAX_U1 UINT8_MAX
#define MAX_U4 UINT32_MAX

#define STF_BEGIN(id_, cls_, name_, kind_) \
	static inline void measure_##name_(const struct stf_##name_ *r, struct head *h) \
	{ \
		uint64_t n = 0; \
		h->size = sizeof(struct stx_wire_##name_);
#define STF_TIME(name_) \
		h->time = r->name_; \
		h->has_time = 1;
#define STF_FIELD(type_, name_, ref_, dflt_) \
		if (!h->has_key) { \
			/* an id; the one record that begins with a real number has none */ \
			h->key = (uint64_t)_Generic(r->name_, double: 0, float: 0, default: r->name_); \
			h->has_key = 1; \
		}
#define STF_WILLY_FIELD(name_) \
		if (!h->has_willy) { \
			h->willy = r->name_; \
			h->has_willy = 1; \
		}
#define STF_SIZE(type_, group_, n_) \
		n = r->size_##group_##_##n_; \
		if (n > MAX_##type_) { \
			h->too_many = n; \
		}
#define STF_ARRAY(type_, name_, ref_, dflt_) h->size += n * STX_W_##type_;
#define STF_WILLY_ARRAY(name_) h->size += n * 4;
#define STF_END(id_, name_) \
		(void)n; \
		(void)r; \
	}
#include "stf/records.def"

static inline uint8_t *put_1(uint8_t *p, uint8_t v)
{
	*p = v;
	return p + 1;
}

static inline uint8_t *put_4(uint8_t *p, uint32_t v, int big)
{
	tkm_put32(p, v, big);
	return p + 4;
}

static inline uint8_t *put_8(uint8_t *p, uint64_t v, int big)
{
	tkm_put64(p, v, big);
	return p + 8;
}

static inline uint8_t *put_f8(uint8_t *p, double v, int big)
{
	uint64_t u;

	memcpy(&u, &v, sizeof(u));
	return put_8(p, u, big);
}

#define P_U1(p, v, big) put_1(p, v)
#define P_U4(p, v, big) put_4(p, v, big)
#define P_U8(p, v, big) put_8(p, v, big)
#define P_I4(p, v, big) put_4(p, (uint32_t)(v), big)
#define P_I8(p, v, big) put_8(p, (uint64_t)(v), big)
#define P_F8(p, v, big) put_f8(p, v, big)
#define P_C1(p, v, big) put_1(p, (uint8_t)(v))
#define P_O8(p, v, big) put_8(p, v, big)

/* The compiler turns the loop into a memcpy where the order is the host's. */
#define STF_BEGIN(id_, cls_, name_, kind_) \
	static inline void encode_##name_(uint8_t *p, const struct stf_##name_ *r, uint32_t dt, const int big) \
	{ \
		uint32_t i, n = 0; \
		p = put_1(p, id_);
#define STF_TIME(name_) p = put_4(p, dt, big);
#define STF_FIELD(type_, name_, ref_, dflt_) p = P_##type_(p, r->name_, big);
#define STF_WILLY_FIELD(name_) p = put_4(p, r->name_, big);
#define STF_SIZE(type_, group_, n_) \
		n = r->size_##group_##_##n_; \
		p = P_##type_(p, (STF_C_##type_)n, big);
#define STF_ARRAY(type_, name_, ref_, dflt_) \
		for (i = 0; i < n; i++) { \
			p = P_##type_(p, r->name_[i], big); \
		}
#define STF_WILLY_ARRAY(name_) \
		for (i = 0; i < n; i++) { \
			p = put_4(p, r->name_[i], big); \
		}
#define STF_END(id_, name_) \
		(void)i; \
		(void)n; \
		(void)p; \
		(void)r; \
		(void)dt; \
	}
#include "stf/records.def"

/* Does a declaration refer only to what was declared ahead of it? Data records are not looked at: that costs more than
 * writing them. */
static int is_declared(struct stf_writer *w, unsigned class_id, uint64_t id, const char *record, const char *field)
{
	char why[100];

	if (id == 0 || w->opt.part || stx_map_find(&w->declared, STX_KEY(class_id, id))) {
		return 1;
	}
	snprintf(why, sizeof(why), "%s refers to what was not declared", field);
	stx_reject(&w->err, record, why, id);
	return 0;
}

#define STF_BEGIN(id_, cls_, name_, kind_) \
	__attribute__((unused)) static int refers_##name_(struct stf_writer *w, const struct stf_##name_ *r) \
	{ \
		const char *record = #name_; \
		uint32_t i, n = 0;
#define STF_FIELD(type_, name_, ref_, dflt_) \
		if (STF_ID_##ref_ != STF_ID_void && \
		    !is_declared(w, STF_ID_##ref_, _Generic(r->name_, double: 0, float: 0, default: (uint64_t)r->name_), record, #name_)) { \
			return -1; \
		}
#define STF_SIZE(type_, group_, n_) n = r->size_##group_##_##n_;
#define STF_ARRAY(type_, name_, ref_, dflt_) \
		for (i = 0; STF_ID_##ref_ != STF_ID_void && i < n; i++) { \
			if (!is_declared(w, STF_ID_##ref_, _Generic(r->name_[0], double: 0, float: 0, default: (uint64_t)r->name_[i]), \
					 record, #name_)) { \
				return -1; \
			} \
		}
#define STF_END(id_, name_) \
		(void)i; \
		(void)n; \
		(void)r; \
		(void)w; \
		(void)record; \
		return 0; \
	}
#include "stf/records.def"

#define STF_BEGIN(id_, cls_, name_, kind_) \
	static inline int put_##name_(struct stx_stream *s, const struct stf_##name_ *r, const struct head *h) \
	{ \
		uint32_t dt; \
		uint8_t *p = stx_room(s, h->size, h->has_time ? h->time : s->now, &dt); \
		if (__builtin_expect(!p, 0)) { \
			return -1; \
		} \
		if (__builtin_expect(!s->big, 1)) { \
			encode_##name_(p, r, dt, 0); \
		} else { \
			encode_##name_(p, r, dt, 1); \
		} \
		s->cur = p + h->size; \
		return 0; \
	} \
	int stx_put_##name_(struct stx_stream *s, const struct stf_##name_ *r) \
	{ \
		struct head h = { 0 }; \
		measure_##name_(r, &h); \
		if (h.too_many) { \
			return stx_reject(s->err, #name_, "more elements than its size field can say", h.too_many); \
		} \
		s->used[id_] = 1; \
		return put_##name_(s, r, &h); \
	} \
	int stf_write_##name_(struct stf_writer *w, const struct stf_##name_ *r) \
	{ \
		struct head h = { 0 }; \
		struct stx_stream *s; \
		measure_##name_(r, &h); \
		if (__builtin_expect(h.too_many != 0, 0)) { \
			return stx_reject(&w->err, #name_, "more elements than its size field can say", \
					  h.too_many); \
		} \
		if ((id_ == STF_ID_stf_string || id_ == STF_ID_class_definition || id_ == STF_ID_info) && \
		    stx_note(w, id_, r)) { \
			return 0; \
		} \
		if ((STF_KIND_##kind_ == STF_KIND_DECL || id_ == STF_ID_info) && refers_##name_(w, r) < 0) { \
			return -1; \
		} \
		s = stx_route(w, id_, STF_KIND_##kind_, h.willy, h.key); \
		if (__builtin_expect(!s, 0)) { \
			return -1; \
		} \
		s->used[id_] = 1; \
		return put_##name_(s, r, &h); \
	}
#include "stf/records.def"

#define STF_BEGIN(id_, cls_, name_, kind_) \
	static int write_view_##name_(struct stf_writer *w, const struct stf_record *v) \
	{ \
		struct stf_##name_ r; \
		return stf_get_##name_(v, &r) < 0 ? -1 : stf_write_##name_(w, &r); \
	}
#include "stf/records.def"

int stf_write_record(struct stf_writer *w, const struct stf_record *r)
{
	static int (*const table[STF_ID_END])(struct stf_writer *, const struct stf_record *) = {
#define STF_BEGIN(id_, cls_, name_, kind_) [id_] = write_view_##name_,
#include "stf/records.def"
	};

	return table[r->layout->id](w, r);
}

#define STF_BEGIN(id_, cls_, name_, kind_) \
	static int put_view_##name_(struct stx_stream *s, const struct stf_record *v) \
	{ \
		struct stf_##name_ r; \
		return stf_get_##name_(v, &r) < 0 ? -1 : stx_put_##name_(s, &r); \
	}
#include "stf/records.def"

int stx_put_record(struct stx_stream *s, const struct stf_record *r)
{
	static int (*const table[STF_ID_END])(struct stx_stream *, const struct stf_record *) = {
#define STF_BEGIN(id_, cls_, name_, kind_) [id_] = put_view_##name_,
#include "stf/records.def"
	};

	return table[r->layout->id](s, r);
}

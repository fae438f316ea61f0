/* SPDX-License-Identifier: BSD-3-Clause */
/* The encoder of every record, made from the record table: straight-line code for each record, without a loop
 * over fields. Each file that includes this header gets its own inlined copy. */
#ifndef STF_WRITE_ENCODE_H
#define STF_WRITE_ENCODE_H

#include "stf/write/stream.h"

/* What must be known before encoding: size, time, thread, first field, and whether each count fits. */
struct head {
	uint64_t size, time, key;
	int no_array;      /* an array is NULL although it has elements */
	uint64_t too_many; /* the count that does not fit its size field */
	uint32_t willy;
	int has_willy, has_key, has_time;
};

#define MAX_U1 UINT8_MAX
#define MAX_U4 UINT32_MAX

#define STF_BEGIN(id_, cls_, name_, kind_) \
	static inline void measure_##name_(const struct stf_##name_ *r, struct head *h) \
	{ \
		uint64_t n = 0; \
		h->size = sizeof(struct stf_wire_##name_);
#define STF_TIME(name_) \
	h->time = r->name_; \
	h->has_time = 1;
/* clang-format off */
#define STF_FIELD(type_, name_, ref_, dflt_) \
	if (!h->has_key) { \
		/* an id; the one record that begins with a real number has none */ \
		h->key = (uint64_t)_Generic(r->name_, double: 0, float: 0, default: r->name_); \
		h->has_key = 1; \
	}
/* clang-format on */
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
#define STF_ARRAY(type_, name_, ref_, dflt_) \
	h->size += n * STX_W_##type_; \
	h->no_array |= n && !r->name_;
#define STF_WILLY_ARRAY(name_) \
	h->size += n * 4; \
	h->no_array |= n && !r->name_;
#define STF_END(id_, name_) \
	(void)n; \
	(void)r; \
	}
#include "include/records.def"

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

/* The compiler turns this loop into a memcpy if the order is that of the host. */
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
#include "include/records.def"

#define STF_BEGIN(id_, cls_, name_, kind_) \
	static inline int put_##name_(struct stf_stream *s, const struct stf_##name_ *r, const struct head *h) \
	{ \
		uint32_t dt; \
		uint8_t *p = stf_room(s, h->size, h->has_time ? h->time : s->now, &dt); \
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
	}
#include "include/records.def"

#endif

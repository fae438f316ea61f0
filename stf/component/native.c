/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast decoder, for records whose definition in the file equals ours. Its straight-line code is made from the
 * record table; counter samples are decoded in batches. Unusual records, such as one that is not yet complete in
 * memory or that has a large array, are left to the general decoder, which also reports errors. */
#include "config.h"
#include "stf/component/native.h"
#include "stf/component/filter.h"

#include <stdlib.h>

#define SMALL 4096 /* largest size of a record's arrays that are copied here */

struct at {
	const uint8_t *p, *end;
	struct stf_value *v;
	char *mem, *mem_end;
};

#define NEED(a, n) \
	if ((uint64_t)((a)->end - (a)->p) < (uint64_t)(n)) { \
		return 0; \
	}

#define L_U1(p) (*(p))
/* clang-format off */
#define L_I1(p) ((uint64_t)(int64_t)(int8_t) * (p))
/* clang-format on */
#define L_C1(p) (*(p))
#define L_U2(p) tkm_get16(p, TKM_HOST_BIG)
#define L_I2(p) ((uint64_t)(int64_t)(int16_t)tkm_get16(p, TKM_HOST_BIG))
#define L_U4(p) tkm_get32(p, TKM_HOST_BIG)
#define L_I4(p) ((uint64_t)(int64_t)(int32_t)tkm_get32(p, TKM_HOST_BIG))
#define L_U8(p) tkm_get64(p, TKM_HOST_BIG)
#define L_I8(p) tkm_get64(p, TKM_HOST_BIG)
#define L_F8(p) tkm_get64(p, TKM_HOST_BIG)
#define L_O8(p) tkm_get64(p, TKM_HOST_BIG)

/* Arrays are usually short. Copying pieces, of which the last may overlap the previous one, is faster than a
 * call, or than the string instruction that compilers use instead. */
static inline void copy(char *to, const uint8_t *from, size_t n)
{
	size_t i;

	if (n >= 16) {
		for (i = 0; i < n - 16; i += 16) {
			memcpy(to + i, from + i, 16);
		}
		memcpy(to + n - 16, from + n - 16, 16);
	} else if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	} else {
		for (i = 0; i < n; i++) {
			to[i] = (char)from[i];
		}
	}
}

/* Copied because arrays in the file are not aligned, and because a zero byte must follow. */
static inline int take_array(struct at *a, uint64_t count, unsigned size)
{
	uint64_t n = count * size, room = (n + 8) / 8 * 8;

	if ((uint64_t)(a->end - a->p) < n || (uint64_t)(a->mem_end - a->mem) < room) {
		return 0;
	}
	copy(a->mem, a->p, n);
	a->mem[n] = 0;
	a->v->u = 0;
	a->v->array = a->mem;
	a->v->count = (uint32_t)count;
	a->mem += room;
	a->p += n;
	a->v++;
	return 1;
}

#define SCALAR(n, value_) \
	NEED(&a, n) \
	*a.v++ = (struct stf_value){ .u = value_ }; \
	a.p += n;
#define ARRAY(n) \
	if (!take_array(&a, count, n)) { \
		return 0; \
	}

#define STF_BEGIN(id_, cls_, name_, kind_) \
	static size_t native_##name_(const uint8_t *p, const uint8_t *end, struct stf_scratch *s) \
	{ \
		struct at a = { p + 1, end, s->value, s->mem.p, s->mem.p + s->mem.cap }; \
		uint64_t count = 0;
#define STF_TIME(name_) SCALAR(4, L_U4(a.p))
#define STF_FIELD(type_, name_, ref_, dflt_) SCALAR(STX_W_##type_, L_##type_(a.p))
#define STF_WILLY_FIELD(name_) SCALAR(4, L_U4(a.p))
#define STF_SIZE(type_, group_, n_) \
	NEED(&a, STX_W_##type_) \
	count = L_##type_(a.p); \
	SCALAR(STX_W_##type_, count)
#define STF_ARRAY(type_, name_, ref_, dflt_) ARRAY(STX_W_##type_)
#define STF_WILLY_ARRAY(name_) ARRAY(4)
#define STF_END(id_, name_) \
	(void)count; \
	return (size_t)(a.p - p); \
	}
#include "include/records.def"

size_t stf_native_decode(const struct stf_fdef *def, const uint8_t *p, const uint8_t *end, struct stf_scratch *s)
{
	static size_t (*const table[STF_ID_END])(const uint8_t *, const uint8_t *, struct stf_scratch *) = {
#define STF_BEGIN(id_, cls_, name_, kind_) [id_] = native_##name_,
#include "include/records.def"
	};

	s->mem.n = 0;
	if (s->mem.cap < SMALL && stf_buf_reserve(&s->mem, SMALL) < 0) {
		return 0;
	}
	return table[def->id](p, end, s);
}

/* ---- counter samples ---- */

#define AT(field) offsetof(struct stf_wire_counter_value, field)
#define FIXED sizeof(struct stf_wire_counter_value)

static void set_batch(struct stf_counter_batch *b, const uint8_t *p, unsigned k, size_t n, const uint64_t *times)
{
	b->n = n;
	b->k = k;
	b->stride = (uint32_t)(FIXED + 12 * k);
	b->times = times;
	b->willys = p + AT(willy);
	b->values = p + FIXED;
	b->counters = p + FIXED + 8 * (size_t)k;
}

/* Counts the records from p that have the same shape and are in the time range, and sets their times. `span` is
 * to - from. */
static inline size_t count_alike(const uint8_t *p, size_t max, size_t stride, unsigned k, uint64_t *now, uint64_t from,
	uint64_t span, uint64_t *times)
{
	uint64_t t = *now;
	size_t n;

	for (n = 0; n < max; n++, p += stride) {
		if (p[0] != STF_ID_counter_value || p[AT(size_1_2)] != k) {
			break;
		}
		/* newly mapped pages are not in the cache yet, and the processor does not prefetch beyond a page */
		__builtin_prefetch(p + 4096);
		t += tkm_get32(p + AT(time), TKM_HOST_BIG);
		if (t - from > span) {
			break;
		}
		times[n] = *now = t;
	}
	return n;
}

/* The same thread is looked up many times in succession. */
static size_t count_wanted(const uint8_t *p, size_t max, size_t stride, const struct stf_filter *f)
{
	uint32_t willy = tkm_get32(p + AT(willy), TKM_HOST_BIG);
	size_t n;

	if (!stf_filter_willy(f, willy)) {
		return 0;
	}
	for (n = 1; n < max && tkm_get32(p + n * stride + AT(willy), TKM_HOST_BIG) == willy; n++) {
	}
	return n;
}

size_t stf_native_counters(
	struct stf_source *s, const struct stf_filter *f, uint64_t until, struct stf_counter_batch *b)
{
	const struct stf_fdef *def = s->defs->def[STF_ID_counter_value];
	const uint8_t *p = s->buf + s->pos;
	size_t left = s->len - s->pos, max, stride;
	uint64_t to = until < f->to ? until : f->to;
	unsigned k;

	if (!def || !def->native || left < FIXED || *p != STF_ID_counter_value || to < f->from ||
		s->now > UINT64_MAX - ((uint64_t)STX_BATCH << 32) || !(f->categories >> STF_KIND_COUNTER & 1)) {
		return 0;
	}
	if (!s->times) {
		s->times = malloc(STX_BATCH * sizeof(*s->times));
		if (!s->times) {
			return 0;
		}
	}
	k = p[AT(size_1_2)];
	stride = FIXED + 12 * (size_t)k;
	max = left / stride < STX_BATCH ? left / stride : STX_BATCH;
	if (f->n_willys) {
		max = max ? count_wanted(p, max, stride, f) : 0;
	}
	b->offset = s->offset + s->pos;
	b->number = s->lost_count ? 0 : s->number + 1;
	max = count_alike(p, max, stride, k, &s->now, f->from, to - f->from, s->times);
	set_batch(b, p, k, max, s->times);
	s->pos += max * stride;
	s->number += s->lost_count ? 0 : max;
	return max;
}

void stf_one_counter(struct stf_source *s, const struct stf_counter_value *v, struct stf_counter_batch *b)
{
	size_t k = v->size_1_2;
	uint8_t *p = s->one ? s->one : malloc(sizeof(uint64_t) + FIXED + 12 * UINT8_MAX);

	b->n = 0;
	if (!p) {
		return;
	}
	s->one = p;
	/* the time is stored first, where it is aligned */
	memcpy(p, &v->time, sizeof(v->time));
	p += sizeof(uint64_t);
	tkm_put32(p + AT(willy), v->willy, TKM_HOST_BIG);
	if (k) {
		memcpy(p + FIXED, v->values, 8 * k);
		memcpy(p + FIXED + 8 * k, v->counters, 4 * k);
	}
	set_batch(b, p, (unsigned)k, 1, (const uint64_t *)(const void *)s->one);
	b->offset = s->record.offset;
	b->number = s->record.number;
}

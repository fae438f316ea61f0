/* SPDX-License-Identifier: BSD-3-Clause */
/* The record table as data, and the functions that use it. */
#include "stf/format/private.h"

/* A default as the bits of a view's value; doubles are stored as doubles. */
#define D_F4(d) ((d) == 0 ? 0 : 0x3ff0000000000000u)
#define D_F8(d) ((d) == 0 ? 0 : 0x3ff0000000000000u) /* the table has only the values 0 and 1 */
#define D_U1(d) (d)
#define D_U2(d) (d)
#define D_U4(d) (d)
#define D_U8(d) (d)
#define D_I1(d) (uint64_t)(d)
#define D_I2(d) (uint64_t)(d)
#define D_I4(d) (uint64_t)(d)
#define D_I8(d) (uint64_t)(d)
#define D_C1(d) (d)
#define D_O8(d) (d)

/* clang-format off */
#define STF_BEGIN(id_, cls_, name_, kind_) static const struct stf_field fields_##name_[] = {
#define STF_TIME(name_) { .name = #name_, .type = STF_U4, .is_time = 1 },
#define STF_FIELD(type_, name_, ref_, dflt_) \
	{ .name = #name_, .type = STF_##type_, .ref_class = STF_ID_##ref_, .dflt = D_##type_(dflt_) },
#define STF_WILLY_FIELD(name_) { .name = #name_, .type = STF_WILLYID },
#define STF_SIZE(type_, group_, n_) { .name = "size_" #group_ "_" #n_, .type = STF_##type_, .is_size = n_ },
#define STF_ARRAY(type_, name_, ref_, dflt_) \
	{ .name = #name_, .type = STF_##type_, .is_array = 1, .ref_class = STF_ID_##ref_, .dflt = D_##type_(dflt_) },
#define STF_WILLY_ARRAY(name_) { .name = #name_, .type = STF_WILLYID, .is_array = 1 },
#define STF_END(id_, name_) };
#include "include/records.def"

static const struct stf_layout layouts[STF_ID_END] = {
#define STF_BEGIN(id_, cls_, name_, kind_) \
	[id_] = { .name = #name_, .cls = #cls_, .id = id_, .class_id = STF_ID_##cls_, .kind = STF_KIND_##kind_, \
		  .n_fields = sizeof(fields_##name_) / sizeof(fields_##name_[0]), .fields = fields_##name_ },
#include "include/records.def"
};
/* clang-format on */

static const struct {
	const char *name;
	unsigned size;
	/* clang-format off */
} types[] = {
	[STF_U1] = { "U1", 1 }, [STF_U2] = { "U2", 2 }, [STF_U4] = { "U4", 4 }, [STF_U8] = { "U8", 8 },
	[STF_I1] = { "I1", 1 }, [STF_I2] = { "I2", 2 }, [STF_I4] = { "I4", 4 }, [STF_I8] = { "I8", 8 },
	[STF_F4] = { "F4", 4 }, [STF_F8] = { "F8", 8 }, [STF_C1] = { "C1", 1 }, [STF_O8] = { "O8", 8 },
	[STF_WILLYID] = { "willy_id", 4 },
};
/* clang-format on */

unsigned stf_type_size(enum stf_type t)
{
	return types[t].size;
}

const char *stf_type_name(enum stf_type t)
{
	return types[t].name;
}

int stf_type_by_name(const char *name, size_t n)
{
	int i;

	for (i = STF_U1; i <= STF_O8; i++) {
		if (n == 2 && memcmp(types[i].name, name, 2) == 0) {
			return i;
		}
	}
	return -1;
}

const struct stf_layout *stf_layout(unsigned id)
{
	return id > 0 && id < STF_ID_END ? &layouts[id] : NULL;
}

unsigned stf_class_by_name(const char *name)
{
	unsigned i;

	for (i = 1; i < STF_ID_END; i++) {
		if (layouts[i].class_id == i && strcmp(layouts[i].cls, name) == 0) {
			return i;
		}
	}
	return 0;
}

const struct stf_value *stf_value(const struct stf_record *r, const char *name)
{
	unsigned i;

	for (i = 0; i < r->layout->n_fields; i++) {
		if (strcmp(r->layout->fields[i].name, name) == 0) {
			return &r->values[i];
		}
	}
	return NULL;
}

static uint64_t get_uint(const uint8_t *p, unsigned size, int big)
{
	switch (size) {
	case 1:
		return *p;
	case 2:
		return tkm_get16(p, big);
	case 4:
		return tkm_get32(p, big);
	default:
		return tkm_get64(p, big);
	}
}

uint64_t stf_wire_size(const uint8_t *p, int big)
{
	const struct stf_layout *l = stf_layout(*p);
	uint64_t n = 1, count = 0;
	unsigned i, size;

	if (!l) {
		return 0;
	}
	for (i = 0; i < l->n_fields; i++) {
		size = types[l->fields[i].type].size;
		if (l->fields[i].is_array) {
			n += count * size;
			continue;
		}
		if (l->fields[i].is_size) {
			count = get_uint(p + n, size, big);
		}
		n += size;
	}
	return n;
}

/* ---- views to typed structs ---- */

/* Value i of r if r has exactly the incarnation `id`, else the value of the field with the same name. */
static const struct stf_value *find(const struct stf_record *r, unsigned id, unsigned i, const char *name)
{
	return r->layout->id == id ? &r->values[i] : stf_value(r, name);
}

static double bits_double(uint64_t u)
{
	double d;

	memcpy(&d, &u, sizeof(d));
	return d;
}

#define G_U1(u) (uint8_t)(u)
#define G_U2(u) (uint16_t)(u)
#define G_U4(u) (uint32_t)(u)
#define G_U8(u) (u)
#define G_I1(u) (int8_t)(u)
#define G_I2(u) (int16_t)(u)
#define G_I4(u) (int32_t)(u)
#define G_I8(u) (int64_t)(u)
#define G_F4(u) (float)bits_double(u)
#define G_F8(u) bits_double(u)
#define G_C1(u) (char)(u)
#define G_O8(u) (u)

/* An array that r's incarnation lacks is NULL; the other arrays of its group keep their count. */
#define STF_BEGIN(id_, cls_, name_, kind_) \
	int stf_get_##name_(const struct stf_record *r, struct stf_##name_ *out) \
	{ \
		const unsigned want = id_, cls = STF_ID_##cls_; \
		const struct stf_value *v; \
		uint32_t *count = NULL; \
		unsigned i = 0, seen = 0; \
		if (r->layout->class_id != cls) { \
			return -1; \
		}
#define STF_TIME(name_) \
	v = find(r, want, i++, #name_); \
	out->name_ = v ? v->u : 0;
#define STF_FIELD(type_, name_, ref_, dflt_) \
	v = find(r, want, i++, #name_); \
	out->name_ = v ? G_##type_(v->u) : (STF_C_##type_)(dflt_);
#define STF_WILLY_FIELD(name_) \
	v = find(r, want, i++, #name_); \
	out->name_ = v ? (uint32_t)v->u : 0;
#define STF_SIZE(type_, group_, n_) \
	i++; \
	count = &out->size_##group_##_##n_; \
	*count = 0; \
	seen = 0;
#define GET_ARRAY(name_) \
	v = find(r, want, i++, #name_); \
	out->name_ = v ? v->array : NULL; \
	if (v && (!seen || *count > v->count)) { \
		*count = v->count; \
		seen = 1; \
	}
#define STF_ARRAY(type_, name_, ref_, dflt_) GET_ARRAY(name_)
#define STF_WILLY_ARRAY(name_) GET_ARRAY(name_)
#define STF_END(id_, name_) \
	(void)count; \
	(void)seen; \
	return 0; \
	}
#include "include/records.def"

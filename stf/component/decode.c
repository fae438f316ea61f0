/* SPDX-License-Identifier: BSD-3-Clause */
/* The general decoder, for records of any writer. It follows the definition of the record in the file. It
 * compares every size with the number of bytes left in the file before it uses the size. */
#include "config.h"
#include "stf/format/deflayer.h"

#include <stdio.h>
#include <stdlib.h>

struct walk {
	const uint8_t *p, *start, *end; /* the bytes that are in memory */
	uint64_t left;                  /* bytes of the file from start on */
	int big, state;                 /* state: STX_DONE as long as there is no error */
	struct stf_decoded *out;
};

static int fault(struct walk *w, enum stf_code code, const char *what, const char *name, uint64_t n)
{
	w->state = STX_BAD;
	w->out->code = code;
	snprintf(w->out->why, sizeof(w->out->why), "%s: %s %.64s (%llu)",
		w->out->def ? w->out->def->specifier : "record", what, name, (unsigned long long)n);
	return -1;
}

/* Are n more bytes in memory? If not, are they in the file at all? */
static int need_bytes(struct walk *w, uint64_t n)
{
	if (n <= (uint64_t)(w->end - w->p)) {
		return 0;
	}
	if (n > w->left - (uint64_t)(w->p - w->start)) {
		w->state = STX_BAD;
		w->out->code = STF_ERR_TRUNCATED;
		snprintf(w->out->why, sizeof(w->out->why),
			"%s: the file ends inside this record, %llu more bytes were expected and %llu are there",
			w->out->def ? w->out->def->specifier : "record", (unsigned long long)n,
			(unsigned long long)(w->left - (uint64_t)(w->p - w->start)));
		return -1;
	}
	w->state = STX_SHORT;
	return -1;
}

static uint64_t saturate(uint64_t count, uint64_t size)
{
	uint64_t n;

	return __builtin_mul_overflow(count, size, &n) ? UINT64_MAX : n;
}

/* Converts bits to the form that a view keeps: signed numbers extended, floats as doubles. */
static uint64_t load(const uint8_t *p, int type, int big)
{
	uint32_t u4;
	float f4;
	double d;
	uint64_t u;

	switch (type) {
	case STF_U1:
	case STF_C1:
		return *p;
	case STF_I1:
		return (uint64_t)(int64_t)(int8_t)*p;
	case STF_U2:
		return tkm_get16(p, big);
	case STF_I2:
		return (uint64_t)(int64_t)(int16_t)tkm_get16(p, big);
	case STF_U4:
	case STF_WILLYID:
		return tkm_get32(p, big);
	case STF_I4:
		return (uint64_t)(int64_t)(int32_t)tkm_get32(p, big);
	case STF_F4:
		u4 = tkm_get32(p, big);
		memcpy(&f4, &u4, sizeof(f4));
		d = f4;
		memcpy(&u, &d, sizeof(u));
		return u;
	default:
		return tkm_get64(p, big);
	}
}

static int is_signed(int t)
{
	return t >= STF_I1 && t <= STF_I8;
}

/* Converts bits of one type to another; -1 if the number does not fit. */
static int convert(uint64_t *u, int from, int to)
{
	static const struct {
		int bits;
	} unsigned_bits[] = { [STF_U1] = { 8 }, [STF_U2] = { 16 }, [STF_U4] = { 32 }, [STF_WILLYID] = { 32 } };
	double d;

	if (from == to || to == STF_C1 || to == STF_O8 || from == STF_O8) {
		return 0;
	}
	if (to == STF_F4 || to == STF_F8) {
		if (from != STF_F4 && from != STF_F8) {
			d = is_signed(from) ? (double)(int64_t)*u : (double)*u;
			memcpy(u, &d, sizeof(d));
		}
		return 0;
	}
	if (is_signed(to)) {
		int bits = 8 << (to - STF_I1);

		if (!is_signed(from) && *u > INT64_MAX) {
			return -1;
		}
		return bits == 64 ||
				((int64_t)*u >= -((int64_t)1 << (bits - 1)) && (int64_t)*u < (int64_t)1 << (bits - 1))
			? 0
			: -1;
	}
	if (is_signed(from) && (int64_t)*u < 0) {
		return -1;
	}
	return to == STF_U8 || *u >> unsigned_bits[to].bits == 0 ? 0 : -1;
}

/* The number of bytes of one element in a view's array. */
static void store(char *p, uint64_t u, int type)
{
	uint8_t u1 = (uint8_t)u;
	uint16_t u2 = (uint16_t)u;
	uint32_t u4 = (uint32_t)u;
	float f4;
	double d;

	switch (stf_type_size(type)) {
	case 1:
		*p = (char)u1;
		break;
	case 2:
		memcpy(p, &u2, 2);
		break;
	case 4:
		if (type == STF_F4) {
			memcpy(&d, &u, sizeof(d));
			f4 = (float)d;
			memcpy(&u4, &f4, sizeof(u4));
		}
		memcpy(p, &u4, 4);
		break;
	default:
		memcpy(p, &u, 8);
	}
}

static int walk_fields(struct walk *w, const struct stf_fdef *f, struct stf_scratch *s);

/* Skips one field of an element type, `count` times. */
static int skip_field(struct walk *w, const struct stf_ffield *g, uint64_t count)
{
	uint64_t i;

	/* each element has at least one byte, so this also bounds the loop below */
	if (count > w->left / g->min_size) {
		return need_bytes(w, saturate(count, g->min_size));
	}
	if (g->fixed) {
		if (need_bytes(w, count * g->min_size) < 0) {
			return -1;
		}
		w->p += count * g->min_size;
		return 0;
	}
	for (i = 0; i < count; i++) {
		if (walk_fields(w, g->nested, NULL) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Reserves aligned space in the scratch memory, and puts its offset in *at. */
static int scratch(struct walk *w, struct stf_scratch *s, uint64_t n, uint64_t *at)
{
	size_t pad = (8 - s->mem.n % 8) % 8;

	if (n > SIZE_MAX / 2 || stf_buf_reserve(&s->mem, pad + (size_t)n + 1) < 0) {
		w->out->code = STF_ERR_NOMEM;
		w->state = STX_BAD;
		snprintf(w->out->why, sizeof(w->out->why), "not enough memory for an array of %llu bytes",
			(unsigned long long)n);
		return -1;
	}
	s->mem.n += pad;
	*at = s->mem.n;
	s->mem.n += (size_t)n + 1;
	s->mem.p[s->mem.n - 1] = 0;
	return 0;
}

/* Decodes an array into one of our fields. */
static int take_array(struct walk *w, const struct stf_ffield *g, uint64_t count, struct stf_scratch *s)
{
	const struct stf_field *to = &w->out->def->ours->fields[g->to];
	unsigned size = stf_type_size(to->type), from = stf_type_size(g->type);
	int as = to->type == STF_WILLYID ? STF_U4 : (int)to->type;
	uint64_t at, i, u;

	if (need_bytes(w, saturate(count, from)) < 0) {
		return -1;
	}
	if (count > UINT32_MAX) {
		return fault(w, STF_ERR_FORMAT, "too many elements in", to->name, count);
	}
	if (scratch(w, s, count * size, &at) < 0) {
		return -1;
	}
	if (g->type == as && (size == 1 || w->big == TKM_HOST_BIG)) {
		memcpy(s->mem.p + at, w->p, count * size);
	} else {
		for (i = 0; i < count; i++) {
			u = load(w->p + i * from, g->type, w->big);
			if (convert(&u, g->type, as) < 0) {
				return fault(w, STF_ERR_FORMAT, "value too large for", to->name, u);
			}
			store(s->mem.p + at + i * size, u, as);
		}
	}
	w->p += count * from;
	/* an offset: the memory may move while the rest of the record is decoded */
	s->value[g->to].u = at;
	s->value[g->to].count = (uint32_t)count;
	return 0;
}

static int take_scalar(struct walk *w, const struct stf_ffield *g, struct stf_scratch *s)
{
	const struct stf_field *to;
	uint64_t u;

	if (need_bytes(w, g->min_size) < 0) {
		return -1;
	}
	u = load(w->p, g->type, w->big);
	w->p += g->min_size;
	if (g->is_time) {
		if (is_signed(g->type) && (int64_t)u < 0) {
			return fault(w, STF_ERR_FORMAT, "negative difference in", g->name, u);
		}
		w->out->has_time = 1;
		w->out->time = u;
	}
	if (g->to < 0) {
		return 0;
	}
	to = &w->out->def->ours->fields[g->to];
	if (!to->is_time && convert(&u, g->type, (int)to->type) < 0) {
		return fault(w, STF_ERR_FORMAT, "value too large for", to->name, u);
	}
	s->value[g->to].u = u;
	return 0;
}

/* Arrays that the file's definition lacks are filled with defaults, as many as their group has elements. */
static int fill_missing(struct walk *w, const struct stf_fdef *f, struct stf_scratch *s)
{
	const struct stf_layout *l = f->ours;
	unsigned i, k, first = 0, size;
	uint64_t at, j, count = 0;

	for (i = 0; i < l->n_fields; i++) {
		if (l->fields[i].is_size) {
			for (count = 0, first = 0, k = i + 1; k <= i + l->fields[i].is_size; k++) {
				if (f->present[k] && first && s->value[k].count != count) {
					return fault(w, STF_ERR_FORMAT,
						"arrays of one group differ in length:", l->fields[k].name,
						s->value[k].count);
				}
				if (f->present[k]) {
					count = s->value[k].count;
					first = 1;
				}
			}
			s->value[i].u = count;
		} else if (l->fields[i].is_array && !f->present[i]) {
			size = stf_type_size(l->fields[i].type);
			if (scratch(w, s, count * size, &at) < 0) {
				return -1;
			}
			for (j = 0; j < count; j++) {
				store(s->mem.p + at + j * size, f->missing[i], (int)l->fields[i].type);
			}
			s->value[i].u = at;
			s->value[i].count = (uint32_t)count;
		} else if (!f->present[i]) {
			s->value[i].u = f->missing[i];
		}
	}
	return 0;
}

/* Decodes field by field; without `s`, in a nested record, all fields are skipped. */
static int walk_fields(struct walk *w, const struct stf_fdef *f, struct stf_scratch *s)
{
	uint64_t count = 0;
	unsigned i;

	for (i = 0; i < f->n; i++) {
		const struct stf_ffield *g = &f->field[i];

		if (g->arrays_follow) {
			if (need_bytes(w, g->min_size) < 0) {
				return -1;
			}
			count = load(w->p, g->type, w->big);
			w->p += g->min_size;
		} else if (!s || (g->to < 0 && !g->is_time)) {
			if (skip_field(w, g, g->is_array ? count : 1) < 0) {
				return -1;
			}
		} else if (g->is_array ? take_array(w, g, count, s) < 0 : take_scalar(w, g, s) < 0) {
			return -1;
		}
	}
	return 0;
}

int stf_decode(const struct stf_defs *d, const uint8_t *p, size_t avail, uint64_t left, struct stf_scratch *s,
	struct stf_decoded *out)
{
	struct walk w = {
		.p = p, .start = p, .end = p + avail, .left = left, .big = d->big, .state = STX_DONE, .out = out
	};
	const struct stf_layout *l;
	unsigned i;

	memset(out, 0, offsetof(struct stf_decoded, why) + 1);
	if (need_bytes(&w, 1) < 0) {
		return w.state;
	}
	out->def = *p <= STX_LAST_ID ? d->def[*p] : NULL;
	if (!out->def) {
		fault(&w, STF_ERR_FORMAT, "no definition for record", "id", *p);
		return STX_BAD;
	}
	w.p++;
	l = out->def->ours;
	s->mem.n = 0;
	for (i = 0; l && i < l->n_fields; i++) {
		s->value[i] = (struct stf_value){ 0 };
	}
	if (walk_fields(&w, out->def, s) < 0 || (l && fill_missing(&w, out->def, s) < 0)) {
		return w.state;
	}
	for (i = 0; l && i < l->n_fields; i++) {
		if (l->fields[i].is_array) {
			s->value[i].array = s->mem.p + s->value[i].u;
			s->value[i].u = 0;
		}
	}
	out->size = (size_t)(w.p - p);
	return STX_DONE;
}

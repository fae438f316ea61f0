/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions of raw files: one table with the fields of each kind, by which they are written and read. Nothing that is
 * read is trusted. */
#include "config.h"
#include "collector-plugin/raw/definition.h"

#include <string.h>

enum { MAX_TEXT = 900, HEAD = sizeof(struct vt_raw_record) + sizeof(uint64_t) };

/* The fields of each kind in their order, a letter of the table below each. */
static const char *const fields_of[] = {
	[VT_RAW_DEF_CLASS] = "ipN",
	[VT_RAW_DEF_FUNCTION] = "ipN",
	[VT_RAW_DEF_SCL] = "ipN",
	[VT_RAW_DEF_FILE] = "ipN",
	[VT_RAW_DEF_THREAD] = "iptN",
	[VT_RAW_DEF_STATISTICS] = "ipr",
	[VT_RAW_DEF_SCOPE] = "ipsN",
	[VT_RAW_DEF_FUNCTION_AT] = "ipodaN",
	[VT_RAW_DEF_OBJECT] = "inbN",
	[VT_RAW_DEF_STACK] = "inP",
	[VT_RAW_DEF_GROUP] = "inMN",
	[VT_RAW_DEF_COMM] = "CnRN",
	[VT_RAW_DEF_COUNTER] = "cNTUD",
	[VT_RAW_DEF_CLOCK] = "k",
	[VT_RAW_DEF_INFO] = "NT",
	[VT_RAW_DEF_TEXT] = "iL",
	[VT_RAW_DEF_CLOCKS] = "L",
};
enum { KINDS = sizeof(fields_of) / sizeof(fields_of[0]) };

enum shape {
	FIXED, /* `size` bytes */
	TEXT,  /* u32 length, bytes */
	LINES, /* the same, of n bytes */
	LIST   /* n times `size` bytes */
};

/* clang-format off */
#define FIELD(letter, shape, size, member) { letter, shape, size, offsetof(struct vt_raw_def, member) }
/* clang-format on */
static const struct field {
	char letter;
	uint8_t shape;
	uint16_t size, at;
} fields[] = {
	FIELD('i', FIXED, 4, id),
	FIELD('p', FIXED, 4, parent),
	FIELD('n', FIXED, 4, n),
	FIELD('o', FIXED, 4, object),
	FIELD('d', FIXED, 4, demangle),
	FIELD('a', FIXED, 8, offset),
	FIELD('t', FIXED, 8, tid),
	FIELD('s', FIXED, 8, scl),
	FIELD('b', FIXED, 32, build_id),
	FIELD('k', FIXED, 32, clock),
	FIELD('C', FIXED, offsetof(struct vt_raw_comm_def, at) + sizeof(uint32_t), communicator),
	FIELD('c', FIXED, offsetof(struct vt_raw_counter_def, name), counter),
	FIELD('r', FIXED, sizeof(struct vt_raw_row), row),
	FIELD('N', TEXT, 0, name),
	FIELD('T', TEXT, 0, text),
	FIELD('U', TEXT, 0, shown_unit),
	FIELD('D', TEXT, 0, description),
	FIELD('L', LINES, 0, text),
	FIELD('M', LIST, sizeof(uint32_t), members),
	FIELD('R', LIST, sizeof(struct vt_raw_ranks), communicator.ranks),
	FIELD('P', LIST, sizeof(struct vt_raw_place), place),
#undef FIELD
};

static const struct field *field_of(char letter)
{
	const struct field *f = fields;

	while (f->letter != letter) {
		f++;
	}
	return f;
}

/* ---- writing ---- */

static uint8_t *put_bytes(uint8_t *to, const void *from, size_t n)
{
	if (n) {
		memcpy(to, from, n);
	}
	return to + n;
}

static uint8_t *put_field(uint8_t *to, const struct vt_raw_def *d, const struct field *f)
{
	const uint8_t *member = (const uint8_t *)d + f->at;
	const char *p;
	uint32_t n;

	if (f->shape == FIXED) {
		return put_bytes(to, member, f->size);
	}
	memcpy(&p, member, sizeof(p));
	if (f->shape == LIST) {
		return put_bytes(to, p, d->n * (size_t)f->size);
	}
	n = f->shape == LINES ? d->n : p ? (uint32_t)strnlen(p, MAX_TEXT) : 0;
	return put_bytes(put_bytes(to, &n, sizeof(n)), p, n);
}

size_t vt_raw_pack_definition(const struct vt_raw_def *d, uint8_t *bytes)
{
	struct vt_raw_record h = { (uint8_t)d->type, 0, 0, 0 };
	uint8_t *to = bytes + HEAD;
	const char *letter;

	for (letter = fields_of[d->type]; *letter; letter++) {
		to = put_field(to, d, field_of(*letter));
	}
	while ((to - bytes) % 8) {
		*to++ = 0;
	}
	h.dt = (uint32_t)(to - bytes);
	memset(put_bytes(bytes, &h, sizeof(h)), 0, sizeof(uint64_t));
	return h.dt;
}

/* ---- reading ---- */

struct unpacker {
	const uint8_t *p, *end;
	char *room;
	void *list;
};

static int get_bytes(struct unpacker *u, void *to, size_t n)
{
	if ((size_t)(u->end - u->p) < n) {
		return -1;
	}
	memcpy(to, u->p, n);
	u->p += n;
	return 0;
}

static int get_field(struct unpacker *u, struct vt_raw_def *d, const struct field *f)
{
	uint8_t *member = (uint8_t *)d + f->at;
	uint32_t n = d->n;
	char *p = u->room;

	if (f->shape == FIXED) {
		return get_bytes(u, member, f->size);
	}
	if (f->shape == LIST) {
		p = u->list;
		memcpy(member, &p, sizeof(p));
		return n > VT_RAW_STACK && d->type == VT_RAW_DEF_STACK ? -1 : get_bytes(u, p, n * (size_t)f->size);
	}
	/* the texts are copied one after the other, each terminated */
	if (get_bytes(u, &n, sizeof(n)) < 0 || get_bytes(u, p, n) < 0 || memchr(p, 0, n)) {
		return -1;
	}
	p[n] = '\0';
	u->room += n + 1;
	memcpy(member, &p, sizeof(p));
	return 0;
}

int vt_raw_unpack_definition(const uint8_t *p, size_t size, struct vt_raw_def *d, char *room, void *list)
{
	struct unpacker u = { p + HEAD, p + size, room, list };
	const char *letter = p[0] < KINDS ? fields_of[p[0]] : NULL;

	*d = (struct vt_raw_def){ .type = (enum vt_raw_type)p[0], .name = "", .text = "", .description = "" };
	if (!letter) {
		return -1;
	}
	for (; *letter; letter++) {
		if (get_field(&u, d, field_of(*letter)) < 0) {
			return -1;
		}
	}
	d->id = d->type == VT_RAW_DEF_COMM ? d->communicator.id : d->type == VT_RAW_DEF_COUNTER ? d->counter.id : d->id;
	d->communicator.name = d->counter.name = d->name;
	d->counter.unit = d->text;
	d->counter.shown_unit = d->shown_unit;
	d->counter.description = d->description;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the events of one stream of a CTF trace, packet by packet. Fields are in the packet one after the other, each from the next
 * multiple of its alignment, in bits. */
#include "config.h"
#include "exchange/ctf/ctf_types.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "exchange/common/private.h"

enum { HEAD = 4096, STEPS = 4096, MOST = 256 << 20, NO_ROOM = -2 };
static const uint32_t packet_magic = 0xC1FC1FC1;

static int fail_at(const struct xch_ctf_stream *s, uint64_t bit, const char *what)
{
	return tkm_fail(s->t->err, TKM_ERR_FORMAT, "%s/%s: offset %" PRIu64 ": %s", s->t->folder, s->name,
		s->offset + bit / 8, what);
}

static int no_memory(const struct xch_ctf_stream *s)
{
	return xch_fail_memory(s->t->err, s->t->folder);
}

/* ---- numbers ---- */

/* Bits from bit `at` on: the least significant one is the first in little-endian packets, else the last. */
static uint64_t take_bits(const unsigned char *b, uint64_t at, unsigned n, int big)
{
	uint64_t v = 0;
	unsigned got = 0, k, first;

	if (at % 8 == 0 && n % 8 == 0) {
		return tkm_get_number(b + at / 8, n / 8, big);
	}
	for (; got < n; got += k, at += k) {
		first = (unsigned)(at % 8);
		k = 8 - first < n - got ? 8 - first : n - got;
		if (big) {
			v = v << k | (b[at / 8] >> (8 - first - k) & ((1u << k) - 1));
		} else {
			v |= (uint64_t)(b[at / 8] >> first & ((1u << k) - 1)) << got;
		}
	}
	return v;
}

static uint64_t with_sign(uint64_t v, unsigned bits)
{
	return bits < 64 && v >> (bits - 1) ? v | ~(uint64_t)0 << bits : v;
}

static double real_of(uint64_t bits, unsigned n)
{
	uint32_t half = (uint32_t)bits;
	float f;
	double d;

	memcpy(&f, &half, sizeof(f));
	memcpy(&d, &bits, sizeof(d));
	return n == 32 ? (double)f : d;
}

/* A stamp of fewer than 64 bits has the lowest ones; it is not before the last one. */
static void take_stamp(struct xch_ctf_stream *s, const struct xch_ctf_type *type, uint64_t v, unsigned bits)
{
	uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;

	if (bits >= 64) {
		s->cycles = v;
	} else {
		s->cycles = (s->cycles & ~mask) + (v < (s->cycles & mask) ? mask + 1 : 0) + v;
	}
	s->clock = xch_ctf_clock_by_name(s->t, type->clock);
}

/* ---- values ---- */

static struct xch_ctf_value *put_value(
	struct xch_ctf_stream *s, const struct xch_ctf_type *type, const char *name, unsigned scope, unsigned depth)
{
	struct xch_ctf_value *v;

	if (TKM_GROW(s->value, s->values_room, s->values + 1) < 0) {
		no_memory(s);
		return NULL;
	}
	v = &s->value[s->values++];
	*v = (struct xch_ctf_value){
		.name = name + (*name == '_'), .type = type, .scope = (uint8_t)scope, .depth = (uint8_t)depth
	};
	return v;
}

const struct xch_ctf_value *xch_ctf_value_of(const struct xch_ctf_stream *s, const char *name, enum xch_ctf_scope scope)
{
	const struct xch_ctf_value *named = NULL, *v;
	size_t i = s->values;

	while (i-- > 0) {
		v = &s->value[i];
		if (scope != XCH_CTF_SCOPES && v->scope != scope) {
			continue;
		}
		if (v->type->role && !strcmp(v->type->role, name)) {
			return v;
		}
		named = !named && !strcmp(v->name, name) ? v : named;
		if (named && !s->t->has_roles) {
			break;
		}
	}
	return named;
}

/* The same for what the format itself uses: in CTF 2 it has the role, whatever its name is. */
static const struct xch_ctf_value *value_of_role(
	const struct xch_ctf_stream *s, const char *name, enum xch_ctf_scope scope)
{
	const struct xch_ctf_value *v = xch_ctf_value_of(s, name, scope);

	return v && s->t->has_roles && (!v->type->role || strcmp(v->type->role, name) != 0) ? NULL : v;
}

const char *xch_ctf_label_of(const struct xch_ctf_value *v)
{
	const struct xch_ctf_type *t = v->type;
	size_t i = (size_t)v->u.bits;
	int64_t n = (int64_t)v->u.bits;

	/* mostly the values count up */
	if (i < t->labels && t->label[i].low == n && t->label[i].high == n) {
		return t->label[i].text;
	}
	for (i = 0; i < t->labels; i++) {
		if (t->is_signed ? n >= t->label[i].low && n <= t->label[i].high
				 : v->u.bits >= (uint64_t)t->label[i].low && v->u.bits <= (uint64_t)t->label[i].high) {
			return t->label[i].text;
		}
	}
	return NULL;
}

/* The scope that a path begins with. Moves *path behind it. */
static enum xch_ctf_scope scope_of(const char **path)
{
	static const char *const names[] = { "trace.packet.header.", "stream.packet.context.", "stream.event.header.",
		"stream.event.context.", "event.context.", "event.fields." };
	int i;

	for (i = 0; i < XCH_CTF_SCOPES; i++) {
		if (!strncmp(*path, names[i], strlen(names[i]))) {
			*path += strlen(names[i]);
			return (enum xch_ctf_scope)i;
		}
	}
	return XCH_CTF_SCOPES;
}

/* The value that a length or a tag is in: the last one of that name that can be seen from here. */
static const struct xch_ctf_value *value_by_path(const struct xch_ctf_stream *s, const char *path, unsigned depth)
{
	enum xch_ctf_scope scope = scope_of(&path);
	const char *last = strrchr(path, '.');
	size_t i = s->values;

	last = last ? last + 1 : path;
	last += *last == '_';
	while (i-- > 0) {
		const struct xch_ctf_value *v = &s->value[i];

		if ((v->type->kind == XCH_CTF_INTEGER || v->type->kind == XCH_CTF_ENUM) &&
			(scope == XCH_CTF_SCOPES || v->scope == scope) &&
			(strchr(path, '.') || scope != XCH_CTF_SCOPES || v->depth <= depth) && !strcmp(v->name, last)) {
			return v;
		}
	}
	return NULL;
}

/* ---- fields ---- */

/* A field that is being read. */
struct ctf_place {
	const char *name;
	unsigned scope, depth;
};

static int decode(struct xch_ctf_stream *s, const struct xch_ctf_type *type, const struct ctf_place *p);

/* Returns 0, or NO_ROOM: the packet ends before it does. */
static int align_to(struct xch_ctf_stream *s, unsigned align)
{
	s->at = (s->at + align - 1) & ~(uint64_t)(align - 1);
	return s->at > s->end ? NO_ROOM : 0;
}

/* 7 bits of each byte, the lowest first; the last byte is below 128. */
static int decode_leb(struct xch_ctf_stream *s, const struct xch_ctf_type *type, const struct ctf_place *p)
{
	struct xch_ctf_value *v;
	uint64_t bits = 0, byte = 128, last;
	unsigned n = 0;

	for (; byte & 128; n += 7, s->at += 8) {
		if (s->end - s->at < 8) {
			return NO_ROOM;
		}
		byte = s->b[s->at / 8];
		/* of the tenth byte one bit is left; behind it a signed number has its sign */
		last = byte & 127;
		if (n >= 64 || (n == 63 && (type->is_signed ? last != 0 && last != 127 : last > 1))) {
			return fail_at(s, s->at, "a number of more than 64 bits");
		}
		bits |= last << n;
	}
	v = put_value(s, type, p->name, p->scope, p->depth);
	if (!v) {
		return -1;
	}
	s->steps += 2 * n;
	v->u.bits = type->is_signed ? with_sign(bits, n) : bits;
	if (type->clock) {
		take_stamp(s, type, bits, n);
	}
	return 0;
}

static int decode_number(struct xch_ctf_stream *s, const struct xch_ctf_type *type, const struct ctf_place *p)
{
	struct xch_ctf_value *v;
	uint64_t bits;

	if (type->is_leb) {
		return decode_leb(s, type, p);
	}
	if (s->end - s->at < type->bits) {
		return NO_ROOM;
	}
	v = put_value(s, type, p->name, p->scope, p->depth);
	if (!v) {
		return -1;
	}
	bits = take_bits(s->b, s->at, type->bits, type->big);
	s->at += type->bits;
	s->steps += 2 * type->bits;
	if (type->kind == XCH_CTF_REAL) {
		v->u.real = real_of(bits, type->bits);
		return 0;
	}
	v->u.bits = type->is_signed ? with_sign(bits, type->bits) : bits;
	if (type->clock && (s->t->has_roles || strcmp(v->name, "timestamp_end") != 0)) {
		take_stamp(s, type, bits, type->bits);
	}
	return 0;
}

static int decode_string(struct xch_ctf_stream *s, const struct xch_ctf_type *type, const struct ctf_place *p)
{
	const char *text = (const char *)s->b + s->at / 8;
	size_t room = (size_t)((s->end - s->at) / 8), n = strnlen(text, room);
	struct xch_ctf_value *v = n < room ? put_value(s, type, p->name, p->scope, p->depth) : NULL;

	if (!v) {
		return n < room ? -1 : NO_ROOM;
	}
	v->text = text;
	v->n = n;
	s->at += 8 * ((uint64_t)n + 1);
	s->steps += 16 * ((uint64_t)n + 1);
	return 0;
}

static int is_number(const struct xch_ctf_type *t)
{
	return !t->is_leb && (t->kind == XCH_CTF_INTEGER || t->kind == XCH_CTF_REAL || t->kind == XCH_CTF_ENUM);
}

/* Elements of an array. Letters are one text, other numbers are skipped. */
static int decode_elements(
	struct xch_ctf_stream *s, const struct xch_ctf_type *array, uint64_t n, const struct ctf_place *p)
{
	const struct xch_ctf_type *of = array->of;
	const struct ctf_place inner = { "", p->scope, p->depth + 1 };
	size_t values = s->values;
	struct xch_ctf_value *v;
	int rc = 0;

	if (n && is_number(of) && !of->clock && of->bits % of->align == 0) {
		if ((s->end - s->at) / of->bits < n) {
			return NO_ROOM;
		}
		if (of->is_text && of->bits == 8 && s->at % 8 == 0) {
			v = put_value(s, array, p->name, p->scope, p->depth);
			if (!v) {
				return -1;
			}
			v->text = (const char *)s->b + s->at / 8;
			v->n = strnlen(v->text, (size_t)n);
		}
		s->at += n * of->bits;
		s->steps += 2 * n * of->bits;
		return 0;
	}
	for (; rc == 0 && n; n--) {
		rc = decode(s, of, &inner);
		s->values = values;
	}
	return rc;
}

static int decode_sequence(struct xch_ctf_stream *s, const struct xch_ctf_type *type, const struct ctf_place *p)
{
	const struct xch_ctf_value *length = value_by_path(s, type->ref, p->depth);

	if (!length) {
		return fail_at(s, s->at, "a sequence whose length is in no field before it");
	}
	return decode_elements(s, type, length->u.bits, p);
}

static int is_in_range(const struct xch_ctf_member *m, const struct xch_ctf_value *tag)
{
	int64_t n = (int64_t)tag->u.bits;
	size_t i;

	for (i = 0; i < m->ranges; i++) {
		if (tag->type->is_signed ? n >= m->range[i].low && n <= m->range[i].high
					 : tag->u.bits >= (uint64_t)m->range[i].low &&
					tag->u.bits <= (uint64_t)m->range[i].high) {
			return 1;
		}
	}
	return m->ranges == 0 && n != 0;
}

/* A variant of CTF 2, or a field that may be missing. */
static int decode_choice(struct xch_ctf_stream *s, const struct xch_ctf_type *type, const struct ctf_place *p)
{
	const struct xch_ctf_value *tag = value_by_path(s, type->ref, p->depth);
	size_t i;

	for (i = 0; tag && i < type->members; i++) {
		if (is_in_range(&type->member[i], tag)) {
			return decode(s, type->member[i].type, p);
		}
	}
	return tag && type->chooses == XCH_CTF_OR_NOTHING
		? 0
		: fail_at(s, s->at, "a variant without a choice for its selector");
}

static int decode_variant(struct xch_ctf_stream *s, const struct xch_ctf_type *type, const struct ctf_place *p)
{
	const struct xch_ctf_value *tag = type->ref ? value_by_path(s, type->ref, p->depth) : NULL;
	const char *label = tag && tag->type->kind == XCH_CTF_ENUM ? xch_ctf_label_of(tag) : NULL;
	size_t i;

	if (!label) {
		return fail_at(s, s->at, "a variant whose tag has no value that is described");
	}
	label += *label == '_';
	for (i = 0; i < type->members; i++) {
		const struct xch_ctf_member *m = &type->member[i];

		if (!strcmp(m->name + (*m->name == '_'), label)) {
			return decode(s, m->type, p);
		}
	}
	return fail_at(s, s->at, "a variant without a choice for its tag");
}

static int decode_struct(struct xch_ctf_stream *s, const struct xch_ctf_type *type, const struct ctf_place *p)
{
	struct ctf_place inner = { NULL, p->scope, p->depth + 1 };
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < type->members; i++) {
		inner.name = type->member[i].name;
		rc = decode(s, type->member[i].type, &inner);
	}
	return rc;
}

/* Returns 0, NO_ROOM, or -1. */
static int decode(struct xch_ctf_stream *s, const struct xch_ctf_type *type, const struct ctf_place *p)
{
	if (align_to(s, type->align) < 0) {
		return NO_ROOM;
	}
	if (s->steps-- == 0) {
		return fail_at(s, s->at, "more fields without content than can be read");
	}
	switch (type->kind) {
	case XCH_CTF_STRING:
		return decode_string(s, type, p);
	case XCH_CTF_STRUCT:
		return decode_struct(s, type, p);
	case XCH_CTF_ARRAY:
		return decode_elements(s, type, type->length, p);
	case XCH_CTF_SEQUENCE:
		return decode_sequence(s, type, p);
	case XCH_CTF_VARIANT:
		return type->chooses == XCH_CTF_BY_LABEL ? decode_variant(s, type, p) : decode_choice(s, type, p);
	default:
		return decode_number(s, type, p);
	}
}

static int decode_scope(struct xch_ctf_stream *s, const struct xch_ctf_type *type, enum xch_ctf_scope scope)
{
	const struct ctf_place p = { "", scope, 0 };

	return type ? decode(s, type, &p) : 0;
}

/* ---- packets ---- */

/* Reads the file so far that n bytes of the packet are in memory. */
static int load_bytes(struct xch_ctf_stream *s, uint64_t n)
{
	char *path;
	FILE *f;

	if (TKM_GROW(s->b, s->room, n) < 0 || asprintf(&path, "%s/%s", s->t->folder, s->name) < 0) {
		return no_memory(s);
	}
	f = fopen(path, "rbe");
	if (!f || fseeko(f, (off_t)s->offset, SEEK_SET) < 0 || fread(s->b, 1, n, f) != n) {
		tkm_fail_errno(s->t->err, TKM_ERR_IO, f && feof(f) ? EIO : errno, "cannot read %s", path);
		n = 0;
	}
	if (f) {
		fclose(f);
	}
	free(path);
	s->n = (size_t)n;
	return n ? 0 : -1;
}

static int find_class(struct xch_ctf_stream *s)
{
	const struct xch_ctf_value *v = value_of_role(s, "stream_id", XCH_CTF_HEADER);
	static const struct xch_ctf_stream_class none;
	size_t i;

	if (s->t->streams == 0) {
		s->cls = &none;
		return 0;
	}
	for (i = 0; v && i < s->t->streams && s->t->stream[i].id != v->u.bits; i++) {
	}
	if (i == s->t->streams) {
		return fail_at(s, 0, "a packet of a stream that is not described");
	}
	s->cls = &s->t->stream[i];
	return 0;
}

/* What is at the begin of the packet, of which s->n bytes are in memory. */
static int decode_head(struct xch_ctf_stream *s)
{
	const struct xch_ctf_value *v;
	int rc;

	s->at = 0;
	s->end = 8 * (uint64_t)s->n;
	s->values = 0;
	s->steps = STEPS;
	rc = decode_scope(s, s->t->header, XCH_CTF_HEADER);
	if (rc < 0) {
		return rc;
	}
	v = value_of_role(s, "magic", XCH_CTF_HEADER);
	if (v && v->u.bits != packet_magic) {
		return fail_at(s, 0, "no packet begins here");
	}
	rc = find_class(s);
	return rc < 0 ? rc : decode_scope(s, s->cls->scope[XCH_CTF_PACKET], XCH_CTF_PACKET);
}

static uint64_t size_in(const struct xch_ctf_stream *s, const char *name, uint64_t otherwise)
{
	const struct xch_ctf_value *v = value_of_role(s, name, XCH_CTF_PACKET);

	return v && (v->type->kind == XCH_CTF_INTEGER || v->type->kind == XCH_CTF_ENUM) ? v->u.bits : otherwise;
}

/* The size of the packet. */
static int measure_packet(struct xch_ctf_stream *s, uint64_t left)
{
	uint64_t size = size_in(s, "packet_size", size_in(s, "content_size", 0));

	size = size ? size : 8 * left;
	if (size % 8 || size / 8 > left || size < s->at) {
		return fail_at(s, 0, "a packet of no possible size");
	}
	s->packet = size / 8;
	return 1;
}

int xch_ctf_next_packet(struct xch_ctf_stream *s)
{
	uint64_t left, want = HEAD, before = s->cycles;
	int rc;

	s->offset += s->packet;
	left = s->size - s->offset;
	if (left == 0) {
		return 0;
	}
	do {
		want = want < MOST ? want : MOST;
		want = want < left ? want : left;
		s->cycles = before;
		if (load_bytes(s, want) < 0) {
			return -1;
		}
		rc = decode_head(s);
		want *= 8;
	} while (rc == NO_ROOM && s->n < left && s->n < MOST);
	return rc == NO_ROOM ? fail_at(s, s->n < left ? 0 : s->at,
				       s->n < left ? "the head of a packet of more than 256 MiB"
						   : "the file ends in the head of a packet")
		: rc < 0     ? -1
			     : measure_packet(s, left);
}

/* Reads the packet whose head is known. Texts are in it, so the head is read again. */
static int load_packet(struct xch_ctf_stream *s)
{
	uint64_t content;

	if (s->packet > MOST) {
		return fail_at(s, 0, "a packet of more than 256 MiB; record with smaller buffers");
	}
	if (load_bytes(s, s->packet) < 0 || decode_head(s) < 0) {
		return -1;
	}
	content = size_in(s, "content_size", 0);
	content = content ? content : 8 * s->packet;
	if (content > 8 * s->packet || content < s->at) {
		return fail_at(s, 0, "a packet of no possible size");
	}
	s->end = content;
	s->of_packet = s->values;
	s->discarded = size_in(s, "events_discarded", s->discarded);
	return 1;
}

/* ---- events ---- */

/* The stamp in ns. */
static int take_time(struct xch_ctf_stream *s, uint64_t from)
{
	const struct xch_ctf_clock *c = s->clock;
	__int128 ns;

	if (!c) {
		return fail_at(s, from, "an event without a stamp of a clock that is described");
	}
	ns = ((__int128)s->cycles + c->offset) * 1000000000 / c->hz + (__int128)c->offset_s * 1000000000;
	if (ns > INT64_MAX / 2 || ns < INT64_MIN / 2) {
		return fail_at(s, from, "a time that is too far from 1970");
	}
	s->time = (int64_t)ns;
	return 0;
}

static int decode_event(struct xch_ctf_stream *s)
{
	const struct xch_ctf_value *id;
	int rc = decode_scope(s, s->cls->scope[XCH_CTF_EVENT], XCH_CTF_EVENT);

	if (rc < 0) {
		return rc;
	}
	id = value_of_role(s, "id", XCH_CTF_EVENT);
	s->event = xch_ctf_event_by_id(s->t, s->cls->id, id ? id->u.bits : 0);
	if (!s->event) {
		return fail_at(s, s->at, "an event that is not described");
	}
	rc = decode_scope(s, s->cls->scope[XCH_CTF_STREAM_CONTEXT], XCH_CTF_STREAM_CONTEXT);
	rc = rc < 0 ? rc : decode_scope(s, s->event->scope[XCH_CTF_CONTEXT], XCH_CTF_CONTEXT);
	return rc < 0 ? rc : decode_scope(s, s->event->scope[XCH_CTF_FIELDS], XCH_CTF_FIELDS);
}

int xch_ctf_next(struct xch_ctf_stream *s)
{
	uint64_t from;
	int rc;

	while (s->at >= s->end) {
		rc = xch_ctf_next_packet(s);
		rc = rc > 0 ? load_packet(s) : rc;
		if (rc <= 0) {
			return rc;
		}
	}
	from = s->at;
	s->values = s->of_packet;
	s->steps = STEPS;
	rc = decode_event(s);
	if (rc == NO_ROOM) {
		return fail_at(s, from, "an event that does not end in its packet");
	}
	if (rc == 0 && s->at == from) {
		return fail_at(s, from, "an event without any content");
	}
	return rc < 0 || take_time(s, from) < 0 ? -1 : 1;
}

void xch_ctf_stream_free(struct xch_ctf_stream *s)
{
	free(s->b);
	free(s->value);
}

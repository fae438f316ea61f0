/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the description of a CTF 1.8 trace. A name stands for the type that was given that name last. */
#include "config.h"
#include "exchange/ctf/ctf_types.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "exchange/common/private.h"

enum { MOST_DEPTH = 40, MOST_ALIGN = 1 << 16, MOST_DIMENSIONS = 8, NAME = 300 };

struct ctf_parse {
	struct xch_ctf_trace *t;
	const char *text; /* its start */
	struct tkm_table names;
	unsigned nesting;
};

/* A block's member "NAME := TYPE". */
struct ctf_slot {
	const char *name;
	const struct xch_ctf_type **type;
};

static int fail_meta(const struct ctf_parse *p, const char *at, const char *what)
{
	return tkm_fail(p->t->err, TKM_ERR_FORMAT, "%s/metadata: offset %" PRIu64 ": %s", p->t->folder,
		(uint64_t)(at - p->text), what);
}

static int no_memory(const struct xch_ctf_trace *t)
{
	return xch_fail_memory(t->err, t->folder);
}

/* ---- texts and names ---- */

static int name_type(struct ctf_parse *p, const char *name, const struct xch_ctf_type *type)
{
	const struct xch_ctf_type **to = tkm_table_put(&p->names, name, strlen(name), sizeof(*to));

	if (!to) {
		return no_memory(p->t);
	}
	*to = type;
	return 0;
}

static const struct xch_ctf_type *type_by_name(const struct ctf_parse *p, const char *at, const char *name)
{
	const struct xch_ctf_type *const *type = tkm_table_find(&p->names, name, strlen(name));

	if (!type) {
		fail_meta(p, at, "a type of a name that is not described");
	}
	return type ? *type : NULL;
}

/* ---- types ---- */

static const struct xch_ctf_type *parse_type(struct ctf_parse *p, struct xch_ctf_text *s);

static int check_number(const struct ctf_parse *p, const char *at, const struct xch_ctf_type *type)
{
	if (!type->align || type->align > MOST_ALIGN || (type->align & (type->align - 1))) {
		return fail_meta(p, at, "an alignment that is no power of 2 up to 65536");
	}
	return type->bits < 1 || type->bits > 64 ? fail_meta(p, at, "a number that has not 1 to 64 bits") : 0;
}

static const struct xch_ctf_type *parse_integer(struct ctf_parse *p, struct xch_ctf_text *s)
{
	static const char after[] = "clock.";
	struct xch_ctf_type *type = xch_ctf_new_type(p->t, XCH_CTF_INTEGER);
	const char *at = s->p, *v;
	struct xch_ctf_text in;
	size_t n;

	if (!type) {
		return NULL;
	}
	if (xch_ctf_block(s, &in) < 0) {
		fail_meta(p, at, "integer without its braces");
		return NULL;
	}
	type->bits = (unsigned)xch_ctf_number(in, "size", 0);
	type->align = (unsigned)xch_ctf_number(in, "align", type->bits % 8 ? 1 : 8);
	type->big = p->t->big;
	xch_ctf_order(in, &type->big);
	n = xch_ctf_value(in, "signed", &v);
	type->is_signed =
		n && (xch_ctf_word_is(v, n, "true") || xch_ctf_word_is(v, n, "TRUE") || xch_ctf_word_is(v, n, "1"));
	n = xch_ctf_value(in, "encoding", &v);
	type->is_text = n && !xch_ctf_word_is(v, n, "none");
	n = xch_ctf_value(in, "map", &v);
	if (n > sizeof(after) - 1 && !strncmp(v, after, sizeof(after) - 1)) {
		v += sizeof(after) - 1;
		type->clock = xch_ctf_keep(p->t, v, strcspn(v, ".;} \t\r\n"));
		if (!type->clock) {
			return NULL;
		}
	}
	return check_number(p, at, type) < 0 ? NULL : type;
}

static const struct xch_ctf_type *parse_real(struct ctf_parse *p, struct xch_ctf_text *s)
{
	struct xch_ctf_type *type = xch_ctf_new_type(p->t, XCH_CTF_REAL);
	const char *at = s->p;
	struct xch_ctf_text in;

	if (!type || xch_ctf_block(s, &in) < 0) {
		return type ? (fail_meta(p, at, "floating_point without its braces"), NULL) : NULL;
	}
	type->bits = (unsigned)(xch_ctf_number(in, "exp_dig", 0) + xch_ctf_number(in, "mant_dig", 0));
	type->align = (unsigned)xch_ctf_number(in, "align", 8);
	type->big = p->t->big;
	xch_ctf_order(in, &type->big);
	if (type->bits != 32 && type->bits != 64) {
		fail_meta(p, at, "a floating point number that has not 32 or 64 bits");
		return NULL;
	}
	return check_number(p, at, type) < 0 ? NULL : type;
}

/* An integer with its sign. Returns what is behind it. */
static const char *whole_number(const char *v, int64_t *to)
{
	char *end;

	*to = *v == '-' ? strtoll(v, &end, 0) : (int64_t)strtoull(v, &end, 0);
	return end;
}

/* What is after "LABEL =": VALUE or LOW ... HIGH. */
static int parse_range(struct ctf_parse *p, struct xch_ctf_text *s, struct xch_ctf_label *l)
{
	const char *v;
	size_t n;

	if ((n = xch_ctf_token(s, &v)) == 0) {
		return fail_meta(p, s->p, "a label without its value");
	}
	s->p = whole_number(*v == '+' ? v + 1 : v, &l->low);
	l->high = l->low;
	if (s->p > s->end || s->p == v) {
		return fail_meta(p, v, "a label whose value is no number");
	}
	if (s->end - s->p >= 3 && xch_ctf_next_is(s, ".") && xch_ctf_next_is(s, ".") && xch_ctf_next_is(s, ".")) {
		n = xch_ctf_token(s, &v);
		s->p = n ? whole_number(v, &l->high) : s->p;
	}
	return 0;
}

static int parse_labels(struct ctf_parse *p, struct xch_ctf_text in, struct xch_ctf_type *type)
{
	struct xch_ctf_label *l;
	int64_t next = 0;
	const char *t;
	size_t n, room = 0;

	while ((n = xch_ctf_token(&in, &t)) > 0) {
		if (TKM_GROW(type->label, room, type->labels + 1) < 0) {
			return no_memory(p->t);
		}
		l = &type->label[type->labels++];
		*l = (struct xch_ctf_label){ .low = next, .high = next, .text = xch_ctf_keep(p->t, t, n) };
		if (!l->text || (xch_ctf_next_is(&in, "=") && parse_range(p, &in, l) < 0)) {
			return -1;
		}
		next = (int64_t)((uint64_t)l->high + 1);
		if (!xch_ctf_next_is(&in, ",") && xch_ctf_token(&in, &t) > 0) {
			return fail_meta(p, t, "a comma is missing between two labels");
		}
	}
	return 0;
}

/* A word that is no sign, if it comes next. */
static size_t optional_name(struct xch_ctf_text *s, const char **name)
{
	struct xch_ctf_text was = *s;
	size_t n = xch_ctf_token(s, name);

	if (!n || !xch_ctf_is_word(**name)) {
		*s = was;
		return 0;
	}
	return n;
}

/* "KIND NAME" in full[]; a name that is too long has a place in no table, and is not found. */
static int full_name(char full[NAME], const char *kind, const char *name, size_t n)
{
	return (size_t)snprintf(full, NAME, "%s %.*s", kind, (int)(n < NAME ? n : 0), name) < NAME && n && n < NAME;
}

static const struct xch_ctf_type *parse_enum(struct ctf_parse *p, struct xch_ctf_text *s)
{
	const struct xch_ctf_type *of;
	struct xch_ctf_type *type;
	struct xch_ctf_text in;
	const char *name, *at = s->p;
	char full[NAME];
	size_t n = optional_name(s, &name);
	int named = full_name(full, "enum", name, n);

	if (xch_ctf_next_is(s, ":")) {
		if (++p->nesting > MOST_DEPTH) {
			fail_meta(p, at, "too many types in each other");
			return NULL;
		}
		of = parse_type(p, s);
		p->nesting--;
	} else {
		struct xch_ctf_text was = *s;

		if (xch_ctf_block(s, &in) < 0) {
			return type_by_name(p, at, full);
		}
		*s = was;
		of = type_by_name(p, at, "int");
	}
	type = of ? xch_ctf_new_type(p->t, XCH_CTF_ENUM) : NULL;
	if (!type) {
		return NULL;
	}
	if (of->kind != XCH_CTF_INTEGER) {
		fail_meta(p, at, "an enumeration of no integers");
		return NULL;
	}
	*type = *of;
	type->kind = XCH_CTF_ENUM;
	if (xch_ctf_block(s, &in) < 0) {
		fail_meta(p, at, "an enumeration without its braces");
		return NULL;
	}
	return parse_labels(p, in, type) < 0 || (named && name_type(p, full, type) < 0) ? NULL : type;
}

/* After the name of a field: [LENGTH], any number of them. */
static const struct xch_ctf_type *parse_lengths(
	struct ctf_parse *p, struct xch_ctf_text *s, const struct xch_ctf_type *of)
{
	const char *v[MOST_DIMENSIONS];
	size_t n[MOST_DIMENSIONS];
	struct xch_ctf_type *type;
	int k = 0;

	for (; xch_ctf_next_is(s, "["); k++) {
		if (k == MOST_DIMENSIONS || !(n[k] = xch_ctf_token(s, &v[k])) || !xch_ctf_next_is(s, "]")) {
			fail_meta(p, s->p, "an array of no length that can be read");
			return NULL;
		}
	}
	while (of && k-- > 0) {
		int counted = *v[k] >= '0' && *v[k] <= '9';

		type = xch_ctf_new_type(p->t, counted ? XCH_CTF_ARRAY : XCH_CTF_SEQUENCE);
		if (!type) {
			return NULL;
		}
		type->of = of;
		type->align = of->align;
		type->depth = of->depth + 1;
		if (type->depth > MOST_DEPTH) {
			fail_meta(p, s->p, "too many types in each other");
			return NULL;
		}
		type->length = counted ? strtoull(v[k], NULL, 0) : 0;
		type->ref = counted ? NULL : xch_ctf_keep(p->t, v[k], n[k]);
		if (!counted && !type->ref) {
			return NULL;
		}
		of = type;
	}
	return of;
}

/* typealias TYPE := NAME; typedef TYPE NAME; and types that are only named. Returns 1: it was one; 0; or -1. */
static int declaration(struct ctf_parse *p, struct xch_ctf_text *s)
{
	int alias = xch_ctf_next_is(s, "typealias");
	const struct xch_ctf_type *type;
	char name[NAME] = "";
	const char *t;
	size_t n, k = 0;

	if (!alias && !xch_ctf_next_is(s, "typedef")) {
		return 0;
	}
	type = parse_type(p, s);
	if (!type) {
		return -1;
	}
	if (alias && !(xch_ctf_next_is(s, ":") && xch_ctf_next_is(s, "="))) {
		return fail_meta(p, s->p, "typealias without :=");
	}
	while ((n = optional_name(s, &t)) > 0) {
		k += k < NAME && n < NAME ? (size_t)snprintf(name + k, NAME - k, "%s%.*s", k ? " " : "", (int)n, t)
					  : NAME;
	}
	type = alias ? type : parse_lengths(p, s, type);
	if (!k || k >= NAME || !xch_ctf_next_is(s, ";")) {
		return fail_meta(p, s->p, "a type without a name, or with one that is too long");
	}
	return !type || name_type(p, name, type) < 0 ? -1 : 1;
}

static int add_member(
	struct ctf_parse *p, struct xch_ctf_type *type, const struct xch_ctf_type *of, const char *name, size_t n)
{
	struct xch_ctf_member *m = TKM_APPEND(type->member, type->members);

	if (!m) {
		return no_memory(p->t);
	}
	*m = (struct xch_ctf_member){ .name = xch_ctf_keep(p->t, name, n), .type = of };
	type->align = type->kind == XCH_CTF_STRUCT && of->align > type->align ? of->align : type->align;
	type->depth = of->depth >= type->depth ? of->depth + 1 : type->depth;
	return m->name ? 0 : -1;
}

/* The fields of a structure, or the choices of a variant. */
static int parse_members(struct ctf_parse *p, struct xch_ctf_text in, struct xch_ctf_type *type)
{
	const struct xch_ctf_type *of;
	const char *name, *at;
	size_t n;
	int rc;

	for (;;) {
		while (xch_ctf_next_is(&in, ";")) {
		}
		rc = declaration(p, &in);
		if (rc < 0) {
			return -1;
		}
		if (rc > 0) {
			continue;
		}
		at = in.p;
		if (xch_ctf_token(&in, &name) == 0) {
			break;
		}
		in.p = at;
		of = parse_type(p, &in);
		if (!of) {
			return -1;
		}
		do {
			const struct xch_ctf_type *whole;

			n = optional_name(&in, &name);
			whole = n ? parse_lengths(p, &in, of) : NULL;
			if (!n) {
				struct xch_ctf_text rest = in;

				if (xch_ctf_next_is(&rest, ";")) {
					break; /* a type that is only named */
				}
				return fail_meta(p, in.p, "a field without a name");
			}
			if (!whole || add_member(p, type, whole, name, n) < 0) {
				return -1;
			}
		} while (xch_ctf_next_is(&in, ","));
		if (!xch_ctf_next_is(&in, ";")) {
			return fail_meta(p, in.p, "a semicolon is missing behind a field");
		}
	}
	return type->depth > MOST_DEPTH ? fail_meta(p, in.p, "too many types in each other") : 0;
}

static int parse_align(struct ctf_parse *p, struct xch_ctf_text *s, struct xch_ctf_type *type)
{
	const char *v;
	unsigned align;

	if (!xch_ctf_next_is(s, "align")) {
		return 0;
	}
	if (!xch_ctf_next_is(s, "(") || !xch_ctf_token(s, &v) || !xch_ctf_next_is(s, ")")) {
		return fail_meta(p, s->p, "align without a number in brackets");
	}
	align = (unsigned)strtoul(v, NULL, 0);
	if (!align || align > MOST_ALIGN || (align & (align - 1))) {
		return fail_meta(p, v, "an alignment that is no power of 2 up to 65536");
	}
	type->align = align > type->align ? align : type->align;
	return 0;
}

/* The same members, with a tag. */
static const struct xch_ctf_type *with_tag(struct ctf_parse *p, const struct xch_ctf_type *of, const char *ref)
{
	struct xch_ctf_type *type;

	if (!of || !ref) {
		return of;
	}
	type = xch_ctf_new_type(p->t, XCH_CTF_VARIANT);
	if (!type) {
		return NULL;
	}
	*type = *of;
	type->ref = ref;
	type->borrows = 1;
	return type;
}

static const struct xch_ctf_type *parse_compound(struct ctf_parse *p, struct xch_ctf_text *s, enum xch_ctf_kind kind)
{
	const char *at = s->p, *name, *tag, *ref = NULL;
	struct xch_ctf_type *type;
	struct xch_ctf_text in;
	char full[NAME];
	size_t n = optional_name(s, &name), k;
	int named = full_name(full, kind == XCH_CTF_STRUCT ? "struct" : "variant", name, n), rc;

	if (kind == XCH_CTF_VARIANT && xch_ctf_next_is(s, "<")) {
		k = optional_name(s, &tag);
		ref = k ? xch_ctf_keep(p->t, tag, k) : NULL;
		if (!ref || !xch_ctf_next_is(s, ">")) {
			fail_meta(p, s->p, "a variant without its tag");
			return NULL;
		}
	}
	if (xch_ctf_block(s, &in) < 0) {
		return with_tag(p, type_by_name(p, at, full), ref);
	}
	type = xch_ctf_new_type(p->t, kind);
	if (!type) {
		return NULL;
	}
	type->ref = ref;
	if (++p->nesting > MOST_DEPTH) {
		fail_meta(p, at, "too many types in each other");
		return NULL;
	}
	rc = parse_members(p, in, type);
	p->nesting--;
	return rc < 0 || parse_align(p, s, type) < 0 || (named && name_type(p, full, type) < 0) ? NULL : type;
}

/* A name of one or more words; the last of several words before a sign is that of the field. */
static const struct xch_ctf_type *named_type(struct ctf_parse *p, struct xch_ctf_text *s, const char *t, size_t n)
{
	char name[NAME];
	size_t k = (size_t)snprintf(name, NAME, "%.*s", (int)(n < NAME ? n : 0), t), more;
	struct xch_ctf_text next;
	const char *word, *after;

	for (;;) {
		next = *s;
		more = optional_name(&next, &word);
		if (!more || k + more + 2 > NAME) {
			break;
		}
		/* after the last word of a container's name there is a brace, after that of typealias a colon */
		if (!optional_name(&(struct xch_ctf_text){ next.p, next.end }, &after) &&
			!xch_ctf_next_is(&(struct xch_ctf_text){ next.p, next.end }, "{") &&
			!xch_ctf_next_is(&(struct xch_ctf_text){ next.p, next.end }, ":")) {
			break;
		}
		k += (size_t)snprintf(name + k, NAME - k, " %.*s", (int)more, word);
		*s = next;
	}
	return type_by_name(p, t, name);
}

static const struct xch_ctf_type *parse_type(struct ctf_parse *p, struct xch_ctf_text *s)
{
	const char *t, *at = s->p;
	size_t n = xch_ctf_token(s, &t);
	struct xch_ctf_text in;

	if (!n || !xch_ctf_is_word(*t)) {
		fail_meta(p, n ? t : at, "there should be a type");
		return NULL;
	}
	if (xch_ctf_word_is(t, n, "integer")) {
		return parse_integer(p, s);
	}
	if (xch_ctf_word_is(t, n, "floating_point")) {
		return parse_real(p, s);
	}
	if (xch_ctf_word_is(t, n, "string")) {
		in = *s;
		if (xch_ctf_next_is(&in, "{")) {
			xch_ctf_block(s, &in);
		}
		return xch_ctf_new_type(p->t, XCH_CTF_STRING);
	}
	if (xch_ctf_word_is(t, n, "enum")) {
		return parse_enum(p, s);
	}
	if (xch_ctf_word_is(t, n, "struct") || xch_ctf_word_is(t, n, "variant")) {
		return parse_compound(p, s, *t == 's' ? XCH_CTF_STRUCT : XCH_CTF_VARIANT);
	}
	return named_type(p, s, t, n);
}

/* ---- blocks ---- */

/* Skips what is left of a statement. */
static void skip_statement(struct xch_ctf_text *s)
{
	struct xch_ctf_text in;
	const char *t;
	size_t n;

	while ((n = xch_ctf_token(s, &t)) > 0 && !xch_ctf_word_is(t, n, ";")) {
		if (xch_ctf_word_is(t, n, "{")) {
			s->p = t;
			if (xch_ctf_block(s, &in) < 0) {
				return;
			}
		}
	}
}

static int is_type_word(const char *t, size_t n)
{
	return xch_ctf_word_is(t, n, "struct") || xch_ctf_word_is(t, n, "variant") || xch_ctf_word_is(t, n, "enum");
}

/* The statements of a block: those of the slots are types; numbers and texts are left to xch_ctf_value(). */
static int parse_statements(struct ctf_parse *p, struct xch_ctf_text in, const struct ctf_slot *slot)
{
	const struct ctf_slot *to;
	const char *t, *at;
	size_t n;
	int rc = 0;

	while (rc >= 0) {
		rc = declaration(p, &in);
		if (rc != 0) {
			continue;
		}
		at = in.p;
		n = xch_ctf_token(&in, &t);
		if (n == 0) {
			return 0;
		}
		if (is_type_word(t, n)) {
			in.p = at;
			rc = parse_type(p, &in) ? 0 : -1;
			skip_statement(&in);
			continue;
		}
		if (!xch_ctf_next_is(&in, ":")) {
			in.p = t;
			skip_statement(&in);
			continue;
		}
		for (to = slot; to->name && !xch_ctf_word_is(t, n, to->name); to++) {
		}
		if (!xch_ctf_next_is(&in, "=")) {
			return fail_meta(p, in.p, "there should be :=");
		}
		at = in.p;
		if (to->name && (!(*to->type = parse_type(p, &in)) || (*to->type)->kind != XCH_CTF_STRUCT)) {
			return *to->type ? fail_meta(p, at, "this is no structure") : -1;
		}
		skip_statement(&in);
	}
	return rc;
}

static int parse_trace(struct ctf_parse *p, struct xch_ctf_text in)
{
	return parse_statements(p, in, (struct ctf_slot[]){ { "packet.header", &p->t->header }, { NULL, NULL } });
}

static int parse_clock(struct ctf_parse *p, struct xch_ctf_text in, const char *at)
{
	struct xch_ctf_clock *c = TKM_APPEND(p->t->clock, p->t->clocks);
	const char *v, *name;
	size_t n;

	if (!c) {
		return no_memory(p->t);
	}
	n = xch_ctf_value(in, "name", &v);
	name = xch_ctf_keep(p->t, n ? v : "", n);
	if (!name) {
		return -1;
	}
	*c = (struct xch_ctf_clock){ .hz = xch_ctf_number(in, "freq", 1000000000),
		.offset = xch_ctf_number(in, "offset", 0) };
	snprintf(c->name, sizeof(c->name), "%s", name);
	if (xch_ctf_value(in, "offset_s", &v)) {
		whole_number(v, &c->offset_s);
	}
	c->bound_s = xch_ctf_value(in, "precision", &v) ? (double)strtoull(v, NULL, 0) / (double)c->hz : NAN;
	return c->hz ? 0 : fail_meta(p, at, "the clock's frequency is 0");
}

static int parse_stream(struct ctf_parse *p, struct xch_ctf_text in)
{
	struct xch_ctf_stream_class *c = TKM_APPEND(p->t->stream, p->t->streams);

	if (!c) {
		return no_memory(p->t);
	}
	*c = (struct xch_ctf_stream_class){ .id = xch_ctf_number(in, "id", 0) };
	return parse_statements(p, in,
		(struct ctf_slot[]){ { "packet.context", &c->scope[XCH_CTF_PACKET] },
			{ "event.header", &c->scope[XCH_CTF_EVENT] },
			{ "event.context", &c->scope[XCH_CTF_STREAM_CONTEXT] }, { NULL, NULL } });
}

static int parse_event(struct ctf_parse *p, struct xch_ctf_text in, size_t *room)
{
	const char *v = NULL;
	size_t n = xch_ctf_value(in, "name", &v);
	struct xch_ctf_event_class *c;
	const char *name = xch_ctf_keep(p->t, n ? v : "event", n ? n : 5);

	c = xch_ctf_add_event(p->t, room, xch_ctf_number(in, "stream_id", p->t->streams == 1 ? p->t->stream[0].id : 0),
		xch_ctf_number(in, "id", 0), name);
	if (!c) {
		return -1;
	}
	return parse_statements(p, in,
		(struct ctf_slot[]){ { "context", &c->scope[XCH_CTF_CONTEXT] }, { "fields", &c->scope[XCH_CTF_FIELDS] },
			{ NULL, NULL } });
}

/* The byte order holds for what is before it, too. */
static void find_order(struct ctf_parse *p, struct xch_ctf_text s)
{
	struct xch_ctf_text in;

	while (xch_ctf_find(&s, "trace", NULL)) {
		if (xch_ctf_block(&s, &in) == 0) {
			xch_ctf_order(in, &p->t->big);
		}
	}
}

static int parse_block(struct ctf_parse *p, const char *t, size_t n, struct xch_ctf_text in, size_t *room)
{
	if (xch_ctf_word_is(t, n, "env")) {
		p->t->env = in;
		return 0;
	}
	return xch_ctf_word_is(t, n, "trace")     ? parse_trace(p, in)
		: xch_ctf_word_is(t, n, "clock")  ? parse_clock(p, in, t)
		: xch_ctf_word_is(t, n, "stream") ? parse_stream(p, in)
		: xch_ctf_word_is(t, n, "event")  ? parse_event(p, in, room)
						  : 0; /* a callsite */
}

static int parse_all(struct ctf_parse *p, struct xch_ctf_text s)
{
	struct xch_ctf_text in;
	size_t n, room = 0;
	const char *t, *at;
	int rc = 0;

	find_order(p, s);
	while (rc >= 0) {
		rc = declaration(p, &s);
		if (rc != 0) {
			continue;
		}
		at = s.p;
		n = xch_ctf_token(&s, &t);
		if (n == 0) {
			return 0;
		}
		if (is_type_word(t, n)) {
			s.p = at;
			rc = parse_type(p, &s) ? 0 : -1;
		} else if (!xch_ctf_word_is(t, n, ";")) {
			rc = xch_ctf_block(&s, &in) < 0 ? fail_meta(p, t, "this is no block that ends")
							: parse_block(p, t, n, in, &room);
		}
	}
	return rc;
}

int xch_ctf_trace_read(struct xch_ctf_trace *t, const char *text, size_t n)
{
	struct ctf_parse p = { .t = t, .text = text };
	int rc = parse_all(&p, (struct xch_ctf_text){ text, text + n });

	tkm_table_free(&p.names);
	if (rc == 0 && t->streams == 0 && t->events == 0) {
		rc = fail_meta(&p, text, "no stream is described");
	}
	return rc < 0 ? -1 : 0;
}

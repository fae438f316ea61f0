/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds where the packet headers of a CTF trace have their stamps, as the metadata describes it, and reads the
 * packets of a stream. It knows numbers of whole bytes, arrays of them, and named structures of these. The place
 * of a field that follows any other type is unknown. */
#include "config.h"
#include "exchange/ctf/ctf_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "exchange/common/private.h"

enum { HEAD = 4096, DEPTH = 8 };
static const uint32_t packet_magic = 0xC1FC1FC1;

/* A part of the metadata text. */
struct piece {
	const char *p, *end;
};

struct reading {
	struct piece all;
	int big;    /* byte order of the trace */
	char *stop; /* 200 bytes: the field behind which no place is known; "": there is none */
};

const char *xch_ctf_skip(const char *p)
{
	const char *q;

	if (p[0] == '/' && p[1] == '*') {
		q = strstr(p + 2, "*/");
		return q ? q + 2 : p + strlen(p);
	}
	if (p[0] == '/' && p[1] == '/') {
		return p + strcspn(p, "\n");
	}
	if (*p != '"') {
		return p;
	}
	for (q = p + 1; *q && *q != '"'; q++) {
		q += *q == '\\' && q[1];
	}
	return *q ? q + 1 : q;
}

int xch_ctf_is_word(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Reads the next token (word, number, string or sign). Returns its length, 0 at the end. *t points to the token;
 * s->p is after it. */
static size_t token(struct piece *s, const char **t)
{
	const char *q;

	while (s->p < s->end) {
		if (strchr(" \t\r\n", *s->p)) {
			s->p++;
		} else if (*s->p != '"' && (q = xch_ctf_skip(s->p)) != s->p) {
			s->p = q;
		} else {
			break;
		}
	}
	*t = s->p;
	if (s->p >= s->end) {
		return 0;
	}
	s->p = *s->p == '"' ? xch_ctf_skip(s->p) : s->p + 1;
	while (xch_ctf_is_word(**t) && s->p < s->end && (xch_ctf_is_word(*s->p) || *s->p == '.')) {
		s->p++;
	}
	return (size_t)(s->p - *t);
}

static int word_is(const char *t, size_t n, const char *word)
{
	return n == strlen(word) && !strncmp(t, word, n);
}

/* Is the next token this one? If so, skips it. */
static int next_is(struct piece *s, const char *word)
{
	struct piece was = *s;
	const char *t;
	size_t n = token(s, &t);

	if (n && word_is(t, n, word)) {
		return 1;
	}
	*s = was;
	return 0;
}

/* Sets *inner to the text between the next brace and the matching one, and skips both. */
static int block(struct piece *s, struct piece *inner)
{
	const char *t;
	int depth = 1;
	size_t n;

	if (!next_is(s, "{")) {
		return -1;
	}
	inner->p = s->p;
	while (depth && (n = token(s, &t)) > 0) {
		depth += word_is(t, n, "{") - word_is(t, n, "}");
	}
	inner->end = depth ? s->end : s->p - 1;
	return depth ? -1 : 0;
}

/* Finds `word` (and then `second`) outside of braces, and moves s after it. */
static int find(struct piece *s, const char *word, const char *second)
{
	struct piece inner;
	const char *t;
	size_t n;

	while ((n = token(s, &t)) > 0) {
		if (word_is(t, n, word) && (!second || next_is(s, second))) {
			return 1;
		}
		if (word_is(t, n, "{")) {
			s->p = t;
			if (block(s, &inner) < 0) {
				return 0;
			}
		}
	}
	return 0;
}

/* Finds the value of `name = VALUE;` in a block. Returns its length, 0: there is none. */
static size_t value(struct piece s, const char *name, const char **v)
{
	while (find(&s, name, NULL)) {
		if (next_is(&s, "=")) {
			return token(&s, v);
		}
	}
	return 0;
}

static uint64_t number(struct piece s, const char *name, uint64_t otherwise)
{
	const char *v;

	return value(s, name, &v) ? strtoull(v, NULL, 0) : otherwise;
}

static void read_order(struct piece s, int *big)
{
	const char *v;
	size_t n = value(s, "byte_order", &v);

	*big = word_is(v, n, "be") || word_is(v, n, "network") ? 1 : word_is(v, n, "le") ? 0 : *big;
}

/* integer { ... } */
static void integer(const struct reading *r, struct piece s, struct xch_ctf_field *f)
{
	static const char after[] = "clock.";
	const char *v;
	size_t n;

	f->bits = (unsigned)number(s, "size", 0);
	f->align = (unsigned)number(s, "align", f->bits % 8 ? 1 : 8);
	f->big = r->big;
	read_order(s, &f->big);
	n = value(s, "map", &v);
	if (n > sizeof(after) - 1 && !strncmp(v, after, sizeof(after) - 1)) {
		v += sizeof(after) - 1;
		snprintf(f->clock, sizeof(f->clock), "%.*s", (int)strcspn(v, "."), v);
	}
}

static int structure(const struct reading *r, struct piece s, uint64_t *at, unsigned *align,
	struct xch_ctf_field *const *want, int depth);

/* Looks up a type name: finds the type that it stands for. */
static int by_name(const struct reading *r, const char *name, size_t len, struct xch_ctf_field *f)
{
	struct piece s = r->all, inner;
	const char *t;
	size_t n;

	while (find(&s, "typealias", "integer")) {
		if (block(&s, &inner) == 0 && next_is(&s, ":") && next_is(&s, "=") && (n = token(&s, &t)) == len &&
			!strncmp(t, name, n) && next_is(&s, ";")) {
			integer(r, inner, f);
			return 0;
		}
	}
	for (s = r->all; find(&s, "typedef", "integer");) {
		if (block(&s, &inner) == 0 && (n = token(&s, &t)) == len && !strncmp(t, name, n)) {
			integer(r, inner, f);
			return 0;
		}
	}
	return -1;
}

/* Finds the content of the structure that is defined here, or whose name is here. */
static int structure_of(const struct reading *r, struct piece *s, struct piece *inner)
{
	struct piece all = r->all;
	const char *t;
	size_t n;
	char name[200];

	if (block(s, inner) == 0) {
		return 0;
	}
	n = token(s, &t);
	snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 0), t);
	while (*name && find(&all, "struct", name)) {
		if (block(&all, inner) == 0) {
			return 0;
		}
	}
	return -1;
}

/* A field whose type is not known, or has bits that are no whole bytes. t: its type; its name comes next. Returns -1. */
static int stop_at(const struct reading *r, const char *t, size_t n, struct piece s)
{
	const char *name;
	size_t k = token(&s, &name);

	if (!*r->stop) {
		snprintf(r->stop, 200, "%.*s %.*s", (int)(n < 80 ? n : 80), t, (int)(k < 80 ? k : 80), name);
	}
	return -1;
}

/* Reads one field of a structure. -1: its type is not supported. */
static int member(const struct reading *r, struct piece *s, const char *t, size_t n, uint64_t *at, unsigned *align,
	struct xch_ctf_field *const *want, int depth)
{
	struct xch_ctf_field f = { .bits = 0 };
	struct piece inner, name;
	const char *type = t;
	uint64_t count = 1;
	size_t length = n;
	int i;

	if (word_is(t, n, "struct")) {
		return depth < DEPTH && structure_of(r, s, &inner) == 0
			? structure(r, inner, at, align, NULL, depth + 1)
			: -1;
	}
	if (word_is(t, n, "integer")) {
		if (block(s, &inner) < 0) {
			return -1;
		}
		integer(r, inner, &f);
	} else if (by_name(r, t, n, &f) < 0) {
		return stop_at(r, t, n, *s);
	}
	name = *s;
	n = token(s, &t);
	if (next_is(s, "[")) {
		const char *k;

		count = token(s, &k) ? strtoull(k, NULL, 0) : 0;
		if (!next_is(s, "]")) {
			return -1;
		}
	}
	if (!f.bits || f.bits % 8 || f.bits > 64 || !f.align || f.align > 64 || f.align % 8 || !count || count > HEAD) {
		return stop_at(r, type, length, name);
	}
	*align = f.align > *align ? f.align : *align;
	f.at = (*at + f.align - 1) / f.align * f.align;
	for (i = 0; want && want[i]; i++) {
		if (count == 1 && word_is(t, n, want[i]->name)) {
			f.name = want[i]->name;
			*want[i] = f;
		}
	}
	*at = f.at + f.bits * count;
	return 0;
}

/* Finds the places of the fields of a structure that begins at bit *at, and moves *at to its end. `want` ends
 * with NULL. Returns -1 if a type is not supported; then no place after it is known. */
static int structure(const struct reading *r, struct piece s, uint64_t *at, unsigned *align,
	struct xch_ctf_field *const *want, int depth)
{
	const char *t;
	size_t n;

	while ((n = token(&s, &t)) > 0) {
		if (!word_is(t, n, ";") && member(r, &s, t, n, at, align, want, depth) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Finds the structure `word := struct ...` of a block, which begins at bit *at or after it. Returns -1 as above,
 * and 0 also if there is no such structure. */
static int described(
	const struct reading *r, struct piece s, const char *word, uint64_t *at, struct xch_ctf_field *const *want)
{
	struct piece inner;
	uint64_t end = 0;
	unsigned align = 8;
	int i, rc;

	if (!find(&s, word, NULL)) {
		return 0;
	}
	if (!next_is(&s, ":") || !next_is(&s, "=") || !next_is(&s, "struct") || structure_of(r, &s, &inner) < 0) {
		return -1;
	}
	/* the structure begins at the next multiple of its largest alignment */
	structure(r, inner, &end, &align, NULL, 0);
	*at = (*at + align - 1) / align * align;
	rc = structure(r, inner, at, &align, want, 0);
	for (i = 0; want[i]; i++) {
		if (want[i]->at + want[i]->bits > 8 * (uint64_t)HEAD) {
			rc = -1;
		}
	}
	return rc;
}

/* stop: as in struct reading. */
static void say_why(struct xch_ctf_class *c, const char *stop)
{
	const struct xch_ctf_field *odd = c->begin.bits != 64 ? &c->begin : c->end.bits != 64 ? &c->end : NULL;

	if (!odd) {
		return;
	}
	if (odd->bits) {
		snprintf(c->why, sizeof(c->why), "%s of a packet has %u bits, not 64, and there is no index", odd->name,
			odd->bits);
	} else if (*stop) {
		snprintf(c->why, sizeof(c->why),
			"the place of %s in a packet is unknown: it is behind the field '%s', which is no number of "
			"whole bytes, and there is no index",
			odd->name, stop);
	} else {
		snprintf(c->why, sizeof(c->why), "its packets have no %s, and there is no index", odd->name);
	}
}

void xch_ctf_describe(struct xch_ctf_packets *d, const char *text, size_t n)
{
	char stop[200] = "";
	struct reading r = { .all = { text, text + n }, .stop = stop };
	struct piece s = r.all, inner;
	struct xch_ctf_class *c;
	uint64_t head = 0;
	int known;

	*d = (struct xch_ctf_packets){ .magic.name = "magic", .stream.name = "stream_id" };
	if (!find(&s, "trace", "{") || (s.p--, block(&s, &inner) < 0)) {
		return;
	}
	read_order(inner, &r.big);
	known = described(&r, inner, "packet.header", &head,
			(struct xch_ctf_field *[]){ &d->magic, &d->stream, NULL }) == 0;
	for (s = r.all; find(&s, "stream", "{");) {
		uint64_t at = head;

		s.p--;
		c = block(&s, &inner) < 0 ? NULL : TKM_APPEND(d->cls, d->n);
		if (!c) {
			break;
		}
		*c = (struct xch_ctf_class){ .id = number(inner, "id", 0),
			.begin.name = "timestamp_begin",
			.end.name = "timestamp_end",
			.size.name = "packet_size" };
		if (known) {
			*stop = '\0';
			described(&r, inner, "packet.context", &at,
				(struct xch_ctf_field *[]){ &c->begin, &c->end, &c->size, NULL });
		}
		say_why(c, stop);
	}
}

const struct xch_ctf_class *xch_ctf_class_of(const struct xch_ctf_packets *d, uint64_t id)
{
	size_t i;

	for (i = 0; i < d->n && d->cls[i].id != id; i++) {
		;
	}
	return i < d->n ? &d->cls[i] : NULL;
}

static uint64_t field(const struct xch_ctf_field *f, const uint8_t *b)
{
	return tkm_get_number(b + f->at / 8, f->bits / 8, f->big);
}

int xch_ctf_next_packet(
	const struct xch_ctf_packets *d, FILE *f, uint64_t *at, struct xch_ctf_packet *p, const char **what)
{
	uint8_t b[HEAD] = { 0 };
	struct stat st;
	uint64_t left;
	size_t n;

	if (fstat(fileno(f), &st) < 0 || (uint64_t)st.st_size <= *at) {
		return 0;
	}
	left = (uint64_t)st.st_size - *at;
	n = fseeko(f, (off_t)*at, SEEK_SET) < 0 ? 0 : fread(b, 1, sizeof(b), f);
	if (d->magic.bits && field(&d->magic, b) != packet_magic) {
		*what = "no packet begins here";
		return -1;
	}
	p->cls = xch_ctf_class_of(d, d->stream.bits ? field(&d->stream, b) : d->n ? d->cls[0].id : 0);
	if (!p->cls) {
		*what = "a packet of a stream that is not described";
		return -1;
	}
	if (p->cls->begin.bits != 64 || p->cls->end.bits != 64) {
		*what = p->cls->why;
		return -1;
	}
	if ((p->cls->end.at + 64) / 8 > n || (p->cls->begin.at + 64) / 8 > n) {
		*what = "the file ends in the head of a packet";
		return -1;
	}
	p->begin = field(&p->cls->begin, b);
	p->end = field(&p->cls->end, b);
	p->open = p->end == 0 && p->begin != 0;
	p->end = p->open ? p->begin : p->end;
	p->size = p->cls->size.bits ? field(&p->cls->size, b) / 8 : left;
	if (!p->size || p->size > left || p->end < p->begin) {
		*what = "a packet of no possible size or time";
		return -1;
	}
	*at += p->size;
	return 1;
}

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
#include "exchange/ctf/ctf_text.h"

enum { HEAD = 4096, DEPTH = 8 };
static const uint32_t packet_magic = 0xC1FC1FC1;

struct reading {
	struct xch_ctf_text all;
	int big;    /* byte order of the trace */
	char *stop; /* 200 bytes: the field behind which no place is known; "": there is none */
};

void xch_ctf_integer(struct xch_ctf_text s, int big, struct xch_ctf_field *f)
{
	static const char after[] = "clock.";
	const char *v;
	size_t n;

	f->bits = (unsigned)xch_ctf_number(s, "size", 0);
	f->align = (unsigned)xch_ctf_number(s, "align", f->bits % 8 ? 1 : 8);
	f->big = big;
	xch_ctf_order(s, &f->big);
	n = xch_ctf_value(s, "map", &v);
	if (n > sizeof(after) - 1 && !strncmp(v, after, sizeof(after) - 1)) {
		v += sizeof(after) - 1;
		snprintf(f->clock, sizeof(f->clock), "%.*s", (int)strcspn(v, "."), v);
	}
}

static int structure(const struct reading *r, struct xch_ctf_text s, uint64_t *at, unsigned *align,
	struct xch_ctf_field *const *want, int depth);

/* Looks up a type name: finds the type that it stands for. */
static int by_name(const struct reading *r, const char *name, size_t len, struct xch_ctf_field *f)
{
	struct xch_ctf_text s = r->all, inner;
	const char *t;
	size_t n;

	while (xch_ctf_find(&s, "typealias", "integer")) {
		if (xch_ctf_block(&s, &inner) == 0 && xch_ctf_next_is(&s, ":") && xch_ctf_next_is(&s, "=") &&
			(n = xch_ctf_token(&s, &t)) == len && !strncmp(t, name, n) && xch_ctf_next_is(&s, ";")) {
			xch_ctf_integer(inner, r->big, f);
			return 0;
		}
	}
	for (s = r->all; xch_ctf_find(&s, "typedef", "integer");) {
		if (xch_ctf_block(&s, &inner) == 0 && (n = xch_ctf_token(&s, &t)) == len && !strncmp(t, name, n)) {
			xch_ctf_integer(inner, r->big, f);
			return 0;
		}
	}
	return -1;
}

/* Finds the content of the structure that is defined here, or whose name is here. */
static int structure_of(const struct reading *r, struct xch_ctf_text *s, struct xch_ctf_text *inner)
{
	struct xch_ctf_text all = r->all;
	const char *t;
	size_t n;
	char name[200];

	if (xch_ctf_block(s, inner) == 0) {
		return 0;
	}
	n = xch_ctf_token(s, &t);
	snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 0), t);
	while (*name && xch_ctf_find(&all, "struct", name)) {
		if (xch_ctf_block(&all, inner) == 0) {
			return 0;
		}
	}
	return -1;
}

/* A field whose type is not known, or has bits that are no whole bytes. t: its type; its name comes next. Returns -1. */
static int stop_at(const struct reading *r, const char *t, size_t n, struct xch_ctf_text s)
{
	const char *name;
	size_t k = xch_ctf_token(&s, &name);

	if (!*r->stop) {
		snprintf(r->stop, 200, "%.*s %.*s", (int)(n < 80 ? n : 80), t, (int)(k < 80 ? k : 80), name);
	}
	return -1;
}

/* Reads one field of a structure. -1: its type is not supported. */
static int member(const struct reading *r, struct xch_ctf_text *s, const char *t, size_t n, uint64_t *at,
	unsigned *align, struct xch_ctf_field *const *want, int depth)
{
	struct xch_ctf_field f = { .bits = 0 };
	struct xch_ctf_text inner, name;
	const char *type = t;
	uint64_t count = 1;
	size_t length = n;
	int i;

	if (xch_ctf_word_is(t, n, "struct")) {
		return depth < DEPTH && structure_of(r, s, &inner) == 0
			? structure(r, inner, at, align, NULL, depth + 1)
			: -1;
	}
	if (xch_ctf_word_is(t, n, "integer")) {
		if (xch_ctf_block(s, &inner) < 0) {
			return -1;
		}
		xch_ctf_integer(inner, r->big, &f);
	} else if (by_name(r, t, n, &f) < 0) {
		return stop_at(r, t, n, *s);
	}
	name = *s;
	n = xch_ctf_token(s, &t);
	if (xch_ctf_next_is(s, "[")) {
		const char *k;

		count = xch_ctf_token(s, &k) ? strtoull(k, NULL, 0) : 0;
		if (!xch_ctf_next_is(s, "]")) {
			return -1;
		}
	}
	if (!f.bits || f.bits % 8 || f.bits > 64 || !f.align || f.align > 64 || f.align % 8 || !count || count > HEAD) {
		return stop_at(r, type, length, name);
	}
	*align = f.align > *align ? f.align : *align;
	f.at = (*at + f.align - 1) / f.align * f.align;
	for (i = 0; want && want[i]; i++) {
		if (count == 1 && xch_ctf_word_is(t, n, want[i]->name)) {
			f.name = want[i]->name;
			*want[i] = f;
		}
	}
	*at = f.at + f.bits * count;
	return 0;
}

/* Finds the places of the fields of a structure that begins at bit *at, and moves *at to its end. `want` ends
 * with NULL. Returns -1 if a type is not supported; then no place after it is known. */
static int structure(const struct reading *r, struct xch_ctf_text s, uint64_t *at, unsigned *align,
	struct xch_ctf_field *const *want, int depth)
{
	const char *t;
	size_t n;

	while ((n = xch_ctf_token(&s, &t)) > 0) {
		if (!xch_ctf_word_is(t, n, ";") && member(r, &s, t, n, at, align, want, depth) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Finds the structure `word := struct ...` of a block, which begins at bit *at or after it. Returns -1 as above,
 * and 0 also if there is no such structure. */
static int described(const struct reading *r, struct xch_ctf_text s, const char *word, uint64_t *at,
	struct xch_ctf_field *const *want)
{
	struct xch_ctf_text inner;
	uint64_t end = 0;
	unsigned align = 8;
	int i, rc;

	if (!xch_ctf_find(&s, word, NULL)) {
		return 0;
	}
	if (!xch_ctf_next_is(&s, ":") || !xch_ctf_next_is(&s, "=") || !xch_ctf_next_is(&s, "struct") ||
		structure_of(r, &s, &inner) < 0) {
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
	struct xch_ctf_text s = r.all, inner;
	struct xch_ctf_class *c;
	uint64_t head = 0;
	int known;

	*d = (struct xch_ctf_packets){ .magic.name = "magic", .stream.name = "stream_id" };
	if (!xch_ctf_find(&s, "trace", "{") || (s.p--, xch_ctf_block(&s, &inner) < 0)) {
		return;
	}
	xch_ctf_order(inner, &r.big);
	known = described(&r, inner, "packet.header", &head,
			(struct xch_ctf_field *[]){ &d->magic, &d->stream, NULL }) == 0;
	for (s = r.all; xch_ctf_find(&s, "stream", "{");) {
		uint64_t at = head;

		s.p--;
		c = xch_ctf_block(&s, &inner) < 0 ? NULL : TKM_APPEND(d->cls, d->n);
		if (!c) {
			break;
		}
		*c = (struct xch_ctf_class){ .id = xch_ctf_number(inner, "id", 0),
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

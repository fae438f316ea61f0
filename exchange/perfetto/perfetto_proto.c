/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "exchange/perfetto/perfetto_proto.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Returns 0, or -1: it does not end, or has more than 64 bits. */
static int take_varint(const unsigned char **p, const unsigned char *end, uint64_t *v)
{
	unsigned shift;

	*v = 0;
	for (shift = 0; shift < 70 && *p < end; shift += 7) {
		*v |= shift < 64 ? (uint64_t)(**p & 127) << shift : 0;
		if (*(*p)++ < 128) {
			return 0;
		}
	}
	return -1;
}

int xch_proto_next(const unsigned char **p, const unsigned char *end, struct xch_proto_field *f)
{
	const unsigned wires = 1 << XCH_PROTO_VARINT | 1 << XCH_PROTO_64 | 1 << XCH_PROTO_BYTES | 1 << XCH_PROTO_32;
	uint64_t key;

	if (*p == end) {
		return 0;
	}
	f->at = *p;
	f->number = 0;
	if (take_varint(p, end, &key) < 0 || key >> 3 == 0 || key >> 3 > UINT32_MAX >> 3 ||
		(wires >> (key & 7) & 1) == 0) {
		return -1;
	}
	f->number = (uint32_t)(key >> 3);
	f->wire = (int)(key & 7);
	f->p = *p;
	f->v = 0;
	if (f->wire == XCH_PROTO_VARINT) {
		if (take_varint(p, end, &f->v) < 0) {
			return -1;
		}
		f->n = (size_t)(*p - f->p);
		return 1;
	}
	if (f->wire == XCH_PROTO_BYTES) {
		if (take_varint(p, end, &f->v) < 0) {
			return -1;
		}
		f->p = *p;
	} else {
		f->v = f->wire == XCH_PROTO_64 ? 8 : 4;
	}
	if (f->v > (uint64_t)(end - *p)) {
		return -1;
	}
	f->n = (size_t)f->v;
	*p += f->n;
	return 1;
}

size_t xch_proto_varint(unsigned char *p, uint64_t v)
{
	size_t n = 0;

	while (v >= 0x80) {
		p[n++] = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	p[n++] = (unsigned char)v;
	return n;
}

void xch_proto_raw(struct xch_proto *m, const void *p, size_t n)
{
	if (m->failed || n > SIZE_MAX / 2 - m->n || TKM_GROW(m->b, m->room, m->n + n + 1) < 0) {
		m->failed = 1;
		return;
	}
	if (n > 0) {
		memcpy(m->b + m->n, p, n);
	}
	m->n += n;
}

void xch_proto_int(struct xch_proto *m, uint32_t number, uint64_t v)
{
	unsigned char b[20];
	size_t n = xch_proto_varint(b, (uint64_t)number << 3 | XCH_PROTO_VARINT);

	n += xch_proto_varint(b + n, v);
	xch_proto_raw(m, b, n);
}

void xch_proto_bytes(struct xch_proto *m, uint32_t number, const void *p, size_t n)
{
	unsigned char b[20];
	size_t k = xch_proto_varint(b, (uint64_t)number << 3 | XCH_PROTO_BYTES);

	k += xch_proto_varint(b + k, n);
	xch_proto_raw(m, b, k);
	xch_proto_raw(m, p, n);
}

void xch_proto_text(struct xch_proto *m, uint32_t number, const char *text)
{
	xch_proto_bytes(m, number, text, strlen(text));
}

void xch_proto_copy(struct xch_proto *m, const struct xch_proto_field *f)
{
	xch_proto_raw(m, f->at, (size_t)(f->p + f->n - f->at));
}

void xch_proto_free(struct xch_proto *m)
{
	free(m->b);
	memset(m, 0, sizeof(*m));
}

int xch_proto_find(const unsigned char *b, size_t n, const uint32_t *path, uint64_t *v)
{
	const unsigned char *at = b;
	struct xch_proto_field f;

	while (xch_proto_next(&at, b + n, &f) > 0) {
		if (f.number != path[0]) {
			continue;
		}
		if (path[1] == 0 && f.wire == XCH_PROTO_VARINT) {
			*v = f.v;
			return 1;
		}
		if (path[1] != 0 && f.wire == XCH_PROTO_BYTES && xch_proto_find(f.p, f.n, path + 1, v)) {
			return 1;
		}
	}
	return 0;
}

void xch_proto_replace(struct xch_proto *m, const struct xch_proto_field *f, const uint32_t *path, uint64_t v)
{
	const unsigned char *at = f->p;
	struct xch_proto inner = { .n = 0 };
	struct xch_proto_field g;

	if (f->number != path[0] || f->wire != (path[1] ? XCH_PROTO_BYTES : XCH_PROTO_VARINT)) {
		xch_proto_copy(m, f);
		return;
	}
	if (path[1] == 0) {
		xch_proto_int(m, f->number, v);
		return;
	}
	while (xch_proto_next(&at, f->p + f->n, &g) > 0) {
		xch_proto_replace(&inner, &g, path + 1, v);
	}
	xch_proto_bytes(m, f->number, inner.b, inner.n);
	m->failed |= inner.failed;
	xch_proto_free(&inner);
}

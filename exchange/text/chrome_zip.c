/* SPDX-License-Identifier: BSD-3-Clause */
/* A zip, member by member; see exchange/text/chrome_zip.h. The format: APPNOTE.TXT of PKWARE. */
#include "config.h"
#include "exchange/text/chrome_zip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/grow.h"

/* Both kinds of header have the same 26 bytes from "version needed" on. */
enum {
	ZIP_VERSION = 20,
	DEFLATED = 8,
	FIRST_DATE = 0x21,
	LOCAL = 30,
	CENTRAL = 46,
	END = 22,
	OF_SIZES = 14,
	BLOCK = 1 << 16
};

static int fail_zip(struct tkm_err *err)
{
	return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write the zip");
}

static int refuse_size(struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_ARG,
		"the zip would have more than 4 GiB, which Perfetto does not read: take fewer files, or correct each alone");
}

static void put_member(unsigned char *p, const struct xch_zip_member *m)
{
	memset(p, 0, 26);
	tkm_put16(p, ZIP_VERSION, 0);
	tkm_put16(p + 4, DEFLATED, 0);
	tkm_put16(p + 8, FIRST_DATE, 0); /* a copy made twice is equal */
	tkm_put32(p + 10, m->crc, 0);
	tkm_put32(p + 14, (uint32_t)m->packed, 0);
	tkm_put32(p + 18, (uint32_t)m->size, 0);
	tkm_put16(p + 22, (uint16_t)strlen(m->name), 0);
}

int xch_zip_begin(struct xch_zip *z, const char *name, struct tkm_err *err)
{
	struct xch_zip_member *m = TKM_APPEND(z->member, z->members);
	unsigned char head[LOCAL] = "PK\003\004";
	z_stream *s;

	if (!m || !(m->name = strdup(name)) || !(s = calloc(1, sizeof(*s)))) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the zip");
	}
	/* the fastest level: correcting is not to wait for it */
	if (deflateInit2(s, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(s);
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the zip");
	}
	z->stream = s;
	m->at = (uint64_t)ftello(z->f);
	put_member(head + 4, m);
	return fwrite(head, LOCAL, 1, z->f) != 1 || fputs(name, z->f) < 0 ? fail_zip(err) : 0;
}

static int pack(struct xch_zip *z, const char *p, size_t n, int flush, struct tkm_err *err)
{
	struct xch_zip_member *m = &z->member[z->members - 1];
	unsigned char block[BLOCK];
	z_stream *s = z->stream;
	size_t made;

	s->next_in = (Bytef *)(uintptr_t)p;
	s->avail_in = (uInt)n;
	do {
		s->next_out = block;
		s->avail_out = BLOCK;
		deflate(s, flush);
		made = BLOCK - s->avail_out;
		m->packed += made;
		if (made > 0 && fwrite(block, made, 1, z->f) != 1) {
			return fail_zip(err);
		}
	} while (s->avail_out == 0);
	return m->packed >= UINT32_MAX || m->size >= UINT32_MAX || m->at + m->packed >= UINT32_MAX ? refuse_size(err)
												   : 0;
}

int xch_zip_write(struct xch_zip *z, const char *p, size_t n, struct tkm_err *err)
{
	struct xch_zip_member *m = &z->member[z->members - 1];

	m->crc = (uint32_t)crc32(m->crc, (const Bytef *)p, (uInt)n);
	m->size += n;
	return pack(z, p, n, Z_NO_FLUSH, err);
}

int xch_zip_end(struct xch_zip *z, struct tkm_err *err)
{
	struct xch_zip_member *m = &z->member[z->members - 1];
	unsigned char head[26];

	if (pack(z, NULL, 0, Z_FINISH, err) < 0) {
		return -1;
	}
	deflateEnd(z->stream);
	free(z->stream);
	z->stream = NULL;
	put_member(head, m);
	return fseeko(z->f, (off_t)m->at + OF_SIZES, SEEK_SET) < 0 || fwrite(head + 10, 12, 1, z->f) != 1 ||
			fseeko(z->f, 0, SEEK_END) < 0
		? fail_zip(err)
		: 0;
}

int xch_zip_complete(struct xch_zip *z, struct tkm_err *err)
{
	unsigned char head[CENTRAL] = "PK\001\002", end[END] = "PK\005\006";
	uint64_t at = (uint64_t)ftello(z->f), size = 0;
	size_t i;

	if (at >= UINT32_MAX || z->members >= UINT16_MAX) {
		return refuse_size(err);
	}
	for (i = 0; i < z->members; i++) {
		const struct xch_zip_member *m = &z->member[i];

		tkm_put16(head + 4, ZIP_VERSION, 0);
		put_member(head + 6, m);
		tkm_put32(head + 42, (uint32_t)m->at, 0);
		size += CENTRAL + strlen(m->name);
		if (fwrite(head, CENTRAL, 1, z->f) != 1 || fputs(m->name, z->f) < 0) {
			return fail_zip(err);
		}
	}
	tkm_put16(end + 8, (uint16_t)z->members, 0);
	tkm_put16(end + 10, (uint16_t)z->members, 0);
	tkm_put32(end + 12, (uint32_t)size, 0);
	tkm_put32(end + 16, (uint32_t)at, 0);
	return fwrite(end, END, 1, z->f) != 1 ? fail_zip(err) : 0;
}

void xch_zip_free(struct xch_zip *z)
{
	size_t i;

	if (z->stream) {
		deflateEnd(z->stream);
		free(z->stream);
	}
	for (i = 0; i < z->members; i++) {
		free(z->member[i].name);
	}
	free(z->member);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "exchange/perfetto/perfetto_packets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/grow.h"
#include "exchange/common/private.h"

enum { STEP = 1 << 18, MOST = 48 << 20 };

int xch_packets_fail(const struct xch_packets *s, uint64_t offset, const char *what)
{
	return tkm_fail(s->err, TKM_ERR_FORMAT, "%s: offset %" PRIu64 ": %s", s->path, offset, what);
}

/* Reads more behind the buffer. Returns 1; 0: the file has ended; or -1. */
static int read_packets(struct xch_packets *s)
{
	long n;

	if (s->eof) {
		return 0;
	}
	if (s->start > 0) {
		memmove(s->buf, s->buf + s->start, s->end - s->start);
		s->base += s->start;
		s->end -= s->start;
		s->start = 0;
	}
	if (TKM_GROW(s->buf, s->room, s->end + STEP) < 0) {
		return tkm_fail(s->err, TKM_ERR_NOMEM, "out of memory for a packet of %s", s->path);
	}
	n = xch_gz_read(s->in, s->buf + s->end, STEP, s->err);
	if (n < 0) {
		return -1;
	}
	s->end += (size_t)n;
	s->eof = n == 0;
	return n > 0;
}

int xch_packets_begin(struct xch_packets *s, const char *path, FILE *out, struct tkm_err *err)
{
	int fd;

	s->path = path;
	s->out = out;
	s->err = err;
	s->start = s->end = 0;
	s->base = 0;
	s->eof = 0;
	if (!s->in) {
		s->in = xch_gz_open(path, err);
		if (!s->in) {
			return -1;
		}
	} else if (xch_gz_rewind(s->in, err) < 0) {
		return -1;
	}
	if (read_packets(s) < 0) {
		return -1;
	}
	if (out && xch_gz_is_compressed(s->in)) {
		fd = dup(fileno(out));
		s->zipped = fd >= 0 ? gzdopen(fd, "wb6") : NULL;
		if (!s->zipped) {
			return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot compress the copy of %s", path);
		}
	}
	return 0;
}

int xch_packets_next(struct xch_packets *s, struct xch_proto_field *f, uint64_t *offset)
{
	const unsigned char *p;
	int rc, more;

	for (;;) {
		p = s->buf + s->start;
		rc = xch_proto_next(&p, s->buf + s->end, f);
		if (rc > 0) {
			*offset = s->base + s->start;
			s->start = (size_t)(p - s->buf);
			return 1;
		}
		if (rc < 0 && f->number == 0 && s->end - s->start >= 20) {
			return xch_packets_fail(s, s->base + s->start, "this is no packet of Perfetto");
		}
		if (s->end - s->start > MOST) {
			return xch_packets_fail(s, s->base + s->start, "a packet of more than 48 MiB");
		}
		more = read_packets(s);
		if (more < 0) {
			return -1;
		}
		if (more == 0) {
			return s->end == s->start
				? 0
				: xch_packets_fail(s, s->base + s->start,
					  "the file ends within a packet, or this is no packet of Perfetto");
		}
	}
}

int xch_packets_put(struct xch_packets *s, const void *p, size_t n)
{
	if (n == 0 || !s->out) {
		return 0;
	}
	if (s->zipped ? gzwrite(s->zipped, p, (unsigned)n) != (int)n : fwrite(p, 1, n, s->out) != n) {
		return tkm_fail_errno(s->err, TKM_ERR_IO, errno, "cannot write the copy of %s", s->path);
	}
	return 0;
}

int xch_packets_end(struct xch_packets *s)
{
	void *zipped = s->zipped;

	s->zipped = NULL;
	return zipped && gzclose(zipped) != Z_OK
		? tkm_fail_errno(s->err, TKM_ERR_IO, errno, "cannot write the copy of %s", s->path)
		: 0;
}

void xch_packets_free(struct xch_packets *s)
{
	xch_gz_close(s->in);
	if (s->zipped) {
		gzclose(s->zipped);
	}
	free(s->buf);
	memset(s, 0, sizeof(*s));
}

/* ---- compressed packets ---- */

static const char damaged[] = "compressed packets that are damaged, or of more than 48 MiB";
static const char memory[] = "out of memory for compressed packets";

static const char *expand_zlib(const unsigned char *p, size_t n, struct xch_proto *to)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)p, .avail_in = (uInt)n };
	unsigned char block[1 << 15];
	const char *why = NULL;
	int rc;

	if (inflateInit2(&z, 15 + 32) != Z_OK) { /* zlib's head, or gzip's */
		return memory;
	}
	do {
		z.next_out = block;
		z.avail_out = sizeof(block);
		rc = inflate(&z, Z_NO_FLUSH);
		xch_proto_raw(to, block, sizeof(block) - z.avail_out);
		why = to->n > MOST || (rc != Z_OK && rc != Z_STREAM_END) || (rc == Z_OK && z.avail_out == sizeof(block))
			? damaged
			: NULL;
	} while (!why && rc != Z_STREAM_END);
	/* bytes after the end of the stream would be lost in a copy */
	why = why || z.avail_in == 0 ? why : damaged;
	inflateEnd(&z);
	return why ? why : to->failed ? memory : NULL;
}

#ifdef HAVE_ZSTD
static const char *expand_zstd(const unsigned char *p, size_t n, struct xch_proto *to)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	ZSTD_inBuffer in = { p, n, 0 };
	unsigned char block[1 << 15];
	const char *why = z ? NULL : memory;
	size_t rc = 1, before;

	while (!why && (in.pos < in.size || rc != 0)) {
		ZSTD_outBuffer out = { block, sizeof(block), 0 };

		before = in.pos;
		rc = ZSTD_decompressStream(z, &out, &in);
		xch_proto_raw(to, block, out.pos);
		why = ZSTD_isError(rc) || to->n > MOST || (in.pos == before && out.pos == 0 && rc != 0) ? damaged
													: NULL;
	}
	ZSTD_freeDCtx(z);
	return why ? why : to->failed ? memory : NULL;
}
#endif

static const char *expand_part(const unsigned char *p, size_t n, int zstd, struct xch_proto *to)
{
	if (!zstd) {
		return expand_zlib(p, n, to);
	}
#ifdef HAVE_ZSTD
	return expand_zstd(p, n, to);
#else
	return "packets compressed by zstd, which this build cannot read (configure --with-zstd)";
#endif
}

int xch_packets_unpack(struct xch_packets *s, uint64_t offset, const struct xch_pft_packet *is, struct xch_proto *to,
	int (*take)(void *user, const struct xch_proto_field *f), void *user)
{
	const struct xch_pft_part *part = is->zlib.p ? &is->zlib : &is->zstd;
	const unsigned char *at;
	struct xch_proto_field f;
	const char *why;
	int rc;

	if (is->zlib.p && is->zstd.p) {
		return xch_packets_fail(s, offset, "packets compressed by zlib and by zstd in one");
	}
	to->n = 0;
	why = expand_part(part->p, part->n, part == &is->zstd, to);
	if (why) {
		return xch_packets_fail(s, offset, why);
	}
	at = to->b;
	while ((rc = xch_proto_next(&at, to->b + to->n, &f)) > 0) {
		if (take(user, &f) < 0) {
			return -1;
		}
	}
	return rc < 0 ? xch_packets_fail(s, offset, "compressed packets that are damaged") : 0;
}

const char *xch_packets_compress(const unsigned char *p, size_t n, int zstd, struct xch_proto *to)
{
	int ok;

#ifdef HAVE_ZSTD
	if (zstd) {
		size_t size;

		if (TKM_GROW(to->b, to->room, to->n + ZSTD_compressBound(n)) < 0) {
			return memory;
		}
		size = ZSTD_compress(to->b + to->n, to->room - to->n, p, n, 3);
		to->n += ZSTD_isError(size) ? 0 : size;
		return ZSTD_isError(size) ? memory : NULL;
	}
#endif
	{
		uLongf size = compressBound((uLong)n);

		(void)zstd;
		if (TKM_GROW(to->b, to->room, to->n + size) < 0) {
			return memory;
		}
		ok = compress2(to->b + to->n, &size, p, (uLong)n, 6) == Z_OK;
		to->n += ok ? size : 0;
	}
	return ok ? NULL : memory;
}

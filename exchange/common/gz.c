/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "exchange/common/private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { ROOM = 1 << 16, ONLY_GZIP = 15 + 16 };

struct xch_gz {
	const char *path;
	int fd, compressed, in_member;
	z_stream z; /* next_in and avail_in: what is in `in` and was not used yet, also if the file is not compressed */
	uint64_t read; /* bytes of the file so far */
	uint64_t at;   /* bytes that were returned */
	unsigned char in[ROOM];
};

static int fail_gz(const struct xch_gz *g, const char *what, struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_FORMAT, "%s: offset %" PRIu64 ": %s (byte %" PRIu64 " of the file)", g->path,
		g->at, what, g->read - g->z.avail_in);
}

static ssize_t read_compressed(struct xch_gz *g, void *buf, size_t n, struct tkm_err *err)
{
	ssize_t k;

	do {
		k = read(g->fd, buf, n);
	} while (k < 0 && errno == EINTR);
	if (k < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot read %s", g->path);
	}
	g->read += (uint64_t)k;
	return k;
}

/* Adds to what is in `in`, which begins there. Returns the number of bytes, or -1. */
static ssize_t fill_input(struct xch_gz *g, struct tkm_err *err)
{
	ssize_t k;

	g->z.next_in = g->in;
	k = read_compressed(g, g->in + g->z.avail_in, ROOM - g->z.avail_in, err);
	g->z.avail_in += k > 0 ? (uInt)k : 0;
	return k;
}

/* Two bytes say whether the file is compressed. */
static int begin_file(struct xch_gz *g, struct tkm_err *err)
{
	ssize_t k;

	g->read = g->at = 0;
	g->in_member = 0;
	g->z.avail_in = 0;
	do {
		k = fill_input(g, err);
	} while (k > 0 && g->z.avail_in < 2);
	g->compressed = g->z.avail_in >= 2 && g->in[0] == 0x1f && g->in[1] == 0x8b;
	return k < 0 ? -1 : 0;
}

struct xch_gz *xch_gz_open(const char *path, struct tkm_err *err)
{
	struct xch_gz *g = calloc(1, sizeof(*g));

	if (!g || inflateInit2(&g->z, ONLY_GZIP) != Z_OK) {
		free(g);
		tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %s", path);
		return NULL;
	}
	g->path = path;
	g->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (g->fd < 0) {
		tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot open %s", path);
	} else if (begin_file(g, err) == 0) {
		return g;
	}
	xch_gz_close(g);
	return NULL;
}

void xch_gz_close(struct xch_gz *g)
{
	if (g) {
		inflateEnd(&g->z);
		if (g->fd >= 0) {
			close(g->fd);
		}
		free(g);
	}
}

int xch_gz_is_compressed(const struct xch_gz *g)
{
	return g->compressed;
}

int xch_gz_rewind(struct xch_gz *g, struct tkm_err *err)
{
	return lseek(g->fd, 0, SEEK_SET) < 0
		? tkm_fail(err, TKM_ERR_IO, "%s: it cannot be read twice: is it a pipe?", g->path)
		: begin_file(g, err);
}

static long read_plain(struct xch_gz *g, unsigned char *buf, size_t n, struct tkm_err *err)
{
	size_t k = g->z.avail_in < n ? g->z.avail_in : n;

	if (k == 0) {
		return read_compressed(g, buf, n, err);
	}
	memcpy(buf, g->z.next_in, k);
	g->z.next_in += k;
	g->z.avail_in -= (uInt)k;
	return (long)k;
}

/* After a member: begins the next one. Returns 1; 0: only zeros follow; or -1. */
static int begin_gzip_member(struct xch_gz *g, struct tkm_err *err)
{
	int padding = 0;
	ssize_t k;

	for (;;) {
		if (g->z.avail_in == 0 && (k = fill_input(g, err)) <= 0) {
			return (int)k;
		}
		if (*g->z.next_in) {
			break;
		}
		padding = 1;
		g->z.next_in++;
		g->z.avail_in--;
	}
	if (padding) {
		return fail_gz(g, "bytes that are not compressed, after the compressed data", err);
	}
	g->in_member = 1;
	inflateReset(&g->z);
	return 1;
}

/* One step of what is compressed. Returns 1; 0: the file has ended; or -1. */
static int inflate_step(struct xch_gz *g, struct tkm_err *err)
{
	ssize_t k;
	int rc;

	if (!g->in_member && (rc = begin_gzip_member(g, err)) <= 0) {
		return rc;
	}
	if (g->z.avail_in == 0 && (k = fill_input(g, err)) <= 0) {
		return k < 0 ? -1 : fail_gz(g, "the compressed data end too early", err);
	}
	rc = inflate(&g->z, Z_NO_FLUSH);
	if (rc == Z_STREAM_END) {
		g->in_member = 0;
	} else if (rc == Z_MEM_ERROR) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %s", g->path);
	} else if (rc != Z_OK && rc != Z_BUF_ERROR) {
		return fail_gz(g, "the compressed data are damaged", err);
	}
	return 1;
}

long xch_gz_read(struct xch_gz *g, void *buf, size_t n, struct tkm_err *err)
{
	long k = 0;
	int rc = 1;

	if (!g->compressed) {
		k = read_plain(g, buf, n, err);
	} else {
		g->z.next_out = buf;
		g->z.avail_out = (uInt)n;
		while (rc > 0 && g->z.avail_out == n) {
			rc = inflate_step(g, err);
		}
		/* what came before a damaged place is returned, and the next call fails */
		k = g->z.avail_out < n ? (long)(n - g->z.avail_out) : rc;
	}
	g->at += k > 0 ? (uint64_t)k : 0;
	return k;
}

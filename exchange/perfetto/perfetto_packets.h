/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of Perfetto's packets, read one by one and copied: plain or compressed by gzip as a whole. Packets in packets that are
 * compressed, too. Memory: the largest packet, which is refused above 48 MiB, and its copy; of a compressed one also its content
 * and the copy of that. Buffers grow by doubling, so that a hostile file can take about 400 MiB. */
#ifndef EXCHANGE_PERFETTO_PACKETS_H
#define EXCHANGE_PERFETTO_PACKETS_H

#include <stdio.h>

#include "base/err.h"
#include "exchange/perfetto/perfetto_clocks.h"
#include "exchange/perfetto/perfetto_proto.h"

/* Initialise it with zeros. */
struct xch_packets {
	struct xch_gz *in;
	void *zipped; /* gzFile of the copy; NULL: it is not compressed */
	FILE *out;    /* of the copy; NULL: there is none */
	const char *path;
	struct tkm_err *err;
	unsigned char *buf;
	size_t room, start, end;
	uint64_t base; /* offset of buf[0] in the uncompressed file */
	int eof;
};

/* Opens the file, or begins it anew. Returns 0 or -1. */
int xch_packets_begin(struct xch_packets *s, const char *path, FILE *out, struct tkm_err *err);
/* The next field of the file, with its offset; a packet is field 1. Valid until the next call. Returns 1, 0: the end, or -1. */
int xch_packets_next(struct xch_packets *s, struct xch_proto_field *f, uint64_t *offset);
/* Adds bytes to the copy. Return 0 or -1. */
int xch_packets_put(struct xch_packets *s, const void *p, size_t n);
int xch_packets_end(struct xch_packets *s);
void xch_packets_free(struct xch_packets *s);
/* Returns -1 with "PATH: offset N: what". */
int xch_packets_fail(const struct xch_packets *s, uint64_t offset, const char *what);

/* Calls take() for each field of what is in a compressed packet; *to has its content. Returns 0 or -1, as take() does. */
int xch_packets_unpack(struct xch_packets *s, uint64_t offset, const struct xch_pft_packet *is, struct xch_proto *to,
	int (*take)(void *user, const struct xch_proto_field *f), void *user);
/* Compresses such content; zstd: else zlib. Returns NULL, or what is wrong. */
const char *xch_packets_compress(const unsigned char *p, size_t n, int zstd, struct xch_proto *to);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a file as it is, or what gzip has compressed in it: all members. zlib's gzread() takes a damaged head of a further member
 * for the end of the file; here it is an error. Zeros after the last member are padding, as for gunzip. */
#ifndef EXCHANGE_TEXT_GZ_H
#define EXCHANGE_TEXT_GZ_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct xch_gz;

/* NULL: *err has the reason. `path` must stay valid. */
struct xch_gz *xch_gz_open(const char *path, struct tkm_err *err);
void xch_gz_close(struct xch_gz *g);
int xch_gz_is_compressed(const struct xch_gz *g);
/* Begins anew. Returns 0, or -1: the file cannot be read twice. */
int xch_gz_rewind(struct xch_gz *g, struct tkm_err *err);
/* Reads up to n bytes, n > 0. Returns their number, 0: the file has ended, or -1: *err names the place, as the offset of the next byte in
 * what is uncompressed, and the byte of the file. */
long xch_gz_read(struct xch_gz *g, void *buf, size_t n, struct tkm_err *err);

#endif

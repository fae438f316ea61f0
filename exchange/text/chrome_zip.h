/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a zip of compressed members, as Perfetto reads it: no encryption, no zip64, so no more than 4 GiB. */
#ifndef EXCHANGE_TEXT_CHROME_ZIP_H
#define EXCHANGE_TEXT_CHROME_ZIP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Initialise it with zeros and f, which must allow seeking. All calls return 0 or -1; xch_zip_free() follows in any case. */
struct xch_zip {
	FILE *f;
	void *stream; /* z_stream of the open member; NULL: none is open */
	struct xch_zip_member {
		char *name;
		uint64_t at, size, packed;
		uint32_t crc;
	} * member;
	size_t members;
};

int xch_zip_begin(struct xch_zip *z, const char *name, struct tkm_err *err);
int xch_zip_write(struct xch_zip *z, const char *p, size_t n, struct tkm_err *err);
int xch_zip_end(struct xch_zip *z, struct tkm_err *err);
/* Writes the directory behind the members. */
int xch_zip_complete(struct xch_zip *z, struct tkm_err *err);
void xch_zip_free(struct xch_zip *z);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the anchor file of an OTF2 archive. */
#include "config.h"
#include "exchange/otf2_in.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"

/* Offsets in the anchor file. */
enum {
	ANCHOR_ORDER = 1,
	ANCHOR_NAME = 2,
	ANCHOR_FORMAT = 7,
	ANCHOR_CHUNKS = 12,
	ANCHOR_SUBSTRATE = 28,
	ANCHOR_COMPRESSION = 29,
	ANCHOR_TEXTS = 46,
	ANCHOR_SIZE = 1 << 20,
	KNOWN_FORMAT = 3, /* later formats may have more fields at the end */
	LITTLE = 'B',
	BIG = '#'
};

static int bad_anchor(const struct otf2_in *o, size_t offset, const char *what)
{
	return tkm_fail(o->err, TKM_ERR_FORMAT, "%s: offset %zu: %s", o->in->path, offset, what);
}

/* Returns the offset after n texts; 0: one has no end. */
static size_t skip_texts(const unsigned char *b, size_t at, size_t n, uint64_t texts)
{
	const unsigned char *zero;

	for (; texts > 0; texts--) {
		zero = memchr(b + at, 0, n - at);
		if (!zero) {
			return 0;
		}
		at = (size_t)(zero - b) + 1;
	}
	return at;
}

/* Checks what follows the texts of format 2 on: properties, an id, two numbers and the mark at the end. */
static int check_properties(const struct otf2_in *o, const unsigned char *b, size_t at, size_t n)
{
	unsigned format = b[ANCHOR_FORMAT];
	size_t before = at;

	if (n - at < 4 || tkm_get32(b + at, o->big) > (n - at) / 2) {
		return bad_anchor(o, at, "more properties than the file has room for");
	}
	at = skip_texts(b, at + 4, n, 2 * (uint64_t)tkm_get32(b + at, o->big));
	if (!at) {
		return bad_anchor(o, before, "a property has no end");
	}
	before = at;
	at += 8 + (format > 2 ? 2 * 4 : 0);
	if (at > n || (format == KNOWN_FORMAT && (at == n || b[at] != OTF2_ENDS_FILE))) {
		return bad_anchor(o, at < n ? at : n, "the end of the file is missing");
	}
	return 0;
}

/* Checks the anchor file before the library reads it: the library allocates memory for each number in it without a
 * limit, and leaves the file open on an error. */
static int check_bytes(struct otf2_in *o, const unsigned char *b, size_t n)
{
	uint64_t chunk;
	size_t i;

	if (n < ANCHOR_TEXTS || b[0] != OTF2_BEGINS_CHUNK || memcmp(b + ANCHOR_NAME, "OTF2", 5) != 0 ||
		b[ANCHOR_FORMAT] == 0) {
		return bad_anchor(o, 0, "this is no anchor file of OTF2");
	}
	if (b[ANCHOR_ORDER] != LITTLE && b[ANCHOR_ORDER] != BIG) {
		return bad_anchor(o, ANCHOR_ORDER, "the byte order is none");
	}
	o->big = b[ANCHOR_ORDER] == BIG;
	for (i = ANCHOR_CHUNKS; i < ANCHOR_CHUNKS + 16; i += 8) {
		chunk = tkm_get64(b + i, o->big);
		o->chunk[i > ANCHOR_CHUNKS] = chunk;
		if (chunk < OTF2_CHUNK_SIZE_MIN || chunk > OTF2_CHUNK_SIZE_MAX) {
			return bad_anchor(o, i, "a size of chunks that OTF2 does not allow");
		}
	}
	if (b[ANCHOR_SUBSTRATE] != OTF2_SUBSTRATE_POSIX) {
		return bad_anchor(o, ANCHOR_SUBSTRATE, "no archive of plain files; SION containers are not read");
	}
	if (b[ANCHOR_COMPRESSION] != OTF2_COMPRESSION_NONE) {
		return bad_anchor(o, ANCHOR_COMPRESSION, "compressed archives are not read");
	}
	i = skip_texts(b, ANCHOR_TEXTS, n, 3); /* machine, creator, description */
	if (!i) {
		return bad_anchor(o, ANCHOR_TEXTS, "a text has no end");
	}
	return b[ANCHOR_FORMAT] > 1 ? check_properties(o, b, i, n) : 0;
}

int otf2_check_anchor(struct otf2_in *o)
{
	FILE *f = fopen(o->in->path, "re");
	unsigned char *b;
	struct stat st;
	size_t n;
	int rc;

	if (!f) {
		return 0; /* the library reports why it cannot be opened */
	}
	n = fstat(fileno(f), &st) == 0 && st.st_size < ANCHOR_SIZE ? (size_t)st.st_size : ANCHOR_SIZE;
	b = malloc(n + 1);
	rc = b ? check_bytes(o, b, fread(b, 1, n, f)) : xch_fail_memory(o->err, o->in->path);
	fclose(f);
	free(b);
	return rc;
}

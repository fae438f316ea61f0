/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the anchor file of an OTF2 archive. */
#include "config.h"
#include "exchange/otf2_in.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"

/* Offsets of the numbers in the anchor file for which the library allocates memory without a limit. */
enum {
	ANCHOR_ORDER = 1,
	ANCHOR_NAME = 2,
	ANCHOR_CHUNKS = 12,
	ANCHOR_SUBSTRATE = 28,
	ANCHOR_TEXTS = 46,
	ANCHOR_SIZE = 1 << 20,
	LITTLE = 'B',
	BIG = '#'
};

static int bad_anchor(const struct otf2_in *o, size_t offset, const char *what)
{
	return tkm_fail(o->err, TKM_ERR_FORMAT, "%s: offset %zu: %s", o->in->path, offset, what);
}

/* Checks the anchor file before the library reads it: the sizes of chunks, and the number of properties, each of
 * which has two texts. */
static int check_bytes(struct otf2_in *o, const unsigned char *b, size_t n)
{
	size_t at = ANCHOR_TEXTS, i;
	const unsigned char *zero;
	uint64_t chunk;

	if (n < ANCHOR_TEXTS || memcmp(b + ANCHOR_NAME, "OTF2", 4) != 0) {
		return bad_anchor(o, ANCHOR_NAME, "this is no anchor file of OTF2");
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
	o->plain = b[ANCHOR_SUBSTRATE] == OTF2_SUBSTRATE_POSIX && b[ANCHOR_SUBSTRATE + 1] == OTF2_COMPRESSION_NONE;
	for (i = 0; i < 3; i++) { /* machine, creator, description */
		zero = memchr(b + at, 0, n - at);
		if (!zero) {
			return bad_anchor(o, at, "a text has no end");
		}
		at = (size_t)(zero - b) + 1;
	}
	return n - at < 4 || tkm_get32(b + at, o->big) > (n - at) / 2
		? bad_anchor(o, at, "more properties than the file has room for")
		: 0;
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

/* Checks the marks at the end of a chunk and of the file, which OTF2 writes last. */
static const unsigned char end_of_file[] = { 2, 1 };

int otf2_check_end(const struct otf2_in *o, uint64_t location, const char *suffix)
{
	size_t n = strlen(o->in->path), k = strlen(".otf2");
	unsigned char end[sizeof(end_of_file)];
	char *path;
	int rc = 0;
	FILE *f;

	n -= n > k && !strcmp(o->in->path + n - k, ".otf2") ? k : 0;
	if (asprintf(&path, "%.*s/%" PRIu64 "%s", (int)n, o->in->path, location, suffix) < 0) {
		return xch_fail_memory(o->err, o->in->path);
	}
	f = o->plain ? fopen(path, "re") : NULL;
	if (f &&
		(fseek(f, -(long)sizeof(end), SEEK_END) != 0 || fread(end, 1, sizeof(end), f) != sizeof(end) ||
			memcmp(end, end_of_file, sizeof(end)) != 0)) {
		rc = tkm_fail(o->err, TKM_ERR_FORMAT, "%s: offset %ld: the end of the file is missing", path, ftell(f));
	}
	if (f) {
		fclose(f);
	}
	free(path);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the anchor file of an OTF2 archive. */
#include "config.h"
#include "exchange/otf2/otf2_in.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"

/* Offsets in the anchor file. */
enum {
	ANCHOR_ORDER = 1,
	ANCHOR_NAME = 2,
	ANCHOR_FORMAT = 7,
	ANCHOR_VERSION = 8,
	ANCHOR_CHUNKS = 12,
	ANCHOR_SUBSTRATE = 28,
	ANCHOR_COMPRESSION = 29,
	ANCHOR_TEXTS = 46,
	ANCHOR_SIZE = 1 << 20,
	KNOWN_FORMAT = 3, /* later formats may have more fields at the end */
	LITTLE = 'B',
	BIG = '#'
};

static int bad_anchor(const struct xch_otf2_in *o, size_t offset, const char *what)
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

/* Is it a name as the library wants it: NAMESPACE::NAME, of letters, digits and "_"? */
static int is_property_name(const char *s)
{
	int separated = 0;

	for (; *s; s++) {
		if (s[0] == ':' && s[1] == ':') {
			separated = 1;
			s++;
		} else if (!(*s >= '0' && *s <= '9') && !(*s >= 'A' && *s <= 'Z') && !(*s >= 'a' && *s <= 'z') &&
			*s != '_') {
			return 0;
		}
	}
	return separated;
}

/* Returns the offset of the first property whose name is not as the library wants it; 0: there is none. */
static size_t odd_property(const unsigned char *b, size_t at, size_t n, uint64_t properties)
{
	for (; properties > 0; properties--, at = skip_texts(b, at, n, 2)) {
		if (!is_property_name((const char *)b + at)) {
			return at;
		}
	}
	return 0;
}

/* Checks what follows the texts of format 2 on: properties, an id, two numbers and the mark at the end. */
static int check_properties(struct xch_otf2_in *o, const unsigned char *b, size_t at, size_t n)
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
	o->odd_property = odd_property(b, before + 4, n, tkm_get32(b + before, o->big));
	at += 8 + (format > 2 ? 2 * 4 : 0);
	if (at > n || (format == KNOWN_FORMAT && (at == n || b[at] != OTF2_ENDS_FILE))) {
		return bad_anchor(o, at < n ? at : n, "the end of the file is missing");
	}
	return 0;
}

/* Checks the anchor file before the library reads it: the library allocates memory for each number in it without a
 * limit, and leaves the file open on an error. */
static int check_bytes(struct xch_otf2_in *o, const unsigned char *b, size_t n)
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

static int check_anchor(struct xch_otf2_in *o)
{
	FILE *f = fopen(o->in->path, "re");
	unsigned char *b;
	struct stat st;
	size_t n;
	int rc;

	if (!f) {
		return tkm_fail_errno(o->err, TKM_ERR_IO, errno, "cannot read %s", o->in->path);
	}
	n = fstat(fileno(f), &st) == 0 && st.st_size < ANCHOR_SIZE ? (size_t)st.st_size : ANCHOR_SIZE;
	b = malloc(n + 1);
	rc = b ? check_bytes(o, b, fread(b, 1, n, f)) : xch_fail_memory(o->err, o->in->path);
	fclose(f);
	free(b);
	return rc;
}

static int is_anchor_name(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 5 && !strcmp(d->d_name + n - 5, ".otf2");
}

/* The anchor file of an archive that is given as its folder: traces.otf2, as of Score-P, or the only one of another name.
 * NULL: there is none. The caller frees it. */
static char *anchor_of(const char *folder)
{
	struct dirent **list = NULL;
	int n = scandir(folder, &list, is_anchor_name, alphasort), i, chosen = n == 1 ? 0 : -1;
	char *path = NULL;

	for (i = 0; i < n && chosen < 0; i++) {
		chosen = strcmp(list[i]->d_name, "traces.otf2") ? -1 : i;
	}
	if (chosen >= 0 && asprintf(&path, "%s/%s", folder, list[chosen]->d_name) < 0) {
		path = NULL;
	}
	while (n > 0) {
		free(list[--n]);
	}
	free(list);
	return path;
}

int xch_otf2_is(const char *path, const unsigned char *head, size_t n)
{
	char *anchor = n ? NULL : anchor_of(path);
	int is = anchor != NULL;

	(void)head;
	free(anchor);
	return is;
}

/* Lets in->path be the anchor file. Its folder comes back in xch_otf2_in_free(). */
static int find_anchor(struct xch_otf2_in *o)
{
	struct stat st;

	if (stat(o->in->path, &st) < 0 || !S_ISDIR(st.st_mode)) {
		return 0;
	}
	o->anchor = anchor_of(o->in->path);
	if (!o->anchor) {
		return tkm_fail(o->err, TKM_ERR_FORMAT, "%s: this folder has no traces.otf2", o->in->path);
	}
	o->folder = o->in->path;
	o->in->path = o->anchor;
	return 0;
}

int xch_otf2_in_open(struct xch_otf2_in *o)
{
	if (find_anchor(o) < 0 || check_anchor(o) < 0) {
		return -1;
	}
	xch_otf2_errors_begin(&o->errors);
	o->reader = OTF2_Reader_Open(o->in->path);
	if (o->reader && OTF2_Reader_SetSerialCollectiveCallbacks(o->reader) == OTF2_SUCCESS) {
		return 0;
	}
	/* of what the library compares, only the version and the names of properties are left */
	xch_otf2_damaged(o, ".otf2", o->odd_property ? o->odd_property : ANCHOR_VERSION, "cannot open the archive: %s",
		*o->errors.text ? o->errors.text : "OTF2 gives no reason");
	xch_otf2_in_close(o);
	return -1;
}

void xch_otf2_in_close(struct xch_otf2_in *o)
{
	if (o->reader) {
		OTF2_Reader_Close(o->reader);
	}
	o->reader = NULL;
	xch_otf2_errors_end(&o->errors);
}

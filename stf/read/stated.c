/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what the index states about the bytes of the components, and the checksum of the base file itself. */
#include "config.h"
#include "stf/format/hash.h"
#include "stf/read/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"

#define PIECE (256u << 10) /* small enough to stay in the cache between reading and hashing */
#define LONGEST_SUFFIX 203
#define BASE_END 48 /* the text at the end of a base file has at most this many bytes */

int stf_hash_file(int fd, const char *name, uint64_t start, uint64_t size, uint64_t *hash, struct stf_err *err)
{
	uint8_t *buf = malloc(PIECE);
	void *h = stf_hash_new();
	uint64_t at = 0, left;
	int rc = -1;
	ssize_t n;

	if (!buf || !h) {
		stf_no_memory(err);
		goto out;
	}
	while (at < size) {
		left = size - at;
		n = pread(fd, buf, left < PIECE ? (size_t)left : PIECE, (off_t)(start + at));
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			stf_fail_errno(err, n ? errno : EIO, name, "cannot read");
			goto out;
		}
		stf_hash_add(h, buf, (size_t)n);
		at += (uint64_t)n;
	}
	*hash = stf_hash_value(h);
	rc = 0;
out:
	stf_hash_free(h);
	free(buf);
	return rc;
}

/* ---- the checksum of the base file ---- */

/* A base file of SIZE + 16 bytes ends with "base SIZE xxh3:" and 16 digits. */
static int read_end(const char *p, uint64_t size, uint64_t *hash)
{
	char want[BASE_END + 1], digits[17] = "";
	int n = snprintf(want, sizeof(want), "base %llu xxh3:", (unsigned long long)size - 16);

	memcpy(digits, p + BASE_END - 16, 16);
	if (memcmp(p + BASE_END - 16 - n, want, (size_t)n) != 0 || strspn(digits, "0123456789abcdef") != 16) {
		return -1;
	}
	*hash = strtoull(digits, NULL, 16);
	return 0;
}

int stf_check_base(struct stf_reader *r, const struct stf_source *s, struct stf_err *err)
{
	char end[BASE_END];
	size_t n = 0;
	ssize_t got;

	if (!stf_hash_there() || s->size <= BASE_END) {
		return 0;
	}
	while (n < BASE_END) {
		got = pread(s->fd, end + n, BASE_END - n, (off_t)(s->place.start + s->size - BASE_END + n));
		if (got < 0 && errno != EINTR) {
			return stf_fail_errno(err, errno, s->path, "cannot read");
		}
		if (got == 0) {
			return 0; /* the file is cut: the reader reports this at its end */
		}
		n += got > 0 ? (size_t)got : 0;
	}
	if (read_end(end, s->size, &r->base_want) < 0) {
		return 0;
	}
	if (stf_hash_file(s->fd, s->path, s->place.start, s->size - 16, &r->base_hash, err) < 0) {
		return -1;
	}
	r->base_stated = 1;
	r->base_is_good = r->base_hash == r->base_want;
	return 0;
}

/* ---- components ---- */

static uint64_t key_of(const char *suffix, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < n; i++) {
		h = (h ^ (uint8_t)suffix[i]) * 0x100000001b3u;
	}
	h ^= h >> 31;
	return h ? h : 1;
}

/* Where the statements about this suffix are kept; an entry is made if there is none. NULL: no memory. */
static struct stf_stated *place_of(struct stf_reader *r, const char *suffix, size_t n)
{
	uint64_t key = key_of(suffix, n);
	const uint64_t *at = stf_map_find(&r->stated_at, key);
	struct stf_stated *p;

	if (at) {
		return &r->stated[*at];
	}
	p = TKM_APPEND(r->stated, r->n_stated);
	if (!p || stf_map_add(&r->stated_at, key, r->n_stated - 1) < 0) {
		return NULL;
	}
	return p;
}

/* Parses "SUFFIX SIZE xxh3:HASH" or "SUFFIX blocks LENGTH TIME HASH ...". */
static int take_statement(struct stf_reader *r, const char *text, size_t size)
{
	size_t n = strcspn(text, " ");
	unsigned long long bytes, hash;
	struct stf_stated *p;
	int end = -1;

	if (n == size || n > LONGEST_SUFFIX) {
		return 0;
	}
	if (strncmp(text + n, " blocks", 7) == 0 && (text[n + 7] == ' ' || text[n + 7] == 0)) {
		p = place_of(r, text, n);
		if (p && !p->blocks) {
			p->blocks = text + n + 7;
			p->n_blocks = size - n - 7;
		}
		return p ? 0 : -1;
	}
	if (sscanf(text + n, " %llu xxh3:%16llx%n", &bytes, &hash, &end) == 2 && end > 0 && !text[n + (size_t)end]) {
		p = place_of(r, text, n);
		if (p && !p->has_hash) {
			p->has_hash = 1;
			p->size = bytes;
			p->hash = hash;
		}
		return p ? 0 : -1;
	}
	return 0;
}

/* Finds the class of these records. A base file that ends with its checksum states the class there, so that
 * damaged names in .dcl do not matter. In other base files the name of the class decides. */
static int is_integrity(const struct stf_reader *r, const struct stf_record *rec, const struct stf_record *last)
{
	const char *cls;

	if (r->base_is_good && last && strncmp(stf_value(last, "info")->array, "base ", 5) == 0) {
		return stf_value(rec, "info_class")->u == stf_value(last, "info_class")->u;
	}
	cls = stf_reader_name(r, STF_ID_class_definition, (uint32_t)stf_value(rec, "info_class")->u);
	return cls && strcmp(cls, "integrity") == 0;
}

/* Parses "SUFFIX COUNT MOST". */
static int take_late(struct stf_reader *r, const char *text)
{
	size_t n = strcspn(text, " ");
	unsigned long long count, most;
	struct stf_stated *p;

	if (n > LONGEST_SUFFIX || sscanf(text + n, " %llu %llu", &count, &most) != 2) {
		return 0;
	}
	p = place_of(r, text, n);
	if (p && !p->has_late) {
		p->has_late = 1;
		p->late = most;
	}
	return p ? 0 : -1;
}

static int is_late(const struct stf_reader *r, const struct stf_record *rec)
{
	const char *cls = stf_reader_name(r, STF_ID_class_definition, (uint32_t)stf_value(rec, "info_class")->u);

	return cls && strcmp(cls, "late") == 0;
}

int stf_reader_read_stated(struct stf_reader *r, struct stf_err *err)
{
	const struct stf_table *t = &r->table[STF_ID_info];
	const struct stf_record *last = t->n ? t->record[t->n - 1] : NULL;
	size_t i;

	r->n_stated = 0;
	stf_map_free(&r->stated_at);
	for (i = 0; i < t->n; i++) {
		const struct stf_value *v = stf_value(t->record[i], "info");

		if ((is_integrity(r, t->record[i], last) && take_statement(r, v->array, v->count) < 0) ||
			(is_late(r, t->record[i]) && take_late(r, v->array) < 0)) {
			return stf_no_memory(err);
		}
	}
	return 0;
}

struct stf_stated *stf_reader_stated(const struct stf_reader *r, const char *suffix)
{
	const uint64_t *at = stf_map_find(&r->stated_at, key_of(suffix, strlen(suffix)));

	return at ? &r->stated[*at] : NULL;
}

int stf_reader_blocks(const struct stf_reader *r, const char *suffix, struct stf_blocks *l, struct stf_err *err)
{
	const struct stf_stated *p = stf_reader_stated(r, suffix);
	int rc = p && p->blocks ? stf_blocks_parse(l, p->blocks, p->n_blocks) : 0;

	if (rc < 0) {
		stf_blocks_free(l);
		return rc == -2 ? stf_no_memory(err)
				: stf_fail(err, STF_ERR_FORMAT, r->archive.path, 0, 0,
					  "the checksums that the index states for %.203s are damaged", suffix);
	}
	return 0;
}

int stf_reader_find_files(struct stf_reader *r)
{
	const struct stf_table *f = &r->table[STF_ID_file_declaration], *a = &r->table[STF_ID_anchor_file_declaration];
	size_t i;

	for (i = 0; i < f->n; i++) {
		const struct stf_value *v = stf_value(f->record[i], "suffix");

		if (stf_map_add(&r->files_at, key_of(v->array, v->count), i + 1) < 0) {
			return -1;
		}
	}
	for (i = 0; i < a->n; i++) {
		if (stf_map_add(&r->anchors_of, 1 + stf_value(a->record[i], "data_file")->u, i + 1) < 0) {
			return -1;
		}
	}
	return 0;
}

const struct stf_record *stf_reader_file(const struct stf_reader *r, const char *suffix)
{
	const uint64_t *at = stf_map_find(&r->files_at, key_of(suffix, strlen(suffix)));
	const struct stf_record *rec = at ? r->table[STF_ID_file_declaration].record[*at - 1] : NULL;

	return rec && strcmp(stf_value(rec, "suffix")->array, suffix) == 0 ? rec : NULL;
}

const struct stf_record *stf_reader_anchors_of(const struct stf_reader *r, uint32_t file)
{
	const uint64_t *at = stf_map_find(&r->anchors_of, 1 + (uint64_t)file);

	return at ? r->table[STF_ID_anchor_file_declaration].record[*at - 1] : NULL;
}

int stf_reader_damage(const struct stf_reader *r, size_t i, struct stf_damage *out)
{
	if (i >= r->damages.n) {
		return 0;
	}
	*out = r->damages.d[i];
	return 1;
}

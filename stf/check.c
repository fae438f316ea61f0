/* SPDX-License-Identifier: BSD-3-Clause */
/* The components of a trace against the sizes and checksums that its index states. */
#include "config.h"
#include "stf/hash.h"
#include "stf/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (256u << 10) /* stays in the cache between reading and hashing */

/* What the trace says of the component; 0: nothing. */
static int find_statement(const struct stf_reader *r, const char *suffix, int packed, struct stf_check *c)
{
	unsigned long long size, hash;
	const char *cls, *text;
	char name[204], want[208];
	size_t i;

	snprintf(want, sizeof(want), "%.200s%s", suffix, packed ? ".zst" : "");
	for (i = 0; stf_reader_info(r, i, &cls, &text) == 0; i++) {
		if (cls && strcmp(cls, "integrity") == 0 &&
		    sscanf(text, "%203s %llu xxh3:%16llx", name, &size, &hash) == 3 && strcmp(name, want) == 0) {
			c->want_size = size;
			c->want_hash = hash;
			return 1;
		}
	}
	return 0;
}

static int hash_bytes(int fd, const struct stx_place *p, uint64_t size, void *h, struct stf_err *err)
{
	uint8_t *buf = malloc(PIECE);
	uint64_t at = 0, left;
	ssize_t n;

	if (!buf) {
		return stx_no_memory(err);
	}
	while (at < size) {
		left = size - at;
		n = pread(fd, buf, left < PIECE ? (size_t)left : PIECE, (off_t)(p->start + at));
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			free(buf);
			return stx_fail_errno(err, n ? errno : EIO, p->name, "cannot read");
		}
		stx_hash_add(h, buf, (size_t)n);
		at += (uint64_t)n;
	}
	free(buf);
	return 0;
}

/* Size and hash of what is there; of a single file only what its directory claims and it has. */
static int measure(const struct stx_place *p, struct stf_check *c, struct stf_err *err)
{
	int fd = open(p->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = -1;
	void *h = stx_hash_new();
	struct stat st;
	uint64_t all;

	if (!h && stx_hash_there()) {
		stx_no_memory(err);
		goto out;
	}
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		stx_fail_errno(err, fd < 0 ? errno : EINVAL, p->name, "cannot read");
		goto out;
	}
	all = (uint64_t)st.st_size;
	c->size = all < p->start ? 0 : all - p->start < p->size ? all - p->start : p->size;
	rc = 0;
	if (h && c->size == c->want_size) {
		rc = hash_bytes(fd, p, c->size, h, err);
		c->hash = stx_hash_value(h);
	}
out:
	if (fd >= 0) {
		close(fd);
	}
	stx_hash_free(h);
	return rc;
}

int stf_reader_check(struct stf_reader *r, size_t i, struct stf_check *out, struct stf_err *err)
{
	const struct stf_record *f = stf_reader_record(r, STF_ID_file_declaration, i);
	struct stx_place p;
	int known, rc;

	memset(out, 0, sizeof(*out));
	if (!f) {
		return 0;
	}
	snprintf(out->suffix, sizeof(out->suffix), "%.200s", (const char *)stf_value(f, "suffix")->array);
	rc = stx_archive_find(&r->archive, out->suffix, &p, err);
	if (rc < 0) {
		return -1;
	}
	if (rc == 0) {
		out->result = STF_CHECK_MISSING;
		return 1;
	}
	known = find_statement(r, out->suffix, p.compressed, out);
	rc = measure(&p, out, err);
	stx_place_free(&p);
	out->result = !known ? STF_CHECK_UNKNOWN
		      : out->size != out->want_size ? STF_CHECK_SIZE
		      : !stx_hash_there() ? STF_CHECK_UNKNOWN
		      : out->hash != out->want_hash ? STF_CHECK_HASH : STF_CHECK_GOOD;
	return rc < 0 ? -1 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the components of a trace with the sizes and checksums that its index states. */
#include "config.h"
#include "stf/format/hash.h"
#include "stf/read/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Finds the size and the hash of a component. In a single file, its size is limited to what the directory states
 * and the file has. */
static int measure(const struct stf_place *p, struct stf_check *c, struct stf_err *err)
{
	int fd = open(p->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;
	struct stat st;
	uint64_t all;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		rc = stf_fail_errno(err, fd < 0 ? errno : EINVAL, p->name, "cannot read");
		goto out;
	}
	all = (uint64_t)st.st_size;
	c->size = all < p->start ? 0 : all - p->start < p->size ? all - p->start : p->size;
	if (stf_hash_there() && c->size == c->want_size) {
		rc = stf_hash_file(fd, p->name, p->start, c->size, &c->hash, err);
	}
out:
	if (fd >= 0) {
		close(fd);
	}
	return rc;
}

/* Checks one component. -1: it could not be read. */
static int check_one(const struct stf_reader *r, const char *suffix, struct stf_check *out, struct stf_err *err)
{
	const struct stf_stated *s;
	struct stf_place p;
	int rc;

	memset(out, 0, sizeof(*out));
	snprintf(out->suffix, sizeof(out->suffix), "%.203s", suffix);
	rc = stf_archive_find(&r->archive, suffix, &p, err);
	if (rc <= 0) {
		out->result = STF_CHECK_MISSING;
		return rc;
	}
	snprintf(out->suffix, sizeof(out->suffix), "%.199s%s", suffix, p.compressed ? ".zst" : "");
	s = stf_reader_stated(r, out->suffix);
	snprintf(out->suffix, sizeof(out->suffix), "%.203s", suffix);
	if (s && s->has_hash) {
		out->want_size = s->size;
		out->want_hash = s->hash;
	}
	rc = measure(&p, out, err);
	stf_place_free(&p);
	out->result = !s || !s->has_hash      ? STF_CHECK_UNKNOWN
		: out->size != out->want_size ? STF_CHECK_SIZE
		: !stf_hash_there()           ? STF_CHECK_UNKNOWN
		: out->hash != out->want_hash ? STF_CHECK_HASH
					      : STF_CHECK_GOOD;
	return rc;
}

int stf_reader_check(struct stf_reader *r, size_t i, struct stf_check *out, struct stf_err *err)
{
	const struct stf_record *f = stf_reader_record(r, STF_ID_file_declaration, i);

	memset(out, 0, sizeof(*out));
	if (!f) {
		return 0;
	}
	return check_one(r, stf_value(f, "suffix")->array, out, err) < 0 ? -1 : 1;
}

int stf_check_whole(struct stf_reader *r, const struct stf_record *file, struct stf_err *err)
{
	const char *suffix = stf_value(file, "suffix")->array;
	struct stf_stated *s = stf_reader_stated(r, suffix);
	struct stf_damage d = { .file = (uint32_t)stf_value(file, "id")->u, .suffix = suffix };
	struct stf_check c;
	char packed[212];

	if (!s) {
		snprintf(packed, sizeof(packed), "%.203s.zst", suffix);
		s = stf_reader_stated(r, packed);
	}
	if (!stf_hash_there() || (s && (s->blocks || s->checked))) {
		return s && s->checked < 0
			? stf_fail(err, STF_ERR_CHECKSUM, r->archive.path, 0, 0, "%s is damaged", suffix)
			: 0;
	}
	if (check_one(r, suffix, &c, err) < 0) {
		return -1;
	}
	if (s) {
		s->checked = c.result == STF_CHECK_HASH ? -1 : 1;
	}
	if (c.result != STF_CHECK_HASH) {
		return 0; /* the reader reports a wrong size when it reaches the end */
	}
	d.size = c.size;
	if (stf_damages_add(&r->damages, &d) < 0) {
		return stf_no_memory(err);
	}
	return stf_fail(err, STF_ERR_CHECKSUM, r->archive.path, 0, 0,
		"%s has the checksum %016llx, the index states %016llx: any "
		"of its records may be wrong",
		suffix, (unsigned long long)c.hash, (unsigned long long)c.want_hash);
}

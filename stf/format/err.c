/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors, growing memory, and the map of ids. */
#include "config.h"
#include "stf/format/private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"

static void set_file(struct stf_err *e, const char *file)
{
	size_t n = file ? strlen(file) : 0;

	/* the end of a long path is more useful than its start */
	if (n >= sizeof(e->file)) {
		file += n - (sizeof(e->file) - 1);
		n = sizeof(e->file) - 1;
	}
	memcpy(e->file, file ? file : "", n);
	e->file[n] = 0;
}

int stf_fail(
	struct stf_err *e, enum stf_code code, const char *file, uint64_t offset, uint64_t record, const char *fmt, ...)
{
	va_list ap;

	e->code = code;
	set_file(e, file);
	e->offset = offset;
	e->record = record;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return -1;
}

int stf_fail_errno(struct stf_err *e, int errnum, const char *file, const char *what)
{
	enum stf_code code = errnum == EEXIST ? STF_ERR_EXISTS : errnum == ENOMEM ? STF_ERR_NOMEM : STF_ERR_IO;
	char reason[128];

	/* the GNU strerror_r may return a static text instead of filling the buffer */
	return stf_fail(e, code, file, 0, 0, "%s: %s", what, strerror_r(errnum, reason, sizeof(reason)));
}

int stf_reject(struct stf_err *e, const char *record, const char *why, uint64_t n)
{
	/* the error that stopped the writer must not be overwritten */
	if (stf_is_fatal(e)) {
		return -1;
	}
	return stf_fail(e, STF_ERR_ARG, NULL, 0, 0, "%s: %s (%llu)", record, why, (unsigned long long)n);
}

int stf_refuse_count(struct stf_err *e, const char *record, uint64_t too_many)
{
	return stf_reject(e, record,
		too_many ? "more elements than its size field can hold" : "an array is NULL though its size is not 0",
		too_many);
}

int stf_version(void)
{
	return STF_VERSION;
}

int stf_take_options(void *to, size_t have, const void *from, size_t first, const char *name, struct stf_err *err)
{
	const unsigned char *p = from;
	size_t size, i;

	memcpy(&size, from, sizeof(size));
	size = size ? size : first;
	if (size < first) {
		return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "%s: a size of %zu bytes is too small", name, size);
	}
	for (i = have; i < size; i++) {
		if (p[i]) {
			return stf_fail(err, STF_ERR_ARG, NULL, 0, 0,
				"%s: an option that version " STF_VERSION_TEXT " of the library does not know", name);
		}
	}
	memset(to, 0, have);
	memcpy(to, from, size < have ? size : have);
	return 0;
}

int stf_no_memory(struct stf_err *e)
{
	return stf_fail(e, STF_ERR_NOMEM, NULL, 0, 0, "not enough memory");
}

int stf_buf_reserve(struct stf_buf *b, size_t n)
{
	if (n > SIZE_MAX - b->n || TKM_GROW(b->p, b->cap, b->n + n) < 0) {
		b->failed = 1;
		return -1;
	}
	return 0;
}

void stf_buf_add(struct stf_buf *b, const void *p, size_t n)
{
	if (n && stf_buf_reserve(b, n) == 0) {
		memcpy(b->p + b->n, p, n);
		b->n += n;
	}
}

void stf_buf_printf(struct stf_buf *b, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(line)) {
		b->failed = 1;
		return;
	}
	stf_buf_add(b, line, (size_t)n);
}

struct stf_pair {
	uint64_t key, value;
	UT_hash_handle hh;
};

int stf_map_add(struct stf_map *m, uint64_t key, uint64_t value)
{
	struct stf_pair *p;

	HASH_FIND(hh, m->first, &key, sizeof(key), p);
	if (p) {
		return 0;
	}
	p = malloc(sizeof(*p));
	if (!p) {
		return -1;
	}
	p->key = key;
	p->value = value;
	HASH_ADD(hh, m->first, key, sizeof(p->key), p);
	if (!p->hh.tbl) {
		free(p);
		return -1;
	}
	return 1;
}

const uint64_t *stf_map_find(const struct stf_map *m, uint64_t key)
{
	struct stf_pair *p;

	HASH_FIND(hh, m->first, &key, sizeof(key), p);
	return p ? &p->value : NULL;
}

void stf_map_free(struct stf_map *m)
{
	struct stf_pair *p = m->first, *next;

	HASH_CLEAR(hh, m->first);
	for (; p; p = next) {
		next = p->hh.next;
		free(p);
	}
}

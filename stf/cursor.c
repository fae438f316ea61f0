/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of one component, or of all data files merged by time. */
#include "config.h"
#include "stf/reader.h"

#include <stdlib.h>
#include <unistd.h>

struct stf_cursor {
	struct stf_reader *reader;
	struct stx_source **heap; /* by the time of their next record, which stands in source->record */
	size_t n;
	struct stx_source *given; /* its record was handed out last and is to be replaced by its next */
	struct stf_err fault;     /* the first of all files */
};

static int earlier(const struct stx_source *a, const struct stx_source *b)
{
	return a->record.time != b->record.time ? a->record.time < b->record.time : a->number_in_trace < b->number_in_trace;
}

static void sift_down(struct stf_cursor *c, size_t i)
{
	struct stx_source *s = c->heap[i];
	size_t k;

	while ((k = 2 * i + 1) < c->n) {
		if (k + 1 < c->n && earlier(c->heap[k + 1], c->heap[k])) {
			k++;
		}
		if (!earlier(c->heap[k], s)) {
			break;
		}
		c->heap[i] = c->heap[k];
		i = k;
	}
	c->heap[i] = s;
}

/* Next record of a source. 0 at its end or fault, which is kept for the end of the merge. */
static int advance(struct stf_cursor *c, struct stx_source *s)
{
	uint64_t before = s->skipped;
	struct stf_err err = { .code = STF_OK };
	int rc = stx_source_next(s, &err);

	c->reader->skipped += s->skipped - before;
	if (rc > 0 && c->reader->flags & STF_READ_CHECK_REFS && stx_check_references(c->reader, s, &s->record, &err) < 0) {
		rc = -1;
	}
	if (rc < 0 && c->fault.code == STF_OK) {
		c->fault = err;
	}
	return rc > 0;
}

/* Adds a source; takes it over. */
static int add_source(struct stf_cursor *c, struct stx_source *s)
{
	struct stx_source **p = realloc(c->heap, (c->n + 1) * sizeof(*p));

	if (!p) {
		stx_source_close(s);
		return -1;
	}
	c->heap = p;
	s->number_in_trace = c->n;
	c->heap[c->n++] = s;
	return 0;
}

static int add_index(struct stf_cursor *c, struct stf_err *err)
{
	struct stx_source *s = stx_source_open(c->reader->path, "", err);

	if (!s) {
		return -1;
	}
	s->defs = &c->reader->defs;
	s->offset = c->reader->index_at;
	if (lseek(s->fd, (off_t)s->offset, SEEK_SET) < 0 || s->size < s->offset) {
		stx_source_close(s);
		return stx_fail(err, STF_ERR_IO, c->reader->path, 0, 0, "the file became shorter while it was read");
	}
	return add_source(c, s) < 0 ? stx_no_memory(err) : 0;
}

static int add_files(struct stf_cursor *c, const char *suffix, struct stf_err *err)
{
	const struct stf_record *f;
	struct stf_file_declaration d;
	struct stx_source *s;
	size_t i;

	for (i = 0; (f = stf_reader_record(c->reader, STF_ID_file_declaration, i)); i++) {
		stf_get_file_declaration(f, &d);
		if (suffix ? strcmp(d.suffix, suffix) != 0 : d.filetype != STF_DATA_FILE) {
			continue;
		}
		s = stx_reader_source(c->reader, f, err);
		if (!s) {
			return -1;
		}
		if (add_source(c, s) < 0) {
			return stx_no_memory(err);
		}
		if (suffix) {
			return 0;
		}
	}
	if (suffix) {
		return stx_fail(err, STF_ERR_ARG, c->reader->path, 0, 0, "this trace declares no component \"%s\"", suffix);
	}
	return 0;
}

/* Reads the first record of every source; those that have none leave the heap. */
static void prime(struct stf_cursor *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->n; i++) {
		if (advance(c, c->heap[i])) {
			c->heap[n++] = c->heap[i];
		} else {
			stx_source_close(c->heap[i]);
		}
	}
	c->n = n;
	for (i = n / 2; i-- > 0;) {
		sift_down(c, i);
	}
}

struct stf_cursor *stf_cursor_open(struct stf_reader *r, const char *suffix, struct stf_err *err)
{
	struct stf_cursor *c = calloc(1, sizeof(*c));
	int rc;

	err->code = STF_OK;
	if (!c) {
		stx_no_memory(err);
		return NULL;
	}
	c->reader = r;
	rc = suffix && !*suffix ? add_index(c, err) : add_files(c, suffix, err);
	if (rc < 0) {
		stf_cursor_close(c);
		return NULL;
	}
	prime(c);
	return c;
}

int stf_cursor_next(struct stf_cursor *c, const struct stf_record **rec, struct stf_err *err)
{
	if (c->given) {
		if (!advance(c, c->given)) {
			stx_source_close(c->given);
			c->heap[0] = c->heap[--c->n];
		}
		if (c->n) {
			sift_down(c, 0);
		}
		c->given = NULL;
	}
	if (c->n) {
		c->given = c->heap[0];
		*rec = &c->given->record;
		return 1;
	}
	if (c->fault.code != STF_OK) {
		*err = c->fault;
		return -1;
	}
	return 0;
}

void stf_cursor_close(struct stf_cursor *c)
{
	size_t i;

	if (!c) {
		return;
	}
	for (i = 0; i < c->n; i++) {
		stx_source_close(c->heap[i]);
	}
	free(c->heap);
	free(c);
}

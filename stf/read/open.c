/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a trace for reading, and makes tables of its definition layer, index and declarations. */
#include "config.h"
#include "stf/read/reader.h"
#include "stf/component/frames.h"
#include "stf/format/hash.h"
#include "stf/component/spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"

/* ---- keeping records ---- */

/* Copies a record into one piece of memory: record, values, arrays. */
struct stf_record *stf_copy_record(const struct stf_record *r)
{
	const struct stf_layout *l = r->layout;
	size_t n = sizeof(*r) + l->n_fields * sizeof(*r->values), at = n, size;
	struct stf_value *v;
	struct stf_record *c;
	unsigned i;

	for (i = 0; i < l->n_fields; i++) {
		if (l->fields[i].is_array) {
			n += (r->values[i].count * (size_t)stf_type_size(l->fields[i].type) + 1 + 7) / 8 * 8;
		}
	}
	c = malloc(n);
	if (!c) {
		return NULL;
	}
	*c = *r;
	v = (struct stf_value *)(c + 1);
	memcpy(v, r->values, l->n_fields * sizeof(*v));
	c->values = v;
	for (i = 0; i < l->n_fields; i++) {
		if (l->fields[i].is_array) {
			size = v[i].count * (size_t)stf_type_size(l->fields[i].type) + 1;
			memcpy((char *)c + at, v[i].array, size);
			v[i].array = (char *)c + at;
			at += (size + 7) / 8 * 8;
		}
	}
	return c;
}

static int fault_in(const struct stf_source *s, const struct stf_record *r, struct stf_err *err, const char *what,
	const char *field, uint64_t id)
{
	return stf_fail(err, STF_ERR_REFERENCE, s->path, r->offset, r->number, "%s: %s %s (%llu)", r->layout->name,
		what, field, (unsigned long long)id);
}

static uint32_t element(const struct stf_value *v, const struct stf_field *f, uint32_t i)
{
	return f->type == STF_U1 ? ((const uint8_t *)v->array)[i] : ((const uint32_t *)v->array)[i];
}

int stf_check_references(
	const struct stf_reader *r, const struct stf_source *s, const struct stf_record *rec, struct stf_err *err)
{
	const struct stf_layout *l = rec->layout;
	uint32_t k, n, id;
	unsigned i;

	for (i = 0; i < l->n_fields; i++) {
		const struct stf_field *f = &l->fields[i];

		n = !f->ref_class ? 0 : f->is_array ? rec->values[i].count : 1;
		for (k = 0; k < n; k++) {
			id = f->is_array ? element(&rec->values[i], f, k) : (uint32_t)rec->values[i].u;
			/* 0 is "none", whether or not an id 0 is declared */
			if (id && !stf_map_find(&r->ids, STX_KEY(f->ref_class, id))) {
				return fault_in(s, rec, err, "refers to what was not declared,", f->name, id);
			}
		}
	}
	return 0;
}

static int keep_record(struct stf_reader *r, const struct stf_record *rec, struct stf_err *err)
{
	struct stf_table *t = &r->table[rec->layout->class_id];
	struct stf_record *c = stf_copy_record(rec), **place = c ? TKM_APPEND(t->record, t->n) : NULL;

	if (!place) {
		free(c);
		return stf_no_memory(err);
	}
	*place = c;
	return 0;
}

/* Fields are looked up by name, because only the record table knows where they are. */
static uint32_t number(const struct stf_record *r, const char *field)
{
	const struct stf_value *v = stf_value(r, field);

	return v ? (uint32_t)v->u : 0;
}

/* The willy records have no `id`; they are looked up by their willy. */
static int key_of(const struct stf_record *rec, uint64_t *key)
{
	const struct stf_layout *l = rec->layout;

	if (l->kind != STF_KIND_DECL && l->kind != STF_KIND_INDEX) {
		return 0;
	}
	if (l->n_fields &&
		(strcmp(l->fields[0].name, "id") == 0 || l->class_id == STF_ID_willy_definition ||
			l->class_id == STF_ID_willy_name)) {
		*key = STX_KEY(l->class_id, rec->values[0].u);
		return 1;
	}
	return 0;
}

static int add_record(struct stf_reader *r, const struct stf_source *s, int check, struct stf_err *err)
{
	const struct stf_record *rec = &s->record;
	uint64_t key;
	int rc;

	if (check && stf_check_references(r, s, rec, err) < 0) {
		return -1;
	}
	if (key_of(rec, &key)) {
		rc = stf_map_add(&r->ids, key, r->table[rec->layout->class_id].n + 1);
		if (rc < 0) {
			return stf_no_memory(err);
		}
		if (rc == 0) {
			return fault_in(s, rec, err, "declared twice,", rec->layout->fields[0].name, (uint32_t)key);
		}
	}
	return keep_record(r, rec, err);
}

/* ---- opening ---- */

static int begin_index(struct stf_reader *r, struct stf_source *s)
{
	stf_defs_bind(&r->defs);
	s->number = 0;
	r->index_at = s->offset + s->pos;
	return 0;
}

static int read_definitions(struct stf_reader *r, struct stf_source *s, struct stf_err *err)
{
	char *line;
	size_t n;
	uint64_t at = 0;
	int rc;

	if (r->flags & STF_READ_DAMAGED && r->flags & STF_READ_REPAIR && !r->base_is_good) {
		rc = stf_repair_layer(&r->defs, s, &r->faults, err);
		if (rc != 0) {
			r->first_fault = r->faults.n ? r->faults.fault[0] : r->first_fault;
			return rc < 0 ? -1 : begin_index(r, s);
		}
	}
	do {
		at = s->offset + s->pos;
		if (stf_source_line(s, &line, &n, err) < 0) {
			return -1;
		}
		rc = s->number == 1 ? stf_defs_head(&r->defs, line, n, err) : stf_defs_line(&r->defs, line, n, err);
	} while (rc == 0);
	if (rc < 0) {
		size_t len = strlen(s->path);

		/* the definition layer does not know its file and offset */
		if (len >= sizeof(err->file)) {
			len = sizeof(err->file) - 1;
		}
		memcpy(err->file, s->path + strlen(s->path) - len, len + 1);
		err->offset = at;
		err->record = s->number;
		return -1;
	}
	return begin_index(r, s);
}

/* Keeps the first fault for the report. Returns -1 if the fault ends the reading. */
static int keep_fault(struct stf_reader *r, const struct stf_err *e)
{
	if (r->first_fault.code == STF_OK) {
		r->first_fault = *e;
	}
	return stf_faults_add(&r->faults, e) == 0 && r->flags & STF_READ_DAMAGED && e->code != STF_ERR_NOMEM ? 0 : -1;
}

/* The index uses info and class ids that .dcl declares, so the index is checked after both were read. */
static int check_index(struct stf_reader *r, struct stf_source *s)
{
	static const uint8_t cls[] = { STF_ID_anchor_file_declaration, STF_ID_info };
	struct stf_err e;
	size_t i, k;

	for (k = 0; k < sizeof(cls); k++) {
		for (i = 0; i < r->table[cls[k]].n; i++) {
			if (stf_check_references(r, s, r->table[cls[k]].record[i], &e) < 0 && keep_fault(r, &e) < 0) {
				return -1;
			}
		}
	}
	return 0;
}

/* A suffix becomes part of a file name, so it must not lead out of the trace's directory. */
static int check_suffix(const struct stf_source *s, struct stf_err *err)
{
	const struct stf_value *v = stf_value(&s->record, "suffix");
	const char *c = v->array;

	if (v->count < 2 || v->count > 200 || c[0] != '.' || memchr(c, '/', v->count) || memchr(c, 0, v->count)) {
		return stf_fail(err, STF_ERR_FORMAT, s->path, s->record.offset, s->record.number,
			"file_declaration: not a suffix: \"%.40s\"", c);
	}
	return 0;
}

/* -2: the fault has been reported */
static int read_index(struct stf_reader *r, struct stf_source *s, struct stf_err *err)
{
	int rc;

	while ((rc = stf_source_next(s, err)) > 0) {
		int good = s->record.layout->class_id != STF_ID_file_declaration || check_suffix(s, err) == 0;

		/* a fault in one record is no reason to stop: the start of the next record is known */
		if ((!good || add_record(r, s, 0, err) < 0) && keep_fault(r, err) < 0) {
			return -2;
		}
	}
	return rc;
}

/* Reads the declarations of one component. A declaration that refers to an undeclared id, or occurs twice, is
 * left out, and so is everything that refers to it. */
static int read_declarations_of(struct stf_reader *r, const struct stf_record *file)
{
	struct stf_err e = { .code = STF_OK };
	struct stf_source *s = stf_reader_source(r, file, &e);
	uint64_t damaged = 0;
	int rc, more = s ? 1 : -1;

	rc = s ? 0 : keep_fault(r, &e);
	while (rc == 0 && more > 0 && (more = stf_source_next(s, &e)) > 0) {
		if (s->record.layout->kind == STF_KIND_DECL && add_record(r, s, 1, &e) < 0) {
			rc = keep_fault(r, &e);
		}
	}
	if (s && rc == 0 && more < 0) {
		rc = keep_fault(r, &e);
	}
	if (s && rc == 0 && s->n_damaged > damaged) {
		stf_fail(&e, STF_ERR_CHECKSUM, s->path, 0, 0, "damaged: declarations are missing");
		rc = keep_fault(r, &e);
	}
	if (s) {
		r->skipped += s->skipped;
		stf_source_close(s);
	}
	return rc;
}

static int read_declarations(struct stf_reader *r)
{
	const struct stf_table *t = &r->table[STF_ID_file_declaration];
	struct stf_err e;
	size_t i;
	int rc = 0;

	for (i = 0; i < t->n && rc == 0; i++) {
		if (number(t->record[i], "filetype") == STF_DECL_FILE) {
			rc = read_declarations_of(r, t->record[i]);
		}
	}
	/* the statements of the index are recognised by the name of their class, unless the base file has its own
	 * checksum */
	if (rc == 0 && stf_reader_read_stated(r, &e) < 0) {
		rc = keep_fault(r, &e);
	}
	for (i = 0; i < t->n && rc == 0 && r->flags & STF_READ_VERIFY; i++) {
		if (number(t->record[i], "filetype") == STF_DECL_FILE && stf_check_whole(r, t->record[i], &e) < 0 &&
			e.code != STF_ERR_IO) {
			rc = keep_fault(r, &e);
		}
	}
	return rc;
}

struct stf_source *stf_reader_source(struct stf_reader *r, const struct stf_record *file, struct stf_err *err)
{
	const char *suffix = stf_value(file, "suffix")->array;
	struct stf_source *s = stf_source_open(&r->archive, suffix, err);

	if (!s) {
		return NULL;
	}
	s->defs = &r->defs;
	s->timed = number(file, "filetype") == STF_DATA_FILE;
	s->file = number(file, "id");
	s->suffix = suffix;
	s->damages = &r->damages;
	s->expected = &r->identities;
	if (stf_source_check_start(s, err) < 0 ||
		(r->flags & STF_READ_VERIFY && stf_hash_there() && stf_reader_blocks(r, suffix, &s->blocks, err) < 0)) {
		stf_source_close(s);
		return NULL;
	}
	if (s->blocks.n && s->size < s->blocks.b[s->blocks.n - 1].end) {
		s->cut = 1; /* cut between two blocks, or entirely missing: reading alone would not show it */
	}
	if (s->timed) {
		/* in data files each block is a frame; in other files a frame ends wherever the buffer was
		 * written out */
		stf_frames_know_blocks(s, &s->blocks);
	}
	return s;
}

/* Is the base file as it was written? Base files of older writers do not say. */
static int judge_base(struct stf_reader *r, const struct stf_source *s)
{
	struct stf_err e;

	if (r->base_stated && !r->base_is_good) {
		stf_fail(&e, STF_ERR_CHECKSUM, s->path, 0, 0,
			"the base file is damaged: its checksum is %016llx, it states %016llx",
			(unsigned long long)r->base_hash, (unsigned long long)r->base_want);
		return keep_fault(r, &e);
	}
	if (!r->base_stated && r->identities.n && r->identities.i[0].checksums && stf_hash_there()) {
		stf_fail(&e, STF_ERR_CHECKSUM, s->path, s->size, 0,
			"the base file does not end with its checksum: it is damaged or cut");
		return keep_fault(r, &e);
	}
	return 0;
}

int stf_reader_load(struct stf_reader *r, struct stf_source *s, struct stf_err *err)
{
	struct stf_err e;
	int rc = 0;

	s->defs = &r->defs;
	s->collect = &r->identities;
	rc = read_index(r, s, &e);
	if (rc == -1) {
		rc = keep_fault(r, &e);
	}
	r->skipped += s->skipped;
	rc = rc < 0 ? -1 : judge_base(r, s);
	if (rc == 0 && stf_reader_find_files(r) < 0) {
		stf_no_memory(&e);
		rc = keep_fault(r, &e);
	}
	if (rc == 0 && r->flags & STF_READ_VERIFY && stf_reader_read_stated(r, &e) < 0) {
		rc = keep_fault(r, &e);
	}
	/* the declarations are worth reading even if the index is damaged after the file list */
	rc = rc < 0 ? -1 : read_declarations(r);
	rc = rc < 0 ? -1 : check_index(r, s);
	if (rc < 0) {
		*err = r->first_fault;
		rc = r->flags & STF_READ_DAMAGED ? 0 : -1;
	}
	return rc;
}

/* Takes ownership of fd; -1: opens the path. */
static struct stf_reader *open_reader(const char *path, int fd, unsigned flags, struct stf_err *err)
{
	struct stf_reader *r = calloc(1, sizeof(*r));
	struct stf_source *s = NULL;
	int rc = -1;

	err->code = STF_OK;
	if (!r) {
		if (fd >= 0) {
			close(fd);
		}
		stf_no_memory(err);
		return NULL;
	}
	r->flags = flags;
	if ((fd >= 0 ? stf_archive_open_fd(&r->archive, fd, path, err) : stf_archive_open(&r->archive, path, err)) <
		0) {
		goto out;
	}
	s = stf_source_open(&r->archive, "", err);
	if (!s || stf_check_base(r, s, err) < 0 || read_definitions(r, s, err) < 0) {
		goto out;
	}
	rc = stf_reader_load(r, s, err);
out:
	stf_source_close(s);
	if (rc < 0) {
		stf_reader_close(r);
		return NULL;
	}
	return r;
}

struct stf_reader *stf_reader_open(const char *path, unsigned flags, struct stf_err *err)
{
	return open_reader(path, -1, flags, err);
}

struct stf_reader *stf_reader_open_fd(int fd, const char *name, unsigned flags, struct stf_err *err)
{
	int own = stf_spool(fd, name, err);

	return own < 0 ? NULL : open_reader(name, own, flags, err);
}

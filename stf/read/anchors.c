/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the anchors of a data file into a table for bisection, and finds what the trace says about the file's
 * order. */
#include "config.h"
#include "stf/read/reader.h"

#include <stdlib.h>

#include "base/grow.h"

static const struct stf_record *find_anchor_file(const struct stf_reader *r, uint32_t file)
{
	const struct stf_record *rec = stf_reader_anchors_of(r, file);

	return rec ? stf_reader_find(r, STF_ID_file_declaration, (uint32_t)stf_value(rec, "anchor_file")->u) : NULL;
}

static int add_anchor(struct stf_anchors *t, const struct stf_source *s, struct stf_err *err)
{
	struct stf_anchor a;
	struct stf_anchor_place *p;

	stf_get_anchor(&s->record, &a);
	if (t->n ? a.offset <= t->anchor[t->n - 1].offset : a.offset != 0) {
		return stf_fail(err, STF_ERR_FORMAT, s->path, s->record.offset, s->record.number,
			"anchor: offset %llu does not rise from 0", (unsigned long long)a.offset);
	}
	if (TKM_GROW(t->anchor, t->cap, t->n + 1) < 0) {
		return stf_no_memory(err);
	}
	p = &t->anchor[t->n];
	*p = (struct stf_anchor_place){ .latest = a.time_prev,
		.time_prev = a.time_prev,
		.offset = a.offset,
		.at = s->record.offset,
		.by_thread = 1 };
	if (t->n && p[-1].latest > p->latest) {
		p->latest = p[-1].latest;
	}
	t->n++;
	return 0;
}

/* Does the anchor say to which thread the values belong? Then counter_value records follow counter_history. */
static void look_at_history(struct stf_anchors *t, const struct stf_record *r)
{
	if (t->n && r->layout->id == STF_ID_begin_of_history) {
		t->anchor[t->n - 1].tells = 1;
	} else if (t->n && r->layout->id == STF_ID_counter_history) {
		t->anchor[t->n - 1].by_thread = 0;
	} else if (t->n && r->layout->id == STF_ID_counter_value) {
		t->anchor[t->n - 1].by_thread = t->by_thread = 1;
	}
}

static void read_anchors(struct stf_reader *r, struct stf_anchors *t)
{
	struct stf_place place;
	struct stf_source *s;
	struct stf_err err = { .code = STF_OK };
	int rc;

	t->where = find_anchor_file(r, t->file);
	rc = t->where ? stf_archive_find(&r->archive, stf_value(t->where, "suffix")->array, &place, &err) : 0;
	/* a missing anchor file is no fault: users may delete it */
	if (rc <= 0) {
		t->where = NULL;
		t->fault = err;
		return;
	}
	stf_place_free(&place);
	s = stf_reader_source(r, t->where, &t->fault);
	if (!s) {
		return;
	}
	while ((rc = stf_source_next(s, &err)) > 0) {
		if (s->record.layout->id == STF_ID_anchor && (rc = add_anchor(t, s, &err)) < 0) {
			break;
		}
		look_at_history(t, &s->record);
	}
	if (rc < 0) {
		t->fault = err;
	} else if (s->n_damaged) {
		stf_fail(&t->fault, STF_ERR_CHECKSUM, s->path, 0, 0, "damaged: anchors are left out");
	}
	stf_source_close(s);
}

const struct stf_anchors *stf_reader_anchors(struct stf_reader *r, uint32_t file)
{
	const uint64_t *at = stf_map_find(&r->tables_at, 1 + (uint64_t)file);
	struct stf_anchors *p;

	if (at) {
		return &r->anchors[*at - 1];
	}
	p = TKM_APPEND(r->anchors, r->n_anchors);
	if (!p || stf_map_add(&r->tables_at, 1 + (uint64_t)file, r->n_anchors) < 0) {
		return NULL;
	}
	p->file = file;
	read_anchors(r, p);
	return p;
}

uint64_t stf_reader_late(const struct stf_reader *r, const struct stf_record *file)
{
	const struct stf_stated *s;
	unsigned d;

	/* a writer defines every record that it uses, so without a definition of sub_time no record goes back in
	 * time */
	for (d = 0; d < r->defs.n && r->defs.order[d]->timing != STX_SUB_TIME; d++) {
	}
	if (d == r->defs.n) {
		return 0;
	}
	s = stf_reader_stated(r, stf_value(file, "suffix")->array);
	return s && s->has_late ? s->late : UINT64_MAX;
}

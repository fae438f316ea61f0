/* SPDX-License-Identifier: BSD-3-Clause */
/* What an open trace knows: its records, names and faults. */
#include "config.h"
#include "stf/read/reader.h"

#include <stdio.h>
#include <stdlib.h>

void stf_reader_close(struct stf_reader *r)
{
	unsigned k;
	size_t i;

	if (!r) {
		return;
	}
	for (k = 0; k < STF_ID_END; k++) {
		for (i = 0; i < r->table[k].n; i++) {
			free(r->table[k].record[i]);
		}
		free(r->table[k].record);
	}
	for (i = 0; i < r->n_anchors; i++) {
		free(r->anchors[i].anchor);
	}
	free(r->anchors);
	free(r->stated);
	free(r->identities.i);
	free(r->damages.d);
	free(r->faults.fault);
	stf_map_free(&r->stated_at);
	stf_map_free(&r->files_at);
	stf_map_free(&r->anchors_of);
	stf_map_free(&r->tables_at);
	stf_map_free(&r->ids);
	stf_defs_free(&r->defs);
	stf_archive_free(&r->archive);
	free(r);
}

static uint32_t number(const struct stf_record *r, const char *field)
{
	const struct stf_value *v = stf_value(r, field);

	return v ? (uint32_t)v->u : 0;
}

const struct stf_err *stf_reader_fault(const struct stf_reader *r)
{
	return &r->first_fault;
}

const struct stf_err *stf_reader_fault_at(const struct stf_reader *r, size_t i)
{
	return i < r->faults.n ? &r->faults.fault[i] : NULL;
}

char *stf_reader_definitions(const struct stf_reader *r)
{
	struct stf_buf b = { 0 };

	stf_defs_print_all(&b, &r->defs);
	stf_buf_add(&b, "", 1);
	if (b.failed) {
		free(b.p);
		return NULL;
	}
	return b.p;
}

uint64_t stf_reader_faults(const struct stf_reader *r)
{
	return r->faults.count;
}

uint64_t stf_reader_skipped(const struct stf_reader *r)
{
	return r->skipped;
}

int stf_reader_is_big_endian(const struct stf_reader *r)
{
	return r->defs.big;
}

size_t stf_reader_count(const struct stf_reader *r, unsigned class_id)
{
	return class_id < STF_ID_END ? r->table[class_id].n : 0;
}

const struct stf_record *stf_reader_record(const struct stf_reader *r, unsigned class_id, size_t i)
{
	return i < stf_reader_count(r, class_id) ? r->table[class_id].record[i] : NULL;
}

const struct stf_record *stf_reader_find(const struct stf_reader *r, unsigned class_id, uint32_t id)
{
	const uint64_t *at = class_id && class_id < STF_ID_END ? stf_map_find(&r->ids, STX_KEY(class_id, id)) : NULL;

	return at ? stf_reader_record(r, class_id, (size_t)*at - 1) : NULL;
}

int stf_reader_clock(const struct stf_reader *r, double *resolution, uint32_t *eventbits)
{
	const struct stf_record *rec = stf_reader_record(r, STF_ID_clock_resolution, 0);
	struct stf_clock_resolution c;

	if (!rec || stf_get_clock_resolution(rec, &c) < 0) {
		return -1;
	}
	*resolution = c.resolution;
	*eventbits = c.eventbits;
	return 0;
}

int stf_reader_duration(const struct stf_reader *r, uint64_t *start, uint64_t *end)
{
	const struct stf_record *rec = stf_reader_record(r, STF_ID_duration, 0);
	struct stf_duration d;

	if (!rec || stf_get_duration(rec, &d) < 0) {
		return -1;
	}
	*start = d.start;
	*end = d.end;
	return 0;
}

const uint32_t *stf_reader_processes(const struct stf_reader *r, uint32_t *n)
{
	const struct stf_record *rec = stf_reader_record(r, STF_ID_process_declaration, 0);
	struct stf_process_declaration p;

	if (!rec || stf_get_process_declaration(rec, &p) < 0) {
		*n = 0;
		return NULL;
	}
	*n = p.size_1_1;
	return p.thread_numbers;
}

const char *stf_reader_string(const struct stf_reader *r, uint32_t id)
{
	const struct stf_record *rec = stf_reader_find(r, STF_ID_stf_string, id);

	return rec ? stf_value(rec, "string")->array : NULL;
}

const char *stf_reader_name(const struct stf_reader *r, unsigned class_id, uint32_t id)
{
	const struct stf_record *rec = stf_reader_find(r, class_id, id);
	const struct stf_value *v;
	unsigned i;

	for (i = 0; rec && i < rec->layout->n_fields; i++) {
		const struct stf_field *f = &rec->layout->fields[i];

		v = &rec->values[i];
		if (f->type == STF_C1 && f->is_array && strcmp(f->name, "unit") != 0) {
			return v->array;
		}
		if (f->ref_class == STF_ID_stf_string && !f->is_array && strcmp(f->name, "name") == 0) {
			return stf_reader_string(r, (uint32_t)v->u);
		}
	}
	return NULL;
}

int stf_reader_willy(const struct stf_reader *r, uint32_t willy, struct stf_willy_info *out)
{
	const struct stf_record *def = stf_reader_find(r, STF_ID_willy_definition, willy);
	const struct stf_record *name = stf_reader_find(r, STF_ID_willy_name, willy);
	struct stf_willy_definition d;

	memset(out, 0, sizeof(*out));
	out->willy = willy;
	if (def && stf_get_willy_definition(def, &d) == 0) {
		out->hostname = stf_reader_string(r, d.hostname);
		out->ip = stf_reader_string(r, d.ip);
		out->pid = d.pid;
		out->tid = d.tid;
		out->offset = d.offset;
		out->skew = d.skew;
		out->defined = 1;
	}
	if (name) {
		out->name = stf_reader_string(r, number(name, "name"));
	}
	return def || name ? 0 : -1;
}

int stf_reader_info(const struct stf_reader *r, size_t i, const char **cls, const char **text)
{
	const struct stf_record *rec = stf_reader_record(r, STF_ID_info, i);

	if (!rec) {
		return -1;
	}
	*cls = stf_reader_name(r, STF_ID_class_definition, number(rec, "info_class"));
	*text = stf_value(rec, "info")->array;
	return 0;
}

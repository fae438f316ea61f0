/* SPDX-License-Identifier: BSD-3-Clause */
/* Completes a trace that was written: writes the index, then gives all files their names. */
#include "config.h"
#include "stf/format/deflayer.h"
#include "stf/format/hash.h"
#include "stf/write/single.h"
#include "stf/write/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"

/* The next data stream, in the order of the file ids. */
static struct stf_stream *next_data(const struct stf_writer *w, unsigned *kind, uint32_t *set)
{
	static const unsigned order[DATA_KINDS] = {
		STF_KIND_MSG,
		STF_KIND_COLL,
		STF_KIND_FUNC,
		STF_KIND_SCOPE,
		STF_KIND_FIO,
		STF_KIND_COUNTER,
		STF_KIND_REPORT,
		STF_KIND_OTHER,
	};
	unsigned i = *kind & 0xff, k;

	/* the low byte of *kind counts rows of `order`; *set counts the sets */
	for (; *set < 65536; (*set)++, i = 0) {
		int more = 0;

		for (; i < DATA_KINDS; i++) {
			k = order[i];
			if (*set < w->n_sets[k] && w->data[k][*set]) {
				*kind = i + 1;
				return w->data[k][*set];
			}
		}
		for (k = 0; k < DATA_KINDS; k++) {
			more |= *set + 1 < w->n_sets[k];
		}
		if (!more) {
			break;
		}
	}
	return NULL;
}

/* Visits all files of the writer. The base file is last, because it makes the others a trace. */
static int for_each_file(struct stf_writer *w, int (*fn)(struct stf_writer *w, struct stf_out *o))
{
	unsigned kind = 0;
	uint32_t set = 0;
	struct stf_stream *s;

	if (fn(w, &w->dcl->out) < 0 || (w->sts && fn(w, &w->sts->out) < 0)) {
		return -1;
	}
	while ((s = next_data(w, &kind, &set))) {
		if (fn(w, &s->out) < 0 || (s->anc && fn(w, &s->anc->out) < 0)) {
			return -1;
		}
	}
	return fn(w, &w->base);
}

static int publish(struct stf_writer *w, struct stf_out *o)
{
	return stf_out_publish(o, &w->err);
}

static int set_aside(struct stf_writer *w, struct stf_out *o)
{
	return stf_out_set_aside(o, &w->err);
}

/* From here on the files are permanent. */
static int keep(struct stf_writer *w, struct stf_out *o)
{
	(void)w;
	stf_out_keep(o);
	return 0;
}

static size_t filled(const struct stf_stream *s)
{
	return (size_t)(s->cur - s->buf);
}

/* Writes an info record of a class that belongs to the writer; the caller's records of that class are dropped. */
static int put_own(struct stf_writer *w, int own, const char *text)
{
	struct stf_info r = { .info_class = w->own_class[own], .size_1_1 = (uint32_t)strlen(text), .info = text };

	return stf_put_info(w->infos, &r);
}

/* Declares the classes in .dcl, which must be closed before its checksum is known. */
static int declare_own(struct stf_writer *w, int own)
{
	return w->own_class[own] || stf_writer_class(w, stf_own_class[own], 0) ? 0 : -1;
}

/* Reports records that come after records with a later time: readers of a window must know how far to look. If
 * one file has such records, the index states their number for every file, because a file without a statement is
 * read to its end. */
static int put_late(struct stf_writer *w)
{
	unsigned kind = 0;
	uint32_t set = 0;
	uint64_t n, most, any = 0;
	struct stf_stream *s;
	char text[80];

	while ((s = next_data(w, &kind, &set))) {
		any |= stf_history_late(s->history, &most);
	}
	kind = 0;
	set = 0;
	while (any && (s = next_data(w, &kind, &set))) {
		n = stf_history_late(s->history, &most);
		if (s->history) {
			snprintf(text, sizeof(text), "%s %llu %llu", s->suffix, (unsigned long long)n,
				(unsigned long long)most);
			if (declare_own(w, STX_OWN_LATE) < 0 || put_own(w, STX_OWN_LATE, text) < 0) {
				return -1;
			}
		}
	}
	return 0;
}

static int close_streams(struct stf_writer *w)
{
	unsigned kind = 0;
	uint32_t set = 0;
	struct stf_stream *s;

	while ((s = next_data(w, &kind, &set))) {
		if (stf_stream_close(s) < 0) {
			return -1;
		}
	}
	if (put_late(w) < 0 || (w->dcl->out.hash && declare_own(w, STX_OWN_INTEGRITY) < 0)) {
		return -1;
	}
	return stf_stream_close(w->dcl) < 0 || (w->sts && stf_stream_close(w->sts) < 0) ? -1 : 0;
}

/* Lists all components, sorted by id. */
static struct stf_part *list_parts(struct stf_writer *w, size_t *n)
{
	struct stf_stream *s, *all[4];
	struct stf_part *p = NULL, *new;
	unsigned kind = 0;
	uint32_t set = 0;
	size_t i, m;

	*n = 0;
	all[0] = w->dcl;
	all[1] = w->sts;
	for (m = w->sts ? 2 : 1; m; m = s ? 1 + (s->anc != NULL) : 0) {
		for (i = 0; i < m; i++) {
			new = TKM_APPEND(p, *n);
			if (!new) {
				free(p);
				stf_no_memory(&w->err);
				return NULL;
			}
			snprintf(new->suffix, sizeof(new->suffix), "%s%s", all[i]->suffix, all[i]->level ? ".zst" : "");
			new->stream = all[i];
			new->out = &all[i]->out;
		}
		s = next_data(w, &kind, &set);
		if (s) {
			all[0] = s;
			all[1] = s->anc;
		}
	}
	return p;
}

/* Writes the checksums of a component's blocks: "SUFFIX blocks LENGTH TIME HASH ...". */
static int put_blocks(struct stf_writer *w, const struct stf_stream *s)
{
	struct stf_buf text = { 0 };
	struct stf_info r = { .info_class = w->own_class[STX_OWN_INTEGRITY] };
	int rc;

	stf_buf_printf(&text, "%s blocks", s->suffix);
	stf_blocks_print(&text, &s->blocks);
	r.info = text.p;
	r.size_1_1 = (uint32_t)text.n;
	rc = text.failed || text.n > UINT32_MAX ? stf_no_memory(&w->err) : stf_put_info(w->infos, &r);
	free(text.p);
	return rc;
}

static int put_integrity(struct stf_writer *w, const struct stf_part *part, size_t n)
{
	char text[128];
	size_t i;

	for (i = 0; i < n && part[i].out->hashed; i++) {
		snprintf(text, sizeof(text), "%s %llu xxh3:%016llx", part[i].suffix,
			(unsigned long long)part[i].out->size, (unsigned long long)part[i].out->digest);
		if (put_own(w, STX_OWN_INTEGRITY, text) < 0 || put_blocks(w, part[i].stream) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Writes the index's last record, the checksum of the base file. It covers all bytes up to the 16 digits at the
 * end of this record. */
static int put_base_checksum(struct stf_writer *w, const struct stf_buf *text, const struct stf_stream *idx)
{
	void *h = stf_hash_new();
	char line[80];
	uint64_t size;
	int n, rc = 0;

	if (!h) {
		return stf_hash_there() ? stf_no_memory(&w->err) : 0;
	}
	/* with this record the size may have one more digit */
	size = text->n + filled(idx) + filled(w->infos) + sizeof(struct stf_wire_info);
	n = snprintf(line, sizeof(line), "base %llu xxh3:", (unsigned long long)size);
	n = snprintf(line, sizeof(line), "base %llu xxh3:", (unsigned long long)size + (unsigned)n);
	n = snprintf(line, sizeof(line), "base %llu xxh3:", (unsigned long long)size + (unsigned)n);
	memset(line + n, '0', 16);
	line[n + 16] = 0;
	if (put_own(w, STX_OWN_INTEGRITY, line) < 0) {
		rc = -1;
	} else {
		stf_hash_add(h, text->p, text->n);
		stf_hash_add(h, idx->buf, filled(idx));
		stf_hash_add(h, w->infos->buf, filled(w->infos) - 16);
		snprintf(line, sizeof(line), "%016llx", (unsigned long long)stf_hash_value(h));
		memcpy(w->infos->cur - 16, line, 16);
	}
	stf_hash_free(h);
	return rc;
}

static uint32_t clip_to_32_bits(uint64_t n)
{
	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* Writes duration and event_summary, from the counts of the streams. */
static int put_totals(struct stf_writer *w, struct stf_stream *idx, uint64_t start, uint64_t end)
{
	uint64_t n[256] = { 0 }, lo = UINT64_MAX, hi = 0, a, b;
	struct stf_event_summary e = { 0 };
	struct stf_duration d;
	unsigned kind = 0, i;
	uint32_t set = 0;
	struct stf_stream *s;

	while ((s = next_data(w, &kind, &set))) {
		for (i = 0; i < 256; i++) {
			n[i] += stf_history_counts(s->history)[i];
		}
		stf_history_times(s->history, &a, &b);
		lo = a < lo ? a : lo;
		hi = b > hi ? b : hi;
	}
	d.start = start <= end ? start : lo <= hi ? lo : 0;
	d.end = start <= end ? end : hi;
	e.num_funcs = clip_to_32_bits(n[STF_ID_enter_function] + n[STF_ID_enter_function_1]);
	e.num_scopes = clip_to_32_bits(n[STF_ID_enter_scope] + n[STF_ID_enter_scope_1]);
	e.num_counters = clip_to_32_bits(n[STF_ID_counter_value]);
	for (a = 0, i = STF_ID_one_to_one_communication; i <= STF_ID_one_to_one_communication_4; i++) {
		a += n[i];
	}
	e.num_one_to_ones = clip_to_32_bits(a);
	for (a = 0, i = STF_ID_all_communication; i <= STF_ID_all_to_one_communication_1; i++) {
		a += n[i];
	}
	e.num_collectives =
		clip_to_32_bits(a + n[STF_ID_one_to_all_communication] + n[STF_ID_one_to_all_communication_1]);
	return stf_put_duration(idx, &d) < 0 || stf_put_event_summary(idx, &e) < 0 ? -1 : 0;
}

/* List 1 is all willies. List 2 + I is the willies of set I; with a single set they are the same, and there is
 * only list 1. */
static uint32_t list_of(const struct stf_writer *w, unsigned kind, uint32_t set)
{
	return stf_category[kind].per_set && stf_sets_many(w) ? 2 + set : 1;
}

static unsigned kind_of(const struct stf_stream *s)
{
	uint32_t id = s->file < 7 ? s->file : 7 + (s->file - 7) % IDS_PER_SET;
	unsigned k;

	for (k = 0; k < DATA_KINDS && stf_category[k].first_id != id; k++) {
	}
	return k;
}

static uint32_t set_of(const struct stf_stream *s)
{
	return s->file < 7 ? 0 : (s->file - 7) / IDS_PER_SET;
}

static int put_lists(struct stf_writer *w, struct stf_stream *idx)
{
	uint32_t set = 0, at = 0, done = UINT32_MAX;
	unsigned kind = 0;
	struct stf_stream *s;

	if (stf_put_willies(w, idx, 1, STX_ALL_SETS) < 0) {
		return -1;
	}
	while ((s = next_data(w, &kind, &at))) {
		set = set_of(s);
		if (list_of(w, kind_of(s), set) == 1 || set == done) {
			continue;
		}
		done = set;
		if (stf_put_willies(w, idx, 2 + set, set) < 0) {
			return -1;
		}
	}
	return 0;
}

static int put_file(struct stf_stream *idx, const struct stf_stream *s, uint8_t type)
{
	struct stf_file_declaration r = {
		.id = s->file, .filetype = type, .size_1_1 = (uint32_t)strlen(s->suffix), .suffix = s->suffix
	};

	return stf_put_file_declaration(idx, &r);
}

static int put_files(struct stf_writer *w, struct stf_stream *idx)
{
	unsigned kind = 0;
	uint32_t set = 0;
	struct stf_stream *s;

	if (put_file(idx, w->dcl, STF_DECL_FILE) < 0 || (w->sts && put_file(idx, w->sts, STF_STATS_FILE) < 0)) {
		return -1;
	}
	while ((s = next_data(w, &kind, &set))) {
		if (put_file(idx, s, STF_DATA_FILE) < 0 || (s->anc && put_file(idx, s->anc, STF_ANCHOR_FILE) < 0)) {
			return -1;
		}
	}
	for (kind = 0, set = 0; (s = next_data(w, &kind, &set));) {
		struct stf_anchor_file_declaration r = { .anchor_file = s->anc ? s->anc->file : 0,
			.data_file = s->file };

		r.categories = 1u << kind_of(s);
		r.willies = list_of(w, kind_of(s), set_of(s));
		if (stf_put_anchor_file_declaration(idx, &r) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Completes the base file. In a single-file trace, the directory is before it and the components are after it. */
static int write_out(struct stf_writer *w, const struct stf_buf *text, const struct stf_stream *idx,
	const struct stf_part *part, size_t n)
{
	struct stf_buf dir = { 0 };
	size_t i;
	int rc = 0;

	if (w->opt.single) {
		rc = stf_single_directory(&dir, text->n + filled(idx) + filled(w->infos), part, n, &w->err);
		if (rc == 0) {
			rc = stf_out_write(&w->base, dir.p, dir.n, &w->err);
		}
		free(dir.p);
	}
	if (rc < 0 || stf_out_write(&w->base, text->p, text->n, &w->err) < 0 ||
		stf_out_write(&w->base, idx->buf, filled(idx), &w->err) < 0 ||
		stf_out_write(&w->base, w->infos->buf, filled(w->infos), &w->err) < 0) {
		return -1;
	}
	for (i = 0; w->opt.single && i < n; i++) {
		if (stf_single_copy(&w->base, &part[i], &w->err) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Writes the identities that the components have: the writer's own, and those of the parts that it took in. */
static int put_identities(struct stf_writer *w, struct stf_stream *idx)
{
	uint32_t dt;
	uint8_t *p;
	size_t i;

	for (i = 0; i <= w->others.n; i++) {
		p = stf_room(idx, STX_IDENTITY_SIZE, 0, &dt);
		if (!p) {
			return -1;
		}
		stf_identity_put(p, i ? &w->others.i[i - 1] : &w->identity, w->opt.big_endian);
		idx->cur += STX_IDENTITY_SIZE;
	}
	w->used[STX_IDENTITY_ID] = 1;
	return 0;
}

static int put_index(struct stf_writer *w, struct stf_stream *idx, uint64_t start, uint64_t end)
{
	struct stf_clock_resolution c = { .resolution = w->opt.resolution, .eventbits = w->opt.eventbits };

	if (put_identities(w, idx) < 0 || stf_put_clock_resolution(idx, &c) < 0) {
		return -1;
	}
	w->used[STF_ID_process_declaration] = 1;
	if (filled(w->procs) == 0 && stf_writer_processes(w, NULL, 0) < 0) {
		return -1;
	}
	if (!stf_room(idx, filled(w->procs), 0, &(uint32_t){ 0 })) {
		return -1;
	}
	memcpy(idx->cur, w->procs->buf, filled(w->procs));
	idx->cur += filled(w->procs);
	return put_totals(w, idx, start, end) < 0 || put_lists(w, idx) < 0 || put_files(w, idx) < 0 ? -1 : 0;
}

int stf_begin_base(struct stf_writer *w)
{
	struct stf_clock_resolution c = { .resolution = w->opt.resolution, .eventbits = w->opt.eventbits };
	uint8_t all[256] = { 0 }, spare[256];
	struct stf_where memory = { .big = w->opt.big_endian, .err = &w->err, .used = spare };
	struct stf_stream *idx = stf_stream_new(&memory, "", 0);
	struct stf_buf text = { 0 };
	unsigned id;
	int rc = -1;

	for (id = 1; id < STF_ID_END; id++) {
		all[id] = stf_layout(id) != NULL;
	}
	all[STX_IDENTITY_ID] = 1;
	if (idx && put_identities(w, idx) == 0 && stf_put_clock_resolution(idx, &c) == 0) {
		stf_defs_print(&text, all, w->opt.big_endian, w->comment);
		rc = text.failed ? stf_no_memory(&w->err) : stf_out_write(&w->base, text.p, text.n, &w->err);
		rc = rc < 0 ? -1 : stf_out_write(&w->base, idx->buf, filled(idx), &w->err);
	}
	stf_stream_free(idx);
	free(text.p);
	return rc;
}

static int write_base(struct stf_writer *w, uint64_t start, uint64_t end)
{
	struct stf_where memory = stf_writer_where(w);
	struct stf_stream *idx;
	struct stf_buf text = { 0 };
	size_t n;
	struct stf_part *part = list_parts(w, &n);
	int rc = -1;

	memory.path = NULL;
	idx = stf_stream_new(&memory, "", 0);
	if (!idx || !part || put_index(w, idx, start, end) < 0 || put_integrity(w, part, n) < 0) {
		goto out;
	}
	stf_defs_print(&text, w->used, w->opt.big_endian, w->comment);
	rc = text.failed ? stf_no_memory(&w->err) : put_base_checksum(w, &text, idx);
	rc = rc < 0 ? -1 : w->opt.single ? 0 : stf_out_restart(&w->base, &w->err);
	rc = rc < 0 ? -1 : write_out(w, &text, idx, part, n);
out:
	stf_stream_free(idx);
	free(part);
	free(text.p);
	return rc < 0 ? -1 : stf_out_close(&w->base, &w->err);
}

/* Gives the files their names. The old index is removed first, so that it is never found together with new
 * components. */
static int publish_all(struct stf_writer *w)
{
	if (w->opt.single) {
		return publish(w, &w->base);
	}
	if (w->opt.force && (set_aside(w, &w->base) < 0 || for_each_file(w, set_aside) < 0)) {
		return -1;
	}
	return for_each_file(w, publish);
}

int stf_writer_finish(struct stf_writer *w, uint64_t start, uint64_t end, struct stf_err *err)
{
	int rc = -1;

	err->code = STF_OK;
	if (w->opt.part && !stf_is_fatal(&w->err)) {
		stf_fail(&w->err, STF_ERR_STATE, NULL, 0, 0, "a part of a trace ends with stf_writer_finish_part()");
	} else if (!stf_is_fatal(&w->err) && close_streams(w) == 0 && write_base(w, start, end) == 0) {
		rc = publish_all(w);
	}
	if (rc < 0) {
		*err = w->err;
	} else if (w->opt.single) {
		keep(w, &w->base);
	} else {
		for_each_file(w, keep);
	}
	stf_writer_free(w);
	return rc;
}

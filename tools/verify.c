/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a trace: that all can be read, that ids and threads are declared, that records lie in the files
 * and within the times that the index says, that anchors fit their data, that the totals are right. */
#include "config.h"
#include "tools/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/files.h"

struct verify {
	const struct stt_options *o;
	struct stt_trace t;
	uint64_t faults, files, records, checked; /* checked: components with a good checksum */
	uint64_t start, end; /* of the duration record */
	int has_duration;
	uint64_t funcs, scopes, counters, messages, collectives; /* as event_summary counts them */
};

/* Where the checks are: one component. */
struct place {
	const char *suffix;
	uint32_t categories; /* that may be in this data file, 0: the index does not say */
};

static void fault(struct verify *v, const char *suffix, const struct stf_record *rec, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void fault(struct verify *v, const char *suffix, const struct stf_record *rec, const char *fmt, ...)
{
	struct stf_err e = { .offset = rec ? rec->offset : 0, .record = rec ? rec->number : 0 };
	va_list ap;

	snprintf(e.file, sizeof(e.file), "%s%s", v->t.base, suffix);
	va_start(ap, fmt);
	vsnprintf(e.text, sizeof(e.text), fmt, ap);
	va_end(ap);
	stt_stf_fault(v->o, &v->t, &e);
	v->faults++;
}

static void library_fault(struct verify *v, const struct stf_err *e)
{
	stt_stf_fault(v->o, &v->t, e);
	v->faults++;
}

/* ---- one record ---- */

static int is_declared(const struct verify *v, unsigned class_id, uint32_t id)
{
	return id == 0 || stf_reader_find(v->t.r, class_id, id) != NULL;
}

static int willy_is_known(const struct verify *v, uint32_t willy)
{
	if (stf_willy_is_group(willy)) {
		return stf_reader_find(v->t.r, STF_ID_group_definition, willy & 0x7fffffff) != NULL;
	}
	return v->t.n_processes == 0 || stt_thread_number(&v->t, willy) >= 0;
}

static uint32_t element(const struct stf_field *f, const struct stf_value *value, uint32_t i)
{
	return f->type == STF_U1 ? ((const uint8_t *)value->array)[i] : ((const uint32_t *)value->array)[i];
}

static void check_references(struct verify *v, const char *suffix, const struct stf_record *rec)
{
	const struct stf_layout *l = rec->layout;
	uint32_t i, n, id;
	unsigned k;

	for (k = 0; k < l->n_fields; k++) {
		const struct stf_field *f = &l->fields[k];
		const struct stf_value *value = &rec->values[k];

		if (f->type == STF_WILLYID && !f->is_array && !willy_is_known(v, (uint32_t)value->u)) {
			fault(v, suffix, rec, "%s: %s is a thread or group that was not declared (CPU %" PRIu64 ")", l->name, f->name,
			      value->u + 1);
		}
		n = !f->ref_class ? 0 : f->is_array ? value->count : 1;
		for (i = 0; i < n; i++) {
			id = f->is_array ? element(f, value, i) : (uint32_t)value->u;
			if (!is_declared(v, f->ref_class, id)) {
				fault(v, suffix, rec, "%s: refers to what was not declared, %s (%" PRIu32 ")", l->name, f->name, id);
			}
		}
	}
}

static void count(struct verify *v, const struct stf_record *rec)
{
	switch (rec->layout->class_id) {
	case STF_ID_enter_function:
		v->funcs++;
		break;
	case STF_ID_enter_scope:
		v->scopes++;
		break;
	case STF_ID_counter_value:
		v->counters++;
		break;
	case STF_ID_one_to_one_communication:
		v->messages++;
		break;
	case STF_ID_all_communication:
	case STF_ID_all_to_all_communication:
	case STF_ID_all_to_one_communication:
	case STF_ID_one_to_all_communication:
		v->collectives++;
		break;
	default:
		break;
	}
	v->records++;
}

static void check_event(struct verify *v, const struct place *p, const struct stf_record *rec)
{
	if (v->has_duration && (rec->time < v->start || rec->time > v->end)) {
		fault(v, p->suffix, rec, "%s: time %" PRIu64 " is outside the duration, %" PRIu64 " to %" PRIu64, rec->layout->name,
		      rec->time, v->start, v->end);
	}
	if (p->categories && !(p->categories >> rec->layout->kind & 1)) {
		fault(v, p->suffix, rec, "%s: this file is declared for other categories (%" PRIu32 ")", rec->layout->name,
		      p->categories);
	}
	check_references(v, p->suffix, rec);
	count(v, rec);
}

/* ---- data files and their anchors ---- */

struct anchors {
	struct stf_anchor *a;
	struct stf_record *where; /* offset and number only */
	size_t n, next;
};

static int keep_anchor(struct anchors *a, const struct stf_record *rec)
{
	struct stf_anchor *p = realloc(a->a, (a->n + 1) * sizeof(*p));
	struct stf_record *q = realloc(a->where, (a->n + 1) * sizeof(*q));

	a->a = p ? p : a->a;
	a->where = q ? q : a->where;
	if (!p || !q) {
		return -1;
	}
	stf_get_anchor(rec, &p[a->n]);
	q[a->n++] = *rec;
	return 0;
}

static void read_anchors(struct verify *v, const char *suffix, struct anchors *a)
{
	const struct stf_record *rec;
	struct stf_err e;
	struct stf_cursor *c = stf_cursor_open(v->t.r, suffix, &e);
	int more = c ? 1 : -1;

	while (more > 0 && (more = stf_cursor_next(c, &rec, &e)) > 0) {
		v->records++;
		if (rec->layout->id != STF_ID_anchor) {
			check_references(v, suffix, rec);
		} else if (keep_anchor(a, rec) < 0) {
			fault(v, suffix, rec, "out of memory");
			break;
		} else if (a->n > 1 ? a->a[a->n - 1].offset <= a->a[a->n - 2].offset : a->a[0].offset != 0) {
			fault(v, suffix, rec, "anchor: offset %" PRIu64 " is not %s", a->a[a->n - 1].offset,
			      a->n > 1 ? "above that of the anchor before" : "0, as the first must be");
		}
	}
	stf_cursor_close(c);
	if (more < 0) {
		library_fault(v, &e);
	}
	v->files++;
}

/* Anchors up to the record at `offset`, whose time is `now`; the one before it had the time `before`. With
 * stamps that only rise, time_prev lies between the two. */
static void pass_anchors(struct verify *v, const char *suffix, struct anchors *a, uint64_t offset, uint64_t before,
			 uint64_t now)
{
	for (; a->next < a->n && a->a[a->next].offset <= offset; a->next++) {
		const struct stf_anchor *x = &a->a[a->next];

		if (now >= before && (x->time_prev < before || x->time_prev > now)) {
			fault(v, suffix, &a->where[a->next], "anchor: time_prev %" PRIu64 " does not fit its place in the data, "
			      "between %" PRIu64 " and %" PRIu64, x->time_prev, before, now);
		}
	}
}

static void verify_data(struct verify *v, const struct place *p, const char *anchor_suffix)
{
	const struct stf_record *rec;
	struct anchors a = { NULL, NULL, 0, 0 };
	struct stf_err e;
	struct stf_cursor *c;
	uint64_t before = 0, last = 0;
	int more;

	if (anchor_suffix) {
		read_anchors(v, anchor_suffix, &a);
	}
	c = stf_cursor_open(v->t.r, p->suffix, &e);
	more = c ? 1 : -1;
	while (more > 0 && (more = stf_cursor_next(c, &rec, &e)) > 0) {
		pass_anchors(v, anchor_suffix, &a, rec->offset, before, rec->time);
		before = rec->time;
		last = rec->offset;
		check_event(v, p, rec);
	}
	stf_cursor_close(c);
	if (more < 0) {
		library_fault(v, &e);
	}
	for (; more == 0 && a.next < a.n; a.next++) {
		if (a.a[a.next].offset > last) {
			fault(v, anchor_suffix, &a.where[a.next], "anchor: offset %" PRIu64 " has no record behind it",
			      a.a[a.next].offset);
		}
	}
	free(a.a);
	free(a.where);
	v->files++;
}

/* ---- the rest ---- */

static void verify_plain(struct verify *v, const char *suffix)
{
	const struct stf_record *rec;
	struct stf_err e;
	struct stf_cursor *c = stf_cursor_open(v->t.r, suffix, &e);
	int more = c ? 1 : -1;

	while (more > 0 && (more = stf_cursor_next(c, &rec, &e)) > 0) {
		v->records++;
		if (rec->layout->kind == STF_KIND_STATS) {
			check_references(v, suffix, rec);
		}
	}
	stf_cursor_close(c);
	/* a fault of the declarations was already said on opening */
	if (more < 0 && stf_reader_fault(v->t.r)->offset != e.offset) {
		library_fault(v, &e);
	}
	v->files++;
}

static const char *suffix_of(const struct verify *v, uint32_t file)
{
	const struct stf_record *rec = stf_reader_find(v->t.r, STF_ID_file_declaration, file);

	return rec ? stf_value(rec, "suffix")->array : NULL;
}

static void verify_files(struct verify *v)
{
	const struct stf_record *rec, *a;
	struct stf_file_declaration d;
	struct stf_anchor_file_declaration ad;
	size_t i, k;

	for (i = 0; (rec = stf_reader_record(v->t.r, STF_ID_file_declaration, i)); i++) {
		struct place p = { NULL, 0 };
		const char *anchors = NULL;

		stf_get_file_declaration(rec, &d);
		p.suffix = d.suffix;
		stt_say(v->o, 2, "%s%s", v->t.path, d.suffix);
		if (d.filetype != STF_DATA_FILE) {
			if (d.filetype == STF_DECL_FILE || d.filetype == STF_STATS_FILE) {
				verify_plain(v, d.suffix);
			}
			continue;
		}
		for (k = 0; (a = stf_reader_record(v->t.r, STF_ID_anchor_file_declaration, k)); k++) {
			stf_get_anchor_file_declaration(a, &ad);
			if (ad.data_file == d.id) {
				p.categories |= ad.categories;
				anchors = suffix_of(v, ad.anchor_file);
			}
		}
		verify_data(v, &p, anchors);
	}
}

/* What the index states of each component's bytes. */
static void verify_bytes(struct verify *v)
{
	struct stf_check c;
	struct stf_err e;
	size_t i;
	int rc;

	for (i = 0; (rc = stf_reader_check(v->t.r, i, &c, &e)) > 0; i++) {
		v->checked += c.result == STF_CHECK_GOOD;
		if (c.result == STF_CHECK_SIZE) {
			fault(v, c.suffix, NULL, "has %" PRIu64 " bytes, the index states %" PRIu64, c.size, c.want_size);
		} else if (c.result == STF_CHECK_HASH) {
			fault(v, c.suffix, NULL, "has the checksum %016" PRIx64 ", the index states %016" PRIx64, c.hash, c.want_hash);
		} else if (c.result == STF_CHECK_MISSING) {
			fault(v, c.suffix, NULL, "is missing");
		}
	}
	if (rc < 0) {
		library_fault(v, &e);
	}
}

static void compare(struct verify *v, const struct stf_record *rec, const char *what, uint32_t said, uint64_t found)
{
	if (said != (found > UINT32_MAX ? UINT32_MAX : found)) {
		fault(v, "", rec, "event_summary: %" PRIu32 " %s, the files have %" PRIu64, said, what, found);
	}
}

static void verify_totals(struct verify *v)
{
	const struct stf_record *rec = stf_reader_record(v->t.r, STF_ID_event_summary, 0);
	struct stf_event_summary s;

	if (!rec) {
		return;
	}
	stf_get_event_summary(rec, &s);
	compare(v, rec, "functions", s.num_funcs, v->funcs);
	compare(v, rec, "messages", s.num_one_to_ones, v->messages);
	compare(v, rec, "collective operations", s.num_collectives, v->collectives);
	compare(v, rec, "scopes", s.num_scopes, v->scopes);
	compare(v, rec, "counter samples", s.num_counters, v->counters);
}

static void verify_index(struct verify *v)
{
	v->files++;
	if (stf_reader_fault(v->t.r)->code != STF_OK) {
		library_fault(v, stf_reader_fault(v->t.r));
	}
	if (!(v->t.resolution > 0)) {
		fault(v, "", NULL, "no usable clock_resolution, so no stamp can be turned into seconds");
	}
	v->has_duration = stf_reader_duration(v->t.r, &v->start, &v->end) == 0;
	if (v->has_duration && v->start > v->end) {
		fault(v, "", stf_reader_record(v->t.r, STF_ID_duration, 0), "duration: ends before it begins, %" PRIu64 " to %" PRIu64,
		      v->start, v->end);
		v->has_duration = 0;
	}
}

int stt_verify(const struct stt_options *o)
{
	struct verify v = { .o = o };

	if (stt_trace_open(&v.t, o, STF_READ_DAMAGED) < 0) {
		return STT_FAULT;
	}
	verify_index(&v);
	verify_bytes(&v);
	verify_files(&v);
	if (!v.faults) {
		/* with faults the totals only repeat them */
		verify_totals(&v);
	}
	if (stf_reader_skipped(v.t.r)) {
		stt_say(o, 1, "%s: %" PRIu64 " records of unknown kinds were skipped", o->input, stf_reader_skipped(v.t.r));
	}
	stt_say(o, 1, "%s: %" PRIu64 " components, %" PRIu64 " of them with a good checksum, %" PRIu64 " records, %" PRIu64 " fault%s",
		o->input, v.files, v.checked, v.records, v.faults, v.faults == 1 ? "" : "s");
	stt_trace_close(&v.t);
	return v.faults ? STT_FAULT : STT_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a trace. All records must be readable. Ids and threads must be declared. Records must be in the files
 * and within the times that the index states. Anchors must agree with their data, and the totals must be right.
 * No message may go back in time by more than the bound of the clocks. */
#include "config.h"
#include "tools/check/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/check/causes.h"
#include "tools/cli/files.h"
#include "stf/read/reader.h"
#include "stf/read/walk.h"
#include "stf/read/window.h"
#include "tools/check/order.h"

enum { MAX_COUNTERS = 255 }; /* in one sample */

struct verify {
	const struct stt_options *o;
	struct stt_trace t;
	uint64_t faults, files, records, checked; /* checked: components with a good checksum */
	uint64_t start, end;                      /* from the duration record */
	int has_duration;
	uint64_t funcs, scopes, counters, messages, collectives; /* as event_summary counts them */
	struct stt_causes causes;
	struct stt_order order;
};

/* The current place of the checks: one component. */
struct place {
	const char *suffix;
	uint32_t categories; /* the categories allowed in this data file, 0: the index does not say */
};

static void report_fault(struct verify *v, const char *suffix, const struct stf_record *rec, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void report_fault(struct verify *v, const char *suffix, const struct stf_record *rec, const char *fmt, ...)
{
	struct stf_err e = { .offset = rec ? rec->offset : 0, .record = rec ? rec->number : 0 };
	va_list ap;

	snprintf(e.file, sizeof(e.file), v->t.format == STT_SINGLE && *suffix ? "%s[%s]" : "%s%s", v->t.path, suffix);
	e.code = rec ? STF_ERR_FORMAT : STF_ERR_STATE;
	va_start(ap, fmt);
	vsnprintf(e.text, sizeof(e.text), fmt, ap);
	va_end(ap);
	v->faults++;
	if (!stt_cause_is_known(&v->causes, v->t.path, suffix, e.text)) {
		stt_stf_fault(v->o, &e);
	}
}

static void library_fault(struct verify *v, const struct stf_err *e)
{
	stt_stf_fault(v->o, e);
	v->faults++;
}

/* ---- one record ---- */

static int is_id_declared(const struct verify *v, unsigned class_id, uint32_t id)
{
	return id == 0 || stf_reader_find(v->t.r, class_id, id) != NULL;
}

static int willy_is_known(const struct verify *v, uint32_t willy)
{
	if (stf_willy_is_group(willy)) {
		return stf_reader_find(v->t.r, STF_ID_group_definition, willy & 0x7fffffff) != NULL;
	}
	return v->t.n_processes == 0 ||
		(stf_willy_process(willy) < v->t.n_processes &&
			stf_willy_thread(willy) < v->t.threads[stf_willy_process(willy)]);
}

static uint32_t array_element(const struct stf_field *f, const struct stf_value *value, uint32_t i)
{
	return f->type == STF_U1 ? ((const uint8_t *)value->array)[i] : ((const uint32_t *)value->array)[i];
}

/* A row of statistics of calls that send to no process, or to all. */
static int has_no_receiver(const struct stf_layout *l, const struct stf_field *f, const struct stf_value *value)
{
	return l->class_id == STF_ID_lw_statistics && !strcmp(f->name, "receiver") && value->u >= 0xfffffffe;
}

static void check_references(struct verify *v, const char *suffix, const struct stf_record *rec)
{
	const struct stf_layout *l = rec->layout;
	uint32_t i, n, id;
	unsigned k;

	for (k = 0; k < l->n_fields; k++) {
		const struct stf_field *f = &l->fields[k];
		const struct stf_value *value = &rec->values[k];

		if (f->type == STF_WILLYID && !f->is_array && !willy_is_known(v, (uint32_t)value->u) &&
			!has_no_receiver(l, f, value)) {
			report_fault(v, suffix, rec,
				"%s: %s is a thread or group that was not declared (CPU %" PRIu64 ")", l->name, f->name,
				value->u + 1);
		}
		n = !f->ref_class ? 0 : f->is_array ? value->count : 1;
		for (i = 0; i < n; i++) {
			id = f->is_array ? array_element(f, value, i) : (uint32_t)value->u;
			if (!is_id_declared(v, f->ref_class, id)) {
				report_fault(v, suffix, rec, "%s: refers to what was not declared, %s (%" PRIu32 ")",
					l->name, f->name, id);
			}
		}
	}
}

static void count_verified_record(struct verify *v, const struct stf_record *rec)
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

/* ---- anchors ---- */

struct anchor {
	struct stf_anchor a;
	uint64_t offset, number;        /* of the anchor record in its file */
	struct stf_history_state *told; /* the histories that follow it; NULL: none */
};

/* An anchor file beside its data file. Only one anchor is in memory at a time. */
struct anchors {
	struct verify *v;
	const char *suffix;
	struct stf_cursor *c;
	struct stf_record peek; /* the first record after `next`, which begins the following anchor */
	struct stf_anchor peeked;
	int has_peek, any;
	struct anchor next;
	int have;
	struct stf_walk walk; /* over the data file, up to the last record that was read */
	int walks, out_of_order;
};

/* The record begins a new anchor. */
static void peek(struct anchors *a, const struct stf_record *rec)
{
	struct stf_anchor x;

	stf_get_anchor(rec, &x);
	if (a->any ? x.offset <= a->peeked.offset : x.offset != 0) {
		report_fault(a->v, a->suffix, rec, "anchor: offset %" PRIu64 " is not %s", x.offset,
			a->any ? "above that of the anchor before" : "0, as the first must be");
	}
	a->peek = *rec;
	a->peeked = x;
	a->has_peek = a->any = 1;
}

static int take_history(struct anchor *a, const struct stf_record *rec)
{
	a->told = a->told ? a->told : stf_history_new();
	return a->told ? stf_history_take(a->told, rec) : -1;
}

/* Reads the histories of the current anchor, up to the next anchor. */
static void read_histories(struct anchors *a)
{
	const struct stf_record *rec;
	struct stf_err e;
	int more = 0, began = 0, ended = 0;

	while (!a->has_peek && (more = stf_cursor_next(a->c, &rec, &e)) > 0) {
		a->v->records++;
		if (rec->layout->class_id == STF_ID_anchor) {
			peek(a, rec);
			break;
		}
		check_references(a->v, a->suffix, rec);
		began |= rec->layout->class_id == STF_ID_begin_of_history;
		ended |= rec->layout->class_id == STF_ID_end_of_history;
		if (take_history(&a->next, rec) < 0) {
			report_fault(a->v, a->suffix, rec, "out of memory");
			break;
		}
	}
	if (more < 0) {
		library_fault(a->v, &e);
		stf_cursor_close(a->c);
		a->c = NULL;
		a->have = 0; /* the rest of the anchor's histories is not used */
	} else if ((a->next.told || a->next.a.offset == 0) && (!began || !ended)) {
		report_fault(a->v, a->suffix,
			&(struct stf_record){ .offset = a->next.offset, .number = a->next.number },
			"anchor: no %s after it", began ? "end_of_history" : "begin_of_history");
		a->have = 0;
	}
}

static void next_anchor(struct anchors *a)
{
	const struct stf_record *rec;
	struct stf_err e;
	int more = 1;

	a->have = 0;
	while (a->c && !a->have && (a->has_peek || (more = stf_cursor_next(a->c, &rec, &e)) > 0)) {
		if (!a->has_peek) {
			a->v->records++;
			if (rec->layout->class_id != STF_ID_anchor) {
				report_fault(
					a->v, a->suffix, rec, "%s: comes before the first anchor", rec->layout->name);
				continue;
			}
			peek(a, rec);
		}
		stf_history_free(a->next.told);
		a->next = (struct anchor){ .a = a->peeked, .offset = a->peek.offset, .number = a->peek.number };
		a->has_peek = 0;
		a->have = 1;
		read_histories(a);
	}
	if (more < 0) {
		library_fault(a->v, &e);
		stf_cursor_close(a->c);
		a->c = NULL;
	}
}

static void open_anchors(struct anchors *a)
{
	struct stf_err e;

	a->v->files++;
	a->c = stf_cursor_open(a->v->t.r, a->suffix, &e);
	if (!a->c) {
		library_fault(a->v, &e);
		return;
	}
	a->walks = stf_walk_begin(&a->walk) == 0;
	if (!a->walks) {
		report_fault(a->v, a->suffix, NULL, "out of memory");
	}
	next_anchor(a);
}

static void close_anchor_file(struct anchors *a)
{
	stf_cursor_close(a->c);
	stf_history_free(a->next.told);
	stf_walk_end(&a->walk);
}

/* The position of the reading in a data file. */
struct progress {
	uint64_t offset, number, time; /* of the last record */
};

/* Compares the anchors before the next record. If nothing is between that record and the last one, place and time
 * are both known exactly; time records between them leave a range. */
static void pass_anchors(struct anchors *a, const struct progress *p, uint64_t offset, uint64_t number, uint64_t now)
{
	char why[200] = "";

	for (; a->have && a->next.a.offset <= offset; next_anchor(a)) {
		struct stf_record at = { .offset = a->next.offset, .number = a->next.number };
		int certain = number == p->number + 1 && p->number;
		uint64_t t = a->next.a.time_prev, low = certain || now >= p->time ? p->time : now;
		uint64_t high = certain ? p->time : now >= p->time ? now : p->time;

		if (a->next.a.offset < offset && (certain || (p->number && a->next.a.offset <= p->offset))) {
			report_fault(a->v, a->suffix, &at,
				"anchor: offset %" PRIu64 " is inside the record at offset %" PRIu64, a->next.a.offset,
				p->offset);
		} else if (t < low || t > high) {
			report_fault(a->v, a->suffix, &at,
				"anchor: time_prev %" PRIu64 " does not fit its place in the data, "
				"between %" PRIu64 " and %" PRIu64,
				t, low, high);
		} else if (a->walks && a->next.told) {
			stf_history_drop_ended(a->walk.h, t);
			stf_history_compare(a->walk.h, a->next.told, !a->out_of_order, why, sizeof(why));
			if (why[0]) {
				report_fault(a->v, a->suffix, &at, "anchor: %s", why);
			}
		}
	}
}

/* ---- data files ---- */

/* The last run of samples that was checked; a sample that equals the last one needs no new check. */
struct known {
	uint32_t willy, k;
	int good;
	unsigned char counters[4 * MAX_COUNTERS];
};

static void check_sample(
	struct verify *v, const struct place *p, const struct stf_counter_batch *b, size_t i, struct known *good)
{
	struct stf_record rec = { .layout = stf_layout(STF_ID_counter_value),
		.time = b->times[i],
		.offset = b->offset + i * b->stride,
		.number = b->number + i };
	const unsigned char *ids = b->counters + i * b->stride;
	uint64_t before = v->faults;
	uint32_t j, id;

	if (!willy_is_known(v, stf_batch_willy(b, i))) {
		report_fault(v, p->suffix, &rec,
			"counter_value: willy is a thread or group that was not declared (CPU %" PRIu64 ")",
			(uint64_t)stf_batch_willy(b, i) + 1);
	}
	for (j = 0; j < b->k; j++) {
		id = stf_batch_counter(b, i, j);
		if (!is_id_declared(v, STF_ID_counter_definition, id)) {
			report_fault(v, p->suffix, &rec,
				"counter_value: refers to what was not declared, counters (%" PRIu32 ")", id);
		}
	}
	good->good = v->faults == before && b->k <= MAX_COUNTERS;
	if (good->good) {
		good->willy = stf_batch_willy(b, i);
		good->k = b->k;
		memcpy(good->counters, ids, 4 * (size_t)b->k);
	}
}

/* Checks samples i to n - 1, with no anchor between them. */
static void check_samples(struct verify *v, const struct place *p, struct anchors *a, const struct stf_counter_batch *b,
	size_t i, size_t n, struct known *good)
{
	const size_t ids = 4 * (size_t)b->k;
	size_t from = i;

	for (; i < n; i++) {
		const unsigned char *c = b->counters + i * b->stride;

		if (good->good && good->k == b->k && stf_batch_willy(b, i) == good->willy &&
			memcmp(c, good->counters, ids) == 0) {
			continue;
		}
		/* only the last sample of this thread and these counters is in an anchor */
		if (a->walks && i > from && stf_history_sample(a->walk.h, b, i - 1) < 0) {
			report_fault(v, p->suffix, NULL, "out of memory");
		}
		check_sample(v, p, b, i, good);
	}
	if (a->walks && n > from && stf_history_sample(a->walk.h, b, n - 1) < 0) {
		report_fault(v, p->suffix, NULL, "out of memory");
	}
}

static void check_time(struct verify *v, const struct place *p, const struct stf_record *rec)
{
	if (v->has_duration && (rec->time < v->start || rec->time > v->end)) {
		report_fault(v, p->suffix, rec, "%s: time %" PRIu64 " is outside the duration, %" PRIu64 " to %" PRIu64,
			rec->layout->name, rec->time, v->start, v->end);
	}
	if (p->categories && !(p->categories >> rec->layout->kind & 1)) {
		report_fault(v, p->suffix, rec, "%s: this file is declared for other categories (%" PRIu32 ")",
			rec->layout->name, p->categories);
	}
}

static void check_times(struct verify *v, const struct place *p, const struct stf_counter_batch *b)
{
	size_t i;

	/* times never decrease within a batch */
	if ((!v->has_duration || (b->times[0] >= v->start && b->times[b->n - 1] <= v->end)) &&
		(!p->categories || p->categories >> STF_KIND_COUNTER & 1)) {
		return;
	}
	for (i = 0; i < b->n; i++) {
		check_time(v, p,
			&(struct stf_record){ .layout = stf_layout(STF_ID_counter_value),
				.time = b->times[i],
				.offset = b->offset + i * b->stride,
				.number = b->number + i });
	}
}

static void verify_batch(struct verify *v, const struct place *p, struct anchors *a, const struct stf_counter_batch *b,
	struct progress *at, struct known *good)
{
	size_t i = 0, n;

	check_times(v, p, b);
	while (i < b->n) {
		pass_anchors(a, at, b->offset + i * b->stride, b->number + i, b->times[i]);
		a->out_of_order |= b->times[i] < at->time;
		n = b->n;
		if (a->have && a->next.a.offset <= b->offset + (n - 1) * b->stride) {
			/* an anchor belongs to the record that begins there, or to the next one */
			n = (size_t)((a->next.a.offset - b->offset + b->stride - 1) / b->stride);
		}
		check_samples(v, p, a, b, i, n, good);
		i = n;
		*at = (struct progress){ b->offset + (n - 1) * b->stride, b->number + n - 1, b->times[n - 1] };
	}
	v->counters += b->n;
	v->records += b->n;
}

static void check_event(
	struct verify *v, const struct place *p, struct anchors *a, const struct stf_cursor *c, struct progress *at)
{
	const struct stf_record *rec = &c->given->record;
	char why[200];

	pass_anchors(a, at, rec->offset, rec->number, rec->time);
	a->out_of_order |= rec->time < at->time;
	check_time(v, p, rec);
	check_references(v, p->suffix, rec);
	count_verified_record(v, rec);
	if (rec->layout->class_id == STF_ID_one_to_one_communication &&
		stt_order_message(&v->order, rec, why, sizeof(why))) {
		report_fault(v, p->suffix, rec, "%s: %s", rec->layout->name, why);
	}
	if (a->walks && stf_walk_record(&a->walk, c->given) < 0) {
		report_fault(v, p->suffix, rec, "out of memory");
	}
	*at = (struct progress){ rec->offset, rec->number, rec->time };
}

static void verify_data(struct verify *v, const struct place *p, const char *anchor_suffix)
{
	struct stf_cursor_options opt = { .suffix = p->suffix };
	struct anchors a = { .v = v, .suffix = anchor_suffix };
	struct progress at = { 0, 0, 0 };
	struct known good = { .good = 0 };
	const struct stf_record *rec;
	struct stf_counter_batch b;
	struct stf_err e;
	struct stf_cursor *c;
	int more;

	if (anchor_suffix) {
		open_anchors(&a);
	}
	c = stf_cursor_open_with(v->t.r, &opt, &e);
	more = c ? 1 : -1;
	while (more > 0 && (more = stf_cursor_next_batch(c, &rec, &b, &e)) > 0) {
		stt_progress(v->o, &v->t, more == 2 ? b.times[0] : rec->time, 0);
		if (more == 2) {
			verify_batch(v, p, &a, &b, &at, &good);
		} else {
			check_event(v, p, &a, c, &at);
		}
	}
	stf_cursor_close(c);
	stt_progress(v->o, &v->t, 0, 1);
	if (more < 0) {
		library_fault(v, &e);
	}
	for (; more == 0 && a.have; next_anchor(&a)) {
		report_fault(v, anchor_suffix, &(struct stf_record){ .offset = a.next.offset, .number = a.next.number },
			"anchor: offset %" PRIu64 " has no record after it", a.next.a.offset);
	}
	close_anchor_file(&a);
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
	/* a fault of the declarations was already printed on opening */
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

/* What is declared about the anchors of a data file. */
struct entry {
	uint32_t file, anchor_file, categories;
	size_t place;
};

static int by_file(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->file != y->file ? (x->file > y->file) - (x->file < y->file)
				  : (x->place > y->place) - (x->place < y->place);
}

/* Sorts all anchor_file_declarations by data file. NULL: no memory. */
static struct entry *list_anchors(const struct verify *v, size_t n)
{
	struct entry *e = calloc(n + 1, sizeof(*e));
	struct stf_anchor_file_declaration ad;
	size_t i;

	for (i = 0; e && i < n; i++) {
		stf_get_anchor_file_declaration(stf_reader_record(v->t.r, STF_ID_anchor_file_declaration, i), &ad);
		e[i] = (struct entry){
			.file = ad.data_file, .anchor_file = ad.anchor_file, .categories = ad.categories, .place = i
		};
	}
	if (e) {
		qsort(e, n, sizeof(*e), by_file);
	}
	return e;
}

/* Finds what is declared about the data file `id`. */
static void find_declared_place(
	const struct verify *v, const struct entry *e, size_t n, uint32_t id, struct place *p, const char **anchors)
{
	size_t lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (e[mid].file < id) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	for (; lo < n && e[lo].file == id; lo++) {
		p->categories |= e[lo].categories;
		*anchors = suffix_of(v, e[lo].anchor_file);
	}
}

static void verify_files(struct verify *v)
{
	const struct stf_record *rec, *first;
	struct stf_file_declaration d;
	size_t i, n = stf_reader_count(v->t.r, STF_ID_anchor_file_declaration);
	struct entry *e = list_anchors(v, n);

	if (!e) {
		report_fault(v, "", NULL, "out of memory");
		return;
	}
	for (i = 0; (rec = stf_reader_record(v->t.r, STF_ID_file_declaration, i)); i++) {
		struct place p = { NULL, 0 };
		const char *anchors = NULL;

		stf_get_file_declaration(rec, &d);
		p.suffix = d.suffix;
		first = stf_reader_file(v->t.r, d.suffix);
		if (first && first != rec) {
			report_fault(v, "", rec, "file_declaration: %s is declared twice", d.suffix);
			continue;
		}
		stt_say(v->o, 2, "%s%s", v->t.path, d.suffix);
		if (d.filetype != STF_DATA_FILE) {
			if (d.filetype == STF_DECL_FILE || d.filetype == STF_STATS_FILE) {
				verify_plain(v, d.suffix);
			}
			continue;
		}
		find_declared_place(v, e, n, d.id, &p, &anchors);
		verify_data(v, &p, anchors);
	}
	free(e);
}

/* Reports which pieces of a component are damaged, as far as the index has checksums of pieces. */
static void name_damage(struct verify *v, const char *suffix)
{
	struct stt_options o = *v->o;
	const struct stf_record *rec;
	struct stf_counter_batch b;
	struct stf_cursor *c;
	struct stt_trace t;
	struct stf_err e;
	char text[700];
	size_t i;

	o.verify = 0;
	if (stt_trace_open(&t, &o, STF_READ_DAMAGED) < 0) {
		return;
	}
	c = stf_cursor_open_with(t.r, &(struct stf_cursor_options){ .suffix = suffix }, &e);
	while (c && stf_cursor_next_batch(c, &rec, &b, &e) > 0) {
	}
	stf_cursor_close(c);
	for (i = 0; stt_damage_text(&t, i, text, sizeof(text)); i++) {
		if (strncmp(text, suffix, strlen(suffix)) == 0 && text[strlen(suffix)] == ':') {
			stt_fault(v->o, "%s%s", v->t.path, text);
		}
	}
	stt_trace_close(&t);
}

/* Compares the bytes of each component with the statements of the index. */
static void verify_bytes(struct verify *v)
{
	struct stf_check c;
	struct stf_err e;
	size_t i;
	int rc;

	for (i = 0; (rc = stf_reader_check(v->t.r, i, &c, &e)) > 0; i++) {
		v->checked += c.result == STF_CHECK_GOOD;
		if (c.result == STF_CHECK_SIZE) {
			report_fault(v, c.suffix, NULL, "has %" PRIu64 " bytes, the index states %" PRIu64, c.size,
				c.want_size);
		} else if (c.result == STF_CHECK_HASH) {
			name_damage(v, c.suffix);
			report_fault(v, c.suffix, NULL, "has the checksum %016" PRIx64 ", the index states %016" PRIx64,
				c.hash, c.want_hash);
		} else if (c.result == STF_CHECK_MISSING) {
			report_fault(v, c.suffix, NULL, "is missing");
		}
	}
	if (rc < 0) {
		library_fault(v, &e);
	}
}

static void compare_with_declared(
	struct verify *v, const struct stf_record *rec, const char *what, uint32_t said, uint64_t found)
{
	if (said != (found > UINT32_MAX ? UINT32_MAX : found)) {
		report_fault(v, "", rec, "event_summary: %" PRIu32 " %s, the files have %" PRIu64, said, what, found);
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
	compare_with_declared(v, rec, "functions", s.num_funcs, v->funcs);
	compare_with_declared(v, rec, "messages", s.num_one_to_ones, v->messages);
	compare_with_declared(v, rec, "collective operations", s.num_collectives, v->collectives);
	compare_with_declared(v, rec, "scopes", s.num_scopes, v->scopes);
	compare_with_declared(v, rec, "counter samples", s.num_counters, v->counters);
}

static void verify_index(struct verify *v)
{
	uint64_t surplus = v->t.format == STT_SINGLE ? stt_surplus(v->t.path) : 0;

	v->files++;
	if (surplus) {
		stt_fault(v->o, "%s: %" PRIu64 " bytes that belong to no component", v->t.path, surplus);
		v->faults++;
	}
	if (stf_reader_fault(v->t.r)->code != STF_OK) {
		library_fault(v, stf_reader_fault(v->t.r));
		v->faults += stf_reader_faults(v->t.r) - 1;
	}
	if (stf_reader_faults(v->t.r) > 1) {
		stt_fault(v->o,
			"%" PRIu64
			" more faults of the index and the declarations, such as what refers to those left out",
			stf_reader_faults(v->t.r) - 1);
	}
	if (!(v->t.resolution > 0)) {
		report_fault(v, "", NULL, "no usable clock_resolution, so no stamp can be turned into seconds");
	}
	v->has_duration = stf_reader_duration(v->t.r, &v->start, &v->end) == 0;
	if (v->has_duration && v->start > v->end) {
		report_fault(v, "", stf_reader_record(v->t.r, STF_ID_duration, 0),
			"duration: ends before it begins, %" PRIu64 " to %" PRIu64, v->start, v->end);
		v->has_duration = 0;
	}
}

int stt_verify(const struct stt_options *o)
{
	struct verify v = { .o = o };

	if (stt_trace_open(&v.t, o, STF_READ_DAMAGED) < 0) {
		return STT_FAULT;
	}
	if (stt_order_open(&v.order, &v.t) < 0) {
		report_fault(&v, "", NULL, "out of memory");
	}
	verify_index(&v);
	verify_bytes(&v);
	verify_files(&v);
	if (!v.faults) {
		/* if there are faults, the totals would only repeat them */
		verify_totals(&v);
	}
	stt_causes_end(&v.causes, o);
	if (stf_reader_skipped(v.t.r)) {
		stt_say(o, 1, "%s: %" PRIu64 " records of unknown kinds were skipped", o->input,
			stf_reader_skipped(v.t.r));
	}
	stt_say(o, 1,
		"%s: %" PRIu64 " components, %" PRIu64 " of them with a good checksum, %" PRIu64 " records, %" PRIu64
		" fault%s",
		o->input, v.files, v.checked, v.records, v.faults, v.faults == 1 ? "" : "s");
	stt_order_say(&v.order, o);
	stt_order_close(&v.order);
	stt_trace_close(&v.t);
	return v.faults ? STT_FAULT : STT_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Delivers the records of one component, or of all data files merged by time. */
#include "config.h"
#include "stf/component/native.h"
#include "stf/read/window.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/heap.h"

#define MAX_OPEN 64         /* files that stay open; if there are more, each is opened for each read */
#define AT_ONCE (32u << 20) /* bytes of all files together that are mapped or held in memory */
#define MAX_WINDOW (8u << 20)
#define MIN_WINDOW (128u << 10)
#define MAX_PIECE (256u << 10) /* so that the piece stays in the cache until its records were decoded */
#define MIN_PIECE (8u << 10)

static int source_is_earlier(const void *of, struct stf_source *const *a, struct stf_source *const *b)
{
	const struct stf_record *x = &(*a)->record, *y = &(*b)->record;

	(void)of;
	return x->time != y->time ? x->time < y->time : (*a)->number_in_trace < (*b)->number_in_trace;
}

TKM_HEAP(source_heap, struct stf_source *, source_is_earlier);

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Damaged pieces that were left out are reported at the end, unless there is a more serious fault. */
static void keep_damage(struct stf_cursor *c, const struct stf_source *s)
{
	if (c->fault.code == STF_OK) {
		stf_fail(&c->fault, STF_ERR_CHECKSUM, s->path, 0, 0, "damaged: records are left out, see which pieces");
	}
}

/* Reads the next record of a source that the cursor has to deliver. Returns 0 at the source's end or at a fault,
 * which is kept until the merge ends. */
static int advance(struct stf_cursor *c, struct stf_source *s)
{
	const struct stf_filter *f = &c->filter;
	uint64_t before = s->skipped, damaged = s->n_damaged;
	struct stf_err err; /* written only on a failure: it is too large to be cleared for each record */
	int rc;

	while ((rc = stf_source_next(s, &err)) > 0) {
		if (s->timed && s->record.time > f->to && s->record.time > plus(f->to, s->late)) {
			rc = 0;
			break;
		}
		if ((!s->timed || (s->record.time >= f->from && s->record.time <= f->to)) &&
			stf_filter_record(f, &s->record)) {
			break;
		}
	}
	c->reader->skipped += s->skipped - before;
	if (rc > 0 && c->reader->flags & STF_READ_CHECK_REFS &&
		stf_check_references(c->reader, s, &s->record, &err) < 0) {
		rc = -1;
	}
	if (s->n_damaged > damaged) {
		keep_damage(c, s);
	}
	if (rc < 0 && c->fault.code == STF_OK) {
		c->fault = err;
	}
	return rc > 0;
}

/* Adds a source and takes ownership of it. */
static int add_source(struct stf_cursor *c, struct stf_source *s)
{
	struct stf_source **place = TKM_APPEND(c->heap, c->n);

	if (!place) {
		stf_source_close(s);
		return -1;
	}
	s->number_in_trace = c->n - 1;
	*place = s;
	return 0;
}

static int add_index(struct stf_cursor *c, struct stf_err *err)
{
	struct stf_source *s = stf_source_open(&c->reader->archive, "", err);

	if (!s) {
		return -1;
	}
	s->defs = &c->reader->defs;
	if (s->size < c->reader->index_at || stf_source_seek(s, c->reader->index_at, 0, err) < 0) {
		const char *path = c->reader->archive.path;

		stf_source_close(s);
		return stf_fail(err, STF_ERR_IO, path, 0, 0, "the file became shorter while it was read");
	}
	s->lost_count = 0;
	return add_source(c, s) < 0 ? stf_no_memory(err) : 0;
}

/* Can this file hold any of the wanted records? Its anchor_file_declaration says what it holds. */
static int is_wanted(const struct stf_cursor *c, const struct stf_file_declaration *d)
{
	const struct stf_record *r = stf_reader_anchors_of(c->reader, d->id);
	struct stf_anchor_file_declaration a;

	if (!r || stf_get_anchor_file_declaration(r, &a) < 0) {
		return 1;
	}
	return !a.categories || (a.categories & c->filter.categories) || a.categories >> (STF_KIND_OTHER + 1);
}

/* A component that cannot be read does not hide the others: its fault is reported at the end. */
static int add_file(struct stf_cursor *c, const struct stf_record *f, int alone, struct stf_err *err)
{
	struct stf_source *s = stf_reader_source(c->reader, f, err);

	if (!s && !alone && err->code != STF_ERR_NOMEM) {
		if (c->fault.code == STF_OK) {
			c->fault = *err;
		}
		return 0;
	}
	if (!s) {
		return -1;
	}
	if (c->n >= MAX_OPEN) {
		stf_source_park(s);
	}
	if (add_source(c, s) < 0) {
		return stf_no_memory(err);
	}
	if (c->reader->flags & STF_READ_VERIFY && !s->blocks.n && stf_check_whole(c->reader, f, err) < 0) {
		if (err->code == STF_ERR_NOMEM) {
			return -1;
		}
		if (c->fault.code == STF_OK) {
			c->fault = *err;
		}
	}
	return 0;
}

static int add_files(struct stf_cursor *c, const char *suffix, struct stf_err *err)
{
	const struct stf_record *f;
	struct stf_file_declaration d;
	size_t i;

	if (suffix) {
		f = stf_reader_file(c->reader, suffix);
		return f ? add_file(c, f, 1, err)
			 : stf_fail(err, STF_ERR_ARG, c->reader->archive.path, 0, 0,
				   "this trace declares no component \"%s\"", suffix);
	}
	for (i = 0; (f = stf_reader_record(c->reader, STF_ID_file_declaration, i)); i++) {
		stf_get_file_declaration(f, &d);
		if (d.filetype == STF_DATA_FILE && is_wanted(c, &d) && add_file(c, f, 0, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static size_t clamp(size_t n, size_t least, size_t most)
{
	return n < least ? least : n > most ? most : n;
}

/* If there are many files, only a small piece of each is held. */
static void choose_windows(struct stf_cursor *c)
{
	int map = c->n <= MAX_OPEN && c->reader->flags & STF_READ_MAP;
	size_t i, size = c->n ? AT_ONCE / c->n : 0;

	for (i = 0; i < c->n; i++) {
		struct stf_source *s = c->heap[i];

		if (c->n > MAX_OPEN) {
			stf_source_park(s);
		}
		s->max_window = clamp(size, MIN_WINDOW, MAX_WINDOW);
		s->window = map ? MIN_WINDOW : 0;
		s->max_piece = clamp(size, MIN_PIECE, MAX_PIECE);
		s->piece = clamp(s->piece, MIN_PIECE, s->max_piece);
	}
}

/* Reads the first record of every source. Sources without records leave the heap. */
static void prime(struct stf_cursor *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->n; i++) {
		if (advance(c, c->heap[i])) {
			c->heap[n++] = c->heap[i];
		} else {
			stf_source_close(c->heap[i]);
		}
	}
	c->n = n;
	for (i = n / 2; i-- > 0;) {
		source_heap_sift(NULL, c->heap, c->n, i);
	}
}

static int set_filter(struct stf_cursor *c, const struct stf_cursor_options *o, struct stf_err *err)
{
	struct stf_filter *f = &c->filter;

	f->categories = o->categories ? o->categories : UINT32_MAX;
	f->to = UINT64_MAX;
	if (o->window) {
		f->from = o->from;
		f->to = o->to;
		if (f->from > f->to) {
			return stf_fail(err, STF_ERR_ARG, NULL, 0, 0, "the window ends before it begins");
		}
	}
	if (o->n_willies) {
		c->willys = malloc(o->n_willies * sizeof(*c->willys));
		if (!c->willys) {
			return stf_no_memory(err);
		}
		memcpy(c->willys, o->willies, o->n_willies * sizeof(*c->willys));
		f->willys = c->willys;
		f->n_willys = o->n_willies;
	}
	return 0;
}

static void find_lateness(struct stf_cursor *c)
{
	uint64_t late;
	size_t i;

	for (i = 0; i < c->n; i++) {
		late = c->heap[i]->timed
			? stf_reader_late(
				  c->reader, stf_reader_find(c->reader, STF_ID_file_declaration, c->heap[i]->file))
			: 0;
		c->order.late = late > c->order.late ? late : c->order.late;
	}
}

struct stf_cursor *stf_cursor_open_with(
	struct stf_reader *r, const struct stf_cursor_options *given, struct stf_err *err)
{
	struct stf_cursor_options own = { 0 }, *o = &own;
	struct stf_cursor *c;
	int rc;

	err->code = STF_OK;
	if (given && stf_take_options(o, sizeof(*o), given, sizeof(*o), "stf_cursor_options", err) < 0) {
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (!c) {
		stf_no_memory(err);
		return NULL;
	}
	c->reader = r;
	rc = set_filter(c, o, err);
	if (rc == 0) {
		rc = o->suffix && !*o->suffix ? add_index(c, err) : add_files(c, o->suffix, err);
	}
	if (rc == 0) {
		choose_windows(c);
		rc = o->window ? stf_window_begin(c, o->state, err) : 0;
	}
	if (rc < 0) {
		stf_cursor_close(c);
		return NULL;
	}
	if (o->in_order) {
		find_lateness(c);
	}
	prime(c);
	return c;
}

struct stf_cursor *stf_cursor_open(struct stf_reader *r, const char *suffix, struct stf_err *err)
{
	struct stf_cursor_options o = { .suffix = suffix };

	return stf_cursor_open_with(r, &o, err);
}

/* Removes the first source, which is at its end. */
static void drop_given(struct stf_cursor *c)
{
	stf_source_close(c->given);
	c->given = NULL;
	c->heap[0] = c->heap[--c->n];
	source_heap_sift(NULL, c->heap, c->n, 0);
}

/* Reads the next record of the source that delivered last. */
static void replace_given(struct stf_cursor *c)
{
	if (c->given && !advance(c, c->given)) {
		drop_given(c);
	} else if (c->given) {
		source_heap_sift(NULL, c->heap, c->n, 0);
		c->given = NULL;
	}
}

static int at_end(const struct stf_cursor *c, struct stf_err *err)
{
	if (c->fault.code != STF_OK) {
		*err = c->fault;
		return -1;
	}
	return 0;
}

/* Delivers the records in the order of the files. */
static int next_in_files(struct stf_cursor *c, const struct stf_record **rec, struct stf_err *err)
{
	if (c->next_state < c->n_state) {
		*rec = c->state[c->next_state++];
		return 1;
	}
	replace_given(c);
	if (c->n) {
		c->given = c->heap[0];
		*rec = &c->given->record;
		return 1;
	}
	return at_end(c, err);
}

int stf_cursor_next(struct stf_cursor *c, const struct stf_record **rec, struct stf_err *err)
{
	if (!c->order.late || c->next_state < c->n_state) {
		return next_in_files(c, rec, err);
	}
	while (!(*rec = stf_order_take(&c->order))) {
		if (c->order.ended) {
			return at_end(c, err);
		}
		if (next_in_files(c, rec, err) <= 0) {
			c->order.ended = 1;
		} else if (stf_order_put(&c->order, *rec) < 0) {
			return stf_no_memory(err);
		}
	}
	return 1;
}

/* The latest time up to which the first source precedes all others. */
static uint64_t earliest_of_others(const struct stf_cursor *c)
{
	const struct stf_source *o;

	if (c->n < 2) {
		return UINT64_MAX;
	}
	o = c->n > 2 && source_is_earlier(NULL, &c->heap[2], &c->heap[1]) ? c->heap[2] : c->heap[1];
	return c->heap[0]->number_in_trace < o->number_in_trace ? o->record.time : o->record.time - 1;
}

/* Delivers samples from the record of the first source on. Returns 0: the source is at its end instead; -1: no
 * memory. */
static int take_batch(struct stf_cursor *c, struct stf_counter_batch *b)
{
	struct stf_source *s = c->given;
	const struct stf_fdef *def = s->defs->def[STF_ID_counter_value];
	struct stf_counter_value v;

	b->file = s->file;
	if (s->timed && def && def->native && !(c->reader->flags & STF_READ_CHECK_REFS)) {
		stf_source_back(s);
		if (stf_native_counters(s, &c->filter, earliest_of_others(c), b)) {
			return 1;
		}
		/* a sample that cannot be used at its place in the file */
		if (!advance(c, s)) {
			drop_given(c);
			return 0;
		}
	}
	stf_get_counter_value(&s->record, &v);
	stf_one_counter(s, &v, b);
	return b->n ? 1 : -1;
}

int stf_cursor_next_batch(
	struct stf_cursor *c, const struct stf_record **rec, struct stf_counter_batch *b, struct stf_err *err)
{
	int rc;

	do {
		rc = stf_cursor_next(c, rec, err);
		if (rc <= 0 || !c->given || c->order.late || (*rec)->layout->id != STF_ID_counter_value) {
			return rc;
		}
		rc = take_batch(c, b);
	} while (rc == 0);
	return rc > 0 ? 2 : stf_no_memory(err);
}

int stf_cursor_counters(struct stf_cursor *c, struct stf_counter_batch *b, struct stf_err *err)
{
	const struct stf_record *rec;
	int rc;

	c->next_state = c->n_state;
	do {
		rc = stf_cursor_next_batch(c, &rec, b, err);
	} while (rc == 1);
	return rc == 2 ? 1 : rc;
}

void stf_cursor_close(struct stf_cursor *c)
{
	size_t i;

	if (!c) {
		return;
	}
	for (i = 0; i < c->n; i++) {
		stf_source_close(c->heap[i]);
	}
	for (i = 0; i < c->n_state; i++) {
		free(c->state[i]);
	}
	stf_order_free(&c->order);
	free(c->state);
	free(c->willys);
	free(c->heap);
	free(c);
}

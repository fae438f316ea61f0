/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes Parquet: the samples of counters to NAME.parquet, all other events to NAME.events.parquet. Within a row
 * group the samples are sorted by thread and counter, then by time. So neighbouring values are similar and
 * compress well. */
#include "config.h"
#include "exchange/parquet/parquet_file.h"
#include "exchange/common/json.h"
#include "exchange/common/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/table.h"

enum {
	SAMPLES = 1 << 19, /* the largest number of rows of a row group */
	EVENTS = 1 << 17
};

enum { S_TIME, S_BOUND, S_HOST, S_RANK, S_THREAD, S_COUNTER, S_VALUE, S_UNIT, S_GROUP, S_INT, S_COLUMNS };

static const struct xch_parquet_column sample_column[S_COLUMNS] = {
	[S_TIME] = { "time_ns", PQ_INT, 0 },
	[S_BOUND] = { "bound_ns", PQ_INT, 1 },
	[S_HOST] = { "host", PQ_TEXT, 1 },
	[S_RANK] = { "rank", PQ_INT, 1 },
	[S_THREAD] = { "thread", PQ_INT, 1 },
	[S_COUNTER] = { "counter", PQ_TEXT, 0 },
	[S_VALUE] = { "value", PQ_DOUBLE, 0 },
	[S_UNIT] = { "unit", PQ_TEXT, 1 },
	[S_GROUP] = { "group", PQ_TEXT, 1 },
	[S_INT] = { "value_int", PQ_INT, 1 },
};

enum {
	E_TIME,
	E_BOUND,
	E_HOST,
	E_RANK,
	E_THREAD,
	E_GROUP,
	E_KIND,
	E_NAME,
	E_CLASS,
	E_ID,
	E_OTHER_RANK,
	E_OTHER_THREAD,
	E_COMMUNICATOR,
	E_TAG,
	E_BYTES,
	E_RECEIVED,
	E_NUMBER,
	E_TEXT,
	E_LOCATION,
	E_COLUMNS
};

static const struct xch_parquet_column event_column[E_COLUMNS] = {
	[E_TIME] = { "time_ns", PQ_INT, 0 },
	[E_BOUND] = { "bound_ns", PQ_INT, 1 },
	[E_HOST] = { "host", PQ_TEXT, 1 },
	[E_RANK] = { "rank", PQ_INT, 1 },
	[E_THREAD] = { "thread", PQ_INT, 1 },
	[E_GROUP] = { "group", PQ_TEXT, 1 },
	[E_KIND] = { "kind", PQ_TEXT, 0 },
	[E_NAME] = { "name", PQ_TEXT, 1 },
	[E_CLASS] = { "class", PQ_TEXT, 1 },
	[E_ID] = { "id", PQ_INT, 1 },
	[E_OTHER_RANK] = { "other_rank", PQ_INT, 1 },
	[E_OTHER_THREAD] = { "other_thread", PQ_INT, 1 },
	[E_COMMUNICATOR] = { "communicator", PQ_TEXT, 1 },
	[E_TAG] = { "tag", PQ_INT, 1 },
	[E_BYTES] = { "bytes", PQ_INT, 1 },
	[E_RECEIVED] = { "received", PQ_INT, 1 },
	[E_NUMBER] = { "number", PQ_INT, 1 },
	[E_TEXT] = { "text", PQ_TEXT, 1 },
	[E_LOCATION] = { "location", PQ_TEXT, 1 },
};

/* A list of distinct texts, indexed by their number. */
struct words {
	struct tkm_table number; /* of each text: int64_t, counted from 1 */
	const char **text;
	size_t n, cap;
};

/* The numbers of the texts of definitions: name and class of functions, name and unit of counters, host and group
 * of threads, ... */
struct pair {
	int64_t a, b;
};

/* All samples of one counter of one thread in the current row group. */
struct series {
	uint32_t place, counter;
	uint32_t n, at; /* number of rows; where the next row goes */
};

struct table {
	FILE *f;
	struct xch_parquet_file *p;
	char *name;
	size_t n; /* rows of the current row group */
};

struct state {
	struct xch_writer *w;
	struct xch_trace *t;
	struct table samples, events;
	struct words words;
	struct pair *place, *counter, *communicator, *named;
	/* samples in the order of their arrival */
	uint64_t *time;
	int64_t *bits;
	uint32_t *of; /* the series of each sample */
	struct series *series;
	size_t n_series, cap_series;
	uint32_t **slot; /* for each place that has samples, for each counter: its series + 1 */
	/* the current column, and the order of its rows */
	int64_t *column;
	uint32_t *order;
	/* events by column, and the texts of comments */
	int64_t *event[E_COLUMNS];
	const char **text;
	size_t n_texts;
};

/* ---- texts ---- */

/* The number of a text, -1: out of memory. */
static int64_t word_number(struct words *w, const char *text)
{
	char *valid = xch_utf8(text);
	int64_t *number = NULL;

	if (valid && TKM_GROW(w->text, w->cap, w->n + 1) == 0) {
		number = tkm_table_put(&w->number, valid, strlen(valid) + 1, sizeof(*number));
	}
	if (number && !*number) {
		w->text[w->n++] = tkm_table_key(number);
		*number = (int64_t)w->n;
	}
	free(valid);
	return number ? *number - 1 : -1;
}

/* The number of a text that may be missing. Returns 0 or -1. */
static int optional_word(struct words *w, const char *text, int64_t *number)
{
	*number = text && *text ? word_number(w, text) : PQ_NULL;
	return *number == -1 ? -1 : 0;
}

/* Returns 0 or -1. */
static int collect_words(struct state *s)
{
	const struct xch_trace *t = s->t;
	const struct xch_named *n;
	struct words *w = &s->words;
	enum xch_kind kind;
	size_t i, k;
	int bad = 0;

	for (kind = 0; kind <= XCH_REPORT; kind++) {
		/* these texts come first, so their numbers equal the kinds */
		bad |= word_number(w, xch_kind_word(kind)) < 0;
	}
	s->place = calloc(t->n_places + 1, sizeof(*s->place));
	s->counter = calloc(t->n_counters + 1, sizeof(*s->counter));
	s->communicator = calloc(t->n_communicators + 1, sizeof(*s->communicator));
	s->named = calloc((size_t)t->n_names + 1, sizeof(*s->named));
	if (bad || !s->place || !s->counter || !s->communicator || !s->named) {
		return -1;
	}
	for (k = 0; k < XCH_LISTS; k++) {
		for (i = 0; i < t->names[k].n; i++) {
			n = &t->names[k].v[i];
			bad |= optional_word(w, n->name, &s->named[n->number].a);
			bad |= optional_word(w, n->cls, &s->named[n->number].b);
		}
	}
	for (i = 0; i < t->n_places; i++) {
		bad |= optional_word(w, t->place[i].host, &s->place[i].a);
		bad |= optional_word(w, t->place[i].is_group ? t->place[i].name : NULL, &s->place[i].b);
	}
	for (i = 0; i < t->n_counters; i++) {
		s->counter[i].a = word_number(w, t->counter[i].name);
		bad |= s->counter[i].a < 0 ? -1 : optional_word(w, t->counter[i].unit, &s->counter[i].b);
	}
	for (i = 0; i < t->n_communicators; i++) {
		bad |= optional_word(w, t->communicator[i].name, &s->communicator[i].a);
	}
	return bad ? -1 : 0;
}

/* ---- samples ---- */

/* Finds or begins the series of a counter. NULL: out of memory. */
static struct series *series_of(struct state *s, const struct xch_place *p, const struct xch_counter *c)
{
	uint32_t **slots = &s->slot[p->index], *at;

	if (!*slots && !(*slots = calloc(s->t->n_counters, sizeof(**slots)))) {
		return NULL;
	}
	at = &(*slots)[c->index];
	if (!*at) {
		if (TKM_GROW(s->series, s->cap_series, s->n_series + 1) < 0) {
			return NULL;
		}
		s->series[s->n_series] = (struct series){ p->index, c->index, 0, 0 };
		*at = (uint32_t)++s->n_series;
	}
	return &s->series[*at - 1];
}

static int compare_series(const void *a, const void *b)
{
	const struct series *x = *(const struct series *const *)a, *y = *(const struct series *const *)b;

	if (x->place != y->place) {
		return x->place < y->place ? -1 : 1;
	}
	return x->counter < y->counter ? -1 : x->counter > y->counter;
}

/* Fills s->order: the rows sorted by thread and counter, then in the order of arrival. */
static int sort_samples(struct state *s, struct series ***sorted)
{
	struct series **v = malloc(s->n_series * sizeof(struct series *));
	uint32_t at = 0;
	size_t i;

	if (!v) {
		return -1;
	}
	for (i = 0; i < s->n_series; i++) {
		v[i] = &s->series[i];
	}
	qsort(v, s->n_series, sizeof(struct series *), compare_series);
	for (i = 0; i < s->n_series; i++) {
		v[i]->at = at;
		at += v[i]->n;
	}
	for (i = 0; i < s->samples.n; i++) {
		s->order[s->series[s->of[i]].at++] = (uint32_t)i;
	}
	*sorted = v;
	return 0;
}

/* Returns the integer if a double cannot represent it exactly, else PQ_NULL. */
static int64_t only_integer(const struct xch_counter *c, int64_t bits)
{
	double d = c->type == STF_COUNTER_I8 ? (double)bits : (double)(uint64_t)bits;
	__int128 whole = c->type == STF_COUNTER_I8 ? (__int128)bits : (__int128)(uint64_t)bits;

	return c->type == STF_COUNTER_F8 || (__int128)d == whole ? PQ_NULL : bits;
}

static int64_t as_double(const struct xch_counter *c, int64_t bits)
{
	double d = c->type == STF_COUNTER_I8 ? (double)bits : (double)(uint64_t)bits;

	if (c->type != STF_COUNTER_F8) {
		memcpy(&bits, &d, sizeof(bits));
	}
	return bits;
}

static int64_t bound_of(const struct state *s, const struct xch_place *p, uint64_t time)
{
	int64_t ns = xch_bound_ns(s->t, p, time);

	return ns < 0 ? PQ_NULL : ns;
}

/* Fetches the n values of a column that belong to one series, from row s->order[0] on. */
static void fill(const struct state *s, const struct series *r, int column, const uint32_t *order, int64_t *out)
{
	const struct xch_place *p = &s->t->place[r->place];
	const struct xch_counter *c = &s->t->counter[r->counter];
	int64_t all = PQ_NULL;
	uint32_t i;

	switch (column) {
	case S_TIME:
		for (i = 0; i < r->n; i++) {
			out[i] = xch_ns(s->t, s->time[order[i]]);
		}
		return;
	case S_BOUND:
		for (i = 0; i < r->n; i++) {
			out[i] = bound_of(s, p, s->time[order[i]]);
		}
		return;
	case S_VALUE:
		for (i = 0; i < r->n; i++) {
			out[i] = as_double(c, s->bits[order[i]]);
		}
		return;
	case S_INT:
		for (i = 0; i < r->n; i++) {
			out[i] = only_integer(c, s->bits[order[i]]);
		}
		return;
	case S_HOST:
		all = s->place[r->place].a;
		break;
	case S_GROUP:
		all = s->place[r->place].b;
		break;
	case S_RANK:
		all = p->is_group ? PQ_NULL : p->process;
		break;
	case S_THREAD:
		all = p->is_group ? PQ_NULL : p->thread;
		break;
	default:
		all = column == S_COUNTER ? s->counter[r->counter].a : s->counter[r->counter].b;
		break;
	}
	for (i = 0; i < r->n; i++) {
		out[i] = all;
	}
}

static int failed(const struct state *s, const struct table *b, struct tkm_err *err)
{
	return ferror(b->f) ? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write %s", b->name)
			    : xch_fail_memory(err, s->w->target);
}

static int flush_samples(struct state *s, struct tkm_err *err)
{
	struct series **v = NULL;
	size_t i, at;
	int rc, k;

	if (!s->samples.n) {
		return 0;
	}
	rc = sort_samples(s, &v) < 0 || xch_parquet_rows(s->samples.p, s->samples.n) < 0 ? -1 : 0;
	for (k = 0; k < S_COLUMNS && rc == 0; k++) {
		for (at = 0, i = 0; i < s->n_series; at += v[i]->n, i++) {
			fill(s, v[i], k, s->order + at, s->column + at);
		}
		rc = xch_parquet_put(s->samples.p, s->column, s->words.text, s->words.n);
	}
	free(v);
	for (i = 0; i < s->n_series; i++) {
		s->slot[s->series[i].place][s->series[i].counter] = 0;
	}
	s->samples.n = s->n_series = 0;
	return rc < 0 ? failed(s, &s->samples, err) : 0;
}

static int sample(struct state *s, const struct xch_event *e, struct tkm_err *err)
{
	struct series *r;
	uint32_t i;
	size_t n;

	for (i = 0; i < e->u.sample.n; i++) {
		if (s->samples.n == SAMPLES && flush_samples(s, err) < 0) {
			return -1;
		}
		r = series_of(s, e->place, e->u.sample.counter[i]);
		if (!r) {
			return xch_fail_memory(err, s->w->target);
		}
		n = s->samples.n++;
		s->time[n] = e->time;
		s->bits[n] = (int64_t)e->u.sample.values[i];
		s->of[n] = (uint32_t)(r - s->series);
		r->n++;
	}
	return 0;
}

/* ---- events ---- */

static int flush_events(struct state *s, struct tkm_err *err)
{
	struct table *b = &s->events;
	size_t i;
	int rc, k;

	if (!b->n) {
		return 0;
	}
	rc = xch_parquet_rows(b->p, b->n);
	for (k = 0; k < E_COLUMNS && rc == 0; k++) {
		rc = xch_parquet_put(b->p, s->event[k], k == E_TEXT ? s->text : s->words.text,
			k == E_TEXT ? s->n_texts : s->words.n);
	}
	for (i = 0; i < s->n_texts; i++) {
		free((char *)(uintptr_t)s->text[i]);
	}
	s->n_texts = b->n = 0;
	return rc < 0 ? failed(s, b, err) : 0;
}

static void put_named(const struct state *s, size_t n, const struct xch_named *x)
{
	if (x) {
		s->event[E_NAME][n] = s->named[x->number].a;
		s->event[E_CLASS][n] = s->named[x->number].b;
	}
}

static void put_other(int64_t **row, size_t n, const struct xch_place *p)
{
	if (p && !p->is_group) {
		row[E_OTHER_RANK][n] = p->process;
		row[E_OTHER_THREAD][n] = p->thread;
	}
}

static void put_communicator(const struct state *s, int64_t **row, size_t n, uint32_t id)
{
	const struct xch_communicator *c = xch_communicator(s->t, id);

	if (c) {
		row[E_COMMUNICATOR][n] = s->communicator[c->index].a;
	}
}

/* The text of a comment or report. */
static int put_text(struct state *s, size_t n, const char *text)
{
	s->text[s->n_texts] = xch_utf8(text);
	s->event[E_TEXT][n] = (int64_t)s->n_texts;
	return s->text[s->n_texts] ? (s->n_texts++, 0) : -1;
}

static int other_event(struct state *s, const struct xch_event *e, size_t n)
{
	int64_t **row = s->event;

	switch (e->kind) {
	case XCH_ENTER:
	case XCH_LEAVE:
		break;
	case XCH_SEND:
	case XCH_RECEIVE:
		row[E_ID][n] = (int64_t)e->u.message.id;
		row[E_TAG][n] = e->u.message.tag;
		row[E_BYTES][n] = e->u.message.size;
		put_other(row, n, e->u.message.other);
		put_communicator(s, row, n, e->u.message.communicator);
		break;
	case XCH_COLL_BEGIN:
	case XCH_COLL_END:
		row[E_ID][n] = (int64_t)e->u.coll.id;
		row[E_BYTES][n] = (int64_t)e->u.coll.sent;
		row[E_RECEIVED][n] = (int64_t)e->u.coll.received;
		put_other(row, n, e->u.coll.root);
		put_communicator(s, row, n, e->u.coll.communicator);
		break;
	case XCH_IO_BEGIN:
	case XCH_IO_END:
		row[E_NUMBER][n] = e->u.io.type;
		row[E_BYTES][n] = e->u.io.bytes;
		break;
	case XCH_SCOPE_BEGIN:
	case XCH_SCOPE_END:
		row[E_NUMBER][n] = e->u.scope_number;
		break;
	default:
		return put_text(s, n, e->u.text.text);
	}
	put_named(s, n, e->what);
	return 0;
}

static int parquet_event(struct xch_writer *w, struct xch_trace *t, const struct xch_event *e, struct tkm_err *err)
{
	struct state *s = w->state;
	const struct xch_place *p = e->place;
	size_t n;
	int k;

	if (e->kind == XCH_SAMPLE) {
		return sample(s, e, err);
	}
	if (s->events.n == EVENTS && flush_events(s, err) < 0) {
		return -1;
	}
	n = s->events.n++;
	for (k = 0; k < E_COLUMNS; k++) {
		s->event[k][n] = PQ_NULL;
	}
	s->event[E_TIME][n] = xch_ns(t, e->time);
	s->event[E_BOUND][n] = bound_of(s, p, e->time);
	s->event[E_HOST][n] = s->place[p->index].a;
	s->event[E_GROUP][n] = s->place[p->index].b;
	s->event[E_KIND][n] = e->kind;
	if (e->where) {
		s->event[E_LOCATION][n] = s->named[e->where->number].a;
	}
	if (!p->is_group) {
		s->event[E_RANK][n] = p->process;
		s->event[E_THREAD][n] = p->thread;
	}
	return other_event(s, e, n) < 0 ? xch_fail_memory(err, w->target) : 0;
}

/* ---- all of it ---- */

static int say_trace(const struct state *s, struct xch_parquet_file *p)
{
	const char *cls, *text;
	char number[48], key[300];
	size_t i;
	int rc;

	snprintf(number, sizeof(number), "%.17g", s->t->resolution);
	rc = xch_parquet_say(p, "tickmark::resolution_s", number);
	rc |= xch_parquet_say(p, "tickmark::bytes_at_least", "4294967295");
	if (!isnan(s->t->worst_bound)) {
		xch_real(s->t->worst_bound, number);
		rc |= xch_parquet_say(p, "tickmark::bound_s", number);
	}
	for (i = 0; xch_next_info(s->t, &i, &cls, &text);) {
		char *c, *v = xch_utf8(text);

		snprintf(key, sizeof(key), "tickmark::info::%s", cls);
		c = xch_utf8(key);
		rc |= c && v ? xch_parquet_say(p, c, v) : -1;
		free(c);
		free(v);
	}
	return rc;
}

static int open_table(struct state *s, struct table *b, const char *name, const struct xch_parquet_column *column,
	size_t n, struct tkm_err *err)
{
	b->name = strdup(name);
	if (!b->name) {
		return xch_fail_memory(err, s->w->target);
	}
	b->f = xch_create(s->w, name, err);
	if (!b->f) {
		return -1;
	}
	b->p = xch_parquet_open(b->f, column, n);
	return b->p && say_trace(s, b->p) == 0 ? 0 : xch_fail_memory(err, s->w->target);
}

static int get_memory(struct state *s)
{
	int k, bad = 0;

	s->time = malloc(SAMPLES * sizeof(*s->time));
	s->bits = malloc(SAMPLES * sizeof(*s->bits));
	s->of = malloc(SAMPLES * sizeof(*s->of));
	s->column = malloc(SAMPLES * sizeof(*s->column));
	s->order = malloc(SAMPLES * sizeof(*s->order));
	s->text = malloc(EVENTS * sizeof(*s->text));
	s->slot = calloc(s->t->n_places + 1, sizeof(*s->slot));
	for (k = 0; k < E_COLUMNS; k++) {
		s->event[k] = malloc(EVENTS * sizeof(*s->event[k]));
		bad |= !s->event[k];
	}
	return bad || !s->time || !s->bits || !s->of || !s->column || !s->order || !s->text || !s->slot ? -1 : 0;
}

static int parquet_open(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct state *s = w->state;
	char *name = NULL;
	int rc;

	s->w = w;
	s->t = t;
	if (get_memory(s) < 0 || collect_words(s) < 0 || asprintf(&name, "%s.events.parquet", w->stem) < 0) {
		return xch_fail_memory(err, w->target);
	}
	rc = open_table(s, &s->samples, w->base, sample_column, S_COLUMNS, err) < 0 ||
			open_table(s, &s->events, name, event_column, E_COLUMNS, err) < 0
		? -1
		: 0;
	free(name);
	return rc;
}

static int close_table(struct state *s, struct table *b, struct tkm_err *err)
{
	struct xch_parquet_file *p = b->p;
	FILE *f = b->f;

	b->p = NULL;
	if (xch_parquet_close(p, 0) < 0) {
		return failed(s, b, err);
	}
	b->f = NULL;
	return xch_close(s->w, f, b->name, err);
}

static int parquet_end(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	struct state *s = w->state;

	(void)t;
	return flush_samples(s, err) < 0 || flush_events(s, err) < 0 || close_table(s, &s->samples, err) < 0 ||
			close_table(s, &s->events, err) < 0
		? -1
		: 0;
}

static void release_table(struct table *b)
{
	xch_parquet_close(b->p, 1);
	if (b->f) {
		fclose(b->f);
	}
	free(b->name);
}

static void parquet_release(struct xch_writer *w, struct xch_trace *t)
{
	struct state *s = w->state;
	size_t i, k;

	release_table(&s->samples);
	release_table(&s->events);
	for (i = 0; s->slot && i < t->n_places; i++) {
		free(s->slot[i]);
	}
	for (i = 0; i < s->n_texts; i++) {
		free((char *)(uintptr_t)s->text[i]);
	}
	for (k = 0; k < E_COLUMNS; k++) {
		free(s->event[k]);
	}
	tkm_table_free(&s->words.number);
	free(s->words.text);
	free(s->place);
	free(s->counter);
	free(s->named);
	free(s->communicator);
	free(s->time);
	free(s->bits);
	free(s->of);
	free(s->series);
	free(s->slot);
	free(s->column);
	free(s->order);
	free(s->text);
}

const struct xch_format xch_parquet = {
	.name = "PARQUET",
	.suffix = ".parquet",
	.what = "Apache Parquet, a table of samples and one of events",
	.mark = "Tickmark version ",
	.holds = XCH_MOST | XCH_SCOPED | XCH_BIT(XCH_COMMENT) | XCH_BIT(XCH_REPORT) | XCH_BIT(XCH_LOCATIONS) |
		XCH_BIT(XCH_INFOS),
	.state_size = sizeof(struct state),
	.open = parquet_open,
	.event = parquet_event,
	.end = parquet_end,
	.release = parquet_release,
};

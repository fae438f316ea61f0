/* SPDX-License-Identifier: BSD-3-Clause */
/* --print-counters: lists every counter, and summarises its samples on each thread: values, or rates for running
 * totals. The unit is the one that the trace's "counter-display" infos ask for. */
#include "config.h"
#include "tools/print/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "tools/cli/request.h"

enum { SHOWN_COLUMNS = 12 }; /* the other columns are only for programs */

struct series {
	uint32_t counter, willy;
	unsigned type;
	int total; /* a running total, which is shown as a rate */
	uint64_t samples, nans;
	uint64_t min, max; /* bits, of the counter's own type */
	long double sum;
	/* of a running total, between consecutive stamps; rates are per second */
	long double first, last;
	double min_rate, max_rate;
	uint64_t first_time, last_time, rates;
};

/* How a counter is shown: value or rate per second times factor, in unit. */
struct shown {
	double factor;
	const char *unit;
	size_t unit_len;
	int recorded; /* show recorded values unchanged, to the last digit */
};

/* The series that was last found for each of these keys, because the counters of a thread recur. */
enum { RECENT = 4096 };

static struct series *find_series(struct tkm_table *t, struct series **recent, uint32_t counter, uint32_t willy)
{
	const uint32_t key[2] = { counter, willy };
	/* the process is in the lower half of a willy, the thread in the upper one */
	struct series **last = &recent[((willy & 0xffff) * 16 + (willy >> 16) * 1361 + counter) % RECENT], *s = *last;

	if (s && s->counter == counter && s->willy == willy) {
		return s;
	}
	s = *last = tkm_table_put(t, key, sizeof(key), sizeof(*s));
	if (s && !s->samples) {
		s->counter = counter;
		s->willy = willy;
	}
	return s;
}

static double double_of_bits(uint64_t u)
{
	double d;

	memcpy(&d, &u, sizeof(d));
	return d;
}

static int value_is_less(unsigned type, uint64_t a, uint64_t b)
{
	switch (type & 15) {
	case STF_COUNTER_I8:
		return (int64_t)a < (int64_t)b;
	case STF_COUNTER_F8:
		return double_of_bits(a) < double_of_bits(b);
	default:
		return a < b;
	}
}

static long double as_real(unsigned type, uint64_t v)
{
	switch (type & 15) {
	case STF_COUNTER_I8:
		return (long double)(int64_t)v;
	case STF_COUNTER_F8:
		return (long double)double_of_bits(v);
	default:
		return (long double)v;
	}
}

/* Computes in double precision, so that 10^9 units of 1e-9 s are one second. */
static double rate_of_change(long double change, uint64_t units, double resolution)
{
	return (double)change / ((double)units * resolution);
}

/* Adds the next sample of a running total. Of several samples at one stamp the first counts, because no time
 * passes between them. */
static void see_total(struct series *s, double resolution, uint64_t time, long double v)
{
	double rate;

	if (s->samples - s->nans == 1) {
		s->first = v;
		s->first_time = time;
	} else if (time <= s->last_time) {
		return;
	} else {
		rate = rate_of_change(v - s->last, time - s->last_time, resolution);
		s->min_rate = !s->rates || rate < s->min_rate ? rate : s->min_rate;
		s->max_rate = !s->rates || rate > s->max_rate ? rate : s->max_rate;
		s->rates++;
	}
	s->last = v;
	s->last_time = time;
}

static void add_sample(struct series *s, double resolution, uint64_t time, uint64_t v)
{
	s->samples++;
	if ((s->type & 15) == STF_COUNTER_F8 && isnan(double_of_bits(v))) {
		s->nans++;
		return;
	}
	if (s->samples - s->nans == 1) {
		s->min = s->max = v;
	}
	s->min = value_is_less(s->type, v, s->min) ? v : s->min;
	s->max = value_is_less(s->type, s->max, v) ? v : s->max;
	s->sum += as_real(s->type, v);
	if (s->total) {
		see_total(s, resolution, time, as_real(s->type, v));
	}
}

static int read_counter_series(struct stt_report *r, const struct stt_trace *t, struct tkm_table *table)
{
	const struct stf_record *rec, *def;
	struct stf_counter_value c;
	struct stf_err e;
	struct stf_cursor *cursor = stt_request_cursor(r->req, t, &e);
	struct series *s, *recent[RECENT] = { NULL };
	int more = cursor ? 1 : -1;
	uint32_t i;

	while (more > 0 && (more = stf_cursor_next(cursor, &rec, &e)) > 0) {
		if (stf_get_counter_value(rec, &c) < 0 || !stt_request_wants(r->req, t, rec)) {
			continue;
		}
		for (i = 0; i < c.size_1_2; i++) {
			s = find_series(table, recent, c.counters[i], c.willy);
			if (!s) {
				stf_cursor_close(cursor);
				return stt_fault(r->o, "%s: out of memory for its counters", t->path);
			}
			def = s->samples ? NULL : stf_reader_find(t->r, STF_ID_counter_definition, c.counters[i]);
			if (def) {
				s->type = (unsigned)stf_value(def, "type")->u;
				s->total = stf_value(def, "do_diff")->u != 0;
			}
			add_sample(s, t->resolution, rec->time, c.values[i]);
		}
	}
	stf_cursor_close(cursor);
	return more < 0 ? stt_cursor_fault(r->o, &e) : STT_OK;
}

static int by_counter(const void *a, const void *b)
{
	const struct series *x = *(struct series *const *)a, *y = *(struct series *const *)b;

	return x->counter != y->counter ? (x->counter > y->counter) - (x->counter < y->counter)
					: (x->willy > y->willy) - (x->willy < y->willy);
}

static void value_cell(struct stt_table *b, unsigned type, uint64_t v)
{
	switch (type & 15) {
	case STF_COUNTER_I8:
		stt_cell_int(b, (int64_t)v);
		break;
	case STF_COUNTER_F8:
		stt_cell_real(b, double_of_bits(v));
		break;
	case STF_COUNTER_U8:
		stt_cell_uint(b, v);
		break;
	default: /* the type is unknown, so its bits cannot be interpreted */
		stt_cell_unknown(b);
	}
}

/* Reads the info `"CLASS:NAME" FACTOR "UNIT"` of a counter, if it has one (doc/stf-format.md section 4). */
static int display_info(const struct stt_trace *t, const char *name, struct shown *shown)
{
	size_t n = strlen(name), i;
	const char *cls, *text;
	char *end;

	for (i = 0; stf_reader_info(t->r, i, &cls, &text) == 0; i++) {
		if (!cls || strcmp(cls, "counter-display") != 0 || text[0] != '"' || strncmp(text + 1, name, n) != 0 ||
			strncmp(text + 1 + n, "\" ", 2) != 0) {
			continue;
		}
		shown->factor = strtod(text + n + 3, &end);
		n = strlen(end);
		if (isfinite(shown->factor) && shown->factor != 0 && n > 3 && !strncmp(end, " \"", 2) &&
			end[n - 1] == '"') {
			shown->unit = end + 2;
			shown->unit_len = n - 3;
			return 1;
		}
		n = strlen(name);
	}
	return 0;
}

static struct shown how_shown(const struct stt_trace *t, const struct stf_counter_definition *d, char *buf, size_t size)
{
	struct shown s = { 1, NULL, 0, 1 };
	const char *name = stt_full_name(t, STF_ID_counter_definition, d->id, buf, size);

	if (name && display_info(t, name, &s)) {
		s.recorded = 0;
	} else if (d->do_diff) {
		s.recorded = 0;
		s.factor = 1;
		s.unit_len = (size_t)snprintf(
			buf, size, "%.*s/s", d->size_1_1 ? (int)d->size_1_1 : 1, d->size_1_1 ? d->unit : "1");
		s.unit_len = s.unit_len < size ? s.unit_len : size - 1;
		s.unit = buf;
	} else if (d->size_1_1) {
		s.unit = d->unit;
		s.unit_len = d->size_1_1;
	}
	return s;
}

static void unit_cell(struct stt_table *b, const char *unit, size_t n)
{
	if (n) {
		stt_cell_bytes(b, unit, n);
	} else {
		stt_cell_unknown(b);
	}
}

/* id, name, class, unit, type, scope, shows */
static void definition_cells(struct stt_table *b, const struct stt_trace *t, uint32_t id,
	const struct stf_counter_definition *d, const struct shown *shown)
{
	static const char *const types[] = { NULL, "INT", "FLOAT", "UINT" };
	static const char *const scopes[] = { NULL, "before", "point", "after", "sample" };

	stt_cell_uint(b, id);
	stt_cell_text(b, stf_reader_name(t->r, STF_ID_counter_definition, id));
	stt_cell_text(b, d->classid ? stf_reader_name(t->r, STF_ID_class_definition, d->classid) : NULL);
	unit_cell(b, shown->unit, shown->unit_len);
	stt_cell_text(b, (d->type & 15) < 4 ? types[d->type & 15] : NULL);
	stt_cell_text(b, d->type >> 4 < 5 ? scopes[d->type >> 4] : NULL);
	stt_cell_text(b, !d->type ? NULL : d->do_diff ? "rate" : "value");
}

/* min, mean and max in the printed form */
static void shown_cells(
	struct stt_table *b, const struct stt_trace *t, const struct series *s, const struct shown *shown)
{
	double f = shown->factor, low = (double)as_real(s->type, s->min), high = (double)as_real(s->type, s->max);
	double mean = (double)(s->sum / (long double)(s->samples - s->nans));

	if (s->total && (!s->rates || !(t->resolution > 0))) {
		stt_cell_unknown(b);
		stt_cell_unknown(b);
		stt_cell_unknown(b);
		return;
	}
	if (shown->recorded) {
		value_cell(b, s->type, s->min);
		stt_cell_mean(b, mean);
		value_cell(b, s->type, s->max);
		return;
	}
	if (s->total) {
		low = s->min_rate;
		high = s->max_rate;
		mean = rate_of_change(s->last - s->first, s->last_time - s->first_time, t->resolution);
	}
	stt_cell_mean(b, f * (f < 0 ? high : low));
	stt_cell_mean(b, f * mean);
	stt_cell_mean(b, f * (f < 0 ? low : high));
}

/* thread, samples, min, mean, max; for programs also the recorded unit, min, max */
static void series_cells(struct stt_table *b, const struct stt_trace *t, const struct series *s,
	const struct stf_counter_definition *d, const struct shown *shown)
{
	int readable = s->samples > s->nans && (s->type & 15) && (s->type & 15) <= STF_COUNTER_U8;
	char buf[64];

	stt_cell_text(b, stt_willy_name(t, s->willy, buf, sizeof(buf)));
	stt_cell_uint(b, s->samples);
	if (readable) {
		shown_cells(b, t, s, shown);
	} else {
		stt_cell_unknown(b);
		stt_cell_unknown(b);
		stt_cell_unknown(b);
	}
	if (b->columns > SHOWN_COLUMNS) {
		unit_cell(b, d->unit, d->size_1_1);
		/* for an unknown type value_cell() reports this itself */
		value_cell(b, readable ? s->type : 0, s->min);
		value_cell(b, readable ? s->type : 0, s->max);
	}
}

static void no_series_cells(struct stt_table *b, const struct stf_counter_definition *d)
{
	stt_cell_none(b);
	stt_cell_uint(b, 0);
	stt_cell_none(b);
	stt_cell_none(b);
	stt_cell_none(b);
	if (b->columns > SHOWN_COLUMNS) {
		unit_cell(b, d->unit, d->size_1_1);
		stt_cell_none(b);
		stt_cell_none(b);
	}
}

/* The place of the first series of a counter, or where it would be. They are sorted by counter. */
static size_t first_series_of(struct series *const *s, size_t n, uint32_t counter)
{
	size_t lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s[mid]->counter < counter) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

static int print_rows(struct stt_report *r, const struct stt_trace *t, struct series *const *s, size_t n)
{
	static const char *column[] = { "id", "name", "class", "unit", "type", "scope", "shows", "thread", "samples",
		"min", "mean", "max", "recorded_unit", "recorded_min", "recorded_max" };
	int programs = r->o->csv || r->o->json;
	struct stf_counter_definition d, none = { 0 };
	const struct shown unknown = { 1, NULL, 0, 1 };
	const struct stf_record *rec;
	struct shown shown;
	struct stt_table b;
	char buf[1024];
	size_t i, k;
	int any;

	stt_table_begin(&b, "counters", NULL, column, programs ? sizeof(column) / sizeof(column[0]) : SHOWN_COLUMNS);
	for (k = 0; (rec = stf_reader_record(t->r, STF_ID_counter_definition, k)); k++) {
		stf_get_counter_definition(rec, &d);
		shown = how_shown(t, &d, buf, sizeof(buf));
		for (any = 0, i = first_series_of(s, n, d.id); i < n && s[i]->counter == d.id; i++) {
			definition_cells(&b, t, d.id, &d, &shown);
			series_cells(&b, t, s[i], &d, &shown);
			any = 1;
		}
		if (!any) {
			definition_cells(&b, t, d.id, &d, &shown);
			no_series_cells(&b, &d);
		}
	}
	for (i = 0; i < n; i++) {
		if (!stf_reader_find(t->r, STF_ID_counter_definition, s[i]->counter)) {
			definition_cells(&b, t, s[i]->counter, &none, &unknown);
			series_cells(&b, t, s[i], &none, &unknown);
		}
	}
	return stt_report_add(r, &b);
}

int stt_print_counters(struct stt_report *r, const struct stt_trace *t)
{
	struct tkm_table table = { 0 };
	int fault = read_counter_series(r, t, &table), rc;
	size_t n = 0;
	struct series *s = NULL, **sorted = malloc((tkm_table_count(&table) + 1) * sizeof(*sorted));

	while (sorted && (s = tkm_table_next(&table, s))) {
		if (s->samples) {
			sorted[n++] = s;
		}
	}
	if (n) {
		qsort(sorted, n, sizeof(*sorted), by_counter);
	}
	rc = sorted ? print_rows(r, t, sorted, n) : stt_fault(r->o, "%s: out of memory for its counters", t->path);
	free(sorted);
	tkm_table_free(&table);
	return fault | rc;
}

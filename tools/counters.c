/* SPDX-License-Identifier: BSD-3-Clause */
/* --print-counters: every counter, and what its samples on each thread were. */
#include "config.h"
#include "tools/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/request.h"

struct series {
	uint32_t counter, willy;
	unsigned type;
	uint64_t samples, nans;
	uint64_t min, max; /* bits, of the counter's own type */
	long double sum;
};

/* Open addressing, at most half full; entries never leave. */
struct table {
	struct series *s;
	size_t n, size; /* size: a power of two, or 0 */
};

static struct series *slot(const struct table *t, uint32_t counter, uint32_t willy)
{
	uint64_t h = ((uint64_t)counter << 32 | willy) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 32) & (t->size - 1);

	while (t->s[i].samples && (t->s[i].counter != counter || t->s[i].willy != willy)) {
		i = (i + 1) & (t->size - 1);
	}
	return &t->s[i];
}

static struct series *find(struct table *t, uint32_t counter, uint32_t willy)
{
	struct table bigger;
	struct series *s;
	size_t i;

	if (2 * t->n >= t->size) {
		bigger = (struct table){ NULL, t->n, t->size ? 2 * t->size : 256 };
		bigger.s = calloc(bigger.size, sizeof(*bigger.s));
		if (!bigger.s) {
			return NULL;
		}
		for (i = 0; i < t->size; i++) {
			if (t->s[i].samples) {
				*slot(&bigger, t->s[i].counter, t->s[i].willy) = t->s[i];
			}
		}
		free(t->s);
		*t = bigger;
	}
	s = slot(t, counter, willy);
	if (!s->samples) {
		*s = (struct series){ .counter = counter, .willy = willy };
		t->n++;
	}
	return s;
}

static double as_double(uint64_t u)
{
	double d;

	memcpy(&d, &u, sizeof(d));
	return d;
}

static int less(unsigned type, uint64_t a, uint64_t b)
{
	switch (type & 15) {
	case STF_COUNTER_I8:
		return (int64_t)a < (int64_t)b;
	case STF_COUNTER_F8:
		return as_double(a) < as_double(b);
	default:
		return a < b;
	}
}

static void see(struct series *s, unsigned type, uint64_t v)
{
	s->type = type;
	s->samples++;
	if ((type & 15) == STF_COUNTER_F8 && isnan(as_double(v))) {
		s->nans++;
		return;
	}
	if (s->samples - s->nans == 1) {
		s->min = s->max = v;
	}
	s->min = less(type, v, s->min) ? v : s->min;
	s->max = less(type, s->max, v) ? v : s->max;
	s->sum += (type & 15) == STF_COUNTER_F8 ? (long double)as_double(v) :
		  (type & 15) == STF_COUNTER_I8 ? (long double)(int64_t)v :
						  (long double)v;
}

static int read_all(struct stt_report *r, const struct stt_trace *t, struct table *table)
{
	const struct stf_record *rec, *def;
	struct stf_counter_value c;
	struct stf_err e;
	struct stf_cursor *cursor = stt_request_cursor(r->req, t, &e);
	struct series *s;
	int more = cursor ? 1 : -1;
	uint32_t i;

	while (more > 0 && (more = stf_cursor_next(cursor, &rec, &e)) > 0) {
		if (stf_get_counter_value(rec, &c) < 0 || !stt_request_wants(r->req, t, rec)) {
			continue;
		}
		for (i = 0; i < c.size_1_2; i++) {
			s = find(table, c.counters[i], c.willy);
			if (!s) {
				stf_cursor_close(cursor);
				return stt_fault(r->o, "%s: out of memory for its counters", t->path);
			}
			def = s->samples ? NULL : stf_reader_find(t->r, STF_ID_counter_definition, c.counters[i]);
			see(s, def ? (unsigned)stf_value(def, "type")->u : s->type, c.values[i]);
		}
	}
	stf_cursor_close(cursor);
	return more < 0 ? stt_stf_fault(r->o, &e) : STT_OK;
}

static int by_counter(const void *a, const void *b)
{
	const struct series *x = a, *y = b;

	return x->counter != y->counter ? (x->counter > y->counter) - (x->counter < y->counter) :
					  (x->willy > y->willy) - (x->willy < y->willy);
}

static void value_cell(struct stt_table *b, unsigned type, uint64_t v)
{
	switch (type & 15) {
	case STF_COUNTER_I8:
		stt_cell_int(b, (int64_t)v);
		break;
	case STF_COUNTER_F8:
		stt_cell_real(b, as_double(v));
		break;
	case STF_COUNTER_U8:
		stt_cell_uint(b, v);
		break;
	default: /* a type that we cannot read: its bits mean nothing to us */
		stt_cell_unknown(b);
	}
}

/* id, name, class, unit, type, scope, shows */
static void definition_cells(struct stt_table *b, const struct stt_trace *t, uint32_t id, const struct stf_record *rec)
{
	static const char *const types[] = { NULL, "INT", "FLOAT", "UINT" };
	static const char *const scopes[] = { NULL, "before", "point", "after", "sample" };
	struct stf_counter_definition d = { 0 };

	stt_cell_uint(b, id);
	if (rec) {
		stf_get_counter_definition(rec, &d);
	}
	stt_cell_text(b, stf_reader_name(t->r, STF_ID_counter_definition, id));
	stt_cell_text(b, d.classid ? stf_reader_name(t->r, STF_ID_class_definition, d.classid) : NULL);
	if (rec && d.size_1_1) {
		stt_cell_bytes(b, d.unit, d.size_1_1);
	} else {
		stt_cell_unknown(b);
	}
	stt_cell_text(b, (d.type & 15) < 4 ? types[d.type & 15] : NULL);
	stt_cell_text(b, d.type >> 4 < 5 ? scopes[d.type >> 4] : NULL);
	stt_cell_text(b, !rec ? NULL : d.do_diff ? "rate" : "value");
}

static void series_cells(struct stt_table *b, const struct stt_trace *t, const struct series *s)
{
	uint64_t n = s->samples - s->nans;
	char buf[512];

	stt_cell_text(b, stt_willy_name(t, s->willy, buf, sizeof(buf)));
	stt_cell_uint(b, s->samples);
	if (!n || !(s->type & 15) || (s->type & 15) > STF_COUNTER_U8) {
		stt_cell_unknown(b);
		stt_cell_unknown(b);
		stt_cell_unknown(b);
		return;
	}
	value_cell(b, s->type, s->min);
	stt_cell_real(b, (double)(s->sum / (long double)n));
	value_cell(b, s->type, s->max);
}

static int print_rows(struct stt_report *r, const struct stt_trace *t, const struct table *table)
{
	static const char *column[] = { "id", "name", "class", "unit", "type", "scope", "shows", "thread", "samples", "min",
					"mean", "max" };
	const struct stf_record *rec;
	struct stt_table b;
	size_t i, k;
	int any;

	stt_table_begin(&b, "counters", NULL, column, sizeof(column) / sizeof(column[0]));
	for (k = 0; (rec = stf_reader_record(t->r, STF_ID_counter_definition, k)); k++) {
		for (any = 0, i = 0; i < table->n; i++) {
			if (table->s[i].counter == (uint32_t)rec->values[0].u) {
				definition_cells(&b, t, table->s[i].counter, rec);
				series_cells(&b, t, &table->s[i]);
				any = 1;
			}
		}
		if (!any) {
			definition_cells(&b, t, (uint32_t)rec->values[0].u, rec);
			stt_cell_none(&b);
			stt_cell_uint(&b, 0);
			stt_cell_none(&b);
			stt_cell_none(&b);
			stt_cell_none(&b);
		}
	}
	for (i = 0; i < table->n; i++) {
		if (!stf_reader_find(t->r, STF_ID_counter_definition, table->s[i].counter)) {
			definition_cells(&b, t, table->s[i].counter, NULL);
			series_cells(&b, t, &table->s[i]);
		}
	}
	return stt_report_add(r, &b);
}

int stt_print_counters(struct stt_report *r, const struct stt_trace *t)
{
	struct table table = { NULL, 0, 0 };
	size_t i, n = 0;
	int fault = read_all(r, t, &table), rc;

	for (i = 0; i < table.size; i++) {
		if (table.s[i].samples) {
			table.s[n++] = table.s[i];
		}
	}
	if (n) {
		qsort(table.s, n, sizeof(*table.s), by_counter);
	}
	rc = print_rows(r, t, &table);
	free(table.s);
	return fault | rc;
}

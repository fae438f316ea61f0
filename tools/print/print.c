/* SPDX-License-Identifier: BSD-3-Clause */
/* The --print-* options: print the content of the trace as tables. */
#include "config.h"
#include "base/text/ends.h"
#include "base/text/text.h"
#include "tools/print/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/cli/files.h"
#include "tools/cli/request.h"
#include "tools/print/computed.h"

#define COLUMNS(c) c, sizeof(c) / sizeof((c)[0])

static void willy_cell(struct stt_table *b, const struct stt_trace *t, uint32_t willy)
{
	char buf[64];

	stt_cell_text(b, stt_willy_name(t, willy, buf, sizeof(buf)));
}

/* ---- threads ---- */

static void thread_row(struct stt_table *b, const struct stt_trace *t, uint32_t willy, long long number)
{
	struct stf_willy_info w;

	stf_reader_willy(t->r, willy, &w);
	if (number < 0) {
		stt_cell_none(b);
	} else {
		stt_cell_int(b, number);
	}
	stt_cell_uint(b, (uint64_t)willy + 1);
	willy_cell(b, t, willy);
	stt_cell_text(b, w.hostname);
	stt_cell_text(b, w.ip);
	if (w.defined) {
		stt_cell_uint(b, w.pid);
		stt_cell_uint(b, w.tid);
	} else {
		stt_cell_unknown(b);
		stt_cell_unknown(b);
	}
	stt_cell_text(b, w.name);
}

int stt_print_threads(struct stt_report *r, const struct stt_trace *t)
{
	static const char *column[] = { "number", "cpu", "thread", "host", "ip", "pid", "tid", "name" };
	const struct stf_record *rec;
	struct stt_table b;
	long long n = 0;
	uint32_t i, k;

	stt_table_begin(&b, "threads", NULL, COLUMNS(column));
	for (i = 0; i < t->n_processes; i++) {
		/* a willy_id cannot represent more threads */
		for (k = 0; k < t->threads[i] && k <= 0x7fff; k++) {
			thread_row(&b, t, STF_WILLY(i, k), n + k);
		}
		n += t->threads[i];
	}
	for (i = 0; (rec = stf_reader_record(t->r, STF_ID_willy_definition, i)); i++) {
		if (stt_thread_number(t, (uint32_t)rec->values[0].u) < 0) {
			thread_row(&b, t, (uint32_t)rec->values[0].u, -1);
		}
	}
	return stt_report_add(r, &b);
}

/* ---- files ---- */

static const char *type_of_component(const struct stt_trace *t, const char *suffix)
{
	static const char *const types[] = { "index", "declarations", "anchors", "data", "statistics" };
	const struct stf_record *rec;
	struct stf_file_declaration d;
	uint32_t i;

	if (!*suffix) {
		return types[0];
	}
	for (i = 0; (rec = stf_reader_record(t->r, STF_ID_file_declaration, i)); i++) {
		stf_get_file_declaration(rec, &d);
		/* on the disk the file may have the suffix .zst in addition */
		if (!strncmp(suffix, d.suffix, d.size_1_1) &&
			(!suffix[d.size_1_1] || !strcmp(suffix + d.size_1_1, ".zst"))) {
			return d.filetype < 5 ? types[d.filetype] : NULL;
		}
	}
	return NULL;
}

int stt_print_files(struct stt_report *r, const struct stt_trace *t)
{
	static const char *column[] = { "file", "type", "bytes" };
	struct stt_components l;
	struct stt_table b;
	size_t i;
	int rc = stt_components_list(&l, r->o) < 0 ? STT_FAULT : STT_OK;

	stt_table_begin(&b, "files", NULL, COLUMNS(column));
	for (i = 0; i < l.n; i++) {
		/* inside a single file, the suffix is the component's name */
		stt_cell_text(&b, !l.single ? l.c[i].path : l.c[i].suffix[0] ? l.c[i].suffix : "base");
		stt_cell_text(&b, type_of_component(t, l.c[i].suffix));
		if (l.c[i].missing) {
			stt_cell_unknown(&b);
			rc = stt_fault(r->o, "%s: component %s is missing", t->path, l.c[i].suffix);
		} else {
			stt_cell_uint(&b, l.c[i].size);
		}
	}
	stt_components_free(&l);
	return stt_report_add(r, &b) | rc;
}

/* ---- reports ---- */

static int is_error(const struct stt_trace *t, uint32_t level)
{
	const char *s = stf_reader_string(t->r, level);

	return s && (strcasestr(s, "error") || strcasestr(s, "fatal"));
}

/* Rounds a value that was computed from doubles to the digits that are known. */
static double rounded(double v)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%.15g", v);
	return strtod(buf, NULL);
}

static void time_cell(struct stt_table *b, const struct stt_trace *t, uint64_t stamp)
{
	if (t->resolution > 0) {
		stt_cell_real(b, rounded((double)stamp * t->resolution));
	} else {
		stt_cell_unknown(b);
	}
}

static void detail_rows(struct stt_table *b, const struct stt_trace *t, const struct stf_report *d, uint64_t number)
{
	char buf[1024];
	uint32_t i;

	for (i = 0; i < d->size_1_6; i++) {
		stt_cell_uint(b, number);
		stt_cell_uint(b, d->times[i]);
		willy_cell(b, t, d->willys[i]);
		stt_cell_text(b, stf_reader_string(t->r, d->headers[i]));
		stt_cell_text(b, stt_full_name(t, STF_ID_function_definition, d->functions[i], buf, sizeof(buf)));
		stt_cell_text(b, stf_reader_string(t->r, d->calls[i]));
		stt_cell_text(b, stt_full_name(t, STF_ID_scl_definition, d->scls[i], buf, sizeof(buf)));
	}
}

static void report_row(struct stt_table *b, const struct stt_trace *t, const struct stf_report *d, uint64_t number)
{
	stt_cell_uint(b, number);
	stt_cell_uint(b, d->time);
	time_cell(b, t, d->time);
	willy_cell(b, t, d->willy);
	stt_cell_text(b, stf_reader_string(t->r, d->level));
	stt_cell_text(b, stf_reader_string(t->r, d->type));
	stt_cell_text(b, stf_reader_string(t->r, d->description));
}

int stt_print_reports(struct stt_report *r, const struct stt_trace *t, int errors_only)
{
	static const char *column[] = { "number", "stamp", "seconds", "thread", "level", "type", "description" };
	static const char *detail[] = { "number", "stamp", "thread", "header", "function", "call", "source" };
	struct stt_table b, c;
	const struct stf_record *rec;
	struct stf_report d;
	struct stf_err e;
	struct stf_cursor *cursor = stt_request_cursor(r->req, t, &e);
	uint64_t number = 0;
	int more = cursor ? 1 : -1, rc = STT_OK;

	stt_table_begin(&b, errors_only ? "errors" : "reports", NULL, COLUMNS(column));
	stt_table_begin(&c, errors_only ? "error_details" : "report_details", "details", COLUMNS(detail));
	while (more > 0 && (more = stf_cursor_next(cursor, &rec, &e)) > 0) {
		if (stf_get_report(rec, &d) < 0 || !stt_request_wants(r->req, t, rec)) {
			continue;
		}
		number++;
		if (!errors_only || is_error(t, d.level)) {
			report_row(&b, t, &d, number);
			detail_rows(&c, t, &d, number);
		}
	}
	stf_cursor_close(cursor);
	rc = stt_report_add(r, &b);
	if (c.cells) {
		rc |= stt_report_add(r, &c);
	}
	return more < 0 ? stt_cursor_fault(r->o, &e) : rc;
}

/* ---- statistics ---- */

/* Sorts fields in the order of the Intel Trace Collector guide where section 2.8.2 gives one, else in that of the
 * record. */
static const char *const lw_order[] = { "willy", "function", "receiver", "bytes_sent", "comm_size", "count",
	"minTicksExcl", "maxTicksExcl", "sumTicksExcl", "minTicksIncl", "maxTicksIncl", "sumTicksIncl" };

static int field_at(const struct stf_layout *l, unsigned i)
{
	unsigned k;

	if (l->id != STF_ID_lw_statistics) {
		return (int)i;
	}
	for (k = 0; k < l->n_fields && strcmp(l->fields[k].name, lw_order[i]); k++) {
	}
	return (int)k;
}

static void array_cell(struct stt_table *b, const struct stf_field *f, const struct stf_value *v)
{
	char *text = NULL, buf[32];
	size_t n;
	uint32_t i;
	FILE *m = open_memstream(&text, &n);

	for (i = 0; m && i < v->count; i++) {
		fputs(i ? "," : "", m);
		if (f->type == STF_F8) {
			fputs(stt_real(((const double *)v->array)[i], buf), m);
		} else if (f->type == STF_U8) {
			fprintf(m, "%" PRIu64, ((const uint64_t *)v->array)[i]);
		} else {
			fprintf(m, "%" PRIu32, ((const uint32_t *)v->array)[i]);
		}
	}
	if (m && tkm_text_end(m, &text) == 0) {
		stt_cell_text(b, text);
	} else {
		b->failed = 1;
	}
	free(text);
}

static void field_cell(
	struct stt_table *b, const struct stt_trace *t, const struct stf_field *f, const struct stf_value *v)
{
	char buf[1024];
	const char *name;

	if (f->type == STF_WILLYID && !f->is_array) {
		willy_cell(b, t, (uint32_t)v->u);
	} else if (f->is_array) {
		array_cell(b, f, v);
	} else if (f->ref_class) {
		name = f->ref_class == STF_ID_stf_string
			? stf_reader_string(t->r, (uint32_t)v->u)
			: stt_full_name(t, f->ref_class, (uint32_t)v->u, buf, sizeof(buf));
		if (name) {
			stt_cell_text(b, name);
		} else {
			stt_cell_uint(b, v->u);
		}
	} else if (f->type == STF_I4 || f->type == STF_I8) {
		stt_cell_int(b, (int64_t)v->u);
	} else {
		stt_cell_uint(b, v->u);
	}
}

/* The numbers with a special meaning in a row of STATISTICS: no receiver, all members of a collective operation,
 * no message, as many as the field can hold. */
static int special_cell(struct stt_table *b, const struct stf_field *f, uint64_t v)
{
	if (!strcmp(f->name, "receiver") && v == 0xfffffffeu) {
		stt_cell_text(b, "all");
		return 1;
	}
	if ((!strcmp(f->name, "receiver") || !strcmp(f->name, "bytes_sent")) && v == 0xffffffffu) {
		stt_cell_none(b);
		return 1;
	}
	if ((!strcmp(f->name, "bytes_sent") && v == STF_ROW_BYTES_AT_LEAST) ||
		(!strcmp(f->name, "count") && v == STF_COUNT_AT_LEAST)) {
		stt_cell_at_least(b, v);
		return 1;
	}
	return 0;
}

static unsigned name_columns(const struct stf_layout *l, const char **column)
{
	unsigned i, n = 0;

	for (i = 0; i < l->n_fields; i++) {
		const struct stf_field *f = &l->fields[field_at(l, i)];

		if (!f->is_size) {
			column[n++] = f->name;
		}
	}
	return n;
}

static void statistics_row(
	struct stt_table *b, const struct stt_trace *t, const struct stf_layout *l, const struct stf_value *values)
{
	unsigned i;

	for (i = 0; i < l->n_fields; i++) {
		int k = field_at(l, i);

		if (!l->fields[k].is_size &&
			!(l->id == STF_ID_lw_statistics && special_cell(b, &l->fields[k], values[k].u))) {
			field_cell(b, t, &l->fields[k], &values[k]);
		}
	}
}

/* Prints one class of statistics at a time, so that each class is one table. */
static int statistics_of(
	struct stt_report *r, const struct stt_trace *t, const char *suffix, const struct stf_layout *l, uint64_t *rows)
{
	const char *column[32];
	const struct stf_record *rec;
	struct stt_table b;
	struct stf_err e;
	struct stf_cursor *c = stf_cursor_open(t->r, suffix, &e);
	int more = c ? 1 : -1;

	stt_table_begin(&b, l->cls, l->cls, column, name_columns(l, column));
	while (more > 0 && (more = stf_cursor_next(c, &rec, &e)) > 0) {
		if (rec->layout == l) {
			++*rows;
			statistics_row(&b, t, l, rec->values);
		}
	}
	stf_cursor_close(c);
	if (more < 0) {
		stt_report_add(r, &b);
		return stt_cursor_fault(r->o, &e);
	}
	return b.cells || b.failed ? stt_report_add(r, &b) : STT_OK;
}

/* Prints a text on one line, whatever it contains. */
static void print_name(const char *name)
{
	for (; name && *name; name++) {
		if ((unsigned char)*name < ' ' || *name == 127) {
			printf("\\x%02x", (unsigned char)*name);
		} else {
			putchar(*name);
		}
	}
	putchar('\n');
}

/* Prints the names for the numbers in the lines, and what the trace says to be missing: statistics may be of that
 * alone. */
static void explain_lines(const struct stt_trace *t)
{
	const struct stf_record *rec;
	const char *cls, *text;
	char buf[1024];
	uint32_t p, k;
	size_t i;

	fputs("# thread:function:receiver:bytes:processes:count:minimum, maximum and sum without callees:the same with "
	      "callees\n",
		stdout);
	printf("# at least: bytes = %" PRIu32 ", count = %" PRIu32 "\n", STF_ROW_BYTES_AT_LEAST, STF_COUNT_AT_LEAST);
	printf("# seconds of a unit of time = %.9g\n", t->resolution);
	for (p = 0; p < t->n_processes; p++) {
		for (k = 0; k < t->threads[p] && k <= 0x7fff; k++) {
			printf("# thread %" PRIu32 " = %s\n", STF_WILLY(p, k),
				stt_willy_name(t, STF_WILLY(p, k), buf, sizeof(buf)));
		}
	}
	for (i = 0; stf_reader_info(t->r, i, &cls, &text) == 0; i++) {
		if (!strcmp(cls, "missing")) {
			fputs("# missing = ", stdout);
			print_name(text);
		}
	}
	for (i = 0; (rec = stf_reader_record(t->r, STF_ID_function_definition, i)); i++) {
		printf("# function %" PRIu64 " = ", rec->values[0].u);
		print_name(stt_full_name(t, STF_ID_function_definition, (uint32_t)rec->values[0].u, buf, sizeof(buf)));
	}
}

static void print_statistics_line(const struct stf_lw_statistics *s)
{
	printf("%" PRIu32 ":%" PRIu32, s->willy, s->function);
	printf(s->receiver >= 0xfffffffeu ? ":0x%" PRIx32 : ":%" PRIu32, s->receiver);
	printf(s->bytes_sent == 0xffffffffu ? ":0x%" PRIx32 : ":%" PRIu32, s->bytes_sent);
	printf(":%" PRId32 ":%" PRIu32, s->comm_size, s->count);
	printf(":%" PRIu64 ":%" PRIu64 ":%" PRIu64, s->minTicksExcl, s->maxTicksExcl, s->sumTicksExcl);
	printf(":%" PRIu64 ":%" PRIu64 ":%" PRIu64 "\n", s->minTicksIncl, s->maxTicksIncl, s->sumTicksIncl);
}

/* Prints a line for each row, with colons between the fields, as in the Intel Trace Collector guide, section
 * 2.8.2. */
static int print_statistics_lines(
	const struct stt_report *r, const struct stt_trace *t, const char *suffix, uint64_t *rows)
{
	const struct stf_record *rec;
	struct stf_lw_statistics s;
	struct stf_err e;
	struct stf_cursor *c = stf_cursor_open(t->r, suffix, &e);
	uint64_t before = *rows;
	int more = c ? 1 : -1;

	while (more > 0 && (more = stf_cursor_next(c, &rec, &e)) > 0) {
		if (rec->layout->id == STF_ID_lw_statistics) {
			if (*rows == before) {
				explain_lines(t);
			}
			++*rows;
			stf_get_lw_statistics(rec, &s);
			print_statistics_line(&s);
		}
	}
	stf_cursor_close(c);
	return more < 0 ? stt_cursor_fault(r->o, &e) : STT_OK;
}

/* Rows that are not in the trace, as a table. */
static int print_computed_table(
	struct stt_report *r, const struct stt_trace *t, const struct stf_lw_statistics *s, size_t n)
{
	const struct stf_layout *l = stf_layout(STF_ID_lw_statistics);
	const char *column[32];
	struct stt_table b;
	size_t i;

	stt_table_begin(&b, l->cls, l->cls, column, name_columns(l, column));
	for (i = 0; i < n; i++, s++) {
		const uint64_t fields[] = { s->willy, s->function, s->receiver, s->bytes_sent,
			(uint64_t)(int64_t)s->comm_size, s->count, s->minTicksIncl, s->maxTicksIncl, s->sumTicksIncl,
			s->minTicksExcl, s->maxTicksExcl, s->sumTicksExcl };
		struct stf_value v[sizeof(fields) / sizeof(fields[0])] = { { 0 } };
		unsigned k;

		for (k = 0; k < l->n_fields; k++) {
			v[k].u = fields[k];
		}
		statistics_row(&b, t, l, v);
	}
	return stt_report_add(r, &b);
}

/* Computes what the trace does not have. */
static int print_computed_statistics(struct stt_report *r, const struct stt_trace *t)
{
	struct stf_lw_statistics *rows;
	size_t n, i;
	int rc = stt_compute_statistics(r->o, t, &rows, &n);

	if (!rows) {
		return rc;
	}
	stt_say(r->o, 1, "%s: %s", t->path,
		n ? "STATISTICS was not recorded; computed from the events" : "the trace has no statistics");
	if (n && (r->o->csv || r->o->json)) {
		rc |= print_computed_table(r, t, rows, n);
	} else if (n) {
		explain_lines(t);
		for (i = 0; i < n; i++) {
			print_statistics_line(&rows[i]);
		}
	}
	free(rows);
	return rc;
}

int stt_print_statistics(struct stt_report *r, const struct stt_trace *t)
{
	const struct stf_record *rec;
	struct stf_file_declaration d;
	uint64_t rows = 0;
	unsigned id;
	size_t i;
	int rc = STT_OK;

	for (i = 0; (rec = stf_reader_record(t->r, STF_ID_file_declaration, i)); i++) {
		stf_get_file_declaration(rec, &d);
		for (id = 1; d.filetype == STF_STATS_FILE && id < STF_ID_END && rc == STT_OK; id++) {
			if (stf_layout(id) && stf_layout(id)->kind == STF_KIND_STATS) {
				rc = id == STF_ID_lw_statistics && !r->o->csv && !r->o->json
					? print_statistics_lines(r, t, d.suffix, &rows)
					: statistics_of(r, t, d.suffix, stf_layout(id), &rows);
			}
		}
	}
	if (!rows && rc == STT_OK) {
		rc = print_computed_statistics(r, t);
	}
	return rc;
}

/* ---- clock ---- */

static int clock_table(struct stt_report *r, const struct stt_trace *t)
{
	static const char *column[] = { "resolution_s", "eventbits", "tick_s", "frequency_hz", "start", "end",
		"duration_s", "byte_order" };
	double tick = ldexp(t->resolution, (int)(t->eventbits & 63));
	uint64_t start, end;
	struct stt_table b;

	stt_table_begin(&b, "clock", NULL, COLUMNS(column));
	if (t->resolution > 0) {
		stt_cell_real(&b, t->resolution);
		stt_cell_uint(&b, t->eventbits);
		stt_cell_real(&b, tick);
		stt_cell_real(&b, rounded(1 / tick));
	} else {
		stt_cell_unknown(&b);
		stt_cell_unknown(&b);
		stt_cell_unknown(&b);
		stt_cell_unknown(&b);
	}
	if (stf_reader_duration(t->r, &start, &end) == 0) {
		stt_cell_uint(&b, start);
		stt_cell_uint(&b, end);
		time_cell(&b, t, end >= start ? end - start : 0);
	} else {
		stt_cell_unknown(&b);
		stt_cell_unknown(&b);
		stt_cell_unknown(&b);
	}
	stt_cell_text(&b, stf_reader_is_big_endian(t->r) ? "big" : "little");
	return stt_report_add(r, &b);
}

static int correction_table(struct stt_report *r, const struct stt_trace *t)
{
	static const char *column[] = { "cpu", "thread", "offset_s", "seconds_per_tick" };
	const struct stf_record *rec;
	struct stf_willy_definition d;
	struct stt_table b;
	size_t i;

	stt_table_begin(&b, "corrections",
		"linear part of the correction, seconds since 1970 = offset + own ticks x seconds_per_tick",
		COLUMNS(column));
	for (i = 0; (rec = stf_reader_record(t->r, STF_ID_willy_definition, i)); i++) {
		stf_get_willy_definition(rec, &d);
		stt_cell_uint(&b, (uint64_t)d.willy + 1);
		willy_cell(&b, t, d.willy);
		stt_cell_real(&b, d.offset);
		stt_cell_real(&b, d.skew);
	}
	return stt_report_add(r, &b);
}

static int info_table(struct stt_report *r, const struct stt_trace *t)
{
	static const char *column[] = { "class", "text" };
	char *later = tkm_ends_read(t->path), whole[400];
	const char *cls, *text;
	struct stt_table b;
	size_t i;

	stt_table_begin(&b, "info", "what the trace says of its making", COLUMNS(column));
	for (i = 0; stf_reader_info(t->r, i, &cls, &text) == 0; i++) {
		if (stt_is_about_files(t, (uint32_t)stf_reader_record(t->r, STF_ID_info, i)->values[0].u)) {
			continue; /* these infos describe the files, not the clock: --verify checks them */
		}
		stt_cell_text(&b, cls);
		/* without memory there is no text */
		stt_cell_text(&b,
			cls && text && !strcmp(cls, "ended") ? tkm_ends_complete(later, text, whole, sizeof(whole))
							     : text);
	}
	free(later);
	return stt_report_add(r, &b);
}

int stt_print_clock(struct stt_report *r, const struct stt_trace *t)
{
	return clock_table(r, t) | correction_table(r, t) | info_table(r, t);
}

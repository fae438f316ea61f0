/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes traces from traces: whole, in part, or recovered from damaged ones. */
#include "config.h"
#include "tools/convert/convert.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "tools/convert/exchange.h"
#include "tools/cli/files.h"
#include "tools/check/salvage.h"
#include "tools/check/verify.h"
#include "tools/vtf/vtf.h"

/* ---- record by record ---- */

/* A trace that is being written from another one. */
struct copy {
	const struct stt_options *o;
	const struct stt_trace *t;
	const struct stt_request *req;
	struct stf_writer *w;
	int no_statistics;           /* of the trace itself */
	int recover;                 /* with recover, a fault ends a component but not the copy */
	const char *lost;            /* with recover: what no component contains, "" if nothing */
	const struct stt_trace *old; /* with recover: the trace whose base file was damaged, NULL: none */
	uint64_t records;            /* data records written */
	uint64_t dropped;            /* of the records that were read, those that the writer refused */
	uint64_t faults;
	int damaged;      /* checksums did not match */
	int finished;     /* the copy is complete, though not good */
	int played;       /* the times, and with them the bounds of the clocks, are those of a run that is played */
	uint64_t orphans; /* with recover: records, and values of samples, whose declaration is lost */
};

static int is_record_refused(struct copy *c, const struct stf_record *rec)
{
	const struct stf_err *e = stf_writer_error(c->w);
	struct stf_err at = *e;

	if (e->code != STF_ERR_ARG && e->code != STF_ERR_STATE) {
		stt_stf_fault(c->o, e);
		return -1;
	}
	at.offset = rec->offset;
	at.record = rec->number;
	c->dropped++;
	stt_say(c->o, 1, "not copied: %s record %" PRIu64 " at offset %" PRIu64 ": %s", rec->layout->name, rec->number,
		rec->offset, at.text);
	return c->recover ? 0 : -1;
}

static int is_lost(const struct copy *c, const struct stf_field *f, const struct stf_value *v, uint32_t i)
{
	uint32_t id = !f->is_array  ? (uint32_t)v->u
		: f->type == STF_U1 ? ((const uint8_t *)v->array)[i]
				    : ((const uint32_t *)v->array)[i];

	return id && !stf_reader_find(c->t->r, f->ref_class, id);
}

/* Does a record refer to a declaration that is lost? */
static int is_orphan(const struct copy *c, const struct stf_record *rec)
{
	const struct stf_layout *l = rec->layout;
	uint32_t i, n;
	unsigned k;

	for (k = 0; k < l->n_fields; k++) {
		n = !l->fields[k].ref_class ? 0 : l->fields[k].is_array ? rec->values[k].count : 1;
		for (i = 0; i < n; i++) {
			if (is_lost(c, &l->fields[k], &rec->values[k], i)) {
				return 1;
			}
		}
	}
	return 0;
}

/* Removes from a sample the values of counters whose declaration is lost. */
static int write_rest(struct copy *c, const struct stf_record *rec)
{
	struct stf_counter_value v;
	uint64_t values[UINT8_MAX];
	uint32_t ids[UINT8_MAX], i, n = 0;

	stf_get_counter_value(rec, &v);
	for (i = 0; i < v.size_1_2 && n < UINT8_MAX; i++) {
		if (v.counters[i] == 0 || stf_reader_find(c->t->r, STF_ID_counter_definition, v.counters[i])) {
			values[n] = v.values[i];
			ids[n++] = v.counters[i];
		}
	}
	c->orphans += v.size_1_2 - n;
	v.size_1_2 = n;
	v.values = values;
	v.counters = ids;
	return n ? stf_write_counter_value(c->w, &v) : 0;
}

static int write_record(struct copy *c, const struct stf_record *rec)
{
	if (!c->recover || !is_orphan(c, rec)) {
		return stf_write_record(c->w, rec);
	}
	if (rec->layout->class_id == STF_ID_counter_value) {
		return write_rest(c, rec);
	}
	c->orphans++;
	return 0;
}

/* Reads a component, or with NULL all data, and writes each record that `wants` accepts. */
static int copy_component(struct copy *c, const char *suffix, enum stf_kind kind)
{
	const struct stf_record *rec;
	struct stf_err e;
	struct stf_cursor *cursor =
		suffix ? stf_cursor_open(c->t->r, suffix, &e) : stt_request_cursor(c->req, c->t, &e);
	int more = cursor ? 1 : -1, data, rc = 0;

	while (rc == 0 && more > 0 && (more = stf_cursor_next(cursor, &rec, &e)) > 0) {
		data = rec->layout->kind <= STF_KIND_OTHER;
		stt_progress(c->o, c->t, rec->time, 0);
		if (suffix ? rec->layout->kind != kind : !data || !stt_request_wants(c->req, c->t, rec)) {
			continue;
		}
		if (write_record(c, rec) < 0) {
			rc = is_record_refused(c, rec);
		} else {
			c->records += (uint64_t)data;
		}
	}
	stf_cursor_close(cursor);
	stt_progress(c->o, c->t, 0, 1);
	if (more < 0) {
		c->faults++;
		c->damaged |= e.code == STF_ERR_CHECKSUM;
		stt_cursor_fault(c->o, &e);
		/* damaged pieces are left out, and the copy says so; but our lack of memory is not damage of the
		 * trace */
		rc = e.code == STF_ERR_CHECKSUM || (c->recover && e.code != STF_ERR_NOMEM) ? rc : -1;
	}
	return rc;
}

/* Finds the threads that occur in records, for use without a process_declaration. */
static int find_threads(struct copy *c, uint32_t **threads, uint32_t *n)
{
	const struct stf_record *rec;
	struct stf_err e;
	struct stf_cursor *cursor = stf_cursor_open(c->t->r, NULL, &e);
	unsigned i;
	int rc = 0;

	while (cursor && rc == 0 && stf_cursor_next(cursor, &rec, &e) > 0) {
		for (i = 0; i < rec->layout->n_fields && rc == 0; i++) {
			uint32_t w = (uint32_t)rec->values[i].u, p = stf_willy_process(w);

			if (rec->layout->fields[i].type != STF_WILLYID || rec->layout->fields[i].is_array ||
				stf_willy_is_group(w)) {
				continue;
			}
			if (p >= *n && TKM_EXTEND(*threads, *n, p + 1) < 0) {
				rc = stt_fault(c->o, "out of memory");
			} else if (stf_willy_thread(w) >= (*threads)[p]) {
				(*threads)[p] = stf_willy_thread(w) + 1;
			}
		}
	}
	stf_cursor_close(cursor);
	return rc == 0 ? 0 : -1;
}

static int copy_processes(struct copy *c)
{
	const struct stf_record *rec = stf_reader_record(c->t->r, STF_ID_process_declaration, 0);
	uint32_t *threads = NULL, n = 0;
	int rc = 0;

	if (rec) {
		return stf_write_record(c->w, rec) < 0 ? is_record_refused(c, rec) : 0;
	}
	if (c->recover) {
		rc = find_threads(c, &threads, &n);
		rc = rc == 0 && n && stf_writer_processes(c->w, threads, n) < 0 ? -1 : rc;
		free(threads);
	}
	return rc;
}

static int is_dropped_info(const struct copy *c, uint32_t info_class)
{
	const char *name = stf_reader_string(c->t->r, info_class);

	return stt_is_about_files(c->t, info_class) || (c->played && name && !strcmp(name, "clock-bound"));
}

/* The info records are in the base file. If it is damaged, they come from what was read of it. */
static int copy_infos(struct copy *c)
{
	const struct stf_record *rec;
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && (rec = stf_reader_record(c->old ? c->old->r : c->t->r, STF_ID_info, i)); i++) {
		if (c->recover && is_orphan(c, rec)) {
			c->orphans++;
		} else if (!is_dropped_info(c, (uint32_t)stf_value(rec, "info_class")->u) &&
			stf_write_record(c->w, rec) < 0) {
			rc = is_record_refused(c, rec);
		}
	}
	return rc;
}

static int copy_declarations(struct copy *c)
{
	const struct stf_record *rec;
	struct stf_file_declaration d;
	size_t i;
	int rc = 0, whole = !(c->req && c->req->n) && !c->no_statistics;

	rc = copy_processes(c);
	for (i = 0; rc == 0 && (rec = stf_reader_record(c->t->r, STF_ID_file_declaration, i)); i++) {
		stf_get_file_declaration(rec, &d);
		if (d.filetype == STF_DECL_FILE) {
			rc = copy_component(c, d.suffix, STF_KIND_DECL);
		} else if (d.filetype == STF_STATS_FILE && whole) {
			/* statistics of the whole run would be wrong for a part of it */
			rc = copy_component(c, d.suffix, STF_KIND_STATS);
		}
	}
	return rc == 0 ? copy_infos(c) : rc;
}

/* Begins to write the trace `to` as STT_STF or STT_SINGLE ("-": to standard output), with the options of o. NULL:
 * *e. */
static struct stf_writer *create_copy(const struct stt_options *o, const char *to, enum stt_format format,
	struct stf_writer_options *opt, struct stf_err *e)
{
	const char *where = getenv("TMPDIR");
	char parts[400];

	opt->procs_per_file = o->procs_per_file > 0 ? (uint32_t)o->procs_per_file : opt->procs_per_file;
	opt->force = o->force;
	opt->compress = o->compress_trace > 0 ? (int)o->compress_trace : 0;
	if (format == STT_SINGLE && !strcmp(to, "-")) {
		/* the components stay in this directory until all are complete */
		snprintf(parts, sizeof(parts), "%.300s/stftool-%ld", where && *where ? where : "/tmp", (long)getpid());
		opt->single = STF_SINGLE_FD;
		opt->fd = STDOUT_FILENO;
		to = parts;
	} else if (format == STT_SINGLE) {
		opt->single = STF_SINGLE_FILE;
	}
	return stf_writer_create(to, opt, e);
}

/* The number of processes (or, with one process, of threads) that share a file of this trace; 0: all. */
static uint32_t partition_of(const struct stt_trace *t)
{
	uint32_t n = t->n_processes == 1 ? t->first[1] : t->n_processes;
	const struct stf_record *rec;
	struct stf_file_declaration d;
	unsigned long k, files = 0;
	const char *number;
	char *end;
	size_t i;

	for (i = 0; (rec = stf_reader_record(t->r, STF_ID_file_declaration, i)); i++) {
		stf_get_file_declaration(rec, &d);
		number = d.suffix ? strrchr(d.suffix, '.') : NULL;
		k = number && number[1] >= '0' && number[1] <= '9' ? strtoul(number + 1, &end, 10) + 1 : 0;
		files = k <= n && k > files ? k : files;
	}
	return files > 1 ? (uint32_t)((n + files - 1) / files) : 0;
}

static int copy_trace(struct copy *c, const char *to, enum stt_format format)
{
	struct stf_writer_options opt = { .resolution = c->t->resolution, .eventbits = c->t->eventbits };
	uint64_t start = 1, end = 0;
	struct stf_err e;
	char text[700];
	size_t i;

	if (!(opt.resolution > 0)) {
		return stt_fault(c->o, "%s: the trace does not say its clock's resolution", c->t->path);
	}
	opt.procs_per_file = partition_of(c->t);
	if (stf_reader_is_big_endian(c->t->r)) {
		stt_say(c->o, 1, "%s is big-endian, what is written is little-endian", c->t->path);
	}
	c->w = create_copy(c->o, to, format, &opt, &e);
	if (!c->w) {
		return stt_stf_fault(c->o, &e);
	}
	if (copy_declarations(c) < 0 || copy_component(c, NULL, STF_KIND_OTHER) < 0) {
		stf_writer_abort(c->w);
		stt_damage(c->o, c->t);
		return STT_FAULT;
	}
	for (i = 0; stt_damage_text(c->t, i, text, sizeof(text)); i++) {
		stf_writer_info(c->w, "damage", text);
	}
	if (c->recover) {
		snprintf(text, sizeof(text),
			"recovered: %" PRIu64 " faults, %" PRIu64 " records not copied, %" PRIu64
			" records or values left out since their declaration is lost%s%s",
			c->faults, c->dropped, c->orphans, *c->lost ? "; " : "", c->lost);
		stf_writer_info(c->w, "repairs", text);
	} else if (!(c->req && c->req->n) && stf_reader_duration(c->t->r, &start, &end) < 0) {
		start = 1;
		end = 0;
	}
	if (stf_writer_finish(c->w, start, end, &e) < 0) {
		return stt_stf_fault(c->o, &e);
	}
	c->finished = 1;
	if (c->recover && (c->faults || c->dropped || c->orphans) &&
		!stf_reader_damage(c->t->r, 0, &(struct stf_damage){ 0 })) {
		return STT_FAULT; /* the copy was written, and its info says what is missing */
	}
	if (stt_damage(c->o, c->t) != STT_OK) {
		return stt_fault(c->o, "%s was written without the damaged pieces of %s; its info records list them",
			to, c->t->path);
	}
	return STT_OK;
}

int stt_write_declared(const struct stt_options *o, const struct stt_trace *t, const char *to, enum stt_format format,
	int (*fill)(void *user, struct stf_writer *w), void *user)
{
	struct stf_writer_options opt = { .resolution = t->resolution, .eventbits = t->eventbits };
	struct copy c = { .o = o, .t = t, .no_statistics = 1, .played = o->ideal || o->faster };
	uint64_t start = 1, end = 0;
	struct stf_err e;
	int rc, moved;

	if (!(opt.resolution > 0)) {
		return stt_fault(o, "%s: the trace does not say its clock's resolution", t->path);
	}
	opt.procs_per_file = format == STT_SINGLE ? 0 : partition_of(t);
	c.w = create_copy(o, to, format, &opt, &e);
	if (!c.w) {
		return stt_stf_fault(o, &e);
	}
	rc = copy_declarations(&c);
	moved = rc == 0 ? fill(user, c.w) : -1;
	if (rc == 0 && moved < 0 && stf_writer_error(c.w)->code != STF_OK) {
		stt_stf_fault(o, stf_writer_error(c.w));
	}
	if (moved < 0) {
		stf_writer_abort(c.w);
		return STT_FAULT;
	}
	if (moved > 0 || stf_reader_duration(t->r, &start, &end) < 0) {
		start = 1;
		end = 0;
	}
	return stf_writer_finish(c.w, start, end, &e) < 0 ? stt_stf_fault(o, &e) : STT_OK;
}

/* ---- the whole trace ---- */

/* Is any component not as it was written? Then the bytes are not copied, but the readable records are. */
static int is_damaged(const struct stt_options *o)
{
	struct stf_check c;
	struct stt_trace t;
	struct stf_err e;
	size_t i;
	int rc = 0, bad = 0;

	if (stt_trace_open(&t, o, 0) < 0) {
		return -1;
	}
	for (i = 0; (rc = stf_reader_check(t.r, i, &c, &e)) > 0; i++) {
		/* copying a single file detects truncation, and copying several files detects a missing one */
		if (c.result == STF_CHECK_HASH || (c.result == STF_CHECK_SIZE && t.format != STT_SINGLE) ||
			(c.result == STF_CHECK_MISSING && t.format == STT_SINGLE)) {
			stt_fault(o, "%s: %s is %s, so what is readable is copied record by record", o->input, c.suffix,
				c.result == STF_CHECK_MISSING ? "missing" : "damaged");
			bad = 1;
		}
	}
	if (rc < 0) {
		stt_stf_fault(o, &e);
	}
	stt_trace_close(&t);
	return rc < 0 ? -1 : bad;
}

static int print_trace(const struct stt_options *o, const struct stt_request *q, const char *to)
{
	struct stt_trace t;
	struct stt_out out;
	struct tkm_err e;
	struct stt_request none = { NULL, 0 };
	struct stt_options on = *o;
	int rc = STT_FAULT;

	q = q ? q : &none;
	on.force = stt_is_input(o, to) ? o->force : tkm_newfile_may_replace(to, STT_VTF_MARK, o->force);
	if (stt_trace_open(&t, o, STF_READ_DAMAGED) < 0) {
		return STT_FAULT;
	}
	if (stt_request_bind((struct stt_request *)(uintptr_t)q, &t, o, &e) < 0) {
		stt_fault(o, "%s", e.text);
	} else if (stt_out_begin(&out, to, &on) == 0) {
		rc = stt_vtf_print(&t, o, q, out.f);
		if (stf_reader_fault(t.r)->code != STF_OK) {
			rc = stt_stf_fault(o, stf_reader_fault(t.r));
		}
		if (stt_out_end(&out, o) < 0) {
			rc = STT_FAULT;
		}
	}
	stt_trace_close(&t);
	return rc;
}

static int copy_bytes_of(const struct stt_options *o, const char *to, enum stt_format format)
{
	struct stt_components l;
	int rc = STT_FAULT;

	if (stt_components_list(&l, o) == 0) {
		rc = format == STT_STF ? stt_copy_components(&l, o, to) : stt_pack(&l, o, to);
	}
	stt_components_free(&l);
	return rc;
}

/* Copies the records that q selects (if q is empty: all). *records is the number of data records. */
static int write_anew(
	const struct stt_options *o, struct stt_request *q, const char *to, enum stt_format format, uint64_t *records)
{
	struct stt_trace t;
	struct tkm_err e;
	struct copy c = { .o = o, .t = &t, .req = q };
	int rc = STT_FAULT;

	if (stt_trace_open(&t, o, 0) < 0) {
		return STT_FAULT;
	}
	if (stt_request_bind(q, &t, o, &e) < 0) {
		stt_fault(o, "%s", e.text);
	} else {
		rc = copy_trace(&c, to, format);
	}
	if (rc == STT_OK && stf_reader_skipped(t.r)) {
		stt_say(o, 1, "%" PRIu64 " records of unknown kinds were not copied", stf_reader_skipped(t.r));
	}
	*records = c.records;
	stt_trace_close(&t);
	return rc;
}

int stt_convert(const struct stt_options *o, const char *to)
{
	enum stt_format format = stt_output_format(o, to);
	const struct xch_format *from, *f;
	struct stt_request all = { NULL, 0 };
	uint64_t records;
	int rc, damaged = 0;

	if (stt_foreign_output(o, to, &f) < 0 || stt_foreign_input(o, &from) < 0) {
		return STT_USAGE;
	}

	if (o->request.n) {
		stt_say(o, 1, "--convert takes the whole trace, --request is ignored; without --convert it selects");
	}
	if (format == STT_STF && !strcmp(to, "-")) {
		return stt_usage(o, "an STF trace is several files and cannot go to standard output; SINGLESTF can");
	}
	if (f) {
		rc = stt_export(o, f, to);
	} else if (from) {
		rc = stt_import(o, from, to, format == STT_SINGLE);
	} else if (format == STT_ASCII) {
		rc = print_trace(o, NULL, to);
	} else if (o->compress_trace >= 0 || o->procs_per_file > 0 || (damaged = is_damaged(o)) > 0) {
		/* the compression or the distribution over files changes, so the bytes cannot be copied */
		rc = write_anew(o, &all, to, format, &records);
		rc |= damaged > 0 ? STT_FAULT : STT_OK;
	} else {
		rc = damaged < 0 ? STT_FAULT : copy_bytes_of(o, to, format);
	}
	if (rc == STT_OK && strcmp(to, "-")) {
		stt_say(o, 1, "%s: written to %s", o->origin ? o->origin : o->input, to);
	}
	return rc;
}

/* ---- a part of a trace ---- */

int stt_extract(const struct stt_options *o, const char *to)
{
	enum stt_format format = stt_output_format(o, to);
	const struct xch_format *f;
	struct stt_request q;
	uint64_t records = 0;
	struct tkm_err e;
	int rc;

	if (stt_foreign_output(o, to, &f) < 0) {
		return STT_USAGE;
	}
	if (f) {
		return stt_export_part(o, f, to, stt_extract);
	}
	if (format == STT_STF && !strcmp(to, "-")) {
		return stt_usage(o, "an STF trace is several files and cannot go to standard output; SINGLESTF can");
	}
	if (stt_request_parse(&q, o, &e) < 0) {
		rc = stt_usage(o, "%s", e.text);
	} else {
		rc = format == STT_ASCII ? print_trace(o, &q, to) : write_anew(o, &q, to, format, &records);
		if (rc == STT_OK && format != STT_ASCII) {
			stt_say(o, 1, "%s: %" PRIu64 " records written to %s", o->origin ? o->origin : o->input,
				records, to);
		} else if (rc == STT_OK && strcmp(to, "-") != 0) {
			stt_say(o, 1, "%s: the selected records were written to %s", o->origin ? o->origin : o->input,
				to);
		}
	}
	stt_request_free(&q);
	return rc;
}

/* ---- recovering a damaged trace ---- */

/* Is the base file itself damaged? Components that its index no longer declares still exist. */
static int base_is_damaged(const struct stt_trace *t)
{
	const struct stf_err *e = stf_reader_fault(t->r);
	size_t n = strlen(t->path);

	if (t->format == STT_SINGLE) {
		return 0;
	}
	/* an index that was cut between two records has no fault, but also no files */
	return (e->code == STF_OK && stf_reader_count(t->r, STF_ID_file_declaration) == 0) ||
		(e->code != STF_OK && e->code != STF_ERR_NOMEM && strlen(e->file) == n && !strcmp(e->file, t->path));
}

/* Does the base file belong to another trace than the components do? */
static int base_is_foreign(const struct stt_trace *t)
{
	const struct stf_err *e;
	size_t i;

	for (i = 0; (e = stf_reader_fault_at(t->r, i)); i++) {
		if (e->code == STF_ERR_IDENTITY) {
			return 1;
		}
	}
	return 0;
}

/* Does the index end with a file declaration? Other records follow these, so the index may have been cut there. */
static int ends_in_files(const struct stt_trace *t)
{
	uint64_t last = 0, last_file = 0;
	const struct stf_record *rec;
	unsigned id;
	size_t n;

	for (id = 1; id < STF_ID_END; id++) {
		n = stf_reader_count(t->r, id);
		rec = n ? stf_reader_record(t->r, id, n - 1) : NULL;
		if (rec && rec->layout->kind == STF_KIND_INDEX) {
			last = rec->offset > last ? rec->offset : last;
			last_file = id == STF_ID_file_declaration ? rec->offset : last_file;
		}
	}
	return last_file && last_file == last;
}

/* Checks that the result is a valid trace. */
static int check_output(const struct stt_options *o, const char *to)
{
	struct stt_options check = { .program = o->program, .input = to, .verify = 1, .verbose = 0 };
	int rc = stt_verify(&check);

	return rc == STT_OK
		? rc
		: stt_fault(o, "%s: it was written, but does not verify or could not be checked; see above", to);
}

/* Prints all faults of the base file and the declarations; returns their number. */
static uint64_t tell_faults(const struct stt_options *o, const struct stt_trace *t)
{
	uint64_t n = stf_reader_faults(t->r);
	const struct stf_err *e;
	size_t i;

	for (i = 0; (e = stf_reader_fault_at(t->r, i)); i++) {
		stt_stf_fault(o, e);
	}
	if (n > i) {
		stt_fault(o, "%s: %" PRIu64 " more faults of base file and declarations", t->path, n - i);
	}
	return n;
}

static int recover_from(const struct stt_options *o, struct stt_trace *t, const struct stt_trace *old, const char *from,
	const char *to, const char *lost)
{
	struct copy c = { .o = o, .t = t, .recover = 1, .lost = lost, .old = old };
	int rc;

	c.faults += tell_faults(o, t);
	if (stf_reader_fault(t->r)->code == STF_ERR_NOMEM) {
		return STT_FAULT;
	}
	rc = copy_trace(&c, to, stt_output_format(o, to));
	if (c.finished && check_output(o, to) != STT_OK) {
		rc = STT_FAULT;
	}
	if (c.finished) {
		stt_say(o, 1,
			"%s: %" PRIu64 " records written to %s; %" PRIu64 " components ended in a fault, %" PRIu64
			" records were refused%s%s",
			from, c.records, to, c.faults, c.dropped, *lost ? "; " : "", lost);
	}
	return rc;
}

static const char *what_is_lost(const struct stt_trace *old, size_t left_out)
{
	if (old) {
		return left_out
			? "the base file is damaged: processes and info records are as it has them, checksums are "
			  "new; components of another trace were left out"
			: "the base file is damaged: processes and info records are as it has them, checksums are "
			  "new";
	}
	return left_out
		? "the index is lost, and with it checksums, provenance and duration; components of another trace "
		  "were left out"
		: "the index is lost, and with it checksums, provenance, info records and duration, and what the "
		  "writer had not "
		  "yet written";
}

/* Recovers a trace without a usable base file, from its components and from what a damaged base file still says. */
static int recover_parts(const struct stt_options *o, const struct stt_trace *old, const char *to)
{
	struct stt_options inner = *o;
	struct stt_salvage s;
	struct stt_trace t;
	int rc = STT_FAULT;

	if (stt_salvage(&s, o, old) == 0) {
		inner.input = s.base;
		inner.scratch = s.directory;
		if (stt_trace_open(&t, &inner, STF_READ_DAMAGED) == 0) {
			rc = recover_from(&inner, &t, old, o->input, to, what_is_lost(old, s.left_out));
			rc |= s.left_out || old || !s.unfinished ? STT_FAULT : STT_OK;
			stt_trace_close(&t);
		}
	}
	stt_salvage_free(&s);
	return rc;
}

/* Handles files that the index does not declare: they are used if the index is cut. */
static void report_undeclared(const struct stt_options *o, int cut)
{
	stt_fault(o,
		cut ? "%s: its index ends inside the list of files: all files that are there are taken"
		    : "%s: its index is whole without these, which another run may have left: they are not taken; "
		      "--recover takes all that lie there if this file has gone",
		o->input);
}

int stt_recover(const struct stt_options *o, const char *to)
{
	struct stt_trace t;
	size_t undeclared;
	char *left;
	int rc, cut;

	if (stt_only_stf(o, "--recover", to) < 0) {
		return STT_USAGE;
	}
	if (stt_output_format(o, to) == STT_ASCII || !strcmp(to, "-")) {
		return stt_usage(o, "--recover writes a trace; --dump prints what is readable of a damaged one");
	}
	if (strstr(o->input, ".stf.tmp-")) {
		return recover_parts(o, NULL, to);
	}
	rc = stt_trace_open(&t, o, STF_READ_DAMAGED | STF_READ_REPAIR);
	if (rc < 0) {
		/* a base file that is missing or useless is a loss, but one that was never written is not */
		return rc == -2 ? STT_FAULT
				: recover_parts(o, NULL, to) | (access(o->input, F_OK) == 0 ? STT_FAULT : STT_OK);
	}
	if (stf_reader_fault(t.r)->code == STF_ERR_NOMEM) {
		/* not all of the index was read, but it has no fault */
		stt_stf_fault(o, stf_reader_fault(t.r));
		stt_trace_close(&t);
		return STT_FAULT;
	}
	if (t.format != STT_SINGLE && base_is_foreign(&t)) {
		tell_faults(o, &t);
		stt_fault(o,
			"%s: this base file belongs to another trace than the declarations next to it, and is not used",
			o->input);
		stt_trace_close(&t);
		return recover_parts(o, NULL, to) | STT_FAULT;
	}
	/* in an index that was cut, all records are right except for its checksum */
	undeclared = t.format == STT_SINGLE || (base_is_damaged(&t) && stf_reader_fault(t.r)->code != STF_ERR_CHECKSUM)
		? 0
		: stt_salvage_undeclared(o, &t);
	cut = undeclared && ends_in_files(&t);
	if (cut || (undeclared && !base_is_damaged(&t))) {
		report_undeclared(o, cut);
	}
	if (cut || base_is_damaged(&t)) {
		tell_faults(o, &t);
		rc = recover_parts(o, &t, to);
	} else {
		rc = recover_from(o, &t, NULL, o->input, to, "");
		left = stt_salvage_left(o->input);
		if (left) {
			stt_say(o, 1, "%s: left by a writer that did not end; --recover it by this name", left);
		}
		free(left);
	}
	stt_trace_close(&t);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one conversion: passes the definitions and the events to the writer, and counts what is lost. */
#include "config.h"
#include "exchange/common/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is lost besides events ---- */

static uint64_t statistics(const struct xch_trace *t)
{
	const struct stf_record *rec;
	struct stf_file_declaration d;
	struct stf_cursor *c;
	struct stf_err e;
	uint64_t n = 0;
	size_t i;

	for (i = 0; (rec = stf_reader_record(t->r, STF_ID_file_declaration, i)); i++) {
		stf_get_file_declaration(rec, &d);
		c = d.filetype == STF_STATS_FILE ? stf_cursor_open(t->r, d.suffix, &e) : NULL;
		while (c && stf_cursor_next(c, &rec, &e) > 0) {
			n++;
		}
		stf_cursor_close(c);
	}
	return n;
}

static uint64_t infos(const struct xch_trace *t)
{
	const char *cls, *text;
	uint64_t n = 0;
	size_t i = 0;

	while (xch_next_info(t, &i, &cls, &text)) {
		n += strcmp(cls, "clock-bound") != 0; /* these are counted as bounds */
	}
	return n;
}

static uint64_t addresses(const struct xch_trace *t)
{
	const struct stf_record *rec;
	struct stf_willy_definition d;
	const char *ip;
	uint64_t n = 0;
	size_t i;

	for (i = 0; (rec = stf_reader_record(t->r, STF_ID_willy_definition, i)); i++) {
		ip = stf_get_willy_definition(rec, &d) == 0 ? stf_reader_string(t->r, d.ip) : NULL;
		n += ip && *ip;
	}
	return n;
}

static void count_definitions(struct xch_writer *w, const struct xch_trace *t)
{
	uint32_t holds = w->format->holds;
	size_t i, n;

	for (i = 0; i < t->n_counters && !(holds >> XCH_UNITS & 1); i++) {
		w->lost[XCH_UNITS] += *t->counter[i].unit != 0;
	}
	for (i = 0; i < t->n_places && !(holds >> XCH_PROCESSES & 1); i++) {
		w->lost[XCH_PROCESSES] += t->place[i].pid != 0 || t->place[i].name || t->place[i].tid != 0;
	}
	for (i = 0; i < t->n_processes && !(holds >> XCH_BOUND & 1); i++) {
		w->lost[XCH_BOUND] += xch_bounds(t, (uint32_t)i, &n) != NULL;
	}
	w->lost[XCH_GROUPS] += holds >> XCH_GROUPS & 1 ? 0 : stf_reader_count(t->r, STF_ID_group_definition);
	w->lost[XCH_COMMUNICATORS] += holds >> XCH_COMMUNICATORS & 1 ? 0 : t->n_communicators;
	w->lost[XCH_ADDRESSES] += addresses(t); /* no format has them */
	w->lost[XCH_STATISTICS] += holds >> XCH_STATISTICS & 1 ? 0 : statistics(t);
	w->lost[XCH_INFOS] += holds >> XCH_INFOS & 1 ? 0 : infos(t);
}

const char *xch_lost_text(const struct xch_writer *w, char *buf, size_t size)
{
	size_t n = 0;
	int k;

	buf[0] = 0;
	for (k = 0; k < XCH_KINDS && n < size; k++) {
		if (w->lost[k]) {
			n += (size_t)snprintf(buf + n, size - n, "%s%s (%" PRIu64 ")", n ? ", " : "",
				xch_kind_name((enum xch_kind)k), w->lost[k]);
		}
	}
	if (w->homeless && n < size) {
		n += (size_t)snprintf(buf + n, size - n,
			"%srecords of threads that the trace does not declare (%" PRIu64 ")", n ? ", " : "",
			w->homeless);
	}
	if (w->at_least && n < size) {
		snprintf(buf + n, size - n,
			"%ssizes of which the trace knows only that they are at least 4294967295 bytes (%" PRIu64 ")",
			n ? ", " : "", w->at_least);
	}
	return buf;
}

/* ---- the whole conversion ---- */

static int begin_writing(struct xch_writer *w, struct xch_trace *t, struct tkm_err *err)
{
	const struct xch_format *f = w->format;

	if (f->state_size && !(w->state = calloc(1, f->state_size))) {
		return xch_fail_memory(err, w->target);
	}
	if (f->stream && !(w->f = xch_create(w, w->base, err))) {
		return -1;
	}
	return f->open ? f->open(w, t, err) : 0;
}

int xch_convert(struct stf_reader *r, const char *path, const struct xch_format *f, const char *target,
	const struct xch_options *o, struct xch_writer *w, struct tkm_err *err)
{
	struct xch_trace t = { 0 };
	struct tkm_err ignored;
	int rc;

	*w = (struct xch_writer){ .format = f, .o = o, .target = target };
	if (!f->event) {
		return tkm_fail(
			err, TKM_ERR_UNAVAIL, "%s is %s", f->name, f->missing ? f->missing : "read only, not written");
	}
	rc = xch_output_begin(w, err);
	if (rc == 0) {
		rc = xch_trace_read(&t, r, path, err);
	}
	if (rc == 0) {
		rc = begin_writing(w, &t, err);
	}
	if (rc == 0) {
		rc = xch_stream(w, &t, err) < 0 || (f->end && f->end(w, &t, err) < 0) ? -1 : 0;
	}
	if (w->state && f->release) {
		f->release(w, &t);
	}
	free(w->state);
	rc |= xch_close(w, w->f, w->base, rc ? &ignored : err);
	if (rc == 0) {
		count_definitions(w, &t);
		rc = w->dir ? xch_output_commit(w, err) : 0;
	}
	xch_output_end(w);
	xch_trace_free(&t);
	return rc;
}

/* ---- reading ---- */

int xch_input_stf(struct xch_input *in, struct tkm_err *err)
{
	return xch_fail_stf(err, in->to, stf_writer_error(in->w));
}

int xch_input_begin(struct xch_input *in, double resolution, uint32_t eventbits, struct tkm_err *err)
{
	struct stf_err e;

	in->stf.resolution = resolution;
	in->stf.eventbits = eventbits;
	in->w = stf_writer_create(in->to, &in->stf, &e);
	return in->w ? 0 : xch_fail_stf(err, in->to, &e);
}

int xch_read(struct xch_input *in, const struct xch_format *f, struct tkm_err *err)
{
	struct stf_err e;

	if (!f->read) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "%s: %s is %s", in->path, f->name,
			f->missing ? f->missing : "written, not read");
	}
	if (f->read(in, err) < 0) {
		stf_writer_abort(in->w);
		in->w = NULL;
		return -1;
	}
	/* start > end: use the stamps that were written */
	if (stf_writer_finish(in->w, 1, 0, &e) < 0) {
		return xch_fail_stf(err, in->to, &e);
	}
	in->w = NULL;
	return 0;
}

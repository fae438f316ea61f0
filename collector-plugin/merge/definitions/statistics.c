/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the statistics that the raw files have as definitions, and writes them into the trace and the summary. */
#include "config.h"
#include "collector-plugin/merge/definitions/statistics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "collector-plugin/merge/common/names.h"
#include "collector-plugin/merge/common/options.h"
#include "collector-plugin/merge/definitions/communicators.h"

struct vt_merge_row {
	const struct vt_merge_file *f;
	uint32_t willy, function;
	uint32_t communicator, kind; /* as numbered in the file */
	int32_t peer;
	int others;                                              /* 1: `bytes` is the sum of all of them */
	uint64_t bytes, count, more, inclusive[3], exclusive[3]; /* minimum, maximum, sum, in units of the trace */
};

/* Turns a number of ticks into units of the trace, by the clock's mean rate over the run. */
static uint64_t units(const struct vt_merge *m, const struct vt_merge_file *f, int64_t ticks)
{
	double local = (double)(f->head->end_tick - f->head->start_tick);
	double rate =
		local > 0 && f->end > f->start ? (double)(f->end - f->start) / local : 1 / f->head->hz / m->period_s;

	return ticks > 0 ? (uint64_t)((double)ticks * rate + 0.5) : 0;
}

static void add_times_to_row(uint64_t *to, const uint64_t *v, int first)
{
	to[0] = first || v[0] < to[0] ? v[0] : to[0];
	to[1] = v[1] > to[1] ? v[1] : to[1];
	to[2] += v[2];
}

/* The row that a definition adds to. NULL: no memory. */
static struct vt_merge_row *row_of(
	struct vt_merge *m, const struct vt_merge_file *f, const struct vt_raw_def *d, uint32_t function)
{
	const struct vt_raw_row *r = &d->row;
	int others = r->function == 0;
	struct vt_merge_row *p;
	struct vt_merge_name *e;
	char key[120];

	snprintf(key, sizeof(key), "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRId32 " %" PRIu32 " %" PRIu64,
		f->process, d->id, r->function, r->communicator, r->peer, r->kind, others ? 0 : r->bytes);
	e = vt_merge_name_entry(&m->row_names, key);
	if (!e || e->id) {
		return e ? &m->row[e->id - 1] : NULL;
	}
	if (TKM_GROW(m->row, m->room_rows, m->n_rows + 1) < 0) {
		return NULL;
	}
	p = &m->row[m->n_rows++];
	*p = (struct vt_merge_row){ .f = f,
		.willy = STF_WILLY(f->process, d->id),
		.function = function,
		.communicator = r->communicator,
		.kind = r->kind,
		.peer = r->peer,
		.others = others,
		.bytes = others ? 0 : r->bytes };
	e->id = (uint32_t)m->n_rows;
	return p;
}

int vt_merge_see_statistics(
	struct vt_merge *m, const struct vt_merge_file *f, const struct vt_raw_def *d, uint32_t function)
{
	struct vt_merge_row *r;
	uint64_t in[3], ex[3];
	int i;

	if (d->row.kind >= VT_RAW_ROW_KINDS || !(r = row_of(m, f, d, function))) {
		return d->row.kind >= VT_RAW_ROW_KINDS ? 0 : -1;
	}
	for (i = 0; i < 3; i++) {
		in[i] = units(m, f, d->row.t.inclusive[i]);
		ex[i] = units(m, f, d->row.t.exclusive[i]);
	}
	add_times_to_row(r->inclusive, in, r->count == 0);
	add_times_to_row(r->exclusive, ex, r->count == 0);
	r->count += d->row.t.count;
	r->more += d->row.t.more;
	r->bytes += r->others ? d->row.bytes : 0;
	return 0;
}

/* Fills in the partner of the communication. */
static void find_partner(const struct vt_merge *m, const struct vt_merge_row *r, struct stf_lw_statistics *s)
{
	const struct vt_merge_comm *c = vt_merge_comm(r->f, r->communicator);
	uint32_t peer;

	s->receiver = VT_NO_RECEIVER;
	s->comm_size = 1;
	if (r->kind == VT_RAW_ROW_COLLECTIVE) {
		s->receiver = VT_COLLECTIVE;
		s->comm_size = c ? (int32_t)(c->n_own + (c->def.inter ? c->n_remote : 0)) : 0;
	} else if (r->kind != VT_RAW_ROW_CALL && r->kind != VT_RAW_ROW_FILE) {
		peer = c ? vt_merge_peer(m, c, r->peer) : VT_MERGE_STRANGER;
		s->receiver = peer == VT_MERGE_STRANGER ? VT_NO_RECEIVER : STF_WILLY(peer, 0);
		s->comm_size = peer == r->f->process ? 1 : 2;
		s->comm_size = r->kind == VT_RAW_ROW_RECEIVE ? -s->comm_size : s->comm_size;
	}
}

static int write_part_of_row(const struct vt_merge *m, struct stf_lw_statistics *s, uint64_t bytes, uint64_t count)
{
	s->bytes_sent = bytes < STF_ROW_BYTES_AT_LEAST ? (uint32_t)bytes : STF_ROW_BYTES_AT_LEAST;
	s->count = count < STF_COUNT_AT_LEAST ? (uint32_t)count : STF_COUNT_AT_LEAST;
	return count ? stf_write_lw_statistics(m->w, s) : 0;
}

int vt_merge_write_mean(const struct vt_merge *m, struct stf_lw_statistics *s, uint64_t count, uint64_t bytes)
{
	uint64_t larger = count ? bytes % count : 0;

	if (write_part_of_row(m, s, count ? bytes / count : 0, count - larger) < 0) {
		return -1;
	}
	s->minTicksIncl = s->maxTicksIncl = s->sumTicksIncl = 0;
	s->minTicksExcl = s->maxTicksExcl = s->sumTicksExcl = 0;
	return write_part_of_row(m, s, bytes / (count ? count : 1) + 1, larger);
}

static int write_row(struct vt_merge *m, const struct vt_merge_row *r)
{
	struct stf_lw_statistics s = { .willy = r->willy,
		.function = r->function,
		.minTicksIncl = r->inclusive[0],
		.maxTicksIncl = r->inclusive[1],
		.sumTicksIncl = r->inclusive[2],
		.minTicksExcl = r->exclusive[0],
		.maxTicksExcl = r->exclusive[1],
		.sumTicksExcl = r->exclusive[2] };

	find_partner(m, r, &s);
	if (r->kind == VT_RAW_ROW_CALL) {
		s.bytes_sent = VT_NO_MESSAGE;
		s.count = r->count < STF_COUNT_AT_LEAST ? (uint32_t)r->count : STF_COUNT_AT_LEAST;
		return stf_write_lw_statistics(m->w, &s);
	}
	return r->others ? vt_merge_write_mean(m, &s, r->count, r->bytes)
			 : write_part_of_row(m, &s, r->bytes, r->count);
}

int vt_merge_write_statistics(struct vt_merge *m)
{
	size_t i;

	for (i = 0; i < m->n_rows; i++) {
		if (write_row(m, &m->row[i]) < 0) {
			return -1;
		}
	}
	return 0;
}

/* ---- the summary of a run ---- */

struct sums {
	const char *name; /* "class\1function" */
	uint64_t calls, exclusive;
	int mpi;
};

static int more_first(const void *a, const void *b)
{
	const struct sums *x = a, *y = b;

	return x->exclusive != y->exclusive ? (x->exclusive < y->exclusive ? 1 : -1) : 0;
}

static const char *class_of_function(const struct vt_merge *m, uint32_t id)
{
	const char *name = vt_merge_name_of(&m->classes, id);

	return name ? name : "";
}

static void report_statistics(const struct vt_merge *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void report_statistics(const struct vt_merge *m, const char *fmt, ...)
{
	char line[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	m->o->summary(m->o->ctx, line);
}

static void say_functions(const struct vt_merge *m, struct sums *f, double all, double mpi)
{
	char name[120];
	uint32_t i;

	if (all <= 0) {
		report_statistics(m, "no functions were counted");
		return;
	}
	report_statistics(m, "%10s %12s %8s  function, by the time in it alone", "calls", "seconds", "share");
	for (i = 0; i < 10 && f[i].calls; i++) {
		const char *text = strchr(f[i].name, '\1');

		snprintf(name, sizeof(name), "%s:%s", class_of_function(m, (uint32_t)strtoul(f[i].name, NULL, 10)),
			text ? text + 1 : f[i].name);
		report_statistics(m, "%10" PRIu64 " %12.6f %7.2f%%  %s", f[i].calls,
			(double)f[i].exclusive * m->period_s, 100 * (double)f[i].exclusive / all, name);
	}
	report_statistics(m, "%10s %12.6f %7.2f%%  all calls of MPI; shares are of what was recorded", "",
		mpi * m->period_s, 100 * mpi / all);
}

static void say_messages(const struct vt_merge *m)
{
	uint64_t count[65] = { 0 }, bytes[65] = { 0 };
	unsigned k;
	size_t i;

	for (i = 0; i < m->n_rows; i++) {
		const struct vt_merge_row *r = &m->row[i];
		uint64_t one = r->others && r->count ? r->bytes / r->count : r->bytes;

		if (r->kind == VT_RAW_ROW_SEND) {
			k = one ? 64 - (unsigned)__builtin_clzll(one) : 0;
			count[k] += r->count;
			bytes[k] += r->others ? r->bytes : r->bytes * r->count;
		}
	}
	for (k = 0, i = 0; k < 65; k++) {
		if (count[k]) {
			if (!i++) {
				report_statistics(m, "%10s %12s  messages sent, by size", "messages", "bytes");
			}
			report_statistics(m, "%10" PRIu64 " %12" PRIu64 "  of up to %" PRIu64 " bytes", count[k],
				bytes[k], k ? ((uint64_t)2 << (k - 1)) - 1 : 0);
		}
	}
}

void vt_merge_say_summary(const struct vt_merge *m)
{
	size_t functions = tkm_table_count(&m->functions);
	struct sums *f = calloc(functions + 11, sizeof(*f));
	const struct vt_merge_name *e = NULL;
	double all = 0, mpi = 0;
	size_t i;

	while (f && (e = tkm_table_next(&m->functions, e))) {
		f[e->id].name = tkm_table_key(e);
		f[e->id].mpi = !strcmp(class_of_function(m, (uint32_t)strtoul(f[e->id].name, NULL, 10)), "MPI");
	}
	for (i = 0; f && i < m->n_rows; i++) {
		struct sums *s = &f[m->row[i].function <= functions ? m->row[i].function : 0];

		s->calls += s->name ? m->row[i].count - m->row[i].more : 0;
		s->exclusive += m->row[i].exclusive[2];
		all += (double)m->row[i].exclusive[2];
		mpi += s->mpi ? (double)m->row[i].exclusive[2] : 0;
	}
	if (f) {
		f[0].calls = 0;
		f[0].exclusive = 0;
		qsort(f, functions + 1, sizeof(*f), more_first);
		say_functions(m, f, all, mpi);
		say_messages(m);
	}
	free(f);
}

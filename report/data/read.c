/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a trace once and collects what a report shows. */
#include "config.h"
#include "report/data/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli/temporary.h"
#include "base/grow.h"
#include "base/text/ends.h"
#include "report/data/functions.h"
#include "report/data/index.h"

enum { SERIES_BYTES = 96 << 20 };

static void add_fault(struct vtr_trace *t, const struct stf_err *e)
{
	if (t->faults < sizeof(t->fault) / sizeof(t->fault[0])) {
		snprintf(t->fault[t->faults], sizeof(t->fault[0]), "%s%s%s (byte %" PRIu64 ")", e->file,
			e->file[0] ? ": " : "", e->text, e->offset);
	}
	t->faults++;
}

/* ---- counters ---- */

/* Reads `"NAME" REST` of an info record. Returns where the rest begins if the name is this counter's, else NULL. */
static const char *info_of(const char *text, const struct vtr_counter *c)
{
	char full[600];
	size_t n;

	n = (size_t)snprintf(full, sizeof(full), "\"%s%s%s\" ", c->group, c->group[0] ? ":" : "", c->name);
	return n < sizeof(full) && !strncmp(text, full, n) ? text + n : NULL;
}

/* Finds the factor and unit for display: as the trace states, else by the stored unit. */
static void find_display(struct vtr_trace *t, struct vtr_counter *c)
{
	const char *cls, *text, *rest;
	char *end;
	size_t i;

	c->factor = 1;
	snprintf(c->unit, sizeof(c->unit), "%.36s%s", c->stored_unit, c->rate ? "/s" : "");
	for (i = 0; stf_reader_info(t->reader, i, &cls, &text) == 0; i++) {
		rest = cls && text ? info_of(text, c) : NULL;
		if (rest && !strcmp(cls, "counter")) {
			c->about = rest;
		} else if (rest && !strcmp(cls, "counter-display")) {
			double factor = strtod(rest, &end);

			if (end > rest && isfinite(factor) && end[0] == ' ' && end[1] == '"') {
				c->factor = factor;
				snprintf(c->unit, sizeof(c->unit), "%.*s", (int)strcspn(end + 2, "\""), end + 2);
			}
		}
	}
}

static int chart_counters(struct vtr_trace *t)
{
	size_t n = stf_reader_count(t->reader, STF_ID_counter_definition), i;

	t->counter = calloc(n + 1, sizeof(*t->counter));
	if (!t->counter) {
		return -1;
	}
	for (i = 0; i < n; i++) {
		const struct stf_record *r = stf_reader_record(t->reader, STF_ID_counter_definition, i);
		struct stf_counter_definition d;
		struct vtr_counter *c = &t->counter[t->counters];

		if (!r || stf_get_counter_definition(r, &d) < 0) {
			continue;
		}
		c->id = d.id;
		c->name = stf_reader_name(t->reader, STF_ID_counter_definition, d.id);
		c->name = c->name ? c->name : "(no name)";
		c->group = d.classid ? stf_reader_name(t->reader, STF_ID_class_definition, d.classid) : NULL;
		c->group = c->group ? c->group : "";
		c->stored_unit = d.unit ? d.unit : "";
		c->rate = d.do_diff != 0;
		c->kind = d.type & 0xf;
		find_display(t, c);
		t->counters++;
	}
	t->mpi_share = t->counters;
	t->counter[t->counters++] = (struct vtr_counter){ .name = "time in MPI",
		.group = "",
		.stored_unit = "percent",
		.unit = "percent",
		.about = "share of the time that the thread was in MPI calls",
		.factor = 1,
		.kind = STF_COUNTER_F8,
		.share = 1 };
	return 0;
}

/* The index of a counter. Definitions are usually numbered from 1 in their order; otherwise they are searched. */
static size_t counter_index(const struct vtr_trace *t, uint32_t id)
{
	size_t i;

	if (id - 1 < t->mpi_share && t->counter[id - 1].id == id) {
		return id - 1;
	}
	for (i = 0; i < t->mpi_share && t->counter[i].id != id; i++) {
	}
	return i;
}

static double stored_value(const struct vtr_counter *c, uint64_t bits)
{
	double d;

	if (c->kind == STF_COUNTER_F8) {
		memcpy(&d, &bits, sizeof(d));
		return d;
	}
	return c->kind == STF_COUNTER_I8 ? (double)(int64_t)bits : (double)bits;
}

/* How much a running total rose, computed in integers so that nothing is lost. Returns -1 if it became smaller. */
static int increase(const struct vtr_counter *c, uint64_t from, uint64_t to, double *by)
{
	if (c->kind == STF_COUNTER_F8) {
		*by = stored_value(c, to) - stored_value(c, from);
	} else if (c->kind == STF_COUNTER_I8 ? (int64_t)to < (int64_t)from : to < from) {
		*by = -1;
	} else {
		*by = (double)(to - from);
	}
	return *by >= 0 ? 0 : -1;
}

/* Is the sample too soon after the one before? Two samples in quick succession, one at an event and one by the
 * sampler, would make a rate over a few microseconds. A total that grows by whole clock ticks would then show 2000 %
 * of a CPU. So the later sample is joined with the next one, and only the increase of the very last sample can be
 * lost. */
static int is_too_soon(struct vtr_series *s, uint64_t interval)
{
	if (s->interval > 0 && (double)interval < s->interval / 4) {
		return 1;
	}
	s->interval += ((double)interval - s->interval) / (s->interval > 0 ? 8 : 1);
	return 0;
}

static void chart_value(struct vtr_trace *t, uint64_t time, uint32_t willy, uint32_t id, uint64_t bits)
{
	size_t k = counter_index(t, id);
	const struct vtr_counter *c = &t->counter[k];
	struct vtr_series *s;
	double by;

	t->values++;
	if (c->of_runs) {
		if (c->runs) {
			vtr_functions_run(t, c->runs - 1, willy, bits);
		}
		return;
	}
	if (k >= t->mpi_share || !(s = vtr_axis_series(&t->axis, (uint32_t)k, willy))) {
		return;
	}
	s->samples++;
	if (!c->rate) {
		vtr_add_point(&t->axis, s, time, stored_value(c, bits) * c->factor);
	} else if (s->begun && time > s->last_time) {
		if (is_too_soon(s, time - s->last_time)) {
			return;
		}
		if (increase(c, s->last_bits, bits, &by) == 0) {
			s->increase += by;
			vtr_add_interval(&t->axis, s, s->last_time, time,
				by * c->factor / ((double)(time - s->last_time) * t->resolution));
		} else {
			s->falls++;
		}
	} else if (s->begun) {
		return; /* the same stamp again, or a step back: the next sample counts from the previous one */
	}
	s->begun = 1;
	s->last_time = time;
	s->last_bits = bits;
}

static void chart_batch(struct vtr_trace *t, const struct stf_counter_batch *b)
{
	size_t i;
	uint32_t j;

	for (i = 0; i < b->n; i++) {
		uint32_t willy = stf_batch_willy(b, i);

		vtr_axis_reach(&t->axis, b->times[i]);
		for (j = 0; j < b->k; j++) {
			chart_value(t, b->times[i], willy, stf_batch_counter(b, i, j), stf_batch_value(b, i, j));
		}
	}
	t->records += b->n;
}

/* ---- reading ---- */

static void add_report(struct vtr_trace *t, const struct stf_record *r)
{
	struct stf_report d;
	const char *level, *type;

	if (r->layout->kind != STF_KIND_REPORT || stf_get_report(r, &d) < 0) {
		return;
	}
	level = stf_reader_string(t->reader, d.level);
	type = stf_reader_string(t->reader, d.type);
	if (level && (strcasestr(level, "error") || strcasestr(level, "fatal"))) {
		t->reports++;
		t->ends += type && (!strncmp(type, "LOCAL:EXIT:", 11) || !strncmp(type, "GLOBAL:DEADLOCK:", 16));
	}
}

/* Adds a record. A window begins with the state before it: of this, only the calls that threads are in matter here,
 * because the time of a counter's last value is unknown. */
static void chart_record(struct vtr_trace *t, const struct stf_record *r)
{
	if (t->windowed && r->layout->class_id == STF_ID_function_history) {
		vtr_functions_before(t, r, t->start);
	} else if (r->layout->kind <= STF_KIND_OTHER && (!t->windowed || r->time >= t->start)) {
		t->records++;
		vtr_axis_reach(&t->axis, r->time);
		add_report(t, r);
		vtr_functions_add(t, r);
	}
}

/* Each component is read from the start to the end of the trace. */
static void say_part(const struct vtr_trace *t, uint64_t time)
{
	double all = (double)(t->end - t->start),
	       part = time > t->start && time < t->end ? (double)(time - t->start) : 0;

	t->how->progress(((double)t->component + (all > 0 ? part / all : 0)) / (double)t->components);
}

static int read_component(struct vtr_trace *t, const char *suffix)
{
	struct stf_cursor_options o = stf_cursor_options();
	struct stf_err e;
	struct stf_cursor *c;
	const struct stf_record *r;
	struct stf_counter_batch b;
	unsigned looked = 0;
	int rc, any = 0;

	o.suffix = suffix;
	o.window = o.state = t->windowed;
	o.from = t->start;
	o.to = t->end;
	c = stf_cursor_open_with(t->reader, &o, &e);
	if (!c) {
		add_fault(t, &e);
		return -1;
	}
	while ((rc = stf_cursor_next_batch(c, &r, &b, &e)) > 0) {
		any = 1;
		if (t->how->progress && (++looked & 0xfff) == 0) {
			say_part(t, rc == 1 ? r->time : b.times[0]);
		}
		if (rc == 1) {
			chart_record(t, r);
		} else if (!t->windowed || b.times[0] >= t->start) {
			chart_batch(t, &b);
		}
	}
	if (rc < 0) {
		add_fault(t, &e);
	}
	t->empty |= !any && !t->windowed;
	stf_cursor_close(c);
	return rc;
}

/* Reads each component separately: the order between threads does not matter, and an error in one does not hide the
 * others. */
static void read_records(struct vtr_trace *t)
{
	size_t n = stf_reader_count(t->reader, STF_ID_file_declaration), i;
	const struct stf_record *r;
	struct stf_file_declaration d;

	t->components = n;
	for (i = 0; i < n; i++) {
		t->component = i;
		r = stf_reader_record(t->reader, STF_ID_file_declaration, i);
		if (r && stf_get_file_declaration(r, &d) == 0 && d.filetype == STF_DATA_FILE && d.suffix) {
			read_component(t, d.suffix);
		}
	}
}

/* Reports components without a single record although the trace states that there are some. */
static void add_empty(struct vtr_trace *t)
{
	struct stf_check c;
	struct stf_err e;
	size_t i;

	for (i = 0; stf_reader_check(t->reader, i, &c, &e) == 1; i++) {
		if (c.result == STF_CHECK_SIZE && !c.size) {
			snprintf(e.text, sizeof(e.text), "is empty; it had %" PRIu64 " bytes when it was written",
				c.want_size);
			snprintf(e.file, sizeof(e.file), "%s", c.suffix);
			e.offset = 0;
			add_fault(t, &e);
		}
	}
}

static void add_damage(struct vtr_trace *t)
{
	struct stf_damage d;
	size_t i;

	if (t->empty) {
		add_empty(t);
	}
	for (i = 0; stf_reader_damage(t->reader, i, &d); i++) {
		if (t->faults < sizeof(t->fault) / sizeof(t->fault[0])) {
			snprintf(t->fault[t->faults], sizeof(t->fault[0]),
				"%s: %" PRIu64 " bytes from byte %" PRIu64 " on are not as they were written%s",
				d.suffix, d.size, d.offset, d.left_out ? "; their records are left out" : "");
		}
		t->faults++;
	}
}

/* Finds the window's times; -1: it is not in the trace. */
static int set_window(struct vtr_trace *t, const struct vtr_reading *how, struct tkm_err *err)
{
	double length;

	if (t->start > t->end) {
		return tkm_fail(
			err, TKM_ERR_FORMAT, "%s: does not state its duration, so there are no windows of it", t->path);
	}
	length = (double)(t->end - t->start) * t->resolution;
	if (how->from_s >= length) {
		return tkm_fail(err, TKM_ERR_FORMAT,
			"%s: the window begins %g s after the start, and the trace has %g s", t->path, how->from_s,
			length);
	}
	t->windowed = 1;
	t->offset_s = how->from_s;
	if (how->to_s < length) {
		t->end = t->start + (uint64_t)llround(how->to_s / t->resolution);
	}
	t->start += (uint64_t)llround(how->from_s / t->resolution);
	return 0;
}

static int begin_axis(struct vtr_trace *t, uint32_t columns, uint64_t room)
{
	vtr_axis_begin(&t->axis, t->start > t->end ? 0 : t->start, t->end, columns, room);
	return vtr_functions_begin(t);
}

static void end_axis(struct vtr_trace *t)
{
	vtr_functions_free(t);
	vtr_axis_free(&t->axis);
}

/* Gets the curves from the index or the records. Returns 0, or -1 if there is no memory. */
static int fill_charts(struct vtr_trace *t, const struct vtr_reading *how)
{
	uint64_t room = SERIES_BYTES;
	uint32_t columns = VTR_COLUMNS;
	struct tkm_err e;
	int rc = begin_axis(t, columns, room);

	if (rc == 0 && !how->index && !t->windowed) {
		rc = vtr_index_read(t, VTR_COLUMNS, &e);
		if (rc > 0) {
			return 0;
		}
		if (rc < 0) {
			snprintf(t->note, sizeof(t->note), "%.500s", e.text);
			end_axis(t);
			rc = begin_axis(t, columns, room);
		}
	} else if (rc == 0 && how->index) {
		end_axis(t);
		room = vtr_index_room(t) < room ? vtr_index_room(t) : room;
		for (; columns < 1 << 22 && columns * sizeof(struct vtr_column) < room; columns *= 2) {
		}
		rc = begin_axis(t, columns, room);
	}
	if (rc == 0) {
		read_records(t);
		vtr_functions_end(t);
	}
	return rc;
}

static int has_openmp(const struct vtr_trace *t)
{
	const struct stf_record *r;
	struct stf_class_definition d;
	const char *name;
	size_t i;

	for (i = 0; (r = stf_reader_record(t->reader, STF_ID_class_definition, i)); i++) {
		name = stf_get_class_definition(r, &d) == 0 ? stf_reader_name(t->reader, STF_ID_class_definition, d.id)
							    : NULL;
		if (name && !strcmp(name, "OMP")) {
			return 1;
		}
	}
	return 0;
}

/* Waits and efficiencies, in a pass of its own. What it cannot read was reported by the first pass. */
static void analyse_trace(struct vtr_trace *t)
{
	struct stf_analysis_options o = stf_analysis_options();
	struct stf_err e;

	if (!vtr_has_mpi(t) && !has_openmp(t)) {
		return;
	}
	o.window = t->windowed;
	o.from = t->start;
	o.to = t->end;
	t->analysis = stf_analyze(t->reader, &o, &e);
	if (t->analysis && !t->analysis->n_teams &&
		(!t->analysis->processes || t->analysis->finish <= t->analysis->begin)) {
		stf_analysis_free(t->analysis);
		t->analysis = NULL;
	}
}

static int read_ends(struct vtr_trace *t)
{
	char *lines = tkm_ends_read(t->path), whole[400];
	const char *cls, *text;
	size_t i, room = 0;
	int rc = 0;

	for (i = 0; rc == 0 && stf_reader_info(t->reader, i, &cls, &text) == 0; i++) {
		if (cls && text && !strcmp(cls, "ended")) {
			rc = TKM_GROW(t->ended, room, t->n_ended + 1);
			if (rc == 0) {
				text = tkm_ends_complete(lines, text, whole, sizeof(whole));
				t->ended[t->n_ended] = strdup(text);
				rc = t->ended[t->n_ended] ? 0 : -1;
				t->n_ended += rc == 0;
			}
		}
	}
	free(lines);
	return rc;
}

int vtr_trace_read(struct vtr_trace *t, const char *path, const struct vtr_reading *how, struct tkm_err *err)
{
	struct stf_err e;
	uint32_t bits;

	memset(t, 0, sizeof(*t));
	t->path = path;
	t->how = how;
	t->reader = stf_reader_open(path, STF_READ_DAMAGED | STF_READ_VERIFY, &e);
	if (!t->reader) {
		return tkm_fail(err, e.code == STF_ERR_IO ? TKM_ERR_IO : TKM_ERR_FORMAT, "%s%s%s", e.file,
			e.file[0] ? ": " : "", e.text);
	}
	if (stf_reader_fault(t->reader)->code != STF_OK) {
		add_fault(t, stf_reader_fault(t->reader));
	}
	if (stf_reader_clock(t->reader, &t->resolution, &bits) < 0 || !(t->resolution > 0)) {
		vtr_trace_free(t);
		return tkm_fail(err, TKM_ERR_FORMAT, "%s: does not state the length of its time-stamp unit", path);
	}
	if (stf_reader_duration(t->reader, &t->start, &t->end) < 0) {
		t->start = 1;
		t->end = 0;
	}
	if (how->window && set_window(t, how, err) < 0) {
		vtr_trace_free(t);
		return -1;
	}
	t->threads = stf_reader_processes(t->reader, &t->processes);
	if (read_ends(t) < 0 || chart_counters(t) < 0 || fill_charts(t, how) < 0) {
		vtr_trace_free(t);
		return tkm_fail(err, TKM_ERR_NOMEM, "%s: out of memory", path);
	}
	analyse_trace(t);
	add_damage(t);
	for (size_t i = 0; i < t->axis.n_series; i++) {
		t->counter[t->axis.series[i].counter].n_series++;
	}
	return 0;
}

void vtr_trace_free(struct vtr_trace *t)
{
	end_axis(t);
	stf_analysis_free(t->analysis);
	free(t->counter);
	while (t->n_ended) {
		free(t->ended[--t->n_ended]);
	}
	free(t->ended);
	if (t->reader) {
		stf_reader_close(t->reader);
	}
	if (t->folder) {
		tkm_temporary_remove(t->folder);
	}
	memset(t, 0, sizeof(*t));
}

double vtr_seconds(const struct vtr_trace *t, uint64_t time)
{
	return time < t->axis.start ? -(double)(t->axis.start - time) * t->resolution
				    : (double)(time - t->axis.start) * t->resolution;
}

double vtr_length(const struct vtr_trace *t)
{
	uint64_t end = t->start <= t->end ? t->end : t->axis.first <= t->axis.last ? t->axis.last : t->axis.start;

	return vtr_seconds(t, end);
}

const char *vtr_process_word(const struct vtr_trace *t)
{
	return vtr_has_mpi(t) || t->messages.n || t->operations ||
			stf_reader_count(t->reader, STF_ID_communicator_definition)
		? "rank"
		: "process";
}

/* The name of a thread, if it has one of its own; of the first thread that of the process. NULL: none. */
static const char *thread_name(const struct vtr_trace *t, uint32_t willy)
{
	struct stf_willy_info w, first;

	if (stf_reader_willy(t->reader, willy, &w) < 0 || !w.name || !w.name[0] || !strncmp(w.name, "Process ", 8)) {
		return NULL;
	}
	if (stf_willy_thread(willy) && stf_reader_willy(t->reader, stf_willy_process(willy), &first) == 0 &&
		first.name && !strcmp(first.name, w.name)) {
		return NULL;
	}
	return w.name;
}

static void label_thread(const struct vtr_trace *t, uint32_t willy, char *buf, size_t size)
{
	const char *word = vtr_process_word(t), *name = thread_name(t, willy);
	int alone = t->processes < 2 && !strcmp(word, "process");
	size_t n = 0;

	buf[0] = '\0';
	if (alone && name) {
		snprintf(buf, size, "%s", name);
		return;
	}
	if (!alone || !stf_willy_thread(willy)) {
		n = (size_t)snprintf(buf, size, "%s %" PRIu32, word, stf_willy_process(willy));
	}
	if (stf_willy_thread(willy) && n < size) {
		if (name) {
			snprintf(buf + n, size - n, "%s%s", n ? " " : "", name);
		} else {
			snprintf(buf + n, size - n, "%sthread %" PRIu32, n ? " " : "", stf_willy_thread(willy));
		}
	}
}

char *vtr_willy_label(const struct vtr_trace *t, uint32_t willy, char *buf, size_t size)
{
	struct stf_willy_info w;
	const char *name = NULL;

	if (stf_willy_is_group(willy)) {
		name = stf_reader_name(t->reader, STF_ID_group_definition, willy & 0x7fffffff);
		if (!name && stf_reader_willy(t->reader, willy, &w) == 0) {
			name = w.name;
		}
		if (name) {
			snprintf(buf, size, "node %s", name);
		} else {
			snprintf(buf, size, "group %" PRIu32, willy & 0x7fffffff);
		}
	} else {
		label_thread(t, willy, buf, size);
	}
	return buf;
}

const char *vtr_source_place(const struct vtr_trace *t, uint32_t scl, char *buf, size_t size)
{
	const struct stf_record *r = scl ? stf_reader_find(t->reader, STF_ID_scl_definition, scl) : NULL;
	struct stf_scl_definition d;
	const char *file;

	if (!r || stf_get_scl_definition(r, &d) < 0 || !d.size_1_4) {
		return NULL;
	}
	file = stf_reader_name(t->reader, STF_ID_file_definition, d.file[0]);
	if (!file) {
		return NULL;
	}
	snprintf(buf, size, "%s:%" PRIu32, file, d.line[0]);
	return buf;
}

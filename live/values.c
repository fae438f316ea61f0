/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the newest values of a job's counters. Only the last blocks of each stream are read, so the time that this
 * takes does not grow with the run. */
#include "config.h"
#include "live/live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "collector-plugin/raw/reader.h"
#include "report/html/html.h"
#include "include/stf.h"

enum { LAST_BLOCKS = 4 };
#define SHORTEST_S 0.005 /* shortest time between two samples that make a rate */

struct counter {
	struct vt_raw_counter_def def;
	uint32_t row;
	char unit[40];
	int shown;
};

/* One file while it is read. */
struct look {
	struct vtr_live_job *job;
	const struct vt_raw_head *head;
	const char *only;
	struct counter *counter; /* by id */
	size_t counters;
	size_t first_cell; /* cells of this file begin here */
	int no_memory;
};

/* The index of a text in a list; a new text is appended. */
static int number_of_text(struct vtr_live_text **list, size_t *n, const char *text, const char *unit, uint32_t *number)
{
	struct vtr_live_text *more;
	size_t i;

	for (i = 0; i < *n; i++) {
		if (!strcmp((*list)[i].text, text)) {
			*number = (uint32_t)i;
			return 0;
		}
	}
	more = TKM_APPEND(*list, *n);
	if (!more) {
		return -1;
	}
	snprintf(more->text, sizeof(more->text), "%s", text);
	snprintf(more->unit, sizeof(more->unit), "%s", unit);
	*number = (uint32_t)i;
	return 0;
}

static int define_shown(const struct vt_raw_def *d, void *ctx)
{
	struct look *l = ctx;
	struct counter *c;
	const char *unit;

	if (d->type != VT_RAW_DEF_COUNTER || d->id > 1 << 20) {
		return 0;
	}
	if (d->id >= l->counters && TKM_EXTEND(l->counter, l->counters, d->id + 1) < 0) {
		l->no_memory = 1;
		return 1;
	}
	c = &l->counter[d->id];
	c->def = d->counter;
	unit = d->counter.shown_unit && *d->counter.shown_unit ? d->counter.shown_unit : d->text ? d->text : "";
	snprintf(c->unit, sizeof(c->unit), "%.36s%s", unit,
		c->def.do_diff && !(d->counter.shown_unit && *d->counter.shown_unit) ? "/s" : "");
	c->def.name = c->def.unit = c->def.shown_unit = c->def.description = NULL;
	if (d->name && (!l->only || strstr(d->name, l->only))) {
		c->shown = 1;
		l->no_memory |= number_of_text(&l->job->row, &l->job->rows, d->name, c->unit, &c->row) < 0;
	}
	return l->no_memory;
}

static struct vtr_live_cell *cell_of(struct look *l, uint32_t column, const struct counter *c)
{
	struct vtr_live_job *j = l->job;
	struct vtr_live_cell *more;
	size_t i;

	for (i = l->first_cell; i < j->cells; i++) {
		if (j->cell[i].column == column && j->cell[i].row == c->row) {
			return &j->cell[i];
		}
	}
	more = TKM_APPEND(j->cell, j->cells);
	if (!more) {
		l->no_memory = 1;
		return NULL;
	}
	*more = (struct vtr_live_cell){ .column = column,
		.row = c->row,
		.kind = c->def.type & 0xf,
		.rate = c->def.do_diff != 0,
		.factor = c->def.factor > 0 ? c->def.factor : 1,
		.hz = l->head->hz };
	return more;
}

static int column_of_counter(struct look *l, unsigned where, uint32_t *column)
{
	char name[80], who[40];
	const struct vt_raw_head *h = l->head;

	if (h->rank >= 0) {
		snprintf(who, sizeof(who), "rank %d", (int)h->rank);
	} else {
		snprintf(who, sizeof(who), "pid %u", h->pid);
	}
	if (where >= VT_RAW_GROUP) {
		snprintf(name, sizeof(name), "node %.60s", h->host);
	} else if (where == 0) {
		snprintf(name, sizeof(name), "%s", who);
	} else {
		snprintf(name, sizeof(name), "%s.%u", who, where & ~VT_RAW_PLACE);
	}
	return number_of_text(&l->job->column, &l->job->columns, name, "", column);
}

static void add_values(struct look *l, const struct vt_raw_cursor *c)
{
	struct vtr_live_cell *cell;
	uint32_t i, id, column;
	uint64_t bits;

	for (i = 0; i < c->h.n; i++) {
		memcpy(&bits, c->body + 8 * (size_t)i, 8);
		memcpy(&id, c->body + 8 * (size_t)c->h.n + 4 * (size_t)i, 4);
		if (id >= l->counters || !l->counter[id].shown) {
			continue;
		}
		if (column_of_counter(l, c->h.where, &column) < 0) {
			l->no_memory = 1;
			return;
		}
		cell = cell_of(l, column, &l->counter[id]);
		if (!cell) {
			return;
		}
		if (cell->n && c->now <= cell->new.tick) {
			continue; /* each stream is read separately */
		}
		/* of two samples in quick succession, the later replaces the earlier, or rates would jump */
		if (!cell->n || (double)(c->now - cell->new.tick) >= SHORTEST_S * cell->hz) {
			cell->old = cell->new;
			cell->n += cell->n < 2;
		}
		cell->new = (struct vtr_live_sample){ bits, c->now };
	}
}

static void read_value_streams(struct look *l, struct vt_raw_file *f)
{
	struct vt_raw_cursor c;
	size_t s;

	for (s = 0; s < vt_raw_streams(f); s++) {
		vt_raw_cursor(f, s, &c);
		if (c.last - c.next > LAST_BLOCKS) {
			c.next = c.last - LAST_BLOCKS;
		}
		while (!l->no_memory && vt_raw_cursor_next(&c)) {
			if (c.h.type == VT_RAW_COUNTERS) {
				add_values(l, &c);
			}
		}
	}
}

static int has_children(uint32_t pid)
{
	char path[64];
	FILE *f;
	int c;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, pid);
	f = fopen(path, "re");
	c = f ? getc(f) : EOF;
	if (f) {
		fclose(f);
	}
	return c != EOF;
}

static int read_value_file(struct vtr_live_job *j, const char *path, const char *only)
{
	struct look l = { .job = j, .only = only, .first_cell = j->cells };
	struct vt_raw_file *f;
	struct tkm_err e;
	double run_s;

	f = vt_raw_open_definitions(path, &e);
	if (!f) {
		return e.code == TKM_ERR_NOMEM ? -1 : 0; /* otherwise the file is gone, because its process has ended */
	}
	l.head = vt_raw_file_head(f);
	j->running += l.head->state == VT_RAW_RECORDING && vt_raw_file_alive(f);
	j->lost += l.head->lost;
	j->parents += has_children(l.head->pid);
	l.no_memory |= vt_raw_definitions(f, define_shown, &l) < 0;
	read_value_streams(&l, f);
	for (size_t i = l.first_cell; i < j->cells; i++) {
		run_s = (double)(j->cell[i].new.tick - l.head->start_tick) / l.head->hz;
		j->run_s = run_s > j->run_s ? run_s : j->run_s;
	}
	free(l.counter);
	vt_raw_file_close(f);
	return l.no_memory ? -1 : 0;
}

/* What the sampler costs is the last that anybody looks for. */
static int is_own_counter(const struct vtr_live_job *j, size_t row)
{
	return strstr(j->row[row].text, "sampler_") != NULL;
}

/* Fills j->order, and moves the cells of the sampler's own counters to the end. */
static int order_rows(struct vtr_live_job *j)
{
	uint32_t *more = realloc(j->order, (j->rows + 1) * sizeof(*more)), n = 0;
	size_t r;
	int own;

	if (!more) {
		return -1;
	}
	j->order = more;
	for (own = 0; own < 2; own++) {
		for (r = 0; r < j->rows; r++) {
			if (is_own_counter(j, r) == own) {
				j->order[n++] = (uint32_t)r;
			}
		}
	}
	return 0;
}

static int compare_cells(const void *a, const void *b)
{
	const struct vtr_live_cell *x = a, *y = b;

	return x->own != y->own         ? x->own - y->own
		: x->row != y->row      ? (x->row < y->row ? -1 : 1)
		: x->column < y->column ? -1
					: x->column > y->column;
}

int vtr_live_read(struct vtr_live_job *j, const char *only, struct tkm_err *err)
{
	size_t i;

	j->cells = 0;
	j->running = 0;
	j->lost = 0;
	j->parents = 0;
	for (i = 0; i < j->files; i++) {
		if (read_value_file(j, j->path[i], only) < 0) {
			return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
		}
	}
	if (order_rows(j) < 0) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	for (i = 0; i < j->cells; i++) {
		j->cell[i].own = is_own_counter(j, j->cell[i].row);
	}
	if (j->cells) {
		qsort(j->cell, j->cells, sizeof(*j->cell), compare_cells);
	}
	return 0;
}

static double stored(const struct vtr_live_cell *c, uint64_t bits)
{
	double d;

	if (c->kind == STF_COUNTER_F8) {
		memcpy(&d, &bits, sizeof(d));
		return d;
	}
	return c->kind == STF_COUNTER_I8 ? (double)(int64_t)bits : (double)bits;
}

double vtr_live_value(const struct vtr_live_cell *c)
{
	double by;

	if (!c->rate) {
		return c->n ? stored(c, c->new.bits) * c->factor : NAN;
	}
	if (c->n < 2 || c->new.tick <= c->old.tick) {
		return NAN;
	}
	by = c->kind == STF_COUNTER_U8 ? (double)(int64_t)(c->new.bits - c->old.bits)
				       : stored(c, c->new.bits) - stored(c, c->old.bits);
	return by < 0 ? NAN : by * c->factor * c->hz / (double)(c->new.tick - c->old.tick);
}

/* Is it the column of a process, not of a thread of it, nor of a node? */
static int is_process_column(const struct vtr_live_job *j, size_t column)
{
	const char *name = j->column[column].text;

	return (!strncmp(name, "rank ", 5) || !strncmp(name, "pid ", 4)) && !strchr(name, '.');
}

double vtr_live_total(const struct vtr_live_job *j, size_t row)
{
	double sum = 0, v;
	size_t i, n = 0;

	for (i = 0; i < j->cells; i++) {
		if (j->cell[i].row == row && j->cell[i].rate && is_process_column(j, j->cell[i].column)) {
			v = vtr_live_value(&j->cell[i]);
			sum += isfinite(v) ? v : 0;
			n += (size_t)isfinite(v);
		}
	}
	return n > 1 ? sum : NAN;
}

const char *vtr_live_hint(const struct vtr_live_job *j, char *buf, size_t size)
{
	*buf = '\0';
	if (j->files == 1 && j->parents) {
		snprintf(buf, size,
			"%.60s has started other programs, which are not recorded: vtrun --follow-children records them",
			j->program);
	}
	return buf;
}

void vtr_live_print(FILE *f, const struct vtr_live_job *j)
{
	size_t i;

	for (i = 0; i < j->cells; i++) {
		const struct vtr_live_cell *c = &j->cell[i];
		double v = vtr_live_value(c);

		if (isfinite(v)) {
			fprintf(f, "%.3f\t", j->run_s);
			vtr_plain(f, j->column[c->column].text);
			fputc('\t', f);
			vtr_plain(f, j->row[c->row].text);
			fprintf(f, "\t%.9g\t", v);
			vtr_plain(f, j->row[c->row].unit);
			fputc('\n', f);
		}
	}
}

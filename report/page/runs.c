/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares groups of runs. */
#include "config.h"
#include "report/page/runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "report/findings/measure.h"
#include "report/findings/show.h"
#include "report/html/frame.h"
#include "report/html/html.h"
#include "report/page/significance.h"

#define SIGNIFICANT 0.05 /* a difference that comes by chance in less than one of twenty comparisons */

enum { FUNCTIONS = 20 };

static const char *const measure_name[VTR_RUN_MEASURES] = { "run time", "waited for a processor", "time in MPI",
	"imbalance outside MPI", "slept or waited outside MPI", "CPU time" };

static const char *const measure_id[VTR_RUN_MEASURES] = { "run-time", "waited-for-cpu", "mpi", "imbalance", "asleep",
	"cpu-time" };

static char *copy_of(const char *text)
{
	return strdup(text ? text : "");
}

static void measure_run(struct vtr_run *r, const struct vtr_trace *t)
{
	struct vtr_measures m;
	size_t k;

	for (k = 0; k < VTR_RUN_MEASURES; k++) {
		r->value[k] = NAN;
	}
	r->value[VTR_RUN_TIME] = vtr_length(t);
	if (vtr_measure(&m, t) < 0) {
		return;
	}
	if (m.known) {
		r->value[VTR_RUN_WAITS_CPU] = m.wait_s;
		r->value[VTR_RUN_CPU] = m.cpu_s * m.known;
		r->value[VTR_RUN_ASLEEP] =
			isnan(m.run_s) || isnan(m.wait_s) ? NAN : m.process[m.longest_asleep].asleep_s;
	}
	if (m.known && m.mpi) {
		r->value[VTR_RUN_MPI] = m.mpi_s;
		r->value[VTR_RUN_IMBALANCE] = m.process[m.longest_outside].outside_s - m.outside_s;
	}
	vtr_measures_free(&m);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct vtr_function_time *)a)->name, ((const struct vtr_function_time *)b)->name);
}

static int take_functions(struct vtr_run *r, const struct vtr_trace *t)
{
	size_t i;
	uint32_t k;

	r->function = calloc(t->functions + 1, sizeof(*r->function));
	for (i = 0; r->function && i < t->functions; i++) {
		const char *name = stf_reader_name(t->reader, STF_ID_function_definition, t->function_id[i]);
		struct vtr_function_time *f = &r->function[r->functions];
		uint64_t calls = 0;

		for (k = 0; k < t->function_rows; k++) {
			const struct vtr_function *one = &t->function[i * t->function_rows + k];

			calls += one->calls;
			f->seconds += one->exclusive * t->resolution;
		}
		if (calls && name && (f->name = strdup(name))) {
			r->functions++;
		} else {
			f->seconds = 0;
		}
	}
	if (r->function) {
		qsort(r->function, r->functions, sizeof(*r->function), by_name);
	}
	return r->function ? 0 : -1;
}

int vtr_run_take(struct vtr_run *r, const struct vtr_trace *t)
{
	struct stf_willy_info w;

	memset(r, 0, sizeof(*r));
	r->path = copy_of(t->path);
	r->started = copy_of(vtr_fact_of_run(t, "started", 0));
	r->command = copy_of(vtr_fact_of_run(t, "command", 0));
	r->host = copy_of(stf_reader_willy(t->reader, 0, &w) == 0 ? w.hostname : NULL);
	r->processes = t->processes;
	measure_run(r, t);
	if (take_functions(r, t) < 0 || !r->path || !r->started || !r->command || !r->host) {
		vtr_run_free(r);
		return -1;
	}
	return 0;
}

void vtr_run_free(struct vtr_run *r)
{
	size_t i;

	for (i = 0; i < r->functions; i++) {
		free(r->function[i].name);
	}
	free(r->function);
	free(r->path);
	free(r->started);
	free(r->command);
	free(r->host);
	memset(r, 0, sizeof(*r));
}

/* ---- changes ---- */

struct change {
	double before, after, least[2], most[2]; /* medians and ranges, seconds */
	double p;
};

typedef double value_of_run(const struct vtr_run *r, const void *which);

static double measure_of_run(const struct vtr_run *r, const void *which)
{
	return r->value[*(const size_t *)which];
}

/* A run without the function spent no time in it. */
static double function_of_run(const struct vtr_run *r, const void *which)
{
	struct vtr_function_time key = { .name = (char *)(uintptr_t)which };
	const struct vtr_function_time *f = bsearch(&key, r->function, r->functions, sizeof(*r->function), by_name);

	return f ? f->seconds : 0;
}

/* Compares one value of all runs. Returns 0, or -1 if a side has none. */
static int compare_value(const struct vtr_side side[2], value_of_run *value, const void *which, struct change *c)
{
	double *v[2] = { calloc(side[0].n + 1, sizeof(double)), calloc(side[1].n + 1, sizeof(double)) };
	size_t n[2] = { 0, 0 }, i;
	int k, rc = -1;

	for (k = 0; v[0] && v[1] && k < 2; k++) {
		for (i = 0; i < side[k].n; i++) {
			double one = value(&side[k].run[i], which);

			if (!isnan(one)) {
				v[k][n[k]++] = one;
			}
		}
	}
	if (n[0] && n[1]) {
		rc = 0;
		c->p = vtr_rank_sum_p(v[0], n[0], v[1], n[1]);
		for (k = 0; k < 2; k++) {
			struct tkm_spread s = tkm_spread(v[k], n[k]);

			*(k ? &c->after : &c->before) = s.median;
			c->least[k] = s.min;
			c->most[k] = s.max;
		}
	}
	free(v[0]);
	free(v[1]);
	return rc;
}

static const char *how_sure(const struct vtr_side side[2], const struct change *c, char *buf, size_t size)
{
	double least = vtr_rank_sum_least_p(side[0].n, side[1].n);

	if (side[0].n < 2 && side[1].n < 2) {
		snprintf(buf, size,
			"One run a side does not show how much runs vary: vtreport --compare A*.stf -- B*.stf takes "
			"several.");
	} else if (least >= SIGNIFICANT) {
		snprintf(buf, size, "%zu and %zu runs are too few to tell it from chance: four a side can.", side[0].n,
			side[1].n);
	} else {
		snprintf(buf, size, "%s (p = %.2g, %zu and %zu runs).",
			c->p < SIGNIFICANT ? "More than runs vary" : "No more than runs vary", c->p, side[0].n,
			side[1].n);
	}
	return buf;
}

static enum vtr_grade grade_of(const struct change *c)
{
	return c->p >= SIGNIFICANT ? VTR_UNKNOWN : c->after < c->before ? VTR_GOOD : VTR_WARN;
}

static void find_run_time(struct vtr_findings *all, const struct vtr_side side[2])
{
	struct change c;
	char a[60], b[60], d[60], sure[200];
	size_t which = VTR_RUN_TIME;
	const char *title;

	if (compare_value(side, measure_of_run, &which, &c) < 0 || !(c.before > 0)) {
		return;
	}
	title = c.p >= SIGNIFICANT && vtr_rank_sum_least_p(side[0].n, side[1].n) < SIGNIFICANT ? "As long"
		: fabs(c.after / c.before - 1) < 0.0005                                        ? "As long"
		: c.after < c.before                                                           ? "Shorter"
											       : "Longer";
	vtr_find(all, "run-time", 1000, grade_of(&c), title, "%s before, %s after: %s. %s",
		vtr_duration(a, sizeof(a), c.before), vtr_duration(b, sizeof(b), c.after),
		vtr_change(d, sizeof(d), c.before, c.after), how_sure(side, &c, sure, sizeof(sure)));
}

static void find_measures(struct vtr_findings *all, const struct vtr_side side[2])
{
	struct change c;
	char a[60], b[60], title[100];
	int may_tell = vtr_rank_sum_least_p(side[0].n, side[1].n) < SIGNIFICANT;
	size_t which;

	for (which = VTR_RUN_TIME + 1; which < VTR_RUN_MEASURES; which++) {
		/* where runs enough tell a change from chance, chance is no finding; the table has all */
		if (compare_value(side, measure_of_run, &which, &c) < 0 || (may_tell && c.p >= SIGNIFICANT) ||
			fabs(c.after - c.before) < 0.05 * fmax(side[0].run[0].value[VTR_RUN_TIME], 1e-3)) {
			continue;
		}
		snprintf(title, sizeof(title), "%s: %s", c.after < c.before ? "Less" : "More", measure_name[which]);
		vtr_find(all, measure_id[which], 900 - (double)which, grade_of(&c), title, "%s before, %s after.",
			vtr_duration(a, sizeof(a), c.before), vtr_duration(b, sizeof(b), c.after));
	}
}

/* ---- functions ---- */

struct changed_function {
	const char *name;
	struct change c;
};

static int by_change(const void *x, const void *y)
{
	const struct change *a = &((const struct changed_function *)x)->c,
			    *b = &((const struct changed_function *)y)->c;
	double p = fabs(a->after - a->before), q = fabs(b->after - b->before);

	return p < q ? 1 : p > q ? -1 : 0;
}

/* All functions of the first run of each side, those that changed most first. The caller frees them. */
static struct changed_function *changed_functions(const struct vtr_side side[2], size_t *n)
{
	struct changed_function *all = calloc(side[0].run[0].functions + side[1].run[0].functions + 1, sizeof(*all));
	size_t i;
	int k;

	*n = 0;
	for (k = 0; all && k < 2; k++) {
		for (i = 0; i < side[k].run[0].functions; i++) {
			const struct vtr_function_time *f = &side[k].run[0].function[i];

			if (k && bsearch(f, side[0].run[0].function, side[0].run[0].functions, sizeof(*f), by_name)) {
				continue;
			}
			all[*n].name = f->name;
			*n += compare_value(side, function_of_run, f->name, &all[*n].c) == 0;
		}
	}
	if (all) {
		qsort(all, *n, sizeof(*all), by_change);
	}
	return all;
}

static void find_functions(struct vtr_findings *all, const struct vtr_side side[2])
{
	size_t n, i, at = 0;
	struct changed_function *f = changed_functions(side, &n);
	char text[600] = "", a[60], b[60];

	for (i = 0; f && i < n && i < 3 && at < sizeof(text); i++) {
		if (fabs(f[i].c.after - f[i].c.before) > 0) {
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.100s: %s before, %s after",
				i ? "; " : "", f[i].name, vtr_duration(a, sizeof(a), f[i].c.before),
				vtr_duration(b, sizeof(b), f[i].c.after));
		}
	}
	if (text[0]) {
		vtr_find(all, "functions", 890, VTR_UNKNOWN, "Functions that changed most", "%s.", text);
	}
	free(f);
}

void vtr_find_changes(struct vtr_findings *all, const struct vtr_side side[2])
{
	find_run_time(all, side);
	find_measures(all, side);
	find_functions(all, side);
}

/* ---- tables ---- */

static void change_row(FILE *f, const char *name, const struct change *c, const struct vtr_side side[2])
{
	char text[60];
	int k;

	fputs("<tr><th scope=\"row\">", f);
	vtr_html(f, name);
	fputs("</th>", f);
	for (k = 0; k < 2; k++) {
		vtr_cell(f, k ? c->after : c->before, "s");
		vtr_cell(f, c->least[k], "s");
		vtr_cell(f, c->most[k], "s");
	}
	vtr_cell(f, c->after - c->before, "s");
	fputs("<td>", f);
	vtr_html(f, vtr_change(text, sizeof(text), c->before, c->after));
	fputs("</td>", f);
	if (vtr_rank_sum_least_p(side[0].n, side[1].n) < SIGNIFICANT) {
		fprintf(f, "<td>%s</td>", c->p < SIGNIFICANT ? "yes" : "no");
	} else {
		fputs("<td>unknown</td>", f);
	}
	fputs("</tr>\n", f);
}

void vtr_show_changes(FILE *f, const struct vtr_side side[2])
{
	const char *const heads[] = { "time", "before", "least", "most", "after", "least", "most", "change", "ratio",
		"significant", NULL };
	struct changed_function *all;
	struct change c;
	size_t which, n, i;

	vtr_section(f, "changes", "What changed");
	vtr_open_table_begin(f, "Table of what changed", "Times before and after, medians of the runs", heads);
	for (which = 0; which < VTR_RUN_MEASURES; which++) {
		if (compare_value(side, measure_of_run, &which, &c) == 0) {
			change_row(f, measure_name[which], &c, side);
		}
	}
	vtr_table_end(f);
	all = changed_functions(side, &n);
	if (all && n) {
		vtr_open_table_begin(f, "Table of the functions", "Functions, those that changed most first", heads);
		for (i = 0; i < n && i < FUNCTIONS; i++) {
			change_row(f, all[i].name, &all[i].c, side);
		}
		vtr_table_end(f);
	}
	free(all);
}

void vtr_show_runs(FILE *f, const struct vtr_side side[2])
{
	const char *const heads[] = { "run", "side", "started", "host", "processes", "length", "command", NULL };
	size_t i;
	int k;

	vtr_section(f, "runs", "The runs");
	vtr_open_table_begin(f, "Table of the runs", "Runs that are compared", heads);
	for (k = 0; k < 2; k++) {
		for (i = 0; i < side[k].n; i++) {
			const struct vtr_run *r = &side[k].run[i];

			fputs("<tr><th scope=\"row\">", f);
			vtr_html(f, r->path);
			fprintf(f, "</th><td>%s</td><td>", k ? "after" : "before");
			vtr_html(f, r->started[0] ? r->started : "unknown");
			fputs("</td><td>", f);
			vtr_html(f, r->host[0] ? r->host : "unknown");
			fprintf(f, "</td><td>%" PRIu32 "</td>", r->processes);
			vtr_cell(f, r->value[VTR_RUN_TIME], "s");
			fputs("<td>", f);
			vtr_html(f, r->command[0] ? r->command : "unknown");
			fputs("</td></tr>\n", f);
		}
	}
	vtr_table_end(f);
}

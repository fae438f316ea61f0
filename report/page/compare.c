/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares two runs: how long they took, and each counter and function of both. */
#include "config.h"
#include "report/page/several.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/pictures/counters.h"
#include "report/findings/show.h"
#include "report/html/frame.h"
#include "report/html/svg.h"

enum { POINTS = 240, FUNCTIONS = 60 };

/* A counter over all threads of a run. */
struct summary {
	double mean, least, most; /* mean of all; smallest and largest mean of a thread or node */
	size_t n;
};

static struct summary summarise_counter(const struct vtr_trace *t, size_t counter)
{
	struct summary s = { NAN, INFINITY, -INFINITY, 0 };
	double sum = 0;
	size_t i;

	for (i = 0; i < t->axis.n_series; i++) {
		const struct vtr_series *r = &t->axis.series[i];

		if (r->counter == counter && r->weight > 0) {
			double mean = r->sum / r->weight;

			sum += mean;
			s.least = fmin(s.least, mean);
			s.most = fmax(s.most, mean);
			s.n++;
		}
	}
	s.mean = s.n ? sum / (double)s.n : NAN;
	return s;
}

static size_t same_counter(const struct vtr_trace *t, const struct vtr_counter *c)
{
	size_t k;

	for (k = 0; k < t->counters; k++) {
		if (!strcmp(t->counter[k].name, c->name) && !strcmp(t->counter[k].group, c->group) &&
			!strcmp(t->counter[k].unit, c->unit)) {
			break;
		}
	}
	return k;
}

/* Do the two runs differ by more than the spread of their threads? They do if the two ranges do not touch. */
static int differs(const struct summary *a, const struct summary *b)
{
	return a->n && b->n && (a->most < b->least || b->most < a->least);
}

static void change_cell(FILE *f, double a, double b)
{
	char text[40];

	fputs("<td>", f);
	vtr_html(f, vtr_change(text, sizeof(text), a, b));
	fputs("</td>", f);
}

/* The mean of all threads over time. A thread without a sample in a column still has its last value there. */
static void fill_means(const struct vtr_trace *t, size_t counter, double end_s, double *mean)
{
	unsigned n[POINTS] = { 0 };
	size_t i, k;

	memset(mean, 0, POINTS * sizeof(*mean));
	for (i = 0; i < t->axis.n_series; i++) {
		const struct vtr_series *s = &t->axis.series[i];
		double value = NAN, end = vtr_seconds(t, s->last_time);

		for (k = 0; k < POINTS && s->counter == counter && end_s * (double)k / POINTS <= end; k++) {
			double column = t->resolution * (double)t->axis.width;
			double a = end_s * (double)k / POINTS / column,
			       b = ceil(end_s * (double)(k + 1) / POINTS / column);
			uint32_t from = (uint32_t)fmin(a, t->axis.columns), to = (uint32_t)fmin(b, t->axis.columns);
			struct vtr_column c = vtr_column_join(s, from, to - from);

			value = c.weight > 0 ? c.sum / c.weight : value;
			mean[k] += isnan(value) ? 0 : value;
			n[k] += !isnan(value);
		}
	}
	for (k = 0; k < POINTS; k++) {
		mean[k] = n[k] ? mean[k] / n[k] : NAN;
	}
}

static void draw_comparison(FILE *f, const struct vtr_trace *t, size_t before, size_t after)
{
	double curve[2][POINTS], end = fmax(vtr_length(&t[0]), vtr_length(&t[1]));
	struct vtr_line line[2] = { { .mean = curve[0], .label = "before", .colour = 0 },
		{ .mean = curve[1], .label = "after", .colour = 1 } };
	const struct vtr_counter *c = &t[0].counter[before];
	char id[40], title[300];
	struct vtr_chart chart = { .id = id,
		.title = title,
		.about = "Mean of all threads or nodes, before and after.",
		.to = end,
		.x_unit = "s",
		.y_unit = c->unit,
		.n = POINTS,
		.line = line,
		.lines = 2,
		.with_zero = 1 };

	snprintf(id, sizeof(id), "counter%zu", before);
	snprintf(title, sizeof(title), "%s%s%s", c->group, c->group[0] ? ":" : "", c->name);
	fill_means(&t[0], before, end, curve[0]);
	fill_means(&t[1], after, end, curve[1]);
	fputs("<h3>", f);
	vtr_html(f, title);
	fputs("</h3>\n", f);
	vtr_svg_chart(f, &chart);
}

static void counter_row(FILE *f, const struct vtr_counter *c, const struct summary *a, const struct summary *b)
{
	fputs("<tr><th scope=\"row\">", f);
	vtr_html(f, c->group);
	fputs(c->group[0] ? ":" : "", f);
	vtr_html(f, c->name);
	fputs("</th>", f);
	vtr_cell(f, a->mean, c->unit);
	vtr_cell(f, b->mean, c->unit);
	change_cell(f, a->mean, b->mean);
	vtr_cell(f, a->n ? a->least : NAN, c->unit);
	vtr_cell(f, a->n ? a->most : NAN, c->unit);
	vtr_cell(f, b->n ? b->least : NAN, c->unit);
	vtr_cell(f, b->n ? b->most : NAN, c->unit);
	fputs("</tr>\n", f);
}

/* The next counter that both runs have. Counters of the sampler itself come last, in a second round. */
static size_t next_counter(const struct vtr_trace *t, size_t k, size_t *other)
{
	for (; k < 2 * t[0].counters; k++) {
		const struct vtr_counter *c = &t[0].counter[k % t[0].counters];

		*other = same_counter(&t[1], c);
		if (c->n_series && *other < t[1].counters && t[1].counter[*other].n_series &&
			(k >= t[0].counters) == !strcmp(c->group, "Tickmark")) {
			break;
		}
	}
	return k;
}

static void show_counters(FILE *f, const struct vtr_trace *t)
{
	const char *const heads[] = { "counter", "mean before", "mean after", "change", "threads before: from", "to",
		"threads after: from", "to", NULL };
	size_t k, other, n = t[0].counters;
	double v;

	vtr_section(f, "counters", "Counters");
	vtr_open_table_begin(f, "Table of the counters", "Counters of both runs", heads);
	for (k = next_counter(t, 0, &other); k < 2 * n; k = next_counter(t, k + 1, &other)) {
		struct summary a = summarise_counter(&t[0], k % n), b = summarise_counter(&t[1], other);

		counter_row(f, &t[0].counter[k % n], &a, &b);
	}
	vtr_table_end(f);
	for (k = next_counter(t, 0, &other); k < 2 * n; k = next_counter(t, k + 1, &other)) {
		if (!(vtr_counter_is_constant(&t[0], k % n, &v) && vtr_counter_is_constant(&t[1], other, &v))) {
			draw_comparison(f, t, k % n, other);
		}
	}
}

static double function_time(const struct vtr_trace *t, size_t i, uint64_t *calls)
{
	double sum = 0;
	uint32_t r;

	*calls = 0;
	for (r = 0; r < t->function_rows; r++) {
		sum += t->function[i * t->function_rows + r].exclusive * t->resolution;
		*calls += t->function[i * t->function_rows + r].calls;
	}
	return sum;
}

static void show_functions(FILE *f, const struct vtr_trace *t)
{
	const char *const heads[] = { "function", "calls before", "after", "time in itself before", "after", "change",
		NULL };
	size_t i, k, shown = 0;
	uint64_t calls[2];
	double time[2];

	for (i = 0; i < t[0].functions; i++) {
		const char *name = stf_reader_name(t[0].reader, STF_ID_function_definition, t[0].function_id[i]),
			   *other = NULL;

		for (k = 0; name && k < t[1].functions; k++) {
			other = stf_reader_name(t[1].reader, STF_ID_function_definition, t[1].function_id[k]);
			if (other && !strcmp(name, other)) {
				break;
			}
		}
		if (!name || k == t[1].functions || shown == FUNCTIONS) {
			continue;
		}
		time[0] = function_time(&t[0], i, &calls[0]);
		time[1] = function_time(&t[1], k, &calls[1]);
		if (!calls[0] && !calls[1]) {
			continue;
		}
		if (shown++ == 0) {
			vtr_section(f, "functions", "Functions");
			vtr_open_table_begin(f, "Table of the functions", "Functions of both runs", heads);
		}
		fputs("<tr><th scope=\"row\">", f);
		vtr_html(f, name);
		fprintf(f, "</th><td>%" PRIu64 "</td><td>%" PRIu64 "</td>", calls[0], calls[1]);
		vtr_cell(f, time[0], "s");
		vtr_cell(f, time[1], "s");
		change_cell(f, time[0], time[1]);
		fputs("</tr>\n", f);
	}
	if (shown) {
		vtr_table_end(f);
	}
}

static void find_changes(struct vtr_findings *all, const struct vtr_trace *t)
{
	double length[2] = { vtr_length(&t[0]), vtr_length(&t[1]) }, change;
	char a[60], b[60];
	size_t k, other;

	if (length[0] > 0) {
		change = 100 * (length[1] / length[0] - 1);
		vtr_find(all, "run-time", 1000, VTR_UNKNOWN,
			fabs(change) < 0.05  ? "As long"
				: change < 0 ? "Shorter"
					     : "Longer",
			"%s before, %s after: %+.3g %%. Two runs do not show how much runs of this program vary.",
			vtr_duration(a, sizeof(a), length[0]), vtr_duration(b, sizeof(b), length[1]), change);
	}
	for (k = 0; k < t[0].counters; k++) {
		struct summary x = summarise_counter(&t[0], k), y;
		const struct vtr_counter *c = &t[0].counter[k];

		other = same_counter(&t[1], c);
		if (other == t[1].counters || !(x.mean > 0)) {
			continue;
		}
		y = summarise_counter(&t[1], other);
		change = fabs(log(y.mean / x.mean));
		if (differs(&x, &y) && isfinite(change) && change > 0.05 && strcmp(c->group, "Tickmark")) {
			vtr_find(all, c->name, 100 * change, VTR_UNKNOWN, c->name,
				"Mean %s before, %s after: %+.3g %%, more than threads differ among each other.",
				vtr_value(a, sizeof(a), x.mean, c->unit), vtr_value(b, sizeof(b), y.mean, c->unit),
				100 * (y.mean / x.mean - 1));
		}
	}
}

int vtr_write_comparison(FILE *f, const struct vtr_trace *t, const struct vtr_clocks *c)
{
	struct vtr_findings all = { .n = 0 };
	char text[900];
	int i;

	vtr_page_begin(f, "Comparison of two runs");
	fputs("<header><h1>Comparison of two runs</h1><dl>", f);
	for (i = 0; i < 2; i++) {
		fprintf(f, "<dt>%s</dt><dd>", i ? "After" : "Before");
		vtr_html(f, t[i].path);
		fprintf(f, ", %" PRIu32 " process%s</dd>", t[i].processes, t[i].processes == 1 ? "" : "es");
		vtr_clocks_verdict(&c[i], t[i].processes, text, sizeof(text));
		fputs("<dt>Its clocks</dt><dd>", f);
		vtr_html(f, text + (!strncmp(text, "Clocks: ", 8) ? 8 : 0));
		fputs("</dd>", f);
		if (t[i].faults) {
			fputs("<dt>Damaged</dt><dd>", f);
			vtr_html(f, t[i].fault[0]);
			fputs("</dd>", f);
		}
	}
	fputs("</dl>\n", f);
	find_changes(&all, t);
	vtr_show_findings(f, &all);
	fputs("</header>\n<main>\n", f);
	show_counters(f, t);
	show_functions(f, t);
	fputs("</main>\n", f);
	vtr_page_end(f);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares runs: what changed, and each counter of the first run of each side. */
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

enum { POINTS = 240, ROUNDS = 3 };

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

/* Who a counter counts: 0 the processes, 1 nodes with all that runs there, 2 the sampler itself. */
static size_t round_of(const struct vtr_trace *t, size_t counter)
{
	size_t i;

	if (!strcmp(t->counter[counter].group, "Tickmark")) {
		return 2;
	}
	for (i = 0; i < t->axis.n_series && t->axis.series[i].counter != counter; i++) {
	}
	return i < t->axis.n_series && stf_willy_is_group(t->axis.series[i].willy);
}

/* The next counter that both runs have, in three rounds. */
static size_t next_counter(const struct vtr_trace *t, size_t k, size_t *other)
{
	for (; k < ROUNDS * t[0].counters; k++) {
		const struct vtr_counter *c = &t[0].counter[k % t[0].counters];

		*other = same_counter(&t[1], c);
		if (c->n_series && *other < t[1].counters && t[1].counter[*other].n_series &&
			round_of(&t[0], k % t[0].counters) == k / t[0].counters) {
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
	fputs("<p>Of the first run of each side: first those of the processes, then those of the nodes, which contain other "
	      "programs, too.</p>\n",
		f);
	vtr_open_table_begin(f, "Table of the counters", "Counters of both runs", heads);
	for (k = next_counter(t, 0, &other); k < ROUNDS * n; k = next_counter(t, k + 1, &other)) {
		struct summary a = summarise_counter(&t[0], k % n), b = summarise_counter(&t[1], other);

		counter_row(f, &t[0].counter[k % n], &a, &b);
	}
	vtr_table_end(f);
	for (k = next_counter(t, 0, &other); k < ROUNDS * n; k = next_counter(t, k + 1, &other)) {
		if (!(vtr_counter_is_constant(&t[0], k % n, &v) && vtr_counter_is_constant(&t[1], other, &v))) {
			draw_comparison(f, t, k % n, other);
		}
	}
}

void vtr_write_comparison(FILE *f, const struct vtr_trace *t, const struct vtr_clocks *c, const struct vtr_side side[2])
{
	struct vtr_findings all = { .n = 0 };
	char text[900];
	int i;

	if (side[0].n + side[1].n > 2) {
		snprintf(text, sizeof(text), "Comparison of %zu and %zu runs", side[0].n, side[1].n);
	} else {
		snprintf(text, sizeof(text), "Comparison of two runs");
	}
	vtr_page_begin(f, text);
	fprintf(f, "<header><h1>%s</h1><dl>", text);
	for (i = 0; i < 2; i++) {
		fprintf(f, "<dt>%s</dt><dd>", i ? "After" : "Before");
		vtr_html(f, t[i].path);
		if (side[i].n > 1) {
			fprintf(f, " and %zu more", side[i].n - 1);
		}
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
	vtr_find_changes(&all, side);
	vtr_show_findings(f, &all);
	fputs("</header>\n<main>\n", f);
	vtr_show_changes(f, side);
	vtr_show_runs(f, side);
	show_counters(f, t);
	fputs("</main>\n", f);
	vtr_page_end(f);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the heat map of ranks over time, and a picture of every counter over time. */
#include "config.h"
#include "report/pictures/counters.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/frame.h"
#include "report/html/svg.h"

enum { CURVES = VTR_PLACES, HEAT_COLUMNS = 120, HEAT_ROWS = 128, LINES = VTR_CURVES - 1, WORST = 3, ROWS = 256 };

/* The number of columns of a picture; each is made of `per` columns of the axis. */
static uint32_t columns_of(const struct vtr_trace *t, uint32_t most, uint32_t *per)
{
	uint32_t used = vtr_axis_used(&t->axis);

	*per = (used + most - 1) / most;
	return (used + *per - 1) / *per;
}

static double axis_end(const struct vtr_trace *t, uint32_t columns, uint32_t per)
{
	return (double)columns * per * (double)t->axis.width * t->resolution;
}

static struct vtr_column picture_column(const struct vtr_trace *t, const struct vtr_series *s, uint32_t k, uint32_t per)
{
	uint32_t n = (k + 1) * per <= t->axis.columns ? per : t->axis.columns - k * per;

	return vtr_column_join(s, k * per, n);
}

static double series_mean(const struct vtr_series *s)
{
	return s->weight > 0 ? s->sum / s->weight : NAN;
}

/* ---- heat map ---- */

/* The counter for the heat map: time in MPI, else CPU time, else the first counter that several rows have. */
static size_t heat_counter(const struct vtr_trace *t)
{
	static const char *const best[] = { "time in MPI", "thread_run", "thread_usr", "main_run", "proc_usr",
		"cpu_usr" };
	size_t b, k;

	for (b = 0; b < sizeof(best) / sizeof(best[0]); b++) {
		for (k = 0; k < t->counters; k++) {
			if (!strcmp(t->counter[k].name, best[b]) && t->counter[k].n_series > 1) {
				return k;
			}
		}
	}
	for (k = 0; k < t->counters && t->counter[k].n_series < 2; k++) {
	}
	return k;
}

struct rows {
	const struct vtr_trace *t;
	const struct vtr_series **s;
	size_t n, per_row;
};

static void row_label(void *context, size_t row, char *buf, size_t size)
{
	const struct rows *r = context;
	size_t last = (row + 1) * r->per_row - 1;
	char a[80], b[80];

	vtr_willy_label(r->t, r->s[row * r->per_row]->willy, a, sizeof(a));
	if (r->per_row == 1) {
		snprintf(buf, size, "%s", a);
	} else {
		vtr_willy_label(r->t, r->s[last < r->n ? last : r->n - 1]->willy, b, sizeof(b));
		snprintf(buf, size, "%s to %s", a, b);
	}
}

static int compare_series_rank(const void *a, const void *b)
{
	const struct vtr_series *x = *(const struct vtr_series *const *)a, *y = *(const struct vtr_series *const *)b;
	uint64_t p = (uint64_t)(x->willy & 0xffff) << 32 | x->willy >> 16;
	uint64_t q = (uint64_t)(y->willy & 0xffff) << 32 | y->willy >> 16;

	return p < q ? -1 : p > q;
}

static int by_mean(const void *a, const void *b)
{
	double x = series_mean(*(const struct vtr_series *const *)a),
	       y = series_mean(*(const struct vtr_series *const *)b);

	return x < y ? 1 : x > y ? -1 : compare_series_rank(a, b);
}

size_t vtr_counter_series(const struct vtr_trace *t, size_t counter, const struct vtr_series ***s)
{
	size_t i, n = 0;

	*s = calloc(t->counter[counter].n_series + 1, sizeof(**s));
	for (i = 0; *s && i < t->axis.n_series; i++) {
		if (t->axis.series[i].counter == counter) {
			(*s)[n++] = &t->axis.series[i];
		}
	}
	if (*s) {
		qsort(*s, n, sizeof(**s), compare_series_rank);
	}
	return n;
}

void vtr_counter_range(const struct vtr_series *const *s, size_t n, double *low, double *high)
{
	size_t i;

	*low = INFINITY;
	*high = -INFINITY;
	for (i = 0; i < n; i++) {
		*low = fmin(*low, s[i]->low);
		*high = fmax(*high, s[i]->high);
	}
	if (!(*low <= *high)) {
		*low = 0;
		*high = 1;
	}
}

static int find_rows(const struct vtr_trace *t, size_t counter, struct rows *r)
{
	r->t = t;
	r->per_row = 1;
	r->n = vtr_counter_series(t, counter, &r->s);
	return r->n ? 0 : -1;
}

static void fill_cells(
	const struct rows *r, double *cell, size_t rows, uint32_t columns, uint32_t per, struct vtr_heat *h)
{
	size_t row, i;
	uint32_t k;

	h->low = INFINITY;
	h->high = -INFINITY;
	for (row = 0; row < rows; row++) {
		for (k = 0; k < columns; k++) {
			double sum = 0, weight = 0;

			for (i = row * r->per_row; i < (row + 1) * r->per_row && i < r->n; i++) {
				struct vtr_column c = picture_column(r->t, r->s[i], k, per);

				sum += c.sum;
				weight += c.weight;
			}
			sum = cell[row * columns + k] = weight > 0 ? sum / weight : NAN;
			h->low = sum < h->low ? sum : h->low;
			h->high = sum > h->high ? sum : h->high;
		}
	}
	h->low = h->low > 0 ? 0 : h->low;
	h->high = h->high > h->low ? h->high : h->low + 1;
}

static void counter_table(
	FILE *f, const struct vtr_trace *t, const struct vtr_counter *c, const struct rows *r, const char *of)
{
	const char *const heads[] = { "thread or node", "samples", "minimum", "mean", "maximum",
		c->rate ? "total" : NULL, NULL };
	char caption[300], label[120];
	size_t i;

	snprintf(caption, sizeof(caption), "%s%s%s%s per thread or node%s", of, c->group, c->group[0] ? ":" : "",
		c->name, r->n > ROWS ? ", those with the largest mean" : "");
	vtr_table_begin(f, "Table of the values", caption, heads);
	for (i = 0; i < r->n && i < ROWS; i++) {
		const struct vtr_series *s = r->s[i];

		fputs("<tr><th scope=\"row\">", f);
		vtr_html(f, vtr_willy_label(t, s->willy, label, sizeof(label)));
		fprintf(f, "</th><td>%llu</td>", (unsigned long long)s->samples);
		vtr_cell(f, s->weight > 0 ? s->low : NAN, c->unit);
		vtr_cell(f, series_mean(s), c->unit);
		vtr_cell(f, s->weight > 0 ? s->high : NAN, c->unit);
		if (c->rate) {
			vtr_cell(f, s->begun ? s->increase : NAN, c->stored_unit);
		}
		fputs("</tr>\n", f);
	}
	vtr_table_end(f);
	if (r->n > ROWS) {
		fprintf(f, "<p class=\"soft\">%zu of %zu rows are shown.</p>\n", (size_t)ROWS, r->n);
	}
}

void vtr_show_heat(FILE *f, const struct vtr_trace *t)
{
	size_t counter = heat_counter(t), rows;
	struct vtr_heat h = { .id = "heat", .x_unit = "s" };
	struct rows r;
	uint32_t per, columns = columns_of(t, HEAT_COLUMNS, &per);
	double *cell;
	const char *word = strcmp(vtr_process_word(t), "rank") && t->processes < 2 ? "thread" : vtr_process_word(t);
	char title[200], data[40];

	if (counter == t->counters || find_rows(t, counter, &r) < 0) {
		return;
	}
	r.per_row = (r.n + HEAT_ROWS - 1) / HEAT_ROWS;
	rows = (r.n + r.per_row - 1) / r.per_row;
	cell = malloc(rows * columns * sizeof(*cell));
	if (cell) {
		snprintf(title, sizeof(title), "%s by %s and time", t->counter[counter].name, word);
		title[0] = (char)toupper((unsigned char)title[0]);
		vtr_section(f, "heat-map", title);
		fprintf(f, "<p class=\"soft\">A row for each %s, time from left to right. %s</p>\n", word,
			t->counter[counter].share ? "Light: the rank is in MPI, where it communicates or waits for "
						    "others. Dark: it computes."
						  : "Light: a large value. Dark: a small one.");
		fill_cells(&r, cell, rows, columns, per, &h);
		h.title = title;
		h.about = "A row for each process or thread, from left to right the time since the start; a light cell "
			  "is a large value. The table below has the mean of each row.";
		h.unit = t->counter[counter].unit;
		h.to = axis_end(t, columns, per);
		h.rows = rows;
		h.columns = columns;
		h.cell = cell;
		h.label = row_label;
		h.context = &r;
		snprintf(data, sizeof(data), "%zu", counter);
		h.data = r.per_row == 1 ? data : NULL;
		vtr_svg_heat(f, &h);
		counter_table(f, t, &t->counter[counter], &r, "Heat map of ");
	}
	free(cell);
	free(r.s);
}

/* ---- curves ---- */

struct curve {
	double *low, *mean, *high, *rows; /* rows: how many rows the envelope is made of */
};

static int curve_alloc(struct curve *c, size_t n)
{
	c->low = calloc(4 * n, sizeof(double));
	c->mean = c->low + n;
	c->high = c->low + 2 * n;
	c->rows = c->low + 3 * n;
	return c->low ? 0 : -1;
}

static void fill_curve(const struct vtr_trace *t, const struct vtr_series *s, uint32_t n, uint32_t per, struct curve *c)
{
	uint32_t k;

	for (k = 0; k < n; k++) {
		struct vtr_column p = picture_column(t, s, k, per);

		c->mean[k] = p.weight > 0 ? p.sum / p.weight : NAN;
		c->low[k] = p.weight > 0 ? (double)p.low : NAN;
		c->high[k] = p.weight > 0 ? (double)p.high : NAN;
		if (t->counter[s->counter].share) {
			c->low[k] = c->high[k] = c->mean[k];
		}
	}
}

/* Minimum, mean and maximum over all rows. A row without a sample in a column still has its last value there. */
static void fill_envelope(const struct rows *r, uint32_t n, uint32_t per, struct curve *c)
{
	uint32_t k, last;
	size_t i;

	for (k = 0; k < n; k++) {
		c->low[k] = INFINITY;
		c->high[k] = -INFINITY;
		c->mean[k] = 0;
	}
	for (i = 0; i < r->n; i++) {
		const struct vtr_series *s = r->s[i];
		int share = r->t->counter[s->counter].share;
		double value = NAN;

		last = share ? n : (uint32_t)(vtr_seconds(r->t, s->last_time) / axis_end(r->t, n, per) * n);
		for (k = 0; k < n && k <= last; k++) {
			struct vtr_column p = picture_column(r->t, s, k, per);

			value = p.weight > 0 ? p.sum / p.weight : value;
			if (!isnan(value)) {
				c->mean[k] += value;
				c->low[k] = fmin(c->low[k], share || p.weight <= 0 ? value : (double)p.low);
				c->high[k] = fmax(c->high[k], share || p.weight <= 0 ? value : (double)p.high);
				c->rows[k]++;
			}
		}
	}
	for (k = 0; k < n; k++) {
		c->mean[k] /= c->rows[k];
		c->low[k] = c->rows[k] > 0 ? c->low[k] : NAN;
		c->high[k] = c->rows[k] > 0 ? c->high[k] : NAN;
	}
}

static void describe_rows(const struct vtr_counter *c, const struct rows *r, char *buf, size_t size)
{
	double low = INFINITY, high = -INFINITY, sum = 0, weight = 0;
	char a[60], b[60], m[60];
	size_t i;

	for (i = 0; i < r->n; i++) {
		low = fmin(low, r->s[i]->low);
		high = fmax(high, r->s[i]->high);
		sum += r->s[i]->sum;
		weight += r->s[i]->weight;
	}
	if (weight <= 0) {
		snprintf(buf, size, "No values: a rate needs two samples.");
		return;
	}
	snprintf(buf, size, "%s%s over time, %zu curve%s: minimum %s, mean %s, maximum %s.", c->rate ? "Rate of " : "",
		c->name, r->n, r->n == 1 ? "" : "s", vtr_value(a, sizeof(a), low, c->unit),
		vtr_value(m, sizeof(m), sum / weight, c->unit), vtr_value(b, sizeof(b), high, c->unit));
}

/* The lines of a chart, and what they hold. */
struct chart_lines {
	struct curve curve[LINES + 1];
	struct vtr_line line[LINES + 1];
	char (*label)[120]; /* LINES + 1 of them */
};

/* Chooses the lines: one for each series if there are few, else an envelope and the series that are farthest from the
 * mean. */
static size_t choose_lines(
	const struct vtr_trace *t, const struct rows *r, uint32_t n, uint32_t per, struct chart_lines *of)
{
	struct curve *curve = of->curve;
	struct vtr_line *line = of->line;
	char(*label)[120] = of->label;
	size_t lines = 0, i, from = 0;

	if (r->n > LINES) {
		fill_envelope(r, n, per, &curve[0]);
		line[0] = (struct vtr_line){ curve[0].low, curve[0].mean, curve[0].high, label[0], 6, 0 };
		snprintf(label[0], sizeof(label[0]), "minimum to maximum of %zu, and mean", r->n);
		lines = 1;
	}
	for (i = 0; i < (r->n > LINES ? WORST : r->n); i++) {
		from = r->n > LINES && i == WORST - 1 ? r->n - 1 : i;
		fill_curve(t, r->s[from], n, per, &curve[lines]);
		line[lines] = (struct vtr_line){ curve[lines].low, curve[lines].mean, curve[lines].high, label[lines],
			(int)i, 0 };
		if (r->n > LINES) {
			line[lines].low = line[lines].high = NULL;
		}
		vtr_willy_label(t, r->s[from]->willy, label[lines], sizeof(label[lines]));
		lines++;
	}
	return lines;
}

static void show_counter(FILE *f, const struct vtr_trace *t, size_t number)
{
	const struct vtr_counter *c = &t->counter[number];
	char label[LINES + 1][120];
	struct chart_lines lines = { .label = label };
	char title[300], about[400], id[40], data[40];
	struct rows r = { 0 };
	uint32_t per, n = columns_of(t, CURVES, &per);
	struct vtr_chart chart = {
		.id = id, .title = title, .about = about, .x_unit = "s", .with_zero = 1, .data = data
	};
	int i, bad = find_rows(t, number, &r) < 0;

	for (i = 0; i <= LINES && !bad; i++) {
		bad = curve_alloc(&lines.curve[i], n) < 0;
	}
	if (!bad) {
		qsort(r.s, r.n, sizeof(*r.s), r.n > LINES ? by_mean : compare_series_rank);
		snprintf(id, sizeof(id), "counter%zu", number);
		snprintf(data, sizeof(data), "%zu", number);
		snprintf(title, sizeof(title), "%s%s%s", c->group, c->group[0] ? ":" : "", c->name);
		describe_rows(c, &r, about, sizeof(about));
		fputs("<section class=\"counter\"><h3>", f);
		vtr_html(f, title);
		fputs("</h3><p class=\"soft\">", f);
		vtr_html(f, c->about ? c->about : about);
		fputs("</p>\n", f);
		chart.to = axis_end(t, n, per);
		chart.y_unit = c->unit;
		chart.n = n;
		chart.line = lines.line;
		chart.lines = choose_lines(t, &r, n, per, &lines);
		vtr_svg_chart(f, &chart);
		counter_table(f, t, c, &r, "");
		fputs("</section>\n", f);
	}
	for (i = 0; i <= LINES; i++) {
		free(lines.curve[i].low);
	}
	free(r.s);
}

int vtr_counter_is_constant(const struct vtr_trace *t, size_t counter, double *value)
{
	size_t i;
	int seen = 0;

	for (i = 0; i < t->axis.n_series; i++) {
		const struct vtr_series *s = &t->axis.series[i];

		if (s->counter != counter || s->weight <= 0) {
			continue;
		}
		if (s->low != s->high || (seen && s->low != *value)) {
			return 0;
		}
		*value = s->low;
		seen = 1;
	}
	return seen;
}

int vtr_counter_curves(const struct vtr_trace *t, size_t counter, struct vtr_curves *c)
{
	struct chart_lines lines = { .label = c->label };
	struct rows r;
	uint32_t per, n = columns_of(t, CURVES, &per), i;
	double *block;

	memset(c, 0, sizeof(*c));
	c->memory = block = calloc((size_t)(LINES + 1) * 4 * n, sizeof(double));
	if (!block || find_rows(t, counter, &r) < 0) {
		free(block);
		return -1;
	}
	for (i = 0; i <= LINES; i++, block += 4 * (size_t)n) {
		lines.curve[i] = (struct curve){ block, block + n, block + 2 * (size_t)n, block + 3 * (size_t)n };
	}
	qsort(r.s, r.n, sizeof(*r.s), r.n > LINES ? by_mean : compare_series_rank);
	c->lines = choose_lines(t, &r, n, per, &lines);
	c->n = n;
	c->length_s = axis_end(t, n, per);
	for (i = 0; i < c->lines; i++) {
		c->value[i][0] = lines.curve[i].mean;
		c->value[i][1] = lines.curve[i].low;
		c->value[i][2] = lines.curve[i].high;
	}
	free(r.s);
	return 0;
}

/* Lists counters whose value never changed; they need no picture. */
static void show_constants(FILE *f, const struct vtr_trace *t)
{
	const char *const heads[] = { "counter", "value", NULL };
	size_t k;
	double v;
	int open = 0;

	for (k = 0; k < t->counters; k++) {
		if (t->counter[k].n_series && vtr_counter_is_constant(t, k, &v)) {
			if (!open) {
				vtr_table_begin(f, "Counters that did not change",
					"Counters with one value in all samples", heads);
			}
			open = 1;
			fputs("<tr><th scope=\"row\">", f);
			vtr_html(f, t->counter[k].group);
			fputs(t->counter[k].group[0] ? ":" : "", f);
			vtr_html(f, t->counter[k].name);
			fputs("</th>", f);
			vtr_cell(f, v, t->counter[k].unit);
			fputs("</tr>\n", f);
		}
	}
	if (open) {
		vtr_table_end(f);
	}
}

void vtr_show_counters(FILE *f, const struct vtr_trace *t)
{
	size_t k, shown = 0;
	double v;

	if (!t->values && t->records) {
		return; /* the trace has messages or functions only */
	}
	vtr_section(f, "counters", "Counters over time");
	/* counters of the sampler itself come last */
	for (k = 0; k < 2 * t->counters; k++) {
		size_t c = k % t->counters;

		if (t->counter[c].n_series && (k >= t->counters) == !strcmp(t->counter[c].group, "Tickmark") &&
			!vtr_counter_is_constant(t, c, &v)) {
			show_counter(f, t, c);
			shown++;
		}
	}
	if (!shown) {
		fputs("<p>There is no counter with more than one value in this trace.</p>\n", f);
	}
	show_constants(f, t);
	if (t->axis.left_out) {
		fprintf(f,
			"<p class=\"g2\">%zu values of further threads are not shown: there are more series than fit "
			"into "
			"memory.</p>\n",
			t->axis.left_out);
	}
}

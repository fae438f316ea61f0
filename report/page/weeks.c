/* SPDX-License-Identifier: BSD-3-Clause */
/* Drift of clocks over days and weeks, from the correction files of several runs. */
#include "config.h"
#include "report/page/several.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/html/frame.h"
#include "report/pictures/many.h"

/* The first and last run are MARGIN places away from the edges, so that their dots are complete. */
enum { PLACES = 240, CLOCKS = 64, MARGIN = 4, BETWEEN = PLACES - 1 - 2 * MARGIN };

struct clocks_of_all { /* a clock is a timer on a host */
	char key[CLOCKS][360];
	char name[CLOCKS][120]; /* for the reader: the node, and its first rank */
	const char *pointer[CLOCKS];
	struct { /* the largest rate of the clock in any file */
		double ppm;
		size_t file;
	} worst[CLOCKS];
	double low_ppm[CLOCKS], high_ppm[CLOCKS]; /* of its rates in all files */
	size_t files[CLOCKS], last[CLOCKS];       /* how many have it, and 1 + the last of them */
	size_t n, more;
};

static size_t clock_number(struct clocks_of_all *a, const struct cal_rank *r, size_t rank)
{
	char key[360];
	size_t i;

	snprintf(key, sizeof(key), "%.100s %.250s", r->host, r->reference[0] ? r->reference : r->timer);
	for (i = 0; i < a->n && strcmp(a->key[i], key); i++) {
	}
	if (i == a->n && a->n < CLOCKS) {
		memcpy(a->key[a->n], key, sizeof(key));
		snprintf(a->name[a->n], sizeof(a->name[a->n]), "%.90s rank %zu", r->host, rank);
		a->pointer[a->n] = a->name[a->n];
		a->n++;
	}
	return i;
}

static int by_date(const void *a, const void *b)
{
	const struct vtr_clocks *x = a, *y = b;

	return x->run.realtime0_ns < y->run.realtime0_ns ? -1 : x->run.realtime0_ns > y->run.realtime0_ns;
}

static void date(const struct vtr_clocks *c, char *buf, size_t size)
{
	time_t t = (time_t)(c->run.realtime0_ns / 1000000000);
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(buf, size, "%Y-%m-%d %H:%M:%S UTC", &tm)) {
		snprintf(buf, size, "unknown");
	}
}

/* Draws the range that each file proves for the rates of the clocks, at the file's place. */
static void fill_drift_ranges(struct vtr_field *d, const struct vtr_clocks *c, size_t n, struct clocks_of_all *all)
{
	double days = (double)(c[n - 1].run.realtime0_ns - c[0].run.realtime0_ns);
	size_t i, r;

	for (i = 0; i < n; i++) {
		size_t place = MARGIN +
			(days > 0 ? (size_t)((double)(c[i].run.realtime0_ns - c[0].run.realtime0_ns) / days * BETWEEN)
				  : i * BETWEEN / (n > 1 ? n - 1 : 1));

		for (r = 0; r < c[i].run.ranks; r++) {
			size_t k = clock_number(all, &c[i].run.rank[r], r);
			struct vtr_rate v = vtr_clock_rate(&c[i], r);

			if (k < CLOCKS && !isnan(v.likely)) {
				all->low_ppm[k] =
					all->files[k] ? fmin(all->low_ppm[k], 1e6 * v.likely) : 1e6 * v.likely;
				all->high_ppm[k] =
					all->files[k] ? fmax(all->high_ppm[k], 1e6 * v.likely) : 1e6 * v.likely;
				all->files[k] += all->last[k] != i + 1;
				all->last[k] = i + 1;
				if (fabs(1e6 * v.likely) >= fabs(all->worst[k].ppm)) {
					all->worst[k].ppm = 1e6 * v.likely;
					all->worst[k].file = i;
				}
				d->value[k * PLACES + place] = 1e6 * v.likely;
				d->low[k * PLACES + place] = isnan(v.low) || isnan(v.high) ? NAN : 1e6 * v.low;
				d->high[k * PLACES + place] = isnan(v.low) || isnan(v.high) ? NAN : 1e6 * v.high;
			}
		}
	}
}

static void draw_weeks(FILE *f, const struct vtr_clocks *c, size_t n, struct clocks_of_all *all)
{
	struct vtr_field d;
	struct vtr_chosen lines;
	double seconds;
	struct vtr_chart chart = { .id = "weeks",
		.title = "Drift of the clocks",
		.y_unit = "ppm",
		.n = PLACES,
		.about = "Each dot is the rate of a clock in one run, relative to its nominal frequency; the band is "
			 "what the messages "
			 "of that run prove. From left to right the time between the runs." };

	if (vtr_field_begin(&d, CLOCKS, PLACES, 1) < 0) {
		return;
	}
	fill_drift_ranges(&d, c, n, all);
	d.rows = all->n;
	d.word = "clock";
	d.name = all->pointer;
	vtr_choose(&d, -1, 1, &lines);
	seconds = 1e-9 * (double)(c[n - 1].run.realtime0_ns - c[0].run.realtime0_ns);
	chart.x_unit = seconds < 300 ? "s" : seconds < 3 * 3600 ? "min" : seconds < 3 * 86400 ? "h" : "days";
	chart.to = seconds / (seconds < 300 ? 1 : seconds < 3 * 3600 ? 60 : seconds < 3 * 86400 ? 3600 : 86400);
	chart.to = chart.to > 0 ? chart.to : 1;
	chart.from = -chart.to * MARGIN / BETWEEN;
	chart.to -= chart.from;
	chart.line = lines.line;
	chart.lines = lines.n;
	fprintf(f, "<p class=\"soft\">%s</p>\n", chart.about);
	vtr_svg_chart(f, &chart);
	free(lines.sum);
	free(d.value);
}

/* The clocks with the largest rates, in a sentence. */
static void show_worst(FILE *f, const struct vtr_clocks *c, const struct clocks_of_all *all)
{
	int told[CLOCKS] = { 0 };
	size_t i, k, best;

	fputs("<p>Largest rates: ", f);
	for (k = 0; k < 3 && k < all->n; k++) {
		best = CLOCKS;
		for (i = 0; i < all->n; i++) {
			if (!told[i] && (best == CLOCKS || fabs(all->worst[i].ppm) > fabs(all->worst[best].ppm))) {
				best = i;
			}
		}
		told[best] = 1;
		fputs(k ? "; " : "", f);
		vtr_html(f, all->name[best]);
		fprintf(f, " %+.3g ppm (%.3g s a day) in ", all->worst[best].ppm, fabs(all->worst[best].ppm) * 0.0864);
		vtr_html(f, c[all->worst[best].file].path);
	}
	fputs(".</p>\n", f);
}

/* The clock whose rate differs most from run to run; CLOCKS: none is in two of them. */
static size_t most_changed(const struct clocks_of_all *all)
{
	size_t k, most = CLOCKS;

	for (k = 0; k < all->n; k++) {
		if (all->files[k] > 1 &&
			(most == CLOCKS ||
				all->high_ppm[k] - all->low_ppm[k] > all->high_ppm[most] - all->low_ppm[most])) {
			most = k;
		}
	}
	return most;
}

/* What is assumed of the clocks, and whether it held from run to run. Two clocks can each be off by what is assumed of one. */
static void show_limits(FILE *f, const struct vtr_clocks *c, size_t n, const struct clocks_of_all *all)
{
	size_t i, r, beyond = 0, most = most_changed(all);
	double limit = 0;

	for (i = 0; i < n; i++) {
		for (r = 0; r < c[i].run.ranks; r++) {
			const struct cal_rank *rank = &c[i].run.rank[r];
			double assumed = 2 * rank->map.max_drift;

			if (rank->sync != CAL_SHARED && assumed > 0) {
				limit = limit > 0 ? fmin(limit, assumed) : assumed;
				beyond += fabs(vtr_clock_rate(&c[i], r).likely) > assumed;
			}
		}
	}
	if (limit > 0) {
		fprintf(f, beyond ? "<p>%zu rates are beyond" : "<p>No rate is beyond", beyond);
		fprintf(f, " the %.4g ppm by which two clocks may differ, as the corrections assume.", limit * 1e6);
		if (most < CLOCKS) {
			fputs(" The rate of ", f);
			vtr_html(f, all->name[most]);
			fprintf(f, " changed most from run to run: by %.3g ppm.",
				all->high_ppm[most] - all->low_ppm[most]);
		}
		fputs("</p>\n", f);
	}
}

static void table(FILE *f, const struct vtr_clocks *c, size_t n)
{
	const char *const heads[] = { "file", "date", "ranks", "length", "largest bound", "steps", "host",
		"offset at the start", "rate of its clock", "from", "to", "a day", NULL };
	char when[60];
	size_t i, r;

	vtr_open_table_begin(f, "Table of the runs", "Clocks by run", heads);
	for (i = 0; i < n; i++) {
		date(&c[i], when, sizeof(when));
		for (r = 0; r < c[i].run.ranks && r < 64; r++) {
			struct vtr_rate v = vtr_clock_rate(&c[i], r);

			if (c[i].run.rank[r].sync == CAL_SHARED) {
				continue;
			}
			fputs("<tr><th scope=\"row\">", f);
			vtr_html(f, c[i].path);
			fprintf(f, "</th><td>%s</td><td>%zu</td>", when, c[i].run.ranks);
			vtr_cell(f, (double)c[i].run.end.v * c[i].run.period_s, "s");
			vtr_cell(f, c[i].worst_s, "s");
			fprintf(f, "<td>%zu</td><td>", c[i].steps);
			vtr_html(f, c[i].run.rank[r].host);
			fputs("</td>", f);
			vtr_cell(f, vtr_clock_start(&c[i], r), "s");
			vtr_cell(f, 1e6 * v.likely, "ppm");
			vtr_cell(f, 1e6 * v.low, "ppm");
			vtr_cell(f, 1e6 * v.high, "ppm");
			vtr_cell(f, 86400 * v.likely, "s");
			fputs("</tr>\n", f);
		}
	}
	vtr_table_end(f);
}

int vtr_write_weeks(FILE *f, struct vtr_clocks *c, size_t n)
{
	struct clocks_of_all *all = calloc(1, sizeof(*all));
	char first[60], last[60], worst[60];
	double most = 0;
	size_t i, steps = 0;

	if (!all) {
		return -1;
	}
	qsort(c, n, sizeof(*c), by_date);
	for (i = 0; i < n; i++) {
		most = fmax(most, c[i].worst_s);
		steps += c[i].steps;
	}
	date(&c[0], first, sizeof(first));
	date(&c[n - 1], last, sizeof(last));
	vtr_page_begin(f, "Clocks over several runs");
	fprintf(f,
		"<header><h1>Clocks over %zu runs</h1><dl><dt>From</dt><dd>%s</dd><dt>To</dt><dd>%s</dd></dl>\n"
		"<p class=\"verdict g%d\">Stamps agreed to within %s (bound) in the worst of these runs; %zu "
		"step%s.</p></header>\n<main>\n",
		n, first, last, steps ? 3 : 0, vtr_value(worst, sizeof(worst), vtr_upper(most, "s"), "s"), steps,
		steps == 1 ? "" : "s");
	vtr_section(f, "weeks-of-drift", "Drift of the clocks");
	draw_weeks(f, c, n, all);
	if (all->n) {
		show_worst(f, c, all);
		show_limits(f, c, n, all);
	}
	table(f, c, n);
	fputs("</main>\n", f);
	vtr_page_end(f);
	free(all);
	return 0;
}

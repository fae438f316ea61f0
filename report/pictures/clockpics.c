/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of clocks. If there are many ranks, a picture shows their envelope and the ranks that are farthest from
 * it. */
#include "config.h"
#include "report/data/clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib/analysis/analysis.h"
#include "report/html/frame.h"
#include "report/pictures/many.h"
#include "report/html/svg.h"

enum { STEPS = 8, BINS = 60, SAMPLES = 400, TABLE = 512 };

static double length_s(const struct vtr_clocks *c)
{
	return (double)c->run.end.v * c->run.period_s;
}

/* ---- steps ---- */

static size_t find_marks(const struct vtr_clocks *c, struct vtr_mark *mark, char (*label)[120])
{
	struct cal_step_group group[STEPS];
	size_t i, n = cal_group_steps(&c->run, group, STEPS);
	char a[40];

	for (i = 0; i < n; i++) {
		vtr_value(a, sizeof(a), group[i].size_s, "s");
		if (group[i].n > 1) {
			snprintf(label[i], sizeof(label[i]), "%zu steps, the largest of rank %zu: %s", group[i].n,
				group[i].rank, a);
		} else {
			snprintf(label[i], sizeof(label[i]), "rank %zu: step of %s", group[i].rank, a);
		}
		mark[i] = (struct vtr_mark){ group[i].from_s, group[i].to_s, label[i] };
	}
	return n;
}

static void step_table(FILE *f, const struct vtr_clocks *c)
{
	const char *const heads[] = { "rank", "after", "before", "jumped ahead by", "within", "certain", NULL };
	size_t r, k;

	if (!c->steps) {
		return;
	}
	vtr_table_begin(f, "Table of the steps", "Steps of the clocks", heads);
	for (r = 0; r < c->run.ranks; r++) {
		const struct cal_map *m = &c->run.rank[r].map;

		for (k = 0; k < m->steps; k++) {
			fprintf(f, "<tr><th scope=\"row\">%zu</th>", r);
			vtr_cell(f, (double)m->step[k].from_global.v * c->run.period_s, "s");
			vtr_cell(f, (double)m->step[k].to_global.v * c->run.period_s, "s");
			vtr_cell(f, m->step[k].size_s, "s");
			vtr_cell(f, vtr_upper(m->step[k].within_s, "s"), "s");
			fputs(m->step[k].certain ? "<td>yes</td></tr>\n" : "<td>no</td></tr>\n", f);
		}
	}
	vtr_table_end(f);
}

/* ---- offset and bound ---- */

/* Draws the lines, and frees what they hold. `what` has the words of the picture, and its number of points. */
static void draw_lines(FILE *f, const struct vtr_clocks *c, struct vtr_chosen *lines, const struct vtr_chart *what)
{
	char label[STEPS][120];
	struct vtr_mark mark[STEPS];
	struct vtr_chart chart = *what;

	chart.x_unit = "s";
	chart.line = lines->line;
	chart.lines = lines->n;
	chart.to = length_s(c);
	chart.mark = mark;
	chart.marks = find_marks(c, mark, label);
	fprintf(f, "<h3>%s</h3><p class=\"soft\">%s</p>\n", what->title, what->about);
	vtr_svg_chart(f, &chart);
	vtr_curve_table(f, &chart);
	free(lines->sum);
}

/* Describes the picture of offsets. The time axis follows the rate of the master's system time. So the curve of the
 * master, and of ranks that share its clock, may have a slope, too. */
static void about_offsets(char *about, size_t size, const struct vtr_clocks *c, const struct vtr_field *offset)
{
	double pace = NAN;
	char a[40];
	int n = snprintf(about, size,
		"How far each clock goes away from the corrected axis if it is only set right at the start: "
		"drift is a slope, "
		"a step is a jump.");

	if (c->run.master >= 0 && (size_t)c->run.master < c->run.ranks && length_s(c) > 0) {
		pace = offset->value[((size_t)c->run.master + 1) * VTR_INSTANTS - 1] / length_s(c);
	}
	if (pace > 0 || pace < 0) {
		snprintf(about + n, size - (size_t)n,
			" The axis keeps the pace of the system time of rank %d, whose clock is %s %s against it: "
			"every curve contains that slope.",
			c->run.master, vtr_value(a, sizeof(a), fabs(pace) * 1e6, "ppm"), pace > 0 ? "fast" : "slow");
	}
}

static void show_offsets(FILE *f, const struct vtr_clocks *c)
{
	struct vtr_field offset, bound;
	struct vtr_chosen lines;
	char about[400];
	size_t r;

	if (vtr_field_begin(&offset, c->run.ranks, VTR_INSTANTS, 0) < 0) {
		return;
	}
	if (vtr_field_begin(&bound, c->run.ranks, VTR_INSTANTS, 0) == 0) {
		for (r = 0; r < c->run.ranks; r++) {
			vtr_clock_curves(c, r, offset.value + r * VTR_INSTANTS, bound.value + r * VTR_INSTANTS);
		}
		vtr_choose(&offset, -1, 0, &lines);
		about_offsets(about, sizeof(about), c, &offset);
		draw_lines(f, c, &lines,
			&(struct vtr_chart){ .id = "offset",
				.title = "Offset before correction",
				.about = about,
				.y_unit = "s",
				.n = VTR_INSTANTS });
		vtr_choose(&bound, c->run.master, 0, &lines);
		if (lines.n) {
			draw_lines(f, c, &lines,
				&(struct vtr_chart){ .id = "bound",
					.title = "Bound after correction",
					.about = "The largest error that a corrected stamp can have, given the "
						 "assumptions about drift "
						 "and wander.",
					.y_unit = "s",
					.n = VTR_INSTANTS,
					.with_zero = 1 });
		}
	}
	free(offset.value);
	free(bound.value);
}

/* ---- drift ---- */

static int begins_part(const struct cal_map *m, size_t node)
{
	size_t p;

	for (p = 1; p < m->parts && m->part[p].node != node; p++) {
	}
	return p < m->parts;
}

/* Computes the rates between neighbouring sessions, with the bounds that follow from the sessions' intervals. */
static void fill_drift(const struct vtr_clocks *c, size_t r, struct vtr_field *d)
{
	const struct cal_map *m = &c->run.rank[r].map;
	double hz = cal_session_hz(&c->run.rank[r]), period = c->run.period_s, length;
	size_t k, i, at = r * d->n;

	for (k = 0; k + 1 < m->nodes && hz > 0; k++) {
		const struct cal_node *a = &m->node[k], *b = &m->node[k + 1];
		int64_t from = a->global.v, to = b->global.v;

		length = (double)ltick_sub(b->local, a->local) / (hz * period);
		if (to <= from || length <= 0 || begins_part(m, k + 1)) {
			continue; /* a step is no rate */
		}
		for (i = 0; i < d->n; i++) {
			double g = (double)c->run.end.v * (double)i / (double)(d->n - 1);

			if (g < (double)from || g > (double)to) {
				continue;
			}
			d->value[at + i] = 1e6 * (length / (double)(to - from) - 1);
			d->low[at + i] = 1e6 * (length / (double)gtick_sub(b->high, a->low) - 1);
			d->high[at + i] = gtick_sub(b->low, a->high) > 0
				? 1e6 * (length / (double)gtick_sub(b->low, a->high) - 1)
				: NAN;
			if (isnan(d->high[at + i])) {
				d->low[at + i] = NAN;
			}
		}
	}
}

/* A clock that ranks share: its first rank, how many they are, and what the table is sorted by. */
struct shared_clock {
	size_t rank, ranks;
	double rate;
};

static int by_rate(const void *a, const void *b)
{
	const struct shared_clock *x = a, *y = b;
	double p = isnan(x->rate) ? -1 : fabs(x->rate), q = isnan(y->rate) ? -1 : fabs(y->rate);

	return p < q ? 1 : p > q ? -1 : x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The clocks of the run, those of the largest rates first; to be freed. NULL: no memory. */
static struct shared_clock *clocks_by_rate(const struct vtr_clocks *c, size_t *n)
{
	struct shared_clock *clock = calloc(c->run.ranks + 1, sizeof(*clock));
	size_t *of = calloc(c->run.ranks + 1, sizeof(*of)), r;

	for (*n = 0, r = 0; clock && of && r < c->run.ranks; r++) {
		const struct cal_rank *rank = &c->run.rank[r];

		if (rank->sync == CAL_SHARED && rank->leader >= 0 && (size_t)rank->leader < r) {
			of[r] = of[rank->leader];
		} else {
			of[r] = (*n)++;
			clock[of[r]] = (struct shared_clock){ .rank = r, .rate = vtr_clock_rate(c, r).likely };
		}
		clock[of[r]].ranks++;
	}
	if (clock && of) {
		qsort(clock, *n, sizeof(*clock), by_rate);
	}
	free(of);
	return clock;
}

static double widest_bound(const struct vtr_clocks *c, size_t rank)
{
	double curve[2 * VTR_INSTANTS], widest = 0;
	size_t i;

	vtr_clock_curves(c, rank, curve, curve + VTR_INSTANTS);
	for (i = 0; i < VTR_INSTANTS; i++) {
		widest = fmax(widest, curve[VTR_INSTANTS + i]);
	}
	return widest;
}

static void clock_row(FILE *f, const struct vtr_clocks *c, const struct shared_clock *clock)
{
	const struct cal_rank *rank = &c->run.rank[clock->rank];
	struct vtr_rate v = vtr_clock_rate(c, clock->rank);

	fputs("<tr><th scope=\"row\">", f);
	vtr_html(f, rank->host);
	fprintf(f, "</th><td>%zu</td><td>%zu</td><td>", clock->rank, clock->ranks);
	vtr_html(f, rank->timer);
	if (rank->reference[0]) {
		fputs(", rate of ", f);
		vtr_html(f, rank->reference);
	}
	fputs("</td>", f);
	vtr_cell(f, vtr_clock_start(c, clock->rank), "s");
	vtr_cell(f, v.likely * 1e6, "ppm");
	vtr_cell(f, v.low * 1e6, "ppm");
	vtr_cell(f, v.high * 1e6, "ppm");
	vtr_cell(f, v.likely * 86400, "s");
	fprintf(f, "<td>%zu</td>", rank->sync == CAL_SHARED ? 0 : rank->map.steps);
	vtr_cell(f, vtr_upper(widest_bound(c, clock->rank), "s"), "s");
	fputs("</tr>\n", f);
}

static void rate_table(FILE *f, const struct vtr_clocks *c)
{
	const char *const heads[] = { "host", "first rank", "ranks", "timer", "offset at the start",
		"rate against the axis", "certainly from", "to", "a day", "steps", "largest bound", NULL };
	size_t n, k;
	struct shared_clock *clock = clocks_by_rate(c, &n);

	if (!clock) {
		return;
	}
	vtr_table_begin(f, "Table of the clocks",
		"Clocks, those of the largest rates first: offset to the master's at the start, rate relative to the "
		"nominal frequency, seconds that it gains in a day, and bound",
		heads);
	for (k = 0; k < n && k < TABLE; k++) {
		clock_row(f, c, &clock[k]);
	}
	vtr_table_end(f);
	free(clock);
	if (n > TABLE) {
		fprintf(f, "<p class=\"soft\">The first %d of %zu clocks are shown.</p>\n", TABLE, n);
	}
}

static void show_drift(FILE *f, const struct vtr_clocks *c)
{
	struct vtr_field d;
	struct vtr_chosen lines;
	size_t r;

	if (vtr_field_begin(&d, c->run.ranks, 120, 1) < 0) {
		return;
	}
	for (r = 0; r < c->run.ranks; r++) {
		fill_drift(c, r, &d);
	}
	vtr_choose(&d, -1, 0, &lines);
	if (lines.n && vtr_farthest(&d, c->run.ranks > 1 ? (size_t)(c->run.master == 0) : 0) >= 0) {
		draw_lines(f, c, &lines,
			&(struct vtr_chart){ .id = "drift",
				.title = "Drift",
				.about = "Rate of each clock between sessions, relative to its nominal frequency; the "
					 "band is what the "
					 "messages prove.",
				.y_unit = "ppm",
				.n = d.n });
	} else {
		free(lines.sum);
		fputs("<p>Drift over time is unknown: it needs two sessions of a clock of its own.</p>\n", f);
	}
	free(d.value);
}

/* ---- interpolation error ---- */

/* Shows for each session how far the map is from the measured offset, and how certain that is. */
static void show_errors(FILE *f, const struct vtr_clocks *c)
{
	struct vtr_field e;
	struct vtr_chosen lines;
	size_t r, k, i;
	double period = c->run.period_s;

	if (vtr_field_begin(&e, c->run.ranks, 120, 1) < 0) {
		return;
	}
	for (r = 0; r < c->run.ranks; r++) {
		const struct cal_map *m = &c->run.rank[r].map;

		for (k = 0; k < m->nodes; k++) {
			const struct cal_node *n = &m->node[k];
			gtick_t at = cal_map_session_at(m, n->local);

			i = (size_t)((double)(e.n - 1) *
				fmin(1, fmax(0, (double)n->global.v / (double)(c->run.end.v + 1))));
			e.value[r * e.n + i] = (double)gtick_sub(at, n->global) * period;
			e.low[r * e.n + i] = (double)gtick_sub(at, n->high) * period;
			e.high[r * e.n + i] = (double)gtick_sub(at, n->low) * period;
		}
	}
	vtr_choose(&e, c->run.master, 1, &lines);
	if (lines.n) {
		draw_lines(f, c, &lines,
			&(struct vtr_chart){ .id = "error",
				.title = "Error of the interpolation at the sessions",
				.about = "The map minus what the session measured; the band is what the messages of "
					 "the session allow.",
				.y_unit = "s",
				.n = e.n });
	}
	free(e.value);
}

/* ---- raw samples ---- */

static double sample_error(const struct vtr_clocks *c, const struct cal_rank *r, const struct cal_sample *s)
{
	ltick_t middle = ltick_add(s->send, ltick_sub(s->recv, s->send) / 2);
	const struct cal_rank *master = &c->run.rank[c->run.master];
	ltick_t there = ltick_add(s->master_in, ltick_sub(s->master_out, s->master_in) / 2);

	return (double)gtick_sub(cal_map_session_at(&r->map, middle), cal_map_session_at(&master->map, there)) *
		c->run.period_s;
}

static size_t samples_of(const struct cal_rank *r)
{
	size_t k, n = 0;

	for (k = 0; k < r->sessions; k++) {
		n += r->session[k].n;
	}
	return n;
}

static void show_samples(FILE *f, const struct vtr_clocks *c, size_t rank)
{
	const struct cal_rank *r = &c->run.rank[rank];
	size_t n = samples_of(r), per = (n + SAMPLES - 1) / SAMPLES, k, i, at = 0;
	double *v = malloc(2 * (SAMPLES + 1) * sizeof(double)), *dropped = v + SAMPLES + 1;
	struct vtr_line line[2] = { { .mean = v, .label = "kept", .colour = 0, .dots = 1 },
		{ .mean = dropped, .label = "dropped by the filter", .colour = 1, .dots = 1 } };
	char title[120];
	struct vtr_chart chart = { .id = "samples",
		.title = title,
		.y_unit = "s",
		.x_unit = "",
		.line = line,
		.lines = 2,
		.about = "Each dot is an exchange of messages: the map minus what the middle of the exchange says. "
			 "Sessions follow "
			 "each other from left to right; the x axis counts exchanges." };

	for (i = 0; v && i <= SAMPLES; i++) {
		v[i] = dropped[i] = NAN;
	}
	for (k = 0; v && k < r->sessions; k++) {
		for (i = 0; i < r->session[k].n; i++, at++) {
			const struct cal_sample *s = &r->session[k].sample[i];

			if (at % per == 0) {
				*(s->kept ? &v[at / per] : &dropped[at / per]) = sample_error(c, r, s);
			}
		}
	}
	if (v && n) {
		chart.n = (n + per - 1) / per;
		chart.to = (double)n;
		snprintf(title, sizeof(title), "Raw samples of rank %zu", rank);
		fprintf(f, "<h3>%s</h3><p class=\"soft\">%s%s</p>\n", title, chart.about,
			per > 1 ? " Not all are drawn." : "");
		vtr_svg_chart(f, &chart);
		vtr_curve_table(f, &chart);
	}
	free(v);
}

/* Shows the round trips of all samples of a rank, up to their 99 % quantile. */
static void show_round_trips(FILE *f, const struct vtr_clocks *c, size_t rank)
{
	const char *const heads[] = { "samples", "smallest round trip", "median", "99 %", "largest", NULL };
	const struct cal_rank *r = &c->run.rank[rank];
	size_t n = samples_of(r), k, i, at = 0;
	double *rtt = malloc((n + 1) * sizeof(double)), count[BINS] = { 0 }, hz = cal_session_hz(r), most;
	double slope = hz > 0 ? cal_session_hz(&c->run.rank[c->run.master]) / hz : 0;
	struct vtr_line line = { .mean = count, .label = "exchanges", .colour = 0 };
	struct cal_summary spread;
	struct vtr_chart chart = { .id = "rtt",
		.title = "Histogram of round trips",
		.y_unit = "exchanges",
		.x_unit = "s",
		.n = BINS,
		.line = &line,
		.lines = 1,
		.with_zero = 1,
		.about = "How many exchanges took how long, both ways together, up to the 99 % quantile." };

	for (k = 0; rtt && slope > 0 && k < r->sessions; k++) {
		for (i = 0; i < r->session[k].n; i++) {
			rtt[at++] = cal_rtt(&r->session[k].sample[i], slope) / hz;
		}
	}
	if (at) {
		spread = cal_summarise(rtt, at);
		most = spread.q99;
		most = most > rtt[0] ? most : rtt[0] + 1e-12;
		cal_histogram(rtt, at, rtt[0], most, count, BINS); /* without memory all counts are 0 */
		chart.from = rtt[0];
		chart.to = most;
		fprintf(f, "<h3>%s of rank %zu</h3><p class=\"soft\">%s</p>\n", chart.title, rank, chart.about);
		vtr_svg_chart(f, &chart);
		vtr_table_begin(f, "Table of the round trips", "Round trips", heads);
		fprintf(f, "<tr><th scope=\"row\">%zu</th>", at);
		vtr_cell(f, rtt[0], "s");
		vtr_cell(f, spread.median, "s");
		vtr_cell(f, spread.q99, "s");
		vtr_cell(f, rtt[at - 1], "s");
		fputs("</tr>\n", f);
		vtr_table_end(f);
	}
	free(rtt);
}

void vtr_show_clocks(FILE *f, const struct vtr_clocks *c)
{
	size_t r, chosen;

	if (!c->loaded) {
		return;
	}
	vtr_section(f, "clocks", "Clocks");
	if (c->shared) {
		fprintf(f,
			"<p>%zu of %zu ranks share the clock of another rank, so its correction is theirs: they took no part "
			"in the clock sessions.</p>\n",
			c->shared, c->run.ranks);
	}
	step_table(f, c);
	show_offsets(f, c);
	rate_table(f, c);
	show_drift(f, c);
	show_errors(f, c);
	/* the rank with the largest bound, else the first that has samples */
	chosen = c->run.ranks;
	for (r = 0; r < c->run.ranks; r++) {
		if (samples_of(&c->run.rank[r]) && (chosen == c->run.ranks || (int)r == c->worst_rank)) {
			chosen = r;
		}
	}
	if (chosen < c->run.ranks) {
		show_samples(f, c, chosen);
		show_round_trips(f, c, chosen);
	}
	vtr_show_pairs(f, c);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The data files of the graphs and the script that draws them (plots/timertest.gnuplot). The first line
 * of each file names its columns and their units; blocks are two empty lines apart, their first line is
 * their title. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/newfile.h"
#include "base/text/quote.h"
#include "base/text/text.h"
#include "plots/timertest_gnuplot.h"

/* A title in a data file cannot hold a double quote or a backslash; a host name seldom does. */
static void title_of_rank(FILE *f, const struct cal_test_result *r, int rank)
{
	const char *p;

	fprintf(f, "\"rank %d (", rank);
	for (p = r->run.rank[rank].host; *p; p++) {
		putc(*p == '"' || *p == '\\' ? '\'' : *p, f);
	}
	fprintf(f, ")\"\n");
}

static void end_plot_block(FILE *f)
{
	fputs("\n\n", f);
}

static int by_pair(const void *p, const void *q)
{
	const struct cal_test_burst *x = p, *y = q;

	return x->a != y->a ? x->a - y->a : x->b != y->b ? x->b - y->b : x->cycle - y->cycle;
}

static void write_run_plot(FILE *f, const struct cal_test_result *r)
{
	struct cal_test_burst *b = malloc((r->bursts + 1) * sizeof(*b));
	size_t i;

	fputs("# time[s] offset[s] halfwidth[s] latency[s] offset_all[s]\n", f);
	if (!b || r->bursts == 0) {
		free(b);
		return;
	}
	memcpy(b, r->burst, r->bursts * sizeof(*b));
	qsort(b, r->bursts, sizeof(*b), by_pair);
	for (i = 0; i < r->bursts; i++) {
		if (i == 0 || b[i].a != b[i - 1].a || b[i].b != b[i - 1].b) {
			if (i) {
				end_plot_block(f);
			}
			fprintf(f, "\"%d <-> %d\"\n", b[i].a, b[i].b);
		}
		fprintf(f, "%.9f %.6e %.6e %.6e %.6e\n", b[i].time_s, b[i].offset_s,
			fmax(b[i].high_s - b[i].offset_s, b[i].offset_s - b[i].low_s), b[i].latency_s,
			b[i].offset_all_s);
	}
	free(b);
}

/* Global minus local time at a stamp, less its value at the first node. */
static double delta(const struct cal_map *m, const struct cal_rank *c, ltick_t local, gtick_t global)
{
	double there = (double)gtick_sub(global, m->node[0].global) * m->period_s;

	return there - (double)ltick_sub(local, m->node[0].local) / cal_session_hz(c);
}

/* Children that have sessions of their own; the others' maps are copies. */
static int has_map(const struct cal_rank *c)
{
	return c->sync == CAL_OWN && c->map.nodes > 0;
}

/* The part of a map between its first and last node; a line of its own, because a step parts it from the next. */
static void write_part_plot(FILE *f, const struct cal_rank *c, size_t part, int points)
{
	const struct cal_map *m = &c->map;
	size_t begin = m->parts ? m->part[part].node : 0, n = m->parts ? m->part[part].nodes : m->nodes;
	ltick_t first = m->node[0].local, from = m->node[begin].local, at;
	int64_t length = ltick_sub(m->node[begin + n - 1].local, from);
	struct cal_walk w;
	double bound;
	int k;

	for (k = 0; k <= points; k++) {
		gtick_t g;

		at = ltick_add(from, (int64_t)((double)length * k / points));
		cal_walk_begin(&w, m);
		w.part = w.last_part = part;
		g = m->pairs.n ? cal_map_session_at(m, at) : cal_walk_at(&w, at, &bound);
		bound = m->pairs.n ? cal_map_session_bound(m, at) : bound;
		fprintf(f, "%.9f %.6e %.6e\n", (double)ltick_sub(at, first) / cal_session_hz(c), delta(m, c, at, g),
			bound);
	}
}

static void write_transform(FILE *f, const struct cal_test_result *r)
{
	enum { POINTS = 200 };
	size_t p, parts;
	int i;

	fputs("# local_time[s] delta[s] bound[s]\n", f);
	for (i = 1; i < r->ranks; i++) {
		const struct cal_rank *c = &r->run.rank[i];

		if (!has_map(c)) {
			continue;
		}
		title_of_rank(f, r, i);
		parts = c->map.parts ? c->map.parts : 1;
		for (p = 0; p < parts; p++) {
			if (p > 0) {
				putc('\n', f);
			}
			write_part_plot(f, c, p, POINTS / (int)(parts < 20 ? parts : 20));
		}
		end_plot_block(f);
	}
}

static void write_session_samples(
	FILE *f, const struct cal_test_result *r, const struct cal_rank *c, const struct cal_session *s)
{
	const struct cal_map *m = &c->map, *master = &r->run.rank[r->run.master].map;
	ltick_t first = m->node[0].local;
	struct cal_walk walk;
	size_t k;

	cal_walk_begin(&walk, m);
	for (k = 0; k < m->nodes && m->node[k].session <= 1 + (s - c->session); k++) {
		cal_walk_node(&walk, k);
	}
	/* its own samples are on its own side of a step, whether before or after the session's node */
	walk.in_gap = 0;
	walk.last_part = walk.part;
	for (k = 0; k < s->n; k++) {
		const struct cal_sample *p = &s->sample[k];
		ltick_t middle = ltick_add(p->send, ltick_sub(p->recv, p->send) / 2);
		gtick_t measured =
			cal_map_session_at(master, ltick_add(p->master_in, ltick_sub(p->master_out, p->master_in) / 2));
		double slope = cal_session_hz(&r->run.rank[r->run.master]) / cal_session_hz(c);

		fprintf(f, "%.12f %.6e %.6e %d %d %.6e\n", (double)ltick_sub(middle, first) / cal_session_hz(c),
			delta(m, c, middle, measured), cal_rtt(p, slope) / cal_session_hz(c), p->kept, s->used,
			(double)gtick_sub(measured,
				m->pairs.n ? cal_map_session_at(m, middle) : cal_walk_at(&walk, middle, NULL)) *
				m->period_s);
	}
}

static void write_samples_plot(FILE *f, const struct cal_test_result *r)
{
	size_t k;
	int i;

	fputs("# local_time[s] delta[s] rtt[s] kept[0/1] used[0/1] residual[s]\n", f);
	for (i = 1; i < r->ranks; i++) {
		const struct cal_rank *c = &r->run.rank[i];

		for (k = 0; has_map(c) && k < c->sessions; k++) {
			fprintf(f, "\"rank %d session %zu\"\n", i, k);
			write_session_samples(f, r, c, &c->session[k]);
			end_plot_block(f);
		}
	}
}

/* The curve of this run, with which the line is compared. */
static enum cal_interpolation compared(const struct cal_test_result *r)
{
	return r->run.wanted == CAL_LINEAR ? CAL_CONSTRAINED : r->run.wanted;
}

/* Both interpolations through the same sessions, whichever the run uses. */
static int write_errors(FILE *f, const struct cal_test_result *r, struct tkm_err *err)
{
	struct cal_map linear, spline;
	size_t k;
	int i;

	fputs("# local_time[s] linear_error[s] spline_error[s] used[0/1]\n", f);
	for (i = 1; i < r->ranks; i++) {
		const struct cal_rank *c = &r->run.rank[i];
		ltick_t first;

		if (!has_map(c)) {
			continue;
		}
		if (cal_solve_alternative(&r->run, i, CAL_LINEAR, &linear, err) < 0) {
			return -1;
		}
		if (cal_solve_alternative(&r->run, i, compared(r), &spline, err) < 0) {
			cal_map_free(&linear);
			return -1;
		}
		first = c->map.node[0].local;
		title_of_rank(f, r, i);
		for (k = 0; k < c->map.nodes; k++) {
			const struct cal_node *n = &c->map.node[k];

			fprintf(f, "%.9f %.6e %.6e %d\n", (double)ltick_sub(n->local, first) / cal_session_hz(c),
				fabs((double)gtick_sub(n->global, cal_map_session_at(&linear, n->local))) *
					r->run.period_s,
				fabs((double)gtick_sub(n->global, cal_map_session_at(&spline, n->local))) *
					r->run.period_s,
				n->used);
		}
		end_plot_block(f);
		cal_map_free(&linear);
		cal_map_free(&spline);
	}
	return 0;
}

static void write_histogram(FILE *f, const struct cal_test_result *r)
{
	int i, k;

	fputs("# from[ticks] from[s] to[s] count\n", f);
	for (i = 0; i < r->ranks; i++) {
		const struct tmr_quality *q = &r->rank[i].quality;
		double hz = r->run.rank[i].measured_hz > 0 ? r->run.rank[i].measured_hz : r->run.rank[i].nominal_hz;

		title_of_rank(f, r, i);
		for (k = 0; k < q->raw_bins; k++) {
			fprintf(f, "%.6g %.6e %.6e %lld\n", q->raw_edge[k], q->raw_edge[k] / hz,
				q->raw_edge[k + 1] / hz, q->raw_count[k]);
		}
		end_plot_block(f);
	}
}

static void write_matrix(FILE *f, const struct cal_test_result *r)
{
	size_t k;

	fputs("# pu_a pu_b low[s] high[s] limit[s]\n", f);
	for (k = 0; r->nodes > 0 && k < r->matrix[0].m.pairs; k++) {
		const struct tmr_core_pair *p = &r->matrix[0].m.pair[k];

		if (p->measured) {
			fprintf(f, "%u %u %.6e %.6e %.6e\n", p->pu_a, p->pu_b, p->low_s, p->high_s,
				r->matrix[0].m.limit_s);
		}
	}
}

static void put_plot_setting(FILE *f, const char *name, const char *text)
{
	fprintf(f, "%s = ", name);
	tkm_quote_gnuplot(f, text);
	putc('\n', f);
}

/* Between which global times in seconds clocks stepped, in pairs; by how much which rank's did; and how many steps that stands for. gnuplot
 * 5.4 reads no number with an exponent and without a point. */
static void write_plot_steps(FILE *f, const struct cal_test_result *r)
{
	enum { MOST = 6 };
	struct cal_step_group g[MOST];
	char times[MOST * 60] = "", sizes[MOST * 60] = "", counts[MOST * 20] = "";
	size_t k, n = cal_group_steps(&r->run, g, MOST);
	int t = 0, z = 0, c = 0;

	for (k = 0; k < n; k++) {
		const char *blank = k ? " " : "";

		t += snprintf(times + t, sizeof(times) - (size_t)t, "%s%.6f %.6f", blank, g[k].from_s, g[k].to_s);
		z += snprintf(sizes + z, sizeof(sizes) - (size_t)z, "%s%zu %.6e", blank, g[k].rank, g[k].size_s);
		c += snprintf(counts + c, sizeof(counts) - (size_t)c, "%s%zu", blank, g[k].n);
	}
	put_plot_setting(f, "tm_steps", times);
	put_plot_setting(f, "tm_step_sizes", sizes);
	put_plot_setting(f, "tm_step_counts", counts);
}

static void write_plot_script(
	FILE *f, const char *base, const struct cal_test_options *o, const struct cal_test_result *r)
{
	const char *slash = strrchr(base, '/');
	char text[512];
	int children = 0, i;

	for (i = 1; i < r->ranks; i++) {
		children += has_map(&r->run.rank[i]);
	}
	fputs("# written by " PACKAGE_STRING " timertest\n", f);
	snprintf(text, sizeof(text), "%.*s", slash ? (int)(slash - base + 1) : 0, base);
	put_plot_setting(f, "tm_dir", text);
	put_plot_setting(f, "tm_base", slash ? slash + 1 : base);
	snprintf(text, sizeof(text), "%s on %d rank%s, %g s, host %s", r->run.rank[0].timer, r->ranks,
		r->ranks == 1 ? "" : "s", o->seconds, r->run.rank[0].host);
	put_plot_setting(f, "tm_title", text);
	put_plot_setting(f, "tm_verdict", cal_test_value_words(r->verdict.value));
	put_plot_setting(f, "tm_reason", r->verdict.reasons ? r->verdict.reason[0].text : "");
	put_plot_setting(f, "tm_latency", r->bursts ? cal_test_latency_words(r).text : "");
	write_plot_steps(f, r);
	put_plot_setting(f, "tm_interpolation", cal_interpolation_name(compared(r)));
	fprintf(f, "tm_ranks = %d\ntm_pairs = %d\ntm_children = %d\ntm_pus = %u\n", r->ranks,
		r->bursts ? r->ranks * (r->ranks - 1) / 2 : 0, children,
		r->nodes && r->matrix[0].m.measured ? r->matrix[0].m.pus : 0u);
	fputs(timertest_gnuplot, f);
}

static int write_plot_file(const char *base, const char *suffix, const struct cal_test_options *o,
	const struct cal_test_result *r, void (*write)(FILE *, const struct cal_test_result *), struct tkm_err *err)
{
	struct tkm_newfile n;
	char path[4096];
	int rc = 0;

	snprintf(path, sizeof(path), "%s%s", base, suffix);
	/* like the trace, these belong to one test: a new one replaces those of the old */
	if (tkm_newfile_begin(&n, path, 1, err) < 0) {
		return -1;
	}
	if (write) {
		write(n.f, r);
	} else if (strcmp(suffix, ".error.dat") == 0) {
		rc = write_errors(n.f, r, err);
	} else {
		write_plot_script(n.f, base, o, r);
	}
	if (rc < 0) {
		tkm_newfile_abort(&n);
		return -1;
	}
	return tkm_newfile_commit(&n, err);
}

int cal_test_write_plots(
	const char *base, const struct cal_test_options *o, const struct cal_test_result *r, struct tkm_err *err)
{
	const struct {
		const char *suffix;
		void (*write)(FILE *, const struct cal_test_result *);
	} files[] = { { ".run.dat", write_run_plot }, { ".transform.dat", write_transform },
		{ ".samples.dat", write_samples_plot }, { ".error.dat", NULL }, { ".histogram.dat", write_histogram },
		{ ".matrix.dat", write_matrix }, { ".gnuplot", NULL } };
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (write_plot_file(base, files[i].suffix, o, r, files[i].write, err) < 0) {
			return -1;
		}
	}
	return 0;
}

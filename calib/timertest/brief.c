/* SPDX-License-Identifier: BSD-3-Clause */
/* What timertest prints of many ranks: the worst of each kind and its node on one screen, and a table of the nodes. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/text/quote.h"
#include "base/text/text.h"

static const double s_a_day_per_ppm = 0.0864;

/* What was found of the ranks with the same kernel clocks. A rank of -1: no rank has it. */
struct node {
	int rank, ranks;     /* the first, and how many there are */
	int drifting, apart; /* the ranks whose clock drifts most, and was farthest off before correction */
	struct cal_test_drift drift;
	struct cal_test_uncorrected before;
	size_t steps;
	const struct cal_step *step; /* the largest; NULL: none */
	double bound_s;              /* the widest bound between sessions */
	const struct cal_test_matrix_of_node *cores;
	const struct cal_test_burst *burst; /* with the largest offset after correction; NULL: no messages */
};

struct nodes {
	int n;
	struct node *node;
};

static void add_clock(const struct cal_test_result *r, int rank, struct node *n)
{
	const struct cal_rank *c = &r->run.rank[rank];
	struct cal_test_uncorrected before;
	struct cal_test_drift drift;
	double proven, assumed;
	size_t k;

	if (cal_test_find_drift(c, &drift) == 0 && (n->drifting < 0 || fabs(drift.ppm) > fabs(n->drift.ppm))) {
		n->drifting = rank;
		n->drift = drift;
	}
	if (cal_test_before_correction(&r->run, rank, &before) == 0 &&
		(n->apart < 0 || fabs(before.offset_s) > fabs(n->before.offset_s))) {
		n->apart = rank;
		n->before = before;
	}
	for (k = 0; c->sync != CAL_SHARED && k < c->map.steps; k++) {
		n->steps++;
		n->step = !n->step || fabs(c->map.step[k].size_s) > fabs(n->step->size_s) ? &c->map.step[k] : n->step;
	}
	cal_test_widest_bounds(&c->map, &proven, &assumed);
	n->bound_s = fmax(n->bound_s, fmax(assumed, c->map.extra_s));
}

static void take_burst(struct node *n, const struct cal_test_burst *b)
{
	if (!n->burst || fabs(b->offset_s) > fabs(n->burst->offset_s)) {
		n->burst = b;
	}
}

static const struct cal_test_matrix_of_node *cores_of_machine(const struct cal_test_result *r, int rank)
{
	int i;

	for (i = 0; i < r->nodes; i++) {
		if (r->rank[r->matrix[i].rank].machine == r->rank[rank].machine) {
			return &r->matrix[i];
		}
	}
	return NULL;
}

/* In the order of their first ranks; of[] is the node of each rank. */
static void fill_nodes(const struct cal_test_result *r, int *of, struct nodes *all)
{
	size_t k;
	int i;

	for (i = 0; i < r->ranks; i++) {
		int first = r->rank[i].node;

		if (first < 0 || first >= i) {
			of[i] = all->n++;
			all->node[of[i]] = (struct node){
				.rank = i, .drifting = -1, .apart = -1, .cores = cores_of_machine(r, i)
			};
		} else {
			of[i] = of[first];
		}
		all->node[of[i]].ranks++;
		add_clock(r, i, &all->node[of[i]]);
	}
	for (k = 0; k < r->bursts; k++) {
		take_burst(&all->node[of[r->burst[k].a]], &r->burst[k]);
		take_burst(&all->node[of[r->burst[k].b]], &r->burst[k]);
	}
}

/* To be freed with free(all.node); .n is 0 when there is no memory. */
static struct nodes find_nodes(const struct cal_test_result *r)
{
	struct nodes all = { .node = calloc((size_t)r->ranks, sizeof(*all.node)) };
	int *of = calloc((size_t)r->ranks, sizeof(*of));

	if (all.node && of) {
		fill_nodes(r, of, &all);
	}
	free(of);
	return all;
}

static const char *host_of(const struct cal_test_result *r, int rank)
{
	return r->rank[rank].env.host;
}

/* ---- one screen ---- */

static void print_size(FILE *f, const struct cal_test_options *o, const struct cal_test_result *r, int nodes)
{
	size_t sessions = 0;
	char name[64];
	int i;

	for (i = 1; i < r->ranks; i++) {
		sessions = r->run.rank[i].sessions > sessions ? r->run.rank[i].sessions : sessions;
	}
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(r->run.rank[0].timer, ":"), r->run.rank[0].timer);
	fprintf(f, "timer %s, %d ranks on %d node%s, %g s, %zu clock session%s\n", name, r->ranks, nodes,
		nodes == 1 ? "" : "s", o->seconds, sessions, sessions == 1 ? "" : "s");
}

static void print_most_apart(FILE *f, const struct cal_test_result *r, const struct nodes *all)
{
	const struct node *most = NULL;
	char a[32], b[32];
	int i;

	for (i = 0; i < all->n; i++) {
		const struct node *n = &all->node[i];

		most = n->apart >= 0 && (!most || fabs(n->before.offset_s) > fabs(most->before.offset_s)) ? n : most;
	}
	if (most) {
		fprintf(f, "offset before correction: at most %s +- %s (%s, rank %d)\n",
			tkm_print_time(a, sizeof(a), most->before.offset_s, 3),
			tkm_print_upper(b, sizeof(b),
				fmax(most->before.high_s - most->before.offset_s,
					most->before.offset_s - most->before.low_s),
				1),
			host_of(r, most->apart), most->apart);
	} else {
		fprintf(f, "offset before correction: none, all ranks share one clock\n");
	}
}

static double drift_within(const struct cal_test_drift *d)
{
	return fmax(d->high_ppm - d->ppm, d->ppm - d->low_ppm);
}

/* The largest drift that a node can have; NAN: not known. */
static double drift_most(const struct node *n)
{
	return fabs(n->drift.ppm) + drift_within(&n->drift);
}

static const struct node *widest_drift(const struct nodes *all)
{
	const struct node *most = NULL;
	int i;

	for (i = 0; i < all->n; i++) {
		const struct node *n = &all->node[i];

		if (n->drifting >= 0 && (!most || !(drift_most(n) <= drift_most(most)))) {
			most = n;
		}
	}
	return most;
}

static void print_most_drift(FILE *f, const struct cal_test_result *r, const struct nodes *all)
{
	double *size = malloc((size_t)(all->n + 1) * sizeof(*size));
	const struct node *most = NULL;
	size_t n = 0;
	int i;

	for (i = 0; size && i < all->n; i++) {
		const struct node *node = &all->node[i];

		if (node->drifting >= 0) {
			size[n++] = fabs(node->drift.ppm);
			most = !most || fabs(node->drift.ppm) > fabs(most->drift.ppm) ? node : most;
		}
	}
	if (most && fabs(most->drift.ppm) > drift_within(&most->drift)) {
		tkm_sort(size, n);
		fprintf(f, "drift against rank 0: at most %.3g ppm %s +- %.2g ppm, %.3g s a day (%s, rank %d)",
			size[n - 1], most->drift.ppm < 0 ? "fast" : "slow",
			tkm_round_up(drift_within(&most->drift), 2, 'g'), size[n - 1] * s_a_day_per_ppm,
			host_of(r, most->drifting), most->drifting);
		fprintf(f, n > 2 ? "; half of %zu nodes within %.3g ppm\n" : "\n", n, tkm_median(size, n));
	} else if (most) {
		most = widest_drift(all);
		fprintf(f, "drift against rank 0: not shown by so short a run, ");
		fprintf(f, isfinite(drift_most(most)) ? "at most %.2g ppm" : "unknown",
			tkm_round_up(drift_most(most), 2, 'g'));
		fprintf(f, " (%s, rank %d)\n", host_of(r, most->drifting), most->drifting);
	}
	free(size);
}

static void print_all_steps(FILE *f, const struct cal_test_result *r, const struct nodes *all)
{
	const struct node *most = NULL;
	char a[32], b[32];
	size_t steps = 0;
	int i, nodes = 0;

	for (i = 0; i < all->n; i++) {
		const struct node *n = &all->node[i];

		steps += n->steps;
		nodes += n->steps > 0;
		most = n->step && (!most || fabs(n->step->size_s) > fabs(most->step->size_s)) ? n : most;
	}
	if (!most) {
		fprintf(f, "steps of clocks: none\n");
		return;
	}
	fprintf(f, "steps of clocks: %zu on %d node%s, the largest by %s +- %s between %.3f s and %.3f s (%s)\n", steps,
		nodes, nodes == 1 ? "" : "s", tkm_print_time(a, sizeof(a), most->step->size_s, 3),
		tkm_print_upper(b, sizeof(b), most->step->within_s, 3),
		(double)most->step->from_global.v * r->run.period_s, (double)most->step->to_global.v * r->run.period_s,
		host_of(r, most->rank));
}

/* What the core matrix says of a node: "together", "APART", "unknown", "unmeasured" */
static const char *cores_of(const struct node *n)
{
	return !n->cores || n->cores->why[0]               ? "unmeasured"
		: n->cores->m.apart                        ? "APART"
		: n->cores->m.together < n->cores->m.pairs ? "unknown"
							   : "together";
}

static void print_cores(FILE *f, const struct cal_test_result *r, const struct nodes *all)
{
	static const char *const kinds[] = { "APART", "unknown", "unmeasured", "together" };
	size_t k;
	int i;

	const char *between = "";

	fprintf(f, "clocks of the processing units of a node: ");
	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		int n = 0, first = -1;

		for (i = 0; i < all->n; i++) {
			if (strcmp(cores_of(&all->node[i]), kinds[k]) == 0) {
				first = n++ == 0 ? i : first;
			}
		}
		if (n) {
			fprintf(f, "%s%s on %d node%s", between, kinds[k], n, n == 1 ? "" : "s");
			fprintf(f, k < 3 ? " (%s%s)" : "", host_of(r, all->node[first].rank),
				n > 1 ? " and others" : "");
			between = ", ";
		}
	}
	putc('\n', f);
}

static void print_worst_burst(FILE *f, const struct cal_test_result *r)
{
	const struct cal_test_burst *w = &r->burst[r->worst];
	char a[32], b[32], c[32];

	if (r->bursts) {
		fprintf(f,
			"offset after correction: at most %s +- %s (rank %d on %s, rank %d on %s), limit %s, latency "
			"%s\n",
			tkm_print_time(a, sizeof(a), w->offset_s, 1),
			tkm_print_upper(b, sizeof(b), cal_test_burst_bound(w), 1), w->a, host_of(r, w->a), w->b,
			host_of(r, w->b), tkm_print_time(c, sizeof(c), cal_test_offset_limit(r, w), 1),
			cal_test_latency_words(r).text);
	}
}

static void print_widest_bound(FILE *f, const struct cal_test_result *r, const struct nodes *all)
{
	const struct node *most = &all->node[0];
	char a[32];
	int i;

	for (i = 1; i < all->n; i++) {
		most = all->node[i].bound_s > most->bound_s ? &all->node[i] : most;
	}
	fprintf(f, "bound of a corrected stamp during the run: at most %s (%s)\n",
		tkm_print_upper(a, sizeof(a), most->bound_s, 1), host_of(r, most->rank));
}

void cal_test_print_brief(FILE *f, const struct cal_test_options *o, const struct cal_test_result *r)
{
	struct nodes all = find_nodes(r);
	char name[1100], word[1200];

	if (all.n == 0) {
		fprintf(f, "out of memory for a table of the nodes\n");
	} else {
		print_size(f, o, r, all.n);
		print_most_apart(f, r, &all);
		print_most_drift(f, r, &all);
		print_all_steps(f, r, &all);
		print_cores(f, r, &all);
		print_worst_burst(f, r);
		print_widest_bound(f, r, &all);
	}
	cal_test_print_causality(f, r);
	snprintf(name, sizeof(name), "%s.txt", o->output);
	fprintf(f, "all that was found, and a line for each node: %s (--verbose 2 prints it here, too)\n",
		tkm_shell_word(word, sizeof(word), name));
	cal_test_print_files(f, o);
	free(all.node);
}

/* ---- a line for each ---- */

/* A cell of the table: right-aligned, "-" where there is no number. */
static void print_cell(FILE *f, int width, double value, const char *text)
{
	fprintf(f, " %*s", width, isfinite(value) ? text : "-");
}

static void print_node(FILE *f, const struct cal_test_result *r, const struct node *n)
{
	double drift = n->drifting >= 0 ? n->drift.ppm : NAN;
	char a[32];

	fprintf(f, "%-20s %5d", host_of(r, n->rank), n->ranks);
	print_cell(f, 13, n->apart >= 0 ? n->before.offset_s : NAN,
		tkm_print_time(a, sizeof(a), n->apart >= 0 ? n->before.offset_s : 0, 3));
	snprintf(a, sizeof(a), "%+.3f", drift);
	print_cell(f, 10, drift, a);
	snprintf(a, sizeof(a), "%.3f", tkm_round_up(drift_within(&n->drift), 3, 'f'));
	print_cell(f, 9, n->drifting >= 0 ? drift_within(&n->drift) : NAN, a);
	snprintf(a, sizeof(a), "%+.3f", drift * s_a_day_per_ppm);
	print_cell(f, 9, drift, a);
	fprintf(f, " %5zu %-12s", n->steps, cores_of(n));
	print_cell(f, 9, n->bound_s, tkm_print_upper(a, sizeof(a), n->bound_s, 1));
	print_cell(f, 9, n->burst ? n->burst->offset_s : NAN,
		tkm_print_time(a, sizeof(a), n->burst ? n->burst->offset_s : 0, 1));
	print_cell(f, 9, n->burst ? cal_test_burst_bound(n->burst) : NAN,
		tkm_print_upper(a, sizeof(a), n->burst ? cal_test_burst_bound(n->burst) : 0, 1));
	putc('\n', f);
}

void cal_test_print_nodes(FILE *f, const struct cal_test_result *r)
{
	struct nodes all = find_nodes(r);
	int i;

	fprintf(f,
		"nodes: offset of the clock at the first session; ppm slow against rank 0, +-, and seconds a day; the "
		"clocks of the processing units; bound of a corrected stamp; largest offset after correction, +-\n");
	fprintf(f, "%-20s %5s %13s %10s %9s %9s %5s %-12s %9s %9s %9s\n", "node", "ranks", "offset", "ppm slow", "+-",
		"s a day", "steps", "units", "bound", "after", "+-");
	for (i = 0; i < all.n; i++) {
		print_node(f, r, &all.node[i]);
	}
	free(all.node);
}

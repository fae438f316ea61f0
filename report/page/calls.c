/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of calls as picture and table, the places that call, and the balance
 * of functions between ranks. */
#include "report/page/calls.h"
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/html/frame.h"

enum { LEVELS = 20, LEVEL = 19, TREE_ROWS = 150, SITES = 40, FUNCTIONS = 20, SHOWN = 6, RANKS = 64 };

static const char *function_name(const struct vtr_trace *t, uint32_t id)
{
	const char *name = id ? stf_reader_name(t->reader, STF_ID_function_definition, id) : NULL;

	return name ? name : id ? "(no name)" : "";
}

/* ---- the tree ---- */

static double whole_of(const struct vtr_tree *tree)
{
	return tree->node[0].children;
}

static int is_mpi(const struct vtr_trace *t, uint32_t id)
{
	size_t i;

	for (i = 0; i < t->functions; i++) {
		if (t->function_id[i] == id) {
			return t->function_is_mpi[i] != VTR_NO_MPI;
		}
	}
	return 0;
}

static void show_bar(FILE *f, const struct vtr_tree *tree, const struct vtr_node *n, double at)
{
	double whole = whole_of(tree);
	char time[60], share[60];

	fprintf(f, "<svg x=\"%.3f%%\" y=\"%" PRIu32 "\" width=\"%.3f%%\" height=\"%d\"><title>", 100 * at / whole,
		(n->depth - 1) * LEVEL, 100 * n->inclusive / whole, LEVEL);
	vtr_html(f, function_name(tree->t, n->function));
	fprintf(f, ": %s, %s, %" PRIu64 " call%s</title>",
		vtr_duration(time, sizeof(time), n->inclusive * tree->t->resolution),
		vtr_value(share, sizeof(share), 100 * n->inclusive / whole, "percent"), n->calls,
		n->calls == 1 ? "" : "s");
	fprintf(f, "<rect class=\"b c%d call\" width=\"100%%\" height=\"%d\"/>",
		is_mpi(tree->t, n->function) ? 1
			: n->depth % 2       ? 0
					     : 5,
		LEVEL - 1);
	if (n->inclusive / whole > 0.02) {
		fputs("<text x=\"3\" y=\"13\">", f);
		vtr_html(f, function_name(tree->t, n->function));
		fputs("</text>", f);
	}
	fputs("</svg>", f);
}

static void show_icicle(FILE *f, const struct vtr_tree *tree, const uint32_t *order)
{
	double *begin = calloc(tree->n, sizeof(*begin)), *next = calloc(tree->n, sizeof(*next)), whole = whole_of(tree);
	uint32_t levels = 1;
	size_t i;

	for (i = 0; i + 1 < tree->n; i++) {
		const struct vtr_node *n = &tree->node[order[i]];

		levels = n->inclusive > whole / 500 && n->depth > levels && n->depth <= LEVELS ? n->depth : levels;
	}
	fprintf(f,
		"<svg class=\"chart icicle\" width=\"100%%\" height=\"%" PRIu32
		"\" role=\"img\" aria-labelledby=\"icicle-t icicle-d\"><title "
		"id=\"icicle-t\">Calls and what they "
		"call</title><desc id=\"icicle-d\">A bar for each function, as wide "
		"as the time in it, with the "
		"functions that it calls below. The table has the numbers.</desc>",
		levels * LEVEL + 6);
	for (i = 0; begin && next && i + 1 < tree->n; i++) {
		const struct vtr_node *n = &tree->node[order[i]];

		begin[order[i]] = next[order[i]] = next[n->parent];
		next[n->parent] += n->inclusive;
		if (n->depth <= levels && n->inclusive > whole / 1500) {
			show_bar(f, tree, n, begin[order[i]]);
		}
	}
	fputs("</svg>\n", f);
	free(begin);
	free(next);
}

static void tree_row(FILE *f, const struct vtr_tree *tree, const struct vtr_node *n)
{
	const struct vtr_trace *t = tree->t;
	uint32_t i;

	fputs("<tr><th scope=\"row\">", f);
	for (i = 1; i < n->depth; i++) {
		fputs("&#160;&#160;", f);
	}
	vtr_html(f, function_name(t, n->function));
	fprintf(f, "</th><td>%" PRIu32 "</td><td>%" PRIu64 "</td>", n->depth, n->calls);
	vtr_cell(f, n->inclusive * t->resolution, "s");
	vtr_cell(f, 100 * n->inclusive / whole_of(tree), "percent");
	vtr_cell(f, fmax(n->inclusive - n->children, 0) * t->resolution, "s");
	fputs("</tr>\n", f);
}

void vtr_show_tree(FILE *f, const struct vtr_tree *tree)
{
	const char *const heads[] = { "function", "level", "calls", "time with what it calls", "share",
		"time in itself", NULL };
	uint32_t *order = tree->n > 1 && whole_of(tree) > 0 ? vtr_tree_order(tree) : NULL;
	size_t i, shown = 0;

	if (!order) {
		return;
	}
	fputs("<h3>Who calls whom</h3>\n", f);
	show_icicle(f, tree, order);
	vtr_table_begin(f, "Table of the calls", "Calls by their callers, of all threads together", heads);
	for (i = 0; i + 1 < tree->n && shown < TREE_ROWS; i++) {
		if (tree->node[order[i]].inclusive >= whole_of(tree) / 1000) {
			tree_row(f, tree, &tree->node[order[i]]);
			shown++;
		}
	}
	vtr_table_end(f);
	if (tree->left_out) {
		fprintf(f,
			"<p class=\"soft\">%" PRIu64 " calls, more than %d deep or of further functions, are not in "
			"it.</p>\n",
			tree->left_out, VTR_TREE_DEPTH);
	}
	free(order);
}

/* ---- places ---- */

static void site_row(FILE *f, const struct vtr_tree *tree, const struct vtr_names *n, const struct vtr_site *s)
{
	const struct vtr_trace *t = tree->t;
	uint64_t from = vtr_names_time(n, s->at);
	char label[120], place[400];

	fprintf(f, "<tr data-row=\"%" PRIu32 "\" data-from=\"%" PRIu64 "\" data-to=\"%" PRIu64 "\"><th scope=\"row\">",
		vtr_names_row(n, s->willy), from, from + ((uint64_t)s->longest >> n->shift));
	vtr_html(f, function_name(t, s->function));
	fputs("</th><td>", f);
	vtr_html(f, function_name(t, s->caller));
	fputs("</td><td>", f);
	vtr_html(f, vtr_source_place(t, s->scl, place, sizeof(place)) ? place : "");
	fprintf(f, "</td><td>%" PRIu64 "</td>", s->calls);
	vtr_cell(f, s->inclusive * t->resolution, "s");
	vtr_cell(f, s->inclusive * t->resolution / (double)(s->calls ? s->calls : 1), "s");
	vtr_cell(f, s->longest * t->resolution, "s");
	fputs("<td>", f);
	vtr_html(f, vtr_willy_label(t, s->willy, label, sizeof(label)));
	fputs("</td></tr>\n", f);
}

void vtr_show_sites(FILE *f, const struct vtr_tree *tree, const struct vtr_names *n)
{
	const char *const heads[] = { "call", "called by", "place in the source", "calls", "time", "mean", "longest",
		"of", NULL };
	size_t all, i;
	const struct vtr_site **site = vtr_tree_sites(tree, &all);

	if (site && all) {
		vtr_table_begin(f, "Table of the places that call", "Calls by caller and line of the source", heads);
		for (i = 0; i < all && i < SITES; i++) {
			site_row(f, tree, n, site[i]);
		}
		vtr_table_end(f);
		if (all > SITES) {
			fprintf(f, "<p class=\"soft\">The first %d of %zu are shown.</p>\n", SITES, all);
		}
	}
	free(site);
}

/* ---- ranks ---- */

struct balance {
	size_t function;
	double mean, least, most;
	uint32_t least_rank, most_rank;
};

static int by_excess(const void *a, const void *b)
{
	const struct balance *x = a, *y = b;
	double p = x->most - x->mean, q = y->most - y->mean;

	return p < q ? 1 : p > q ? -1 : 0;
}

static struct balance balance_of(const struct vtr_trace *t, size_t function)
{
	struct balance b = { .function = function, .least = INFINITY, .most = -1 };
	uint32_t r;

	for (r = 0; r < t->function_rows; r++) {
		double v = t->function[function * t->function_rows + r].exclusive;

		b.mean += v / t->function_rows;
		if (v < b.least) {
			b.least = v;
			b.least_rank = r;
		}
		if (v > b.most) {
			b.most = v;
			b.most_rank = r;
		}
	}
	return b;
}

static void balance_table(FILE *f, const struct vtr_trace *t, const struct balance *all)
{
	const char *const heads[] = { "function", "mean", "least", "of", "most", "of", "most less mean", NULL };
	size_t i;

	vtr_open_table_begin(
		f, "Table of the balance", "Time in functions by rank, the largest difference first", heads);
	for (i = 0; i < t->functions && i < FUNCTIONS && all[i].most > all[i].mean; i++) {
		fputs("<tr><th scope=\"row\">", f);
		vtr_html(f, function_name(t, t->function_id[all[i].function]));
		fputs("</th>", f);
		vtr_cell(f, all[i].mean * t->resolution, "s");
		vtr_cell(f, all[i].least * t->resolution, "s");
		fprintf(f, "<td>%" PRIu32 "</td>", all[i].least_rank);
		vtr_cell(f, all[i].most * t->resolution, "s");
		fprintf(f, "<td>%" PRIu32 "</td>", all[i].most_rank);
		vtr_cell(f, (all[i].most - all[i].mean) * t->resolution, "s");
		fputs("</tr>\n", f);
	}
	vtr_table_end(f);
}

/* A row for each rank, a column for each of the functions that differ most. */
static void profile_table(FILE *f, const struct vtr_trace *t, const struct balance *all)
{
	const char *heads[SHOWN + 2] = { vtr_process_word(t) };
	size_t n = 0, i;
	uint32_t r;

	for (; n < SHOWN && n < t->functions && all[n].most > 0; n++) {
		heads[n + 1] = function_name(t, t->function_id[all[n].function]);
	}
	vtr_table_begin(f, "Table of the ranks", "Time in functions of each rank, without what they call", heads);
	for (r = 0; r < t->function_rows && r < RANKS; r++) {
		fprintf(f, "<tr><th scope=\"row\">%" PRIu32 "</th>", r);
		for (i = 0; i < n; i++) {
			vtr_cell(f, t->function[all[i].function * t->function_rows + r].exclusive * t->resolution, "s");
		}
		fputs("</tr>\n", f);
	}
	vtr_table_end(f);
	if (t->function_rows > RANKS) {
		fprintf(f, "<p class=\"soft\">The first %d of %" PRIu32 " are shown.</p>\n", RANKS, t->function_rows);
	}
}

void vtr_show_balance(FILE *f, const struct vtr_trace *t)
{
	struct balance *all = t->function_rows > 1 ? calloc(t->functions + 1, sizeof(*all)) : NULL;
	size_t i;

	if (!all || !t->stacks) {
		free(all);
		return;
	}
	for (i = 0; i < t->functions; i++) {
		all[i] = balance_of(t, i);
	}
	qsort(all, t->functions, sizeof(*all), by_excess);
	fputs("<h3>Balance</h3>\n", f);
	balance_table(f, t, all);
	profile_table(f, t, all);
	free(all);
}

/* ---- phases ---- */

static void phase_row(FILE *f, const struct vtr_trace *t, const struct stf_phase *p)
{
	char label[80];

	fprintf(f, "<tr><th scope=\"row\">%s", p->level ? "&nbsp;&nbsp;" : "");
	vtr_html(f, function_name(t, p->function));
	fprintf(f, "</th><td>%" PRIu64 "</td>", p->calls);
	vtr_cell(f, (double)p->time * t->resolution, "s");
	vtr_cell(f, 100 * p->parallel, "percent");
	vtr_cell(f, 100 * p->load_balance, "percent");
	vtr_cell(f, 100 * p->communication, "percent");
	fputs("<td>", f);
	vtr_html(f, vtr_willy_label(t, p->most, label, sizeof(label)));
	fputs("</td>", f);
	vtr_cell(f, (double)p->longest * t->resolution, "s");
	vtr_cell(f, vtr_seconds(t, p->longest_at), "s");
	fputs("<td>", f);
	vtr_html(f, vtr_willy_label(t, p->longest_willy, label, sizeof(label)));
	fputs("</td></tr>\n", f);
}

void vtr_show_phases(FILE *f, const struct vtr_trace *t)
{
	const char *const heads[] = { "phase", "calls", "time", "parallel efficiency", "load balance", "communication",
		"most work", "longest call", "which began at", "of", NULL };
	const struct stf_analysis *a = t->analysis;
	size_t i;

	if (!a || !a->n_phases) {
		return;
	}
	fputs("<h3>Phases</h3>\n", f);
	vtr_open_table_begin(f, "Table of the phases",
		"Functions and regions of the program, and what they call, between MPI_Init and MPI_Finalize", heads);
	for (i = 0; i < a->n_phases && i < FUNCTIONS; i++) {
		phase_row(f, t, &a->phase[i]);
	}
	vtr_table_end(f);
}

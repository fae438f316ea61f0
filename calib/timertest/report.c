/* SPDX-License-Identifier: BSD-3-Clause */
/* What timertest prints at its end: the guide's lines, the bounds, and the true error where it is known. The verdict
 * comes from verdict.c. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/known.h"
#include "base/stats.h"
#include "base/text/quote.h"
#include "base/text/text.h"
#include "calib/map/learn.h"
#include "calib/solve/assumptions.h"
#include "timers/sources/sim.h"

/* ---- truth ---- */

/* Whether two simulated clocks wrap the same real one, so that rank 0 can compute both. */
static int comparable(const struct cal_test_result *r, int rank, const struct tmr_timer *a, const struct tmr_timer *b)
{
	char x[256], y[256];

	if (a->scope == TMR_SCOPE_CORE || b->scope == TMR_SCOPE_CORE) {
		return 0; /* cores=: each processing unit has another truth */
	}
	return tkm_known_equal(tmr_env_domain(&r->rank[0].env, x, sizeof(x)),
		       tmr_env_domain(&r->rank[rank].env, y, sizeof(y))) &&
		strcmp(tmr_sim_base(a)->name, tmr_sim_base(b)->name) == 0;
}

static double true_error(
	const struct cal_test_result *r, int rank, struct tmr_timer *const clock[2], int64_t base, ltick_t *local)
{
	const struct cal_map *m0 = &r->run.rank[0].map, *m1 = &r->run.rank[rank].map;
	double f0, f1;
	ltick_t l0 = tmr_sim_truth(clock[0], base, &f0);

	*local = tmr_sim_truth(clock[1], base, &f1);
	return ((double)gtick_sub(cal_map_at(m1, *local), cal_map_at(m0, l0)) + f1 * cal_map_slope(m1, *local) -
		       f0 * cal_map_slope(m0, l0)) *
		r->run.period_s;
}

static void truth_of_rank(struct cal_test_result *r, int rank, struct tmr_timer *const clock[2])
{
	enum { POINTS = 401 };
	struct cal_test_truth *t = &r->truth[rank];
	const struct cal_rank *master = &r->run.rank[0];
	struct tmr_timer *twin = master->reference_hz > 0 ? tmr_sim_free_twin(clock[0], NULL) : NULL;
	int64_t begin = tmr_sim_base_at(twin ? twin : clock[0], master->anchor[0].local);
	int64_t end = tmr_sim_base_at(twin ? twin : clock[0], master->anchor[1].local);
	int i;

	tmr_close(twin);

	t->known = 1;
	for (i = 0; i < POINTS; i++) {
		int64_t at = begin + (int64_t)((double)(end - begin) * i / (POINTS - 1));
		ltick_t local;
		double error = fabs(true_error(r, rank, clock, at, &local)),
		       bound = cal_map_bound(&r->run.rank[rank].map, local), f;

		/* of a steered clock the master's own stamps have a bound, too */
		bound += cal_map_bound(&master->map, tmr_sim_truth(clock[0], at, &f));
		t->points++;
		t->outside += error > bound;
		if (error >= t->worst_s) {
			t->worst_s = error;
			t->worst_at_s = (double)cal_map_at(&r->run.rank[rank].map, local).v * r->run.period_s;
			t->bound_there_s = bound;
		}
	}
}

void cal_test_find_truth(struct cal_test_result *r)
{
	struct tmr_timer *clock[2] = { NULL, NULL };
	int i;

	if (strncmp(r->run.rank[0].timer, "sim:", 4) == 0) {
		clock[0] = tmr_open(r->run.rank[0].timer, 0, NULL);
	}
	for (i = 1; clock[0] && i < r->ranks; i++) {
		clock[1] = tmr_open(r->run.rank[i].timer, i, NULL);
		if (clock[1] && clock[1]->flags & TMR_SIMULATED && comparable(r, i, clock[0], clock[1])) {
			truth_of_rank(r, i, clock);
		}
		tmr_close(clock[1]);
	}
	tmr_close(clock[0]);
}

/* ---- without correction ---- */

/* What a rank's clock showed, in seconds, when that which its sessions measure showed `tick`; and how far off that can be. The
 * sessions of a steered clock measure the free one beside it. Ticks since 1970 have more digits than a double. */
static long double clock_at(const struct cal_rank *c, ltick_t tick, double *within_s)
{
	const struct cal_pairs *p = &c->map.pairs;
	double within, proven;
	ltick_t local;

	if (p->n == 0) {
		*within_s = 0;
		return (long double)tick.v / cal_rank_hz(c);
	}
	local = cal_pairs_local(p, tick);
	cal_pairs_at(p, local, NULL, &within, &proven);
	*within_s = within / p->reference_hz + p->tick_s;
	return (long double)local.v / p->hz;
}

int cal_test_before_correction(const struct cal_run *run, int rank, struct cal_test_uncorrected *u)
{
	const struct cal_rank *c = &run->rank[rank], *m = &run->rank[run->master];
	const struct cal_node *n = c->map.nodes ? &c->map.node[0] : NULL;
	double slope, hz, off, master_off;
	ltick_t master;

	if (c->sync == CAL_SHARED || rank == run->master || !n || m->anchors == 0 || m->map.pieces == 0 ||
		!(cal_rank_hz(c) > 0) || !(cal_rank_hz(m) > 0)) {
		return -1;
	}
	/* global ticks count from the first anchor */
	slope = (double)m->map.piece[0].rise / (double)m->map.piece[0].length;
	hz = m->map.pairs.n ? m->map.pairs.reference_hz : cal_rank_hz(m);
	master = ltick_add(m->anchor[0].local, llrint((double)n->global.v / slope));
	u->offset_s = (double)(clock_at(c, n->local, &off) - clock_at(m, master, &master_off));
	off += master_off + 1 / hz;
	u->low_s = u->offset_s - (double)gtick_sub(n->high, n->global) / slope / hz - off;
	u->high_s = u->offset_s + (double)gtick_sub(n->global, n->low) / slope / hz + off;
	return 0;
}

int cal_test_find_drift(const struct cal_rank *c, struct cal_test_drift *d)
{
	const struct cal_map *m = &c->map;

	if (c->sync == CAL_SHARED || m->nodes == 0 || !(m->nominal > 0)) {
		return -1;
	}
	d->ppm = 1e6 * (cal_map_session_slope(m, m->node[0].local) / m->nominal - 1);
	d->low_ppm = m->rate_low > 0 ? 1e6 * (m->rate_low / m->nominal - 1) : NAN;
	d->high_ppm = m->rate_low > 0 ? 1e6 * (m->rate_high / m->nominal - 1) : NAN;
	return 0;
}

double cal_test_shown_within(const struct cal_test_result *r, int rank)
{
	int i;

	for (i = 0; i < r->nodes; i++) {
		const struct tmr_matrix *m = &r->matrix[i].m;

		if (r->rank[r->matrix[i].rank].machine == r->rank[rank].machine && m->together > 0 &&
			m->together == m->pairs) {
			return m->farthest_s;
		}
	}
	return NAN;
}

/* ---- printing ---- */

static void print_pair(FILE *f, const struct tmr_core_pair *p)
{
	char a[32], b[32];

	if (!p->measured) {
		fprintf(f, "  PU %u - %u: not known, they did not get to run at the same time\n", p->pu_a, p->pu_b);
		return;
	}
	fprintf(f, "  PU %u - %u: [%s, %s]: %s", p->pu_a, p->pu_b, tkm_print_lower(a, sizeof(a), p->low_s, 1),
		tkm_print_upper(b, sizeof(b), p->high_s, 1),
		p->result == TMR_PAIR_APART ? "APART" : tmr_pair_name(p->result));
	if (p->result == TMR_PAIR_UNKNOWN) {
		fputs(", the interval is too wide", f);
	}
	if (p->contradictions) {
		fprintf(f, " (%d measurement%s contradicted %s or an earlier one)", p->contradictions,
			p->contradictions == 1 ? "" : "s", p->contradictions == 1 ? "itself" : "themselves");
	}
	putc('\n', f);
}

static void print_pair_count(FILE *f, size_t pairs, const char *result)
{
	if (pairs) {
		fprintf(f, ", %zu %s", pairs, result);
	}
}

static void print_matrices(FILE *f, const struct cal_test_result *r)
{
	char a[32];
	size_t k;
	int i;

	for (i = 0; i < r->nodes; i++) {
		const struct cal_test_matrix_of_node *n = &r->matrix[i];
		const char *host = r->rank[n->rank].env.host;

		if (n->why[0]) {
			fprintf(f, "core matrix of %s: not measured, %s\n", host, n->why);
			continue;
		}
		fprintf(f, "core matrix of %s: %zu pair%s of %u processing unit%s: %zu together", host, n->m.pairs,
			n->m.pairs == 1 ? "" : "s", n->m.pus, n->m.pus == 1 ? "" : "s", n->m.together);
		print_pair_count(f, n->m.apart, "apart");
		print_pair_count(f, n->m.unknown, "not known");
		print_pair_count(f, n->m.contradictions,
			"contradictory (a clock was set, a thread was moved, or the effective tick is too small)");
		if (n->m.measured) {
			fprintf(f, "; together means within %s", tkm_print_time(a, sizeof(a), n->m.limit_s, 2));
		}
		if (n->not_again[0]) {
			fprintf(f, "; not measured again at the end, %s", n->not_again);
		}
		putc('\n', f);
		for (k = 0; k < n->m.pairs; k++) {
			/* of a large node the exceptions */
			if (n->m.pairs <= 28 || n->m.pair[k].result == TMR_PAIR_APART ||
				n->m.pair[k].result == TMR_PAIR_CONTRADICTION) {
				print_pair(f, &n->m.pair[k]);
			}
		}
	}
}

/* Largest distance between the map and the sessions that it did not use. */
static void print_checks(FILE *f, const struct cal_rank *c, double period_s)
{
	double worst = 0;
	size_t k, n = 0, outside = 0, beyond = 0;
	char a[32];

	for (k = 0; k < c->map.nodes; k++) {
		const struct cal_node *node = &c->map.node[k];
		gtick_t at = cal_map_session_at(&c->map, node->local);
		double bound = cal_map_session_bound(&c->map, node->local) / period_s;

		if (!node->used) {
			n++;
			worst = fmax(worst, fabs((double)gtick_sub(at, node->global)) * period_s);
			outside += gtick_sub(at, node->low) < 0 || gtick_sub(at, node->high) > 0;
			beyond += (double)gtick_sub(node->low, at) > bound || (double)gtick_sub(at, node->high) > bound;
		}
	}
	if (n) {
		fprintf(f, ", %zu check%s off by at most %s", n, n == 1 ? "" : "s",
			tkm_print_time(a, sizeof(a), worst, 1));
		if (outside) {
			fprintf(f, ", %zu outside what is certain there%s", outside,
				beyond ? ": BOUND BROKEN, the clock stepped or wandered by more than was assumed"
				       : ", inside the bound: the clock wandered, and --timer-skip 0 follows it");
		}
	}
}

/* Every step, with what is certain about it. */
static void print_steps(FILE *f, int rank, const struct cal_rank *c, const struct cal_run *run)
{
	char a[32], b[32];
	size_t k;

	for (k = 0; k < c->map.steps; k++) {
		const struct cal_step *s = &c->map.step[k];

		fprintf(f,
			"clock of rank %d stepped against that of rank %d by %s%s%s between %.3f s and %.3f s%s: the "
			"map is split there\n",
			rank, run->master, tkm_print_time(a, sizeof(a), s->size_s, 3),
			s->certain ? " +- " : ", for certain to ", tkm_print_upper(b, sizeof(b), s->within_s, 3),
			(double)s->from_global.v * run->period_s, (double)s->to_global.v * run->period_s,
			s->certain ? "" : " (or its rate jumped for a while: it differs from all the rest of the run)");
	}
	if (c->map.max_wander > run->max_wander && (c->contradiction[0] || !run->contradicted)) {
		fprintf(f,
			"clock of rank %d wandered by %.3g ppm against that of rank %d, assumed were %g ppm: its bound "
			"is wider\n",
			rank, c->map.max_wander * 1e6, run->master, run->max_wander * 1e6);
	}
}

/* How the ranks were synchronised, when not all of them with the master. */
static void print_net(FILE *f, const struct cal_net *n)
{
	char a[32], b[32];
	int i;

	if (n->sessions == 0) {
		return;
	}
	fprintf(f,
		"tree: %zu exchanges a session, at most %d between a rank and the master; they agree to %s (rms), %s "
		"at most\n",
		n->edges, n->deepest, tkm_print_time(a, sizeof(a), n->rms_s, 1),
		tkm_print_time(b, sizeof(b), n->worst_s, 1));
	if (n->loops) {
		fprintf(f, "contradiction in session %zu: the exchanges around ranks", n->loop_session + 1);
		for (i = 0; i < n->loop.n && i < CAL_LOOP_RANKS; i++) {
			fprintf(f, "%s %d", i ? "," : "", n->loop.rank[i]);
		}
		fprintf(f,
			"%s do not close by %s; one of these clocks was set or stood still, and the bounds of all are "
			"wider "
			"(%zu such loops)\n",
			n->loop.n > CAL_LOOP_RANKS ? " and others" : "", tkm_print_time(a, sizeof(a), n->gap_s, 1),
			n->loops);
	}
}

/* What administrators look for first: how far the clocks are apart without correction. */
static void print_uncorrected(FILE *f, const struct cal_test_result *r, int rank)
{
	struct cal_test_uncorrected u;
	char a[32], b[32];

	if (cal_test_before_correction(&r->run, rank, &u) == 0) {
		fprintf(f,
			"clock of rank %d (%s) before correction: %s against that of rank %d at the first session, "
			"%swithin +- %s\n",
			rank, r->rank[rank].env.host, tkm_print_time(a, sizeof(a), u.offset_s, 6), r->run.master,
			r->run.rank[rank].map.pairs.n ? "by what is assumed of its rate " : "certainly ",
			tkm_print_upper(b, sizeof(b), fmax(u.high_s - u.offset_s, u.offset_s - u.low_s), 1));
	}
}

/* The widest bound between the first session and the last, at 40 points of each interval; or what messages alone prove. */
static double widest_of(const struct cal_map *m, int proven)
{
	enum { POINTS = 40 };
	double most = 0;
	struct cal_walk w;
	size_t k;
	int i;

	cal_walk_begin(&w, m);
	for (k = 0; k + 1 < m->nodes; k++) {
		int64_t length = ltick_sub(m->node[k + 1].local, m->node[k].local);

		cal_walk_node(&w, k);
		for (i = 0; i < POINTS && length > 0; i++) {
			ltick_t at = ltick_add(m->node[k].local, (int64_t)((double)length * i / POINTS));
			double bound;

			at = m->pairs.n ? cal_pairs_local(&m->pairs, at) : at;
			cal_walk_at(&w, at, &bound);
			bound = proven ? cal_map_proven(m, at) : bound;
			most = fmax(most, bound);
		}
	}
	return most;
}

static size_t count_steps(const struct cal_pairs *p, enum cal_pair_step step)
{
	size_t k, n = 0;

	for (k = 0; k + 1 < p->n; k++) {
		n += p->pair[k].step == (int)step;
	}
	return n;
}

/* How well the stamps of a steered clock are put to the free one beside it. */
static void print_pairs(FILE *f, int rank, const struct cal_rank *c)
{
	const struct cal_pairs *p = &c->map.pairs;
	double s = p->n ? 1 / p->reference_hz : 0, widest = 0, *within;
	size_t k, n = 0, unseen = count_steps(p, CAL_PAIR_UNKNOWN);
	char a[32], b[32], d[32];

	within = p->n ? malloc(p->n * sizeof(*within)) : NULL;
	if (!within) {
		return;
	}
	for (k = 0; k + 1 < p->n; k++) {
		widest = fmax(widest, p->pair[k].proven * s);
		if (p->pair[k].step == CAL_PAIR_GOES_ON) {
			within[n++] = p->pair[k].within * s;
		}
	}
	tkm_sort(within, n);
	fprintf(f, "clock of rank %d is steered: read %zu times beside %s, set %zu times", rank, p->n, c->reference,
		count_steps(p, CAL_PAIR_SET));
	if (unseen) {
		fprintf(f, " (%zu times it was read too late to see a small step)", unseen);
	}
	fprintf(f,
		"; between two readings it is known to %s (median), %s at most, %s if it is slewed as fast as "
		"the kernel can\n",
		n ? tkm_print_time(a, sizeof(a), tkm_median(within, n), 1) : "unknown",
		n ? tkm_print_upper(b, sizeof(b), within[n - 1], 1) : "unknown",
		tkm_print_upper(d, sizeof(d), widest, 1));
	free(within);
}

/* Where a reading lies on the reference's axis, in its ticks, and how far off that can be. */
struct placed {
	ltick_t at, local;
	double off;
};

/* The one of the readings from .. to - 1 whose place is known best. */
static struct placed place_best(const struct cal_pairs *p, size_t from, size_t to)
{
	struct placed best = { .off = INFINITY }, one;
	size_t k;

	for (k = from; k < to; k++) {
		one.local = p->pair[k].local;
		one.at = cal_pairs_at(p, one.local, NULL, &one.off, NULL);
		one.off += 1; /* it is rounded */
		best = one.off < best.off ? one : best;
	}
	return best;
}

/* The clock of a device beside the host's, where there is one process: the offset, and the mean rate from the first quarter of the run
 * to the last one. */
static void print_device(FILE *f, const struct cal_rank *c)
{
	const struct cal_pairs *p = &c->map.pairs;
	struct placed first = place_best(p, 0, (p->n + 3) / 4), last = place_best(p, p->n - p->n / 4, p->n), best;
	double s = p->n ? 1 / p->reference_hz : 0, length, off, rise;
	char a[32], b[32];

	if (p->n < 4) {
		return;
	}
	best = place_best(p, 0, p->n);
	fprintf(f, "%s is ahead of %s by %.9Lf s +- %s at the narrowest reading", c->timer, c->reference,
		(long double)best.local.v / p->hz - (long double)best.at.v / p->reference_hz,
		tkm_print_upper(a, sizeof(a), best.off * s, 1));
	length = (double)ltick_sub(last.at, first.at);
	off = first.off + last.off;
	rise = (double)ltick_sub(last.local, first.local) / p->hz;
	if (count_steps(p, CAL_PAIR_SET) || !(length > off)) {
		fprintf(f, "; it was set, so it has no drift\n");
	} else {
		fprintf(f, "; drift %+.3f ppm +- %.3f ppm, the mean of %s\n", (rise / (length * s) - 1) * 1e6,
			tkm_round_up(off / (length - off) * 1.01e6 + 0.001, 3, 'f'),
			tkm_print_time(b, sizeof(b), length * s, 1));
	}
	print_pairs(f, 0, c);
}

void cal_test_widest_bounds(const struct cal_map *m, double *proven_s, double *assumed_s)
{
	*assumed_s = widest_of(m, 0);
	*proven_s = fmax(widest_of(m, 1), *assumed_s);
}

/* The two bounds by name, and the estimate. */
static void print_bounds(FILE *f, int rank, const struct cal_rank *c)
{
	struct cal_expected e = cal_expected_error(&c->map);
	double proven, assumed;
	char a[32], b[32];

	cal_test_widest_bounds(&c->map, &proven, &assumed);
	fprintf(f,
		"bound of rank %d between its sessions: %s at most, proven by messages and the largest drift alone; %s "
		"at most, if what is "
		"assumed holds\n",
		rank, tkm_print_upper(a, sizeof(a), proven, 1), tkm_print_upper(b, sizeof(b), assumed, 1));
	if (isfinite(e.median_s)) {
		fprintf(f, "expected error of rank %d, an estimate from %zu checks: %s (median), %s (99.9 %%%s)\n",
			rank, e.checks, tkm_print_time(a, sizeof(a), e.median_s, 1),
			tkm_print_time(b, sizeof(b), e.most_s, 1),
			e.extrapolated ? ", extrapolated: it takes 3688 checks to see it" : "");
	}
}

static void print_not_learned(FILE *f, int rank, const struct cal_rank *c, const struct cal_run *run, double hz)
{
	const struct cal_map *m = &c->map;
	double lasted = (double)ltick_sub(m->node[m->nodes - 1].local, m->node[0].local) / hz;
	char a[32];

	fprintf(f, "learned drift of rank %d: none (", rank);
	if (m->may_step || m->steps || m->parts > 1 || run->contradicted) {
		fprintf(f, "its clock stepped, can step, or an assumption of the run was contradicted)\n");
	} else if (m->nodes < CAL_LEARN_NODES) {
		fprintf(f, "it takes %d sessions, and there are %zu)\n", CAL_LEARN_NODES, m->nodes);
	} else {
		fprintf(f,
			"%zu sessions in %s do not show its rate to less than the %.3g ppm that are assumed, or one "
			"was "
			"not as those before it had said; longer runs show more)\n",
			m->nodes, tkm_print_time(a, sizeof(a), lasted, 1), m->max_wander * 1e6);
	}
}

/* What was learned, and what it does to the bound a minute after the last session. */
static void print_learned(FILE *f, int rank, const struct cal_rank *c, const struct cal_run *run)
{
	struct cal_map without = c->map;
	double hz = cal_session_hz(c);
	ltick_t later;
	char a[32], b[32];

	if (!run->learn || c->map.nodes == 0) {
		return;
	}
	if (!(c->map.learned_high > 0)) {
		print_not_learned(f, rank, c, run, hz);
		return;
	}
	later = ltick_add(c->map.node[c->map.nodes - 1].local, (int64_t)(60 * hz));
	without.learned_high = 0;
	fprintf(f,
		"learned drift of rank %d, an estimate: its rate stays within +-%.3g ppm for %s after the run; 60 s "
		"after the "
		"last session the bound is %s, without it ",
		rank, c->map.learned_wander * 1e6, tkm_print_time(a, sizeof(a), (double)c->map.learned_for / hz, 1),
		tkm_print_upper(b, sizeof(b), cal_map_session_bound(&c->map, later), 1));
	fprintf(f, "%s\n", tkm_print_upper(a, sizeof(a), cal_map_session_bound(&without, later), 1));
}

/* Sessions that the map has no node of, with the reason. */
static void print_left_out(FILE *f, const struct cal_rank *c)
{
	size_t k, node = 0, lost = 0, same_tick = 0;

	for (k = 0; k < c->sessions; k++) {
		while (node < c->map.nodes && c->map.node[node].session < (int)k + 1) {
			node++;
		}
		if (c->session[k].n == 0 && !c->session[k].given) {
			lost++;
		} else if (node == c->map.nodes || c->map.node[node].session != (int)k + 1) {
			same_tick++;
		}
	}
	if (lost) {
		fprintf(f, ", %zu more without an answer", lost);
	}
	if (same_tick) {
		fprintf(f, ", %zu more left out (on the same tick of a clock as another, so %s nothing new)", same_tick,
			same_tick == 1 ? "it says" : "they say");
	}
}

static void print_map(FILE *f, int rank, const struct cal_rank *c, double period_s)
{
	double at_nodes = 0, between = 0;
	size_t k, used = 0;
	char a[32], b[32];

	for (k = 0; k < c->map.nodes; k++) {
		between = fmax(between, cal_map_session_bound(&c->map, c->map.node[k].local));
		if (c->map.node[k].used) {
			at_nodes = fmax(at_nodes, cal_map_session_bound(&c->map, c->map.node[k].local));
			used++;
		}
	}
	fprintf(f, "clock map of rank %d: %zu of %zu session%s", rank, used, c->map.nodes,
		c->map.nodes == 1 ? "" : "s");
	print_left_out(f, c);
	fprintf(f, ", bound %s at %s, %s at the checks between (wander %g ppm)",
		tkm_print_upper(a, sizeof(a), at_nodes, 1), c->map.nodes == 1 ? "it" : "them",
		tkm_print_upper(b, sizeof(b), between, 1), c->map.max_wander * 1e6);
	print_checks(f, c, period_s);
	putc('\n', f);
}

static void print_maps(FILE *f, const struct cal_test_result *r)
{
	char a[32];
	int i;

	if (r->ranks == 1) {
		print_device(f, &r->run.rank[0]);
	}
	for (i = 1; i < r->ranks; i++) {
		const struct cal_rank *c = &r->run.rank[i];

		if (c->sync == CAL_SHARED) {
			fprintf(f, "clock map of rank %d: that of rank %d, whose clock it shares", i, c->leader);
			if (c->shared_within_s > 0 && c->shared_within_s <= c->effective_tick_s) {
				fprintf(f, ", which a reading lags by at most %s",
					tkm_print_upper(a, sizeof(a), c->shared_within_s, 1));
			} else if (c->shared_within_s > 0) {
				fprintf(f, ", proven to within %s by the core matrix",
					tkm_print_upper(a, sizeof(a), c->shared_within_s, 1));
			}
			if (r->rank[i].scope == TMR_SCOPE_NODE && cal_test_shown_within(r, i) > 0) {
				fprintf(f, "; the core matrix shows it to within %s",
					tkm_print_upper(a, sizeof(a), cal_test_shown_within(r, i), 1));
			}
			putc('\n', f);
			continue;
		}
		print_uncorrected(f, r, i);
		print_map(f, i, c, r->run.period_s);
		print_bounds(f, i, c);
		print_learned(f, i, c, &r->run);
		print_pairs(f, i, c);
		print_steps(f, i, c, &r->run);
	}
}

static void print_truth(FILE *f, const struct cal_test_result *r)
{
	char a[32], b[32];
	int i;

	for (i = 1; i < r->ranks; i++) {
		const struct cal_test_truth *t = &r->truth[i];

		if (t->known) {
			fprintf(f,
				"true error of rank %d (its clock is simulated): at most %s, at %.3f s, where the "
				"bound is %s; %s\n",
				i, tkm_print_time(a, sizeof(a), t->worst_s, 1), t->worst_at_s,
				tkm_print_upper(b, sizeof(b), t->bound_there_s, 1),
				t->outside ? "BOUND BROKEN: an assumption of it does not hold for this clock"
					   : "inside its bound everywhere");
		}
	}
}

/* A clock that moves in steps may show less than nothing for messages that are much faster. */
static const char *latency_text(char *buf, size_t size, const struct cal_test_result *r, const struct cal_test_burst *b)
{
	if (cal_test_below_resolution(r, b)) {
		snprintf(buf, size, "below resolution");
		return buf;
	}
	return tkm_print_time(buf, size, b->latency_s, 3);
}

static void print_bursts(FILE *f, const struct cal_test_result *r, int all)
{
	char a[32], b[32], c[32], d[32];
	size_t i;

	if (r->bursts > 200 && !all) {
		fprintf(f, "%zu bursts; --verbose 2 prints each\n", r->bursts);
		return;
	}
	for (i = 0; i < r->bursts; i++) {
		const struct cal_test_burst *p = &r->burst[i];

		fprintf(f, "%d. %d <-> %d %s (latency %s), certainly in [%s, %s]\n", p->cycle, p->a, p->b,
			tkm_print_time(a, sizeof(a), p->offset_s, 3), latency_text(b, sizeof(b), r, p),
			tkm_print_lower(c, sizeof(c), p->low_s, 1), tkm_print_upper(d, sizeof(d), p->high_s, 1));
	}
}

/* Whether --target-bound was kept, and if not why. */
static void print_target(FILE *f, const struct cal_test_options *o, const struct cal_test_result *r)
{
	double widest = 0;
	char a[32], b[32], c[32];
	int i, at = 0;

	if (o->target_bound_s <= 0) {
		return;
	}
	for (i = 1; i < r->ranks; i++) {
		double one = fmax(widest_of(&r->run.rank[i].map, 0), r->run.rank[i].map.extra_s);

		at = one > widest ? i : at;
		widest = fmax(widest, one);
	}
	tkm_print_upper(a, sizeof(a), widest, 1);
	tkm_print_time(b, sizeof(b), o->target_bound_s, 1);
	if (r->session_half_s >= o->target_bound_s) {
		fprintf(f, "target bound %s: cannot be kept, a session alone is certain to +-%s\n", b,
			tkm_print_upper(c, sizeof(c), r->session_half_s, 1));
	} else {
		fprintf(f, "target bound %s: %s, the largest bound is %s (rank %d), a session was due every %s\n", b,
			widest <= o->target_bound_s ? "kept" : "NOT kept", a, at,
			tkm_print_time(c, sizeof(c), r->session_every_s, 1));
	}
}

/* Messages that arrive before they were sent, and what was done about it. */
void cal_test_print_causality(FILE *f, const struct cal_test_result *r)
{
	const struct cal_causality_stats *c = &r->causality;
	char a[32], b[32];

	if (c->messages == 0) {
		return;
	}
	fprintf(f, "reversed messages: %llu of %llu without correction, %llu after correction",
		(unsigned long long)r->reversed_uncorrected, (unsigned long long)c->messages,
		(unsigned long long)c->before);
	if (c->moved) {
		fprintf(f, ", %llu after moving %llu stamp%s, none beyond its bound, by at most %s (its bound %s)",
			(unsigned long long)c->after, (unsigned long long)c->moved, c->moved == 1 ? "" : "s",
			tkm_print_time(a, sizeof(a), (double)c->largest * r->run.period_s, 1),
			tkm_print_upper(b, sizeof(b), (double)c->largest_band * r->run.period_s, 1));
	}
	putc('\n', f);
}

/* The assumptions about the clocks, their sources, and which of them turned out to be wrong. */
static void print_assumptions(FILE *f, const struct cal_test_result *r)
{
	const struct cal_run *run = &r->run;
	const struct cal_rank *c;
	int i, corrected = 0;

	for (i = 1; i < r->ranks; i++) {
		corrected = corrected || run->rank[i].sync == CAL_OWN;
	}
	for (i = 0; i < r->ranks; i++) {
		c = &run->rank[i];
		if (c->sync != CAL_OWN || !corrected) {
			continue;
		}
		if (i == 0 || strcmp(c->wander_from, run->rank[0].wander_from) ||
			c->max_wander != run->rank[0].max_wander) {
			fprintf(f,
				"assumed about the clock of rank %d%s%s%s: its rate is within %g ppm of the nominal "
				"one (%s) and changes by at most "
				"+-%g ppm during the run (%s)\n",
				i, c->reference[0] ? ", which is steered, by " : "", c->reference,
				c->reference[0] ? " beside it" : "", c->max_drift * 1e6, c->drift_from,
				c->max_wander * 1e6, c->wander_from);
		}
		if (c->contradiction[0]) {
			fprintf(f,
				"ASSUMPTION WRONG about the clock of rank %d: %s; the bounds of all ranks are wider "
				"for the whole "
				"run\n",
				i, c->contradiction);
		}
	}
}

void cal_test_print_files(FILE *f, const struct cal_test_options *o)
{
	char name[1100], word[1200];

	snprintf(name, sizeof(name), "%s.gnuplot", o->output);
	fprintf(f, "to produce graph showing trace timing, run: gnuplot %s\n",
		tkm_shell_word(word, sizeof(word), name));
	snprintf(name, sizeof(name), "%s.stf", o->output);
	fprintf(f, "to see all pictures in a browser, run: vtreport %s\n", tkm_shell_word(word, sizeof(word), name));
}

void cal_test_print_result(FILE *f, const struct cal_test_options *o, const struct cal_test_result *r, int all)
{
	const struct cal_test_burst *w = &r->burst[r->worst];
	char a[32], b[32];

	print_matrices(f, r);
	print_net(f, &r->run.net);
	print_assumptions(f, r);
	print_maps(f, r);
	cal_test_print_wander(f, r);
	if (r->run.clock_was_set) {
		fprintf(f,
			"the realtime clock of rank 0 was set during the run; its monotonic clock gives the "
			"time scale\n");
	}
	if (o->verbose >= 3) {
		fprintf(f, "maximum number of events on the same clock tick: %llu\n",
			(unsigned long long)r->most_on_tick);
	}
	if (r->repairs || o->verbose >= 3) {
		fprintf(f, "%lld stamps moved to keep their order, largest by %s\n", r->repairs,
			tkm_print_time(a, sizeof(a), r->largest_repair_s, 3));
	}
	print_target(f, o, r);
	cal_test_print_causality(f, r);
	print_bursts(f, r, all || o->verbose >= 2);
	print_truth(f, r);
	cal_test_print_true_rates(f, r);
	if (r->bursts) {
		fprintf(f, "maximum clock offset during run:\n%d <-> %d %s (latency %s)\n", w->a, w->b,
			tkm_print_time(a, sizeof(a), w->offset_s, 3), latency_text(b, sizeof(b), r, w));
	} else {
		fprintf(f, "one process, so no messages: clock offsets were not measured\n");
	}
	cal_test_print_files(f, o);
}

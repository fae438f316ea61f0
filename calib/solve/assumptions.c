/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the assumptions behind the bounds of a run by the run itself, and widens a bound whose assumption is wrong.
 * doc/calibration.md, "What is assumed". */
#include "config.h"
#include "calib/solve/assumptions.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

/* A check shows what the rate did up to one instant; in between it may have strayed by as much again. */
static const double margin = 2;

__attribute__((format(printf, 3, 4))) static void contradict(
	struct cal_run *run, struct cal_rank *r, const char *fmt, ...)
{
	va_list ap;

	run->contradicted = 1;
	if (r->contradiction[0] == '\0') {
		va_start(ap, fmt);
		vsnprintf(r->contradiction, sizeof(r->contradiction), fmt, ap);
		va_end(ap);
	}
}

/* Used nodes around an unused one; either may be NULL. */
static void used_beside(const struct cal_map *m, size_t k, const struct cal_node **a, const struct cal_node **b)
{
	size_t i;

	*a = *b = NULL;
	for (i = k; i-- > 0 && !*a;) {
		*a = m->node[i].used ? &m->node[i] : NULL;
	}
	for (i = k + 1; i < m->nodes && !*b; i++) {
		*b = m->node[i].used ? &m->node[i] : NULL;
	}
}

/* What the bound at an instant between two nodes grows by with each unit of wander, in seconds; outside of them, from one. */
static double leverage(const struct cal_map *m, size_t k)
{
	double per_tick = cal_map_session_slope(m, m->node[k].local) * m->period_s, left, right;
	const struct cal_node *a, *b;

	used_beside(m, k, &a, &b);
	left = a ? (double)ltick_sub(m->node[k].local, a->local) * per_tick : 0;
	right = b ? (double)ltick_sub(b->local, m->node[k].local) * per_tick : 0;
	return a && b ? 2 * left * right / (left + right) : 2 * (left + right);
}

/* The wander with which every check is inside its bound, as far as one look says; 0: they are. *off_s: the farthest. */
static double wander_of_checks(const struct cal_map *m, double *off_s)
{
	double needed = 0;
	size_t k;

	for (k = 0; k < m->nodes; k++) {
		const struct cal_node *n = &m->node[k];
		gtick_t at = cal_map_session_at(m, n->local);
		double above = (double)gtick_sub(n->low, at), below = (double)gtick_sub(at, n->high);
		double beyond = fmax(above, below) * m->period_s - cal_map_session_bound(m, n->local);

		if (!n->used && beyond > 0) {
			needed = fmax(needed, m->max_wander + margin * beyond / fmax(leverage(m, k), 1e-9));
			*off_s = fmax(*off_s, fmax(above, below) * m->period_s);
		}
	}
	return needed;
}

/* More wander: the rates are known by so much less. */
static void allow_wander(struct cal_map *m, double wander)
{
	double more = 2 * (wander - m->max_wander);

	if (m->rate_high > 0) {
		m->rate_low *= 1 - more;
		m->rate_high *= 1 + more;
	}
	m->max_wander = wander;
	cal_map_narrow(m);
}

/* A step may be in the way, too. */
static void widen_map(struct cal_map *m, double wander)
{
	m->may_step = 1;
	allow_wander(m, wander);
}

/* The least that the rate is off the nominal one by for certain; 0: that is not known. nominal: global per local tick. */
static double certainly_off(const struct cal_map *m, double nominal)
{
	return m->rate_high > 0 ? fmax(fmax(m->rate_low / nominal - 1, 1 - m->rate_high / nominal), 0) : 0;
}

static void test_rank(struct cal_run *run, struct cal_rank *r)
{
	const struct cal_map *master = &run->rank[run->master].map;
	double nominal = cal_session_hz(&run->rank[run->master]) / cal_session_hz(r) *
		cal_map_session_slope(master, master->piece[0].local),
	       slope = cal_map_session_slope(&r->map, r->map.node[0].local) / nominal - 1, needed, off_s = 0;
	int round;

	if (certainly_off(&r->map, nominal) > 2 * run->max_drift) {
		contradict(run, r,
			"its rate is %+.4g ppm off the nominal one, at most %g ppm were assumed of two clocks "
			"(--max-drift)",
			slope * 1e6, 2e6 * run->max_drift);
		r->map.max_drift = fmax(r->map.max_drift, 0.5 * margin * fabs(slope));
	}
	if (r->map.max_wander > run->max_wander) {
		contradict(run, r,
			"its rate changed by +-%.4g ppm during the run, +-%g ppm were assumed (--max-wander)",
			r->map.max_wander * 1e6, run->max_wander * 1e6);
	}
	for (round = 0; round < 20 && (needed = wander_of_checks(&r->map, &off_s)) > 0; round++) {
		contradict(run, r,
			"a session that the map does not use is %.4g us off, farther than a rate within +-%g ppm "
			"allows (--max-wander)",
			off_s * 1e6, run->max_wander * 1e6);
		widen_map(&r->map, fmax(needed, 1.5 * r->map.max_wander));
	}
}

/* cal_solve() has allowed a step to the maps of this clock already, and to all if it is the master's. */
static void test_disruption(struct cal_run *run, struct cal_rank *r)
{
	if (r->disruption_changed) {
		contradict(run, r,
			"the virtual machine was moved or restored before session %d (/dev/vmclock0): its clocks may "
			"have jumped",
			r->disruption_changed);
	}
}

/* What is wrong about one clock of a run is not proven about the others, whose sessions may only not show it: all are allowed
 * what the worst of them did. */
static void widen_all(struct cal_run *run)
{
	double wander = 0, drift = 0;
	size_t i;

	for (i = 0; i < run->ranks; i++) {
		const struct cal_map *m = &run->rank[i].map;

		if (run->rank[i].sync == CAL_OWN && (int)i != run->master && m->nodes) {
			wander = fmax(wander, m->max_wander);
			drift = fmax(drift, m->max_drift);
		}
	}
	for (i = 0; i < run->ranks; i++) {
		struct cal_map *m = &run->rank[i].map;

		if (run->rank[i].sync == CAL_OWN && (int)i != run->master && m->nodes) {
			m->max_drift = drift;
			if (m->max_wander < wander) {
				allow_wander(m, wander);
			}
		}
	}
}

void cal_test_assumptions(struct cal_run *run)
{
	size_t i;

	run->contradicted = 0;
	for (i = 0; i < run->ranks; i++) {
		struct cal_rank *r = &run->rank[i];

		r->contradiction[0] = '\0';
		if (r->sync == CAL_OWN && (int)i != run->master && r->map.nodes) {
			test_rank(run, r);
		}
		test_disruption(run, r);
	}
	if (run->contradicted) {
		widen_all(run);
	}
}

/* The place, among n ascending values, of the least one that in 39 of 40 cases at least is not below the given share of all from which
 * they were drawn: how many of them lie beyond that share is a binomial number. n if they are too few for any to be so. */
static size_t limit_of_share(size_t n, double share)
{
	double beyond = 1 - share, term = (double)n * log(share), sum = exp(term);
	size_t k = 0; /* sum: the chance that k or fewer lie beyond */

	while (k < n && sum <= 0.025) {
		term += log((double)(n - k) / (double)(k + 1) * beyond / share);
		sum += exp(term);
		k++;
	}
	return n - k;
}

struct cal_expected cal_expected_error(const struct cal_map *m)
{
	/* of a normal distribution: 99.9 % over the median of the absolute values */
	const double normal = 3.2905 / 0.67449;
	struct cal_expected e = { 0, NAN, NAN, 1 };
	double *off = malloc((m->nodes + 1) * sizeof(*off));
	size_t k, place;

	for (k = 0; off && k < m->nodes; k++) {
		const struct cal_node *n = &m->node[k];

		if (!n->used) {
			off[e.checks++] =
				fabs((double)gtick_sub(cal_map_session_at(m, n->local), n->global)) * m->period_s;
		}
	}
	if (e.checks >= 5) {
		tkm_sort(off, e.checks);
		e.median_s = tkm_median(off, e.checks);
		place = limit_of_share(e.checks, 0.999);
		e.extrapolated = place == e.checks;
		if (e.extrapolated) {
			place = limit_of_share(e.checks, 0.5);
			e.most_s = fmax(off[e.checks - 1], normal * off[place < e.checks ? place : e.checks - 1]);
		} else {
			e.most_s = off[place];
		}
	}
	free(off);
	return e;
}

int cal_attach_pairs(struct cal_run *run, struct tkm_err *err)
{
	size_t i;

	for (i = 0; i < run->ranks; i++) {
		struct cal_rank *r = &run->rank[i];
		struct cal_rank *of = r->sync == CAL_SHARED ? &run->rank[r->leader] : r;
		struct cal_pairs *p = &r->map.pairs;

		if (of->reference_hz > 0 && of->pairs.n > 0) {
			cal_pairs_free(p);
			if (cal_pairs_copy(p, &of->pairs) < 0) {
				return tkm_fail(err, TKM_ERR_NOMEM,
					"out of memory for %zu readings of the clock of rank %d", of->pairs.n,
					of->rank);
			}
			p->hz = cal_rank_hz(of);
			p->reference_hz = of->reference_hz;
			p->tick_s = fmax(of->effective_tick_s, 1 / p->hz);
			p->reference_tick_s = fmax(of->reference_tick_s, 1 / p->reference_hz);
			p->may_step = of->may_step;
			if (cal_pairs_judge(p, err) < 0) {
				return -1;
			}
		}
		if (p->contradictions && r == of) {
			contradict(run, r,
				"at %zu places it was set, or slewed by more than %g ppm, or twice within %g s, "
				"which was not assumed",
				p->contradictions, p->max_slew * 1e6, cal_pair_event_s);
		}
	}
	return 0;
}

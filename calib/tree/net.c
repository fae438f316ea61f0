/* SPDX-License-Identifier: BSD-3-Clause */
/* From the exchanges of a tree to a point per rank and session. For every rank one instant near the middle of the
 * session is chosen on its own clock. The unknown is what the master's clock showed at that instant. Each exchange says
 * something certain about two of these unknowns: doc/calibration.md, "Trees". */
#include "config.h"
#include "calib/tree/net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib/map/fit.h"
#include "calib/tree/graph.h"

/* Master ticks per local tick, and by what share that can be wrong. */
struct rate {
	double slope, error;
};

struct exchange {
	int a, b;
	struct cal_point p; /* b's clock by a's */
};

struct net {
	struct cal_run *run;
	struct rate *rate;
	int narrow;       /* the rates are those that the sessions certify */
	ltick_t *instant; /* of each rank */
	unsigned char *known;
	struct exchange *list;
	size_t n;
	struct cal_edge *edge;
};

static double net_effective_ticks(const struct cal_rank *r)
{
	double ticks = cal_session_tick(r) * cal_session_hz(r);

	return isfinite(ticks) && ticks >= 1 ? ticks : 1;
}

/* b's ticks per tick of a, and how far off that can be: by what is believed of any two clocks, or what is known
 * of these. */
static double slope_between(const struct net *t, int a, int b, double *error)
{
	const struct cal_rank *ra = &t->run->rank[a], *rb = &t->run->rank[b];
	double known = t->rate[a].error + t->rate[b].error;

	*error = 2 * t->run->max_drift;
	if (t->narrow && known < *error) {
		*error = known;
		return t->rate[a].slope / t->rate[b].slope;
	}
	return cal_session_hz(rb) / cal_session_hz(ra);
}

/* The exchanges of session k. Those without a sample are left out. */
static int list_exchanges(struct net *t, size_t k, struct tkm_err *err)
{
	size_t r, i;

	t->n = 0;
	for (r = 0; r < t->run->ranks; r++) {
		const struct cal_rank *a = &t->run->rank[r];

		for (i = 0; i < a->edges; i++) {
			const struct cal_session *s = &a->edge[i];
			struct exchange *x = &t->list[t->n];
			double slope, error;

			if (s->at != k || s->n == 0) {
				continue;
			}
			if (s->peer < 0 || (size_t)s->peer >= t->run->ranks || s->peer == (int)r) {
				return tkm_fail(err, TKM_ERR_DATA,
					"rank %zu: an exchange with rank %d, which there is not", r, s->peer);
			}
			x->a = (int)r;
			x->b = s->peer;
			slope = slope_between(t, x->a, x->b, &error);
			if (cal_condense(s, slope, error, net_effective_ticks(a),
				    net_effective_ticks(&t->run->rank[x->b]), CAL_QUIET, &x->p, err) == 0) {
				t->n++;
			}
		}
	}
	return 0;
}

/* One exchange carries the instant from a rank that has it to one that has not. */
static int carry_instant(struct net *t, const struct exchange *x)
{
	double unused, slope = slope_between(t, x->a, x->b, &unused);

	if (t->known[x->b] && !t->known[x->a]) {
		t->instant[x->a] =
			ltick_add(x->p.local, llrint((double)ltick_sub(t->instant[x->b], x->p.master) / slope));
		t->known[x->a] = 1;
		return 1;
	}
	if (t->known[x->a] && !t->known[x->b]) {
		t->instant[x->b] =
			ltick_add(x->p.master, llrint((double)ltick_sub(t->instant[x->a], x->p.local) * slope));
		t->known[x->b] = 1;
		return 1;
	}
	return 0;
}

/* The same instant on all clocks, roughly: the middle of the master's exchanges. */
static void choose_instants(struct net *t)
{
	int master = t->run->master, changed = 1;
	ltick_t first = ltick(INT64_MAX), last = ltick(INT64_MIN);
	size_t i;

	memset(t->known, 0, t->run->ranks);
	for (i = 0; i < t->n; i++) {
		const struct exchange *x = &t->list[i];

		if (x->a == master || x->b == master) {
			ltick_t at = x->b == master ? x->p.master : x->p.local;

			first = at.v < first.v ? at : first;
			last = at.v > last.v ? at : last;
			t->known[master] = 1;
		}
	}
	t->instant[master] = t->known[master] ? ltick_add(first, ltick_sub(last, first) / 2) : ltick(0);
	while (changed) {
		changed = 0;
		for (i = 0; i < t->n; i++) {
			changed |= carry_instant(t, &t->list[i]);
		}
	}
}

/* What an exchange says about the two unknowns: master's clock at a's instant minus at b's. From the exchange to
 * its instant each clock runs with its rate, which is not known exactly. */
static struct cal_edge edge_of(const struct net *t, const struct exchange *x)
{
	const struct rate *ra = &t->rate[x->a], *rb = &t->rate[x->b];
	double away_a = ra->slope * (double)ltick_sub(x->p.local, t->instant[x->a]);
	double away_b = rb->slope * (double)ltick_sub(x->p.master, t->instant[x->b]);
	double low = fmin(x->p.low, x->p.high), high = fmax(x->p.low, x->p.high); /* contradictory: their hull */
	double reach = fabs(away_b) + rb->slope * fmax(fabs(low), fabs(high));
	double drift = t->run->max_drift * (1 + 4 * t->run->max_drift) *
		(fabs(away_a) + reach + fabs(away_a - away_b) + rb->slope * fmax(fabs(low), fabs(high)));
	double known = ra->error * fabs(away_a) + rb->error * reach;
	double wide = t->narrow ? fmin(drift, known) : drift;
	double base = away_b - away_a;

	return (struct cal_edge){ x->a, x->b, base + rb->slope * low - wide, base + rb->slope * high + wide,
		base + rb->slope * x->p.fraction };
}

static void take_results(struct net *t, size_t k, const struct cal_graph *g)
{
	const struct cal_run *run = t->run;
	double sigma = g->rms; /* of one exchange */
	size_t r, i;

	for (i = 0; i < t->n; i++) {
		sigma += t->list[i].p.sigma * t->rate[t->list[i].b].slope / (double)t->n;
	}
	for (r = 0; r < run->ranks; r++) {
		struct cal_rank *to = &run->rank[r];
		struct cal_session *s = k < to->sessions ? &to->session[k] : NULL;
		double whole;

		if ((int)r == run->master || !s || g->depth[r] < 0) {
			continue;
		}
		whole = floor(g->value[r]);
		s->given = 1;
		s->point = (struct cal_point){ .local = t->instant[r],
			.master = ltick_add(t->instant[run->master], (int64_t)whole),
			.fraction = g->value[r] - whole,
			.low = g->low[r] - whole,
			.high = g->high[r] - whole,
			.sigma = sigma * sqrt(g->depth[r]),
			.kept = 1,
			.all = 1 };
	}
}

static void take_notes(struct cal_run *run, size_t k, const struct net *t, const struct cal_graph *g)
{
	struct cal_net *net = &run->net;
	double hz = cal_session_hz(&run->rank[run->master]);

	net->sessions++;
	net->edges = t->n > net->edges ? t->n : net->edges;
	net->deepest = g->deepest > net->deepest ? g->deepest : net->deepest;
	net->rms_s = fmax(net->rms_s, g->rms / hz);
	net->worst_s = fmax(net->worst_s, g->worst / hz);
	if (g->loops && net->loops == 0) {
		net->loop = g->loop;
		net->loop_session = k;
		net->gap_s = g->loop.gap / hz;
	}
	net->loops += g->loops;
}

static int solve_session(struct net *t, size_t k, struct tkm_err *err)
{
	struct cal_graph g;
	size_t i, m = 0;

	if (list_exchanges(t, k, err) < 0) {
		return -1;
	}
	choose_instants(t);
	for (i = 0; i < t->n; i++) {
		if (t->known[t->list[i].a] && t->known[t->list[i].b]) {
			t->edge[m++] = edge_of(t, &t->list[i]);
		}
	}
	if (m == 0) {
		return 0; /* no exchange reached the master: the rank's session stays empty */
	}
	if (cal_graph_solve(&g, (int)t->run->ranks, t->run->master, t->edge, m, err) < 0) {
		return -1;
	}
	take_results(t, k, &g);
	if (t->narrow) {
		take_notes(t->run, k, t, &g);
	}
	cal_graph_free(&g);
	return 0;
}

/* What the points themselves say about a rank's rate, steps between sessions taken into account: as for the map of
 * a rank in a star (calib/map/steps.c), here in master ticks. */
static int narrow_rate(const struct cal_run *run, const struct cal_rank *r, struct rate *rate, struct tkm_err *err)
{
	struct cal_map m = { .period_s = 1 / cal_session_hz(&run->rank[run->master]),
		.max_drift = run->max_drift,
		.max_wander = run->max_wander,
		.may_step = cal_session_may_step(r) || cal_session_may_step(&run->rank[run->master]) };
	double found, error;
	size_t k;

	m.node = calloc(r->sessions + 1, sizeof(*m.node));
	if (!m.node) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu sessions", r->sessions);
	}
	for (k = 0; k < r->sessions; k++) {
		const struct cal_point *p = &r->session[k].point;

		if (r->session[k].given) {
			m.node[m.nodes++] = (struct cal_node){ .local = p->local,
				.global = gtick(p->master.v),
				.used = 1,
				.low = gtick(p->master.v + (int64_t)floor(p->low)),
				.high = gtick(p->master.v + (int64_t)ceil(p->high)),
				.sigma = p->sigma,
				.session = (int)k + 1 };
			cal_map_leave_out_same_tick(&m, rate->slope);
		}
	}
	if (m.nodes && cal_map_split(&m, rate->slope, err) < 0) {
		cal_map_free(&m);
		return -1;
	}
	if (m.nodes && m.rate_high > 0) {
		found = 0.5 * (m.rate_low + m.rate_high);
		error = 0.5 * (m.rate_high - m.rate_low) / found;
		if (error < rate->error) {
			*rate = (struct rate){ found, error };
		}
	}
	cal_map_free(&m);
	return 0;
}

static int solve(struct net *t, size_t sessions, struct tkm_err *err)
{
	struct cal_run *run = t->run;
	double hz = cal_session_hz(&run->rank[run->master]);
	size_t r, k;

	for (r = 0; r < run->ranks; r++) {
		t->rate[r].slope = hz / cal_session_hz(&run->rank[r]);
		t->rate[r].error = (int)r == run->master ? 0 : 2 * run->max_drift;
		if (run->rank[r].edges && !(isfinite(t->rate[r].slope) && t->rate[r].slope > 0)) {
			return tkm_fail(err, TKM_ERR_DATA, "the frequency of rank %zu (%s) is not known", r,
				run->rank[r].timer);
		}
	}
	for (t->narrow = 0; t->narrow < 2; t->narrow++) {
		for (k = 0; k < sessions; k++) {
			if (solve_session(t, k, err) < 0) {
				return -1;
			}
		}
		for (r = 0; r < run->ranks && !t->narrow; r++) {
			if ((int)r != run->master && narrow_rate(run, &run->rank[r], &t->rate[r], err) < 0) {
				return -1;
			}
		}
	}
	return 0;
}

int cal_net_solve(struct cal_run *run, struct tkm_err *err)
{
	struct net t = { .run = run };
	size_t edges = 0, sessions = 0, n = run->ranks + 1, r;
	int rc;

	memset(&run->net, 0, sizeof(run->net));
	for (r = 0; r < run->ranks; r++) {
		edges += run->rank[r].edges;
		sessions = run->rank[r].sessions > sessions ? run->rank[r].sessions : sessions;
	}
	if (edges == 0) {
		return 0;
	}
	t.rate = calloc(n, sizeof(*t.rate));
	t.instant = calloc(n, sizeof(*t.instant));
	t.known = calloc(n, 1);
	t.list = calloc(edges + 1, sizeof(*t.list));
	t.edge = calloc(edges + 1, sizeof(*t.edge));
	rc = t.rate && t.instant && t.known && t.list && t.edge
		? solve(&t, sessions, err)
		: tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %zu exchanges", edges);
	free(t.rate);
	free(t.instant);
	free(t.known);
	free(t.list);
	free(t.edge);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* One run over the simulated network: the same code as a real run, with the true times to compare with. */
#include "config.h"
#include "lab/calibsim/calibsim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calib/solve/solve.h"
#include "calib/analysis/analysis.h"
#include "calib/map/online.h"
#include "timers/sources/sim.h"

/* Times of the run at which all maps are compared with the truth. */
enum { POINTS = 9 };

struct sim {
	const struct cs_options *o;
	struct cs_row *row;
	struct cal_link *link;
	struct cal_plan plan;
	struct cal_run run;
	struct cal_online *online;
	struct cal_offset_estimate *tie;
	unsigned char *exchanges;
	double *hz, *bound, *error;
	int n;
};

static double processor_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static int begin(struct sim *s, enum cal_shape shape, struct tkm_err *err)
{
	size_t n = (size_t)s->n;
	int *member = calloc(n, sizeof(*member)), i, rc;

	s->run = (struct cal_run){ .max_drift = s->o->max_drift,
		.max_wander = s->o->max_wander,
		.wanted = CAL_CUBIC,
		.method = CAL_SYNC_PAIRS };
	s->run.rank = calloc(n, sizeof(*s->run.rank));
	s->online = calloc(n, sizeof(*s->online));
	s->tie = calloc(n, sizeof(*s->tie));
	s->exchanges = malloc(n);
	s->hz = calloc(n, sizeof(*s->hz));
	s->bound = calloc(n, sizeof(*s->bound));
	s->error = calloc(n, sizeof(*s->error));
	if (!member || !s->run.rank || !s->online || !s->tie || !s->exchanges || !s->hz || !s->bound || !s->error) {
		free(member);
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d domains", s->n);
	}
	s->run.ranks = n;
	memset(s->exchanges, 1, n);
	for (i = 0; i < s->n; i++) {
		struct cal_rank *r = &s->run.rank[i];

		member[i] = r->rank = i;
		r->nominal_hz = s->hz[i] = cal_link_sim_clock(s->link, i)->hz;
		r->effective_tick_s = 1 / s->hz[i];
		cal_offset_estimate_begin(&s->tie[i], i == 0, s->hz[i], s->hz[0], r->effective_tick_s, s->o->max_drift);
		cal_online_begin(&s->online[i],
			&(struct cal_online_options){ .hz = s->hz[i],
				.master_hz = s->hz[0],
				.tick_s = 1 / s->hz[i],
				.master_tick_s = 1 / s->hz[0],
				.max_drift = s->o->max_drift,
				.max_wander = s->o->max_wander,
				.how = CAL_QUIET });
	}
	rc = cal_plan_make(&s->plan, shape, member, s->n, NULL, NULL, err);
	free(member);
	return rc;
}

static void anchor(struct sim *s)
{
	struct cal_rank *m = &s->run.rank[0];

	m->anchor[m->anchors].local = tmr_read(cal_link_sim_clock(s->link, 0));
	m->anchor[m->anchors].realtime_ns = m->anchor[m->anchors].monotonic_ns =
		cal_link_sim_time(s->link)->now_ps / 1000;
	m->anchors++;
}

/* A rank uses in its next sessions what it has learned about its rate. */
static int learn(struct sim *s, struct tkm_err *err)
{
	int i;

	for (i = 1; i < s->n; i++) {
		struct cal_rank *r = &s->run.rank[i];
		const struct cal_map *m = &s->online[i].map;
		struct cal_offset_estimate *t = &s->tie[i];
		double ticks = m->period_s * s->hz[0], found, error;

		if (r->sessions == 0 || cal_online_add(&s->online[i], &r->session[r->sessions - 1], err) < 0) {
			return r->sessions ? -1 : 0;
		}
		found = 0.5 * (m->rate_low + m->rate_high) * ticks;
		error = 0.5 * (m->rate_high - m->rate_low) * ticks;
		/* a map without pieces has no rate */
		if (m->pieces && m->rate_low > 0 && error < t->error * found) {
			t->slope = found;
			t->error = error / found;
		}
	}
	return 0;
}

/* What the master's clock truly shows when the clock of a rank shows `local`: ticks and fraction. */
static ltick_t true_master(const struct sim *s, int rank, ltick_t local, double *fraction)
{
	int64_t base = tmr_sim_base_at(cal_link_sim_clock(s->link, rank), local);

	return tmr_sim_truth(cal_link_sim_clock(s->link, 0), base, fraction);
}

static void summarise(struct sim *s, struct cs_quality *q, long n, double squares, long points)
{
	struct cal_summary spread = { NAN, NAN, NAN, NAN, NAN };

	if (n > 0) {
		spread = cal_summarise(s->bound, (size_t)n);
	}
	q->ranks = n;
	q->bound_max_s = spread.max;
	q->bound_median_s = spread.median;
	q->error_rms_s = points ? sqrt(squares / (double)points) : NAN;
}

/* The error of what each rank knows by itself (its struct cal_offset_estimate), at the instant of that point. */
static void judge_online(struct sim *s)
{
	struct cs_quality *q = &s->row->online;
	double squares = 0, fraction;
	long n = 0;
	int i;

	for (i = 1; i < s->n; i++) {
		const struct cal_point *p = &s->tie[i].point;
		struct cs_hop *h = &s->row->hop[s->tie[i].hops < CS_HOPS ? s->tie[i].hops : CS_HOPS - 1];
		double error, truth, bound;

		if (!s->tie[i].known) {
			continue;
		}
		truth = (double)ltick_sub(true_master(s, i, p->local, &fraction), p->master) + fraction;
		error = fabs(truth - p->fraction) / s->hz[0];
		q->wrong += truth < p->low || truth > p->high;
		q->error_max_s = fmax(q->error_max_s, error);
		squares += error * error;
		s->bound[n++] = bound = fmax(p->high - p->fraction, p->fraction - p->low) / s->hz[0];
		h->ranks++;
		h->error_max_s = fmax(h->error_max_s, error);
		h->bound_max_s = fmax(h->bound_max_s, bound);
	}
	summarise(s, q, n, squares, n);
}

static void judge_rank(
	struct sim *s, int i, int64_t from, int64_t to, double *worst, double *bound, long *outside, double *squares)
{
	const struct cal_map *m0 = &s->run.rank[0].map, *m = &s->run.rank[i].map;
	int k;

	for (k = 0; k < POINTS; k++) {
		int64_t at = from + (to - from) / (POINTS - 1) * k;
		double f0, f1, error, b;
		ltick_t l0 = tmr_sim_truth(cal_link_sim_clock(s->link, 0), at, &f0);
		ltick_t l1 = tmr_sim_truth(cal_link_sim_clock(s->link, i), at, &f1);

		error = fabs((double)gtick_sub(cal_map_at(m, l1), cal_map_at(m0, l0)) + f1 * cal_map_slope(m, l1) -
				f0 * cal_map_slope(m0, l0)) *
			s->run.period_s;
		b = cal_map_bound(m, l1);
		*outside += error > b;
		*worst = fmax(*worst, error);
		*bound = fmax(*bound, b);
		*squares += error * error;
	}
}

static void judge_after(struct sim *s, int64_t from, int64_t to)
{
	struct cs_quality *q = &s->row->after;
	double squares = 0;
	long n = 0;
	int i;

	for (i = 1; i < s->n; i++) {
		double worst = 0, bound = 0;
		long outside = 0;

		if (s->run.rank[i].sync == CAL_SHARED) {
			continue; /* silent */
		}
		judge_rank(s, i, from, to, &worst, &bound, &outside, &squares);
		q->wrong += outside > 0;
		q->error_max_s = fmax(q->error_max_s, worst);
		s->bound[n++] = bound;
	}
	summarise(s, q, n, squares, n * POINTS);
}

/* Ranks of which nothing is known would make the whole solution fail: they leave the run. */
static void drop_silent(struct sim *s)
{
	size_t k, e;
	int i;

	for (i = 1; i < s->n; i++) {
		struct cal_rank *r = &s->run.rank[i];
		size_t known = 0;

		for (k = 0; k < r->sessions; k++) {
			known += r->session[k].n > 0 || r->session[k].given;
		}
		for (e = 0; e < r->edges; e++) {
			known += r->edge[e].n > 0;
		}
		if (known == 0) {
			s->row->silent++;
			r->sync = CAL_SHARED; /* its map is void */
			r->leader = 0;
		}
	}
}

/* The samples of 16,384 clocks would fill gigabytes. */
static void thin(struct sim *s)
{
	size_t k;
	int i;

	for (i = 1; i < s->n; i++) {
		struct cal_rank *r = &s->run.rank[i];

		for (k = r->edges; k > 0 && r->edge[k - 1].at + 1 == r->sessions; k--) {
			cal_session_thin(&r->edge[k - 1], 12, s->hz[r->edge[k - 1].peer] / s->hz[i]);
		}
	}
}

static int sessions(struct sim *s, struct tkm_err *err)
{
	struct cal_sync_report report = { .lost = 0 };
	struct cal_sync_options opt = { .max_messages = s->o->max_messages,
		.max_duration_s = 60,
		.method = CAL_SYNC_PAIRS,
		.hz = s->hz,
		.tie = s->tie,
		.report = &report };
	double *took = calloc((size_t)s->o->sessions, sizeof(*took)), start = cal_link_seconds(s->link);
	long long before = s->link->messages, k;
	int rc = took ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %lld sessions", s->o->sessions);

	for (k = 0; k < s->o->sessions && rc == 0; k++) {
		int last = k + 1 == s->o->sessions;
		double at;

		cal_link_sleep(s->link, fmax(start + s->o->apart_s * (double)k - cal_link_seconds(s->link), 0));
		if (k == 0 || last) {
			anchor(s);
		}
		at = cal_link_seconds(s->link);
		opt.brief = s->o->brief && k > 0;
		rc = cal_sync_ranks(s->link, 0, &s->plan, s->exchanges, &opt,
			k == 0         ? CAL_START
				: last ? CAL_END
				       : CAL_MIDDLE,
			s->run.rank, err);
		took[k] = cal_link_seconds(s->link) - at;
		if (rc == 0) {
			rc = learn(s, err);
		}
		thin(s);
	}
	if (rc == 0) {
		s->row->first_s = took[0];
		s->row->session_s = cal_summarise(took + 1, (size_t)s->o->sessions - 1).median;
		s->row->messages = (double)(s->link->messages - before) / (double)s->o->sessions;
		s->row->lost = report.lost;
		snprintf(s->row->silence, sizeof(s->row->silence), "%.190s", report.lost ? report.first.text : "");
	}
	free(took);
	return rc;
}

static void end(struct sim *s)
{
	int i;

	for (i = 0; i < s->n && s->online; i++) {
		cal_online_free(&s->online[i]);
	}
	cal_run_free(&s->run);
	cal_plan_free(&s->plan);
	free(s->online);
	free(s->tie);
	free(s->exchanges);
	free(s->hz);
	free(s->bound);
	free(s->error);
	cal_link_close(s->link);
}

int cs_simulate(const struct cs_options *o, int domains, enum cal_shape shape, struct cs_row *row, struct tkm_err *err)
{
	struct sim s = { .o = o, .row = row, .n = domains };
	double cpu = processor_s();
	int64_t from, to;
	int rc;

	memset(row, 0, sizeof(*row));
	s.link = cs_open_link(o, domains, err);
	if (!s.link) {
		return -1;
	}
	s.link->patience_s = o->patience_s;
	from = cal_link_sim_time(s.link)->now_ps;
	rc = begin(&s, shape, err);
	if (rc == 0) {
		rc = sessions(&s, err);
	}
	to = cal_link_sim_time(s.link)->now_ps;
	if (rc == 0) {
		row->domains = domains;
		row->shape = s.plan.shape;
		row->rounds = s.plan.rounds;
		row->exchanges = (long)s.plan.pairs;
		judge_online(&s);
		drop_silent(&s);
		/* as in timertest: only the first and the last session are nodes of the map, unless curves are to be
		 * compared */
		rc = cal_solve(&s.run, o->splines ? 0 : -1, err);
	}
	if (rc == 0) {
		row->net = s.run.net;
		row->deepest = s.run.net.sessions ? s.run.net.deepest : 1;
		judge_after(&s, from, to);
		rc = o->splines ? cs_compare_splines(s.link, &s.run, row, err) : 0;
	}
	end(&s);
	row->cpu_s = processor_s() - cpu;
	return rc;
}

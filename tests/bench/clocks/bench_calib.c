/* SPDX-License-Identifier: BSD-3-Clause */
/* Calibration of simulated clocks over real messages, rank 1 against rank 0: the truth is known, because
 * both wrap the same counter, each on its own grid. Run with two processes on one host. */
#include "config.h"
#include "calib/file/clk.h"
#include "calib/map/fit.h"
#include "calib/session/link.h"
#include "calib/solve/solve.h"
#include "calib/session/sync.h"
#include "timers/sources/sim.h"
#include "tests/bench/lib/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BURSTS = 30, RUNS = 3 };

static const char clocks[] = "sim:base=CPU,offset={rank}ms,drift={rank}50ppm,tick=7.{rank}ns,noise=1ns,seed={rank}";
static const double run_s = 10;

/* Names of the figures: those of the default method have no word for it. */
static const struct method {
	enum cal_sync_method method;
	const char *word;
} methods[] = { { CAL_SYNC_PAIRS, "" }, { CAL_SYNC_ITC, "itc." } };

static struct cal_link *l;
static struct tkm_err err;

static void need(int ok)
{
	if (!ok) {
		fprintf(stderr, "bench_calib: rank %d: %s\n", l ? l->rank : 0, err.text);
		abort();
	}
}

/* Rank 0 gets what both have; *run is filled there. */
static int gather(struct cal_rank *mine, const struct method *m, struct cal_run *run)
{
	struct cal_blobs all;
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	int i;

	need(f && cal_clk_write_rank(f, mine, &err) == 0);
	fclose(f);
	need(cal_link_gather(l, text, length, &all, &err) == 0);
	free(text);
	cal_rank_free(mine);
	if (l->rank != 0) {
		return 0;
	}
	*run = (struct cal_run){
		.ranks = 2, .max_drift = 500e-6, .max_wander = 1e-6, .wanted = CAL_CONSTRAINED, .method = m->method
	};
	run->rank = calloc(2, sizeof(*run->rank));
	for (i = 0; i < 2; i++) {
		need(cal_clk_read_rank(all.data[i], all.length[i], "rank", &run->rank[i], &err) == 0);
	}
	cal_blobs_free(&all);
	return 1;
}

static void begin(struct cal_rank *r, size_t sessions)
{
	*r = (struct cal_rank){
		.rank = l->rank, .nominal_hz = l->timer->hz, .effective_tick_s = fmax(1 / l->timer->hz, 10e-9)
	};
	snprintf(r->timer, sizeof(r->timer), "%s", l->timer->name);
	r->session = calloc(sessions, sizeof(*r->session));
}

/* Of the two simulated timers, whose ticks are 7.0 and 7.1 ns. */
static const double hz[2] = { 1 / 7.0e-9, 1 / 7.1e-9 };

static void print(const struct method *m, const char *what, const char *figure, double *v, size_t n, const char *unit)
{
	char name[64];

	snprintf(name, sizeof(name), "calib.%s.%s%s", what, m->word, figure);
	bench_print(name, v, n, unit);
}

static void session(struct cal_rank *r, const struct method *m, enum cal_session_kind kind)
{
	static const unsigned char exchanges[2] = { 0, 1 };
	struct cal_sync_options opt = { .max_messages = 100, .max_duration_s = 60, .method = m->method, .hz = hz };
	struct cal_session out[2];

	memset(out, 0, sizeof(out));
	if (kind != CAL_MIDDLE) {
		cal_anchor_take(l->timer, &r->anchor[r->anchors++]);
	}
	need(cal_sync_session(l, 0, exchanges, &opt, kind, out, &err) == 0);
	if (l->rank == 1) {
		r->session[r->sessions++] = out[1];
	}
}

/* The master's true reading when the child's clock shows p->local, minus the measured one; seconds. */
static double point_error(const struct cal_point *p, struct tmr_timer *const clock[2], int *inside)
{
	double f, off;
	ltick_t master = tmr_sim_truth(clock[0], tmr_sim_base_at(clock[1], p->local), &f);

	off = (double)ltick_sub(master, p->master) + f;
	*inside = off >= p->low && off <= p->high;
	return fabs(off - p->fraction) / clock[0]->hz;
}

static void open_clocks(const struct cal_run *run, struct tmr_timer *clock[2])
{
	int i;

	for (i = 0; i < 2; i++) {
		clock[i] = tmr_open(run->rank[i].timer, i, &err);
		need(clock[i] != NULL);
	}
}

static void bursts(const struct method *m)
{
	double error[BURSTS], half[BURSTS], rtt[BURSTS], outside = 0;
	struct tmr_timer *clock[2];
	struct cal_rank mine;
	struct cal_run run;
	struct cal_point p;
	int i, inside;
	size_t k;

	begin(&mine, BURSTS);
	for (i = 0; i < BURSTS; i++) {
		session(&mine, m, CAL_MIDDLE);
		cal_link_sleep(l, 0.02);
	}
	if (!gather(&mine, m, &run)) {
		return;
	}
	open_clocks(&run, clock);
	for (i = 0; i < BURSTS; i++) {
		struct cal_session *s = &run.rank[1].session[i];
		double shortest = INFINITY;

		cal_filter(s->sample, s->n, 0.1, clock[0]->hz / clock[1]->hz);
		need(cal_condense(s, clock[0]->hz / clock[1]->hz, 1e-4, run.rank[1].effective_tick_s * clock[1]->hz,
			     run.rank[0].effective_tick_s * clock[0]->hz,
			     m->method == CAL_SYNC_PAIRS ? CAL_QUIET : CAL_MEAN, &p, &err) == 0);
		error[i] = 1e9 * point_error(&p, clock, &inside);
		outside += !inside;
		half[i] = 0.5e9 * (p.high - p.low) / clock[0]->hz;
		for (k = 0; k < s->n; k++) {
			shortest = fmin(shortest, cal_rtt(&s->sample[k], clock[0]->hz / clock[1]->hz) / clock[1]->hz);
		}
		rtt[i] = shortest * 1e9;
	}
	print(m, "burst", "rtt_min", rtt, BURSTS, "ns");
	print(m, "burst", "true_error", error, BURSTS, "ns");
	print(m, "burst", "bound", half, BURSTS, "ns");
	print(m, "burst", "outside_bound", &outside, 1, "bursts");
	tmr_close(clock[0]);
	tmr_close(clock[1]);
	cal_run_free(&run);
}

/* Largest error of the map over the run, seconds; *broken counts points beyond the bound. */
static double line_error(const struct cal_run *run, struct tmr_timer *const clock[2], double *broken)
{
	const struct cal_map *m0 = &run->rank[0].map, *m1 = &run->rank[1].map;
	int64_t from = tmr_sim_base_at(clock[0], run->rank[0].anchor[0].local);
	int64_t to = tmr_sim_base_at(clock[0], run->rank[0].anchor[1].local);
	double worst = 0;
	int i;

	for (i = 0; i <= 400; i++) {
		int64_t at = from + (int64_t)((double)(to - from) * i / 400);
		double f0, f1, e;
		ltick_t l0 = tmr_sim_truth(clock[0], at, &f0), l1 = tmr_sim_truth(clock[1], at, &f1);

		e = fabs(((double)gtick_sub(cal_map_at(m1, l1), cal_map_at(m0, l0)) + f1 * cal_map_slope(m1, l1) -
				 f0 * cal_map_slope(m0, l0)) *
			run->period_s);
		worst = fmax(worst, e);
		*broken += e > cal_map_bound(m1, l1);
	}
	return worst;
}

static void lines(const struct method *m)
{
	double error[RUNS], broken = 0;
	struct tmr_timer *clock[2];
	struct cal_rank mine;
	struct cal_run run;
	int i;

	for (i = 0; i < RUNS; i++) {
		begin(&mine, 2);
		session(&mine, m, CAL_START);
		cal_link_sleep(l, run_s);
		need(cal_link_barrier(l, &err) == 0);
		session(&mine, m, CAL_END);
		if (gather(&mine, m, &run)) {
			need(cal_solve(&run, -1, &err) == 0);
			open_clocks(&run, clock);
			error[i] = 1e9 * line_error(&run, clock, &broken);
			tmr_close(clock[0]);
			tmr_close(clock[1]);
			cal_run_free(&run);
		}
	}
	if (l->rank == 0) {
		print(m, "linear", "true_error", error, RUNS, "ns");
		print(m, "linear", "outside_bound", &broken, 1, "points");
	}
}

int main(int argc, char **argv)
{
	size_t i;

	l = cal_link_start(&argc, &argv, &err);
	if (!l || l->size != 2) {
		fprintf(stderr, "bench_calib: run it with two processes, mpirun -np 2\n");
		return 2;
	}
	l->timer = tmr_open(clocks, l->rank, &err);
	need(l->timer != NULL);
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		bursts(&methods[i]);
		lines(&methods[i]);
	}
	tmr_close(l->timer);
	cal_link_close(l);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Filter, fit and whole calibrations over simulated clocks and links, where the truth is known: the
 * error is compared with a limit, and the printed bound must cover it everywhere. */
#include "config.h"
#include "base/stats.h"
#include "calib/file/clk.h"
#include "calib/map/fit.h"
#include "calib/compare/link_sim.h"
#include "calib/solve/solve.h"
#include "calib/session/sync.h"
#include "timers/sim.h"
#include "tests/lib/check.h"

#ifdef HAVE_GSL
#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_interp.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#endif

static void the_slowest_tenth_is_dropped(void)
{
	struct cal_sample s[100];
	int i, kept = 0;

	for (i = 0; i < 100; i++) {
		s[i] = (struct cal_sample){ ltick(0), ltick(0), ltick(0), ltick((i * 37) % 100), 0 };
	}
	CHECK_INT(cal_filter(s, 100, 0.1, 1), 90);
	for (i = 0; i < 100; i++) {
		CHECK_INT(s[i].kept, cal_rtt(&s[i], 1) < 90);
		kept += s[i].kept;
	}
	CHECK_INT(kept, 90);
	for (i = 0; i < 100; i++) {
		s[i].recv = ltick(5);
	}
	CHECK_INT(cal_filter(s, 100, 0.1, 1), 90); /* all equal: the number still holds */
	CHECK_INT(cal_filter(s, 9, 0.1, 1), 9);
	CHECK_INT(cal_filter(s, 1, 0.1, 1), 1);
	CHECK_INT(cal_filter(s, 0, 0.1, 1), 0);
}

/* Two sessions of samples with a known line between them and noise in the round trips. */
static void make_sessions(struct cal_session *k, double slope, double offset, int64_t l0, int64_t m0)
{
	int i, j;

	memset(k, 0, 2 * sizeof(*k));
	for (j = 0; j < 2; j++) {
		k[j].kind = j ? CAL_END : CAL_START;
		k[j].used = 1;
		for (i = 0; i < 100; i++) {
			int64_t send = (int64_t)(j * 2.25e10) + i * 1000;
			double rtt = 500 + 100 * check_uniform();
			struct cal_sample s;

			s.send = ltick(l0 + send);
			s.master_in = s.master_out = ltick(
				m0 + llrint(offset + slope * ((double)send + rtt * (0.45 + 0.1 * check_uniform()))));
			s.recv = ltick(l0 + send + (int64_t)rtt);
			s.kept = 1;
			CHECK(cal_session_add(&k[j], &s) == 0, "memory");
		}
		cal_filter(k[j].sample, k[j].n, 0.1, 1);
	}
}

static void the_line_is_found(void)
{
	int round;

	for (round = 0; round < 200; round++) {
		double slope = 1 + 1e-4 * (check_uniform() - 0.5), offset = 1e6 * check_uniform();
		int64_t l0 = (int64_t)(check_random() >> 4), m0 = (int64_t)(check_random() >> 4);
		struct cal_session k[2];
		struct cal_line line;
		struct tkm_err err;
		double at_mid;

		make_sessions(k, slope, offset, l0, m0);
		CHECK(cal_fit_line(k, 2, 1, &line, &err) == 0, "%s", err.text);
		CHECK_NEAR(line.slope, slope, 6 * line.slope_se);
		CHECK(line.slope_se < 1e-9, "standard error %g", line.slope_se);
		/* at the middle of the run, in ticks, where the truth is offset + slope x */
		at_mid = (double)ltick_sub(line.master0, ltick(m0)) + line.offset +
			line.slope * (1.125e10 - (double)ltick_sub(line.local0, ltick(l0)));
		CHECK_NEAR(at_mid, offset + slope * 1.125e10, 4);
		cal_session_free(&k[0]);
		cal_session_free(&k[1]);
	}
}

static void the_line_agrees_with_gsl(void)
{
#ifdef HAVE_GSL
	enum { N = 200 };
	double x[N], y[N], w[N], c0, c1, v00, v01, v11, chi;
	struct tkm_line line;
	int round, i;

	for (round = 0; round < 50; round++) {
		gsl_matrix *X = gsl_matrix_alloc(N, 2);
		gsl_vector *Y = gsl_vector_alloc(N), *c = gsl_vector_alloc(2);
		gsl_matrix *cov = gsl_matrix_alloc(2, 2);
		gsl_multifit_robust_workspace *ws = gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, N, 2);

		for (i = 0; i < N; i++) {
			x[i] = i + check_uniform();
			y[i] = 3 - 0.25 * x[i] + check_uniform();
			w[i] = check_uniform();
		}
		gsl_fit_linear(x, 1, y, 1, N, &c0, &c1, &v00, &v01, &v11, &chi);
		CHECK(tkm_line_fit(x, y, NULL, N, &line) == 0, "fit");
		CHECK_NEAR(line.slope, c1, 1e-13);
		CHECK_NEAR(tkm_line_at(&line, 0), c0, 1e-11);
		CHECK_NEAR(line.slope_se, sqrt(v11), 1e-12);
		gsl_fit_wlinear(x, 1, w, 1, y, 1, N, &c0, &c1, &v00, &v01, &v11, &chi);
		CHECK(tkm_line_fit(x, y, w, N, &line) == 0, "fit");
		CHECK_NEAR(line.slope, c1, 1e-12);

		for (i = 0; i < N; i++) {
			y[i] += i % 9 == 0 ? 500 : 0;
			gsl_matrix_set(X, (size_t)i, 0, 1);
			gsl_matrix_set(X, (size_t)i, 1, x[i]);
			gsl_vector_set(Y, (size_t)i, y[i]);
		}
		gsl_multifit_robust(X, Y, c, cov, ws);
		CHECK(tkm_line_robust(x, y, N, NULL, &line) == 0, "robust fit");
		CHECK_NEAR(line.slope, gsl_vector_get(c, 1), 2e-4);
		CHECK_NEAR(line.slope, -0.25, 2e-3);
		gsl_multifit_robust_free(ws);
		gsl_matrix_free(cov);
		gsl_vector_free(c);
		gsl_vector_free(Y);
		gsl_matrix_free(X);
	}
#else
	printf("# without GSL: no oracle\n");
#endif
}

/* Random clock-like points; the slope of GSL's spline is compared too, where kinds of spline differ most. */
static void steffens_spline_is_gsls(void)
{
#ifdef HAVE_GSL
	enum { N = 9 };
	int round, i;

	for (round = 0; round < 50; round++) {
		struct cal_map m = { 0 };
		ltick_t local[N] = { { 0 } };
		gtick_t global[N] = { { 0 } };
		double x[N] = { 0 }, y[N] = { 0 };
		gsl_interp *g = gsl_interp_alloc(gsl_interp_steffen, N);
		/* every other round with secants that differ enough for the limits to act */
		double spread = round & 1 ? 20 : 0.001;

		for (i = 1; i < N; i++) {
			local[i] = ltick_add(local[i - 1], 300000 + (int64_t)(700000 * check_uniform()));
			global[i] = gtick_add(global[i - 1],
				(int64_t)((double)ltick_sub(local[i], local[i - 1]) * (4 + spread * check_uniform())));
			x[i] = (double)local[i].v;
			y[i] = (double)global[i].v;
		}
		gsl_interp_init(g, x, y, N);
		CHECK(cal_map_spline(&m, CAL_SPLINE_STEFFEN, local, global, N, NULL) == 0, "spline");
		for (i = 0; i < 300; i++) {
			/* at the ends GSL takes the secant, Steffen the parabola, as we do */
			double at = floor(x[1] + (x[N - 2] - x[1]) * check_uniform());

			CHECK_NEAR(
				(double)cal_map_at(&m, ltick((int64_t)at)).v, gsl_interp_eval(g, x, y, at, NULL), 1.01);
			CHECK_NEAR(
				cal_map_slope(&m, ltick((int64_t)at)), gsl_interp_eval_deriv(g, x, y, at, NULL), 1e-9);
		}
		gsl_interp_free(g);
		cal_map_free(&m);
	}
#else
	printf("# without GSL: no oracle\n");
#endif
}

#ifdef HAVE_GSL
/* One row of the system below: the value or a derivative of the cubic of interval i at its left or right end. */
static void put_row(gsl_matrix *a, size_t row, size_t i, double h, int derivative, double sign)
{
	int k;

	for (k = derivative; k < 4; k++) {
		double f = 1;
		int d;

		for (d = 0; d < derivative; d++) {
			f *= k - d;
		}
		gsl_matrix_set(a, row, 4 * i + (size_t)k,
			gsl_matrix_get(a, row, 4 * i + (size_t)k) + sign * f * pow(h, k - derivative));
	}
}
#endif

#ifdef HAVE_GSL
enum { KNOTS = 7, PIECES = KNOTS - 1 };

/* GSL has no not-a-knot spline; its dense solver has one out of the conditions as the books state them: values at
 * both ends of each interval, two derivatives continuous inside, the third at the first and the last inner point. */
static void solve_dense(const double *h, const gtick_t *global, gsl_vector *x)
{
	gsl_matrix *a = gsl_matrix_calloc(4 * PIECES, 4 * PIECES);
	gsl_vector *b = gsl_vector_calloc(4 * PIECES);
	gsl_permutation *p = gsl_permutation_alloc(4 * PIECES);
	size_t row = 0, k;
	int sign, i;

	for (k = 0; k < PIECES; k++) {
		gsl_vector_set(b, row, (double)global[k].v);
		put_row(a, row++, k, 0, 0, 1);
		gsl_vector_set(b, row, (double)global[k + 1].v);
		put_row(a, row++, k, h[k], 0, 1);
	}
	for (k = 0; k + 1 < PIECES; k++) {
		for (i = 1; i <= 2; i++) {
			put_row(a, row, k, h[k], i, 1);
			put_row(a, row++, k + 1, 0, i, -1);
		}
	}
	put_row(a, row, 0, h[0], 3, 1);
	put_row(a, row++, 1, 0, 3, -1);
	put_row(a, row, PIECES - 2, h[PIECES - 2], 3, 1);
	put_row(a, row++, PIECES - 1, 0, 3, -1);
	CHECK_INT(row, 4 * PIECES);
	gsl_linalg_LU_decomp(a, p, &sign);
	gsl_linalg_LU_solve(a, p, b, x);
	gsl_permutation_free(p);
	gsl_vector_free(b);
	gsl_matrix_free(a);
}
#endif

static void the_not_a_knot_cubic_is_what_a_dense_solver_finds(void)
{
#ifdef HAVE_GSL
	int round, i;

	for (round = 0; round < 30; round++) {
		gsl_vector *x = gsl_vector_alloc(4 * PIECES);
		struct cal_map m = { 0 };
		ltick_t local[KNOTS] = { { 0 } };
		gtick_t global[KNOTS] = { { 0 } };
		double h[PIECES];

		for (i = 1; i < KNOTS; i++) {
			int64_t step = 300000 + (int64_t)(700000 * check_uniform());

			local[i] = ltick_add(local[i - 1], step);
			global[i] = gtick_add(global[i - 1], (int64_t)((double)step * (4 + check_uniform())));
			h[i - 1] = (double)step / 1e6;
		}
		solve_dense(h, global, x);
		CHECK(cal_map_spline(&m, CAL_SPLINE_CUBIC, local, global, KNOTS, NULL) == 0, "spline");
		for (i = 0; i < 300; i++) {
			size_t k = check_random() % PIECES, c;
			double d = h[k] * check_uniform(), want = 0;
			int64_t ticks = llrint(d * 1e6);

			d = (double)ticks / 1e6;
			for (c = 4; c-- > 0;) {
				want = want * d + gsl_vector_get(x, 4 * k + c);
			}
			CHECK_NEAR((double)cal_map_at(&m, ltick_add(local[k], ticks)).v, want, 1.01);
		}
		cal_map_free(&m);
		gsl_vector_free(x);
	}
#else
	printf("# without GSL: no oracle\n");
#endif
}

static double between(double low, double high)
{
	return low + (high - low) * check_uniform();
}

/* ---- scenarios ---- */

struct scenario {
	const char *name;
	int ranks;
	const char *clocks, *network;
	double seconds, every;      /* length of the run, time between middle sessions (0: none) */
	int skip;                   /* TIMER-SKIP */
	double limit_s;             /* largest true error allowed inside the run; 0: only the bound counts */
	double widest_s;            /* the bound at the end sessions must not be wider; 0: no matter */
	enum cal_interpolation how; /* through more than two sessions */
	enum cal_sync_method method;
};

static const char quiet[] = "delay=100ns,jitter=20ns,read=14ns";

/* clang-format off */
static const struct scenario scenarios[] = {
	{ "offset only", 3, "offset={rank}ms,tick=7.3ns", "delay=100ns,jitter=20ns,read=14ns,seed=1", 10, 0, -1, 15e-9, 180e-9, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "50 ppm, start and end", 3, "offset={rank}s,drift={rank}5ppm,tick=7.3ns", "delay=100ns,jitter=20ns,seed=2", 10, 0, -1,
		25e-9, 180e-9, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "wobble, a line", 2, "drift={rank}50ppm,wobble={rank}ppm/60s,tick=1ns", "delay=100ns,jitter=20ns,seed=3", 60, 0, -1, 0, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "wobble, spline each 10 s", 2, "drift={rank}50ppm,wobble={rank}ppm/60s,tick=1ns", "delay=100ns,jitter=20ns,seed=4", 60,
		10, 0, 700e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "wobble, spline each 5 s", 2, "drift={rank}50ppm,wobble={rank}ppm/60s,tick=1ns", "delay=100ns,jitter=20ns,seed=5", 60, 5,
		0, 150e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "heavy jitter", 3, "drift={rank}0ppm,tick=1ns", "delay=1us,jitter=5us,dist=exponential,seed=6", 10, 0, -1, 3e-6, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "uniform jitter", 2, "drift=-30ppm,tick=10ns", "delay=500ns,jitter=200ns,dist=uniform,seed=7", 10, 0, -1, 100e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "normal jitter", 2, "drift=3ppm,tick=10ns", "delay=500ns,jitter=200ns,dist=normal,seed=8", 10, 0, -1, 100e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "asymmetry", 2, "tick=1ns", "delay=1us,jitter=50ns,asym=800ns,seed=9", 10, 0, -1, 450e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "large asymmetry", 2, "tick=1ns,drift=20ppm", "delay=1us,jitter=50ns,asym=50us,seed=10", 10, 0, -1, 26e-6, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "loss and preemption", 3, "drift={rank}5ppm,tick=10ns", "delay=1us,jitter=100ns,outlier=8ms,outliers=0.02,loss=0.05,seed=11",
		10, 0, -1, 1e-6, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "noise", 2, "drift=12ppm,tick=1ns,noise=5ns,seed={rank}", "delay=100ns,jitter=20ns,seed=12", 10, 0, -1, 25e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "coarse clock", 2, "drift={rank}2ppm,tick=1us", "delay=2us,jitter=300ns,seed=13", 10, 0, -1, 700e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "two grids", 4, "drift={rank}ppm,tick={rank}3ns", "delay=300ns,jitter=50ns,seed=14", 5, 0, -1, 40e-9, 0, CAL_CONSTRAINED, CAL_SYNC_ITC },
	{ "wobble, cubic each 10 s", 2, "drift={rank}50ppm,wobble={rank}ppm/60s,tick=1ns", "delay=100ns,jitter=20ns,seed=4", 60,
		10, 0, 400e-9, 0, CAL_CUBIC, CAL_SYNC_ITC },
	{ "wobble, cubic each 5 s", 2, "drift={rank}50ppm,wobble={rank}ppm/60s,tick=1ns", "delay=100ns,jitter=20ns,seed=5", 60, 5,
		0, 40e-9, 0, CAL_CUBIC, CAL_SYNC_ITC },
	{ "wobble, steffen each 5 s", 2, "drift={rank}50ppm,wobble={rank}ppm/60s,tick=1ns", "delay=100ns,jitter=20ns,seed=5", 60,
		5, 0, 300e-9, 0, CAL_STEFFEN, CAL_SYNC_ITC },
};
/* clang-format on */

/* A whole run over the simulation. */
static int calibrate(struct cal_link *l, const struct scenario *sc, struct cal_run *run, struct tkm_err *err)
{
	struct cal_sync_options opt = { .max_messages = 100, .max_duration_s = 60, .method = sc->method };
	int n = l->size, sessions = sc->every > 0 ? (int)(sc->seconds / sc->every) + 1 : 2, k, i;
	unsigned char *exchanges = malloc((size_t)n);
	struct cal_session *s = calloc((size_t)n, sizeof(*s));
	double *hz = calloc((size_t)n, sizeof(*hz));
	struct tmr_timer *clock;
	double begin = cal_link_seconds(l);
	int rc = -1;

	*run = (struct cal_run){
		.ranks = (size_t)n, .max_drift = 500e-6, .max_wander = 1e-6, .wanted = sc->how, .method = sc->method
	};
	run->rank = calloc((size_t)n, sizeof(*run->rank));
	memset(exchanges, 1, (size_t)n);
	for (i = 0; i < n; i++) {
		run->rank[i].rank = i;
		clock = cal_link_sim_clock(l, i);
		run->rank[i].nominal_hz = hz[i] = clock->hz;
		run->rank[i].effective_tick_s = 1 / clock->hz;
		run->rank[i].may_step = (clock->flags & TMR_STEPPED) != 0;
		run->rank[i].session = calloc((size_t)sessions, sizeof(*run->rank[i].session));
	}
	opt.hz = hz;
	for (k = 0; k < sessions; k++) {
		double at = begin + sc->seconds * k / (sessions - 1);

		cal_link_sleep(l, at - cal_link_seconds(l));
		if (k == 0 || k == sessions - 1) {
			struct cal_anchor *a = &run->rank[0].anchor[run->rank[0].anchors++];

			a->local = tmr_read(cal_link_sim_clock(l, 0));
			a->realtime_ns = a->monotonic_ns = cal_link_sim_time(l)->now_ps / 1000;
		}
		memset(s, 0, (size_t)n * sizeof(*s));
		if (cal_sync_session(l, 0, exchanges, &opt,
			    k == 0                      ? CAL_START
				    : k == sessions - 1 ? CAL_END
							: CAL_MIDDLE,
			    s, err) < 0) {
			goto out;
		}
		for (i = 1; i < n; i++) {
			run->rank[i].session[run->rank[i].sessions++] = s[i];
		}
	}
	rc = cal_solve(run, sc->skip, err);
out:
	free(s);
	free(hz);
	free(exchanges);
	return rc;
}

/* Global time that a rank's map gives to what its clock shows at a true time. */
static double global_at(
	const struct cal_link *l, const struct cal_run *run, int rank, int64_t true_ps, ltick_t *local, gtick_t *whole)
{
	const struct cal_map *m = &run->rank[rank].map;
	double fraction;

	*local = tmr_sim_truth(cal_link_sim_clock(l, rank), true_ps, &fraction);
	*whole = cal_map_at(m, *local);
	return fraction * cal_map_slope(m, *local);
}

/* Largest true error of a rank against the master over the run, and how often the bound was broken. */
static double worst_error(
	const struct cal_link *l, const struct cal_run *run, int rank, int64_t begin_ps, int64_t end_ps, int *broken)
{
	double worst = 0;
	int i;

	*broken = 0;
	for (i = 0; i <= 400; i++) {
		int64_t at = begin_ps + (int64_t)((double)(end_ps - begin_ps) * i / 400);
		ltick_t local0, local1;
		gtick_t g0, g1;
		double f0 = global_at(l, run, 0, at, &local0, &g0), f1 = global_at(l, run, rank, at, &local1, &g1);
		double error = fabs((double)gtick_sub(g1, g0) + f1 - f0) * run->period_s;

		worst = fmax(worst, error);
		*broken += error > cal_map_bound(&run->rank[rank].map, local1);
	}
	return worst;
}

static void scenarios_stay_inside_limit_and_bound(void)
{
	size_t i;

	/* each by both methods */
	for (i = 0; i < 2 * (sizeof(scenarios) / sizeof(scenarios[0])); i++) {
		struct scenario one = scenarios[i / 2];
		const struct scenario *sc = &one;
		struct tkm_err err = { 0 };
		struct cal_link *l = cal_link_sim(sc->ranks, sc->clocks, sc->network, &err);
		struct cal_run run;
		int64_t begin;
		int r, broken;

		one.method = i % 2 ? CAL_SYNC_PAIRS : CAL_SYNC_ITC;
		CHECK(l != NULL, "%s: %s", sc->name, err.text);
		if (!l) {
			continue;
		}
		begin = cal_link_sim_time(l)->now_ps;
		CHECK(calibrate(l, sc, &run, &err) == 0, "%s: %s", sc->name, err.text);
		for (r = 1; r < sc->ranks; r++) {
			const struct cal_map *m = &run.rank[r].map;
			double worst = worst_error(l, &run, r, begin, cal_link_sim_time(l)->now_ps, &broken);

			CHECK(m->steps == 0, "%s: rank %d: %zu steps that there were not", sc->name, r, m->steps);
			CHECK(broken == 0, "%s: rank %d left its bound at %d of 401 points, error %g s", sc->name, r,
				broken, worst);
			CHECK(sc->limit_s == 0 || worst <= sc->limit_s, "%s: rank %d is %g s off, limit %g", sc->name,
				r, worst, sc->limit_s);
			CHECK(sc->widest_s == 0 || cal_map_bound(m, m->node[0].local) <= sc->widest_s,
				"%s: rank %d: a bound of %g s says nothing", sc->name, r,
				cal_map_bound(m, m->node[0].local));
			printf("# %-5s %-26s rank %d: true error %.1f ns, bound %.1f ns at the sessions\n",
				i % 2 ? "pairs" : "itc", sc->name, r, worst * 1e9,
				cal_map_bound(m, m->node[0].local) * 1e9);
		}
		CHECK_NEAR((double)run.end.v * run.period_s, sc->seconds, 1e-2 + sc->seconds * 1e-4);
		cal_run_free(&run);
		cal_link_close(l);
	}
}

/* Three sessions on each tick of a coarse clock: it neither stood nor was set. One that shows the same at the next session because
 * it was set back by as much was, and so was one that went back by more. */
static void sessions_on_one_tick_are_no_step(void)
{
	static const struct {
		const char *clocks;
		double seconds, every;
		size_t steps, nodes;
	} runs[] = { { "drift={rank}ppm,tick=100ms", 0.86, 0.03, 0, 8 },
		{ "step=-{rank}00ms@250ms,tick=10ms", 0.9, 0.1, 1, 10 },
		{ "step=-{rank}s@450ms,tick=100ms", 0.86, 0.03, 1, 8 } };
	struct scenario sc = { "one tick", 2, NULL, quiet, 0, 0, -1, 0, 0, CAL_CUBIC, CAL_SYNC_PAIRS };
	size_t i;
	int broken;

	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct cal_run run;
		struct tkm_err err;
		struct cal_link *l = cal_link_sim(2, runs[i].clocks, sc.network, &err);
		int64_t begin = cal_link_sim_time(l)->now_ps;

		sc.clocks = runs[i].clocks;
		sc.seconds = runs[i].seconds;
		sc.every = runs[i].every;
		CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
		CHECK_INT(run.rank[1].map.steps, runs[i].steps);
		CHECK(run.rank[1].map.nodes >= runs[i].nodes, "%zu nodes", run.rank[1].map.nodes);
		CHECK_INT(run.rank[1].map.node[0].used && run.rank[1].map.node[run.rank[1].map.nodes - 1].used, 1);
		worst_error(l, &run, 1, begin, cal_link_sim_time(l)->now_ps, &broken);
		CHECK_INT(broken, 0);
		cal_run_free(&run);
		cal_link_close(l);
	}
}

/* The map is split at a step, although it was to use start and end only: exact on both sides, and the bound
 * says what is not known in between. */
static void a_step_splits_the_map(void)
{
	struct scenario sc = { "step", 2, "step={rank}00us@4.5s,tick=1ns", quiet, 10, 1, -1, 0, 0, CAL_CONSTRAINED,
		CAL_SYNC_ITC };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(2, sc.clocks, sc.network, &err);
	const struct cal_map *m;
	struct cal_run run;
	int64_t begin = cal_link_sim_time(l)->now_ps;
	size_t i;
	int broken;

	CHECK(l && calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	m = &run.rank[1].map;
	CHECK_INT(m->parts, 2);
	CHECK_INT(m->steps, 1);
	CHECK(m->step[0].certain && fabs(m->step[0].size_s - 100e-6) <= m->step[0].within_s &&
			m->step[0].within_s < 5e-6,
		"step of %g +- %g s", m->step[0].size_s, m->step[0].within_s);
	for (i = 0; i + 1 < m->nodes && m->node[i].local.v != m->step[0].from.v; i++) {
	}
	CHECK_INT(i, 4); /* nodes at 0, 1, ... 10 s */
	for (i = 0; i < m->nodes; i++) {
		gtick_t at = cal_map_at(m, m->node[i].local);

		CHECK(gtick_sub(at, m->node[i].low) >= 0 && gtick_sub(at, m->node[i].high) <= 0, "node %zu is outside",
			i);
	}
	worst_error(l, &run, 1, begin, cal_link_sim_time(l)->now_ps, &broken);
	CHECK_INT(broken, 0);
	cal_run_free(&run);
	cal_link_close(l);
}

/* A clock that swings as fast as is believed did not step. */
static void wobble_is_no_step(void)
{
	int round, found = 0;

	for (round = 0; round < 60; round++) {
		char network[100];
		struct scenario sc = { "wobble", 2,
			"drift={rank}50ppm,wobble={rank}ppm/60s,tick=7.{rank}ns,noise=2ns,seed={rank}", network, 0,
			between(1, 10), 0, 0, 0, CAL_CUBIC, CAL_SYNC_PAIRS };
		struct cal_link *l;
		struct tkm_err err;
		struct cal_run run;

		sc.seconds = floor(between(4, 15)) * sc.every;
		snprintf(network, sizeof(network), "delay=100ns,jitter=20ns,outlier=8ms,outliers=0.001,seed=%d", round);
		l = cal_link_sim(2, sc.clocks, network, &err);
		cal_link_sleep(l, between(0, 60));
		CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
		found += run.rank[1].map.steps > 0;
		CHECK(run.rank[1].map.max_wander <= 1.05e-6, "a wander of %g", run.rank[1].map.max_wander);
		cal_run_free(&run);
		cal_link_close(l);
	}
	CHECK_INT(found, 0);
}

static void random_runs_are_always_inside_their_bound(void)
{
	int round, broken, total = 0;

	for (round = 0; round < 300 * check_times; round++) {
		char clocks[160], network[160];
		struct scenario sc = { "random", 2, clocks, network, 1 + 20 * check_uniform(), 0, -1, 0, 0,
			CAL_CONSTRAINED, CAL_SYNC_ITC };
		struct cal_link *l;
		struct tkm_err err;
		struct cal_run run;
		int64_t begin;

		snprintf(clocks, sizeof(clocks), "offset=%.3fms,drift={rank}%.3fppm,wobble={rank}ppm/%.1fs,tick=%.2fns",
			1e3 * check_uniform(), 10 * check_uniform(), 5 + 50 * check_uniform(),
			0.5 + 20 * check_uniform());
		snprintf(network, sizeof(network),
			"delay=%.0fns,jitter=%.0fns,asym=%.0fns,outlier=1ms,outliers=%.3f,seed=%d",
			50 + 2000 * check_uniform(), 500 * check_uniform(), 3000 * check_uniform(),
			0.05 * check_uniform(), round);
		l = cal_link_sim(2, clocks, network, &err);
		CHECK(l != NULL, "%s", err.text);
		sc.method = round % 2 ? CAL_SYNC_PAIRS : CAL_SYNC_ITC;
		begin = cal_link_sim_time(l)->now_ps;
		CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
		worst_error(l, &run, 1, begin, cal_link_sim_time(l)->now_ps, &broken);
		CHECK(broken == 0, "round %d: %s over %s left the bound", round, clocks, network);
		total += broken;
		cal_run_free(&run);
		cal_link_close(l);
	}
	CHECK_INT(total, 0);
}

/* Most messages are held up for milliseconds: sessions last long, the regression's slope is off by hundreds of
 * ppm, and what is called certain must not believe it. */
static void bad_conditions_widen_the_bound_and_never_break_it(void)
{
	int round, broken;
	double widest = 0;

	for (round = 0; round < 100 * check_times; round++) {
		char clocks[160], network[160];
		struct scenario sc = { "bad conditions", 2, clocks, network, 1 + 2 * check_uniform(), 0, -1, 0, 0,
			CAL_CONSTRAINED, round % 2 ? CAL_SYNC_PAIRS : CAL_SYNC_ITC };
		struct cal_link *l;
		struct tkm_err err;
		struct cal_run run;
		int64_t begin;

		snprintf(
			clocks, sizeof(clocks), "offset={rank}ms,drift={rank}%.3fppm,tick=7.3ns", 10 * check_uniform());
		snprintf(network, sizeof(network), "delay=200ns,jitter=%.1fms,outlier=%.1fms,outliers=%.2f,seed=%d",
			3 * check_uniform(), 1 + 8 * check_uniform(), 0.4 + 0.5 * check_uniform(), round);
		l = cal_link_sim(2, clocks, network, &err);
		CHECK(l != NULL, "%s", err.text);
		begin = cal_link_sim_time(l)->now_ps;
		CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
		worst_error(l, &run, 1, begin, cal_link_sim_time(l)->now_ps, &broken);
		CHECK(broken == 0, "round %d: %s over %s left the bound", round, clocks, network);
		widest = fmax(widest, cal_map_bound(&run.rank[1].map, run.rank[1].map.node[0].local));
		cal_run_free(&run);
		cal_link_close(l);
	}
	CHECK(widest > 1e-5, "conditions were not bad: no bound above %g s", widest);
}

static void sessions_end_by_number_and_by_time(void)
{
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(3, "tick=1ns", "delay=1ms,jitter=0", &err);
	struct cal_sync_options opt = { .max_messages = 100, .max_duration_s = 0.05 };
	unsigned char ex[3] = { 1, 1, 0 };
	struct cal_session s[3] = { { 0 } };

	CHECK(cal_sync_session(l, 0, ex, &opt, CAL_START, s, &err) == 0, "%s", err.text);
	CHECK(s[1].n >= 1 && s[1].n < 20, "%zu samples in 50 ms of 3 ms each", s[1].n);
	CHECK_INT(s[2].n, 0); /* synchronised by other means */
	cal_session_free(&s[1]);
	opt = (struct cal_sync_options){ .max_messages = 7, .max_duration_s = 60 };
	CHECK(cal_sync_session(l, 0, ex, &opt, CAL_START, s, &err) == 0, "%s", err.text);
	CHECK_INT(s[1].n, 7);
	cal_session_free(&s[1]);
	opt.max_duration_s = 0; /* the guide: disables the algorithm */
	CHECK(cal_sync_session(l, 0, ex, &opt, CAL_START, s, &err) == 0 && s[1].n == 0, "%zu samples", s[1].n);
	cal_link_close(l);
}

/* Pair by pair: 24 exchanges, then 12 more as long as they are worth it, which on a path without jitter they are not; in the
 * middle of a job the 24 alone; never more than what was asked for, a first batch excepted. */
static void a_burst_in_a_job_is_one_batch(void)
{
	static const struct {
		long long most;
		int brief;
		size_t exchanges;
	} cases[] = { { 100, 0, 36 }, { 100, 1, 24 }, { 36, 0, 36 }, { 35, 0, 24 }, { 7, 0, 24 } };
	static const unsigned char ex[2] = { 0, 1 };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cal_sync_options opt = { .max_messages = cases[i].most,
			.max_duration_s = 60,
			.method = CAL_SYNC_PAIRS,
			.brief = cases[i].brief };
		struct cal_link *l = cal_link_sim(2, "tick=1ns", "delay=300ns", NULL);
		struct cal_session s[2] = { { 0 } };
		struct tkm_err err;

		CHECK(cal_sync_session(l, 0, ex, &opt, CAL_MIDDLE, s, &err) == 0, "%s", err.text);
		CHECK_INT(s[1].n, cases[i].exchanges);
		cal_session_free(&s[1]);
		cal_link_close(l);
	}
}

static void timer_skip_chooses_the_nodes(void)
{
	static const struct {
		int skip, used;
	} cases[] = { { -1, 2 }, { 0, 11 }, { 1, 6 }, { 5, 3 } };
	size_t i, k;

	for (i = 0; i < 4; i++) {
		struct scenario sc = { "skip", 2, "drift=5ppm,tick=1ns", quiet, 10, 1, cases[i].skip, 0, 0,
			CAL_CONSTRAINED, CAL_SYNC_ITC };
		struct tkm_err err;
		struct cal_link *l = cal_link_sim(2, sc.clocks, sc.network, &err);
		struct cal_run run;
		int used = 0;

		CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
		for (k = 0; k < run.rank[1].sessions; k++) {
			used += run.rank[1].session[k].used;
		}
		CHECK_INT(used, cases[i].used);
		CHECK_INT(run.interpolation, cases[i].skip < 0 ? CAL_LINEAR : CAL_CONSTRAINED);
		CHECK_INT(run.rank[1].map.pieces, used - 1);
		cal_run_free(&run);
		cal_link_close(l);
	}
}

static void a_clock_that_was_set_does_not_stretch_the_run(void)
{
	struct scenario sc = { "set", 2, "tick=1ns", quiet, 10, 0, -1, 0, 0, CAL_CONSTRAINED, CAL_SYNC_ITC };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(2, sc.clocks, sc.network, &err);
	struct cal_run run;

	CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	CHECK_INT(run.clock_was_set, 0);
	run.rank[0].anchor[1].realtime_ns += 3600000000000;
	CHECK(cal_solve(&run, -1, &err) == 0, "%s", err.text);
	CHECK_INT(run.clock_was_set, 1);
	CHECK_NEAR((double)run.end.v * run.period_s, 10, 1e-3);
	cal_run_free(&run);
	cal_link_close(l);
}

static void nothing_received_is_an_error_with_the_rank(void)
{
	struct scenario sc = { "deaf", 2, "tick=1ns", "delay=1us,loss=1", 1, 0, -1, 0, 0, CAL_CONSTRAINED,
		CAL_SYNC_ITC };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(2, sc.clocks, sc.network, &err);
	struct cal_run run;

	CHECK(calibrate(l, &sc, &run, &err) < 0 && strstr(err.text, "rank 1"), "%s", err.text);
	cal_run_free(&run);
	cal_link_close(l);
}

/* ---- the file ---- */

static char *as_text(const struct cal_run *run, size_t *length)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, length);

	CHECK(cal_clk_write(f, run, "test", NULL) == 0, "write");
	fclose(f);
	return text;
}

static void comes_back(const char *clocks, const char *version, int contradicted)
{
	struct scenario sc = { "file", 3, clocks, quiet, 10, 1, 0, 0, 0, CAL_CONSTRAINED, CAL_SYNC_ITC };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(3, sc.clocks, sc.network, &err);
	struct cal_run run, back;
	char *one, *two;
	size_t n, m, i;

	CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	snprintf(run.rank[1].host, sizeof(run.rank[1].host), "n \"1\" \\ \xc3\xb6\t");
	run.rank[1].measured_se_ppm = NAN;
	one = as_text(&run, &n);
	CHECK(!strncmp(one, version, strlen(version)) && !cal_clk_read(one, n, "x.clk", &back, &err), "%.20s", one);
	CHECK_STR(back.rank[1].host, run.rank[1].host);
	CHECK_INT(run.rank[2].map.max_drift > run.max_drift, contradicted);
	CHECK_NEAR(run.rank[2].map.max_drift, back.rank[2].map.max_drift, 0);
	two = as_text(&back, &m);
	CHECK(n == m && memcmp(one, two, n) == 0, "the second writing differs");
	for (i = 0; i < 1000; i++) {
		ltick_t at = ltick(1000000000 + (int64_t)(1e10 * check_uniform()));

		CHECK_INT(cal_map_at(&run.rank[2].map, at).v, cal_map_at(&back.rank[2].map, at).v);
		CHECK_NEAR(cal_map_bound(&run.rank[2].map, at), cal_map_bound(&back.rank[2].map, at), 0);
	}
	free(one);
	free(two);
	cal_run_free(&run);
	cal_run_free(&back);
	cal_link_close(l);
}

static void correction_data_comes_back_bit_for_bit(void)
{
	comes_back("drift={rank}7ppm,wobble=1ppm/10s,tick=1ns", "TICKMARK-CLK 1\n", 0);
	/* forwards, and back by more than the time between two sessions */
	comes_back("drift={rank}7ppm,step={rank}00us@2500ms,step=-{rank}s@6500ms,tick=1ns", "TICKMARK-CLK 2\n", 0);
	comes_back("drift={rank}900ppm,tick=1ns", "TICKMARK-CLK 1\n", 1);
}

static void every_cut_of_the_file_is_an_error(void)
{
	struct scenario sc = { "cut", 2, "tick=1ns,step={rank}s@700ms", quiet, 1, 0.5, -1, 0, 0, CAL_CONSTRAINED,
		CAL_SYNC_ITC };
	struct tkm_err err;
	struct cal_link *l = cal_link_sim(2, sc.clocks, sc.network, &err);
	struct cal_run run, back;
	char *text;
	size_t n, cut;

	CHECK(calibrate(l, &sc, &run, &err) == 0, "%s", err.text);
	text = as_text(&run, &n);
	for (cut = 0; cut < n; cut++) {
		char *part = malloc(cut + 1);

		memcpy(part, text, cut);
		err.text[0] = '\0';
		CHECK(cal_clk_read(part, cut, "x.clk", &back, &err) < 0, "%zu of %zu bytes were taken", cut, n);
		CHECK(strncmp(err.text, "x.clk:", 6) == 0, "%s", err.text);
		free(part);
	}
	free(text);
	cal_run_free(&run);
	cal_link_close(l);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(the_slowest_tenth_is_dropped);
	RUN(the_line_is_found);
	RUN(the_line_agrees_with_gsl);
	RUN(steffens_spline_is_gsls);
	RUN(the_not_a_knot_cubic_is_what_a_dense_solver_finds);
	RUN(scenarios_stay_inside_limit_and_bound);
	RUN(sessions_on_one_tick_are_no_step);
	RUN(a_step_splits_the_map);
	RUN(wobble_is_no_step);
	RUN(random_runs_are_always_inside_their_bound);
	RUN(bad_conditions_widen_the_bound_and_never_break_it);
	RUN(sessions_end_by_number_and_by_time);
	RUN(a_burst_in_a_job_is_one_batch);
	RUN(timer_skip_chooses_the_nodes);
	RUN(a_clock_that_was_set_does_not_stretch_the_run);
	RUN(nothing_received_is_an_error_with_the_rank);
	RUN(correction_data_comes_back_bit_for_bit);
	RUN(every_cut_of_the_file_is_an_error);
	return check_end();
}

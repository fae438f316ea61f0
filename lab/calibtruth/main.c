/* SPDX-License-Identifier: BSD-3-Clause */
/* calibtruth compares our method of measuring offsets with those of others, in turn, over the real transport with simulated
 * clocks, whose true times are known. The only output is the table, and JSON if it was requested. */
#include "config.h"
#include "lab/calibtruth/calibtruth.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "timers/sources/sim.h"

struct truth_test {
	struct cal_test t; /* first: cal_test_run_ranks() knows this alone */
	struct ct_options o;
};

static void say_round(void *ctx, int round, const char *method)
{
	const struct ct_comparison *c = ctx;

	if (!c->o->quiet && isatty(STDERR_FILENO)) {
		fprintf(stderr, "\r\033[Kround %d of %d: %s", round + 1, c->opt.rounds, method);
		fflush(stderr);
	}
}

/* What every rank says of its clock. */
struct introduction {
	char name[256];
	double hz, tick_s;
};

static int exchange_timers(struct ct_comparison *c, double tick_s, struct tkm_err *err)
{
	struct cal_link *l = c->link;
	struct introduction me = { .hz = l->timer->hz, .tick_s = tick_s }, one;
	struct cal_blobs all;
	int i, rc = 0;

	snprintf(me.name, sizeof(me.name), "%s", l->timer->name);
	if (cal_link_gather(l, &me, sizeof(me), &all, err) < 0) {
		return -1;
	}
	for (i = 0; i < all.n && rc == 0; i++) {
		memcpy(&one, all.data[i], sizeof(one));
		c->hz[i] = one.hz;
		c->tick_s[i] = one.tick_s;
		c->clock[i] = tmr_open(one.name, i, err);
		rc = c->clock[i] ? 0 : -1;
	}
	cal_blobs_free(&all);
	/* no rank goes on alone */
	if (cal_link_bcast(l, &rc, sizeof(rc), err) < 0 || rc < 0 ||
		cal_link_bcast(l, c->hz, (size_t)l->size * sizeof(*c->hz), err) < 0) {
		return -1;
	}
	return cal_link_bcast(l, c->tick_s, (size_t)l->size * sizeof(*c->tick_s), err);
}

/* All processes, whose link->timer are simulated clocks over one base: measures, and prints on rank 0, where *fit
 * becomes 1 if no error was beyond its bound. tick_s: effective tick of this process's clock; base_within_s: the
 * base is one clock to within this, 0: by its nature, NAN: not proven. */
static int compare_methods(struct truth_test *p, double tick_s, double base_within_s, int *fit, struct tkm_err *err)
{
	struct cal_link *l = p->t.link;
	const struct ct_options *o = &p->o;
	struct ct_comparison c = { .o = &p->t.o, .link = l, .base_within_s = base_within_s };
	size_t n = (size_t)l->size;
	int i, rc;

	l->patience_s = l->gathering_s = 600; /* the methods of others keep their last rank waiting for minutes */
	c.clock = calloc(n, sizeof(*c.clock));
	c.hz = calloc(n, sizeof(*c.hz));
	c.tick_s = calloc(n, sizeof(*c.tick_s));
	c.row = calloc(cal_truth_rows((int)o->rounds), sizeof(*c.row));
	c.opt = (struct cal_truth_options){ .methods = o->methods,
		.tables = o->tables,
		.rounds = (int)o->rounds,
		.apart_s = o->apart_s,
		.sessions = (int)o->sessions,
		.sync = p->t.o.sync,
		.plan = &p->t.plan,
		.max_drift = p->t.o.max_drift,
		.max_wander = p->t.o.max_wander,
		.tick_s = c.tick_s,
		.clock = c.clock,
		.progress = say_round,
		.ctx = &c };
	c.opt.sync.hz = c.hz;
	rc = c.clock && c.hz && c.tick_s && c.row ? 0
						  : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", l->size);
	if (rc == 0) {
		rc = exchange_timers(&c, tick_s, err);
	}
	if (rc == 0) {
		rc = cal_truth_measure(l, &c.opt, c.row, err);
	}
	if (rc == 0 && l->rank == 0) {
		*fit = ct_count_beyond_bound(&c) == 0;
		rc = ct_report(&c, err);
	}
	for (i = 0; c.clock && i < l->size; i++) {
		tmr_close(c.clock[i]);
	}
	free(c.clock);
	free(c.hz);
	free(c.tick_s);
	free(c.row);
	return rc;
}

/* The simulated clock of a rank: timer itself if it is one, else one of its own over it, with an offset, a
 * drift of up to 50 ppm against rank 0 and a grid. Returns 0, or -1: too long. */
static int name_clock(const char *timer, int rank, char *name, size_t size, struct tkm_err *err)
{
	int drift = rank == 0 ? 0 : (rank * 37 + 50) % 101 - 50, n;

	if (strncasecmp(timer, "sim:", 4) == 0 || strcasecmp(timer, "sim") == 0) {
		n = snprintf(name, size, "%s", timer);
		return (size_t)n < size ? 0 : tkm_fail(err, TKM_ERR_ARG, "--timer %s: the name is too long", timer);
	}
	/* no two grids alike: on a common one the counter under it would make everybody look good */
	n = snprintf(name, size, "sim:base=%s,offset=%dms,drift=%dppm,tick=%d.%02dns", timer, rank % 1000, drift,
		7 + rank / 100 % 3, rank * 37 % 100);
	return n > 0 && (size_t)n < size ? 0 : tkm_fail(err, TKM_ERR_ARG, "--timer %s: the name is too long", timer);
}

/* The truth is known where all clocks are formulas over one, so on one host only. */
static int run_on_ranks(struct truth_test *p, struct tkm_err *err)
{
	struct cal_test *t = &p->t;
	const double look_s = 0.1; /* enough for an effective tick */
	char name[256];
	struct tmr_timer *sim;
	double within, tick_s;
	int i, rc = 0, fit = 1;

	for (i = 0; i < t->link->size && rc == 0; i++) {
		if (t->place[i].leader != 0) {
			rc = tkm_fail(err, TKM_ERR_ARG,
				"ranks 0 and %d are on different hosts, whose clocks cannot be known in "
				"truth; start all on one",
				i);
		}
	}
	if (t->link->size < 2) {
		rc = tkm_fail(
			err, TKM_ERR_ARG, "the clocks of at least two ranks are compared: mpirun -np 2 calibtruth");
	}
	sim = rc == 0 && name_clock(t->o.timer, t->link->rank, name, sizeof(name), err) == 0
		? tmr_open(name, t->link->rank, err)
		: NULL;
	if (sim && sim->scope == TMR_SCOPE_CORE) {
		tkm_fail(err, TKM_ERR_ARG,
			"--timer: with cores= each processing unit has a clock of its own; leave it out");
		tmr_close(sim);
		sim = NULL;
	}
	if (cal_test_all_well(t, sim ? 0 : -1, err) < 0) {
		tmr_close(sim);
		return CAL_TEST_ERROR;
	}
	t->timer = tmr_sim_base(sim);
	rc = cal_test_measure_in_turns(t, look_s, 0, err) < 0 || cal_test_measure_matrix(t, err) < 0;
	within = t->timer->scope == TMR_SCOPE_NODE ? 0 : cal_test_prove_one_clock(t);
	/* what a reading lags behind its clock: a clock of ours is on its grid above that of its base, one of the user's may be
	 * coarse or noisy */
	tick_s = 1 / sim->hz + tmr_reading_lag(t->timer, &t->me.quality);
	t->timer = t->link->timer = sim;
	if (rc || (strcasecmp(t->o.timer, name) == 0 && cal_test_measure_in_turns(t, look_s, 0, err) < 0)) {
		return CAL_TEST_ERROR;
	}
	if (strcasecmp(t->o.timer, name) == 0) {
		tick_s = fmax(tick_s, tmr_reading_lag(sim, &t->me.quality));
	}
	memset(t->exchanges, 1, (size_t)t->link->size);
	if (cal_test_assume(t, sim, err) < 0) {
		return CAL_TEST_ERROR;
	}
	rc = cal_places_plan(t->place, t->link->size, t->exchanges, t->o.shape, &t->plan, err) < 0
		? -1
		: compare_methods(p, tick_s, within, &fit, err);
	if (cal_test_all_well(t, rc, err) < 0 || cal_link_bcast(t->link, &fit, sizeof(fit), err) < 0) {
		return CAL_TEST_ERROR;
	}
	return fit ? CAL_TEST_FIT : CAL_TEST_UNFIT;
}

static int run(struct cal_test *t, struct tkm_err *err)
{
	int root = tkm_root_open("/");

	tmr_env_read(root, &t->me.env);
	close(root);
	if (cal_test_find_places(t, err) < 0 || cal_test_settle_timer(t, err) < 0 ||
		cal_test_all_well(t, t->link->rank == 0 ? cal_test_json_possible(&t->o, err) : 0, err) < 0) {
		return CAL_TEST_ERROR;
	}
	return run_on_ranks((struct truth_test *)t, err);
}

int main(int argc, char **argv)
{
	struct truth_test p;
	int rc;

	memset(&p, 0, sizeof(p));
	rc = ct_options_parse(argc, argv, &p.t.o, &p.o);
	if (rc != 0) {
		return rc < 0 ? CAL_TEST_ERROR : CAL_TEST_FIT;
	}
	return cal_test_run_ranks(&p.t, argc, argv, run);
}

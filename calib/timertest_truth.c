/* SPDX-License-Identifier: BSD-3-Clause */
/* timertest --truth: simulated clocks on the real transport, our method and those of others in turn, and what
 * each is off in truth. Nothing is written but the table, and JSON if it was asked for. */
#include "config.h"
#include "calib/timertest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/newfile.h"
#include "base/stats.h"
#include "base/text.h"
#include "calib/truth.h"
#include "timers/sim.h"

/* What rank 0 needs for the comparison. */
struct comparison {
	const struct tt_options *o;
	struct cal_link *link;
	struct cal_truth_options opt;
	struct cal_truth_row *row;
	struct tmr_timer **clock;
	double *hz, *tick_s;
	double base_within_s; /* the clock under all is one to within this; NAN: not proven */
};

int tt_truth_methods(const char *list, unsigned *methods)
{
	const char *p = list;

	*methods = 0;
	if (strcasecmp(list, "all") == 0) {
		*methods = (1u << CAL_TRUTH_METHODS) - 1;
		return 0;
	}
	while (*p) {
		size_t n = strcspn(p, ",");
		int m = 0;

		while (m < CAL_TRUTH_METHODS && (strlen(cal_truth_name(m)) != n || strncasecmp(p, cal_truth_name(m), n))) {
			m++;
		}
		if (m == CAL_TRUTH_METHODS) {
			return -1;
		}
		*methods |= 1u << m;
		p += n + (p[n] == ',');
	}
	return *methods ? 0 : -1;
}

int tt_truth_clock(const char *timer, int rank, char *name, size_t size, struct tkm_err *err)
{
	int drift = rank == 0 ? 0 : (rank * 37 + 50) % 101 - 50, n;

	if (strncasecmp(timer, "sim:", 4) == 0 || strcasecmp(timer, "sim") == 0) {
		n = snprintf(name, size, "%s", timer);
		return (size_t)n < size ? 0 : tkm_fail(err, TKM_ERR_ARG, "--timer %s: the name is too long", timer);
	}
	/* no two grids alike: on a common one the counter under it would make everybody look good */
	n = snprintf(name, size, "sim:base=%s,offset=%dms,drift=%dppm,tick=%d.%02dns", timer, rank % 1000, drift, 7 + rank / 100 % 3,
		rank * 37 % 100);
	return n > 0 && (size_t)n < size ? 0 : tkm_fail(err, TKM_ERR_ARG, "--timer %s: the name is too long", timer);
}

/* ---- output ---- */

static double seconds_of(const struct cal_truth_row *r, int what)
{
	switch (what) {
	case 0:
		return r->rtt_s;
	case 1:
	case 2:
	case 3:
		return r->error_s[what - 1];
	case 4:
	case 5:
	case 6:
		return r->bound_s[what - 4];
	case 7:
		return r->claimed_s;
	case 8:
		return r->between_s;
	default:
		return r->duration_s;
	}
}

/* "3.2ns [0.1ns..28.0ns]" of one figure over all rounds, or "none". */
static const char *cell(const struct comparison *c, int method, int what, char *buf, size_t size)
{
	double *v = malloc((size_t)c->opt.rounds * sizeof(*v));
	char a[32], b[32], d[32];
	struct tkm_spread s;
	int i, n = 0;

	for (i = 0; v && i < c->opt.rounds; i++) {
		double x = seconds_of(&c->row[i * CAL_TRUTH_METHODS + method], what);

		if (!isnan(x)) {
			v[n++] = x;
		}
	}
	if (n == 0) {
		snprintf(buf, size, "none");
	} else {
		s = tkm_spread(v, (size_t)n);
		tkm_print_time(a, sizeof(a), s.median, 1);
	}
	if (n == 1) {
		snprintf(buf, size, "%s", a);
	} else if (n > 1) {
		snprintf(buf, size, "%s [%s..%s]", a, tkm_print_time(b, sizeof(b), s.min, 1),
			tkm_print_time(d, sizeof(d), s.max, 1));
	}
	free(v);
	return buf;
}

static void print_rows(FILE *f, const struct comparison *c, const char *title, const char *const *heads, const int *what, int n)
{
	char buf[128];
	int m, i;

	fprintf(f, "%s\n%-7s", title, "method");
	for (i = 0; i < n; i++) {
		fprintf(f, " %-30s", heads[i]);
	}
	putc('\n', f);
	for (m = 0; m < CAL_TRUTH_METHODS; m++) {
		if (!(c->opt.methods & 1u << m)) {
			continue;
		}
		fprintf(f, "%-7s", cal_truth_name(m));
		for (i = 0; i < n; i++) {
			fprintf(f, i + 1 < n ? " %-30s" : " %s", cell(c, m, what[i], buf, sizeof(buf)));
		}
		putc('\n', f);
	}
}

static long errors_beyond(const struct comparison *c)
{
	long n = 0;
	int i;

	for (i = 0; i < c->opt.rounds * CAL_TRUTH_METHODS; i++) {
		n += c->opt.methods & 1u << i % CAL_TRUTH_METHODS ? c->row[i].outside : 0;
	}
	return n;
}

static void print_costs(FILE *f, const struct comparison *c)
{
	char buf[128], name[40];
	int m, i;

	fprintf(f, "\nwhat it costs\n%-7s %-10s %s\n", "method", "messages", "duration");
	for (m = 0; m < CAL_TRUTH_METHODS; m++) {
		const struct cal_truth_row *r = &c->row[m];
		long long most = 0;

		if (!(c->opt.methods & 1u << m)) {
			continue;
		}
		for (i = 0; i < c->opt.rounds; i++) {
			most = c->row[i * CAL_TRUTH_METHODS + m].messages > most ? c->row[i * CAL_TRUTH_METHODS + m].messages : most;
		}
		snprintf(name, sizeof(name), "%lld", most);
		fprintf(f, "%-7s %-10s %d x %s\n", cal_truth_name(m), name, r->sessions,
			cell(c, m, 9, buf, sizeof(buf)));
	}
}

static void print_comparison(FILE *f, const struct comparison *c)
{
	static const char *const error_heads[] = { "round trip", "between sessions", "right after", "10 s later", "60 s later" };
	static const char *const bound_heads[] = { "its own word", "bound right after", "bound 10 s later", "bound 60 s later" };
	static const int errors[] = { 0, 8, 1, 2, 3 }, bounds[] = { 7, 4, 5, 6 };
	char apart[32], within[32];

	fprintf(f, "truth mode: %d simulated clocks over %s, %d round%s of all methods in turn\n", c->link->size,
		tmr_sim_base(c->link->timer)->name, c->opt.rounds, c->opt.rounds > 1 ? "s" : "");
	fprintf(f, "%s is ", tmr_sim_base(c->link->timer)->name);
	if (isnan(c->base_within_s)) {
		fprintf(f, "NOT proven to be one clock for all ranks, so what stands below is true only if it is\n");
	} else if (c->base_within_s > 0) {
		fprintf(f, "one clock for all ranks to within %s (core matrix), so the truth is known to that\n",
			tkm_print_time(within, sizeof(within), c->base_within_s, 1));
	} else {
		fprintf(f, "a clock of the kernel, the same for all ranks\n");
	}
	fprintf(f, "pairs: %d sessions within %s; itc: two, as long apart; the others once, as in their papers\n", c->opt.sessions,
		tkm_print_time(apart, sizeof(apart), c->opt.apart_s, 1));
	fprintf(f, "later: computed from the formulas of the clocks, nobody waits\neach figure: the largest of all ranks; median [smallest..largest] of the rounds\n\n");
	print_rows(f, c, "true error", error_heads, errors, 5);
	putc('\n', f);
	print_rows(f, c, "what it says itself (pairs: its bound; skampi, hca3, jk: ReproMPI's check), and its bound", bound_heads,
		bounds, 4);
	print_costs(f, c);
	fprintf(f, "\nerrors beyond their bound: %ld\n", errors_beyond(c));
}

#ifdef HAVE_JANSSON

#include <jansson.h>

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *three(const double *v)
{
	return json_pack("[o,o,o]", number(v[0]), number(v[1]), number(v[2]));
}

static json_t *rows_of(const struct comparison *c, int method)
{
	json_t *rounds = json_array();
	int i;

	for (i = 0; i < c->opt.rounds; i++) {
		const struct cal_truth_row *r = &c->row[i * CAL_TRUTH_METHODS + method];

		json_array_append_new(rounds, json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:i,s:I,s:i}", "round_trip_s", number(r->rtt_s),
			"between_s", number(r->between_s),
			"true_error_s", three(r->error_s), "bound_s", three(r->bound_s), "half_width_s", number(r->half_s), "claimed_s",
			number(r->claimed_s), "session_s", number(r->duration_s), "all_sessions_s", number(r->total_s), "exchange_s", number(r->exchange_s), "sessions", r->sessions, "messages",
			(json_int_t)r->messages, "outside_bound", r->outside));
	}
	return json_pack("{s:s,s:o}", "name", cal_truth_name(method), "rounds", rounds);
}

static int write_json(const char *path, const struct comparison *c, struct tkm_err *err)
{
	json_t *methods = json_array(), *j;
	struct tkm_newfile n = { .f = stdout };
	int to_file = strcmp(path, "-") != 0, m, rc;

	for (m = 0; m < CAL_TRUTH_METHODS; m++) {
		if (c->opt.methods & 1u << m) {
			json_array_append_new(methods, rows_of(c, m));
		}
	}
	j = json_pack("{s:s,s:s,s:i,s:s,s:o,s:o,s:o,s:o}", "schema", "timertest-truth/1", "program", PACKAGE_STRING, "ranks",
		c->link->size, "base", tmr_sim_base(c->link->timer)->name, "base_one_clock_within_s", number(c->base_within_s),
		"sessions_apart_s", number(c->opt.apart_s), "seconds_after", three(cal_truth_after_s), "methods", methods);
	if (!j) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the JSON result");
	}
	if (to_file && tkm_newfile_begin(&n, path, 1, err) < 0) {
		json_decref(j);
		return -1;
	}
	rc = json_dumpf(j, n.f, JSON_INDENT(1)) < 0 || putc('\n', n.f) == EOF;
	json_decref(j);
	if (to_file) {
		return tkm_newfile_commit(&n, err);
	}
	return rc || fflush(stdout) ? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write JSON to standard output") : 0;
}

#else

static int write_json(const char *path, const struct comparison *c, struct tkm_err *err)
{
	(void)path;
	(void)c;
	return tkm_fail(err, TKM_ERR_UNAVAIL, "--json: this build has no jansson (configure --with-jansson)");
}

#endif

/* ---- steps ---- */

static void say_round(void *ctx, int round, const char *method)
{
	const struct comparison *c = ctx;

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

static int introduce(struct comparison *c, double tick_s, struct tkm_err *err)
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
	/* nobody goes on alone */
	if (cal_link_bcast(l, &rc, sizeof(rc), err) < 0 || rc < 0 || cal_link_bcast(l, c->hz, (size_t)l->size * sizeof(*c->hz), err) < 0) {
		return -1;
	}
	return cal_link_bcast(l, c->tick_s, (size_t)l->size * sizeof(*c->tick_s), err);
}

static int report(const struct comparison *c, struct tkm_err *err)
{
	if (!c->o->quiet && isatty(STDERR_FILENO)) {
		fputs("\r\033[K", stderr);
	}
	if (c->o->json && write_json(c->o->json, c, err) < 0) {
		return -1;
	}
	if (!c->o->json || strcmp(c->o->json, "-")) {
		print_comparison(stdout, c);
	}
	return fflush(stdout) == 0 ? 0 : tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write to standard output");
}

int tt_truth(struct cal_link *l, const struct tt_options *o, const struct cal_plan *plan, double tick_s, double base_within_s,
	int *fit, struct tkm_err *err)
{
	struct comparison c = { .o = o, .link = l, .base_within_s = base_within_s };
	size_t n = (size_t)l->size;
	int i, rc;

	l->patience_s = l->gathering_s = 600; /* the methods of others keep their last rank waiting for minutes */
	c.clock = calloc(n, sizeof(*c.clock));
	c.hz = calloc(n, sizeof(*c.hz));
	c.tick_s = calloc(n, sizeof(*c.tick_s));
	c.row = calloc((size_t)o->truth_rounds * CAL_TRUTH_METHODS, sizeof(*c.row));
	c.opt = (struct cal_truth_options){ .methods = o->truth_methods, .rounds = (int)o->truth_rounds, .apart_s = o->truth_apart_s, .sessions = (int)o->truth_sessions,
		.sync = o->sync, .plan = plan, .max_drift = o->max_drift, .max_wander = o->max_wander, .tick_s = c.tick_s, .clock = c.clock,
		.progress = say_round, .ctx = &c };
	c.opt.sync.hz = c.hz;
	rc = c.clock && c.hz && c.tick_s && c.row ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", l->size);
	if (rc == 0) {
		rc = introduce(&c, tick_s, err);
	}
	if (rc == 0) {
		rc = cal_truth_measure(l, &c.opt, c.row, err);
	}
	if (rc == 0 && l->rank == 0) {
		*fit = errors_beyond(&c) == 0;
		rc = report(&c, err);
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

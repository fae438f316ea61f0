/* SPDX-License-Identifier: BSD-3-Clause */
/* timertest --truth: compares our method with those of others, in turn, over the real transport with simulated clocks,
 * whose true times are known. The only output is the table, and JSON if it was requested. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/newfile.h"
#include "base/text.h"
#include "calib/analysis/analysis.h"
#include "lab/compare/truth.h"
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

/* A list of names with commas between, or "all", as bits. */
static int parse_names(const char *list, const char *(*name_of)(int), int names, unsigned *bits)
{
	const char *p = list;

	*bits = 0;
	if (strcasecmp(list, "all") == 0) {
		*bits = (1u << names) - 1;
		return 0;
	}
	while (*p) {
		size_t n = strcspn(p, ",");
		int m = 0;

		while (m < names && (strlen(name_of(m)) != n || strncasecmp(p, name_of(m), n))) {
			m++;
		}
		if (m == names) {
			return -1;
		}
		*bits |= 1u << m;
		p += n + (p[n] == ',');
	}
	return *bits ? 0 : -1;
}

int tt_truth_methods(struct tt_options *o, struct tkm_err *err)
{
	const unsigned ours = 1u << CAL_TRUTH_PAIRS, published = 1u << CAL_TRUTH_PUBLISHED;

	if (parse_names(o->truth_names, cal_truth_name, CAL_TRUTH_METHODS, &o->truth_methods) < 0) {
		return tkm_fail(err, TKM_ERR_ARG,
			"--truth-methods '%s': all, or some of pairs,itc,min10,skampi,hca3,jk", o->truth_names);
	}
	if (!o->truth_tables_name) {
		o->truth_tables = o->truth_methods & ours ? (1u << CAL_TRUTH_TABLES) - 1 : published;
		return 0;
	}
	if (parse_names(o->truth_tables_name, cal_truth_table_name, CAL_TRUTH_TABLES, &o->truth_tables) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "--truth-tables '%s': all, or some of published,time,messages",
			o->truth_tables_name);
	}
	if (o->truth_tables != published && !(o->truth_methods & ours)) {
		return tkm_fail(err, TKM_ERR_ARG,
			"--truth-tables '%s': equal time and equal messages are those of pairs, which --truth-methods "
			"lacks",
			o->truth_tables_name);
	}
	o->truth_tables |= published;
	return 0;
}

int tt_truth_clock(const char *timer, int rank, char *name, size_t size, struct tkm_err *err)
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

/* ---- output ---- */

enum figure { RTT, ERROR_NOW, ERROR_10, ERROR_60, BOUND_NOW, BOUND_10, BOUND_60, CLAIMED, BETWEEN, TOTAL, FIGURES };

static double seconds_of(const struct cal_truth_row *r, enum figure what)
{
	switch (what) {
	case RTT:
		return r->rtt_s;
	case ERROR_NOW:
	case ERROR_10:
	case ERROR_60:
		return r->error_s[what - ERROR_NOW];
	case BOUND_NOW:
	case BOUND_10:
	case BOUND_60:
		return r->bound_s[what - BOUND_NOW];
	case CLAIMED:
		return r->claimed_s;
	case BETWEEN:
		return r->between_s;
	case TOTAL:
	case FIGURES:
		break;
	}
	return r->total_s;
}

/* "3.2ns [0.1ns..28.0ns]" of one figure over all rounds, or "none". */
static const char *print_cell(
	const struct comparison *c, int table, int method, enum figure what, char *buf, size_t size)
{
	double *v = malloc((size_t)c->opt.rounds * sizeof(*v));
	char a[32], b[32], d[32];
	struct cal_summary s = { .median = NAN };
	int i, n = 0;

	for (i = 0; v && i < c->opt.rounds; i++) {
		double x = seconds_of(cal_truth_row(c->row, i, table, method), what);

		if (!isnan(x)) {
			v[n++] = x;
		}
	}
	if (n == 0) {
		snprintf(buf, size, "none");
	} else {
		s = cal_summarise(v, (size_t)n);
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

static long long most_messages(const struct comparison *c, int table, int method)
{
	long long most = 0;
	int i;

	for (i = 0; i < c->opt.rounds; i++) {
		const struct cal_truth_row *r = cal_truth_row(c->row, i, table, method);

		most = r->messages > most ? r->messages : most;
	}
	return most;
}

static const char *const heads[FIGURES] = { "round trip", "right after", "10 s later", "60 s later",
	"bound right after", "bound 10 s later", "bound 60 s later", "as it states", "between sessions", "duration" };

/* With `cost` each row ends with messages and sessions. */
static void print_rows(
	FILE *f, const struct comparison *c, const char *title, int table, const enum figure *what, int n, int cost)
{
	char buf[128];
	int m, i;

	fprintf(f, "%s\n%-7s", title, "method");
	for (i = 0; i < n; i++) {
		fprintf(f, " %-30s", heads[what[i]]);
	}
	fprintf(f, "%s\n", cost ? " messages" : "");
	for (m = 0; m < CAL_TRUTH_METHODS; m++) {
		if (!(c->opt.methods & 1u << m)) {
			continue;
		}
		fprintf(f, "%-7s", cal_truth_name(m));
		for (i = 0; i < n; i++) {
			fprintf(f, i + 1 < n || cost ? " %-30s" : " %s",
				print_cell(c, table, m, what[i], buf, sizeof(buf)));
		}
		if (cost) {
			fprintf(f, " %lld in %d session%s", most_messages(c, table, m),
				cal_truth_row(c->row, 0, table, m)->sessions,
				cal_truth_row(c->row, 0, table, m)->sessions == 1 ? "" : "s");
		}
		putc('\n', f);
	}
}

static long errors_beyond(const struct comparison *c)
{
	long n = 0;
	int i, table, m;

	for (i = 0; i < c->opt.rounds; i++) {
		for (table = 0; table < CAL_TRUTH_TABLES; table++) {
			for (m = 0; m < CAL_TRUTH_METHODS; m++) {
				/* pairs is the same in all tables */
				int counts = (c->opt.tables & 1u << table) && (c->opt.methods & 1u << m) &&
					(table == 0 || m != CAL_TRUTH_PAIRS);

				n += counts ? cal_truth_row(c->row, i, table, m)->outside : 0;
			}
		}
	}
	return n;
}

static void print_comparison(FILE *f, const struct comparison *c)
{
	static const enum figure errors[] = { RTT, BETWEEN, ERROR_NOW, ERROR_10, ERROR_60, TOTAL },
				 bounds[] = { CLAIMED, BOUND_NOW, BOUND_10, BOUND_60 };
	char apart[32], within[32];

	fprintf(f, "truth mode: %d simulated clocks over %s, %d round%s of all methods in turn\n", c->link->size,
		tmr_sim_base(c->link->timer)->name, c->opt.rounds, c->opt.rounds > 1 ? "s" : "");
	fprintf(f, "%s is ", tmr_sim_base(c->link->timer)->name);
	if (isnan(c->base_within_s)) {
		fprintf(f, "NOT proven to be one clock for all ranks, so what follows is true only if it is\n");
	} else if (c->base_within_s > 0) {
		fprintf(f, "one clock for all ranks to within %s (core matrix), so the truth is known to that\n",
			tkm_print_time(within, sizeof(within), c->base_within_s, 1));
	} else {
		fprintf(f, "a clock of the kernel, the same for all ranks\n");
	}
	fprintf(f,
		"pairs: %d sessions within %s; itc and min10: two, as long apart; the others once, as in their "
		"papers\n",
		c->opt.sessions, tkm_print_time(apart, sizeof(apart), c->opt.apart_s, 1));
	fprintf(f,
		"later: computed from the formulas of the clocks, without waiting\neach figure: the largest of all "
		"ranks; "
		"median [smallest..largest] of the rounds\n\n");
	print_rows(f, c, "true error, each method as its authors publish it", CAL_TRUTH_PUBLISHED, errors, 6, 1);
	if (c->opt.tables & 1u << CAL_TRUTH_TIME) {
		putc('\n', f);
		print_rows(f, c,
			"true error, equal time: each sends as many messages as take the time of all sessions of pairs",
			CAL_TRUTH_TIME, errors, 6, 1);
	}
	if (c->opt.tables & 1u << CAL_TRUTH_MESSAGES) {
		putc('\n', f);
		print_rows(f, c, "true error, equal messages: each sends as many as pairs in all sessions",
			CAL_TRUTH_MESSAGES, errors, 6, 1);
	}
	putc('\n', f);
	print_rows(f, c, "what it says itself (pairs: its bound; skampi, hca3, jk: ReproMPI's check), and its bound",
		CAL_TRUTH_PUBLISHED, bounds, 4, 0);
	fprintf(f, "\nerrors beyond their bound: %ld\n", errors_beyond(c));
}

#ifdef HAVE_JANSSON

#include <jansson.h>

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *json_three(const double *v)
{
	return json_pack("[o,o,o]", number(v[0]), number(v[1]), number(v[2]));
}

static json_t *rows_of(const struct comparison *c, int table, int method)
{
	json_t *rounds = json_array();
	int i;

	for (i = 0; i < c->opt.rounds; i++) {
		const struct cal_truth_row *r = cal_truth_row(c->row, i, table, method);

		json_array_append_new(rounds,
			json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:i,s:I,s:i}", "round_trip_s", number(r->rtt_s),
				"between_s", number(r->between_s), "true_error_s", json_three(r->error_s), "bound_s",
				json_three(r->bound_s), "half_width_s", number(r->half_s), "claimed_s",
				number(r->claimed_s), "session_s", number(r->duration_s), "all_sessions_s",
				number(r->total_s), "exchange_s", number(r->exchange_s), "sessions", r->sessions,
				"messages", (json_int_t)r->messages, "outside_bound", r->outside));
	}
	return json_pack("{s:s,s:o}", "name", cal_truth_name(method), "rounds", rounds);
}

/* All methods of a table, or null. */
static json_t *methods_of(const struct comparison *c, int table)
{
	json_t *methods;
	int m;

	if (!(c->opt.tables & 1u << table)) {
		return json_null();
	}
	methods = json_array();
	for (m = 0; m < CAL_TRUTH_METHODS; m++) {
		if (c->opt.methods & 1u << m) {
			json_array_append_new(methods, rows_of(c, table, m));
		}
	}
	return methods;
}

static int write_json(const char *path, int force, const struct comparison *c, struct tkm_err *err)
{
	struct tkm_newfile n = { .f = stdout };
	int to_file = strcmp(path, "-") != 0, rc;
	json_t *j = json_pack("{s:s,s:s,s:i,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", "timertest-truth/1", "program",
		PACKAGE_STRING, "ranks", c->link->size, "base", tmr_sim_base(c->link->timer)->name,
		"base_one_clock_within_s", number(c->base_within_s), "sessions_apart_s", number(c->opt.apart_s),
		"seconds_after", json_three(cal_truth_after_s), "methods", methods_of(c, CAL_TRUTH_PUBLISHED),
		"equal_time", methods_of(c, CAL_TRUTH_TIME), "equal_messages", methods_of(c, CAL_TRUTH_MESSAGES));

	if (!j) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the JSON result");
	}
	if (to_file && tkm_newfile_begin(&n, path, force, err) < 0) {
		json_decref(j);
		return -1;
	}
	rc = json_dumpf(j, n.f, JSON_INDENT(1)) < 0 || putc('\n', n.f) == EOF;
	json_decref(j);
	if (to_file) {
		return tkm_newfile_commit(&n, err);
	}
	return rc || fflush(stdout) ? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write JSON to standard output")
				    : 0;
}

#else

static int write_json(const char *path, int force, const struct comparison *c, struct tkm_err *err)
{
	(void)force;
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

static int exchange_timers(struct comparison *c, double tick_s, struct tkm_err *err)
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

static int report(const struct comparison *c, struct tkm_err *err)
{
	if (!c->o->quiet && isatty(STDERR_FILENO)) {
		fputs("\r\033[K", stderr);
	}
	if (c->o->json && write_json(c->o->json, c->o->force, c, err) < 0) {
		return -1;
	}
	if (!c->o->json || strcmp(c->o->json, "-")) {
		print_comparison(stdout, c);
	}
	return fflush(stdout) == 0 ? 0 : tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write to standard output");
}

int tt_truth(struct cal_link *l, const struct tt_options *o, const struct cal_plan *plan, double tick_s,
	double base_within_s, int *fit, struct tkm_err *err)
{
	struct comparison c = { .o = o, .link = l, .base_within_s = base_within_s };
	size_t n = (size_t)l->size;
	int i, rc;

	l->patience_s = l->gathering_s = 600; /* the methods of others keep their last rank waiting for minutes */
	c.clock = calloc(n, sizeof(*c.clock));
	c.hz = calloc(n, sizeof(*c.hz));
	c.tick_s = calloc(n, sizeof(*c.tick_s));
	c.row = calloc(cal_truth_rows((int)o->truth_rounds), sizeof(*c.row));
	c.opt = (struct cal_truth_options){ .methods = o->truth_methods,
		.tables = o->truth_tables,
		.rounds = (int)o->truth_rounds,
		.apart_s = o->truth_apart_s,
		.sessions = (int)o->truth_sessions,
		.sync = o->sync,
		.plan = plan,
		.max_drift = o->max_drift,
		.max_wander = o->max_wander,
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of calibtruth, and its JSON. */
#include "config.h"
#include "lab/calibtruth/calibtruth.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/newfile.h"
#include "base/text/text.h"
#include "calib/analysis/analysis.h"
#include "timers/sources/sim.h"

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
	const struct ct_comparison *c, int table, int method, enum figure what, char *buf, size_t size)
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

static long long most_messages(const struct ct_comparison *c, int table, int method)
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
	FILE *f, const struct ct_comparison *c, const char *title, int table, const enum figure *what, int n, int cost)
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

long ct_count_beyond_bound(const struct ct_comparison *c)
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

static void print_comparison(FILE *f, const struct ct_comparison *c)
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
	fprintf(f, "\nerrors beyond their bound: %ld\n", ct_count_beyond_bound(c));
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

static json_t *rows_of(const struct ct_comparison *c, int table, int method)
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
static json_t *methods_of(const struct ct_comparison *c, int table)
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

static int write_json(const char *path, int force, const struct ct_comparison *c, struct tkm_err *err)
{
	struct tkm_newfile n = { .f = stdout };
	int to_file = strcmp(path, "-") != 0, rc;
	json_t *j = json_pack("{s:s,s:s,s:i,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", "calibtruth/1", "program",
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

static int write_json(const char *path, int force, const struct ct_comparison *c, struct tkm_err *err)
{
	(void)force;
	(void)path;
	(void)c;
	return tkm_fail(err, TKM_ERR_UNAVAIL, "--json: this build has no jansson (configure --with-jansson)");
}

#endif

int ct_report(const struct ct_comparison *c, struct tkm_err *err)
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

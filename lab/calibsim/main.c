/* SPDX-License-Identifier: BSD-3-Clause */
/* calibsim: how do accuracy and cost of the calibration grow with the size of a cluster? It runs the same code as
 * timertest over simulated clocks and a simulated network, whose true times are known. */
#include "config.h"
#include "lab/calibsim/calibsim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cli/front.h"
#include "base/newfile.h"
#include "base/cli/option.h"
#include "base/text/text.h"

static const char what[] =
	"Simulates the calibration of many clocks over a fat tree of switches, in virtual time, with the code that a "
	"real run "
	"uses, and compares what it says with the known truth: rounds, messages, virtual duration, true error and "
	"bound for "
	"each "
	"number of clock domains.";
static const char after[] =
	"An option --some-name can also be given as VT_SOME_NAME in the environment; the command line overrides it. "
	"Times are "
	"numbers "
	"with a unit, like 10s, 500ms or 1m+30s.\n\n"
	"With --output BASENAME it writes BASENAME.scale.dat, BASENAME.hops.dat and BASENAME.gnuplot. "
	"Exit status: 0 every bound held, 1 one did not or there was none, 2 the simulation could not be made.";

static const char default_network[] = "delay=900ns,jitter=60ns,hop=110ns,leaf=32,pod=16,uneven=15ns,byte=0.1ns,slow=0."
				      "01,slowness=3us,outlier=2ms,outliers=0";
static const char default_clocks[] =
	"offset={rank%991}ms,drift={rank%89}ppm,wobble=0.0{rank%5}ppm/{rank%13}7s,tick=1.{rank%7}ns";

enum { MAX_OPTIONS = 24 };

static void make_table(struct cs_options *o, struct tkm_option *t)
{
	/* clang-format off */
	const struct tkm_option all[] = {
		{ "DOMAINS", TKM_OPTION_TEXT, &o->domains, 0, 0, "LIST",
			"numbers of clock domains: N,N... or FIRST:LAST, doubling (default 16:16384)" },
		{ "TOPOLOGY", TKM_OPTION_TEXT, &o->shapes, 0, 0, "LIST", "tree, star, auto, or several (default tree,star)" },
		{ "NETWORK", TKM_OPTION_TEXT, &o->network, 0, 0, "SPEC", "delay=,jitter=,leaf=,... as in the manual; added to the default" },
		{ "CLOCKS", TKM_OPTION_TEXT, &o->clocks, 0, 0, "SPEC", "offset=,drift=,wobble=,tick=,... instead of the default" },
		{ "DRIFT-RECORDING", TKM_OPTION_TEXT, &o->recording, 0, 0, "FILE",
			"the clocks' rates also change as recorded: lines of time and offset, in seconds" },
		{ "SESSIONS", TKM_OPTION_COUNT, &o->sessions, 2, 10000, "N", "sessions of a run (default 3)" },
		{ "APART", TKM_OPTION_TIME, &o->apart_s, 1e-3, 86400, "TIME", "time from one session to the next (default 10s)" },
		{ "BRIEF", TKM_OPTION_BOOL, &o->brief, 0, 0, NULL, "all sessions but the first are short, as in the middle of a job" },
		{ "SYNC-MAX-MESSAGES", TKM_OPTION_COUNT, &o->max_messages, 1, 1e9, "N", "exchanges of each pair at most (default 100)" },
		{ "PATIENCE", TKM_OPTION_TIME, &o->patience_s, 1e-3, 3600, "TIME", "how long a rank is waited for (default 10s)" },
		{ "MAX-DRIFT", TKM_OPTION_FRACTION, &o->max_drift, 0, 0.1, "FRACTION", "no clock is farther off its nominal rate (default 500ppm)" },
		{ "MAX-WANDER", TKM_OPTION_FRACTION, &o->max_wander, 0, 0.1, "FRACTION",
			"the rate of a clock against the master's stays within this of a constant (default 1ppm)" },
		{ "COMPARE-SPLINES", TKM_OPTION_BOOL, &o->splines, 0, 0, NULL,
			"correct with all sessions, not with the first and the last, and compare with GSL's interpolations" },
		{ "SEED", TKM_OPTION_COUNT, &o->seed, 0, 1e15, "N", "of the network's randomness (default 1)" },
		{ "OUTPUT", TKM_OPTION_TEXT, &o->output, 0, 0, "DIR/BASENAME", "write data and a script that draws it" },
		{ "FORCE", TKM_OPTION_BOOL, &o->force, 0, 0, NULL, "replace the files of an earlier simulation" },
		{ "JSON", TKM_OPTION_TEXT, &o->json, 0, 0, "FILE", "also write the result as JSON, - for standard output" },
		{ "QUIET", TKM_OPTION_BOOL, &o->quiet, 0, 0, NULL, "print the verdict only" },
	};
	/* clang-format on */
	size_t n = sizeof(all) / sizeof(all[0]);

	memcpy(t, all, sizeof(all));
	t[n] = (struct tkm_option){ .name = NULL };
}

static int add_size(struct cs_options *o, long long n)
{
	if (n < 2 || n > 1000000 || o->sizes == CS_SIZES) {
		return -1;
	}
	o->size[o->sizes++] = (int)n;
	return 0;
}

/* "16,1024" or "16:16384" */
static int read_sizes(struct cs_options *o)
{
	char copy[256], *item, *save = NULL, *last;
	long long n, end;

	if (snprintf(copy, sizeof(copy), "%s", o->domains) >= (int)sizeof(copy)) {
		return -1;
	}
	for (item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		last = strchr(item, ':');
		if (last) {
			*last++ = '\0';
		}
		if (tkm_parse_int(item, 2, 1000000, &n) < 0 ||
			(end = n, last && tkm_parse_int(last, n, 1000000, &end) < 0)) {
			return -1;
		}
		for (; n <= end; n *= 2) {
			if (add_size(o, n) < 0) {
				return -1;
			}
		}
	}
	return o->sizes ? 0 : -1;
}

static int read_shapes(struct cs_options *o)
{
	char copy[64], *item, *save = NULL;
	int i;

	if (snprintf(copy, sizeof(copy), "%s", o->shapes) >= (int)sizeof(copy)) {
		return -1;
	}
	for (item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < CAL_SHAPES && strcasecmp(item, cal_shape_name((enum cal_shape)i)); i++) {
		}
		if (i == CAL_SHAPES) {
			return -1;
		}
		o->shape |= 1u << i;
	}
	return o->shape ? 0 : -1;
}

static int check(struct cs_options *o, char *network, size_t size, struct tkm_err *err)
{
	if (read_sizes(o) < 0) {
		return tkm_fail(err, TKM_ERR_ARG,
			"--domains '%s': up to %d numbers from 2 to 1000000, as 16,1024 or 16:16384", o->domains,
			CS_SIZES);
	}
	if (read_shapes(o) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "--topology '%s': tree, star and auto are known", o->shapes);
	}
	if (o->splines && o->sessions < 5) {
		return tkm_fail(err, TKM_ERR_ARG, "--compare-splines: curves need at least 5 sessions (--sessions)");
	}
	if (o->splines && !strcmp(cal_analysis_library(), "base")) {
		return tkm_fail(
			err, TKM_ERR_UNAVAIL, "--compare-splines: this build has no GSL (configure --with-gsl)");
	}
	if (o->json && !cs_have_json()) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "--json: this build has no jansson (configure --with-jansson)");
	}
	if (o->output && (!o->output[0] || o->output[strlen(o->output) - 1] == '/')) {
		return tkm_fail(err, TKM_ERR_ARG, "--output '%s': a name for the files is missing, as in DIR/BASENAME",
			o->output);
	}
	if ((size_t)snprintf(network, size, "%s,seed=%lld%s%s", default_network, o->seed, o->network[0] ? "," : "",
		    o->network) >= size) {
		return tkm_fail(err, TKM_ERR_ARG, "--network: longer than %zu characters", size);
	}
	o->network = network;
	if (o->json && !strcmp(o->json, "-")) {
		o->quiet = 1;
	}
	return 0;
}

int cs_options_parse(int argc, char **argv, struct cs_options *o)
{
	static char network[1024];
	struct tkm_option table[MAX_OPTIONS];
	struct tkm_front front = { .program = "calibsim",
		.arguments = "[OPTION...]",
		.what = what,
		.after = after,
		.table = table,
		.environment = 1 };
	struct tkm_err err = { .text = "" };
	int rc;

	*o = (struct cs_options){ .domains = "16:16384",
		.shapes = "tree,star",
		.network = "",
		.clocks = default_clocks,
		.sessions = 3,
		.max_messages = 100,
		.seed = 1,
		.apart_s = 10,
		.patience_s = 10,
		.max_drift = 500e-6,
		.max_wander = 1e-6 };
	make_table(o, table);
	rc = tkm_front_arguments(&front, argc, argv, NULL, 0, &err);
	if (rc == TKM_FRONT_ANSWERED) {
		return 1;
	}
	if (rc < 0 || check(o, network, sizeof(network), &err) < 0) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, err.text);
		return -1;
	}
	return 0;
}

static const char *time_of(char *buf, double s, int digits)
{
	return isfinite(s) ? tkm_print_time(buf, 32, s, digits) : "unknown";
}

void cs_print_head(FILE *f, const struct cs_options *o, const struct cs_model *m)
{
	char remark[200];
	int i;

	fprintf(f, "network: %s\nclocks: %s%s%s\n", o->network, o->clocks, o->recording ? ", with the drift of " : "",
		o->recording ? o->recording : "");
	for (i = 0; cs_model_remark(o, m, i, remark, sizeof(remark)); i++) {
		fprintf(f, "%s\n", remark);
	}
	fprintf(f,
		"%lld %s, %g s apart%s; error and bound: over the run, from what all ranks "
		"measured; now: what each rank knows by itself right after the last session\n",
		o->sessions, o->sessions == 1 ? "session" : "sessions", o->apart_s,
		o->brief ? ", all but the first brief" : "");
	fprintf(f, "%8s %-5s %6s %9s %9s %10s %7s %5s %10s %10s %10s %10s %10s %6s\n", "domains", "shape", "rounds",
		"pairs", "messages", "duration", "growth", "hops", "error max", "bound max", "bound med", "now error",
		"now bound", "wrong");
}

void cs_print_row(FILE *f, const struct cs_row *r, const struct cs_row *before)
{
	char a[32], b[32], c[32], d[32], e[32], g[32], growth[16] = "-";
	int i;

	if (before) {
		snprintf(growth, sizeof(growth), "%.2fx",
			pow(r->session_s / before->session_s, 1 / log2((double)r->domains / before->domains)));
	}
	fprintf(f, "%8d %-5s %6d %9ld %9.0f %10s %7s %5d %10s %10s %10s %10s %10s %6ld\n", r->domains,
		cal_shape_name(r->shape), r->rounds, r->exchanges, r->messages, time_of(a, r->session_s, 2), growth,
		r->deepest, time_of(b, r->after.error_max_s, 1), time_of(c, r->after.bound_max_s, 1),
		time_of(d, r->after.bound_median_s, 1), time_of(e, r->online.error_max_s, 1),
		time_of(g, r->online.bound_max_s, 1), r->after.wrong + r->online.wrong);
	if (r->lost || r->silent) {
		fprintf(f, "         %zu %s failed (the first: %s); nothing is known of %ld rank%s\n", r->lost,
			r->lost == 1 ? "pair" : "pairs", r->silence, r->silent, r->silent == 1 ? "" : "s");
	}
	if (r->net.loops) {
		fprintf(f, "         %zu %s of pairs did not close, the first by %s\n", r->net.loops,
			r->net.loops == 1 ? "loop" : "loops", time_of(a, r->net.gap_s, 1));
	}
	if (r->ours_max_s > 0) {
		fprintf(f, "         largest error between the first session and the last: Tickmark %s",
			time_of(a, r->ours_max_s, 1));
		for (i = 0; i < CAL_SPLINES_OF_GSL; i++) {
			fprintf(f, ", %s %s", cal_spline_of_gsl_name(i), time_of(a, r->spline_max_s[i], 1));
		}
		putc('\n', f);
	}
	fflush(f);
}

static void verdict(FILE *f, const struct cs_row *row, int rows)
{
	long wrong = 0, ranks = 0;
	double growth = 0;
	int i;

	for (i = 0; i < rows; i++) {
		wrong += row[i].after.wrong + row[i].online.wrong;
		ranks += row[i].after.ranks + row[i].online.ranks;
		if (i > 0 && row[i].shape == row[i - 1].shape && row[i].shape == CAL_SHAPE_TREE &&
			row[i].domains > row[i - 1].domains) {
			growth = fmax(growth,
				pow(row[i].session_s / row[i - 1].session_s,
					1 / log2((double)row[i].domains / row[i - 1].domains)));
		}
	}
	if (ranks == 0) {
		fputs("verdict: nothing is known of any clock, so no bound was tried", f);
	} else {
		fprintf(f, "verdict: %ld of %ld bounds were wrong", wrong, ranks);
	}
	if (growth > 0) {
		fprintf(f, "; the tree took at most %.2f times as long for twice as many domains", growth);
	}
	putc('\n', f);
}

static int run(const struct cs_options *o, struct cs_row *row, int *rows, struct cs_model *model, struct tkm_err *err)
{
	static const char *const suffixes[] = { ".scale.dat", ".hops.dat", ".gnuplot", NULL };
	int shape, i, before;

	if ((o->output && tkm_newfiles_possible(o->output, suffixes, o->force, err) < 0) ||
		cs_model(o, model, err) < 0) {
		return -1;
	}
	if (!o->quiet) {
		cs_print_head(stdout, o, model);
	}
	for (shape = CAL_SHAPES - 1; shape >= 0; shape--) {
		before = 0;
		for (i = 0; i < o->sizes && (o->shape >> shape & 1); i++) {
			struct cs_row *r = &row[*rows];

			if (cs_simulate(o, o->size[i], (enum cal_shape)shape, r, err) < 0) {
				return -1;
			}
			before = before && r->shape == r[-1].shape && r->domains > r[-1].domains;
			if (!o->quiet) {
				cs_print_row(stdout, r, before ? r - 1 : NULL);
			}
			before = 1;
			(*rows)++;
		}
	}
	if ((o->output && cs_write_plots(o, row, *rows, err) < 0) ||
		(o->json && cs_write_json(o, model, row, *rows, err) < 0)) {
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct cs_options o;
	struct tkm_err err = { .text = "" };
	struct cs_model model;
	struct cs_row *row = calloc(3 * CS_SIZES, sizeof(*row));
	int rows = 0, status, i;

	status = cs_options_parse(argc, argv, &o);
	if (status != 0 || !row) {
		free(row);
		return status > 0 ? 0 : CS_ERROR;
	}
	if (run(&o, row, &rows, &model, &err) < 0) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, err.text);
		free(row);
		return CS_ERROR;
	}
	status = CS_FINE;
	for (i = 0; i < rows; i++) {
		/* without any bound there is no bound that held: a failure */
		status = row[i].after.wrong + row[i].online.wrong || row[i].after.ranks == 0 ? CS_WRONG : status;
	}
	if (!o.json || strcmp(o.json, "-")) {
		verdict(stdout, row, rows);
	}
	free(row);
	if (fflush(stdout) != 0) {
		fprintf(stderr, "%s: cannot write to standard output: %s\n", program_invocation_short_name,
			strerror(errno));
		return CS_ERROR;
	}
	return status;
}

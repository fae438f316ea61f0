/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line and the environment of timertest. */
#include "config.h"
#include "calib/timertest.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/option.h"
#include "base/text.h"

const char *argp_program_version = PACKAGE_STRING;
const char *argp_program_bug_address = "<" PACKAGE_BUGREPORT ">";

static const char doc[] =
	"Finds out what the clocks of the participating processes are worth: resolution, cost and rate of a timer, "
	"and how well the clocks agree after correction, with a bound on every offset.\v"
	"SECONDS is the length of the message test (default 30), SLEEP the pause between bursts (default 10). "
	"An option --some-name can also be given as VT_SOME_NAME in the environment; the command line wins. "
	"Times are numbers with a unit, like 10s, 500ms or 1m+30s.\n\n"
	"It writes BASENAME.stf, .clk, .dat files and BASENAME.gnuplot. "
	"Exit status: 0 the timer is fit for tracing, 1 it is not, 3 it is not known to be, 2 the test could not be made.";

enum { MAX_OPTIONS = 40, FIRST_KEY = 0x1000 };

struct parse {
	struct tt_options *o;
	const struct tkm_option *table;
	struct tkm_err err;
	int arguments;
};

/* The table points into *o, so it is made on the caller's stack. */
static size_t make_table(struct tt_options *o, struct tkm_option *t)
{
	const struct tkm_option all[] = {
		{ "TIMER", TKM_OPTION_TEXT, &o->timer, 0, 0, "NAME", "timer to test, LIST shows all (default gettimeofday)" },
		{ "OUTPUT", TKM_OPTION_TEXT, &o->output, 0, 0, "DIR/BASENAME", "where the files go (default ./timertest)" },
		{ "FORCE", TKM_OPTION_BOOL, &o->force, 0, 0, NULL, "replace the files of an earlier test" },
		{ "JSON", TKM_OPTION_TEXT, &o->json, 0, 0, "FILE", "also write the result as JSON, - for standard output" },
		{ "QUIET", TKM_OPTION_BOOL, &o->quiet, 0, 0, NULL, "print the verdict only" },
		{ "VERBOSE", TKM_OPTION_COUNT, &o->verbose, 0, 9, "N", "1 (default); 2: LIST per node, a line per pair; 3: stamps on one tick" },
		{ "PERFORMANCE-TIME", TKM_OPTION_TIME, &o->performance_s, 0.01, 3600, "TIME",
			"how long the timer's cost and rate are measured (default 5s, shared by ranks that take turns on a core)" },
		{ "BURST", TKM_OPTION_COUNT, &o->burst, 1, 1000000, "N", "ping-pongs per pair and burst (default 100)" },
		{ "SYNC", TKM_OPTION_TEXT, &o->sync_name, 0, 0, "HOW",
			"pairs (default): one pair at a time, the others asleep; itc: the guide's round robin" },
		{ "TOPOLOGY", TKM_OPTION_TEXT, &o->shape_name, 0, 0, "SHAPE",
			"who talks with whom: star, tree, or auto (default): a star for up to 8, and where pairs cannot talk at once" },
		{ "PATIENCE", TKM_OPTION_TIME, &o->patience_s, 0.01, 3600, "TIME",
			"how long a rank is waited for in a synchronisation (default 10s)" },
		{ "SYNC-MAX-MESSAGES", TKM_OPTION_COUNT, &o->sync.max_messages, 1, 1e9, "N",
			"exchanges per process in a synchronisation (default 100)" },
		{ "SYNC-MAX-DURATION", TKM_OPTION_TIME, &o->sync.max_duration_s, 1e-6, 86400, "TIME",
			"longest time of one synchronisation (default 1m)" },
		{ "SYNCED-HOST", TKM_OPTION_BOOL, &o->synced_host, 0, 0, "on|off",
			"the processes of one node share the clock (default: if it is a kernel clock, or proven by the core matrix)" },
		{ "SYNCED-CLUSTER", TKM_OPTION_BOOL, &o->synced_cluster, 0, 0, "on|off",
			"all processes share the clock (default: by the timer's nature)" },
		{ "TIMER-SKIP", TKM_OPTION_COUNT, &o->timer_skip, 0, 1e9, "N",
			"correct with every (N+1)th intermediate synchronisation (default: with none, they are checks)" },
		{ "INTERPOLATION", TKM_OPTION_TEXT, &o->interpolation_name, 0, 0, "HOW",
			"through more than two synchronisations: cubic (default), constrained, steffen or linear" },
		{ "MAX-DRIFT", TKM_OPTION_FRACTION, &o->max_drift, 0, 0.1, "FRACTION",
			"no clock is farther off its nominal rate (default: by the timer; 500ppm)" },
		{ "MAX-WANDER", TKM_OPTION_FRACTION, &o->max_wander, 0, 0.1, "FRACTION",
			"the rate of a clock against the master's stays within this of a constant (default: by the timer; 1ppm if free)" },
		{ "TARGET-BOUND", TKM_OPTION_TIME, &o->target_bound_s, 1e-9, 1, "TIME",
			"synchronise so often that the bound stays within this all the time (default: once per burst)" },
		{ "TRUTH", TKM_OPTION_BOOL, &o->truth, 0, 0, NULL,
			"compare ways of synchronisation on simulated clocks over the timer (default then: CPU)" },
		{ "TRUTH-METHODS", TKM_OPTION_TEXT, &o->truth_names, 0, 0, "LIST",
			"which: all (default), or some of pairs,itc,min10,skampi,hca3,jk" },
		{ "TRUTH-TABLES", TKM_OPTION_TEXT, &o->truth_tables_name, 0, 0, "LIST",
			"what the others are given: published (their authors' numbers), time, messages (of pairs), or all (default)" },
		{ "TRUTH-ROUNDS", TKM_OPTION_COUNT, &o->truth_rounds, 1, 10000, "N", "how often each (default 5)" },
		{ "TRUTH-APART", TKM_OPTION_TIME, &o->truth_apart_s, 1e-3, 86400, "TIME",
			"between the first and the last session of pairs, itc and min10 (default 1s)" },
		{ "TRUTH-SESSIONS", TKM_OPTION_COUNT, &o->truth_sessions, 2, 10000, "N", "of pairs in this time (default 11)" },
		{ "SERVE", TKM_OPTION_BOOL, &o->serve, 0, 0, NULL, "keep a page with UTC and its bound for tickmark_now(), until SIGTERM" },
		{ "SERVE-REFERENCE", TKM_OPTION_TEXT, &o->serve_reference, 0, 0, "NAME",
			"who knows UTC: ntp (default), or ptp:/dev/ptp0 where its driver states an error bound" },
		{ "SERVE-EVERY", TKM_OPTION_TIME, &o->serve_every_s, 0.01, 10, "TIME", "between two updates of the page (default 100ms)" },
	};
	size_t n = sizeof(all) / sizeof(all[0]);

	memcpy(t, all, sizeof(all));
	t[n] = (struct tkm_option){ .name = NULL };
	return n;
}

static error_t positional(struct parse *p, const char *text)
{
	double *value = p->arguments == 0 ? &p->o->seconds : &p->o->sleep_s;

	if (p->arguments == 2) {
		tkm_fail(&p->err, TKM_ERR_ARG, "'%s': only two arguments, SECONDS and SLEEP, are known", text);
		return EINVAL;
	}
	if (tkm_parse_time(text, value) < 0 || *value < 0 || *value > 1e7) {
		tkm_fail(&p->err, TKM_ERR_ARG, "'%s' is no number of seconds for %s", text,
			p->arguments == 0 ? "the length of the test" : "the pause between bursts");
		return EINVAL;
	}
	p->arguments++;
	return 0;
}

static error_t parse_one(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	const struct tkm_option *o;
	char name[64], origin[66];

	if (key == ARGP_KEY_ARG) {
		return positional(p, arg);
	}
	if (key == 'q') {
		p->o->quiet = 1;
		return 0;
	}
	if (key == 'o') {
		p->o->output = arg;
		return 0;
	}
	if (key >= '0' && key <= '9') {
		tkm_fail(&p->err, TKM_ERR_ARG, "-%c: numbers stand without a dash: 'timertest 30 10' tests for 30 s, with bursts 10 s apart", key);
		return EINVAL;
	}
	if (key < FIRST_KEY || key >= FIRST_KEY + MAX_OPTIONS) {
		return ARGP_ERR_UNKNOWN;
	}
	o = &p->table[key - FIRST_KEY];
	snprintf(origin, sizeof(origin), "--%s", tkm_option_long(o, name, sizeof(name)));
	return tkm_option_set(o, arg ? arg : "", origin, &p->err) < 0 ? EINVAL : 0;
}

/* --help and the like print and exit in the middle of parsing: on rank 0 only. */
static int asks_for_help(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-?") || !strcmp(argv[i], "--usage") ||
			!strcmp(argv[i], "--version") || !strcmp(argv[i], "-V")) {
			return 1;
		}
	}
	return 0;
}

static int check(struct tt_options *o, struct tkm_err *err)
{
	int i = 0;

	while (i < CAL_INTERPOLATIONS && strcasecmp(o->interpolation_name, cal_interpolation_name((enum cal_interpolation)i))) {
		i++;
	}
	if (i == CAL_INTERPOLATIONS) {
		return tkm_fail(err, TKM_ERR_ARG, "--interpolation '%s': cubic, constrained, steffen and linear are known",
			o->interpolation_name);
	}
	o->interpolation = (enum cal_interpolation)i;
	if (strcasecmp(o->sync_name, "itc") && strcasecmp(o->sync_name, "pairs")) {
		return tkm_fail(err, TKM_ERR_ARG, "--sync '%s': itc and pairs are known", o->sync_name);
	}
	o->sync.method = strcasecmp(o->sync_name, "pairs") ? CAL_SYNC_ITC : CAL_SYNC_PAIRS;
	if (!o->timer) {
		o->timer = o->truth ? "CPU" : "gettimeofday";
	}
	if (tt_truth_methods(o, err) < 0) {
		return -1;
	}
	for (i = 0; i < CAL_SHAPES && strcasecmp(o->shape_name, cal_shape_name((enum cal_shape)i)); i++) {
	}
	if (i == CAL_SHAPES) {
		return tkm_fail(err, TKM_ERR_ARG, "--topology '%s': auto, star and tree are known", o->shape_name);
	}
	o->shape = (enum cal_shape)i;
	if (o->target_bound_s > 0 && o->timer_skip < 0) {
		o->timer_skip = 0; /* all of them count */
	}
	if (!o->output[0] || o->output[strlen(o->output) - 1] == '/') {
		return tkm_fail(err, TKM_ERR_ARG, "--output '%s': a name for the files is missing, as in DIR/BASENAME", o->output);
	}
	o->performance_shared = o->performance_s <= 0;
	o->performance_s = o->performance_shared ? 5 : o->performance_s;
	if (o->json && !tt_have_json()) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "--json: this build has no jansson (configure --with-jansson)");
	}
	return 0;
}

int tt_options_parse(int argc, char **argv, struct tt_options *o)
{
	struct tkm_option table[MAX_OPTIONS];
	struct argp_option options[MAX_OPTIONS + 14];
	char names[MAX_OPTIONS][64];
	struct parse p = { .o = o, .table = table };
	struct argp argp = { options, parse_one, "[SECONDS [SLEEP]]", doc, NULL, NULL, NULL };
	int rank, size, failed;
	size_t n, i;

	*o = (struct tt_options){ .seconds = 30, .sleep_s = 10, .output = "timertest",
		.interpolation_name = "cubic", .sync_name = "pairs", .shape_name = "auto", .patience_s = 10, .synced_host = -1, .synced_cluster = -1, .verbose = 1, .burst = 100, .timer_skip = -1,
		.max_drift = NAN, .max_wander = NAN, .sync = { .max_messages = 100, .max_duration_s = 60 },
		.truth_names = "all", .truth_rounds = 5, .truth_apart_s = 1, .truth_sessions = 11, .serve_reference = "ntp", .serve_every_s = 0.1 };
	n = make_table(o, table);
	memset(options, 0, sizeof(options));
	for (i = 0; i < n; i++) {
		options[i] = (struct argp_option){ tkm_option_long(&table[i], names[i], sizeof(names[i])), FIRST_KEY + (int)i,
			table[i].arg, 0, table[i].help, 1 };
	}
	options[n] = (struct argp_option){ NULL, 'q', NULL, OPTION_HIDDEN, NULL, 0 };
	options[n + 1] = (struct argp_option){ NULL, 'o', "DIR/BASENAME", OPTION_HIDDEN, NULL, 0 };
	for (i = 0; i < 10; i++) {
		options[n + 2 + i] = (struct argp_option){ NULL, '0' + (int)i, NULL, OPTION_HIDDEN, NULL, 0 };
	}
	cal_link_hint(&rank, &size);
	if (rank != 0 && asks_for_help(argc, argv)) {
		return 1;
	}
	argp_err_exit_status = TT_ERROR;
	failed = tkm_option_environment(table, &p.err) < 0 ||
		 argp_parse(&argp, argc, argv, rank == 0 ? 0 : ARGP_SILENT, NULL, &p) != 0 || check(o, &p.err) < 0;
	if (failed && rank == 0 && p.err.text[0]) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, p.err.text);
	}
	if (o->json && !strcmp(o->json, "-")) {
		o->quiet = 1; /* standard output is JSON alone */
	}
	return failed ? -1 : 0;
}

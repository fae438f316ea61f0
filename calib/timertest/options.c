/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line and the environment of timertest. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <strings.h>

#include "base/cli/front.h"
#include "base/cli/option.h"
#include "base/text/text.h"

static const char what[] =
	"Finds out what the clocks of the participating processes are worth: resolution, cost and rate of a timer, "
	"and how well the clocks agree after correction, with a bound on every offset.";
static const char after[] =
	"DURATION is the length of the message test (default 30 s), PAUSE the time between bursts (default 10 s). "
	"An option --some-name can also be given as VT_SOME_NAME in the environment; the command line overrides it. "
	"Times are numbers with a unit, like 10s, 500ms or 1m+30s.\n\n"
	"It writes BASENAME.stf, .clk, .txt, .dat files and BASENAME.gnuplot. "
	"Exit status: 0 the timer is fit for tracing, 1 it is not, 3 it is not known to be, 2 the test could not be "
	"made.";

enum { MAX_OPTIONS = 40 };

/* The table points into *o, so it is made on the caller's stack. */
static void make_test_table(struct cal_test_options *o, struct tkm_option *t)
{
	/* clang-format off */
	const struct tkm_option all[] = {
		{ "TIMER", TKM_OPTION_TEXT, &o->timer, 0, 0, "NAME", "timer to test, LIST shows all (default: CPU where it is proven on every node, else clock_monotonic)" },
		{ "OUTPUT", TKM_OPTION_TEXT, &o->output, 0, 0, "DIR/BASENAME", "where the files go (default ./timertest)" },
		{ "FORCE", TKM_OPTION_BOOL, &o->force, 0, 0, NULL, "replace the files of an earlier test" },
		{ "JSON", TKM_OPTION_TEXT, &o->json, 0, 0, "FILE", "also write the result as JSON, - for standard output" },
		{ "STATE-DIR", TKM_OPTION_TEXT, &o->state_dir, 0, 0, "DIR",
			"where the result is kept for --check (default as in --check --help; '': nowhere)" },
		/* main() has looked for these three before anything else (check/main.h) */
		{ "CHECK", TKM_OPTION_BOOL, NULL, 0, 0, NULL,
			"judge this node and the last result in two seconds, without MPI (--check --help)" },
		{ "FINGERPRINT", TKM_OPTION_BOOL, NULL, 0, 0, NULL, "print what the clocks of this node depend on, as JSON" },
		{ "TASKPROLOG", TKM_OPTION_BOOL, NULL, 0, 0, NULL, "print settings for jobs, for Slurm's TaskProlog" },
		{ "QUIET", TKM_OPTION_BOOL, &o->quiet, 0, 0, NULL, "print the verdict only" },
		{ "VERBOSE", TKM_OPTION_COUNT, &o->verbose, 0, 9, "N", "1 (default); 2: all lines for more than 4 ranks, LIST per node; 3: stamps on one tick" },
		{ "PERFORMANCE-TIME", TKM_OPTION_TIME, &o->performance_s, 0.01, 3600, "TIME",
			"how long the timer's cost and rate are measured (default 5s, for all ranks of a node together)" },
		{ "BURST", TKM_OPTION_COUNT, &o->burst, 1, 1000000, "N", "exchanges per pair and burst (default 100)" },
		{ "SYNC", TKM_OPTION_WORD, &o->sync.method, 0, 0, "itc|pairs",
			"pairs (default): pairs of ranks, the others asleep; itc: the guide's round robin" },
		{ "TOPOLOGY", TKM_OPTION_WORD, &o->shape, 0, 0, "auto|star|tree",
			"which ranks exchange messages: star (rank 0 with each), tree (each with few), or auto (default): a star for up to 9 ranks, or if the tree is not faster" },
		{ "PATIENCE", TKM_OPTION_TIME, &o->patience_s, 0.01, 3600, "TIME",
			"how long a session waits for a rank (default 10s)" },
		{ "SYNC-MAX-MESSAGES", TKM_OPTION_COUNT, &o->sync.max_messages, 1, 1e9, "N",
			"exchanges per pair of ranks in a session (default 100)" },
		{ "SYNC-MAX-DURATION", TKM_OPTION_TIME, &o->sync.max_duration_s, 1e-6, 86400, "TIME",
			"longest time of one session (default 1m)" },
		{ "SYNCED-HOST", TKM_OPTION_BOOL, &o->synced_host, 0, 0, "on|off",
			"the processes of one node share the clock (default: if it is a kernel clock, or proven by the core matrix)" },
		{ "SYNCED-CLUSTER", TKM_OPTION_BOOL, &o->synced_cluster, 0, 0, "on|off",
			"all ranks of the run share one clock (default: those of one node at most, see --synced-host)" },
		{ "TIMER-SKIP", TKM_OPTION_COUNT, &o->timer_skip, 0, 1e9, "N",
			"use every (N+1)th session between start and end for the correction (default: none; they are checks)" },
		{ "INTERPOLATION", TKM_OPTION_WORD, &o->interpolation, 0, 0, "linear|constrained|cubic",
			"curve through more than two sessions (default: cubic)" },
		{ "MAX-DRIFT", TKM_OPTION_FRACTION, &o->max_drift, 0, 0.1, "FRACTION",
			"no clock is farther off its nominal rate (default: by the timer; 500ppm)" },
		{ "MAX-WANDER", TKM_OPTION_FRACTION, &o->max_wander, 0, 0.1, "FRACTION",
			"the rate of a clock against the master's stays within this of a constant (default: by the timer; 1ppm if free)" },
		{ "LEARN-DRIFT", TKM_OPTION_BOOL, &o->learn, 0, 0, NULL,
			"predict the rates after the run from those in it, with a margin (an estimate; default: off)" },
		{ "TARGET-BOUND", TKM_OPTION_TIME, &o->target_bound_s, 1e-9, 1, "TIME",
			"make sessions so often that the bound stays within this (default: one per burst)" },
		{ "HOSTS", TKM_OPTION_TEXT, &o->hosts, 0, 0, "HOST[,HOST...]", "without MPI: this node and those, where --rsh starts a process each" },
		{ "RSH", TKM_OPTION_TEXT, &o->rsh, 0, 0, "COMMAND", "with --hosts (default: ssh -o BatchMode=yes)" },
		{ "REMOTE-PROGRAM", TKM_OPTION_TEXT, &o->remote_program, 0, 0, "FILE",
			"with --hosts: timertest on the other nodes (default: where it is here)" },
		{ "JOIN", TKM_OPTION_TEXT, &o->join, 0, 0, "WORD",
			"without MPI: test the clocks of the processes that join by this word of vtrun --contact; - reads it" },
		{ "RANK", TKM_OPTION_COUNT, &o->rank, 0, 1048575, "N", "with --join (default: by the launcher, or order of arrival)" },
		{ "SIZE", TKM_OPTION_COUNT, &o->size, 1, 1048576, "N", "with --join: number of processes (default: by the launcher)" },
		{ "INTERFACE", TKM_OPTION_TEXT, &o->interface, 0, 0, "NAME", "with --hosts and --join: over this network (default: all)" },
		{ .name = NULL },
	};
	/* clang-format on */

	memcpy(t, all, sizeof(all));
}

static int take_arguments(struct cal_test_options *o, const char *const *text, int n, struct tkm_err *err)
{
	double *value[] = { &o->seconds, &o->sleep_s };
	int i;

	for (i = 0; i < n; i++) {
		if (i == 2) {
			return tkm_fail(
				err, TKM_ERR_ARG, "'%s': only two arguments, DURATION and PAUSE, are known", text[i]);
		}
		if (tkm_parse_time(text[i], value[i]) < 0 || *value[i] < 0 || *value[i] > 1e7) {
			return tkm_fail(err, TKM_ERR_ARG, "'%s' is no number of seconds for %s", text[i],
				i == 0 ? "the length of the test" : "the pause between bursts");
		}
	}
	return 0;
}

/* "-30": a common slip. Returns the word, or NULL. */
static const char *dashed_number(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (argv[i][0] == '-' && argv[i][1] >= '0' && argv[i][1] <= '9') {
			return argv[i];
		}
	}
	return NULL;
}

static int check_test_options(struct cal_test_options *o, struct tkm_err *err)
{
	if (!o->timer) {
		o->timer = CAL_TEST_DEFAULT_TIMER;
	}
	if (o->target_bound_s > 0 && o->timer_skip < 0) {
		o->timer_skip = 0; /* all of them count */
	}
	if (!o->output[0] || o->output[strlen(o->output) - 1] == '/') {
		return tkm_fail(err, TKM_ERR_ARG, "--output '%s': a name for the files is missing, as in DIR/BASENAME",
			o->output);
	}
	if (o->hosts && o->join) {
		return tkm_fail(err, TKM_ERR_ARG,
			"--hosts and --join: which? --hosts starts the others, --join is one of them");
	}
	if ((o->rank >= 0 || o->size > 0) && !o->join) {
		return tkm_fail(err, TKM_ERR_ARG, "--rank and --size have an effect only with --join");
	}
	if ((o->rsh || o->remote_program) && !o->hosts) {
		return tkm_fail(err, TKM_ERR_ARG, "--rsh and --remote-program have an effect only with --hosts");
	}
	if (o->interface && !o->hosts && !o->join) {
		return tkm_fail(err, TKM_ERR_ARG, "--interface has an effect only with --hosts or --join");
	}
	o->performance_shared = o->performance_s <= 0;
	o->performance_s = o->performance_shared ? 5 : o->performance_s;
	if (o->json && !cal_test_have_json()) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "--json: this build has no jansson (configure --with-jansson)");
	}
	return 0;
}

/* What timertest did once and another program does now. Returns 0, or -1 with the name of that program. */
static int check_moved(int argc, char **argv, struct tkm_err *err)
{
	static const struct {
		const char *begins, *instead;
	} moved[] = {
		{ "--truth",
			"the program calibtruth compares methods; it is built with the sources and not installed "
			"(lab/README.md)" },
		{ "--serve",
			"the program tickmark-clockd keeps the page of UTC; its options are --reference and --every" },
	};
	size_t k;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		for (k = 0; k < sizeof(moved) / sizeof(moved[0]); k++) {
			if (!strncasecmp(argv[i], moved[k].begins, strlen(moved[k].begins))) {
				return tkm_fail(err, TKM_ERR_ARG, "%s: %s", argv[i], moved[k].instead);
			}
		}
	}
	return 0;
}

static int read_test_options(
	struct cal_test_options *o, const struct tkm_front *f, int argc, char **argv, struct tkm_err *err)
{
	const char *argument[3], *dashed = dashed_number(argc, argv);
	int n;

	if (dashed) {
		return tkm_fail(err, TKM_ERR_ARG,
			"%s: numbers are given without a dash: 'timertest 30 10' tests for 30 s, with bursts 10 s "
			"apart",
			dashed);
	}
	if (check_moved(argc, argv, err) < 0) {
		return -1;
	}
	n = tkm_front_arguments(f, argc, argv, argument, 3, err);
	if (n < 0) {
		return n;
	}
	return take_arguments(o, argument, n, err) < 0 || check_test_options(o, err) < 0 ? -1 : 0;
}

int cal_test_asks_for_help(const struct tkm_front *f, int argc, char **argv)
{
	int i, asks = 0;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		asks |= tkm_front_answer(f, argv[i], NULL);
	}
	return asks;
}

void cal_test_say_wrong_usage(int rank, const struct tkm_err *err)
{
	if (rank == 0) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, err->text);
	} else {
		sleep(1);
	}
}

int cal_test_options_parse(int argc, char **argv, struct cal_test_options *o)
{
	struct tkm_option table[MAX_OPTIONS];
	static const struct tkm_letter letters[] = { { 'q', "QUIET" }, { 'o', "OUTPUT" }, { 0 } };
	struct tkm_front front = { .program = program_invocation_short_name,
		.arguments = "[OPTION...] [DURATION [PAUSE]]",
		.what = what,
		.after = after,
		.table = table,
		.letter = letters,
		.environment = 1 };
	struct tkm_err err = { .text = "" };
	int rank, size, rc;

	*o = (struct cal_test_options){ .seconds = 30,
		.sleep_s = 10,
		.output = "timertest",
		.state_dir = "default",
		.interpolation = CAL_CUBIC,
		.patience_s = 10,
		.synced_host = -1,
		.synced_cluster = -1,
		.verbose = 1,
		.burst = 100,
		.timer_skip = -1,
		.rank = -1,
		.max_drift = NAN,
		.max_wander = NAN,
		.sync = { .method = CAL_SYNC_PAIRS, .max_messages = 100, .max_duration_s = 60 } };
	make_test_table(o, table);
	cal_link_hint(&rank, &size);
	if (rank != 0 && cal_test_asks_for_help(&front, argc, argv)) {
		return 1;
	}
	rc = read_test_options(o, &front, argc, argv, &err);
	if (rc == -1) {
		cal_test_say_wrong_usage(rank, &err);
	}
	if (o->json && !strcmp(o->json, "-")) {
		o->quiet = 1; /* standard output is JSON alone */
	}
	return rc == TKM_FRONT_ANSWERED ? 1 : rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of calibtruth. */
#include "config.h"
#include "lab/calibtruth/calibtruth.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/cli/front.h"
#include "base/cli/option.h"

static const char what[] = "Compares methods of measuring clock offsets with a known truth: simulated clocks over a "
			   "real one, and real messages. "
			   "All ranks are on one host: mpirun -np 2 calibtruth.";
static const char after[] =
	"An option --some-name can also be given as VT_SOME_NAME in the environment; the command line overrides it. "
	"Times are numbers with a unit, like 10s, 500ms or 1m+30s. lab/README.md explains the methods and the "
	"table.\n\n"
	"Exit status: 0 every error was within its bound, 1 one was not, 2 the comparison could not be made.";

enum { MAX_OPTIONS = 20 };

static void make_table(struct cal_test_options *t, struct ct_options *o, struct tkm_option *table)
{
	/* clang-format off */
	const struct tkm_option all[] = {
		{ "METHODS", TKM_OPTION_TEXT, &o->method_names, 0, 0, "LIST",
			"methods: all (default), or some of pairs,itc,min10,skampi,hca3,jk" },
		{ "TABLES", TKM_OPTION_TEXT, &o->table_names, 0, 0, "LIST",
			"what the others are given: published (their authors' numbers), time, messages (of pairs), or all (default)" },
		{ "ROUNDS", TKM_OPTION_COUNT, &o->rounds, 1, 10000, "N", "how often each method is used (default 5)" },
		{ "APART", TKM_OPTION_TIME, &o->apart_s, 1e-3, 86400, "TIME",
			"time between the first and the last session of pairs, itc and min10 (default 1s)" },
		{ "SESSIONS", TKM_OPTION_COUNT, &o->sessions, 2, 10000, "N", "sessions of pairs in this time (default 11)" },
		{ "TIMER", TKM_OPTION_TEXT, &t->timer, 0, 0, "NAME", "the real clock, or sim:... for the simulated ones (default CPU)" },
		{ "TOPOLOGY", TKM_OPTION_WORD, &t->shape, 0, 0, "auto|star|tree", "which ranks exchange messages (default: auto)" },
		{ "PATIENCE", TKM_OPTION_TIME, &t->patience_s, 0.01, 3600, "TIME", "how long a rank is waited for at the start (default 10s)" },
		{ "SYNC-MAX-MESSAGES", TKM_OPTION_COUNT, &t->sync.max_messages, 1, 1e9, "N",
			"exchanges per pair of ranks in a session of pairs and itc (default 100)" },
		{ "SYNC-MAX-DURATION", TKM_OPTION_TIME, &t->sync.max_duration_s, 1e-6, 86400, "TIME",
			"longest time of one session of pairs and itc (default 1m)" },
		{ "MAX-DRIFT", TKM_OPTION_FRACTION, &t->max_drift, 0, 0.1, "FRACTION",
			"no clock is farther off its nominal rate (default: by the timer)" },
		{ "MAX-WANDER", TKM_OPTION_FRACTION, &t->max_wander, 0, 0.1, "FRACTION",
			"the rate of a clock against the master's stays within this of a constant (default: by the timer)" },
		{ "JSON", TKM_OPTION_TEXT, &t->json, 0, 0, "FILE", "also write the result as JSON, - for standard output" },
		{ "FORCE", TKM_OPTION_BOOL, &t->force, 0, 0, NULL, "replace the file of an earlier comparison" },
		{ "QUIET", TKM_OPTION_BOOL, &t->quiet, 0, 0, NULL, "do not print the progress" },
		{ .name = NULL },
	};
	/* clang-format on */

	memcpy(table, all, sizeof(all));
}

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

static int check_methods(struct ct_options *o, struct tkm_err *err)
{
	const unsigned ours = 1u << CAL_TRUTH_PAIRS, published = 1u << CAL_TRUTH_PUBLISHED;

	if (parse_names(o->method_names, cal_truth_name, CAL_TRUTH_METHODS, &o->methods) < 0) {
		return tkm_fail(err, TKM_ERR_ARG, "--methods '%s': all, or some of pairs,itc,min10,skampi,hca3,jk",
			o->method_names);
	}
	if (!o->table_names) {
		o->tables = o->methods & ours ? (1u << CAL_TRUTH_TABLES) - 1 : published;
		return 0;
	}
	if (parse_names(o->table_names, cal_truth_table_name, CAL_TRUTH_TABLES, &o->tables) < 0) {
		return tkm_fail(
			err, TKM_ERR_ARG, "--tables '%s': all, or some of published,time,messages", o->table_names);
	}
	if (o->tables != published && !(o->methods & ours)) {
		return tkm_fail(err, TKM_ERR_ARG,
			"--tables '%s': equal time and equal messages are those of pairs, which --methods "
			"lacks",
			o->table_names);
	}
	o->tables |= published;
	return 0;
}

static int check_options(struct cal_test_options *t, struct ct_options *o, struct tkm_err *err)
{
	if (check_methods(o, err) < 0) {
		return -1;
	}
	if (t->json && !cal_test_have_json()) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "--json: this build has no jansson (configure --with-jansson)");
	}
	return 0;
}

int ct_options_parse(int argc, char **argv, struct cal_test_options *common, struct ct_options *o)
{
	struct tkm_option table[MAX_OPTIONS];
	struct tkm_front front = { .program = "calibtruth",
		.arguments = "[OPTION...]",
		.what = what,
		.after = after,
		.table = table,
		.environment = 1 };
	struct tkm_err err = { .text = "" };
	int rank, size, rc;

	*common = (struct cal_test_options){ .timer = "CPU",
		.patience_s = 10,
		.synced_host = -1,
		.synced_cluster = -1,
		.verbose = 1,
		.max_drift = NAN,
		.max_wander = NAN,
		.sync = { .max_messages = 100, .max_duration_s = 60 } };
	*o = (struct ct_options){ .method_names = "all", .rounds = 5, .apart_s = 1, .sessions = 11 };
	make_table(common, o, table);
	cal_link_hint(&rank, &size);
	if (rank != 0 && cal_test_asks_for_help(&front, argc, argv)) {
		return 1;
	}
	rc = tkm_front_arguments(&front, argc, argv, NULL, 0, &err);
	if (rc == TKM_FRONT_ANSWERED) {
		return 1;
	}
	if (rc >= 0) {
		rc = check_options(common, o, &err);
	}
	if (rc < 0) {
		cal_test_say_wrong_usage(rank, &err);
	}
	if (common->json && !strcmp(common->json, "-")) {
		common->quiet = 1; /* standard output is JSON alone */
	}
	return rc < 0 ? -1 : 0;
}

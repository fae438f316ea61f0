/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the command line of vtrun. A wrong word ends vtrun before the program starts. Between --itc-args and
 * --itc-args-end, among the program's own arguments, a wrong word is reported and left out. Nothing else after the
 * program's name is read. */
#include "config.h"
#include "collector-plugin/launch/launch.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cli/front.h"
#include "base/text/text.h"
#include "collector-plugin/host/program/exec_target.h"
#include "collector-plugin/settings/check.h"

enum { OWN = 10, ANSWERED = -2 };

/* What the functions below share. */
struct parser {
	struct vtrun *r;
	struct tkm_option table[OWN + VT_SETTINGS_MAX]; /* vtrun's own options, then the collector's */
	struct tkm_front front;
	char after[2000];
};

/* What follows the options in the help. */
static void make_after(char *text, size_t size)
{
	static const char end[] =
		"Options end at --. What follows belongs to the program.\n"
		"An option --some-name is also SOME-NAME in the configuration file and VT_SOME_NAME in the "
		"environment. The environment overrides the file, and the command line overrides both. A wrong "
		"option on the command line is an error. A wrong line or variable is reported and left out, "
		"and the program runs.\n"
		"Exit status: that of PROGRAM; 127 PROGRAM was not found, 126 it cannot be run, 2 wrong usage.";
	enum vt_whose whose;
	const char *name, *between = " ";
	char option[64];
	size_t i, n = (size_t)snprintf(text, size, "Further options, explained in the manual VT(3):");

	for (i = 0; (name = vt_settings_other_name(i, &whose)); i++) {
		const struct tkm_option o = { .name = name };

		if (whose == VT_OF_COLLECTOR && n < size) {
			n += (size_t)snprintf(
				text + n, size - n, "%s--%s", between, tkm_option_long(&o, option, sizeof(option)));
			between = ", ";
		}
	}
	if (n < size) {
		snprintf(text + n, size - n, ".\n\n%s", end);
	}
}

static void make_vtrun_options(struct parser *p, struct vtrun *r)
{
	const struct tkm_option own[OWN] = {
		{ "APPTAINER", TKM_OPTION_BOOL, &r->apptainer, 0, 0, NULL,
			"print the lines that bring the sampler into an Apptainer or Singularity container" },
		{ "CHECK-MPI", TKM_OPTION_BOOL, &r->check_mpi, 0, 0, NULL,
			"check the program's MPI calls and record nothing: deadlocks, mismatches, leaks (VT(3))" },
		{ "CONFIG", TKM_OPTION_TEXT, &r->config, 0, 0, "FILE", "read options from FILE (default: $VT_CONFIG)" },
		{ "CONTACT", TKM_OPTION_NAME, &r->place, 0, 0, "[[INTERFACE][:LOW-HIGH]]",
			"print a contact word, and make one trace of the processes that join by it; on that interface, with "
			"ports of that range" },
		{ "DOCTOR", TKM_OPTION_BOOL, &r->doctor, 0, 0, NULL,
			"print what works on this machine, what does not, why, and what to do" },
		{ "ESTIMATE", TKM_OPTION_NAME, &r->duration, 0, 0, "[TIME]",
			"print how much a run of that length (default 1h) would write" },
		{ "LIST", TKM_OPTION_BOOL, &r->list, 0, 0, NULL,
			"print what would be recorded, and why some of it cannot be" },
		{ "JOIN", TKM_OPTION_TEXT, &r->join, 0, 0, "WORD",
			"join the job of a contact word (default: $TICKMARK_CONTACT)" },
		{ "RANK", TKM_OPTION_COUNT, &r->rank, 0, 1 << 20, "N",
			"the rank in the job that it joins (default: the launcher's, else the order of arrival)" },
		{ "SIZE", TKM_OPTION_COUNT, &r->size, 1, 1 << 20, "N",
			"the number of ranks of the job that it joins (default: the launcher's)" },
	};

	static const struct tkm_option brief[] = {
		{ "SUMMARY", TKM_OPTION_BOOL, NULL, 0, 0, NULL, "print where the time went" },
		{ "REPORT", TKM_OPTION_BOOL, NULL, 0, 0, NULL, "write PROGRAM.html, pictures for a browser" },
		{ "COUNTER", TKM_OPTION_TEXT, NULL, 0, 0, "+NAME", "record one more counter; vtcounters lists them" },
		{ "LOGFILE-NAME", TKM_OPTION_TEXT, NULL, 0, 0, "FILE", "name of the trace" },
		{ "PCTRACE", TKM_OPTION_TEXT, NULL, 0, 0, "N", "record N callers of each call, with lines" },
		{ "FOLLOW-CHILDREN", TKM_OPTION_BOOL, NULL, 0, 0, NULL, "record what PROGRAM starts, too" },
		{ "DEADLOCK-TIMEOUT", TKM_OPTION_TIME, NULL, 0, 0, "TIME", "end a job that stands still so long" },
		{ "DOCTOR", TKM_OPTION_BOOL, NULL, 0, 0, NULL, "print what works on this machine" },
		{ .name = NULL },
	};

	make_after(p->after, sizeof(p->after));
	memcpy(p->table, own, sizeof(own));
	memcpy(p->table + OWN, r->settings.table, sizeof(r->settings.table));
	p->r = r;
	p->front = (struct tkm_front){
		.program = "vtrun",
		.arguments = "[OPTION...] -- PROGRAM [ARGUMENT...]",
		.what = "Runs PROGRAM and writes PROGRAM.stf: its functions, its MPI calls and messages, and counters "
			"of it and of this node. In an MPI job, write vtrun before the program: mpirun -np 4 vtrun -- "
			"./app.",
		.brief = brief,
		.after = p->after,
		.table = p->table,
	};
}

static void add_program_argument(char *list, size_t size, const char *word, const char *between)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s%s", n ? between : "", word);
}

/* Joins words first to last-1. */
static void join_configuration(char *text, size_t size, char **argv, int first, int last)
{
	int i;

	text[0] = '\0';
	for (i = first; i < last; i++) {
		add_program_argument(text, size, argv[i], " ");
	}
}

/* The library inside the program reads variables, so an option is passed on as a variable. */
static void export(struct vtrun *r, const char *name, const char *text, int is_list)
{
	struct tkm_option o = { .name = name };
	char variable[80], joined[4096];
	const char *old;

	tkm_option_variable(&o, variable, sizeof(variable));
	old = is_list && strstr(r->set, variable) ? getenv(variable) : NULL;
	snprintf(joined, sizeof(joined), "%s%s%s", old ? old : "", old ? ";" : "", text);
	setenv(variable, joined, 1);
	if (!strstr(r->set, variable)) {
		add_program_argument(r->set, sizeof(r->set), variable, ",");
		add_program_argument(r->commanded, sizeof(r->commanded), name, ",");
	}
}

/* Returns how many words after argv[i] belong to the option. If a value is missing, the next option or "--" must not
 * be taken for it. */
static int values(const struct tkm_option *o, int repeats, int argc, char **argv, int i)
{
	int k = i + 1;

	while (k < argc && !tkm_option_begins(argv[k]) && strcmp(argv[k], "--") != 0 &&
		(!o || tkm_option_takes(o, argv[k])) && (repeats || k == i + 1)) {
		k++;
	}
	return k - i - 1;
}

/* Reads an option of the Intel Trace Collector that only other parts know, like --sync-period 10s or --symbol 'a*'
 * off. Its words go into a variable. Returns the number of words that it took. */
static int other_option(struct vtrun *r, const char *name, int argc, char **argv, int i, struct tkm_err *err)
{
	const char *equals = strchr(argv[i], '=');
	char text[2000], upper[64];
	int repeats, n = equals ? 0 : values(NULL, 1, argc, argv, i);
	size_t k;

	for (k = 0; name[k] && k + 1 < sizeof(upper); k++) {
		upper[k] = (char)toupper((unsigned char)name[k]);
	}
	upper[k] = '\0';
	repeats = vt_settings_repeats(upper);
	join_configuration(text, sizeof(text), argv, i + 1, i + 1 + n);
	if (repeats && n > 1 && strpbrk(argv[i + 1], " \t")) {
		/* the name of a group with blanks in it */
		snprintf(text, sizeof(text), "\"%s\" ", argv[i + 1]);
		join_configuration(text + strlen(text), sizeof(text) - strlen(text), argv, i + 2, i + 1 + n);
	}
	if (vt_settings_check(upper, equals ? equals + 1 : text, argv[i], err) < 0) {
		return -1;
	}
	export(r, upper, equals ? equals + 1 : text, repeats);
	return n + 1;
}

static int complain_of_option(const struct parser *p, const char *name, const char *nearest, struct tkm_err *err)
{
	const struct tkm_option as_option = { .name = nearest };
	char spelt[80];

	tkm_option_unknown(p->table, name, err);
	if (nearest && !strstr(err->text, "did you mean")) {
		tkm_fail(err, TKM_ERR_ARG, "unknown option '--%s'; did you mean --%s? (--help=all shows all)", name,
			tkm_option_long(&as_option, spelt, sizeof(spelt)));
	}
	return -1;
}

/* Reads the option at argv[i]. Returns the number of words that it took, or -1 with the reason in *err. */
static int one_option(struct parser *p, int argc, char **argv, int i, struct tkm_err *err)
{
	const char *equals = strchr(argv[i], '=');
	int len = equals ? (int)(equals - argv[i] - 2) : (int)strlen(argv[i]) - 2, n;
	char name[80], text[2000], origin[84];
	const struct tkm_option *o;
	const char *nearest;

	if (!tkm_option_begins(argv[i])) {
		return tkm_fail(err, TKM_ERR_ARG, "unknown option '%s'; vtrun --help=all shows all", argv[i]);
	}
	snprintf(name, sizeof(name), "%.*s", len < 79 ? len : 79, argv[i] + 2);
	snprintf(origin, sizeof(origin), "--%s", name);
	o = tkm_option_find(p->table, name);
	if (!o && vt_settings_whose(name) == VT_OF_PROGRAMS) {
		return tkm_fail(err, TKM_ERR_ARG, "%s is an option of stftool or timertest, not of vtrun", origin);
	}
	if (!o && vt_settings_known(&p->r->settings, name, &nearest)) {
		return other_option(p->r, name, argc, argv, i, err);
	}
	if (!o) {
		return complain_of_option(p, name, nearest, err);
	}
	n = equals ? 0 : values(o, o->type == TKM_OPTION_LIST, argc, argv, i);
	join_configuration(text, sizeof(text), argv, i + 1, i + 1 + n);
	if (equals) {
		snprintf(text, sizeof(text), "%s", equals + 1);
	}
	if (!*text && o->type != TKM_OPTION_BOOL && o->type != TKM_OPTION_LEVEL && o->type != TKM_OPTION_NAME) {
		return tkm_fail(err, TKM_ERR_ARG, "%s needs a value", origin);
	}
	if (o < p->table + OWN) {
		/* the words live as long as argv */
		return tkm_option_set(o, equals ? equals + 1 : n ? argv[i + 1] : "", origin, err) < 0 ? -1 : n + 1;
	}
	if ((o->type != TKM_OPTION_LIST && tkm_option_set(o, text, origin, err) < 0) ||
		vt_settings_check(o->name, text, origin, err) < 0) {
		return -1;
	}
	export(p->r, o->name, text, o->type == TKM_OPTION_LIST);
	return n + 1;
}

/* Reads the options from argv[i] on. Returns where they end, ANSWERED, or -1 with the reason in *err. If `lenient`,
 * wrong options are reported and skipped, and none asks for help. */
static int options(struct parser *p, int argc, char **argv, int i, int lenient, struct tkm_err *err)
{
	int n;

	while (i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0) {
		if (!lenient && tkm_front_answer(&p->front, argv[i], stdout)) {
			return fflush(stdout) || ferror(stdout)
				? tkm_fail(err, TKM_ERR_IO, "cannot write to standard output")
				: ANSWERED;
		}
		n = one_option(p, argc, argv, i, err);
		if (n < 0 && !lenient) {
			return -1;
		}
		if (n < 0) {
			vt_launch_say("--itc-args: %s: left out", err->text);
			n = 1 + (strchr(argv[i], '=') ? 0 : values(NULL, 1, argc, argv, i));
		}
		i += n;
	}
	return i;
}

/* Reads --itc-args ... --itc-args-end among the program's own arguments (Intel Trace Collector guide, section
 * 2.4.3), and removes them there. */
static void itc_arguments(struct parser *p)
{
	char **v = p->r->program;
	struct tkm_err err;
	int n = 0, begin, end, i;

	while (v && v[n]) {
		n++;
	}
	for (begin = 1; begin < n && strcmp(v[begin], "--itc-args"); begin++) {
	}
	if (begin >= n) {
		return;
	}
	for (end = begin + 1; end < n && strcmp(v[end], "--itc-args-end"); end++) {
	}
	i = options(p, end, v, begin + 1, 1, &err);
	if (i < end) {
		vt_launch_say("--itc-args: '%s' is no option: left out", v[i]);
	}
	end += end < n;
	memmove(&v[begin], &v[end], (size_t)(n - end + 1) * sizeof(*v));
	itc_arguments(p);
}

/* Is this word, which no option takes, the program? Not if "--" comes later, and not if nothing of the name can be run: then it is more likely a
 * value that is written wrong. So is a word without a folder directly after an option, as in --statistics yes. */
static int is_program(int argc, char **argv, int i)
{
	char path[PATH_MAX];
	int status, k;
	struct tkm_err e;

	if (!strchr(argv[i], '/') && tkm_option_begins(argv[i - 1]) && !strchr(argv[i - 1], '=')) {
		return 0;
	}
	for (k = i + 1; k < argc && strcmp(argv[k], "--") != 0; k++) {
	}
	return k >= argc && vt_exec_target(argv[i], path, sizeof(path), &status, &e) >= 0;
}

/* Returns where the program begins (argc: there is none), ANSWERED, or -1 with the reason in *err. */
static int find_program(struct parser *p, int argc, char **argv, struct tkm_err *err)
{
	int i = options(p, argc, argv, 1, 0, err);

	if (i > 1 && i < argc && strcmp(argv[i], "--") != 0 && !is_program(argc, argv, i)) {
		return tkm_fail(err, TKM_ERR_ARG,
			"'%s': put -- between the options and the program; vtrun --help shows how", argv[i]);
	}
	return i > 0 && i < argc && !strcmp(argv[i], "--") ? i + 1 : i;
}

int vt_launch_parse(struct vtrun *r, int argc, char **argv)
{
	static struct parser p;
	struct tkm_err err;
	int i;

	make_vtrun_options(&p, r);
	i = find_program(&p, argc, argv, &err);
	if (i == ANSWERED) {
		return 1;
	}
	if (i > 0 && strstr(r->commanded, "TRACE-COLLECTIVES") && strstr(r->commanded, "TRACE-PT2PT")) {
		i = tkm_fail(&err, TKM_ERR_ARG, "--trace-collectives and --trace-pt2pt exclude each other");
	}
	if (i > 0 && r->config && access(r->config, R_OK) < 0) {
		i = tkm_fail_errno(&err, TKM_ERR_IO, errno, "--config: cannot open %s", r->config);
	}
	if (i > 0 && r->duration && *r->duration && tkm_parse_time(r->duration, &r->duration_s) < 0) {
		i = tkm_fail(&err, TKM_ERR_ARG, "--estimate: '%s' is not a time like 90s, 30m or 2h", r->duration);
	}
	if (i < 0) {
		vt_launch_say("%s", err.text);
		return -1;
	}
	if (r->config) {
		setenv("VT_CONFIG", r->config, 1);
	}
	r->estimate = r->duration != NULL;
	r->contact = r->place != NULL;
	r->join = r->join ? r->join : secure_getenv("TICKMARK_CONTACT");
	r->program = i < argc ? argv + i : NULL;
	itc_arguments(&p);
	return 0;
}

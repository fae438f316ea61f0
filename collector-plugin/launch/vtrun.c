/* SPDX-License-Identifier: BSD-3-Clause */
/* vtrun [options] -- program args: puts libVTcs.so into the program and becomes it. Nothing of vtrun stays: the program
 * keeps its process id, its parent, its signals and its terminal. */
#include "config.h"
#include "collector-plugin/launch/vtrun.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "collector-plugin/attach/attach.h"
#include "collector-plugin/host/exec_target.h"
#include "collector-plugin/settings/run_value.h"
#include "collector-plugin/settings/settings.h"

void vtrun_say(const char *fmt, ...)
{
	va_list ap;

	fputs("vtrun: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void complain(void *ctx, const char *line)
{
	(void)ctx;
	vtrun_say("%s", line);
}

static void print_help(const struct vtrun *r)
{
	const struct tkm_option *t;
	char name[64], left[120];

	printf("Usage: vtrun [OPTION...] -- PROGRAM [ARGUMENT...]\n"
	       "Runs PROGRAM and records counters of it and of this node: PROGRAM.stf, for stftool. Stands last before "
	       "the program\n"
	       "(mpirun -np 4 vtrun -- ./app). Without --counter: disk_io, net_io, cpu_idle, cpu_sys, cpu_usr and the "
	       "process's own.\n\n"
	       "  --list                        what would be recorded, and why some of it cannot be\n"
	       "  --estimate [TIME]             how much a run of that length (default 1h) would write\n"
	       "  --apptainer                   the lines that bring the sampler into an Apptainer or Singularity "
	       "container\n"
	       "  --trace-collectives           of MPI's calls only collective operations\n"
	       "  --trace-pt2pt                 of MPI's calls only messages\n"
	       "  --config FILE                 read options from FILE (default: $VT_CONFIG)\n"
	       "  --help, --version\n\n");
	for (t = r->settings.table; t->name; t++) {
		snprintf(left, sizeof(left), "--%s%s%s", tkm_option_long(t, name, sizeof(name)), t->arg ? " " : "",
			t->arg ? t->arg : "");
		printf("  %-*s%s%s\n", 28, left, strlen(left) > 28 ? "\n                                " : "  ",
			t->help);
	}
	printf("\nAn option --some-name is also SOME-NAME in the configuration file and VT_SOME_NAME in the "
	       "environment; the file is\n"
	       "read first, the command line last, and the later one wins. What is wrong in them is said and left out; "
	       "the program\n"
	       "runs in any case. Exit status: that of PROGRAM; 127 if it was not found, 126 if it cannot be run, 2 "
	       "wrong usage.\n");
}

/* ---- the command line ---- */

/* A value that was forgotten must not take the next option, or the program's name. */
static int takes(const struct tkm_option *o, const char *word)
{
	return !tkm_option_begins(word) && strcmp(word, "--") && tkm_option_takes(o, word);
}

static void add_word(char *list, size_t size, const char *word, const char *between)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s%s", n ? between : "", word);
}

/* The library inside the program reads variables, so the option becomes one. */
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
		add_word(r->set, sizeof(r->set), variable, ",");
		add_word(r->commanded, sizeof(r->commanded), name, ",");
	}
}

/* Joins words first to last-1. */
static void join(char *text, size_t size, char **argv, int first, int last)
{
	int i;

	text[0] = '\0';
	for (i = first; i < last; i++) {
		add_word(text, size, argv[i], " ");
	}
}

static int known_option(struct vtrun *r, const struct tkm_option *o, int argc, char **argv, int i, const char *equals)
{
	char text[2000], origin[80];
	int k = i + 1;
	struct tkm_err e;

	if (equals) {
		snprintf(text, sizeof(text), "%s", equals + 1);
	} else {
		while (k < argc && takes(o, argv[k]) && (o->type == TKM_OPTION_LIST || k == i + 1)) {
			k++;
		}
		join(text, sizeof(text), argv, i + 1, k);
	}
	memcpy(origin, "--", 2);
	tkm_option_long(o, origin + 2, sizeof(origin) - 2);
	if (!*text && o->type != TKM_OPTION_BOOL && o->type != TKM_OPTION_LEVEL) {
		vtrun_say("%s needs a value: left out", origin);
	} else if (o->type != TKM_OPTION_LIST && tkm_option_set(o, text, origin, &e) < 0) {
		vtrun_say("%s: left out", e.text);
	} else {
		export(r, o->name, text, o->type == TKM_OPTION_LIST);
	}
	return k;
}

/* "To collect information only about" one kind of MPI calls (guide, section 2.5.1): rules for the names of functions, of which the last
 * one that matches counts. What waits for non-blocking operations belongs to both. */
static int only_some_calls(struct vtrun *r, const char *option, int next)
{
	static const char *const collective[] = { "MPI_* off", "MPI_*Barrier* on", "MPI_*Bcast* on", "MPI_*Gather* on",
		"MPI_*Scatter* on", "MPI_*Reduce* on", "MPI_*Alltoall* on", "MPI_*Scan* on", "MPI_File_* off",
		"MPI_Reduce_local* off", NULL };
	static const char *const pt2pt[] = { "MPI_* off", "MPI_*Send* on", "MPI_*Recv* on", "MPI_*Probe on",
		"MPI_Wait* on", "MPI_Test* on", "MPI_Start* on", "MPI_Cancel on", "MPI_Request_free on",
		"MPI_P*ready* on", "MPI_Parrived on", NULL };
	const char *const *rule = !strcmp(option, "--trace-collectives") ? collective : pt2pt;

	if (r->only && r->only != option[8]) {
		vtrun_say("--trace-collectives and --trace-pt2pt exclude each other: %s is left out", option);
		return next;
	}
	r->only = option[8];
	for (; *rule; rule++) {
		export(r, "SYMBOL", *rule, 1);
	}
	return next;
}

/* Options of vtrun alone. Returns the next word's number, 0: it is none of them, -1: done. */
static int own_option(struct vtrun *r, int argc, char **argv, int i)
{
	if (!strcmp(argv[i], "--help")) {
		print_help(r);
		return -1;
	}
	if (!strcmp(argv[i], "--version")) {
		printf("vtrun (%s)\n", PACKAGE_STRING);
		return -1;
	}
	if (!strcmp(argv[i], "--list")) {
		r->list = 1;
		return i + 1;
	}
	if (!strcmp(argv[i], "--apptainer")) {
		r->apptainer = 1;
		return i + 1;
	}
	if (!strcmp(argv[i], "--trace-collectives") || !strcmp(argv[i], "--trace-pt2pt")) {
		return only_some_calls(r, argv[i], i + 1);
	}
	if (!strcmp(argv[i], "--estimate")) {
		r->estimate = 1;
		if (i + 1 < argc && tkm_parse_time(argv[i + 1], &r->duration_s) == 0) {
			return i + 2;
		}
		return i + 1;
	}
	if (!strncmp(argv[i], "--config=", 9)) {
		setenv("VT_CONFIG", argv[i] + 9, 1);
		return i + 1;
	}
	if (!strcmp(argv[i], "--config") && i + 1 < argc) {
		setenv("VT_CONFIG", argv[i + 1], 1);
		return i + 2;
	}
	return 0;
}

static int other_option(struct vtrun *r, int argc, char **argv, int i, const char *name, const char *equals)
{
	char text[2000], upper[64];
	const char *nearest;
	int k = i + 1, known = vt_settings_known(&r->settings, name, &nearest);
	size_t n;

	if (!equals) {
		while (k < argc && !tkm_option_begins(argv[k]) && strcmp(argv[k], "--")) {
			k++;
		}
	}
	join(text, sizeof(text), argv, i + 1, k);
	if (known) {
		for (n = 0; name[n] && n + 1 < sizeof(upper); n++) {
			upper[n] = (char)toupper((unsigned char)name[n]);
		}
		upper[n] = '\0';
		if (vt_settings_repeats(upper) && k > i + 2 && strpbrk(argv[i + 1], " \t")) {
			/* the name of a group with blanks in it */
			snprintf(text, sizeof(text), "\"%s\" ", argv[i + 1]);
			join(text + strlen(text), sizeof(text) - strlen(text), argv, i + 2, k);
		}
		export(r, upper, equals ? equals + 1 : text, vt_settings_repeats(upper));
	} else {
		vtrun_say("unknown option --%s: left out%s%s%s", name, nearest ? "; did you mean " : "",
			nearest ? nearest : "", nearest ? "?" : "");
	}
	return k;
}

/* The options from argv[i] on. Returns where they end, or -1: all is done. */
static int options(struct vtrun *r, int argc, char **argv, int i)
{
	char name[80];
	int k;

	while (i < argc && tkm_option_begins(argv[i])) {
		const char *equals = strchr(argv[i], '=');
		const struct tkm_option *o;

		snprintf(name, sizeof(name), "%.*s", equals ? (int)(equals - argv[i] - 2) : 79, argv[i] + 2);
		k = own_option(r, argc, argv, i);
		if (k < 0) {
			return -1;
		}
		o = tkm_option_find(r->settings.table, name);
		i = k       ? k
			: o ? known_option(r, o, argc, argv, i, equals)
			    : other_option(r, argc, argv, i, name, equals);
	}
	return i;
}

/* --itc-args ... --itc-args-end among the program's own arguments (seeds/003 section 2.4.3): taken out of them. */
static void itc_arguments(struct vtrun *r)
{
	char **v = r->program;
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
	i = options(r, end, v, begin + 1);
	if (i >= 0 && i < end) {
		vtrun_say("--itc-args: '%s' is no option: left out", v[i]);
	}
	end += end < n;
	memmove(&v[begin], &v[end], (size_t)(n - end + 1) * sizeof(*v));
	itc_arguments(r);
}

/* Returns 0, 1: all is done, or -1: wrong usage. */
static int parse(struct vtrun *r, int argc, char **argv)
{
	int i = options(r, argc, argv, 1);

	if (i < 0) {
		return 1;
	}
	if (i < argc && !strcmp(argv[i], "--")) {
		i++;
	} else if (i > 1 && i < argc) {
		vtrun_say("'%s': put -- between the options and the program; vtrun --help shows how", argv[i]);
		return -1;
	} else if (i < argc && argv[i][0] == '-') {
		vtrun_say("unknown option '%s'; vtrun --help shows all", argv[i]);
		return -1;
	}
	r->program = i < argc ? argv + i : NULL;
	itc_arguments(r);
	return 0;
}

/* ---- the library ---- */

/* Beside vtrun in the build folder, or in the installation that vtrun is part of. Returns 0 or -1. */
static int library_near(struct vtrun *r, const char *program)
{
	static const char *const places[] = { "/.libs", "", "/../lib", "/../lib64", NULL };
	char dir[900], path[1000];
	int i;

	snprintf(dir, sizeof(dir), "%s", program);
	if (!strrchr(dir, '/')) {
		return -1;
	}
	*strrchr(dir, '/') = '\0';
	for (i = 0; places[i]; i++) {
		snprintf(path, sizeof(path), "%s%s/libVTcs.so", dir, places[i]);
		if (access(path, R_OK) == 0) {
			snprintf(r->library, sizeof(r->library), "%s", path);
			return 0;
		}
	}
	return -1;
}

static int find_library(struct vtrun *r)
{
	/* under valgrind the first is not vtrun */
	const char *started_as = (const char *)getauxval(AT_EXECFN);
	char own[900], *real;

	snprintf(r->library, sizeof(r->library), "%s/libVTcs.so", LIBDIR);
	if (library_near(r, vt_own_program(own, sizeof(own))) < 0 && started_as) {
		library_near(r, started_as);
	}
	snprintf(r->found, sizeof(r->found), "%s", r->library);
	real = realpath(r->library, NULL);
	if (!real) {
		return -1;
	}
	snprintf(r->library, sizeof(r->library), "%s", real);
	free(real);
	/* LD_PRELOAD has no way to quote them */
	return strpbrk(r->library, ": ") ? -1 : 0;
}

/* libVT.so lies beside libVTcs.so. */
static void choose_library(struct vtrun *r, const char *path)
{
	char mpi[1024], *slash;
	struct tkm_err e;

	snprintf(mpi, sizeof(mpi), "%s", r->library);
	slash = strrchr(mpi, '/');
	snprintf(slash + 1, sizeof(mpi) - (size_t)(slash + 1 - mpi), "libVT.so");
	switch (vtrun_mpi(path, mpi, &e)) {
	case 1:
		snprintf(r->library, sizeof(r->library), "%s", mpi);
		break;
	case -1:
		vtrun_say("%s", e.text);
		break;
	default:
		break;
	}
}

/* Processes of one launcher are one job. */
static void name_job(char *job, size_t size)
{
	static const char *const names[] = { "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", NULL };
	struct timespec ts;
	int i;

	for (i = 0; names[i]; i++) {
		if (getenv(names[i])) {
			snprintf(job, size, "%.50s", getenv(names[i]));
			return;
		}
	}
	clock_gettime(CLOCK_REALTIME, &ts);
	snprintf(job, size, "%d-%lld%09ld", (int)getpid(), (long long)ts.tv_sec, ts.tv_nsec);
}

/* ---- running ---- */

/* It gets ready while the program is loaded. If that fails, the library in the program tries again and reports the reason. */
static void start_sampler(const struct vtrun *r)
{
	const char *sampler = r->settings.sampler;
	struct tkm_err e;
	int fd;

	if ((sampler && !strcasecmp(sampler, "thread")) || getpid() == 1) {
		return;
	}
	fd = vt_attach_connect(r->job);
	if (fd >= 0) {
		close(fd);
	} else {
		vt_attach_start(r->job, r->library, 1, &e);
	}
}

static void tell_library(struct vtrun *r)
{
	const char *old = getenv("LD_PRELOAD"), *name = strrchr(r->program[0], '/');
	char text[8192], preload[8192];

	snprintf(preload, sizeof(preload), "%s%s%s", r->library, old && *old ? ":" : "", old && *old ? old : "");
	snprintf(text, sizeof(text),
		"pid=%d\tjob=%s\tfollow=%d\tprog=%.200s\tcommanded=%.1000s\tset=%.1500s\tpreload=%.500s", (int)getpid(),
		r->job, r->settings.follow_children, name ? name + 1 : r->program[0], r->commanded, r->set,
		old ? old : "");
	setenv(VT_RUN_VARIABLE, text, 1);
	setenv("LD_PRELOAD", preload, 1);
}

/* Children of a sampled program that are vtrun again: a run of its own. */
static void forget_outer_run(void)
{
	char before[4096];
	const char *outer = getenv(VT_RUN_VARIABLE);

	if (outer) {
		if (vt_run_value(outer, "preload", before, sizeof(before)) && *before) {
			setenv("LD_PRELOAD", before, 1);
		} else {
			unsetenv("LD_PRELOAD");
		}
		unsetenv(VT_RUN_VARIABLE);
	}
}

static int run(struct vtrun *r)
{
	char path[4096];
	struct tkm_err e;
	int status = 126, rc = vt_exec_target(r->program[0], path, sizeof(path), &status, &e);

	if (rc < 0) {
		vtrun_say("%s", e.text);
		return status;
	}
	if (rc > 0) {
		vtrun_say("%s", e.text);
	} else if (find_library(r) < 0) {
		vtrun_say(
			"%s is not there, or has a blank or colon in its name: the program runs unsampled", r->library);
	} else {
		choose_library(r, path);
		name_job(r->job, sizeof(r->job));
		start_sampler(r);
		tell_library(r);
	}
	execv(path, r->program);
	if (errno == ENOEXEC) {
		/* a script without #!, which shells run themselves */
		vtrun_say("%s has no #! line: start it as sh %s", path, path);
		return 126;
	}
	vtrun_say("cannot run %s: %s", path, strerror(errno));
	return errno == ENOENT ? 127 : 126;
}

/* The name by which vtrun finds its library, without "..": in a container there is nothing to follow. */
static void name_found(const struct vtrun *r, char *name, size_t size)
{
	char dir[1024], *real;

	snprintf(dir, sizeof(dir), "%s", r->found);
	*strrchr(dir, '/') = '\0';
	real = realpath(dir, NULL);
	snprintf(name, size, "%s%s", real ? real : dir, strrchr(r->found, '/'));
	free(real);
}

static int print_apptainer(struct vtrun *r)
{
	char own[1024], found[2100], sampler[1200] = "";

	vt_own_program(own, sizeof(own));
	if (find_library(r) < 0) {
		vtrun_say("%s is not there", r->library);
		return 1;
	}
	name_found(r, found, sizeof(found));
	vt_attach_program(own, sampler, sizeof(sampler));
	printf("# vtrun inside the container starts the program; it, its library and the sampler are bound into it (it "
	       "needs "
	       "hwloc there):\n"
	       "apptainer exec --bind %s:%s --bind %s:%s%s%s%s%s IMAGE %s -- PROGRAM\n",
		r->library, found, own, own, *sampler ? " --bind " : "", sampler, *sampler ? ":" : "", sampler, own);
	return 0;
}

int main(int argc, char **argv)
{
	static struct vtrun r = { .duration_s = 3600 };
	int rc;

	forget_outer_run();
	vt_settings_init(&r.settings);
	rc = parse(&r, argc, argv);
	if (rc != 0) {
		return rc > 0 ? 0 : 2;
	}
	vt_settings_free(&r.settings);
	vt_settings_init(&r.settings);
	r.settings.complain = complain;
	vt_settings_load(&r.settings, r.commanded);
	if (r.apptainer) {
		return print_apptainer(&r);
	}
	if (r.list || r.estimate) {
		return r.list ? vtrun_list(&r) : vtrun_estimate(&r);
	}
	if (!r.program) {
		vtrun_say("no program; vtrun --help shows how");
		return 2;
	}
	return run(&r);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the command line names must be there: counters, a timer, folders. The library inside the
 * program could only warn of it, when the measurement is lost already. */
#include "config.h"
#include "collector-plugin/launch/launch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/glob.h"
#include "sampler/source.h"
#include "timers/timer.h"

static int is_commanded(const struct vtrun *r, const char *name)
{
	size_t n = strlen(name);
	const char *at = r->commanded;

	while (*at && (strncasecmp(at, name, n) || (at[n] != ',' && at[n]))) {
		at += strcspn(at, ",");
		at += *at == ',';
	}
	return *at != '\0';
}

/* MPI_Wtime is known only where MPI runs; LIST is answered by the sampler. */
static int check_timer(const struct vtrun *r, struct tkm_err *err)
{
	const char *name = r->settings.timer;
	struct tmr_timer *t;
	struct tkm_err why;

	if (!name || !is_commanded(r, "TIMER") || !strcasecmp(name, "MPI_Wtime") || !strcasecmp(name, "LIST")) {
		return 0;
	}
	t = tmr_open(name, 0, &why);
	if (!t) {
		return tkm_fail(err, why.code, "--timer: %s", why.text);
	}
	tmr_close(t);
	return 0;
}

/* Makes the folder `path`, or the one that the file `path` is in, with those above it. Leaves the folder's name in
 * `path`. Returns 0 or an errno. */
static int make_folders(char *path, int is_folder)
{
	char *slash = is_folder ? NULL : strrchr(path, '/');
	struct stat st;
	int error = 0;

	if (slash) {
		*slash = '\0';
	}
	for (slash = *path ? path : NULL; slash;) {
		slash = strchr(slash + 1, '/');
		if (slash) {
			*slash = '\0';
		}
		error = mkdir(path, 0777) < 0 ? errno : 0;
		if (slash) {
			*slash = '/';
		}
	}
	if (stat(*path ? path : "/", &st) == 0) {
		error = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
	}
	return error;
}

struct named {
	const char *option, *value;
	int is_folder;
};

/* Relative names begin in `base`. */
static int check_folder(const struct vtrun *r, const char *base, const struct named *n, struct tkm_err *err)
{
	char path[PATH_MAX];
	int error;

	if (!n->value || !is_commanded(r, n->option)) {
		return 0;
	}
	if (snprintf(path, sizeof(path), "%s%s%s", *n->value == '/' ? "" : base, *n->value == '/' ? "" : "/",
		    n->value) >= (int)sizeof(path)) {
		return tkm_fail(err, TKM_ERR_ARG, "--%s: the name is too long: %s", n->option, n->value);
	}
	error = make_folders(path, n->is_folder);
	return error ? tkm_fail_errno(err, TKM_ERR_IO, error, "--%s: cannot make the folder %s", n->option, path) : 0;
}

static int check_folders(const struct vtrun *r, struct tkm_err *err)
{
	const struct vt_settings *s = &r->settings;
	const char *start = s->current_dir ? s->current_dir : ".";
	const struct named in_start[] = { { "current-dir", s->current_dir, 1 },
		{ "logfile-prefix", s->logfile_prefix, 1 }, { "flush-prefix", s->flush_prefix, 1 },
		{ "protofile-name", s->protofile_name, 0 } };
	const struct named trace = { "logfile-name", s->logfile_name, 0 };
	char prefix[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(in_start) / sizeof(in_start[0]); i++) {
		if (check_folder(r, i ? start : ".", &in_start[i], err) < 0) {
			return -1;
		}
	}
	snprintf(prefix, sizeof(prefix), "%s%s%s", s->logfile_prefix && *s->logfile_prefix == '/' ? "" : start,
		s->logfile_prefix && *s->logfile_prefix == '/' ? "" : "/", s->logfile_prefix ? s->logfile_prefix : "");
	return check_folder(r, prefix, &trace, err);
}

/* Do the rules choose anything where this one is on? Some counters are known only inside the program (sde:::), and a
 * rule after one that is off may mean the program's own. */
static int is_known(const struct smp_plan *plan, const struct tkm_glob_rule *rule)
{
	size_t i;

	for (i = 0; i < smp_plan_size(plan); i++) {
		const struct smp_planned *p = smp_plan_at(plan, i);

		if (p->source && tkm_glob_match(rule->pattern, p->counter.name)) {
			return 1;
		}
	}
	return strchr(rule->pattern, ':') != NULL;
}

static int check_counters_of(const struct vtrun *r, const struct smp_plan *plan, struct tkm_err *err)
{
	const struct tkm_option_list *l = &r->settings.counter;
	struct tkm_glob_rule rule;
	char near[80];
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (tkm_glob_rule_parse("COUNTER", l->text[i], &rule, err) < 0 || !rule.on) {
			return 0;
		}
		if (!is_known(plan, &rule)) {
			return tkm_fail(err, TKM_ERR_ARG,
				"--counter: no counter has the name %s%s%s; vtcounters '**' lists all", rule.pattern,
				smp_nearest_name(rule.pattern, near, sizeof(near)) ? "; did you mean " : "", near);
		}
	}
	return 0;
}

static int check_counters(struct vtrun *r, struct tkm_err *err)
{
	struct smp_plan *plan;
	int rc;

	if (!is_commanded(r, "COUNTER")) {
		return 0;
	}
	plan = vt_launch_plan(r, err);
	if (!plan) {
		return -1;
	}
	rc = check_counters_of(r, plan, err);
	smp_plan_close(plan);
	return rc;
}

/* "mpirun -np 2 ./ring": what would be recorded is mpirun itself. */
static void hint_at_launcher(const struct vtrun *r)
{
	static const char *const launchers[] = { "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun",
		"aprun", "jsrun", "flux" };
	const char *name = strrchr(r->program[0], '/') ? strrchr(r->program[0], '/') + 1 : r->program[0];
	char line[2000] = "";
	size_t i, k, n = 0;

	for (i = 0; i < sizeof(launchers) / sizeof(launchers[0]) && strcmp(name, launchers[i]); i++) {
	}
	if (i == sizeof(launchers) / sizeof(launchers[0]) || r->settings.follow_children) {
		return;
	}
	/* the first word with a slash that can be run is the program */
	for (k = 1; r->program[k] && !(strchr(r->program[k], '/') && access(r->program[k], X_OK) == 0); k++) {
	}
	for (i = 0; r->program[k] && r->program[i] && n < sizeof(line); i++) {
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", i == k ? " vtrun --" : "", i ? " " : "");
		n += n < sizeof(line) ? (size_t)snprintf(line + n, sizeof(line) - n, "%s", r->program[i]) : 0;
	}
	vt_launch_say("this records %s itself and not what it starts. Write vtrun before the program: %s", name,
		*line ? line : "mpirun -np 2 vtrun -- ./app");
}

int vt_launch_check(struct vtrun *r)
{
	struct tkm_err err;

	if (check_timer(r, &err) < 0 || check_folders(r, &err) < 0 || check_counters(r, &err) < 0) {
		vt_launch_say("%s", err.text);
		return -1;
	}
	if (r->program) {
		hint_at_launcher(r);
	}
	return 0;
}

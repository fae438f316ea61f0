/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands timertest --check, --fingerprint and --taskprolog; see check/main.h. */
#include "config.h"
#include "check/main.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/cli/front.h"
#include "base/newfile.h"
#include "base/cli/option.h"
#include "base/rootfs.h"
#include "base/text/quote.h"
#include "base/text/text.h"
#include "check/check.h"

struct command {
	int check, fingerprint, taskprolog; /* exactly one of them is 1 */
	const char *format, *output, *profile, *timer, *state_dir, *root, *fail_on_name;
	double max_age_s;
	int quiet, load, local, explain;
	enum chk_status fail_on;
	struct tkm_option_list warning, critical;
};

enum { MAX_OPTIONS = 20 };

static void make_check_options(struct command *c, struct tkm_option *t)
{
	/* clang-format off */
	const struct tkm_option all[] = {
		{ "CHECK", TKM_OPTION_BOOL, &c->check, 0, 0, NULL, "judge the clocks of this node, and the last result of timertest" },
		{ "FINGERPRINT", TKM_OPTION_BOOL, &c->fingerprint, 0, 0, NULL, "print what the clocks of this node depend on, as JSON" },
		{ "TASKPROLOG", TKM_OPTION_BOOL, &c->taskprolog, 0, 0, NULL,
			"print the settings for jobs that follow from the last result, for Slurm's TaskProlog" },
		{ "FORMAT", TKM_OPTION_TEXT, &c->format, 0, 0, "NAME",
			"human (default), json, nagios or prometheus" },
		{ "OUTPUT", TKM_OPTION_TEXT, &c->output, 0, 0, "FILE", "write to this file, complete or not at all (default: standard output)" },
		{ "QUIET", TKM_OPTION_BOOL, &c->quiet, 0, 0, NULL, "print nothing: the exit status is the answer" },
		{ "EXPLAIN", TKM_OPTION_BOOL, &c->explain, 0, 0, NULL,
			"print the name, limits and meaning of each value and what to do, then stop" },
		{ "PROFILE", TKM_OPTION_TEXT, &c->profile, 0, 0, "NAME|FILE",
			"limits: baremetal, kvm, aws, azure, or a file with lines NAME WARNING CRITICAL or NAME off (default: by the hypervisor)" },
		{ "WARNING", TKM_OPTION_LIST, &c->warning, 0, 0, "NAME=LIMIT", "a value above LIMIT is a warning; '-': no limit; several times for more" },
		{ "CRITICAL", TKM_OPTION_LIST, &c->critical, 0, 0, "NAME=LIMIT", "a value above LIMIT is critical; '-': no limit; several times for more" },
		{ "FAIL-ON", TKM_OPTION_TEXT, &c->fail_on_name, 0, 0, "STATUS",
			"what leads to an exit status other than 0: warning (default; also what is not known), critical, or never" },
		{ "MAX-AGE", TKM_OPTION_TIME, &c->max_age_s, 0, 1e10, "TIME", "a stored result that is older is not used (default 7d)" },
		{ "LOCAL", TKM_OPTION_BOOL, &c->local, 0, 0, NULL, "leave out what needs a stored result" },
		{ "LOAD", TKM_OPTION_BOOL, &c->load, 0, 0, NULL, "measure again with all processing units busy, and keep the worse of both" },
		{ "TIMER", TKM_OPTION_TEXT, &c->timer, 0, 0, "NAME", "the clock to judge (default CPU, or gettimeofday where the counter cannot be read)" },
		{ "STATE-DIR", TKM_OPTION_TEXT, &c->state_dir, 0, 0, "DIR",
			"where timertest keeps its last result (default $XDG_STATE_HOME/tickmark, /var/lib/tickmark for root, else ~/.local/state/tickmark)" },
		{ "ROOT", TKM_OPTION_TEXT, &c->root, 0, 0, "DIR", "read /proc, /sys and /dev below DIR, a copy of another machine's" },
		{ .name = NULL },
	};
	/* clang-format on */

	memcpy(t, all, sizeof(all));
}

static int take_fail_on(struct command *c, struct tkm_err *err)
{
	const char *name = c->fail_on_name;

	if (!strcmp(name, "warning")) {
		c->fail_on = CHK_WARNING;
	} else if (!strcmp(name, "critical")) {
		c->fail_on = CHK_CRITICAL;
	} else if (!strcmp(name, "never")) {
		c->fail_on = CHK_ABSENT;
	} else {
		return tkm_fail(err, TKM_ERR_ARG, "--fail-on '%s': warning, critical and never are known", name);
	}
	return 0;
}

/* Returns 0; -1 with the reason in *err; TKM_FRONT_ANSWERED: help or the version was printed. */
static int parse_check_options(struct command *c, const struct tkm_front *f, int argc, char **argv, struct tkm_err *err)
{
	const char *argument = NULL;
	int n = tkm_front_arguments(f, argc, argv, &argument, 1, err);

	if (n < 0) {
		return n;
	}
	if (n > 0) {
		return tkm_fail(err, TKM_ERR_ARG, "'%s': --check takes options only", argument);
	}
	if (c->check + c->fingerprint + c->taskprolog != 1) {
		return tkm_fail(err, TKM_ERR_ARG, "one of --check, --fingerprint and --taskprolog at a time");
	}
	if (chk_find_format(c->format, err) < 0) {
		return -1;
	}
	return take_fail_on(c, err);
}

int chk_asked(int argc, char **argv)
{
	static const char *const names[] = { "--check", "--fingerprint", "--taskprolog" };
	size_t k, n;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		for (k = 0; k < sizeof(names) / sizeof(*names); k++) {
			n = strcspn(argv[i], "=");
			if (n == strlen(names[k]) && !strncasecmp(argv[i], names[k], n)) {
				return 1;
			}
		}
	}
	return 0;
}

/* ---- load ---- */

struct load {
	pthread_t thread[1024];
	int n;
	atomic_int stop;
};

static void *be_busy(void *ctx)
{
	struct load *l = ctx;

	while (!atomic_load_explicit(&l->stop, memory_order_relaxed)) {
	}
	return NULL;
}

static void start_load(struct load *l)
{
	long units = sysconf(_SC_NPROCESSORS_ONLN);

	l->n = 0;
	atomic_init(&l->stop, 0);
	while (l->n < units && l->n < 1024 && pthread_create(&l->thread[l->n], NULL, be_busy, l) == 0) {
		l->n++;
	}
}

static void stop_load(struct load *l)
{
	atomic_store(&l->stop, 1);
	while (l->n > 0) {
		pthread_join(l->thread[--l->n], NULL);
	}
}

/* ---- the three commands ---- */

/* The clock under test is the counter, with which traces are stamped, not CLOCK_MONOTONIC. */
static struct tmr_timer *open_checked_timer(const struct command *c, struct tkm_err *err)
{
	struct tmr_timer *t = tmr_open(c->timer ? c->timer : "CPU", 0, err);

	return t || c->timer ? t : tmr_open("gettimeofday", 0, err);
}

static int set_limits(const struct command *c, const struct tmr_env *env, struct chk_report *r, struct tkm_err *err)
{
	size_t k;

	if (chk_profile(r->limit, c->profile, env, &r->profile, err) < 0) {
		return -1;
	}
	for (k = 0; k < chk_count; k++) {
		r->limit[k].off |= c->local && chk_table[k].of_result;
	}
	for (k = 0; k < c->warning.n; k++) {
		if (chk_set_limit(r->limit, c->warning.text[k], 0, err) < 0) {
			return -1;
		}
	}
	for (k = 0; k < c->critical.n; k++) {
		if (chk_set_limit(r->limit, c->critical.text[k], 1, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int print_report(
	const struct command *c, const struct chk_report *r, const struct chk_stored *s, struct tkm_err *err)
{
	struct tkm_newfile n;
	int format = chk_find_format(c->format, err);

	if (c->quiet && !c->output) {
		return 0;
	}
	if (!c->output || !strcmp(c->output, "-")) {
		chk_write(stdout, format, r, s);
		return fflush(stdout) || ferror(stdout)
			? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write to standard output")
			: 0;
	}
	if (tkm_newfile_begin(&n, c->output, 1, err) < 0) {
		return -1;
	}
	chk_write(n.f, format, r, s);
	return tkm_newfile_commit(&n, err);
}

static int explain_checks(const struct command *c, struct chk_machine *m, struct tkm_err *err)
{
	struct chk_report r;
	size_t i;
	char a[32], b[32];

	if (set_limits(c, &m->env, &r, err) < 0) {
		return -1;
	}
	printf("limits: %s\n", r.profile);
	for (i = 0; i < chk_count; i++) {
		const struct chk_check *k = &chk_table[i];

		printf("%s%s\n\twarning above: %s, critical above: %s\n\twhy it matters: %s\n\twhat to do: %s\n",
			k->name, r.limit[i].off ? " (left out)" : "",
			isfinite(r.limit[i].warning) ? chk_print_value(a, sizeof(a), k->unit, r.limit[i].warning) : "-",
			isfinite(r.limit[i].critical) ? chk_print_value(b, sizeof(b), k->unit, r.limit[i].critical)
						      : "-",
			k->why, k->what);
	}
	return 0;
}

static int exit_status_of_check(const struct command *c, enum chk_status s)
{
	return s == CHK_UNKNOWN || c->fail_on == CHK_ABSENT ? (c->fail_on == CHK_WARNING ? (int)s : 0)
		: s >= c->fail_on                           ? (int)s
							    : 0;
}

static int run_checks(const struct command *c, struct chk_machine *m, struct chk_stored *s, struct tkm_err *err)
{
	struct chk_report r, loaded;
	struct load load;
	int rc = -1;

	if (c->explain) {
		return explain_checks(c, m, err);
	}
	chk_stored_read(s, c->state_dir, m->env.host);
	if (set_limits(c, &m->env, &r, err) == 0) {
		chk_run(m, &r);
		if (c->load) {
			loaded = r;
			start_load(&load);
			chk_machine_begin(m);
			chk_run(m, &loaded);
			stop_load(&load);
			chk_worse(&r, &loaded);
		}
		rc = print_report(c, &r, s, err);
	}
	return rc < 0 ? -1 : exit_status_of_check(c, chk_overall(&r));
}

static void put_fingerprint_field(FILE *f, const char *name, const char *value, uint64_t *hash)
{
	fprintf(f, "\"%s\":", name);
	tkm_quote_json(f, value);
	fprintf(f, ",");
	*hash = tkm_fnv(*hash, value, strlen(value) + 1);
}

static int fingerprint(const struct command *c, const struct chk_machine *m, struct tkm_err *err)
{
	const struct tmr_env *e = &m->env;
	struct tkm_newfile n = { .f = stdout };
	int to_file = c->output && strcmp(c->output, "-") != 0;
	uint64_t hash = TKM_FNV_START;

	if (to_file && tkm_newfile_begin(&n, c->output, 1, err) < 0) {
		return -1;
	}
	fprintf(n.f, "{\"schema\":\"timertest-fingerprint/1\",\"host\":");
	tkm_quote_json(n.f, e->host);
	fprintf(n.f, ",\"boot_id\":");
	tkm_quote_json(n.f, e->boot_id);
	fprintf(n.f, ",");
	put_fingerprint_field(n.f, "kernel", e->kernel, &hash);
	put_fingerprint_field(n.f, "cpu", e->cpu, &hash);
	put_fingerprint_field(n.f, "hypervisor", e->hypervisor, &hash);
	put_fingerprint_field(n.f, "clocksource", e->clocksource, &hash);
	put_fingerprint_field(n.f, "clocksources", e->clocksources, &hash);
	put_fingerprint_field(n.f, "counter", e->counter, &hash);
	put_fingerprint_field(n.f, "tsc_flags", e->tsc_flags, &hash);
	put_fingerprint_field(n.f, "tsc_invariant",
		e->tsc_invariant < 0       ? "unknown"
			: e->tsc_invariant ? "yes"
					   : "no",
		&hash);
	fprintf(n.f, "\"fingerprint\":\"%016llx\"}\n", (unsigned long long)hash);
	if (to_file) {
		return tkm_newfile_commit(&n, err);
	}
	return fflush(stdout) || ferror(stdout)
		? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write to standard output")
		: 0;
}

/* Slurm reads what a TaskProlog prints: "export NAME=VALUE", "print TEXT". */
static int taskprolog(const struct command *c, struct chk_machine *m, struct chk_stored *s)
{
	struct chk_result age, verdict;

	chk_stored_read(s, c->state_dir, m->env.host);
	chk_result_age(m, NULL, &age);
	chk_result_verdict(m, NULL, &verdict);
	if (age.status == CHK_OK && age.value == 0 && verdict.value == 0 && s->timer[0] && !strpbrk(s->timer, "\n\r")) {
		printf("export VT_TIMER=%s\n", s->timer);
	} else if (!c->quiet) {
		printf("print timertest: no setting for VT_TIMER: %s\n",
			age.status == CHK_OK && age.value == 0 ? verdict.text : age.text);
	}
	return 0;
}

/* Runs the command that the options select. Returns the exit status, or -1 with the reason in *err. */
static int carry_out(const struct command *c, struct chk_machine *m, struct tkm_err *err)
{
	struct chk_stored s = { 0 };
	int rc = -1;

	m->root = tkm_root_open(c->root);
	m->max_age_s = c->max_age_s;
	m->stored = &s;
	if (m->root < 0) {
		return tkm_fail_errno(err, TKM_ERR_ARG, errno, "--root '%s'", c->root);
	}
	if (c->fingerprint) {
		tmr_env_read(m->root, &m->env);
		rc = fingerprint(c, m, err);
	} else if (c->taskprolog) {
		chk_machine_begin(m);
		rc = taskprolog(c, m, &s);
	} else if ((m->timer = open_checked_timer(c, err))) {
		chk_machine_begin(m);
		rc = run_checks(c, m, &s, err);
		tmr_close(m->timer);
	}
	close(m->root);
	return rc;
}

int chk_main(int argc, char **argv)
{
	struct command c = { .format = "human", .max_age_s = 7 * 86400.0, .fail_on_name = "warning", .root = "/" };
	struct chk_machine m = { .gettime = clock_gettime };
	struct tkm_option table[MAX_OPTIONS];
	static const struct tkm_letter letters[] = { { 'o', "OUTPUT" }, { 'q', "QUIET" }, { 'w', "WARNING" },
		{ 'c', "CRITICAL" }, { 0 } };
	const struct tkm_front front = {
		.program = program_invocation_short_name,
		.arguments = "--check [OPTION...]\n--fingerprint [--output=FILE]\n--taskprolog [--state-dir=DIR]",
		.what = "Judges the clocks of this node in under two seconds, without MPI and without root, and the "
			"last "
			"result of timertest for the whole cluster, which is in the state directory.",
		.after = "Exit status: 0 ok, 1 warning, 2 critical, 3 not known or not measured, or wrong usage. What "
			 "does not apply to this machine counts as ok. A warning is worse than what is not known, and "
			 "better than critical.",
		.table = table,
		.letter = letters,
	};
	struct tkm_err err = { .text = "" };
	int rc;

	make_check_options(&c, table);
	rc = parse_check_options(&c, &front, argc, argv, &err);
	if (rc == 0) {
		rc = carry_out(&c, &m, &err);
	}
	tkm_option_free(table, NULL);
	if (rc == TKM_FRONT_ANSWERED) {
		return CHK_OK;
	}
	if (rc < 0) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, err.text);
		return CHK_UNKNOWN;
	}
	return rc;
}

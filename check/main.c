/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "check/main.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/newfile.h"
#include "base/rootfs.h"
#include "base/text.h"
#include "check/check.h"

enum {
	CHECK = 0x100,
	FINGERPRINT,
	TASKPROLOG,
	FORMAT,
	PROFILE,
	MAX_AGE,
	LOAD,
	TIMER,
	FAIL_ON,
	STATE_DIR,
	LOCAL,
	ROOT,
	EXPLAIN
};

struct command {
	int what; /* CHECK, FINGERPRINT or TASKPROLOG */
	const char *format, *output, *profile, *timer, *state_dir, *root;
	double max_age_s;
	int quiet, load, local, explain;
	enum chk_status fail_on;
	const char *limit[2 * CHK_MOST]; /* of -w and -c */
	int critical[2 * CHK_MOST], limits;
	struct tkm_err err;
};

/* clang-format off */
static const struct argp_option options[] = {
	{ "check", CHECK, NULL, 0, "Judge this node's clocks and the last result of timertest", 1 },
	{ "fingerprint", FINGERPRINT, NULL, 0, "Print what the clocks of this node depend on, as JSON", 1 },
	{ "taskprolog", TASKPROLOG, NULL, 0, "Print the settings for jobs that follow from the last result, for Slurm's TaskProlog", 1 },
	{ "format", FORMAT, "NAME", 0, "human (default), json, nagios, prometheus, influx, junit, tap, or mpisync: the stored result as "
		"Open MPI's mpisync prints it", 2 },
	{ "output", 'o', "FILE", 0, "Write there, whole or not at all, instead of to standard output", 2 },
	{ "quiet", 'q', NULL, 0, "Print nothing; the exit status tells", 2 },
	{ "explain", EXPLAIN, NULL, 0, "List the checks with their limits, why each matters and what to do, and stop", 2 },
	{ "profile", PROFILE, "NAME|FILE", 0, "Limits: baremetal, kvm, aws, azure, or a file with lines NAME WARNING CRITICAL or "
		"NAME off (default: what the hypervisor suggests)", 3 },
	{ "warning", 'w', "NAME=LIMIT", 0, "A value of that check above LIMIT is a warning; '-' is no limit", 3 },
	{ "critical", 'c', "NAME=LIMIT", 0, "A value of that check above LIMIT is critical; '-' is no limit", 3 },
	{ "fail-on", FAIL_ON, "STATUS", 0, "warning (default), critical or never: what leads to an exit status other than 0", 3 },
	{ "max-age", MAX_AGE, "TIME", 0, "A stored result that is older is not believed (default 7d)", 3 },
	{ "local", LOCAL, NULL, 0, "Leave out what needs a stored result", 3 },
	{ "load", LOAD, NULL, 0, "Check again with all processing units busy, and keep the worse of both", 4 },
	{ "timer", TIMER, "NAME", 0, "The clock to judge (default CPU, or gettimeofday where its counter cannot be read)", 4 },
	{ "state-dir", STATE_DIR, "DIR", 0, "Where timertest keeps its last result", 4 },
	{ "root", ROOT, "DIR", 0, "Read /proc, /sys and /dev below DIR, a copy of another machine's", 4 },
	{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, 4 },
	{ 0 },
};
/* clang-format on */

static int fail(struct command *c, const char *option, const char *arg, const char *wanted)
{
	tkm_fail(&c->err, TKM_ERR_ARG, "%s '%s': %s", option, arg, wanted);
	return EINVAL;
}

static error_t take_limit(struct command *c, const char *arg, int critical)
{
	if (c->limits == 2 * CHK_MOST) {
		return fail(c, "--warning and --critical", arg, "given too often");
	}
	c->critical[c->limits] = critical;
	c->limit[c->limits++] = arg;
	return 0;
}

static error_t take_fail_on(struct command *c, const char *arg)
{
	if (!strcmp(arg, "warning")) {
		c->fail_on = CHK_WARNING;
	} else if (!strcmp(arg, "critical")) {
		c->fail_on = CHK_CRITICAL;
	} else if (!strcmp(arg, "never")) {
		c->fail_on = CHK_ABSENT;
	} else {
		return fail(c, "--fail-on", arg, "warning, critical and never are known");
	}
	return 0;
}

static error_t take_action(struct command *c, int key, const char *word)
{
	if (c->what && c->what != key) {
		return fail(c, word, "", "one of --check, --fingerprint and --taskprolog at a time");
	}
	c->what = key;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct command *c = state->input;

	switch (key) {
	case CHECK:
	case FINGERPRINT:
	case TASKPROLOG:
		return take_action(c, key, state->argv[state->next - 1]);
	case FORMAT:
		c->format = arg;
		return chk_is_format(arg)
			? 0
			: fail(c, "--format", arg,
				  "human, json, nagios, prometheus, influx, junit, tap and mpisync are known");
	case 'o':
		c->output = arg;
		return 0;
	case 'q':
		c->quiet = 1;
		return 0;
	case EXPLAIN:
		c->explain = 1;
		return 0;
	case PROFILE:
		c->profile = arg;
		return 0;
	case 'w':
	case 'c':
		return take_limit(c, arg, key == 'c');
	case FAIL_ON:
		return take_fail_on(c, arg);
	case MAX_AGE:
		return tkm_parse_time(arg, &c->max_age_s) < 0 || c->max_age_s < 0
			? fail(c, "--max-age", arg, "not a time like 7d")
			: 0;
	case LOCAL:
		c->local = 1;
		return 0;
	case LOAD:
		c->load = 1;
		return 0;
	case TIMER:
		c->timer = arg;
		return 0;
	case STATE_DIR:
		c->state_dir = arg;
		return 0;
	case ROOT:
		c->root = arg;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARG:
		return fail(c, "argument", arg, "--check takes none");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int chk_asked(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--check") || !strcmp(argv[i], "--fingerprint") ||
			!strcmp(argv[i], "--taskprolog")) {
			return 1;
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

/* A copy of CLOCK_MONOTONIC is not what is judged: the counter is what traces are stamped with. */
static struct tmr_timer *open_timer(const struct command *c, struct tkm_err *err)
{
	struct tmr_timer *t = tmr_open(c->timer ? c->timer : "CPU", 0, err);

	return t || c->timer ? t : tmr_open("gettimeofday", 0, err);
}

static int needs_result(const char *name)
{
	return !strncmp(name, "sync.", 5) || !strncmp(name, "result.", 7) || !strcmp(name, "clocksource.changed") ||
		!strcmp(name, "vm.migrated");
}

static int set_limits(const struct command *c, const struct tmr_env *env, struct chk_report *r, struct tkm_err *err)
{
	size_t k;
	int i;

	if (chk_profile(r->limit, c->profile, env, &r->profile, err) < 0) {
		return -1;
	}
	for (k = 0; k < chk_count; k++) {
		r->limit[k].off |= c->local && needs_result(chk_table[k].name);
	}
	for (i = 0; i < c->limits; i++) {
		if (chk_set_limit(r->limit, c->limit[i], c->critical[i], err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int print_report(
	const struct command *c, const struct chk_report *r, const struct chk_stored *s, struct tkm_err *err)
{
	struct tkm_newfile n;
	int rc;

	if (c->quiet && !c->output) {
		return 0;
	}
	if (!c->output || !strcmp(c->output, "-")) {
		rc = chk_write(stdout, c->format, r, s, err);
		return rc == 0 && (fflush(stdout) || ferror(stdout))
			? tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write to standard output")
			: rc;
	}
	if (tkm_newfile_begin(&n, c->output, 1, err) < 0) {
		return -1;
	}
	if (chk_write(n.f, c->format, r, s, err) < 0) {
		tkm_newfile_abort(&n);
		return -1;
	}
	return tkm_newfile_commit(&n, err);
}

static int explain(const struct command *c, struct chk_machine *m, struct tkm_err *err)
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

static int exit_status(const struct command *c, enum chk_status s)
{
	return s == CHK_UNKNOWN || c->fail_on == CHK_ABSENT ? (c->fail_on == CHK_WARNING ? (int)s : 0)
		: s >= c->fail_on                           ? (int)s
							    : 0;
}

static int check(const struct command *c, struct chk_machine *m, struct chk_stored *s, struct tkm_err *err)
{
	struct chk_report r, loaded;
	struct load load;
	int rc = -1;

	if (c->explain) {
		return explain(c, m, err);
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
	return rc < 0 ? -1 : exit_status(c, chk_overall(&r));
}

static void field(FILE *f, const char *name, const char *value, uint64_t *hash)
{
	fprintf(f, "\"%s\":", name);
	chk_json_text(f, value);
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
	chk_json_text(n.f, e->host);
	fprintf(n.f, ",\"boot_id\":");
	chk_json_text(n.f, e->boot_id);
	fprintf(n.f, ",");
	field(n.f, "kernel", e->kernel, &hash);
	field(n.f, "cpu", e->cpu, &hash);
	field(n.f, "hypervisor", e->hypervisor, &hash);
	field(n.f, "clocksource", e->clocksource, &hash);
	field(n.f, "clocksources", e->clocksources, &hash);
	field(n.f, "counter", e->counter, &hash);
	field(n.f, "tsc_flags", e->tsc_flags, &hash);
	field(n.f, "tsc_invariant", e->tsc_invariant < 0 ? "unknown" : e->tsc_invariant ? "yes" : "no", &hash);
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

static const char doc[] =
	"Judges the clocks of this node in under two seconds, without MPI and without root, and the last result of "
	"timertest for the whole cluster, which is in the state directory ($XDG_STATE_HOME/tickmark, "
	"/var/lib/tickmark for root, else "
	"~/.local/state/tickmark).\v"
	"Exit status: 0 ok, 1 warning, 2 critical, 3 not known or not measured (also wrong usage). What does not apply "
	"to this machine "
	"counts as ok. A warning is worse than what is not known, and better than critical.";

int chk_main(int argc, char **argv)
{
	static const struct argp front = { options, parse, "", doc, NULL, NULL, NULL };
	struct command c = { .format = "human", .max_age_s = 7 * 86400.0, .fail_on = CHK_WARNING, .root = "/" };
	struct chk_machine m = { .adjtimex = adjtimex, .gettime = clock_gettime };
	struct chk_stored s = { 0 };
	struct tkm_err err = { .text = "" };
	int rc = -1;

	if (argp_parse(&front, argc, argv, 0, NULL, &c)) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name,
			c.err.text[0] ? c.err.text : "see --check --help");
		return CHK_UNKNOWN;
	}
	m.root = tkm_root_open(c.root);
	m.max_age_s = c.max_age_s;
	m.stored = &s;
	if (m.root < 0) {
		tkm_fail_errno(&err, TKM_ERR_ARG, errno, "--root '%s'", c.root);
	} else if (c.what == FINGERPRINT) {
		tmr_env_read(m.root, &m.env);
		rc = fingerprint(&c, &m, &err);
	} else if (c.what == TASKPROLOG) {
		chk_machine_begin(&m);
		rc = taskprolog(&c, &m, &s);
	} else if ((m.timer = open_timer(&c, &err))) {
		chk_machine_begin(&m);
		rc = check(&c, &m, &s, &err);
		tmr_close(m.timer);
	}
	if (m.root >= 0) {
		close(m.root);
	}
	chk_stored_free(&s);
	if (rc < 0) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, err.text);
		return CHK_UNKNOWN;
	}
	return rc;
}

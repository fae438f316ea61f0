/* SPDX-License-Identifier: BSD-3-Clause */
/* timertest tests the clocks of the processes of an MPI run. The steps are in main() and run_test() below; all processes
 * take each step together. Everything after the measurement is rank 0's work. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/newfile.h"
#include "base/rootfs.h"
#include "base/text/text.h"
#include "calib/session/agree.h"
#include "calib/file/clk.h"
#include "check/main.h"
#include "check/stored.h"
#include "timers/sources/sim.h"
#include "timers/quality/tick.h"

/* ---- steps ---- */

/* The true rate over the whole run, where NTP keeps the clock of this node. */
static void find_true_rate(struct cal_test *t)
{
	struct tmr_timer *real = tmr_open("clock_realtime", 0, NULL);
	struct tmr_grid g;
	struct tmr_mark end;

	if (real && tmr_tick_measure(real, TMR_TICK_BUDGET_S, NULL, &g, NULL) == 0) {
		tmr_mark_take(t->timer, &end);
		tmr_true_rate_between(&t->begin, &end, fmax(t->me.quality.grid.lag_ticks, 1), g.lag_ticks / real->hz,
			&t->me.true_rate);
	}
	tmr_close(real);
}

/* The processing unit that this process may use if it is a single one, else -1. */
static int32_t only_unit(void)
{
	struct tkm_cpus own = { .set = NULL };
	int32_t unit = tkm_cpus_own(&own) == 0 && tkm_cpus_count(&own) == 1 ? tkm_cpus_next(&own, -1) : -1;

	tkm_cpus_free(&own);
	return unit;
}

static void describe_rank(struct cal_test *t)
{
	struct cal_rank *r = &t->rank;
	const struct tmr_quality *q = &t->me.quality;

	r->rank = t->link->rank;
	snprintf(r->host, sizeof(r->host), "%s", t->me.env.host);
	snprintf(r->boot_id, sizeof(r->boot_id), "%s", t->me.env.boot_id);
	snprintf(r->time_ns, sizeof(r->time_ns), "%s", t->me.env.time_ns);
	snprintf(r->timer, sizeof(r->timer), "%s", t->timer->name);
	r->nominal_hz = t->timer->hz;
	r->measured_hz = q->have_freq ? q->freq.hz : 0;
	r->measured_se_ppm = q->have_freq ? q->freq.se_ppm : NAN;
	r->measured_bound_ppm = q->have_freq ? q->freq.bound_ppm : NAN;
	r->effective_tick_s = tmr_reading_lag(t->timer, q);
	r->may_step = (t->timer->flags & TMR_STEPPED) != 0;
	t->me.scope = t->timer->scope;
	t->me.machine = t->place[t->link->rank].machine;
	t->me.node = t->place[t->link->rank].leader;
	t->me.only_unit = only_unit();
}

/* Sleeps on all ranks; rank 0 shows how far it is. */
static void pause_until(struct cal_test *t, double begin, double until)
{
	double now;

	while ((now = cal_link_seconds(t->link)) < until) {
		cal_test_progress(t, now - begin, NULL);
		cal_link_sleep(t->link, fmin(until - now, t->reference ? 0.5 * cal_pair_every_s : 0.5));
		cal_test_pair_if_due(t);
	}
}

/* Sleeps, and wakes for the sessions that are due; rank 0 says how many. */
static int pause_with_sessions(struct cal_test *t, double begin, double seconds, struct tkm_err *err)
{
	double every, until = cal_link_seconds(t->link) + seconds;
	long long n, i;

	if (cal_test_plan_sessions(t, err) < 0) {
		return -1;
	}
	every = t->result.session_every_s;
	n = every > 0 ? (long long)((until - t->synchronised_at) / every) : 0;
	if (cal_link_bcast(t->link, &n, sizeof(n), err) < 0) {
		return -1;
	}
	for (i = 1; i <= n; i++) {
		pause_until(t, begin, t->synchronised_at + every);
		if (cal_test_synchronise(t, CAL_MIDDLE, err) < 0) {
			return -1;
		}
	}
	pause_until(t, begin, until);
	return 0;
}

static int test_messages(struct cal_test *t, struct tkm_err *err)
{
	double begin = cal_link_seconds(t->link), now;
	int cycle = 0, go = 1;

	if (cal_test_settle(t, err) < 0 || cal_test_synchronise(t, CAL_START, err) < 0) {
		return -1;
	}
	while (go && t->link->size > 1) {
		if (cal_test_synchronise(t, CAL_MIDDLE, err) < 0 ||
			cal_test_record_bursts(t, cycle++, begin, err) < 0) {
			return -1;
		}
		now = cal_link_seconds(t->link);
		if (pause_with_sessions(t, begin, fmin(t->o.sleep_s, fmax(begin + t->o.seconds - now, 0)), err) < 0) {
			return -1;
		}
		go = cal_link_seconds(t->link) - begin < t->o.seconds;
		if (cal_link_bcast(t->link, &go, sizeof(go), err) < 0) {
			return -1;
		}
	}
	cal_test_progress_end(t);
	if (t->link->size == 1) {
		/* the run still has two ends */
		pause_until(t, begin, begin + (t->reference ? t->o.seconds : 0.01));
	}
	return cal_test_synchronise(t, CAL_END, err) < 0 ? -1 : cal_test_settle(t, err);
}

/* ---- rank 0 writes and judges ---- */

static int write_test_clk(const char *path, const struct cal_test *t, struct tkm_err *err)
{
	struct tkm_newfile n;

	if (tkm_newfile_begin(&n, path, t->o.force, err) < 0) {
		return -1;
	}
	if (cal_clk_write(n.f, &t->result.run, PACKAGE_STRING " timertest", err) < 0) {
		tkm_newfile_abort(&n);
		return -1;
	}
	return tkm_newfile_commit(&n, err);
}

/* No half results: what this run has written goes again when the rest cannot be written. */
static void remove_files(const char *base)
{
	static const char *const suffixes[] = { ".stf", ".stf.dcl", ".stf.msg", ".stf.msg.anc", ".clk", ".run.dat",
		".transform.dat", ".samples.dat", ".error.dat", ".histogram.dat", ".matrix.dat", ".gnuplot" };
	char path[4096];
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", base, suffixes[i]);
		unlink(path);
	}
}

/* A signal came while the files were written. */
static void die_if_interrupted(const struct cal_test *t)
{
	const struct cal_test_options *o = &t->o;
	char path[4096];

	if (cal_test_interrupted()) {
		remove_files(o->output);
		snprintf(path, sizeof(path), "%s.txt", o->output);
		if (t->wrote_details) {
			unlink(path);
		}
		if (o->json && strcmp(o->json, "-")) {
			unlink(o->json);
		}
		cal_test_die_of(cal_test_interrupted());
	}
}

/* All of it to the file. Returns whether all is printed, too. */
static int keep_all(struct cal_test *t)
{
	int all = cal_test_prints_all(t);

	if (t->details) {
		cal_test_print_result(t->details, &t->o, &t->result, 1);
		cal_test_print_nodes(t->details, &t->result);
		fprintf(t->details, "verdict: %s\n", t->result.verdict.text);
	}
	cal_test_write_details(t);
	return all;
}

static void print_found(const struct cal_test *t, int all)
{
	if (all) {
		cal_test_print_result(stdout, &t->o, &t->result, 0);
	} else if (cal_test_prints(t)) {
		cal_test_print_brief(stdout, &t->o, &t->result);
	}
	/* with --json - standard output is JSON alone */
	if (!t->o.json || strcmp(t->o.json, "-")) {
		printf("verdict: %s\n", t->result.verdict.text);
	}
}

/* Fits, writes, reads back, judges. */
static int evaluate(struct cal_test *t, struct tkm_err *err)
{
	struct cal_test_result *r = &t->result;
	char trace[4096], clk[4096];
	int all;

	snprintf(trace, sizeof(trace), "%s.stf", t->o.output);
	snprintf(clk, sizeof(clk), "%s.clk", t->o.output);
	if (cal_solve(&r->run, (int)t->o.timer_skip, err) < 0) {
		return -1;
	}
	cal_test_begin_writing();
	if (cal_test_trace_write(trace, &t->o, r, err) < 0) {
		die_if_interrupted(t);
		return -1;
	}
	die_if_interrupted(t);
	if (cal_test_trace_read(trace, r, err) < 0 || write_test_clk(clk, t, err) < 0) {
		remove_files(t->o.output);
		die_if_interrupted(t);
		return -1;
	}
	die_if_interrupted(t);
	cal_test_find_truth(r);
	cal_test_judge(r);
	if (cal_test_write_plots(t->o.output, &t->o, r, err) < 0 ||
		(t->o.json && cal_test_write_json(t->o.json, &t->o, r, err) < 0)) {
		remove_files(t->o.output);
		die_if_interrupted(t);
		return -1;
	}
	die_if_interrupted(t);
	all = keep_all(t);
	die_if_interrupted(t);
	cal_test_end_writing();
	print_found(t, all);
	if (fflush(stdout) != 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write to standard output");
	}
	if (t->o.output == t->output) {
		fprintf(stderr, "%s: earlier results have the name that was asked for; these are in %s and %s\n",
			program_invocation_short_name, trace, clk);
	}
	return 0;
}

/* VT_TIMER=LIST: rank 0's list, at verbosity 2 one of each node. */
static int list_timers_in_order(struct cal_test *t, struct tkm_err *err)
{
	int me = t->link->rank, wanted = me == 0 || (t->o.verbose >= 2 && t->place[me].index == 0);
	char prefix[160], *text = NULL;
	size_t length = 0;
	FILE *f = open_memstream(&text, &length);

	if (f) {
		if (wanted && t->o.verbose >= 2) {
			snprintf(prefix, sizeof(prefix), "%s:\n", t->me.env.host);
			fputs(prefix, f);
		}
		if (wanted) {
			tmr_list(f);
		}
		tkm_text_end(f, &text);
	}
	t->o.quiet = 0;
	return cal_test_print_in_order(t, text, length, err);
}

/* The result goes to the state directory of every node, for timertest --check. That it cannot be kept is no failure of the
 * test. Returns -1 only when the ranks do not find each other. */
static int keep_result(struct cal_test *t, struct tkm_err *err)
{
	struct tkm_err why = { .text = "" };
	char *text = NULL;
	int64_t size = 0;
	int rc;

	/* rank 0 decides: ranks may have different timers and settings */
	if (t->link->rank == 0 && cal_test_have_json() && t->o.state_dir[0] && !(t->timer->flags & TMR_SIMULATED)) {
		text = cal_test_json_text(&t->o, &t->result);
		size = text ? (int64_t)strlen(text) + 1 : 0;
	}
	rc = cal_link_bcast(t->link, &size, sizeof(size), err);
	if (rc == 0 && size > 0 && t->link->rank != 0) {
		text = malloc((size_t)size);
	}
	if (rc < 0 || size == 0 ||
		cal_test_all_well(t, text ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for the result"), err) <
			0) {
		free(text);
		return rc < 0 || size > 0 ? -1 : 0;
	}
	rc = cal_link_bcast(t->link, text, (size_t)size, err);
	if (rc == 0 && t->place[t->link->rank].leader == t->link->rank && t->o.state_dir[0] &&
		chk_stored_write(strcmp(t->o.state_dir, "default") ? t->o.state_dir : NULL, text, &why) < 0) {
		fprintf(stderr, "%s: note: the result is not kept for timertest --check: %s\n",
			program_invocation_short_name, why.text);
	}
	free(text);
	return rc;
}

static int open_and_measure_timer(struct cal_test *t, struct tkm_err *err)
{
	if (cal_test_choose_timer(t, err) < 0) {
		return -1;
	}
	t->timer = t->link->timer = tmr_open(t->o.timer, t->link->rank, err);
	if (cal_test_all_well(t, t->timer ? 0 : -1, err) < 0 || cal_test_measure_timer(t, err) < 0 ||
		cal_test_measure_matrix(t, err) < 0) {
		return -1;
	}
	/* what a simulated clock does at a time is to happen then, however long the machine took to get here */
	if (cal_test_all_well(t, tmr_sim_restart(t->timer, err), err) < 0) {
		return -1;
	}
	tmr_mark_take(t->timer, &t->begin);
	describe_rank(t);
	return 0;
}

/* Which ranks share a clock, what the sessions measure, and which pairs exchange messages. */
static int choose_clocks(struct cal_test *t, struct tkm_err *err)
{
	if (cal_test_share_timers(t, err) < 0) {
		return -1;
	}
	cal_places_choose(t->place, t->link->size, t->o.synced_host,
		t->o.synced_cluster >= 0 ? t->o.synced_cluster : t->clusterwide, t->exchanges, &t->rank);
	if (cal_test_open_reference(t, err) < 0 || cal_test_share_session_hz(t, err) < 0) {
		return -1;
	}
	t->link->idle = t->reference ? cal_test_pair_if_due : NULL;
	t->link->idle_of = t;
	t->o.sync.hz = t->hz;
	return cal_test_all_well(t,
		cal_places_plan(t->place, t->link->size, t->exchanges, t->o.shape, &t->plan, err) < 0 ||
				cal_test_plan_bursts(t, err) < 0
			? -1
			: 0,
		err);
}

/* Earlier results stay: "timertest" becomes "timertest-1" where one of them has the name. Ends with a check that the files
 * can be written. */
static int choose_output(struct cal_test *t, struct tkm_err *err)
{
	static const char *const suffixes[] = { ".stf", ".clk", ".gnuplot", NULL };
	const char *asked = t->o.output;
	int i;

	for (i = 1; !t->o.force && i < 10000 &&
		(tkm_newname_is_taken(t->o.output, suffixes) || cal_test_has_details(t->o.output));
		i++) {
		if ((size_t)snprintf(t->output, sizeof(t->output), "%s-%d", asked, i) >= sizeof(t->output)) {
			break;
		}
		t->o.output = t->output;
	}
	cal_test_keep_details(t);
	return tkm_newfiles_possible(t->o.output, suffixes, t->o.force, err);
}

static int run_test(struct cal_test *t, struct tkm_err *err)
{
	int root = tkm_root_open("/"), rc;
	int32_t fit = CAL_TEST_FIT;

	tmr_env_read(root, &t->me.env);
	t->me.pid = (uint32_t)getpid();
	close(root);
	if (cal_test_find_places(t, err) < 0 || cal_test_settle_timer(t, err) < 0) {
		return CAL_TEST_ERROR;
	}
	if (strcasecmp(t->o.timer, "LIST") == 0) {
		return list_timers_in_order(t, err) < 0 ? CAL_TEST_ERROR : CAL_TEST_FIT;
	}
	/* a wrong name before a file that exists, which the user might remove in vain */
	rc = cal_test_check_timer(t, t->o.timer, err);
	if (cal_test_all_well(t, rc == 0 && t->link->rank == 0 ? cal_test_json_possible(&t->o, err) : rc, err) < 0) {
		return CAL_TEST_ERROR;
	}
	if (cal_test_all_well(t, t->link->rank == 0 ? choose_output(t, err) : 0, err) < 0 ||
		open_and_measure_timer(t, err) < 0 || choose_clocks(t, err) < 0) {
		return CAL_TEST_ERROR;
	}
	t->link->gathering_s = 12 * t->o.patience_s;
	rc = test_messages(t, err);
	find_true_rate(t);
	if (cal_test_all_well(t, rc, err) < 0 || cal_test_measure_matrix_again(t, err) < 0 ||
		cal_test_collect(t, err) < 0) {
		return CAL_TEST_ERROR;
	}
	t->link->idle = NULL;
	t->link->gathering_s = 3600; /* rank 0 writes the files meanwhile */
	rc = t->link->rank == 0 ? evaluate(t, err) : 0;
	if (cal_test_all_well(t, rc, err) < 0 || keep_result(t, err) < 0) {
		return CAL_TEST_ERROR;
	}
	fit = t->link->rank == 0 ? cal_test_exit_status(t->result.verdict.value) : 0;
	return cal_link_bcast(t->link, &fit, sizeof(fit), err) < 0 ? CAL_TEST_ERROR : fit;
}

int main(int argc, char **argv)
{
	struct cal_test t;
	int rc;

	memset(&t, 0, sizeof(t));
	if (chk_asked(argc, argv)) {
		return chk_main(argc, argv);
	}
	rc = cal_test_options_parse(argc, argv, &t.o);
	if (rc != 0) {
		return rc < 0 ? CAL_TEST_ERROR : CAL_TEST_FIT;
	}
#ifdef TIMERTEST_TCP
	t.meet = cal_test_meet;
	t.end_remotes = cal_test_end_remotes;
#else
	t.meet = cal_test_become_tcp;
#endif
	return cal_test_run_ranks(&t, argc, argv, run_test);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks of timertest continue, or none does. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cal_test_all_well(struct cal_test *t, int rc, const struct tkm_err *err)
{
	struct cal_blobs all;
	struct tkm_err *e = &t->silence;
	const char *text = rc < 0 ? err->text : "";
	int bad = -1, alike = 1, i;

	if (rc < 0 && err->code == TKM_ERR_TIMEOUT) {
		*e = *err;
		return -1;
	}
	if (cal_link_gather(t->link, text, strlen(text), &all, e) < 0) {
		return -1;
	}
	for (i = all.n - 1; i >= 0; i--) {
		bad = all.length[i] ? i : bad;
	}
	for (i = 0; i < all.n; i++) {
		alike = alike && bad >= 0 && strcmp(all.data[i], all.data[bad]) == 0;
	}
	if (bad >= 0 && alike) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, all.data[bad]);
	} else if (bad >= 0) {
		fprintf(stderr, "%s: rank %d: %s\n", program_invocation_short_name, bad, all.data[bad]);
	}
	cal_blobs_free(&all);
	if (cal_link_bcast(t->link, &bad, sizeof(bad), e) < 0) {
		return -1;
	}
	return bad >= 0 ? -1 : 0;
}

/* A rank is silent, so the end cannot be agreed on with it: says so, and ends all. Rank 0 speaks first. */
static void give_up_silent_rank(struct cal_test *t, const struct tkm_err *why)
{
	if (t->link->rank != 0) {
		cal_link_sleep(t->link, 1);
	}
	fprintf(stderr, "%s: rank %d: %s: is it stopped, or has it died? (--patience)\n", program_invocation_short_name,
		t->link->rank, why->text);
	fflush(NULL);
	cal_link_abort(t->link, CAL_TEST_ERROR);
}

/* A launcher of Open MPI takes a verdict for an accident and prints some ten lines about an aborted job. It decides so
 * before it starts the ranks, so that they can only say what will come. From version 5 on the launcher is PRRTE, which
 * cannot be told to be quiet, and takes --quiet for an error. */
static void explain_mpirun(int status)
{
	const char *quiet = getenv("OMPI_MCA_orte_execute_quiet"), *job = getenv("PMIX_NAMESPACE");
	int prrte = getenv("PRTE_LAUNCHED") || (job && strncmp(job, "prterun", 7) == 0);

	if ((status == CAL_TEST_UNFIT || status == CAL_TEST_UNKNOWN) && getenv("OMPI_COMM_WORLD_SIZE") &&
		(prrte || !(quiet && strcmp(quiet, "1") == 0))) {
		fprintf(stderr,
			"%s: exit status %d is the result above; what mpirun prints now about an aborted job means "
			"nothing else%s\n",
			program_invocation_short_name, status, prrte ? "" : " (mpirun --quiet leaves it out)");
	}
}

void cal_test_result_free(struct cal_test_result *r)
{
	int i;

	for (i = 0; i < r->nodes; i++) {
		tmr_matrix_free(&r->matrix[i].m);
	}
	for (i = 0; r->rank && i < r->ranks; i++) {
		free(r->rank[i].event);
	}
	free(r->matrix);
	free(r->rank);
	free(r->truth);
	free(r->longer_s);
	free(r->burst);
	cal_run_free(&r->run);
}

static void end_remotes(const struct cal_test *t)
{
	if (t->end_remotes) {
		t->end_remotes();
	}
}

int cal_test_run_ranks(struct cal_test *t, int argc, char **argv, int (*run)(struct cal_test *t, struct tkm_err *err))
{
	struct tkm_err err = { .text = "" };
	int rc, rank, size;

	cal_link_hint(&rank, &size);
	cal_test_catch_signals(rank == 0);
	t->link = t->meet && (t->o.hosts || t->o.join) ? t->meet(t, argc, argv, &err)
						       : cal_link_start(&argc, &argv, &err);
	if (!t->link) {
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, err.text);
		end_remotes(t);
		return CAL_TEST_ERROR;
	}
	t->link->patience_s = t->o.patience_s;
	t->link->gathering_s = 12 * t->o.patience_s + 60 + 4 * t->o.performance_s;
	rc = run(t, &err);
	if (rc == CAL_TEST_ERROR && (t->silence.text[0] || err.code == TKM_ERR_TIMEOUT)) {
		give_up_silent_rank(t, t->silence.text[0] ? &t->silence : &err);
	}
	if (t->link->rank == 0) {
		explain_mpirun(rc);
	}
	tmr_close(t->reference);
	tmr_close(t->timer);
	cal_rank_free(&t->rank);
	tmr_matrix_free(&t->matrix.m);
	free(t->me.event);
	free(t->place);
	free(t->exchanges);
	free(t->hz);
	cal_plan_free(&t->plan);
	cal_test_rounds_free(&t->rounds);
	free(t->early);
	cal_test_result_free(&t->result);
	cal_test_drop_details(t);
	cal_link_close(t->link);
	end_remotes(t);
	free(t->settings);
	return rc;
}

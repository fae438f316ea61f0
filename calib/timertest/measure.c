/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer: which one, what it costs, how fast it runs, how far the cores of a node are apart. All ranks together. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/text/text.h"
#include "calib/session/agree.h"

int cal_test_print_in_order(struct cal_test *t, char *text, size_t length, struct tkm_err *err)
{
	struct cal_blobs all;
	char none[80];
	int i;

	snprintf(none, sizeof(none), "[%d] out of memory for what belongs here\n", t->link->rank);
	if (cal_link_gather(t->link, text ? text : none, text ? length : strlen(none), &all, err) < 0) {
		free(text);
		return -1;
	}
	for (i = 0; i < all.n; i++) {
		cal_test_print_text(t, all.data[i], all.length[i]);
	}
	cal_blobs_free(&all);
	free(text);
	return 0;
}

/* One line in front of each line of output: which process it is about. */
static const char *prefix_of(const struct cal_test *t, char *buf, size_t size)
{
	buf[0] = '\0';
	if (t->link->size > 1) {
		snprintf(buf, size, "[%d (%s)] ", t->link->rank, t->me.env.host);
	}
	return buf;
}

int cal_test_measure_in_turns(struct cal_test *t, double seconds, int share, struct tkm_err *err)
{
	const double shortest_share_s = 0.02, rest_s = 0.2; /* what a turn takes besides */
	const struct cal_place *p = &t->place[t->link->rank];
	long units = sysconf(_SC_NPROCESSORS_ONLN);
	int32_t most = 1;
	int i, round, rounds, brief, rc = 0;

	for (i = 0; i < t->link->size; i++) {
		most = t->place[i].on_node > most ? t->place[i].on_node : most;
	}
	rounds = (int)((most + units - 1) / (units > 0 ? units : 1));
	brief = share && seconds / rounds < 2 * rest_s;
	seconds = share && rounds > 1 ? fmax(seconds / rounds - rest_s, shortest_share_s) : seconds;
	for (round = 0; round < rounds; round++) {
		if (p->index % rounds == round) {
			rc = tmr_quality_measure(t->timer, seconds, brief, &t->me.quality, err);
		}
		if (cal_link_barrier(t->link, err) < 0) {
			return -1;
		}
	}
	return cal_test_all_well(t, rc, err);
}

/* Ranks that read one clock take the same tick for it: the largest that any of them has found. */
static int agree_on_ticks(struct cal_test *t, struct tkm_err *err)
{
	struct tmr_grid *g = &t->me.quality.grid;
	struct cal_tick *tick = calloc((size_t)t->link->size, sizeof(*tick)),
			mine = g->ticks > 0 ? (struct cal_tick){ g->ticks, g->lag_ticks }
					    : (struct cal_tick){ NAN, NAN };
	int rc = tick ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", t->link->size);

	if (rc == 0) {
		rc = cal_ticks_agree(t->link, t->place, mine, tick, err);
	}
	if (rc == 0 && tick[t->link->rank].ticks > 0) {
		g->ticks = tick[t->link->rank].ticks;
		g->lag_ticks = tick[t->link->rank].lag_ticks;
	}
	free(tick);
	return rc;
}

int cal_test_measure_timer(struct cal_test *t, struct tkm_err *err)
{
	const struct cal_place *p = &t->place[t->link->rank];
	char prefix[160], *text = NULL;
	size_t length = 0;
	FILE *f;

	if (cal_test_measure_in_turns(t, t->o.performance_s, t->o.performance_shared, err) < 0 ||
		agree_on_ticks(t, err) < 0) {
		return -1;
	}
	f = open_memstream(&text, &length);
	if (f) {
		prefix_of(t, prefix, sizeof(prefix));
		if (p->index == 0) {
			tmr_env_print(f, prefix, &t->me.env);
		}
		cal_test_print_quality(f, prefix, t->timer, &t->me.quality);
		tkm_text_end(f, &text);
	}
	return cal_test_print_in_order(t, text, length, err);
}

int cal_test_measure_matrix(struct cal_test *t, struct tkm_err *err)
{
	struct tkm_err why = { .text = "" };

	t->matrix.rank = t->link->rank;
	if (t->place[t->link->rank].index == 0 &&
		tmr_matrix_measure(t->timer, tmr_reading_lag(t->timer, &t->me.quality), &t->matrix.m, &why) < 0) {
		snprintf(t->matrix.why, sizeof(t->matrix.why), "%.190s", why.text);
	}
	return cal_link_barrier(t->link, err);
}

int cal_test_measure_matrix_again(struct cal_test *t, struct tkm_err *err)
{
	struct tkm_err why = { .text = "" };
	double before = t->link->gathering_s;
	int rc;

	if (t->place[t->link->rank].index == 0 && !t->matrix.why[0] &&
		tmr_matrix_measure_again(t->timer, tmr_reading_lag(t->timer, &t->me.quality), &t->matrix.m, &why) < 0) {
		snprintf(t->matrix.not_again, sizeof(t->matrix.not_again), "%.190s", why.text);
	}
	t->link->gathering_s += 60; /* other nodes have more to measure */
	rc = cal_link_barrier(t->link, err);
	t->link->gathering_s = before;
	return rc;
}

int cal_test_check_timer(const struct cal_test *t, const char *name, struct tkm_err *err)
{
	struct tmr_timer *timer;

	if (strcasecmp(name, "LIST") == 0 || strcmp(name, CAL_TEST_DEFAULT_TIMER) == 0) {
		return 0;
	}
	timer = tmr_open(name, t->link->rank, err);
	tmr_close(timer);
	return timer ? 0 : -1;
}

/* On a rank that was started with another timer than rank 0. */
static int take_timer_of_rank0(void *ctx, const char *name, struct tkm_err *err)
{
	struct cal_test *t = ctx;

	if (cal_test_check_timer(t, name, err) < 0) {
		return -1;
	}
	snprintf(t->taken, sizeof(t->taken), "%s", name);
	t->o.timer = t->taken;
	return 0;
}

int cal_test_settle_timer(struct cal_test *t, struct tkm_err *err)
{
	struct cal_timer_choice choice;

	if (cal_timers_settle(t->link, t->o.timer, take_timer_of_rank0, t, &choice, err) < 0) {
		return -1;
	}
	if (choice.differ > 0 && t->link->rank == 0) {
		fprintf(stderr, "%s: warning: %s%s\n", program_invocation_short_name, choice.text,
			choice.unsettled ? ": these clocks are not the same" : "");
	}
	return 0;
}

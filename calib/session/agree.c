/* SPDX-License-Identifier: BSD-3-Clause */
/* What all ranks must know alike about their timers; see calib/session/agree.h. */
#include "config.h"
#include "calib/session/agree.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "timers/quality/prove.h"

/* What a rank tells the others about its timer. */
struct told {
	struct cal_tick tick;
	int32_t rank, machine;
	char timer[256];
};

static int by_clock(const void *a, const void *b)
{
	const struct told *x = a, *y = b;
	int c = x->machine != y->machine ? (x->machine > y->machine) - (x->machine < y->machine)
					 : strcmp(x->timer, y->timer);

	return c ? c : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Equal neighbours after sorting read one clock. */
static void take_largest(struct told *told, int n, struct cal_tick *tick)
{
	int i, k;

	qsort(told, (size_t)n, sizeof(*told), by_clock);
	for (i = 0; i < n; i = k) {
		struct cal_tick largest = told[i].tick;

		for (k = i; k < n && told[k].machine == told[i].machine && strcmp(told[k].timer, told[i].timer) == 0;
			k++) {
			largest.ticks = fmax(largest.ticks, told[k].tick.ticks);
			largest.lag_ticks = fmax(largest.lag_ticks, told[k].tick.lag_ticks);
		}
		for (; i < k; i++) {
			tick[told[i].rank] = largest;
		}
	}
}

int cal_ticks_agree(struct cal_link *l, const struct cal_place *place, struct cal_tick mine, struct cal_tick *tick,
	struct tkm_err *err)
{
	int me = l->rank < 0 ? 0 : l->rank, rc;
	struct told self = { .tick = mine, .rank = me, .machine = place[me].machine },
		    *told = calloc((size_t)l->size, sizeof(*told));

	snprintf(self.timer, sizeof(self.timer), "%s", l->timer->name);
	rc = told ? cal_link_collect(l, &self, sizeof(self), told, err)
		  : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", l->size);
	if (rc == 0 && l->rank <= 0) {
		take_largest(told, l->rank < 0 ? 1 : l->size, tick);
	}
	free(told);
	return rc < 0 ? rc : cal_link_bcast(l, tick, (size_t)l->size * sizeof(*tick), err);
}

/* What a rank had chosen, and why it keeps that; "": it reads the timer of rank 0. */
struct chosen {
	char own[256], why[120];
};

__attribute__((format(printf, 3, 4))) static void append_timer_name(char *text, size_t size, const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, size - n, fmt, ap);
	va_end(ap);
}

/* "rank 1", "ranks 1, 3 and 5 to 7": those that had that name and take, or keep. */
static void name_ranks(const struct chosen *c, int n, const char *own, int keeps, char *text, size_t size)
{
	int i, k, ranks = 0;

	for (i = 0; i < n; i++) {
		ranks += !strcasecmp(c[i].own, own) && (c[i].why[0] != '\0') == keeps;
	}
	append_timer_name(text, size, ranks > 1 ? "ranks " : "rank ");
	for (i = 0, ranks = 0; i < n; i = k + 1) {
		for (k = i; k < n && !strcasecmp(c[k].own, own) && (c[k].why[0] != '\0') == keeps; k++) {
		}
		if (k > i) {
			append_timer_name(text, size, "%s%d", ranks++ ? ", " : "", i);
		}
		if (k > i + 1) {
			append_timer_name(text, size, "%s%d", k > i + 2 ? " to " : ", ", k - 1);
		}
	}
}

/* One sentence, in the order of the ranks. */
static void describe_choice(const struct chosen *c, int n, struct cal_timer_choice *out)
{
	int i, k;

	append_timer_name(out->text, sizeof(out->text),
		"the ranks were started with different timers: rank 0 with %.60s", out->name);
	for (i = 1; i < n; i++) {
		int keeps = c[i].why[0] != '\0';

		if (!strcasecmp(c[i].own, out->name)) {
			continue;
		}
		for (k = 1; k < i && (strcasecmp(c[k].own, c[i].own) || (c[k].why[0] != '\0') != keeps); k++) {
		}
		if (k == i) {
			append_timer_name(out->text, sizeof(out->text), ", ");
			name_ranks(c, n, c[i].own, keeps, out->text, sizeof(out->text));
			append_timer_name(out->text, sizeof(out->text), " with %.60s (%s%s)", c[i].own,
				keeps ? "kept: " : "replaced by that of rank 0", c[i].why);
		}
	}
}

int cal_timers_settle(struct cal_link *l, const char *own,
	int (*take)(void *ctx, const char *name, struct tkm_err *err), void *ctx, struct cal_timer_choice *out,
	struct tkm_err *err)
{
	struct chosen mine = { .why = "" }, *c = calloc((size_t)l->size, sizeof(*c));
	struct tkm_err why = { .text = "" };
	int i, rc = c ? 0 : tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", l->size);

	memset(out, 0, sizeof(*out));
	snprintf(mine.own, sizeof(mine.own), "%s", own);
	rc = rc < 0 ? rc : cal_link_collect(l, &mine, sizeof(mine), c, err);
	for (i = 0; rc == 0 && l->rank <= 0 && i < l->size; i++) {
		out->differ += strcasecmp(c[i].own, own) != 0;
	}
	snprintf(out->name, sizeof(out->name), "%s", own);
	rc = rc < 0 ? rc : cal_link_bcast(l, out, sizeof(*out), err);
	if (rc == 0 && out->differ > 0) {
		if (strcasecmp(own, out->name) && take(ctx, out->name, &why) < 0) {
			snprintf(mine.why, sizeof(mine.why), "%.119s",
				why.text[0] ? why.text : "that of rank 0 cannot be opened");
		}
		rc = cal_link_collect(l, &mine, sizeof(mine), c, err);
		for (i = 0; rc == 0 && l->rank <= 0 && i < l->size; i++) {
			out->unsettled += c[i].why[0] != '\0';
		}
		if (rc == 0 && l->rank <= 0) {
			describe_choice(c, l->size, out);
		}
		rc = rc < 0 ? rc : cal_link_bcast(l, out, sizeof(*out), err);
	}
	free(c);
	return rc;
}

int cal_counter_prove(struct cal_link *l, double budget_s, int *missing, struct tkm_err *err)
{
	int me = l->rank < 0 ? 0 : l->rank, proves = me == l->first_near, mine, i, rc;
	enum cal_wait before = l->wait;
	struct cal_blobs all;

	/* a rank that waits sleeps at once, so that the proof has the cores to itself */
	l->wait = proves ? CAL_WAIT_YIELD : CAL_WAIT_SLEEP;
	mine = !proves || tmr_counter_is_proven(budget_s);
	rc = cal_link_gather(l, &mine, sizeof(mine), &all, err);
	*missing = -1;
	for (i = 0; rc == 0 && l->rank <= 0 && i < all.n && *missing < 0; i++) {
		memcpy(&mine, all.data[i], sizeof(mine));
		*missing = mine ? -1 : i;
	}
	cal_blobs_free(&all);
	rc = rc < 0 ? rc : cal_link_bcast(l, missing, sizeof(*missing), err);
	l->wait = before;
	return rc;
}

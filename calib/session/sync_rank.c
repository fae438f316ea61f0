/* SPDX-License-Identifier: BSD-3-Clause */
/* One session, added to the ranks that it is for; see cal_sync_ranks() in calib/session/sync.h. */
#include "config.h"
#include "calib/session/sync.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* What one session is. */
struct session_call {
	struct cal_link *link;
	int master;
	const struct cal_plan *plan;
	const unsigned char *exchanges;
	const struct cal_sync_options *opt;
	enum cal_session_kind kind;
};

/* The rank's record: the only one in a real run; slot r in a simulation, where one process plays all ranks. */
static struct cal_rank *session_rank(const struct cal_link *l, struct cal_rank *ranks, int r)
{
	return l->rank < 0 ? &ranks[r] : ranks;
}

static int append_session(struct cal_session **list, size_t *n, const struct cal_session *s, struct tkm_err *err)
{
	struct cal_session *new = TKM_APPEND(*list, *n);

	if (!new) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a session");
	}
	*new = *s;
	return 0;
}

/* Out of a plan's sessions: the master's edges of a star are the rank's own sessions, those of a tree are kept
 * beside one that waits for its point. */
static int store_sessions(
	const struct session_call *c, struct cal_session *of_pair, struct cal_rank *ranks, struct tkm_err *err)
{
	const struct cal_session empty = { .kind = c->kind, .peer = c->master };
	const struct cal_plan *plan = c->plan;
	const struct cal_offset_estimate *tie = c->opt->tie;
	struct cal_link *l = c->link;
	int star = plan->shape == CAL_SHAPE_STAR, r, rc = 0;
	size_t i;

	for (i = 0; i < plan->pairs; i++) {
		struct cal_rank *to = session_rank(l, ranks, plan->pair[i].a);

		if (!cal_link_is(l, plan->pair[i].a)) {
			continue;
		}
		of_pair[i].at = to->sessions;
		if (rc == 0) {
			rc = star ? append_session(&to->session, &to->sessions, &of_pair[i], err)
				  : append_session(&to->edge, &to->edges, &of_pair[i], err);
		}
		if (rc < 0) {
			cal_session_free(&of_pair[i]);
		}
	}
	for (r = 0; r < l->size && rc == 0 && !star; r++) {
		struct cal_rank *to = session_rank(l, ranks, r);

		if (r != c->master && c->exchanges[r] && cal_link_is(l, r)) {
			rc = append_session(&to->session, &to->sessions, &empty, err);
			if (rc == 0 && tie && tie[r].known) {
				to->session[to->sessions - 1].given = 1;
				to->session[to->sessions - 1].point = tie[r].point;
			}
		}
	}
	return rc;
}

static int by_plan(const struct session_call *c, struct cal_rank *ranks, struct tkm_err *err)
{
	const struct cal_plan *plan = c->plan;
	struct cal_session *of_pair = calloc(plan->pairs + 1, sizeof(*of_pair));
	struct cal_sync_options tree = *c->opt;
	int rc, kept, r;

	if (plan->shape == CAL_SHAPE_TREE && !(tree.pair_budget_s > 0)) {
		tree.pair_budget_s = cal_pair_budget_s;
	}
	for (r = 0; c->opt->tie && r < c->link->size; r++) {
		cal_offset_estimate_renew(&c->opt->tie[r]);
	}
	if (!of_pair) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a session of %zu pairs", plan->pairs);
	}
	rc = cal_sync_plan(c->link, plan, &tree, c->kind, of_pair, err);
	kept = store_sessions(c, of_pair, ranks, err);
	free(of_pair);
	return rc < 0 ? rc : kept;
}

/* As the guide does it. */
static int by_turns(const struct session_call *c, struct cal_rank *ranks, struct tkm_err *err)
{
	struct cal_link *l = c->link;
	struct cal_session *out = calloc((size_t)l->size, sizeof(*out));
	int rc, kept = 0, r;

	if (!out) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for a session of %d ranks", l->size);
	}
	rc = cal_sync_session(l, c->master, c->exchanges, c->opt, c->kind, out, err);
	for (r = 0; r < l->size; r++) {
		if (r != c->master && c->exchanges[r] && cal_link_is(l, r) && kept == 0) {
			struct cal_rank *to = session_rank(l, ranks, r);

			out[r].peer = c->master;
			kept = append_session(&to->session, &to->sessions, &out[r], err);
		}
	}
	free(out);
	return rc < 0 ? rc : kept;
}

int cal_sync_ranks(struct cal_link *l, int master, const struct cal_plan *plan, const unsigned char *exchanges,
	const struct cal_sync_options *opt, enum cal_session_kind kind, struct cal_rank *ranks, struct tkm_err *err)
{
	const struct session_call c = { l, master, plan, exchanges, opt, kind };

	if (cal_link_is(l, master) && kind != CAL_MIDDLE && l->timer) {
		struct cal_rank *m = session_rank(l, ranks, master);

		if (m->anchors < 2) {
			cal_anchor_take(l->timer, &m->anchor[m->anchors++]);
		}
	}
	if (opt->method == CAL_SYNC_PAIRS && opt->max_duration_s > 0) {
		return by_plan(&c, ranks, err);
	}
	return by_turns(&c, ranks, err);
}

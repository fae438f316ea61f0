/* SPDX-License-Identifier: BSD-3-Clause */
/* A session pair by pair. What makes it better than a round robin of spinning processes is discipline, not
 * arithmetic: the two that talk have their cores to themselves. */
#include "config.h"
#include "calib/sync.h"
#include "calib/sync_private.h"

#include <math.h>
#include <string.h>

/* Exchanges between two looks at the progress, half begun by each side. */
enum { HALF = 12, BATCH = 2 * HALF };

/* One message each way, c to m first or m to c first. In a simulation both sides' stamps appear at once. */
static int ping_pong(struct cal_link *l, int master, int child, int child_begins, struct cal_sample *s, int *lost,
	struct tkm_err *err)
{
	int step;

	for (step = 0; step < 2; step++) {
		int up = child_begins == (step == 0);
		int rc = up ? cal_link_message(l, child, master, &s->send, &s->master_in, err) :
			      cal_link_message(l, master, child, &s->master_out, &s->recv, err);

		if (rc < 0) {
			return -1;
		}
		*lost |= rc;
	}
	return 0;
}

/* HALF exchanges begun by one side, one before them, because the first has just come out of other code, and
 * one after, because the message that follows the last one in the same direction would disturb it. */
static int half_batch(struct cal_link *l, int master, int child, int child_begins, struct cal_sample *s, struct tkm_err *err)
{
	struct cal_sample unused;
	int i, lost;

	for (i = -1; i <= HALF; i++) {
		struct cal_sample *to = i >= 0 && i < HALF ? &s[i] : &unused;

		lost = 0;
		if (ping_pong(l, master, child, child_begins, to, &lost, err) < 0) {
			return -1;
		}
		to->kept = !lost;
	}
	return 0;
}

static int warm_up(struct cal_link *l, int master, int child, struct tkm_err *err)
{
	double begin = cal_link_seconds(l);
	struct cal_sample unused;
	long long go = 1;
	int lost;

	while (go) {
		if (cal_link_is(l, child)) {
			go = cal_link_seconds(l) - begin < cal_warm_up_s;
		}
		if (cal_link_turn(l, child, master, &go, err) < 0 || ping_pong(l, master, child, 0, &unused, &lost, err) < 0) {
			return -1;
		}
	}
	return 0;
}

/* The shortest ways so far, in master ticks and any common offset. */
struct ways {
	double up, down;
};

/* Adds a batch to the session; returns 1 if a way got shorter, -1 without memory. */
static int take(const struct cal_sample *s, double slope, ltick_t local0, ltick_t master0, struct ways *best,
	struct cal_session *out, struct tkm_err *err)
{
	int i, shorter = 0;

	for (i = 0; i < BATCH; i++) {
		double up, down;

		if (!s[i].kept) {
			out->lost++;
			continue;
		}
		up = (double)ltick_sub(s[i].master_in, master0) - slope * (double)ltick_sub(s[i].send, local0);
		down = slope * (double)ltick_sub(s[i].recv, local0) - (double)ltick_sub(s[i].master_out, master0);
		shorter |= up < best->up || down < best->down;
		best->up = fmin(best->up, up);
		best->down = fmin(best->down, down);
		if (cal_session_add(out, &s[i]) < 0) {
			return tkm_fail(err, TKM_ERR_NOMEM, "clock samples: out of memory");
		}
	}
	return shorter;
}

/* What the child knows at the end of a batch: its own stamps, and now the master's. */
static void merge(struct cal_sample *mine, const struct cal_sample *masters)
{
	int i;

	for (i = 0; i < BATCH; i++) {
		mine[i].master_in = masters[i].master_in;
		mine[i].master_out = masters[i].master_out;
		mine[i].kept = mine[i].kept && masters[i].kept;
	}
}

static int burst(struct cal_link *l, int master, int child, const struct cal_sync_options *opt, double deadline,
	struct cal_session *out, struct tkm_err *err)
{
	double slope = opt->hz ? opt->hz[master] / opt->hz[child] : 1;
	struct ways best = { INFINITY, INFINITY };
	struct cal_sample mine[BATCH], masters[BATCH];
	ltick_t local0 = ltick(0), master0 = ltick(0);
	long long go = 1;
	int batch, shorter;

	for (batch = 0; go; batch++) {
		if (half_batch(l, master, child, 1, mine, err) < 0 || half_batch(l, master, child, 0, mine + HALF, err) < 0) {
			return -1;
		}
		memcpy(masters, mine, sizeof(mine));
		if (cal_link_send(l, master, child, masters, sizeof(masters), err) < 0) {
			return -1;
		}
		if (cal_link_is(l, child)) {
			merge(mine, masters);
			if (batch == 0) {
				local0 = mine[0].send;
				master0 = mine[0].master_in;
			}
			shorter = take(mine, slope, local0, master0, &best, out, err);
			if (shorter < 0) {
				return -1;
			}
			go = (batch == 0 || shorter || out->n == 0) && (long long)(batch + 2) * BATCH <= opt->max_messages &&
			     cal_link_seconds(l) < deadline;
		}
		if (cal_link_turn(l, child, master, &go, err) < 0) {
			return -1;
		}
	}
	return 0;
}

int cal_sync_pairs(struct cal_link *l, int master, const unsigned char *exchanges, const struct cal_sync_options *opt,
	struct cal_session *out, struct tkm_err *err)
{
	double deadline = cal_link_seconds(l) + opt->max_duration_s;
	long long go = 1;
	int child, rc;

	for (child = 0; child < l->size; child++) {
		if (child == master || !exchanges[child]) {
			continue;
		}
		/* here the child wakes up; all behind it sleep on */
		if (cal_link_turn(l, master, child, &go, err) < 0 || cal_link_pair_begin(l, master, child, 0, 1, err) < 0) {
			return -1;
		}
		rc = 0;
		if (cal_link_is(l, master) || cal_link_is(l, child)) {
			rc = warm_up(l, master, child, err) < 0 || burst(l, master, child, opt, deadline, &out[child], err) < 0;
		}
		cal_link_pair_end(l, master, child);
		if (rc) {
			return -1;
		}
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* One session in the guide's way, and what both methods share; see calib/session/sync.h. */
#include "config.h"
#include "calib/session/sync.h"

#include <math.h>
#include <time.h>

/* The first exchanges of a session find cold caches and sleepy cores on both sides, and are slower in one
 * direction than in the other: they are not recorded, for at least so many cycles and so long. */
enum { WARM_UP = 3 };
const double cal_warm_up_s = 500e-6;

/* The word that the master sends with each turn. */
enum { STOP, RECORD, WARM };

/* The master must not send again while its answer is still on the way: over shared memory (Open MPI
 * 4.1.4, vader) a next message in the same direction delays the answer by 60 to 80 ns, and so biases the
 * midpoint by half of that. So the child says when it has the answer, before anybody else gets a turn. */
static int one_exchange(
	struct cal_link *l, int master, int child, int record, struct cal_session *out, struct tkm_err *err)
{
	struct cal_sample s = { .kept = 1 };
	long long done = 1;
	int rc = cal_link_exchange(l, master, child, &s, err);

	if (rc < 0 || cal_link_turn(l, child, master, &done, err) < 0) {
		return -1;
	}
	if (!record || !cal_link_is(l, child)) {
		return 0;
	}
	if (rc == 1) {
		out->lost++;
		return 0;
	}
	return cal_session_add(out, &s) < 0 ? tkm_fail(err, TKM_ERR_NOMEM, "clock samples: out of memory") : 0;
}

static int sync_itc(struct cal_link *l, int master, const unsigned char *exchanges, const struct cal_sync_options *opt,
	struct cal_session *out, struct tkm_err *err)
{
	double begin = cal_link_seconds(l), seconds;
	long long cycle, recorded = 0, go = WARM;
	int child;

	for (cycle = 0; go != STOP; cycle++) {
		if (cal_link_is(l, master)) {
			seconds = cal_link_seconds(l) - begin;
			if (recorded == 0 && (cycle < WARM_UP || seconds < fmin(cal_warm_up_s, opt->max_duration_s))) {
				go = WARM;
			} else if (recorded < opt->max_messages && (recorded == 0 || seconds < opt->max_duration_s)) {
				go = RECORD;
				recorded++;
			} else {
				go = STOP;
			}
		}
		for (child = 0; child < l->size; child++) {
			if (child == master || !exchanges[child]) {
				continue;
			}
			if (cal_link_turn(l, master, child, &go, err) < 0) {
				return -1;
			}
			if (go != STOP && one_exchange(l, master, child, go == RECORD, &out[child], err) < 0) {
				return -1;
			}
		}
		if (!cal_link_is(l, master) && !exchanges[l->rank]) {
			return 0;
		}
	}
	return 0;
}

int cal_sync_session(struct cal_link *l, int master, const unsigned char *exchanges, const struct cal_sync_options *opt,
	enum cal_session_kind kind, struct cal_session *out, struct tkm_err *err)
{
	int child;

	for (child = 0; child < l->size; child++) {
		if (cal_link_is(l, child)) {
			out[child].kind = kind;
		}
	}
	if (!(opt->max_duration_s > 0)) {
		return 0;
	}
	cal_link_new_epoch(l);
	return (opt->method == CAL_SYNC_PAIRS ? cal_sync_pairs : sync_itc)(l, master, exchanges, opt, out, err);
}

static int64_t now_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void cal_anchor_take(struct tmr_timer *t, struct cal_anchor *a)
{
	int64_t best = INT64_MAX;
	int i;

	for (i = 0; i < 20; i++) {
		int64_t real0 = now_ns(CLOCK_REALTIME), mono0 = now_ns(CLOCK_MONOTONIC);
		ltick_t local = tmr_read_ordered(t);
		int64_t mono1 = now_ns(CLOCK_MONOTONIC), real1 = now_ns(CLOCK_REALTIME);

		/* the outer two reads: nothing interrupted any of the five reads */
		if (real1 - real0 >= 0 && real1 - real0 < best) {
			best = real1 - real0;
			*a = (struct cal_anchor){ local, real0 + (real1 - real0) / 2, mono0 + (mono1 - mono0) / 2 };
		}
	}
}

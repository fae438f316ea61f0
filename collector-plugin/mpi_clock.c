/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock sessions of the running job, seeds/003 section 3.6.1: at MPI_Init, in VT_timesync() and at MPI_Finalize,
 * over a communicator of their own. Ranks that read one kernel clock share their leader's correction. */
#include "config.h"
#include "collector-plugin/mpi_job.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "base/text.h"
#include "calib/link_mpi.h"
#include "timers/env.h"

/* As timertest assumes by default. */
static const double max_drift = 500e-6;

static double time_option(const char *name, double otherwise)
{
	const char *text = vt_collect_option(name);
	double s;

	return text && tkm_parse_time(text, &s) == 0 ? s : otherwise;
}

static long long count_option(const char *name, long long otherwise)
{
	const char *text = vt_collect_option(name);
	long long n;

	return text && tkm_parse_int(text, -1, 1 << 30, &n) == 0 ? n : otherwise;
}

static int switch_option(const char *name)
{
	const char *text = vt_collect_option(name);
	int on;

	return text && tkm_parse_bool(text, &on) == 0 ? on : -1;
}

static void describe(struct vt_job *j)
{
	const struct tmr_timer *t = j->collect->timer;
	struct cal_rank *r = &j->rank;
	int root = tkm_root_open("/");
	struct tmr_env env;

	memset(&env, 0, sizeof(env));
	tmr_env_read(root, &env);
	if (root >= 0) {
		close(root);
	}
	memset(r, 0, sizeof(*r));
	r->rank = j->link->rank;
	snprintf(r->host, sizeof(r->host), "%s", env.host);
	snprintf(r->boot_id, sizeof(r->boot_id), "%s", env.boot_id);
	snprintf(r->time_ns, sizeof(r->time_ns), "%s", env.time_ns);
	snprintf(r->timer, sizeof(r->timer), "%s", t->name);
	r->nominal_hz = t->hz;
	r->measured_se_ppm = r->measured_bound_ppm = r->effective_tick_s = NAN;
	tmr_env_domain(&env, j->domain, sizeof(j->domain));
}

/* Who talks to the master: one of each clock. */
static int decide(struct vt_job *j, struct tkm_err *err)
{
	int cluster = switch_option("SYNCED-CLUSTER"), host = switch_option("SYNCED-HOST"), n = j->link->size, i, k;
	const struct tmr_timer *t = j->collect->timer;
	int me = j->link->rank, leader = me;
	struct cal_blobs all;
	int *leaders = calloc((size_t)n, sizeof(*leaders));

	cluster = cluster >= 0 ? cluster : t->scope == TMR_SCOPE_CLUSTER;
	host = host >= 0 ? host : t->scope == TMR_SCOPE_NODE;
	if (!leaders || cal_link_gather(j->link, j->domain, strlen(j->domain), &all, err) < 0) {
		free(leaders);
		return -1;
	}
	for (i = 0; i < all.n; i++) {
		for (k = 0; strcmp(all.data[k], all.data[i]) != 0; k++) {
		}
		leaders[i] = k;
	}
	cal_blobs_free(&all);
	if (cal_link_bcast(j->link, leaders, (size_t)n * sizeof(*leaders), err) < 0) {
		free(leaders);
		return -1;
	}
	for (i = 0; i < n; i++) {
		j->exchanges[i] = i != 0 && !cluster && !(host && leaders[i] != i);
	}
	leader = cluster ? 0 : leaders[me];
	j->rank.sync = me == 0 || j->exchanges[me] ? CAL_OWN : CAL_SHARED;
	j->rank.leader = leader;
	free(leaders);
	return 0;
}

static int share_hz(struct vt_job *j, struct tkm_err *err)
{
	struct cal_blobs all;
	int i;

	if (cal_link_gather(j->link, &j->rank.nominal_hz, sizeof(double), &all, err) < 0) {
		return -1;
	}
	for (i = 0; i < all.n; i++) {
		memcpy(&j->hz[i], all.data[i], sizeof(double));
	}
	cal_blobs_free(&all);
	return cal_link_bcast(j->link, j->hz, (size_t)j->link->size * sizeof(double), err);
}

int vt_job_clock_open(struct vt_job *j, struct tkm_err *err)
{
	j->link = cal_link_join(MPI_COMM_WORLD, err);
	if (!j->link) {
		return -1;
	}
	j->link->timer = j->collect->timer;
	j->exchanges = calloc((size_t)j->link->size, 1);
	j->hz = calloc((size_t)j->link->size, sizeof(*j->hz));
	if (!j->exchanges || !j->hz) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory for %d ranks", j->link->size);
	}
	describe(j);
	j->sync = (struct cal_sync_options){ .max_messages = count_option("SYNC-MAX-MESSAGES", 100),
		.max_duration_s = time_option("SYNC-MAX-DURATION", 60), .method = CAL_SYNC_PAIRS, .hz = j->hz };
	j->skip = (int)count_option("TIMER-SKIP", 0);
	j->run.max_drift = max_drift;
	j->run.max_wander = 1e-6;
	return share_hz(j, err) < 0 || decide(j, err) < 0 ? -1 : 0;
}

int vt_job_session(struct vt_job *j, enum cal_session_kind kind, struct tkm_err *err)
{
	struct cal_session *out = calloc((size_t)j->link->size, sizeof(*out)), *grown;
	int me = j->link->rank, rc;

	if (!out) {
		return tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
	}
	cal_link_new_epoch(j->link);
	if (me == 0 && kind != CAL_MIDDLE && j->rank.anchors < 2) {
		cal_anchor_take(j->collect->timer, &j->rank.anchor[j->rank.anchors++]);
	}
	rc = cal_sync_session(j->link, 0, j->exchanges, &j->sync, kind, out, err);
	if (rc == 0 && j->exchanges[me]) {
		grown = realloc(j->rank.session, (j->rank.sessions + 1) * sizeof(*grown));
		if (grown) {
			j->rank.session = grown;
			j->rank.session[j->rank.sessions++] = out[me];
		} else {
			rc = tkm_fail(err, TKM_ERR_NOMEM, "out of memory");
		}
	}
	free(out);
	return rc;
}

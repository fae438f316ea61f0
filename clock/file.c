/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a .clk file: this process writes a page of its own. */
#include "config.h"
#include "clock/handle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/known.h"
#include "calib/file/clk.h"
#include "clock/from_map.h"
#include "timers/quality/prove.h"

/* A file is used for so long after its last session. */
static const double valid_s = 3600;

/* Finds the rank whose clock this process reads. Returns the rank or NULL. */
static const struct cal_rank *own_rank(const struct cal_run *run, const struct tickmark_clock *c, struct tkm_err *err)
{
	struct cal_rank here;
	size_t i;

	memset(&here, 0, sizeof(here));
	cal_rank_here(&here);
	for (i = 0; i < run->ranks; i++) {
		const struct cal_rank *r = &run->rank[i];

		if ((c->o.rank < 0 || r->rank == c->o.rank) && tkm_known_equal(r->host, here.host) &&
			tkm_known_equal(r->boot_id, here.boot_id) && !strcmp(r->time_ns, here.time_ns)) {
			return r;
		}
	}
	if (!here.boot_id[0]) {
		tkm_fail(err, TKM_ERR_UNAVAIL,
			"%s: the boot id of %s cannot be read (/proc/sys/kernel/random/boot_id), so it may be of an "
			"earlier boot",
			c->path, here.host);
	} else if (c->o.rank < 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL,
			"%s: no rank of this run ran on %s since it was booted, in this time namespace", c->path,
			here.host);
	} else {
		tkm_fail(err, TKM_ERR_UNAVAIL,
			"%s: rank %d did not run on %s since it was booted, in this time namespace", c->path, c->o.rank,
			here.host);
	}
	return NULL;
}

/* How far a reading of another process, on another processing unit, can differ from that rank's. Returns seconds or
 * -1. */
static double lag_of_rank(struct tickmark_clock *c, const struct cal_rank *r, struct tkm_err *err)
{
	double tick_s = fmax(1 / cal_rank_hz(r), isfinite(r->effective_tick_s) ? r->effective_tick_s : 0);
	struct tmr_timer *t;
	struct tmr_proof proof;

	if (tkc_timer_id(r->timer) != TKC_COUNTER) {
		return tick_s;
	}
	if (c->within_s < 0) {
		t = tmr_open(r->timer, 0, err);
		if (!t || tmr_prove_one_clock(t, tick_s, 0.1, &proof, err) < 0) {
			tmr_close(t);
			return -1;
		}
		tmr_close(t);
		if (!proof.one_clock) {
			return tkm_fail(err, TKM_ERR_DATA,
				"%s: not proven that the processing units of this machine read one counter", c->path);
		}
		c->within_s = proof.within_s;
	}
	return c->within_s;
}

static int publish_file_clock(
	struct tickmark_clock *c, const struct cal_run *run, const struct cal_rank *r, struct tkm_err *err)
{
	const struct cal_map *m = &r->map;
	struct tkc_watch watch;
	double lag_s = lag_of_rank(c, r, err), hz = cal_rank_hz(r);
	const struct cal_rank *master = &run->rank[run->master];
	struct tkc_map line;
	ltick_t last;

	if (lag_s < 0) {
		return -1;
	}
	if (m->nodes == 0 && master->anchors == 0) {
		return tkm_fail(err, TKM_ERR_DATA, "%s does not say when the run was", c->path);
	}
	last = m->nodes ? m->node[m->nodes - 1].local : master->anchor[master->anchors - 1].local;
	tkc_watch(c->vmclock, &watch);
	tkc_from_map(m, last, hz, lag_s, valid_s, &line);
	/* it is unknown when that was: before the run, or after it */
	if (watch.boot_ns > 1000000 || watch.boot_ns < -1000000) {
		line.status = TICKMARK_DISRUPTED;
		line.reason = "this machine was suspended since it was booted, maybe after the file was written";
	}
	if (r->may_step) {
		line.status = TICKMARK_UNSYNCHRONISED;
		line.reason = "somebody may set the clock of this timer";
	}
	tkc_write(c->own, &line, &watch);
	return 0;
}

static int set_head(struct tickmark_clock *c, const struct cal_run *run, const struct cal_rank *r, struct tkm_err *err)
{
	const struct cal_rank *master = &run->rank[run->master];
	uint64_t axis = UINT64_C(14695981039346656037) ^ (uint64_t)run->realtime0_ns; /* FNV-1a */
	int timer = tkc_timer_id(r->timer);
	size_t i;

	for (i = 0; i < sizeof(master->boot_id) && master->boot_id[i]; i++) {
		axis = (axis ^ (unsigned char)master->boot_id[i]) * UINT64_C(1099511628211);
	}
	if (timer == -2 || !(cal_rank_hz(r) > 0)) {
		return tkm_fail(err, TKM_ERR_UNAVAIL, "%s: the timer %s can be set, or its frequency is unknown",
			c->path, r->timer);
	}
	if (c->own->magic && (c->own->axis != axis || c->own->timer != timer)) {
		return tkm_fail(err, TKM_ERR_DATA, "%s is of another run now; open it anew", c->path);
	}
	c->own->axis = axis;
	c->own->timer = timer;
	c->own->scale = TICKMARK_FILE;
	c->own->magic = TKC_MAGIC;
	snprintf(c->own->timer_name, sizeof(c->own->timer_name), "%.63s", r->timer);
	return 0;
}

int tkc_file_load(struct tickmark_clock *c, struct tkm_err *err)
{
	const struct cal_rank *r;
	struct cal_run run;
	struct stat st;
	int rc;

	if (c->vmclock && !(c->o.flags & TICKMARK_WITHOUT_VMCLOCK)) {
		return tkm_fail(err, TKM_ERR_UNAVAIL,
			"%s: a .clk file does not say whether this virtual machine was migrated since "
			"(TICKMARK_WITHOUT_VMCLOCK opens it all the same)",
			c->path);
	}
	if (stat(c->path, &st) < 0) {
		memset(&st, 0, sizeof(st)); /* cal_clk_load() reports the reason */
	}
	memset(&run, 0, sizeof(run));
	if (cal_clk_load(c->path, &run, err) < 0) {
		return -1;
	}
	r = own_rank(&run, c, err);
	rc = r && set_head(c, &run, r, err) == 0 ? publish_file_clock(c, &run, r, err) : -1;
	cal_run_free(&run);
	if (rc == 0) {
		c->seen = st;
	}
	return rc;
}

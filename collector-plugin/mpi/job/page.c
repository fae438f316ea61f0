/* SPDX-License-Identifier: BSD-3-Clause */
/* The job's clock for other processes on this node (tickmark/clock.h): after each session the first rank of each node
 * writes a page in memory. */
#include "config.h"
#include "collector-plugin/mpi/job/job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fnv.h"
#include "clock/from_map.h"
#include "clock/names.h"
#include "collector-plugin/host/say.h"

/* How long the map is valid: until the next session, but the last session may have been. Readers see by the writer's
 * lock whether the job still lives. */
static const double valid_s = 86400;

static struct tkc_writer page;
static const struct tkc_vmclock *vmclock;

/* An id of the job's time axis, the same on all ranks: made of the place of rank 0 and what its clock showed when the
 * job began. */
static uint64_t axis_of(const struct vt_job *j)
{
	const char *host = j->host_name ? j->host_name : "";

	return tkm_fnv(TKM_FNV_START ^ (uint64_t)j->clock.axis.v, host, strlen(host));
}

void vt_job_page_open(const struct vt_job *j)
{
	char job[64], name[96];
	struct tkm_err err = { .text = "" };
	uint64_t axis = axis_of(j);

	if (j->clock.place[j->rank].leader != j->rank) {
		return;
	}
	tkc_job_name(job, sizeof(job));
	if (!job[0]) {
		snprintf(job, sizeof(job), "%016llx", (unsigned long long)axis);
	}
	tkc_job_page(name, sizeof(name), job);
	if (tkc_create(&page, &(struct tkc_page_of){ NULL, name, TICKMARK_JOB, axis, j->link->timer->name }, &err) <
		0) {
		vt_say(2, "INFO", "the job's clock cannot be read by tickmark_now(): %s", err.text);
		return;
	}
	tkc_sweep(&page, TKC_JOB_PREFIX);
	tkc_close_descriptors(&page);
	vmclock = tkc_vmclock_open();
}

void vt_job_page_watch(struct tkc_watch *now)
{
	if (page.page) {
		tkc_watch(vmclock, now);
	}
}

/* How far a reading in another process of this node can differ from one of this rank; NAN: unknown. */
static double reading_error_s(const struct vt_job *j)
{
	const struct cal_job *c = &j->clock;
	double tick_s = cal_session_tick(&c->rank);
	double within_s = c->place[j->rank].within_s; /* of a CPU counter, with the tick; 0 for a clock of the kernel */

	tick_s = fmax(isfinite(tick_s) ? tick_s : 0, 1 / c->hz[j->rank]);
	return isnan(within_s) ? NAN : fmax(within_s, tick_s);
}

void vt_job_page_write(const struct vt_job *j, const struct tkc_watch *watch)
{
	const struct cal_job *c = &j->clock;
	struct cal_map m = c->online.map;
	struct tkc_map line = { .status = TICKMARK_UNSYNCHRONISED };
	double lag_s = reading_error_s(j), hz = c->hz[j->rank];
	ltick_t now;

	if (!page.page) {
		return;
	}
	/* if the timer is steered, the page is about the free clock, which the link reads */
	m.pairs = (struct cal_pairs){ .n = 0 };
	now = tmr_read_ordered(j->link->timer);
	if (isnan(lag_s)) {
		line.reason = "not proven that the processing units of this node read one counter";
	} else if (j->rank == 0 || (c->rank.sync == CAL_SHARED && c->rank.leader == 0)) {
		tkc_from_master(c->axis, now, hz, lag_s + c->rank.shared_within_s, valid_s, &line);
	} else if (m.pieces) {
		tkc_from_map(&m, now, hz, lag_s, valid_s, &line);
	} else {
		line.reason = "no clock session of this node has succeeded yet";
	}
	tkc_write(page.page, &line, watch);
}

void vt_job_page_close(void)
{
	tkc_withdraw(&page);
	tkc_vmclock_close(vmclock);
	vmclock = NULL;
}

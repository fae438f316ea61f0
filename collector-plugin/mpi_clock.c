/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock sessions of the running job, seeds/003 section 3.6.1: at MPI_Init, in VT_timesync() and at MPI_Finalize,
 * over a communicator of their own (calib/job.h). */
#include "config.h"
#include "collector-plugin/mpi_job.h"

#include <mpi.h>

#include "base/text.h"
#include "calib/link_mpi.h"

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

int vt_job_clock_open(struct vt_job *j, struct tkm_err *err)
{
	struct cal_job_options o = cal_job_defaults();

	j->link = cal_link_join(MPI_COMM_WORLD, err);
	if (!j->link) {
		return -1;
	}
	j->link->timer = j->collect->timer;
	o.max_messages = count_option("SYNC-MAX-MESSAGES", o.max_messages);
	o.max_duration_s = time_option("SYNC-MAX-DURATION", o.max_duration_s);
	o.synced_host = switch_option("SYNCED-HOST");
	o.synced_cluster = switch_option("SYNCED-CLUSTER");
	o.skip = (int)count_option("TIMER-SKIP", o.skip);
	return cal_job_begin(&j->clock, j->link, &o, err);
}

int vt_job_session(struct vt_job *j, enum cal_session_kind kind, struct tkm_err *err)
{
	int rc = cal_job_session(&j->clock, kind, err);

	/* what the threads record from here on is known to be behind it */
	vt_raw_session_over(j->collect->raw);
	return rc;
}

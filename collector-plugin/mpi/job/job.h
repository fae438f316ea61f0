/* SPDX-License-Identifier: BSD-3-Clause */
/* A job: what its ranks know of each other, and the functions that all ranks call together. */
#ifndef COLLECTOR_PLUGIN_MPI_JOB_JOB_H
#define COLLECTOR_PLUGIN_MPI_JOB_JOB_H

#include <mpi.h>
#include "calib/job/job.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/thread.h"
#include "collector-plugin/merge/merge.h"

enum { VT_HOST_NAME = 128 };

struct vt_process {
	int32_t pid;
	char ip[124];
};

struct vt_job {
	struct vt_collect *collect;
	int rank;
	int alone;             /* some of the other ranks have no libVT */
	struct cal_link *link; /* NULL: no sessions, no common trace */
	struct cal_job clock;
	double clock_s; /* time that the sessions at MPI_Init and MPI_Finalize took */
	int ranks;
	int writer;      /* LOGFILE-RANK: the rank that writes the trace */
	int *host;       /* number of each rank's host, counted by the lowest rank on it */
	char *host_name; /* VT_HOST_NAME bytes per host: a rank's memory must not grow with such texts of all ranks */
	struct vt_process *process; /* of each rank, on rank 0 until the protocol has them */
	/* on the writer, in vt_job_end() */
	struct vt_merge_input *in;
	const char *raw_path; /* of this rank; every rank has one */
	unsigned char *need;  /* [ranks]: 1 for raw files that the writer cannot see; the same on all ranks */
	char **path;          /* [ranks]: the raw file's path on the writer */
	char **copy; /* [ranks]: copies of the files in need[], made on the writer, which deletes them in any case */
};

/* clock.c: by all ranks together; return 0 or -1. The first sets j->link and gives the timer of rank 0 to all ranks
 * that can open it; there the collector begins again. The others find the domains, ticks and maps. */
VT_HIDDEN int vt_job_settle_timer(struct vt_job *j, struct tkm_err *err);
VT_HIDDEN int vt_job_clock_open(struct vt_job *j, struct tkm_err *err);
/* On rank 0: reports SYNCED-HOST and SYNCED-CLUSTER to the user and in the protocol. */
VT_HIDDEN void vt_job_say_clocks(struct vt_job *j);
VT_HIDDEN int vt_job_session(struct vt_job *j, enum cal_session_kind kind, struct tkm_err *err);

/* page.c: the job's clock for tickmark_now(). The first rank of each node writes it; on other ranks these functions
 * do nothing. watch: called before a session whose map is then written. */
struct tkc_watch;
VT_HIDDEN void vt_job_page_open(const struct vt_job *j);
VT_HIDDEN void vt_job_page_watch(struct tkc_watch *now);
VT_HIDDEN void vt_job_page_write(const struct vt_job *j, const struct tkc_watch *watch);
VT_HIDDEN void vt_job_page_close(void);

/* period.c: SYNC-PERIOD. By all ranks together. begin: starts the threads, or reports why there are none. call: makes
 * a session for VT_timesync(); returns 1 if there are no threads, and then the caller makes the session. end: returns
 * when the threads of all ranks have ended, and reports errors. quit: ends without the other ranks. */
VT_HIDDEN void vt_job_period_begin(struct vt_job *j);
VT_HIDDEN int vt_job_period_call(struct tkm_err *err);
VT_HIDDEN int vt_job_period_end(struct tkm_err *err);
VT_HIDDEN void vt_job_period_quit(void);

/* config.c: gives the configuration of VT_CONFIG_RANK to all ranks that have another one or none; by all ranks
 * together. */
VT_HIDDEN int vt_job_distribute(const struct vt_job *j, int size, struct tkm_err *err);

/* config.c: finds the hosts of all ranks, by all ranks together; then applies the options that depend on them to this
 * rank. */
VT_HIDDEN int vt_job_hosts(struct vt_job *j, struct tkm_err *err);
VT_HIDDEN void vt_job_configure(struct vt_job *j);
/* Defines the groups of option GROUP that can be defined now. At the end (last) it is called once more, when the
 * program's own groups exist, and reports those that still cannot be defined. */
VT_HIDDEN void vt_job_groups(const struct vt_job *j, int last);
/* Writes into the protocol, on rank 0, the lines about all processes and about options that were not given; by all
 * ranks together. */
VT_HIDDEN void vt_job_protocol(struct vt_job *j);

/* gather.c: tells the writer where all raw files are, and brings those that it cannot see to it; by all ranks together. */
VT_HIDDEN int vt_job_bring(struct vt_job *j, struct tkm_err *err);
VT_HIDDEN int vt_job_gather(struct vt_job *j, const char *raw_path, struct tkm_err *err);
/* config.c: collects the CPUs of the ranks on the writer's host, for the merge; by all ranks together. */
VT_HIDDEN void vt_job_cpus(struct vt_job *j);
/* On a rank whose raw file the writer cannot see: reports the files that the process recorded before an exec, which
 * are kept. */
VT_HIDDEN void vt_job_say_before(const struct vt_job *j);
/* gather.c: makes the trace, on the writer, with what the ranks recorded before they became this program by exec. */
VT_HIDDEN int vt_job_merge(struct vt_job *j, struct tkm_err *err);

/* network.c: connects the sampler processes of the hosts; by all ranks together. */
VT_HIDDEN void vt_job_network(const struct vt_job *j);

/* programs.c: do all ranks have libVT? 0: not all; that is reported, and no rank may call anything collective. In a
 * job of one program all ranks are assumed to have it. The second function forgets the decision, when no rank needs
 * it any more. */
VT_HIDDEN int vt_job_is_whole(const struct vt_job *j, int size);
VT_HIDDEN void vt_job_forget_decision(void);

/* wait.c: a barrier that leaves the CPUs to other threads. If it takes long, the text `late` is reported once; NULL:
 * another rank is known to be working. */
VT_HIDDEN void vt_job_wait(const char *late);

#endif

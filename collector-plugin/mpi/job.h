/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a job know of each other. */
#ifndef COLLECTOR_PLUGIN_MPI_JOB_H
#define COLLECTOR_PLUGIN_MPI_JOB_H

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
	int alone;             /* other ranks have no libVT */
	struct cal_link *link; /* NULL: no sessions, no common trace */
	struct cal_job clock;
	double clock_s; /* that the sessions at both ends took */
	int ranks;
	int writer;                 /* LOGFILE-RANK: who writes the trace */
	int *host;                  /* number of each rank's host, by the lowest rank on it */
	char *host_name;            /* VT_HOST_NAME bytes per rank */
	struct vt_process *process; /* of each rank, on rank 0 */
	/* the writer, in vt_job_end() */
	struct cal_run run;
	struct vt_merge_input *in;
	const char *raw_path; /* of this rank; all ranks have it */
	unsigned char *need;  /* raw files that the writer cannot see; all ranks know */
	char **path, **there; /* each rank's raw file, as the writer and as the rank itself finds it */
	char **copy;          /* copies of those in need[], made on the writer, to be deleted in any case */
	unsigned char *part;  /* copy[i] has the definitions only */
	uint32_t *input_host; /* who merges each rank's file (struct vt_merge_input) */
};

/* clock.c. Return 0 or -1. Together: j->link, and the timer of rank 0 on all ranks that can open it; the collector of the others begins
 * anew. Then the domains, ticks and maps. */
VT_HIDDEN int vt_job_settle_timer(struct vt_job *j, struct tkm_err *err);
VT_HIDDEN int vt_job_clock_open(struct vt_job *j, struct tkm_err *err);
/* On rank 0: what is known of SYNCED-HOST and SYNCED-CLUSTER, to the user and the protocol. */
VT_HIDDEN void vt_job_say_clocks(struct vt_job *j);
/* On rank 0, where j->run is: that a clock stepped, in one line for all steps. */
VT_HIDDEN void vt_job_say_steps(const struct vt_job *j);
VT_HIDDEN int vt_job_session(struct vt_job *j, enum cal_session_kind kind, struct tkm_err *err);

/* page.c: the job's clock for tickmark_now(), on the first rank of each node; elsewhere they do nothing. watch: before a session
 * whose map is then written. */
struct tkc_watch;
VT_HIDDEN void vt_job_page_open(const struct vt_job *j);
VT_HIDDEN void vt_job_page_watch(struct tkc_watch *now);
VT_HIDDEN void vt_job_page_write(const struct vt_job *j, const struct tkc_watch *watch);
VT_HIDDEN void vt_job_page_close(void);

/* period.c: SYNC-PERIOD. By all ranks together: begin says why there are none where there are none; call makes a
 * session, as VT_timesync() wants it (1: there is no background, do it yourself); end is over when all ranks' threads are,
 * and says what went wrong. quit: without the others. */
VT_HIDDEN void vt_job_period_begin(struct vt_job *j);
VT_HIDDEN int vt_job_period_call(struct tkm_err *err);
VT_HIDDEN int vt_job_period_end(struct tkm_err *err);
VT_HIDDEN void vt_job_period_quit(void);

/* config.c: the configuration of VT_CONFIG_RANK to all who have another one, or none; by all ranks together. */
VT_HIDDEN int vt_job_distribute(const struct vt_job *j, int size, struct tkm_err *err);

/* config.c: hosts of all ranks, by all ranks together; then what the options say of this one. */
VT_HIDDEN int vt_job_hosts(struct vt_job *j, struct tkm_err *err);
VT_HIDDEN void vt_job_configure(struct vt_job *j);
/* GROUP: those that can be defined yet; at the end once more, with the program's own groups, and those that still cannot be defined are reported. */
VT_HIDDEN void vt_job_groups(const struct vt_job *j, int last);
/* What the protocol says of all processes and of options that were not given, on rank 0; by all ranks together. */
VT_HIDDEN void vt_job_protocol(struct vt_job *j);

/* gather.c: clock data and raw files of all ranks to the writer. */
VT_HIDDEN int vt_job_gather(struct vt_job *j, const char *raw_path, struct tkm_err *err);
/* config.c: the CPUs that the ranks of the writer's host had, for the merge; by all ranks together. */
VT_HIDDEN void vt_job_cpus(struct vt_job *j);
/* By all ranks together: what the writer cannot see of the raw files comes to it. what[i], the same on all ranks: */
enum { VT_BRING_NOTHING, VT_BRING_DEFINITIONS, VT_BRING_ALL };
VT_HIDDEN int vt_job_bring(struct vt_job *j, const unsigned char *what, struct tkm_err *err);
/* Is the raw file of that process at this path? */
VT_HIDDEN int vt_job_is_here(const char *path, long pid);
/* On a rank whose raw file the writer cannot see: names what the process recorded before an exec, which stays. */
VT_HIDDEN void vt_job_say_before(const struct vt_job *j);
/* gather.c: the trace, on the writer, with what the ranks have recorded before they became this program by exec. */
struct vt_merge_hosts;
VT_HIDDEN int vt_job_merge(struct vt_job *j, const struct vt_merge_hosts *hosts, struct tkm_err *err);
/* hosts.c: by all ranks together, each host its own files where they share the folder. Returns 0; 1 on the writer: it has to
 * do that alone, and has all raw files; or -1. */
VT_HIDDEN int vt_job_merge_together(struct vt_job *j, struct tkm_err *err);

/* programs.c: have all ranks libVT? 0: not all, which is reported, and no rank may call anything collective. A job of one program is taken
 * for whole. Then, when no rank asks any more, the decision is forgotten. */
VT_HIDDEN int vt_job_is_whole(const struct vt_job *j, int size);
VT_HIDDEN void vt_job_forget_decision(void);

/* wait.c: a barrier that leaves the processors to others. Said once where it takes long: `late`; NULL where one
 * works and it is known to. */
VT_HIDDEN void vt_job_wait(const char *late);

#endif

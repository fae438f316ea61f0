/* SPDX-License-Identifier: BSD-3-Clause */
/* The sampler process, vtsampler: what its files share. */
#ifndef COLLECTOR_PLUGIN_AGENT_AGENT_H
#define COLLECTOR_PLUGIN_AGENT_AGENT_H

#include <sys/types.h>

#include "calib/map/pairs.h"
#include "collector-plugin/attach/attach.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/sample/target.h"

enum { VT_AGENT_PLACES = 0x4000, VT_AGENT_RINGS = 32 };

/* Records of the threads and processes that one thread starts. */
struct vt_agent_ring {
	void *at;
	int fd, pages; /* pages 0: free */
	pid_t tid;
};

/* started.c: what a process has started. */
struct vt_agent_started {
	struct vt_agent_ring ring[VT_AGENT_RINGS];
	int error;        /* why the main thread has no ring; 0: it has one */
	int several;      /* it has had more than one thread */
	uint64_t threads, /* started */
		brief,    /* of them in no sample */
		children, /* processes started */
		lost;     /* records of either that found no room */
	pid_t *waiting;   /* threads that were started and not yet looked for */
	size_t n_waiting, n_looked, room;
	uint64_t before_ns, gone_ns; /* CPU time before the first sample; of threads that were sampled and have ended */
	uint64_t all_ns, unseen_ns;  /* of the process, and of it in no thread that was sampled */
	uint64_t children_ticks;     /* of the processes that it has waited for */
};

/* A measured process. */
struct vt_agent_process {
	struct vt_agent_process *next;
	pid_t pid;
	int pidfd;
	int stat;    /* its /proc/PID/stat, from which its exit status is read; -1 */
	int task;    /* its /proc/PID/task; -1 */
	char *texts; /* what it said when it was attached; the settings point there */
	size_t texts_size;
	struct vt_collector c;
	struct vt_sampler *s;
	int planned;  /* it reads counters at its events by itself, too */
	int ended;    /* nothing more to sample */
	int gone;     /* the process is no more */
	int finished; /* its part of the end is done */
	uint32_t how; /* it ended, enum vt_raw_ending */
	int64_t due, node_due, looked_ns;
	int refused;                 /* it may not be looked into any more, which is reported once */
	long seccomp;                /* filters that it had when it was attached; -1: not looked yet */
	int64_t stopped_ns;          /* since when it is stopped; 0: it runs */
	struct tmr_timer *reference; /* the free clock beside its timer, which is steered; NULL: not read */
	int pairs_refused;           /* they cannot be read here */
	int64_t pair_due;
	uint64_t calls; /* of MPI, begun and ended, when it was looked at last */
	int64_t progress_ns;
	double stuck_s; /* it was stopped because of a deadlock, after so long; 0: no */
	uint8_t left[VT_AGENT_PLACES],
		owners[VT_AGENT_PLACES]; /* of each place of a thread without a number: it has got one, after
	                                                         * it was the only one there; so many had it */
	struct vt_agent_started started;
	char lines[65536]; /* for the user, when the process ends */
	size_t lines_size;
};

/* main.c: facts from hwloc (sampler/hw.h); "" if there was no time to ask. */
extern char vt_agent_hw[2048];

/* say.c: messages from now on are for that process; NULL: for none. */
void vt_agent_say_to(struct vt_agent_process *p);

/* process.c: a process that has sent these texts and the descriptor of its raw file. NULL with err. */
struct vt_agent_process *vt_agent_attach(pid_t pid, char *texts, size_t size, int raw, struct tkm_err *err);
/* The n-th value of a key, from 0; NULL. */
const char *vt_agent_text(const struct vt_agent_process *p, const char *key, int n);
/* The last samples, and the raw file is complete. how: enum vt_raw_ending, 0: it said nothing; node: it reads the node's counters. */
void vt_agent_end(struct vt_agent_process *p, uint32_t how, int node);
void vt_agent_free(struct vt_agent_process *p);

/* sample.c: reads all that is due by `now` of CLOCK_MONOTONIC; node: it is this one that reads the node's counters. */
void vt_agent_sample(struct vt_agent_process *p, int64_t now, int node);
/* The last time, and closes all. */
void vt_agent_sample_last(struct vt_agent_process *p, int node);
/* When something is due next. */
int64_t vt_agent_due(const struct vt_agent_process *p, int node);

/* started.c: at the attachment; when a thread was seen for the first time, and no longer, with its last values. */
void vt_agent_started_open(struct vt_agent_process *p);
void vt_agent_started_thread(struct vt_agent_process *p, struct vt_target *t);
void vt_agent_started_gone(struct vt_agent_process *p, struct vt_target *t);
/* Before and after a look at the threads. The first returns 1 if threads were started, so that they must be looked at. */
int vt_agent_started_before(struct vt_agent_process *p);
void vt_agent_started_after(struct vt_agent_process *p, int looked);
/* Closes all, and puts the result into the account, the raw file and a message. */
void vt_agent_started_end(struct vt_agent_process *p);

/* pairs.c: does the process want its timer, which the kernel steers, to be read beside a free clock? It asks for that in the head of its
 * raw file when the job begins to correct its clocks. */
int vt_agent_wants_pairs(const struct vt_agent_process *p);
/* Reads both clocks if it is time for it. */
void vt_agent_pair(struct vt_agent_process *p, int64_t now);

/* hosts.c: the samplers of a job on several hosts. This process is one of the job. */
void vt_agent_hosts_see(const struct vt_agent_process *p);
/* Are there ranks on other hosts whose samplers cannot be seen? */
int vt_agent_hosts_several(void);
int vt_agent_hosts_unseen(void);
/* Tells the others, about every second, that this one is there. */
void vt_agent_hosts_write(int64_t now);
/* All processes here have ended: who makes the trace? To be asked again until it is no longer VT_AGENT_WAITS. */
enum vt_agent_turn { VT_AGENT_WAITS, VT_AGENT_MERGES };
enum vt_agent_turn vt_agent_hosts_turn(int64_t now);
/* How many ranks are on this host. */
int vt_agent_hosts_here(void);
/* Tells the others that all ranks here are blocked, or no longer. Returns 1: those of all other hosts are blocked, too, or have ended. */
int vt_agent_hosts_blocked(int64_t now, int blocked);
/* Removes the file of this host; made: those of all hosts. */
void vt_agent_hosts_end(int made);

/* deadlock.c: looks for a deadlock among these processes, about ten times a second. */
void vt_agent_deadlock(struct vt_agent_process *list, int64_t now);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the sampler process, vtsampler, share. */
#ifndef COLLECTOR_PLUGIN_VTSAMPLER_VTSAMPLER_H
#define COLLECTOR_PLUGIN_VTSAMPLER_VTSAMPLER_H

#include <sys/types.h>

#include "calib/file/clocks.h"
#include "calib/map/pairs.h"
#include "collector-plugin/attach/attach.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/sample/target.h"

enum { VT_MEASURED_PLACES = 0x4000, VT_STARTED_RINGS = 32 };

/* A ring of records about the threads and processes that one thread starts. */
struct vt_started_ring {
	void *at;
	int fd, pages; /* pages 0: free */
	pid_t tid;
};

/* started.c: what a process has started. */
struct vt_started {
	struct vt_started_ring ring[VT_STARTED_RINGS];
	int error;        /* why the main thread has no ring; 0: it has one */
	int several;      /* it has had more than one thread */
	uint64_t threads, /* started */
		brief,    /* of these, threads in no sample */
		children, /* processes started */
		lost;     /* records of either kind that found no room */
	pid_t *waiting;   /* threads that were started and not yet looked for */
	size_t n_waiting, n_looked, room;
	uint64_t before_ns, gone_ns; /* CPU time before the first sample; CPU time of sampled threads that have ended */
	uint64_t all_ns, unseen_ns;  /* CPU time of the process; the part of it that no sampled thread used */
	uint64_t own_ticks, children_ticks; /* CPU time of the process, and of those that it has waited for */
};

/* A measured process. */
struct vt_measured {
	struct vt_measured *next;
	pid_t pid;
	int pidfd;
	int stat;    /* its /proc/PID/stat, from which its exit status is read; -1 */
	char *texts; /* the texts that it sent at its attachment; the settings point there */
	size_t texts_size;
	struct vt_collector c;
	struct vt_sampler *s;
	int planned;                        /* it reads counters at its events by itself, too */
	int ended;                          /* nothing more to sample */
	int gone;                           /* the process is no more */
	int others_ended;                   /* others have, so that a launcher may have killed it */
	int finished;                       /* its part of the end is done */
	uint32_t how;                       /* how it ended, enum vt_raw_ending */
	char later[64];                     /* then, after MPI_Finalize; "": not known */
	struct vt_raw_thread_slot *turn_of; /* whose turn we have taken; NULL: no turn is needed */
	int64_t looked_ns;
	int refused;                 /* the kernel no longer lets us read its data, which is reported once */
	long seccomp;                /* filters that it had when it was attached; -1: not looked yet */
	int64_t stopped_ns;          /* since when it is stopped; 0: it runs */
	struct tmr_timer *reference; /* the clock without steering beside its timer, which is steered; NULL: not read */
	int pairs_refused;           /* they cannot be read here */
	int64_t pair_due;
	struct cal_clock_watch clock[CAL_CLOCKS]; /* the clocks of other programs */
	struct cal_steering steering;             /* of those that the kernel steers */
	int64_t clocks_due;
	uint64_t calls; /* of MPI, begun and ended, when it was looked at last */
	int64_t progress_ns;
	char stopped_why[150]; /* the sampler process has stopped it; "": it has not */
	uint8_t left[VT_MEASURED_PLACES],
		owners[VT_MEASURED_PLACES]; /* of each place of a thread without a number: it has got one, after
	                                                         * it was the only one there; so many had it */
	struct vt_started started;
	/* where its lines go when it cannot print them, see last_lines.c */
	char terminal[64]; /* "": none */
	int err;           /* a file; -1: none */
	pid_t starter;     /* a process with a pipe, 0: none, */
	ino_t pipe;        /* this one */
	char lines[65536]; /* for the user, when the process ends */
	size_t lines_size;
};

/* say.c: the messages that follow are for this process; NULL: for none. */
void vt_say_to_measured(struct vt_measured *p);

/* process.c: attaches a process that has sent these texts and the descriptor of its raw file. NULL with err. */
struct vt_measured *vt_measured_attach(pid_t pid, char *texts, size_t size, int raw, struct tkm_err *err);
/* The same of a process that samples itself: only its end is waited for. NULL: not possible. */
struct vt_measured *vt_measured_watch(pid_t pid, char *texts, size_t size, int raw);
/* That has come: if the process died without a word, its protocol says how. */
void vt_measured_note_end(struct vt_measured *p);
/* Makes the trace then, after all ends are noted, and frees the process. */
void vt_measured_end_watch(struct vt_measured *p);
/* describe.c: stores the command, its user, its batch job and the CPUs that it may use, unless ENVIRONMENT is off. */
void vt_measured_describe(struct vt_measured *p);
/* Returns the n-th value of a key, from 0, or NULL. */
const char *vt_measured_text(const struct vt_measured *p, const char *key, int n);
/* Takes the last samples and completes the raw file. how: enum vt_raw_ending, 0: the process did not tell; node: it
 * is the process with the node's counters. */
void vt_measured_end(struct vt_measured *p, uint32_t how, int node);
/* Has a signal for a mistake of its own ended the process, which is gone? */
int vt_measured_has_fault(const struct vt_measured *p);
/* Notes how a process ended that is gone, and whose trace was complete before that, in MPI_Finalize. */
void vt_measured_note_later(struct vt_measured *p);
/* Adds that of all processes of the list to their protocol, where this node has it. */
void vt_measured_tell_later(const struct vt_measured *list);
void vt_measured_free(struct vt_measured *p);
/* last_lines.c: finds out, at its attachment, where its lines go if it cannot print them at its end; and prints them there. */
void vt_measured_find_stderr(struct vt_measured *p);
void vt_measured_print_lines(struct vt_measured *p);
/* Its standard error while it runs; -1: it cannot be opened. */
int vt_measured_open_stderr(const struct vt_measured *p);

/* merge.c: makes the trace that a process, measured or not, has ordered by this message, and answers it. */
void vt_measured_merge(int to, const char *body, size_t size);
/* Does another sampler process make such a trace of its raw file? */
int vt_measured_is_held(const struct vt_measured *p);

/* sample.c: reads all that is due by `now` of CLOCK_MONOTONIC. node: the node's counters belong to this process. */
extern const struct vt_sampler_ops vt_measured_sampler_ops;
void vt_measured_sample(struct vt_measured *p, int64_t now, int node);
/* Reads all for the last time, and closes it. */
void vt_measured_sample_last(struct vt_measured *p, int node);

/* started.c: reads /proc/PID/stat into text. Returns where that field, from 3 on, begins; NULL: it cannot be read. */
char *vt_measured_stat(const struct vt_measured *p, int field, char *text, size_t size);
/* started.c: call these when a process is attached, when a thread is seen for the first time, and when it has ended,
 * with its last values. */
void vt_started_open(struct vt_measured *p);
void vt_started_add_thread(struct vt_measured *p, pid_t tid);
void vt_started_end_thread(struct vt_measured *p, struct vt_target *t);
/* Call these before and after listing the threads. The first returns 1 if threads were started, so that they must be
 * listed. */
int vt_started_before_listing(struct vt_measured *p);
void vt_started_after_listing(struct vt_measured *p, int looked);
/* Closes all, and writes the result to the account, the raw file and a message. */
void vt_started_end(struct vt_measured *p);

/* pairs.c: does the process want its timer, which the kernel steers, to be read together with a clock that is not
 * steered? It requests that in the head of its raw file when the job begins to correct its clocks. */
int vt_measured_wants_pairs(const struct vt_measured *p);
/* Reads both clocks if that is due. */
void vt_measured_read_pair(struct vt_measured *p, int64_t now);
/* Are the clocks of the kernel to be read for this process? Of a job with a .clk file one process for each timer has them. joined:
 * the job has joined by a contact word. */
int vt_measured_wants_clocks(const struct vt_measured *p, int joined);
/* Reads them if that is due. */
void vt_measured_read_clocks(struct vt_measured *p, int64_t now, int joined);
/* Reads them for the last time. */
void vt_measured_end_clocks(struct vt_measured *p);

/* hosts.c: adds a process of the job. */
void vt_hosts_add_process(const struct vt_measured *p);
/* Are there ranks on other hosts, with other samplers? */
int vt_hosts_are_several(void);
/* Returns the number of ranks on this host. */
int vt_hosts_ranks_here(void);

/* stop.c: lines for the stderr of a process, which are also INFO records of this name in its raw file. */
struct vt_stop_output {
	struct vt_measured *p;
	int fd;
	const char *name;
};
void vt_stop_open(struct vt_stop_output *o, struct vt_measured *p, const char *name);
void vt_stop_say(struct vt_stop_output *o, const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void vt_stop_close(struct vt_stop_output *o);
/* Stops all processes of the list whose stopped_why is set. */
void vt_stop_all(struct vt_measured *list, int64_t now);
/* Returns 1 if they are being stopped; to be called again, because those that are left are killed. */
int vt_stop_goes_on(struct vt_measured *list, int64_t now);
/* Looks for the file STOPFILE-NAME, about twice a second, and stops all if it is there. */
void vt_stop_look_for_file(struct vt_measured *list, int64_t now);

/* deadlock.c: looks for a deadlock among these processes, about ten times a second. */
void vt_look_for_deadlock(struct vt_measured *list, int64_t now);

#endif

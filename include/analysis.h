/* SPDX-License-Identifier: BSD-3-Clause */
/* Analysis of a trace of a program with MPI or OpenMP: which threads wait for which, in which calls, and how much of the run time is
 * computation.
 * Part of libtickmark-stf; stf.h says what holds for the whole library. Once installed: #include <stf/analysis.h>.
 * stftool(1), ANALYSIS, defines the kinds of waits and the efficiencies. */
#ifndef STF_ANALYSIS_H
#define STF_ANALYSIS_H

#include "stf.h"

#ifdef __cplusplus
extern "C" {
#endif

enum stf_wait_kind {
	STF_WAIT_LATE_SENDER,
	STF_WAIT_LATE_RECEIVER,
	STF_WAIT_BARRIER,
	STF_WAIT_N_TO_N,
	STF_WAIT_EARLY_REDUCE,
	STF_WAIT_LATE_BROADCAST,
	STF_WAIT_EARLY_SCAN,
	STF_WAIT_WRONG_ORDER, /* a late sender, while another message had come that was received later */
	STF_WAIT_INIT,        /* for the last process that calls MPI_Init */
	STF_WAIT_FINALIZE,    /* for the last one that calls MPI_Finalize */
	STF_WAIT_OPEN,        /* in a call that was open when the trace ended; nobody is known to have caused it */
	STF_WAIT_FENCE,
	STF_WAIT_LATE_POST,     /* for the target, which calls MPI_Win_post */
	STF_WAIT_LATE_COMPLETE, /* for an origin, which calls MPI_Win_complete */
	STF_WAIT_OMP_BARRIER,   /* for the last thread of a team of OpenMP */
	STF_WAIT_LOCK,          /* for the lock of a window, which another rank gives back */
	STF_WAIT_KINDS
};
/* "late sender" ... */
const char *stf_wait_name(enum stf_wait_kind kind);

/* The waits of one kind of one thread in one function. Times are in time-stamp units. */
struct stf_wait {
	enum stf_wait_kind kind;
	uint32_t willy, function; /* who waits, and in which call */
	uint64_t count, sum;      /* of the waits that are longer than the bound of their two stamps, or have none */
	/* Of those that are not longer: whether there was a wait cannot be decided. */
	uint64_t undecided_count, undecided_sum;
	uint64_t worst, worst_at; /* the longest wait, and the stamp at which it began */
	double worst_bound;       /* seconds; NaN: the trace states none */
	uint32_t scl;             /* where in the source the call with the longest wait is; 0: unknown */
	/* not of STF_WAIT_OPEN: the thread that ended the longest wait, and the function in which it had spent most time since it last waited
	 * itself; 0: the trace has none */
	uint32_t cause, cause_function;
};

/* One wait, as it is found. */
struct stf_single_wait {
	enum stf_wait_kind kind;
	uint32_t willy, function, scl;
	uint32_t cause, cause_function;
	uint64_t from, to; /* stamps */
	double bound;      /* seconds; NaN: the trace states none */
	int decided;       /* it is longer than its bound, or has none */
};

/* What others waited for one thread. A wait that itself comes from waiting belongs to the thread at the start of the
 * chain. */
struct stf_delay {
	uint32_t willy, function; /* where it was when the others waited */
	uint64_t count;           /* waits, or parts of waits */
	uint64_t direct;          /* time that others waited for this thread */
	uint64_t propagated;      /* time that others waited for somebody who had waited for this thread */
	uint64_t first, last;     /* begin of the first and end of the last of these waits */
};

/* One thread that called MPI. */
struct stf_mpi_thread {
	uint32_t willy;
	int begins, ends;    /* the leaving of MPI_Init, and the entering of MPI_Finalize, were recorded */
	uint64_t begin, end; /* these two stamps; without them the ends of what was analysed */
	uint64_t mpi, wait;  /* between them: time in MPI, and in waits longer than their bound */
	uint64_t undecided;  /* and in waits that are not */
	uint64_t calls;      /* of MPI */
	uint32_t open;       /* function of MPI that was not left at the end; 0: none */
	uint64_t open_since;
};

/* A part of the critical path: time that a thread spent in a function, entered at that place in the source. The path leads to the
 * end of the run; where a thread waited, it is that of the thread that it waited for. */
struct stf_path_share {
	uint32_t willy, function, scl; /* function, scl 0: none */
	uint64_t ticks;
};

/* How far apart the members of a collective operation begin it. The operation is what is declared under `type`. */
struct stf_spread {
	uint32_t type, communicator;
	uint64_t count;           /* operations of which two or more members are recorded */
	uint64_t inside;          /* time of all members in them */
	uint64_t sum;             /* from the first begin to the last */
	uint64_t worst, worst_at; /* the longest of these, and its first begin */
	/* operations in which the last begin is not later than the one before it by more than the bound of the two, so which one was the
	 * last is not known */
	uint64_t undecided;
	uint32_t last; /* of the others: the thread that was the last most often */
	uint64_t last_count;
};

/* The one thread that the others wait for most of the time. */
struct stf_culprit {
	int known;                /* 0: there is no such thread, and nothing else is set */
	uint32_t willy, function; /* where it is when they wait; 0: the trace has no function */
	/* 1: the others are in MPI while it works longer than each of them, and the trace does not show which rank they wait for */
	int by_work;
	uint64_t since, until; /* stamps, to 1/32 of what was analysed */
	uint64_t waited;       /* what all others together waited for it */
	double share;          /* of all waits; if by_work, of their time in MPI */
	/* seconds that it was ready to run and had no processor; NaN: that was not recorded.
	 * If without that the others might not wait noticeably, known is 0, and willy is set all the same */
	double without_processor;
};

/* The threads of a process that were in parallel regions of OpenMP. */
struct stf_team {
	uint32_t process, threads;
	uint64_t inside;         /* time of all of them in parallel regions */
	uint64_t waited;         /* of that, for others at barriers, as in the waits of STF_WAIT_OMP_BARRIER */
	uint64_t caused;         /* of these waits, those for one thread, the one with most; 0: there were none */
	uint32_t cause;          /* this thread */
	uint32_t scl;            /* where in the source the barrier is with the longest wait for it; 0: unknown */
	uint64_t longest_inside; /* time of the one that was in parallel regions longest */
	/* time of the process's first thread in which the run-time library may have kept it: in barriers, without their tasks, and
	 * after the begin of a region until others had begun it, too */
	uint64_t first_held;
};

/* A function or region of the program that the ranks' first threads enter from no other one (level 0), or from such a one (level 1),
 * between MPI_Init and MPI_Finalize. */
struct stf_phase {
	uint32_t function, level;
	uint32_t processes; /* that were in it */
	uint64_t calls;     /* of the thread with most */
	uint64_t time;      /* in all calls, of the thread with the longest */
	/* of the time: the mean outside MPI of all processes, this mean of the longest time outside MPI, and that of the time; 1 is best */
	double parallel, load_balance, communication;
	uint32_t most;                /* the thread with the longest time outside MPI */
	uint64_t longest, longest_at; /* the longest call, and the stamp at which it began */
	uint32_t longest_willy;
};

/* The outermost loop of a job, as its calls of MPI show it: a function that the first threads of all ranks call equally often and at
 * regular intervals. An iteration is from the end of one call to that of the next one. */
struct stf_iterations {
	uint32_t function; /* 0: none was found, and nothing else is set */
	uint64_t count;
	double mean, spread;          /* of all but the longest, and their standard deviation */
	uint64_t longest, longest_at; /* and the stamp at which it began */
	uint32_t longest_willy;
};

/* A share from 0 to 1, NaN: not known. error: by how much the clocks may make it wrong, NaN: they have no known bound. */
struct stf_share {
	double value, error;
};

struct stf_analysis {
	double resolution;      /* seconds of a time-stamp unit */
	uint64_t start, end;    /* what was analysed */
	uint32_t processes;     /* that called MPI */
	uint64_t begin, finish; /* of it, the first end of MPI_Init and the last begin of MPI_Finalize */
	struct stf_wait *wait;  /* the largest sum first */
	size_t n_waits;
	struct stf_delay *delay; /* the largest sum of direct and propagated first */
	size_t n_delays;
	struct stf_mpi_thread *thread; /* in the order of their numbers */
	size_t n_threads;
	/* parallel = load_balance x communication. Of the threads that called MPI_Init; if none did, thread 0 of each
	 * process that called MPI. */
	struct stf_share parallel, load_balance, communication;
	struct stf_culprit culprit;
	uint64_t messages, operations; /* messages, and collective operations */
	uint64_t halves;     /* of these messages: the other end is not recorded, so a wait cannot be decided */
	uint64_t incomplete; /* operations that lack members */
	uint64_t no_root;    /* operations with a root that is unknown, and those between neighbours */
	uint64_t reversed;   /* messages received before they were sent, by their stamps */
	int bounds;          /* 1: all clocks have a known bound; 0: none has, or not all have */
	/* communication = serialisation x transfer: transfer is the run time of the ideal run divided by the real one */
	struct stf_share serialisation, transfer;
	uint64_t ideal;   /* the time from `begin` to `finish` with a network as the options describe it */
	uint64_t changed; /* the same with the network as it was, and a function as the options describe it */
	struct stf_path_share *path; /* the critical path, the largest share first */
	size_t n_path;
	uint64_t path_sum;
	struct stf_spread *spread; /* the largest sum first */
	size_t n_spreads;
	/* the share of the time from `begin` to `finish` in which the processes were ready to run and had no processor, on average;
	 * NaN: that was not recorded. If it is large, all other times contain it */
	double without_processor;
	struct stf_team *team; /* of processes that have parallel regions of OpenMP */
	size_t n_teams;
	struct stf_phase *phase; /* that take 1 % of the run or more; level 0 first, then the longest first */
	size_t n_phases;
	struct stf_iterations iterations;
	/* calls whose waits cannot be decided: of MPI_Win_lock_all, which the trace does not connect with the locks of others; and those
	 * that began while another thread of the rank was in MPI, which may have waited for it there */
	uint64_t lock_alls, beside;
};

struct stf_analysis_options {
	size_t size; /* sizeof(struct stf_analysis_options), or 0 */
	int window;  /* only from `from` to `to`; calls and waits are cut there */
	uint64_t from, to;
	/* called now and then with the stamp that was reached; NULL: not at all. If it returns something other than 0, the
	 * analysis ends there */
	int (*progress)(void *user, uint64_t time);
	void *user; /* of both calls */
	/* called for each wait when the reading has passed its end; NULL: not at all */
	void (*wait)(void *user, const struct stf_single_wait *w);
	/* the network of the ideal run: seconds for each message, and bytes a second (0: any number). With both
	 * zero communication takes no time */
	double latency, bandwidth;
	/* the function, by its id, that is played with this part of its own time, from 0 to 1; id 0: none */
	uint32_t function;
	double keeps;
	/* called in the order of time of each thread: its stamp `time` becomes `played`, in the run with the
	 * changed function if there is one, else in the ideal run. Between these stamps time passes evenly. If it returns
	 * something other than 0, the analysis fails with STF_ERR_IO */
	int (*moved)(void *moved_user, uint32_t willy, uint64_t time, uint64_t played);
	void *moved_user;
};

static inline struct stf_analysis_options stf_analysis_options(void)
{
	struct stf_analysis_options o;

	memset(&o, 0, sizeof(o));
	o.size = sizeof(o);
	return o;
}

/* Analyses a trace in one pass. The memory depends on the number of threads and functions, not on the length of the
 * trace. o NULL: all of it. On failure returns NULL and fills *err; damage that is left out is no failure here, see
 * stf_reader_damage(). The caller frees the result with stf_analysis_free(). */
struct stf_analysis *stf_analyze(struct stf_reader *r, const struct stf_analysis_options *o, struct stf_err *err);
void stf_analysis_free(struct stf_analysis *a);

#ifdef __cplusplus
}
#endif

#endif

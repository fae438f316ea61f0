/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a sampler, which is the thread inside a program or the sampler process, and what both do alike. */
#ifndef COLLECTOR_PLUGIN_SAMPLE_TARGET_H
#define COLLECTOR_PLUGIN_SAMPLE_TARGET_H

#include <semaphore.h>
#include <time.h>

#include "base/table.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/host/turn.h"
#include "collector-plugin/raw/writer.h"

/* A plan's ids in the raw file, and room for its values. */
struct vt_book {
	const struct smp_plan *plan; /* NULL: no counters */
	const uint32_t *ids;
	union smp_value *value;
	uint8_t *state;
	uint8_t *said, *restarted; /* of each planned counter: does it work? how often did it begin anew? */
};

/* The totals of a place continue where those of the thread before ended, so that they never decrease. */
struct vt_place_total {
	uint64_t base, last;
};

/* What a sample needs of one value of a set, found when the set is opened. */
struct vt_row {
	uint32_t id;                  /* in the raw file */
	uint32_t planned;             /* number in the plan */
	struct vt_raw_total *total;   /* of the process, which the program records, too; NULL: none */
	struct vt_place_total *place; /* of a place that several threads have one after the other; NULL: none */
};

/* Counters that belong to one thread, to the process or to the node. */
struct vt_target {
	struct vt_target *next;
	pid_t tid;
	int where;           /* as in records of the raw file */
	unsigned seen;       /* round in which it was last seen */
	struct smp_set *set; /* NULL: no counters for it */
	struct vt_book *book;
	int cpu_fd; /* vtsampler/started.c; -1: none */
	uint64_t cpu_ns;
	size_t n, size; /* values of the set; bytes of this */
	struct vt_row row[];
};

struct vt_sampler;

/* What the sampling thread inside a program and the sampler process do in different ways. NULL where it says so. */
struct vt_sampler_ops {
	/* Before the threads are listed. Returns 0 if they cannot be listed now. */
	int (*begin_list)(struct vt_sampler *s);
	/* Returns the number of a new thread in the raw file, or -1 if it is not sampled. May set *book. */
	int (*number_thread)(struct vt_sampler *s, pid_t tid, struct vt_book **book);
	/* A thread that is known is still there; NULL: nothing to do. */
	void (*see_again)(struct vt_sampler *s, struct vt_target *t);
	/* A thread has ended. Its counters still have their last values: perf events outlive what they count. */
	void (*end_thread)(struct vt_sampler *s, struct vt_target *t);
	/* After begin_list() returned 1; listed: the threads were listed. NULL: nothing to do. */
	void (*end_list)(struct vt_sampler *s, int listed);

	/* Is recording switched off for this thread? The main thread's tid stands for the process, too. */
	int (*is_off)(struct vt_sampler *s, pid_t tid);
	/* Takes the turn to read the counters of the process. Returns 0 if other threads keep it. */
	int (*take_turn)(struct vt_turn *turn);
	/* Takes the turn to read the counters of a thread, sets t->where and the stamp. Returns 0 if the thread itself has
	 * the turn, and then records its counters. */
	int (*take_thread_turn)(struct vt_sampler *s, struct vt_target *t, ltick_t *now);
	void (*end_thread_turn)(struct vt_sampler *s, ltick_t now);

	/* Returns the CPU time of this sampling so far, without that before an exec. */
	int64_t (*cpu_ns)(const struct vt_sampler *s);
};

struct vt_sampler {
	struct vt_collector *c;
	const struct vt_sampler_ops *ops;
	void *owner; /* of ops */
	pthread_t thread;
	pid_t tid;
	_Atomic int stop;
	int merge; /* argument of close_and_merge() */
	struct vt_raw_stream *stream;
	struct vt_book book, no_book; /* no_book has no counters */
	struct vt_target *threads, *process, *node;
	struct vt_target
		*shared;    /* counters of the process that the program's threads read too (process.c); NULL: none */
	int apart;          /* the thread has its own table of descriptors */
	_Atomic int opened; /* both exist, */
	sem_t ready;        /* for which the program waits */
	struct tkm_table places; /* struct vt_place_total of each planned counter, by place */
	struct vt_target *later; /* new_devices.c: counters of devices that came */
	struct smp_plan *last_plan;
	int64_t node_ns; /* when the node's counters were read */
	uint64_t mark;
	int64_t marked_ns; /* when it was looked at; 0: not yet */
	int n_later, said_later;
	unsigned round;
	int root, task; /* descriptors: "/", /proc/PID/task */
	int spare[2];
	nlink_t task_links;
	int is_proc_above; /* the names below /proc are of a PID namespace above */
	int task_skipped;
	int election;          /* the bound socket of the process that reads the node's counters, or -1 */
	int64_t due, node_due; /* next samples, of CLOCK_MONOTONIC */
	int64_t period_ns, account_ns, account_cpu_ns, clock_ns, asleep_ns;
	ltick_t stamp;              /* of the last record */
	uint64_t cpu_before;        /* ns that the sampler used in earlier programs of this process, before an exec */
	_Atomic uint64_t noted_cpu; /* what the program after an exec begins with; 0: no exec is under way */
	/* sampler_cpu in the raw file's pages, for another sampler process, in case this one is killed; NULL: inside */
	struct vt_raw_total *total_cpu;
	uint64_t own_cpu;  /* sampler_cpu as it was recorded last, */
	ltick_t own_stamp; /* and when; 0: not yet */
	uint64_t info_bytes;
	size_t size;       /* of it all, in bytes */
	uint32_t first_id; /* of the plan's counters */
	uint64_t *total;   /* of each planned counter, when a thread takes its own over */
};

/* Returns the bytes that the book of a plan of n counters needs. vt_book_init() makes it use them. */
size_t vt_book_size(size_t n);
void vt_book_init(struct vt_book *b, void *memory, size_t n);

/* Opens the counters of a book that have this scope; wanted: NULL, or which of them (smp_set_open_some()). Returns
 * NULL if there is no memory. */
struct vt_target *vt_target_new(struct vt_sampler *s, struct vt_book *book, enum smp_scope scope, pid_t tid, int where,
	int (*wanted)(const struct smp_plan *plan, size_t i));
void vt_target_free(struct vt_target *t);

/* Reads all counters of a target and appends them, after `more` values of the caller. The stamp was taken just
 * before. */
void vt_target_sample_at(struct vt_sampler *s, struct vt_target *t, ltick_t now, const uint32_t *more_id,
	const uint64_t *more, unsigned n_more);
/* Reads and appends them now, unless that is outside TIME-WINDOWS. */
void vt_target_sample(struct vt_sampler *s, struct vt_target *t);
/* At the end: reports the software-defined events that never had a value, because the program has none of that name. */
void vt_sampler_say_unregistered(struct vt_sampler *s);
int vt_sampler_in_window(const struct vt_sampler *s, ltick_t now);

/* Returns a sampler of c->plan, or NULL if there is no memory. */
struct vt_sampler *vt_sampler_new(struct vt_collector *c, const struct vt_sampler_ops *ops, void *owner);

/* ---- loop.c ---- */

/* From `now` of CLOCK_MONOTONIC on samples are due. */
void vt_sampler_begin(struct vt_sampler *s, int64_t now);
/* Returns when something is due next; node: the node's counters belong to this sampler. */
int64_t vt_sampler_due(const struct vt_sampler *s, int node);
/* Reads all that is due by `now`. */
void vt_sampler_sample(struct vt_sampler *s, int64_t now, int node);
/* The node's counters are due, and another process reads them. */
void vt_sampler_skip_node(struct vt_sampler *s, int64_t now);
/* After a sample: records what it cost and makes room in the raw file. */
void vt_sampler_tick(struct vt_sampler *s, int64_t now);
/* Opens the counters of threads that are new, and records the last values of those that have ended. */
void vt_sampler_list_threads(struct vt_sampler *s);
/* Lists them the next time, even if their number has not changed. */
void vt_sampler_list_next_time(struct vt_sampler *s);
/* Reads all for the last time, and closes it. */
void vt_sampler_sample_last(struct vt_sampler *s, int node);
void vt_sampler_close(struct vt_sampler *s);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The background thread's own state (sampler.c). */
#ifndef COLLECTOR_PLUGIN_SAMPLE_SAMPLER_H
#define COLLECTOR_PLUGIN_SAMPLE_SAMPLER_H

#include <semaphore.h>
#include <time.h>

#include "collector-plugin/core/collector.h"
#include "collector-plugin/raw/writer.h"

/* As getdents64(2) writes it. */
struct dirent64 {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

/* A plan's ids in the raw file, and room for its values. */
struct vt_book {
	const struct smp_plan *plan; /* NULL: no counters */
	const uint32_t *ids;
	union smp_value *value;
	uint8_t *state;
	uint8_t *said, *restarted; /* of each planned counter: that it does not work; how often it began anew */
};

/* Counters that belong to one thread, to the process or to the node. */
struct vt_target {
	struct vt_target *next;
	pid_t tid;
	int where;            /* as in records */
	unsigned seen;        /* round in which it was there */
	struct smp_set *set;  /* NULL: no counters for it */
	struct vt_book *book;
};

struct vt_sampler {
	struct vt_collector *c;
	pthread_t thread;
	pid_t tid;
	_Atomic int stop;
	int merge;            /* for close_and_merge() */
	struct vt_raw_stream *stream;
	struct vt_book book;
	struct vt_target *threads, *process, *node;
	struct vt_target *shared; /* counters of the process that the program's threads read too (process.c); NULL: none */
	int apart;            /* the table of descriptors is not the program's */
	_Atomic int opened;   /* both stand, */
	sem_t ready;          /* for which the program waits */
	struct vt_target *later; /* new_devices.c: counters of devices that came */
	struct smp_plan *last_plan;
	int64_t node_ns;      /* when the node's were read */
	uint64_t mark;
	int64_t marked_ns;    /* when it was looked at; 0: not yet */
	int n_later, said_later;
	unsigned round;
	int root, task;       /* descriptors: "/", /proc/self/task */
	int spare[2];
	nlink_t task_links;
	int task_skipped;
	int election;         /* the bound socket of who reads the node's counters, or -1 */
	int64_t period_ns, account_ns, clock_ns, asleep_ns;
	ltick_t stamp;        /* of the last record */
	uint64_t cpu_before;  /* ns that the sampler used in programs that this one took the place of, by exec */
	_Atomic uint64_t noted_cpu; /* what the program after an exec begins with; 0: no exec is under way */
	uint64_t own_cpu;     /* sampler_cpu as it was recorded last, */
	ltick_t own_stamp;    /* and when; 0: not yet */
	uint64_t info_bytes;
	uint64_t *total;      /* of each planned counter, when a thread takes its own over */
};

/* Bytes that the book of a plan of n counters needs behind it, and pointing it there. */
size_t vt_book_size(size_t n);
void vt_book_lay(struct vt_book *b, void *room, size_t n);

/* Opens the counters of a book that have this scope; wanted: NULL, or which of them (smp_set_open_some()). NULL: no memory. */
struct vt_target *vt_target_new(struct vt_sampler *s, struct vt_book *book, enum smp_scope scope, pid_t tid, int where,
				int (*wanted)(const struct smp_plan *plan, size_t i));
void vt_target_free(struct vt_target *t);

/* descriptors.c. Descriptors of our own. The copies of the program's are closed at once: a pipe that the program closes must be
 * closed. Those of the set that both read stay. Returns 1. 0: not possible here, then the table stays the program's. */
int vt_own_descriptors(const struct smp_set *shared);

/* Is there somebody new? Then it gets counters, if the rules choose some of it. At most once a second it is looked. */
void vt_look_for_devices(struct vt_sampler *s);

#endif

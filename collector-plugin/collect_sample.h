/* SPDX-License-Identifier: BSD-3-Clause */
/* The background thread's own state (collect_sample.c). */
#ifndef COLLECTOR_PLUGIN_COLLECT_SAMPLE_H
#define COLLECTOR_PLUGIN_COLLECT_SAMPLE_H

#include <time.h>

#include "collector-plugin/collect_private.h"

/* Counters that belong to one thread, to the process or to the node. */
struct vt_target {
	struct vt_target *next;
	pid_t tid;
	int where;            /* as in records */
	unsigned seen;        /* round in which it was there */
	struct smp_set *set;  /* NULL: no counters for it */
};

struct vt_sampler {
	struct vt_collector *c;
	pthread_t thread;
	pid_t tid;
	_Atomic int stop;
	int merge;            /* for vt_collect_last() */
	struct vt_raw_stream *stream;
	struct vt_target *threads, *process, *node;
	unsigned round;
	int root, task;       /* descriptors: "/", /proc/self/task */
	int spare[2];
	nlink_t task_links;
	int task_skipped;
	int election;         /* the bound socket of who reads the node's counters, or -1 */
	int64_t period_ns, account_ns, clock_ns, asleep_ns;
	uint64_t info_bytes;
	union smp_value *value;
	uint8_t *state;
	uint8_t *said, *restarted; /* of each planned counter: that it does not work; how often it began anew */
};

int64_t vt_now_ns(clockid_t id);

/* Zeroed pages, not from the program's malloc. */
void *vt_pages(size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files merge*.c share: the raw files of one trace, and what their definitions became. */
#ifndef COLLECTOR_PLUGIN_MERGE_PRIVATE_H
#define COLLECTOR_PLUGIN_MERGE_PRIVATE_H

#include <stdatomic.h>
#include <stddef.h>

#include "collector-plugin/merge/merge.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "stf/stf.h"

/* Ids of one kind of definition of one file, in the trace's numbers. Two ranges, because the collector's own stand
 * low and the program's from 0x10000 on. */
enum { VT_MERGE_HIGH = 0x10000 };
struct vt_merge_ids {
	uint32_t *to[2]; /* [n]; 0: nobody has defined it */
	uint32_t n[2];
};

struct vt_merge_thread {
	uint64_t tid;
	char *name; /* NULL: none */
	int there;  /* it is defined */
};

struct vt_merge_clock {
	int64_t tick, realtime_ns, monotonic_ns, raw_ns;
};

struct vt_merge_file {
	struct vt_raw_file *raw;
	const struct vt_raw_head *head;
	const struct cal_map *map; /* given, or &own */
	struct cal_map own;
	struct vt_merge_ids classes, counters, functions, scls, groups;
	struct vt_merge_ids places; /* of a place the number of its thread, and one more */
	struct vt_merge_thread *thread, *place;
	uint32_t n_threads, n_places;
	struct vt_merge_clock first, last; /* readings of the system's clocks */
	int clocks;
	uint32_t process;
	uint32_t set;              /* of the trace's files that its records go to */
	uint32_t node_set;         /* that records of its node's group go to: the set of the lowest process there */
	unsigned of_groups;        /* it defines counters of groups: VT_MERGE_OF_NODE, VT_MERGE_OF_GROUPS */
	int discarded;             /* PROCESS no, discard: only its records of groups are wanted */
	int went_on;               /* as another program, by exec, in another of the files */
	uint32_t node;             /* number of its node, from 0 */
	int64_t start, end;        /* global ticks, the origin taken off */
	uint32_t host;             /* that merges its records */
	const char *there;         /* its path on that host; NULL: it is all here */
	struct vt_raw_damage damage; /* as the one who read them found them */
};

/* Stamps behind the one before them in their stream: moved up to it, and left because that is beyond their bound. In
 * global ticks: the largest of both. */
struct vt_merge_repairs {
	uint64_t moved, largest, left, farthest;
};

struct vt_merge_node {
	const char *host, *boot;
};

/* A text, and the id in the trace of what it stands for. */
struct vt_merge_names {
	struct vt_merge_name {
		char *text;
		uint32_t id;
	} *slot;
	size_t n, size;
};

struct vt_merge {
	const struct vt_merge_options *o;
	struct vt_merge_file *file; /* by process */
	size_t n;
	struct vt_merge_node *node;
	size_t n_nodes;
	uint32_t *node_of;        /* by process, while the trace's files are shared out by node; else NULL */
	uint32_t n_node_of;
	uint32_t *group_home;     /* of n_homes groups: the process whose set their records go to */
	uint32_t n_homes;
	double period_s;
	int64_t origin;           /* global tick that is the trace's 0 */
	uint64_t last;            /* largest stamp of the trace */
	int unaligned;            /* nodes without a map: their clocks of day were believed */
	struct stf_writer *w;
	uint32_t *threads;        /* of each of n_processes processes */
	uint32_t n_processes;
	struct vt_merge_names classes, counters, functions, groups, infos, files, scls;
	uint32_t next_counter, next_function, next_scl, next_group, next_file;
	struct vt_merge_repairs repairs;
	struct vt_merge_result *out;
	struct tkm_err *err;
};

enum { VT_MERGE_OF_NODE = 1, VT_MERGE_OF_GROUPS = 2 };
enum { VT_MERGE_ALL = 1, VT_MERGE_FIRST_NODE = 2 }; /* groups: all processes, then one per node */

/* definitions.c: reads the definitions of all files and writes the unified ones. Return 0 or -1. */
int vt_merge_read_definitions(struct vt_merge *m);
int vt_merge_write_definitions(struct vt_merge *m);
void vt_merge_names_free(struct vt_merge_names *names);
/* An info record, once. */
int vt_merge_info(struct vt_merge *m, const char *cls, const char *text);
/* Puts the writer's error into m->err. Returns -1. */
int vt_merge_stf_error(struct vt_merge *m, const struct stf_err *e);

/* sweep.c: removes what a merge of these files left that was killed. */
void vt_merge_sweep(const struct vt_merge *m);

static inline uint32_t vt_merge_id(const struct vt_merge_ids *ids, uint32_t id)
{
	int high = id >= VT_MERGE_HIGH;

	id -= high ? VT_MERGE_HIGH : 0;
	return id < ids->n[high] ? ids->to[high][id] : 0;
}

/* Does the file have records for this set: its own, those of its node, those of groups of the program (set 0)? */
static inline int vt_merge_serves(const struct vt_merge_file *f, uint32_t set)
{
	return f->set == set || ((f->of_groups & VT_MERGE_OF_NODE) && f->node_set == set) || ((f->of_groups & VT_MERGE_OF_GROUPS) && set == 0);
}

/* Records of one set of the trace's files, or of all of them. */
struct vt_merge_part {
	struct vt_merge *m;       /* not changed */
	struct stf_writer *w;
	int everything;
	uint32_t set;
	int stray;                /* there was a record of a group in a file that defines no counter of one */
	uint64_t samples, changes, lost, last;
	struct vt_merge_repairs repairs;
	uint64_t seen_elsewhere;  /* damaged blocks, which are counted with the set that they belong to */
	struct stf_err error;
};

/* data.c: the records of a part in the order of time. Returns 0, or -1 with part->error. */
int vt_merge_part_data(struct vt_merge_part *part);

/* The sets of the trace's files and who writes them. */
struct vt_merge_sharing {
	struct vt_merge *m;
	uint32_t *set; /* [n], ascending, the first is 0: there stand the records of groups but the nodes */
	size_t n;
	uint32_t *host; /* [n]: who does it */
	struct vt_merge_part *part;
	char **text;   /* what each part's writer left for the one that completes the trace */
	_Atomic int failed;
};

/* share.c: all records, in as many threads as are allowed and useful. */
int vt_merge_data(struct vt_merge *m);
/* Does the i-th set, as a file without a name and a text. */
void vt_merge_one_part(void *sharing, size_t i);
/* hosts.c: all sets, those of other hosts there. Returns 0 or -1; what failed is in `failed` and the parts' errors. */
int vt_merge_by_hosts(struct vt_merge_sharing *s);
struct stf_writer *vt_merge_writer(const struct vt_merge *m, int part, struct stf_err *e);
/* Calls fn(ctx, i) for each i below n, in several threads at a time, all signals blocked in those. */
void vt_merge_each(const struct vt_merge *m, size_t n, void (*fn)(void *ctx, size_t i), void *ctx);

#endif

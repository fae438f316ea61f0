/* SPDX-License-Identifier: BSD-3-Clause */
/* The types that the files of the merge share: the raw files of one trace, and what their definitions became. */
#ifndef COLLECTOR_PLUGIN_MERGE_TYPES_H
#define COLLECTOR_PLUGIN_MERGE_TYPES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/table.h"
#include "calib/map/map.h"
#include "collector-plugin/merge/match.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "stf/stf.h"

struct vt_merge_comm;
struct vt_merge_communicator;
struct vt_merge_options;
struct vt_merge_result;

/* Ids of one kind of definition of one file, in the trace's numbers. Two ranges, because the collector's own are
 * low and the program's from 0x10000 on. */
enum { VT_MERGE_HIGH = 0x10000 };
struct vt_merge_ids {
	uint32_t *to[2]; /* [n]; 0: not defined */
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

/* An executable or library that functions are in. */
struct vt_merge_object {
	uint32_t id, build_id_size;
	uint8_t build_id[32];
	char *path;
	struct vt_symbols *symbols; /* NULL: there are none, or they have not been searched */
	int looked, nmcmd_failed;
	struct vt_lines *lines;
	int looked_lines;
};

struct vt_merge_file {
	struct vt_raw_file *raw;
	const struct vt_raw_head *head;
	const struct cal_map *map; /* given, or &own */
	struct cal_map own;
	struct vt_merge_ids classes, counters, functions, scls, scopes, groups, paths;
	struct vt_merge_ids places; /* of a place the number of its thread, and one more */
	struct vt_merge_object *object;
	size_t n_objects;
	struct vt_merge_thread *thread, *place;
	uint32_t n_threads, n_places;
	struct vt_merge_clock first, last; /* readings of the system's clocks */
	int clocks;
	struct vt_merge_comm *comms; /* by their number in the file (communicators.h) */
	uint32_t n_comms;
	uint32_t process;
	uint32_t set;                /* of the trace's files that its records go to */
	uint32_t node_set;           /* that records of its node's group go to: the set of the lowest process there */
	unsigned of_groups;          /* it defines counters of groups: VT_MERGE_OF_NODE, VT_MERGE_OF_GROUPS */
	int discarded;               /* PROCESS no, discard: only its records of groups are wanted */
	int went_on;                 /* as another program, by exec, in another of the files */
	uint32_t node;               /* number of its node, from 0 */
	int64_t start, end;          /* global ticks, the origin taken off */
	uint32_t host;               /* that merges its records */
	const char *there;           /* its path on that host; NULL: it is all here */
	struct vt_raw_damage damage; /* as the one who read them found them */
};

/* Stamps after the one before them in their stream: moved up to it, and left because that is beyond their bound. In
 * global ticks: the largest of both. */
struct vt_merge_repairs {
	uint64_t moved, largest, left, farthest;
	uint64_t closed;    /* states that were open where the records of their thread ended */
	uint64_t unmatched; /* leaves without an enter, left out */
	uint64_t undefined; /* states without a definition */
};

struct vt_merge_node {
	const char *host, *boot;
};

struct vt_merge_row; /* merge/statistics.h */

struct vt_merge {
	const struct vt_merge_options *o;
	struct vt_merge_file *file; /* by process */
	size_t n;
	struct vt_merge_node *node;
	size_t n_nodes;
	uint32_t *node_of; /* by process, while the trace's files are shared out by node; else NULL */
	uint32_t n_node_of;
	uint32_t *group_home; /* of n_homes groups: the process whose set their records go to */
	uint32_t n_homes;
	double period_s;
	int64_t origin; /* global tick that is the trace's 0 */
	uint64_t last;  /* largest stamp of the trace */
	int unaligned;  /* nodes without a map: their clocks of day were believed */
	struct stf_writer *w;
	uint32_t *threads; /* of each of n_processes processes */
	uint32_t n_processes;
	struct tkm_table classes, counters, functions, groups, infos, files, scls, scopes, paths; /* merge/names.h */
	uint32_t next_counter, next_function, next_scl, next_group, next_file, next_scope, next_path;
	int any_paths; /* there are files that bytes are moved to or from */
	struct tkm_table communicators;
	struct vt_merge_communicator *communicator; /* by their number in the trace, from 1 */
	uint32_t n_communicators, room_communicators;
	struct vt_merge_row *row;
	size_t n_rows, room_rows;
	struct tkm_table row_names;
	uint32_t others_function; /* that rows are counted with for which there was no place */
	uint64_t stacks, in_stacks,
		without_line; /* call stacks, places in them, and those whose source line is unknown */
	struct vt_merge_repairs repairs;
	struct vt_merge_result *out;
	struct tkm_err *err;
};

enum { VT_MERGE_OF_NODE = 1, VT_MERGE_OF_GROUPS = 2 };
enum { VT_MERGE_ALL = 1, VT_MERGE_FIRST_NODE = 2 }; /* groups: all processes, then one per node */

static inline uint32_t vt_merge_id(const struct vt_merge_ids *ids, uint32_t id)
{
	int high = id >= VT_MERGE_HIGH;

	id -= high ? VT_MERGE_HIGH : 0;
	return id < ids->n[high] ? ids->to[high][id] : 0;
}

/* Records of one set of the trace's files, or of all of them. */
struct vt_merge_part {
	struct vt_merge *m; /* not changed */
	struct stf_writer *w;
	int everything;
	uint32_t set;
	int stray; /* there was a record of a group in a file that defines no counter of one */
	uint64_t samples, changes, lost, last;
	struct vt_merge_repairs repairs;
	struct vt_match_ends ends;     /* of messages */
	struct vt_match_shares shares; /* in collective operations */
	uint64_t seen_elsewhere;       /* damaged blocks, which are counted with the set that they belong to */
	struct stf_err error;
};

#endif

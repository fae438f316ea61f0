/* SPDX-License-Identifier: BSD-3-Clause */
/* The types that the files of the merge share: the trace, the raw files that it is made of, and the ids of their
 * definitions. */
#ifndef COLLECTOR_PLUGIN_MERGE_COMMON_TYPES_H
#define COLLECTOR_PLUGIN_MERGE_COMMON_TYPES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/table.h"
#include "calib/map/map.h"
#include "collector-plugin/merge/common/match.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/reader.h"
#include "include/stf.h"

struct vt_merge_comm;
struct vt_merge_communicator;
struct vt_merge_options;
struct vt_merge_result;

/* From the ids of one kind of definition in one file to the ids in the trace. There are three ranges, so that no room is taken for
 * the ids between them: those of the collector's own definitions in the program, of the sampler process's, and of the
 * program's, from 0x10000 on. */
enum { VT_MERGE_RANGE = 0x8000, VT_MERGE_RANGES = 3 };
struct vt_merge_ids {
	uint32_t *to[VT_MERGE_RANGES]; /* [n]; 0: not defined */
	uint32_t n[VT_MERGE_RANGES];
};

/* Finds the range of an id, and makes the id the number within it. */
static inline unsigned vt_merge_range(uint32_t *id)
{
	unsigned range = *id >= (VT_MERGE_RANGES - 1) * VT_MERGE_RANGE ? VT_MERGE_RANGES - 1 : *id / VT_MERGE_RANGE;

	*id -= range * VT_MERGE_RANGE;
	return range;
}

struct vt_merge_thread {
	uint64_t tid;
	char *name;     /* NULL: none */
	int there;      /* it is defined */
	int several;    /* threads had it, one after the other */
	int by_program; /* the program has given its name */
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
	struct vt_merge_ids classes, counters, functions, scls, scopes, groups, paths, texts;
	struct vt_merge_ids places; /* 1 + the thread number of each place */
	struct vt_merge_object *object;
	size_t n_objects;
	struct vt_merge_thread *thread, *place;
	uint32_t n_threads, n_places;
	struct vt_merge_clock first, last; /* readings of the system's clocks */
	int clocks;
	struct vt_merge_comm *comms; /* by their number in the file (communicators.h) */
	uint32_t n_comms;
	uint32_t process;
	uint32_t set;       /* the set of the trace's files that its records go to */
	uint32_t node_set;  /* the set that records of its node go to: that of the lowest process on the node */
	unsigned of_groups; /* whether it defines counters of groups: VT_MERGE_OF_NODE, VT_MERGE_OF_GROUPS */
	uint64_t late;      /* calls that STATISTICS counted instead of events, after FLUSH-LIMIT */
	int discarded;      /* PROCESS no, discard: only its records of groups are wanted */
	int went_on;        /* the process went on as another program by exec, and that has a file, too */
	uint32_t later;     /* its number; 0: none */
	uint32_t same_id;   /* 1 + the number of the file before it of a process with this id; 0: none */
	uint32_t node;      /* number of its node, from 0 */
	int64_t start, end; /* global ticks minus the origin */
};

/* Stamps that were earlier than the one before them in their stream: some were moved up to it, others were left
 * because that is beyond their bound. The largest distance of both, in global ticks. */
struct vt_merge_repairs {
	uint64_t moved, largest, left, farthest;
	uint64_t closed;    /* states that were open where the records of their thread ended */
	uint64_t late;      /* states whose end was lost, and which end at a later record */
	uint64_t unmatched; /* leaves without an enter, which are left out */
	uint64_t undefined; /* states without a definition */
};

struct vt_merge_node {
	const char *host;
	int has_day;
	long double day_ns; /* the time of day minus CLOCK_MONOTONIC, if it is known */
};

/* Processes of a trace: STF has 16 bits for the number of one. */
enum { VT_MERGE_PROCESSES = 0x10000 };

struct vt_merge_row;  /* merge/definitions/statistics.h */
struct vt_merge_idle; /* merge/records/idle.h */

struct vt_merge {
	const struct vt_merge_options *o;
	struct vt_merge_file *file; /* by process */
	size_t n;
	struct vt_merge_node *node;
	size_t n_nodes;
	uint32_t *node_of; /* [processes], while the trace's files are divided by node; else NULL */
	uint32_t n_node_of;
	uint32_t *group_home; /* [n_homes]: for each group the process whose set its records go to */
	uint32_t n_homes;
	double period_s;
	int64_t origin;   /* the global tick at time 0 of the trace */
	uint64_t last;    /* largest stamp of the trace */
	int unaligned;    /* nodes without a map: their times of day are taken as correct */
	uint64_t idle_ns; /* TRACE-IMBALANCE: only waits of MPI calls longer than this; 0: all calls */
	struct stf_writer *w;
	uint32_t *threads; /* [n_processes]: how many threads each process has */
	uint32_t n_processes;
	struct tkm_table classes, counters, functions, groups, infos, files, scls, scopes,
		paths; /* merge/common/names.h */
	uint32_t next_group;
	int any_paths; /* there are files that are read or written */
	struct tkm_table communicators;
	struct vt_merge_communicator *communicator; /* by their number in the trace, from 1 */
	uint32_t n_communicators;
	size_t room_communicators;
	struct vt_merge_row *row;
	size_t n_rows, room_rows;
	struct tkm_table row_names;
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
	unsigned range = vt_merge_range(&id);

	return id < ids->n[range] ? ids->to[range][id] : 0;
}

/* Records of one set of the trace's files, or of all of them. */
/* A set of the trace's files, and a raw file that has records for it. */
struct vt_merge_served {
	uint32_t set, file;
};

struct vt_merge_part {
	struct vt_merge *m; /* not changed */
	struct stf_writer *w;
	int everything;
	uint32_t set;
	const struct vt_merge_served *served; /* [n_served], in the order of their files; not if it is everything */
	size_t n_served;
	int stray; /* there was a record of a group in a file that defines no counter of a group */
	uint64_t samples, changes, callers, lost, last;
	struct vt_merge_repairs repairs;
	struct vt_match_ends ends;     /* ends of messages */
	struct vt_match_locks locks;   /* of windows */
	struct vt_match_shares shares; /* shares in collective operations */
	struct vt_merge_idle *idle;    /* TRACE-IMBALANCE: calls of MPI and their waits; else NULL */
	uint64_t seen_elsewhere;       /* damaged blocks that are counted with the set that they belong to */
	struct stf_err error;
};

/* The states that a thread is in while its records are read. */
struct vt_merge_states {
	uint32_t *function; /* [n] of the trace, outermost first */
	uint32_t n;
	size_t room;
	uint32_t scl; /* location of the innermost state that was entered last; 0: none */
	struct {
		/* level: how many states were open when the innermost one began to move bytes, 0: it moves none */
		uint32_t level, file;
		uint8_t type;
	} io;
	/* for a clock that is set back: local ticks of the last event, by how much the clock went back so far and
	 * before the last time, and what it showed then */
	struct {
		int64_t last, back, back_before, first;
	} clock;
	uint32_t
		posted; /* 1 + index of the latest of the part's message ends that the present call has sent; 0: none */
	/* TRACE-IMBALANCE: the state that was entered last, while it is open. end, share: numbers, from 1, of its latest message
	 * end and share; probe: of a call before it that looked for a message; 0: none */
	struct {
		uint64_t enter;
		uint32_t function, scl, end, share, probe;
		int open;
	} idle;
};

/* An event of a thread (raw/events.h). */
struct vt_merge_event {
	uint64_t time; /* global time, in units of the trace */
	int64_t ticks; /* local ticks of the file */
	uint32_t willy;
	const struct vt_merge_file *f;
	const struct vt_raw_record *h;
	const uint8_t *body;            /* after the record's first 8 bytes; not aligned */
	struct vt_merge_states *states; /* of the thread */
};

#endif

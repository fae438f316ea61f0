/* SPDX-License-Identifier: BSD-3-Clause */
/* What a merge is given, and what it says at its end. */
#ifndef COLLECTOR_PLUGIN_MERGE_OPTIONS_H
#define COLLECTOR_PLUGIN_MERGE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "calib/map/map.h"
#include "collector-plugin/merge/match.h"

struct vt_merge_hosts; /* merge/hosts.h */

/* One process. Its number in the trace is its rank; without one, its place in the order of starting. */
struct vt_merge_input {
	const char *path;
	const struct cal_map
		*map;  /* its local ticks to global ones. NULL: made from what the file knows of its own clock, its
	                            * rate and readings of the system's clocks beside it: right on one node; between nodes
	                            * the clocks of day are believed, and the trace says so */
	uint32_t host; /* whose own file it is: 0 the caller's; others: see merge/hosts.h */
	const char *
		there; /* where that host has it, if `path` has the definitions only (vt_raw_copy_definitions()); else NULL */
};

struct vt_merge_options {
	const char *trace;       /* T.stf or T.single.stf */
	int single;              /* one file with all components */
	int force;               /* replace an existing trace */
	int compress;            /* zstd level 1 to 19; 0: none */
	uint32_t procs_per_file; /* STF-PROCS-PER-FILE; 0: any number */
	int by_node;     /* STF-USE-HW-STRUCTURE: only processes of one node share files. 1, 0, or -1: where there are
	                       * several nodes */
	double period_s; /* of the global ticks of inputs[].map; 0: 1 ns */
	const char *const *info; /* further info records: class, text, class, text, ..., NULL; or NULL */
	/* UNIFY-COUNTERS, UNIFY-GROUPS, UNIFY-SYMBOLS, UNIFY-SCLS off: each process keeps its own definitions */
	int counters_apart, groups_apart, symbols_apart, scls_apart;
	const char *nmcmd; /* NMCMD: a command that prints the symbols of the file whose name is appended; or NULL */
	int threads; /* so many at most read and write at a time; 0: as many as there are CPUs for the caller. Files
	                       * of the trace are written each by one: without procs_per_file and by_node there is but one. The bytes
	                       * are the same with any number, unless a stream's clock was stepped back */
	const void *cpus; /* cpu_set_t of cpus_size bytes that these threads may use; NULL: those of the caller */
	size_t cpus_size;
	int delete_raw; /* remove the raw files once the trace is complete */
	int settled; /* no other process merges these files: what a merge of them left that was killed is removed, also where
	                       * the process lives that began it. Else only that of processes that are gone, or of other machines */
	const struct vt_merge_hosts *hosts;       /* or NULL. A merge that fails may be tried again without */
	void (*say)(void *ctx, const char *line); /* one line for the user for each thing that is missing; or NULL */
	void (*summary)(void *ctx, const char *line); /* the lines of SUMMARY; or NULL */
	void *ctx;
};

struct vt_merge_result {
	uint64_t samples, changes; /* records of counters, of states */
	uint64_t lost;             /* records for which there was no place while recording */
	uint64_t overwritten;      /* blocks, by MEM-OVERWRITE */
	uint64_t damaged;          /* blocks that could not be read */
	uint64_t moved; /* stamps that went back in their thread, by less than their bound, and do not any more */
	uint32_t processes, threads;
	uint32_t killed; /* processes that were killed */
	struct vt_match_counts messages;
	double duration_s;
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The input, options and result of a merge. */
#ifndef COLLECTOR_PLUGIN_MERGE_COMMON_OPTIONS_H
#define COLLECTOR_PLUGIN_MERGE_COMMON_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "calib/map/map.h"
#include "collector-plugin/merge/common/match.h"

#include "base/cpus.h"

/* The raw file of one process. The process's number in the trace is its rank, or, without a rank, its place in the
 * order of starting. */
struct vt_merge_input {
	const char *path;
	const struct cal_map
		*map; /* its local ticks to global ones. NULL: made from what the file knows of its own clock, its
	                            * rate and readings of the system's clocks beside it: right on one node; between nodes
	                            * the clocks of day are believed, and the trace says so */
};

struct cal_run;
struct vt_merge_options {
	const char *trace;       /* T.stf or T.single.stf */
	int single;              /* one file with all components */
	int force;               /* replace an existing trace */
	int compress;            /* zstd level 1 to 19; 0: none */
	uint32_t procs_per_file; /* STF-PROCS-PER-FILE; 0: any number */
	/* STF-USE-HW-STRUCTURE: only processes of one node share files. 1: yes, 0: no, -1: if there are several
	 * nodes */
	int by_node;
	int learn;         /* LEARN-DRIFT, as for cal_solve() */
	int skip_sessions; /* TIMER-SKIP, as for cal_solve(); 0: all clock sessions are used */
	double period_s;   /* of a global tick of inputs[].map; 0: 1 ns */
	/* The maps by the ranks that the files name, instead of inputs[].map; and the name of that correction. Or NULL. */
	const struct cal_run *run;
	const char *clk;
	const char *const *info; /* further info records: class, text, class, text, ..., NULL; or NULL */
	/* UNIFY-COUNTERS, UNIFY-GROUPS, UNIFY-SYMBOLS, UNIFY-SCLS. 1: the option is off, and each process keeps its
	 * own definitions */
	int counters_apart, groups_apart, symbols_apart, scls_apart;
	const char *nmcmd; /* NMCMD: a command that prints the symbols of the file whose name is appended; or NULL */
	/* At most this many threads read and write at a time; 0: as many as there are CPUs for the caller. Each file
	 * of the trace is written by one thread, and without procs_per_file and by_node there is one file only. The
	 * bytes of the trace do not depend on the number of threads, unless a stream's clock was stepped back. */
	int threads;
	const struct tkm_cpus *cpus; /* that these threads may use; NULL: those of the caller */
	int delete_raw;              /* remove the raw files once the trace is complete */
	/* No other process merges these files. So the merge removes leftovers of any earlier merge of them that was
	 * killed. If this is 0, it removes leftovers only of processes that are gone or were on other machines. */
	int settled;
	/* Gets one line for the user for each thing that is missing; or NULL. */
	void (*say)(void *ctx, const char *line);
	void (*summary)(void *ctx, const char *line); /* gets the lines of SUMMARY; or NULL */
	void *ctx;
};

struct vt_merge_result {
	uint64_t samples, changes; /* records of counters, of states */
	uint64_t lost;             /* records for which there was no space while recording */
	uint64_t overwritten;      /* blocks, by MEM-OVERWRITE */
	uint64_t damaged;          /* blocks that could not be read */
	uint64_t moved;   /* stamps that went back in their thread by less than their bound, and were moved up */
	uint64_t callers; /* threads that had states: the others may be those of the MPI library */
	uint32_t processes, threads;
	uint32_t killed; /* processes that were killed */
	struct vt_match_counts messages;
	uint64_t waits; /* TRACE-IMBALANCE: that are in the trace, and their sum */
	double duration_s, waited_s;
};

#endif

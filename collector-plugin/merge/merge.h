/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files to a trace: the end of a run inside the program, and `stftool RAW... --merge T.stf` after one that was
 * killed. Any number of files, whole or cut; records are taken in the order of time from all of them at once, so that
 * memory does not grow with the trace. libc only; nothing is printed. */
#ifndef COLLECTOR_PLUGIN_MERGE_H
#define COLLECTOR_PLUGIN_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "calib/map/map.h"
#include "collector-plugin/merge/match.h"

/* One process. Its number in the trace is its rank; without one, its place in the order of starting. */
struct vt_merge_input {
	const char *path;
	const struct cal_map
		*map;  /* its local ticks to global ones. NULL: made from what the file knows of its own clock, its
	                            * rate and readings of the system's clocks beside it: right on one node; between nodes
	                            * the clocks of day are believed, and the trace says so */
	uint32_t host; /* whose own file it is: 0 the caller's; others: see struct vt_merge_hosts */
	const char *
		there; /* where that host has it, if `path` has the definitions only (vt_raw_copy_definitions()); else NULL */
};

/* Processes on other hosts, which see the folder of the trace and the raw files of their own hosts, and merge those: each host's
 * sets of the trace's files, with what is of that node. Sets that several hosts have something for, such as counters of groups that
 * the program has made, the caller writes, and reads all definitions. */
struct vt_merge_hosts {
	size_t n; /* with host 0 */
	int *whole; /* set to 1 where the caller has to read the records of a file of which it has the definitions only; the
	                        * merge fails then, before exchange is called */
	/* Gives job[h], an allocated text of size[h] bytes, to host h for vt_merge_for_host(), unless it is NULL, calls own(arg),
	 * and brings what that made there: result[h], to be freed, NULL where nothing came. Returns 0, or -1 with err. */
	int (*exchange)(void *ctx, char *const *job, const size_t *size, char **result, size_t *result_size,
		void (*own)(void *arg), void *arg, struct tkm_err *err);
	void *ctx;
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
	const char *const *info;          /* further info records: class, text, class, text, ..., NULL; or NULL */
	int counters_apart, groups_apart; /* UNIFY-COUNTERS, UNIFY-GROUPS off: each process keeps its own definitions */
	int threads; /* so many at most read and write at a time; 0: as many as there are CPUs for the caller. Files
	                       * of the trace are written each by one: without procs_per_file and by_node there is but one. The bytes
	                       * are the same with any number, unless a stream's clock was stepped back */
	const void *cpus; /* cpu_set_t of cpus_size bytes that these threads may use; NULL: those of the caller */
	size_t cpus_size;
	int delete_raw; /* remove the raw files once the trace is complete */
	int settled; /* nobody else is merging these files: what a merge of them left that was killed is removed, also where
	                       * the process lives that began it. Else only that of processes that are gone, or of other machines */
	const struct vt_merge_hosts *hosts;       /* or NULL. A merge that fails may be tried again without */
	void (*say)(void *ctx, const char *line); /* one line for the user for each thing that is missing; or NULL */
	void *ctx;
};

struct vt_merge_result {
	uint64_t samples, changes; /* records of counters, of states */
	uint64_t lost;             /* records for which there was no place while recording */
	uint64_t overwritten;      /* blocks, by MEM-OVERWRITE */
	uint64_t damaged;          /* blocks that could not be read */
	uint64_t moved; /* stamps that went back in their thread, by less than their bound, and do not any more */
	uint32_t processes, threads;
	uint32_t killed; /* processes that did not come to an end of their own */
	struct vt_match_counts messages;
	double duration_s;
};

/* Merges n > 0 files. A file that cannot be read at all is an error; one that was cut or is damaged gives what it
 * has, and the trace says (info records of class "missing") what it lacks. *out (may be NULL) is filled on success.
 * On failure nothing is left of the trace and no raw file is removed. Returns 0 or -1. */
int vt_merge(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *o, struct vt_merge_result *out,
	struct tkm_err *err);

/* On another host: the work of a job text. cpus as in the options. *files is how many raw files it were. Returns the result, which
 * may say that it failed, for the exchange; NULL: no memory. */
char *vt_merge_for_host(
	const char *job, size_t size, const void *cpus, size_t cpus_size, size_t *result_size, size_t *files);

/* The same with the maps of a correction file, NAME.clk: each file takes that of its rank. */
int vt_merge_corrected(struct vt_merge_input *in, size_t n, const char *clk, const struct vt_merge_options *o,
	struct vt_merge_result *out, struct tkm_err *err);

/* Is this a raw file, by its first bytes? For telling a trace from raw files on a command line. */
int vt_merge_is_raw(const char *path);

#endif

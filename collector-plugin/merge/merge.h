/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a trace of raw files: at the end of a run, in a sampler process (run/outside.h) or VTserver, and by `stftool RAW... --merge T.stf` after a
 * run that was killed. The number of files is unlimited, and they may be incomplete. Records are taken from all files
 * at once in the order of time, so the memory needed does not grow with the trace. Uses libc only and prints
 * nothing. */
#ifndef COLLECTOR_PLUGIN_MERGE_H
#define COLLECTOR_PLUGIN_MERGE_H

#include <stddef.h>

#include "base/err.h"
#include "collector-plugin/merge/common/options.h"

/* Merges n > 0 files. A file that cannot be read at all is an error. From a file that is incomplete or damaged, the
 * merge takes what can be read, and info records of class "missing" in the trace say what is lacking. *out (may be
 * NULL) is filled on success. On failure no part of the trace is left and no raw file is removed. Returns 0 or -1. */
int vt_merge(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *o, struct vt_merge_result *out,
	struct tkm_err *err);

/* The same with the maps of a correction file, NAME.clk: each file takes that of its rank. */
int vt_merge_corrected(const struct vt_merge_input *in, size_t n, const char *clk, const struct vt_merge_options *o,
	struct vt_merge_result *out, struct tkm_err *err);

/* The same with the clock sessions that the ranks of a job stored in their raw files. So the trace of a job that died
 * is corrected up to its last session. NAME.clk is written beside the trace. Without sessions, or without those of
 * rank 0, the function reports why through o->say and does the same as vt_merge(). */
int vt_merge_recorded(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *o,
	struct vt_merge_result *out, struct tkm_err *err);

/* Writes NAME.clk beside the trace NAME.stf. Returns 0 or -1. */
struct cal_run;
int vt_merge_keep_correction(const struct cal_run *run, const char *trace, struct tkm_err *err);

/* Finds the raw files that a protocol, NAME.prot, names: all raw files of its job in the protocol's own folder, where
 * they may have been moved with it, else where they were recorded. The caller frees path[0] to path[n - 1]. Returns
 * 0; 1: the file is no protocol; or -1: there are no raw files. */
int vt_merge_find(const char *prot, char ***path, size_t *n, struct tkm_err *err);
/* The same of a job in a folder, "" or with a slash at its end; there may be none. */
int vt_merge_find_in(const char *folder, const char *job, char ***path, size_t *n, struct tkm_err *err);

/* Is this a raw file, judging by its first bytes? Tells a trace from raw files on a command line. */
int vt_merge_is_raw(const char *path);

#endif

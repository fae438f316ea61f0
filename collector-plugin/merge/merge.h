/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files to a trace: the end of a run inside the program, and `stftool RAW... --merge T.stf` after one that was
 * killed. Any number of files, whole or cut; records are taken in the order of time from all of them at once, so that
 * memory does not grow with the trace. libc only; nothing is printed. */
#ifndef COLLECTOR_PLUGIN_MERGE_H
#define COLLECTOR_PLUGIN_MERGE_H

#include <stddef.h>

#include "base/err.h"
#include "collector-plugin/merge/options.h"

/* Merges n > 0 files. A file that cannot be read at all is an error; one that was cut or is damaged gives what it
 * has, and the trace says (info records of class "missing") what it lacks. *out (may be NULL) is filled on success.
 * On failure nothing is left of the trace and no raw file is removed. Returns 0 or -1. */
int vt_merge(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *o, struct vt_merge_result *out,
	struct tkm_err *err);

/* The same with the maps of a correction file, NAME.clk: each file takes that of its rank. */
int vt_merge_corrected(struct vt_merge_input *in, size_t n, const char *clk, const struct vt_merge_options *o,
	struct vt_merge_result *out, struct tkm_err *err);

/* The same with the clock sessions that the ranks of a job have left in their raw files, so that a job that died is corrected as far as
 * its last session; NAME.clk is written beside the trace. Without sessions, or where those of rank 0 are missing, o->say says why and
 * it is vt_merge(). */
int vt_merge_recorded(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *o,
	struct vt_merge_result *out, struct tkm_err *err);

/* The raw files that a protocol, NAME.prot, tells of: all of its job in its own folder, where they may have been moved with it, or else
 * where they were recorded. path[0] to path[n - 1], to be freed. Returns 0; 1: that is no protocol; or -1: there are none. */
int vt_merge_find(const char *prot, char ***path, size_t *n, struct tkm_err *err);

/* Is this a raw file, by its first bytes? For telling a trace from raw files on a command line. */
int vt_merge_is_raw(const char *path);

#endif

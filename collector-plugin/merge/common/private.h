/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the files of the merge call in each other. */
#ifndef COLLECTOR_PLUGIN_MERGE_COMMON_PRIVATE_H
#define COLLECTOR_PLUGIN_MERGE_COMMON_PRIVATE_H

#include "collector-plugin/merge/common/names.h"
#include "collector-plugin/merge/common/options.h"
#include "collector-plugin/merge/common/types.h"

/* definitions.c: reads the definitions of all files and writes the unified ones. Return 0 or -1. */
int vt_merge_read_definitions(struct vt_merge *m);
int vt_merge_write_definitions(struct vt_merge *m);

/* remove_leftovers.c: removes the files that an earlier, killed merge of these raw files left. */
void vt_merge_sweep(const struct vt_merge *m);

/* data.c: the records of a part in the order of time. Returns 0, or -1 with part->error. */
int vt_merge_part_data(struct vt_merge_part *part);

/* The sets of the trace's files and who writes them. */
struct vt_merge_sharing {
	struct vt_merge *m;
	struct vt_merge_served *served;
	uint32_t *set; /* [n], ascending. The first is 0, which has the records of groups other than nodes */
	size_t n;
	struct vt_merge_part *part;
	char **text; /* from each part's writer, for the one that completes the trace */
	_Atomic int failed;
};

/* write_all.c: writes all records, in as many threads as are allowed and useful. */
int vt_merge_data(struct vt_merge *m);

/* write_set.c: writes the i-th set, as a file without a name and a text. */
void vt_merge_one_part(void *sharing, size_t i);
struct stf_writer *vt_merge_writer(const struct vt_merge *m, int part, struct stf_err *e);

/* parallel.c: how many threads to use for n pieces of work: no more than there are CPUs or pieces of work. */
size_t vt_merge_threads(const struct vt_merge *m, size_t n);
/* Calls fn(ctx, i) for each i below n, in several threads at a time. All signals are blocked in these threads. */
void vt_merge_each(const struct vt_merge *m, size_t n, void (*fn)(void *ctx, size_t i), void *ctx);

#endif

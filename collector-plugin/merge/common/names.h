/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of names and their ids, info records, and errors of the merge. */
#ifndef COLLECTOR_PLUGIN_MERGE_COMMON_NAMES_H
#define COLLECTOR_PLUGIN_MERGE_COMMON_NAMES_H

#include "collector-plugin/merge/common/types.h"

/* An entry of a table of names: the id that the named object has in the trace. */
struct vt_merge_name {
	uint32_t id;
};

/* The entry of a text, made with id 0 if it is new; NULL: no memory. */
struct vt_merge_name *vt_merge_name_entry(struct tkm_table *t, const char *text);
/* The first text that has this id; NULL: none. */
const char *vt_merge_name_of(const struct tkm_table *t, uint32_t id);

/* The ids of each kind of definition of a file, by numbers from 0; NULL after the last. */
struct vt_merge_ids *vt_merge_ids_of(struct vt_merge_file *f, int kind);
void vt_merge_ids_free(struct vt_merge_file *f);

/* Writes an info record, unless the same one was written before. */
int vt_merge_info(struct vt_merge *m, const char *cls, const char *text);
/* Puts the writer's error into m->err. Returns -1. */
int vt_merge_stf_error(struct vt_merge *m, const struct stf_err *e);

#endif

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

/* The number of a text, from 1 in the order in which they come; *fresh is that if it is new, else 0. 0: no memory. */
uint32_t vt_merge_number(struct tkm_table *t, const char *text, uint32_t *fresh);

/* Writes an info record of up to 2000 bytes, unless the same one was written before. */
int vt_merge_info(struct vt_merge *m, const char *cls, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Puts the writer's error into m->err. Returns -1. */
int vt_merge_stf_error(struct vt_merge *m, const struct stf_err *e);

#endif

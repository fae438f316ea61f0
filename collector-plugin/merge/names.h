/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of the merge: tables of names, info records, errors. */
#ifndef COLLECTOR_PLUGIN_MERGE_NAMES_H
#define COLLECTOR_PLUGIN_MERGE_NAMES_H

#include "collector-plugin/merge/types.h"

/* The entry of a text, new with id 0; NULL: no memory. Valid until the next call. */
struct vt_merge_name *vt_merge_name_entry(struct vt_merge_names *t, const char *text);
void vt_merge_names_free(struct vt_merge_names *names);

/* An info record, once. */
int vt_merge_info(struct vt_merge *m, const char *cls, const char *text);
/* Puts the writer's error into m->err. Returns -1. */
int vt_merge_stf_error(struct vt_merge *m, const struct stf_err *e);

#endif

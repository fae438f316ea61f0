/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the files of a run. */
#ifndef COLLECTOR_PLUGIN_RUN_NAMES_H
#define COLLECTOR_PLUGIN_RUN_NAMES_H

#include "collector-plugin/core/collect.h"

/* In the protocol while the program runs. */
#define VT_RUNNING_LINE "# The program was running when this was written."

/* Finds those of program, job, trace and protocol. Returns 0 or -1. */
int vt_collect_names(struct vt_collector *c, const char *argv0, struct tkm_err *err);
/* Gives the trace another number if its name is taken meanwhile, unless it may be replaced. */
void vt_collect_free_name(struct vt_collector *c);
/* Writes the name that the trace gets in the format of LOGFILE-FORMAT to `to`; NULL: it stays STF. */
const char *vt_collect_target(const struct vt_collector *c, char *to, size_t size);
/* Adds "-what" to the names of the trace and the protocol. Returns 0, or -1 if that is too long; then they keep
 * their names. */
int vt_collect_rename(struct vt_collector *c, const char *what);
/* Creates a raw file in the folder of the trace, or in another folder if that is not possible. */
struct vt_raw *vt_collect_raw(struct vt_collector *c, struct tkm_err *err);

#endif

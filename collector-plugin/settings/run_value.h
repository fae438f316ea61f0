/* SPDX-License-Identifier: BSD-3-Clause */
/* The variable by which vtrun and the library talk. */
#ifndef COLLECTOR_PLUGIN_RUN_VALUE_H
#define COLLECTOR_PLUGIN_RUN_VALUE_H

#include <stddef.h>

/* What vtrun tells the library, in one variable: words KEY=VALUE with tabs between. */
#define VT_RUN_VARIABLE "TICKMARK_RUN"
/* keys: pid (of the program to sample), job, follow (0, 1), commanded (options of the command line), set (variables that
 * vtrun added), preload (LD_PRELOAD as it was), prog (name of the program as given), trace; cpu (PID:NS, vt_sampler_cpu() of the program
 * that made way by exec) */
/* The value of a key in text, in buf; NULL if it is not there. */
const char *vt_run_value(const char *text, const char *key, char *buf, size_t size);

/* Is process `of`, which has this text, a followed child of the one that vtrun started? */
int vt_run_child(const char *text, int of);

/* The rank that a launcher of MPI jobs gave this process by a variable; -1: none. */
int vt_launcher_rank(void);

/* The file that this process runs, "" if unknown. Returns buf. */
char *vt_own_program(char *buf, size_t size);

#endif

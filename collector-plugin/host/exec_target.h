/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECTOR_PLUGIN_HOST_EXEC_TARGET_H
#define COLLECTOR_PLUGIN_HOST_EXEC_TARGET_H

#include <stddef.h>

#include "base/err.h"

/* Looks at the program as exec would find it. 0: it can be sampled; 1: it runs, but cannot be, *err says
 * why; -1: it cannot be run, *err says why, *status is what a shell would return. `path` gets its place. */
int vt_exec_target(const char *name, char *path, size_t size, int *status, struct tkm_err *err);

#endif

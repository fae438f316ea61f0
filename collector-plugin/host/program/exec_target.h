/* SPDX-License-Identifier: BSD-3-Clause */
/* Can a library be preloaded into a program? */
#ifndef COLLECTOR_PLUGIN_HOST_PROGRAM_EXEC_TARGET_H
#define COLLECTOR_PLUGIN_HOST_PROGRAM_EXEC_TARGET_H

#include <stddef.h>

#include "base/err.h"

enum { VT_EXEC_FITS, VT_EXEC_UNSAMPLED, VT_EXEC_OUTSIDE };

/* Finds the program as exec would, and checks it. VT_EXEC_FITS: the library can be loaded into it.
 * VT_EXEC_UNSAMPLED: it runs, but cannot be sampled; *err has the reason. VT_EXEC_OUTSIDE: only another process can
 * sample it; *err has the reason. -1: it cannot be run, *err has the reason, and *status is what a shell would
 * return. `path` gets the program's path. */
int vt_exec_target(const char *name, char *path, size_t size, int *status, struct tkm_err *err);

#endif

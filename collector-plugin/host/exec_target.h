/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECTOR_PLUGIN_HOST_EXEC_TARGET_H
#define COLLECTOR_PLUGIN_HOST_EXEC_TARGET_H

#include <stddef.h>

#include "base/err.h"

enum { VT_EXEC_FITS, VT_EXEC_UNSAMPLED, VT_EXEC_OUTSIDE };

/* Looks at the program as exec would find it. VT_EXEC_FITS: the library can be put into it; VT_EXEC_UNSAMPLED: it runs, but cannot be
 * sampled; VT_EXEC_OUTSIDE: it can be sampled by another process only; *err says why. -1: it cannot be run, *err says why, *status is
 * what a shell would return. `path` gets its place. */
int vt_exec_target(const char *name, char *path, size_t size, int *status, struct tkm_err *err);

#endif

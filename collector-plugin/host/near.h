/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs and libraries of the same installation, wherever it was put. */
#ifndef COLLECTOR_PLUGIN_HOST_NEAR_H
#define COLLECTOR_PLUGIN_HOST_NEAR_H

#include <stddef.h>

/* Looks for an executable file at each of `places` (NULL ends it), which follow the folder of the file `near` (NULL: unknown; a
 * setuid program trusts none), then for `fallback`. Returns 0 and its path, or -1. */
int vt_near_program(const char *near, const char *const *places, const char *fallback, char *path, size_t size);
/* The same with a file that need not be executable. */
int vt_near_library(const char *near, const char *const *places, const char *fallback, char *path, size_t size);

/* Where libVTinside.so and libVTsystem.so are, seen from the folder of libVTcs.so: in the build, and installed. */
#define VT_NEAR_INSIDE "/libVTinside.so", "/" PACKAGE "/libVTinside.so"
#define VT_NEAR_SYSTEM "/libVTsystem.so", "/" PACKAGE "/libVTsystem.so"

#endif

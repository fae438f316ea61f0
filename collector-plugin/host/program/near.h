/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds programs and libraries of this installation, wherever it is installed. */
#ifndef COLLECTOR_PLUGIN_HOST_PROGRAM_NEAR_H
#define COLLECTOR_PLUGIN_HOST_PROGRAM_NEAR_H

#include <stddef.h>

/* Writes the name of the file that this process runs to buf, "" if unknown. Returns buf. */
char *vt_own_program(char *buf, size_t size);

/* Looks for an executable file at each of `places` (NULL ends the list), which are appended to the folder of the
 * file `near`, then at `fallback`. Only `fallback` is tried if `near` is NULL (unknown), and in a setuid program.
 * Returns 0 and the path, or -1. */
int vt_find_installed_program(
	const char *near, const char *const *places, const char *fallback, char *path, size_t size);
/* Looks like vt_find_installed_program() for a file that need not be executable. */
int vt_find_installed_library(
	const char *near, const char *const *places, const char *fallback, char *path, size_t size);

/* Paths of VTserver relative to the folder of another program: in the build folder, and installed. */
#define VT_NEAR_SERVER "/VTserver", "/../VTserver", "/../bin/VTserver", "/../../bin/VTserver"

/* Paths of libVTinside.so, libVTsystem.so and libVTomp.so relative to the folder of libVTcs.so: in the build folder, and
 * installed. */
#define VT_NEAR_INSIDE "/libVTinside.so", "/" PACKAGE "/libVTinside.so"
#define VT_NEAR_SYSTEM "/libVTsystem.so", "/" PACKAGE "/libVTsystem.so"
#define VT_NEAR_OMP "/libVTomp.so", "/" PACKAGE "/libVTomp.so"

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces mangled C++ names by the names in the source. */
#ifndef COLLECTOR_PLUGIN_HOST_PROGRAM_DEMANGLE_H
#define COLLECTOR_PLUGIN_HOST_PROGRAM_DEMANGLE_H

#include <stddef.h>

/* Replaces a mangled name in a buffer of `size` bytes. Other names do not change; without a C++ library no name
 * changes. */
void vt_demangle(char *name, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of C++ as in the source. */
#ifndef COLLECTOR_PLUGIN_HOST_DEMANGLE_H
#define COLLECTOR_PLUGIN_HOST_DEMANGLE_H

#include <stddef.h>

/* Replaces a mangled name in a buffer of `size` bytes; others stay as they are, and all where there is no C++ library. */
void vt_demangle(char *name, size_t size);

#endif

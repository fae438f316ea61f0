/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of C++ as in the source. */
#ifndef COLLECTOR_PLUGIN_HOST_DEMANGLE_H
#define COLLECTOR_PLUGIN_HOST_DEMANGLE_H

#include <stddef.h>

/* Replaces a mangled name in a buffer of `size` bytes; others do not change, and without a C++ library none does. */
void vt_demangle(char *name, size_t size);

#endif

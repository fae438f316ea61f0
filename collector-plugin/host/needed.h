/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECTOR_PLUGIN_HOST_NEEDED_H
#define COLLECTOR_PLUGIN_HOST_NEEDED_H

/* Calls each(name, ctx) for every library that a 64-bit ELF file needs, until that is not 0, and returns it. A damaged file needs none. */
int vt_each_needed(const char *path, int (*each)(const char *name, void *ctx), void *ctx);

#endif

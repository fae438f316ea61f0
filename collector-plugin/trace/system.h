/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of libc's functions for files as states of class SYSTEM, with the bytes that they move (Intel Trace Collector
 * guide, section 2.7). Off unless a rule turns them on. */
#ifndef COLLECTOR_PLUGIN_TRACE_SYSTEM_H
#define COLLECTOR_PLUGIN_TRACE_SYSTEM_H

/* Must be called after vt_filter_start(), and again when the collector starts again. From then on the program's calls
 * of the functions that a rule turns on, and of no others, come to us. rules: are there any rules? */
void vt_system_start(int rules) __attribute__((visibility("hidden")));

#endif

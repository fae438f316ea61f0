/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of libc's functions for files as states of class SYSTEM, with their bytes (Intel Trace Collector guide, section 2.7). Off unless a rule says ON. */
#ifndef COLLECTOR_PLUGIN_TRACE_SYSTEM_H
#define COLLECTOR_PLUGIN_TRACE_SYSTEM_H

/* After vt_filter_start(), and again when the collector begins anew: the program's calls of those functions that a rule turns on come to us
 * from now on, and no others. rules: whether there are any. Returns how many functions that are. */
int vt_system_start(int rules) __attribute__((visibility("hidden")));

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the library inside a foreign program: lines on standard error, "Tickmark INFO: ...". */
#ifndef COLLECTOR_PLUGIN_HOST_SAY_H
#define COLLECTOR_PLUGIN_HOST_SAY_H

#include "collector-plugin/host/memory.h"

/* Where VERBOSE and the rank are found from now on; a rank below 0 is not printed. Both stay valid. Before the first call nothing
 * is printed. */
void vt_say_setup(const long long *verbose, const int *rank);

/* One line, printed if VERBOSE is at least `level`; kind: "INFO", "WARNING". Any thread. errno may change. */
void vt_say(int level, const char *kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Lines that are complete already. */
void vt_say_lines(const char *lines);

/* The thread `tid` has no standard error of its own: its lines are kept (16 at most) until vt_say_deferred(). 0: none. */
void vt_say_defer(int tid);

/* Prints the lines that were kept. */
void vt_say_deferred(void);

/* In the child of a fork: the lines that were kept are the parent's. */
VT_IN_CHILD void vt_say_forked(void);

#endif

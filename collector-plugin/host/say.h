/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the library inside a foreign program: lines on standard error, "Tickmark INFO: ...". */
#ifndef COLLECTOR_PLUGIN_HOST_SAY_H
#define COLLECTOR_PLUGIN_HOST_SAY_H

#include "collector-plugin/host/memory.h"

/* Sets where VERBOSE and the rank are read from; a rank below 0 is not printed. Both pointers must stay valid.
 * Before the first call nothing is printed. */
void vt_say_setup(const long long *verbose, const int *rank);

/* Prints one line if VERBOSE is at least `level`; kind: "INFO", "WARNING". Any thread may call it. errno may change. */
void vt_say(int level, const char *kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Passes each message, with its level and its line feed, to `put` instead of printing or keeping it. */
void vt_say_to(void (*put)(int level, const char *line));

/* Prints lines that are complete already. */
void vt_say_lines(const char *lines);

/* Prints a line if vt_say_setup() was never called, in this process or its parent before a fork, and the variable VT_VERBOSE does
 * not forbid it: once in a process. The only system call is the one that writes. */
void vt_say_unready(const char *line);

/* Keeps the lines (128 KB at most) of the thread `tid`, which has no standard error of its own, until vt_say_deferred().
 * 0: no thread. */
void vt_say_defer(int tid);

/* Prints the lines that were kept. */
void vt_say_deferred(void);

/* To be called in the child of a fork: the kept lines are the parent's. */
VT_IN_CHILD void vt_say_forked(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that are not in the table of settings.h, and what the type of an option does not say of its value. */
#ifndef COLLECTOR_PLUGIN_SETTINGS_CHECK_H
#define COLLECTOR_PLUGIN_SETTINGS_CHECK_H

#include <stddef.h>

#include "base/err.h"

/* Whose is an option that is not in the table? */
enum vt_whose { VT_OF_TABLE, VT_OF_COLLECTOR, VT_OF_PROGRAMS, VT_OF_NOBODY };
enum vt_whose vt_settings_whose(const char *name);
/* The i-th of them, or NULL. */
const char *vt_settings_other_name(size_t i, enum vt_whose *whose);

/* Can an option of that name, in the table or not, have this text? `where` names the place in the error. Checks only
 * what the type in the table does not: formats, windows, rules, ranges of options that other parts read. Returns 0
 * or -1. */
int vt_settings_check(const char *name, const char *text, const char *where, struct tkm_err *err);

/* Parses THROTTLE: "CALLS:TIME". Returns 0 or -1. */
int vt_settings_throttle(const char *text, unsigned long long *calls, double *seconds);

/* Parses TRACE-IMBALANCE: "", on, off, or the shortest wait to record, up to 1 s. *seconds 0: off. Returns 0 or -1. */
#define VT_IMBALANCE_S 100e-6
int vt_settings_imbalance(const char *text, double *seconds);

/* Is this number of seconds since the start inside one of these TIME-WINDOWS? NULL or "": always. */
int vt_settings_in_window(const char *windows, double since_start_s);

#endif

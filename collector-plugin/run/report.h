/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECTOR_PLUGIN_RUN_REPORT_H
#define COLLECTOR_PLUGIN_RUN_REPORT_H

/* vtreport makes the HTML file of a trace; the result is reported. force: replace one that exists. */
void vt_report_make(const char *trace, int force);

/* stftool makes `target` of the trace, as LOGFILE-FORMAT says; the result is reported. The trace stays, since it holds what the other format
 * has no place for. extended: EXTENDED-VTF, NULL if it was not given. */
void vt_convert_trace(const char *trace, const char *target, const char *format, const char *extended, int force);

#endif

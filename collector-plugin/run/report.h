/* SPDX-License-Identifier: BSD-3-Clause */
/* The report and other formats of a finished trace. */
#ifndef COLLECTOR_PLUGIN_RUN_REPORT_H
#define COLLECTOR_PLUGIN_RUN_REPORT_H

/* Starts vtreport, which makes the HTML file of a trace, and reports the result. force: replace a file that exists. */
void vt_report_make(const char *trace, int force);

/* Starts stftool, which finds the rank of an MPI job that the others wait for, and says what it prints. more: also the
 * efficiencies and the longest waits. */
void vt_say_who(const char *trace, int more);

/* Starts stftool, which converts the trace to `target` as LOGFILE-FORMAT requests, and reports the result. The trace
 * is kept, since it holds what the other format cannot. extended: EXTENDED-VTF, NULL if it was not given. */
void vt_convert_trace(const char *trace, const char *target, const char *format, const char *extended, int force);

#endif

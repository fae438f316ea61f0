/* SPDX-License-Identifier: BSD-3-Clause */
/* The --print-* options and --analyze: each prints the content of the trace as tables. All functions return an exit status. */
#ifndef TOOLS_PRINT_PRINT_H
#define TOOLS_PRINT_PRINT_H

#include "tools/cli/table.h"

int stt_print_threads(struct stt_report *r, const struct stt_trace *t);
int stt_print_files(struct stt_report *r, const struct stt_trace *t);
int stt_print_statistics(struct stt_report *r, const struct stt_trace *t);
/* Prints all reports, or only those whose level marks them as errors. */
int stt_print_reports(struct stt_report *r, const struct stt_trace *t, int errors_only);
int stt_print_clock(struct stt_report *r, const struct stt_trace *t);
int stt_print_counters(struct stt_report *r, const struct stt_trace *t);
int stt_print_analysis(struct stt_report *r, const struct stt_trace *t);
/* Prints the rank that the others wait for as one line. */
int stt_print_who(const struct stt_report *r, const struct stt_trace *t);

#endif

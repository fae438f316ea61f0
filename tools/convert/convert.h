/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes traces from traces. All functions return an exit status. */
#ifndef TOOLS_CONVERT_CONVERT_H
#define TOOLS_CONVERT_CONVERT_H

#include "tools/cli/request.h"

/* --convert: writes the whole trace in another format. */
int stt_convert(const struct stt_options *o, const char *to);
/* Writes what the requests select, as text or as a trace. */
int stt_extract(const struct stt_options *o, const char *to);
/* Writes a trace that has the declarations of t and what fill() writes. fill() returns 0, 1 if its times are not those of
 * t, or -1 on an error, of the writer or one that was printed. */
int stt_write_declared(const struct stt_options *o, const struct stt_trace *t, const char *to, enum stt_format format,
	int (*fill)(void *user, struct stf_writer *w), void *user);
/* --recover: writes what can be read of a damaged trace as a valid trace. */
int stt_recover(const struct stt_options *o, const char *to);

#endif

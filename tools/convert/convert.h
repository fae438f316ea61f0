/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes traces from traces. All functions return an exit status. */
#ifndef TOOLS_CONVERT_CONVERT_H
#define TOOLS_CONVERT_CONVERT_H

#include "tools/cli/request.h"

/* Begins to write the trace `to` as STT_STF or STT_SINGLE ("-": to standard output), with the options of o. NULL:
 * *e. */
struct stf_writer *stt_create(const struct stt_options *o, const char *to, enum stt_format format,
	struct stf_writer_options *opt, struct stf_err *e);
/* --convert: writes the whole trace in another format. */
int stt_convert(const struct stt_options *o, const char *to);
/* Writes what the requests select, as text or as a trace. */
int stt_extract(const struct stt_options *o, const char *to);
/* --recover: writes what can be read of a damaged trace as a valid trace. */
int stt_recover(const struct stt_options *o, const char *to);

#endif

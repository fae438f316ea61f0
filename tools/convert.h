/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces made of traces. All return an exit status. */
#ifndef TOOLS_CONVERT_H
#define TOOLS_CONVERT_H

#include "tools/request.h"

/* Begins to write the trace `to`, STT_STF or STT_SINGLE ("-": to standard output), with the options of o. NULL: *e. */
struct stf_writer *stt_create(const struct stt_options *o, const char *to, enum stt_format format,
	struct stf_writer_options *opt, struct stf_err *e);
/* --convert: the whole trace in another format. */
int stt_convert(const struct stt_options *o, const char *to);
/* What the requests select, as text or as a trace. */
int stt_extract(const struct stt_options *o, const char *to);
/* What can be read of a damaged trace, as a valid one. */
int stt_recover(const struct stt_options *o, const char *to);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces made of traces. All return an exit status. */
#ifndef TOOLS_CONVERT_H
#define TOOLS_CONVERT_H

#include "tools/request.h"

/* --convert: the whole trace in another format. */
int stt_convert(const struct stt_options *o, const char *to);
/* What the requests select, as text or as a trace. */
int stt_extract(const struct stt_options *o, const char *to);
/* What can be read of a damaged trace, as a valid one. */
int stt_recover(const struct stt_options *o, const char *to);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts to and from foreign trace formats. */
#ifndef TOOLS_CONVERT_EXCHANGE_H
#define TOOLS_CONVERT_EXCHANGE_H

#include "exchange/common/format.h"
#include "tools/cli/stftool.h"

/* The foreign format of o->input; NULL: it is STF. -1: the input cannot be read in its format or that of --input-format,
 * which was printed. */
int stt_foreign_input(const struct stt_options *o, const struct xch_format **f);
/* Writes the whole trace in a foreign format. Returns an exit status. */
int stt_export(const struct stt_options *o, const struct xch_format *f, const char *to);
/* Makes the STF trace `to` from the input. Returns an exit status. */
int stt_import(const struct stt_options *o, const struct xch_format *f, const char *to, int single);
/* Makes a temporary STF trace of the input, runs `fn` on it, and removes it. */
int stt_on_import(const struct stt_options *o, const struct xch_format *f, int (*fn)(const struct stt_options *));
/* Writes a part of the trace in a foreign format: `make` writes the STF trace of the part. Returns an exit status. */
int stt_export_part(const struct stt_options *o, const struct xch_format *f, const char *to,
	int (*make)(const struct stt_options *, const char *));

#endif

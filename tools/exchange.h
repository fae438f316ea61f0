/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats of others: what goes to them and comes from them. */
#ifndef TOOLS_EXCHANGE_H
#define TOOLS_EXCHANGE_H

#include "exchange/format.h"
#include "tools/stftool.h"

/* The format of another that o->input is in; NULL: STF or text. -1: --input-format is none, printed. */
int stt_foreign_input(const struct stt_options *o, const struct xch_format **f);
/* The whole trace in a format of others. Returns an exit status. */
int stt_export(const struct stt_options *o, const struct xch_format *f, const char *to);
/* Makes the STF trace `to`. Returns an exit status. */
int stt_import(const struct stt_options *o, const struct xch_format *f, const char *to, int single);
/* Runs `fn` on an STF trace that is made of the input for this, and removed. */
int stt_on_import(const struct stt_options *o, const struct xch_format *f, int (*fn)(const struct stt_options *));
/* The same of a part: `make` writes the trace that is then converted. */
int stt_export_part(const struct stt_options *o, const struct xch_format *f, const char *to,
	int (*make)(const struct stt_options *, const char *));

#endif

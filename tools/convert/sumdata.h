/* SPDX-License-Identifier: BSD-3-Clause */
/* --sumdata: what is computed of a whole trace. */
#ifndef TOOLS_CONVERT_SUMDATA_H
#define TOOLS_CONVERT_SUMDATA_H

#include "tools/cli/stftool.h"

/* Writes TO.sum.fnc, TO.sum.cop and TO.sum.msg of the trace o->input. Returns an exit status. */
int stt_sumdata(const struct stt_options *o, const char *to);

#endif

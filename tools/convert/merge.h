/* SPDX-License-Identifier: BSD-3-Clause */
/* --merge: makes a trace from raw files. */
#ifndef TOOLS_CONVERT_MERGE_H
#define TOOLS_CONVERT_MERGE_H

#include "tools/cli/stftool.h"

/* Merges o->inputs into the trace `name`. Returns an exit status. */
int stt_merge(const struct stt_options *o, const char *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* --merge: makes a trace from raw files. */
#ifndef TOOLS_MERGE_H
#define TOOLS_MERGE_H

#include "tools/stftool.h"

/* Merges o->inputs into the trace `name`. Returns an exit status. */
int stt_merge(const struct stt_options *o, const char *name);

#endif

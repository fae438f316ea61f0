/* SPDX-License-Identifier: BSD-3-Clause */
/* The faults of a trace that were already printed. A repeated fault is only counted. */
#ifndef TOOLS_CHECK_CAUSES_H
#define TOOLS_CHECK_CAUSES_H

#include "base/table.h"
#include "tools/cli/stftool.h"

struct stt_causes {
	struct tkm_table said; /* filled with zeros at first */
};

/* Was this fault already printed for this component? Faults of different records are the same if their texts
 * differ only in numbers; numbers in parentheses are ids, and must be equal. Without memory, no fault counts as
 * printed. */
int stt_cause_is_known(struct stt_causes *c, const char *path, const char *suffix, const char *text);
/* Prints how often each fault was repeated, and frees them. */
void stt_causes_end(struct stt_causes *c, const struct stt_options *o);

#endif

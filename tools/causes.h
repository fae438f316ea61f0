/* SPDX-License-Identifier: BSD-3-Clause */
/* The faults of a trace that were said already: the same again is only counted. */
#ifndef TOOLS_CAUSES_H
#define TOOLS_CAUSES_H

#include "base/table.h"
#include "tools/stftool.h"

struct stt_causes {
	struct tkm_table said; /* all 0 at first */
};

/* Was this said before, of this component? The same fault of another record has the same text but for numbers; those in parentheses
 * are ids, and count. Without memory nothing is known. */
int stt_cause_is_known(struct stt_causes *c, const char *path, const char *suffix, const char *text);
/* Prints how often each was met again, and frees them. */
void stt_causes_end(struct stt_causes *c, const struct stt_options *o);

#endif

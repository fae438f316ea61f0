/* SPDX-License-Identifier: BSD-3-Clause */
/* --ideal and --faster: how long the run would take, and a trace of it. */
#ifndef TOOLS_CONVERT_PLAY_H
#define TOOLS_CONVERT_PLAY_H

#include "tools/cli/stftool.h"

/* Prints the time of the run that o describes, and writes its trace to `to`, if that is not NULL. Returns an exit
 * status. */
int stt_play_to(const struct stt_options *o, const char *to);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace that comes through standard input. */
#ifndef TOOLS_STDIN_H
#define TOOLS_STDIN_H

#include "tools/stftool.h"

/* An input named "-" becomes a file without a name below $TMPDIR that has all that standard input gives, so that an action can
 * look at it twice. -1: it was printed why not. */
int stt_take_stdin(struct stt_options *o);

#endif

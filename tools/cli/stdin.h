/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace that comes through standard input. */
#ifndef TOOLS_CLI_STDIN_H
#define TOOLS_CLI_STDIN_H

#include "tools/cli/stftool.h"

/* Replaces an input named "-" by an unnamed file below $TMPDIR with a copy of the whole standard input, so that
 * an action can read it twice. -1: the error was printed. */
int stt_take_stdin(struct stt_options *o);

#endif

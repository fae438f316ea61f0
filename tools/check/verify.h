/* SPDX-License-Identifier: BSD-3-Clause */
/* --verify. */
#ifndef TOOLS_CHECK_VERIFY_H
#define TOOLS_CHECK_VERIFY_H

#include "tools/cli/stftool.h"

/* Checks the whole trace, and prints one line for each fault. Returns an exit status. */
int stt_verify(const struct stt_options *o);

#endif

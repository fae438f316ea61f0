/* SPDX-License-Identifier: BSD-3-Clause */
/* --verify. */
#ifndef TOOLS_VERIFY_H
#define TOOLS_VERIFY_H

#include "tools/stftool.h"

/* Checks the whole trace, and prints one line for each fault. Returns an exit status. */
int stt_verify(const struct stt_options *o);

#endif

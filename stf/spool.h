/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes through a pipe, where it can be read again. */
#ifndef STF_SPOOL_H
#define STF_SPOOL_H

#include "stf/private.h"

/* A descriptor of its own for the same file, or for a copy of all that comes from fd, in a file without a name below
 * $TMPDIR. -1: error. */
int stx_spool(int fd, const char *name, struct stf_err *err);

#endif

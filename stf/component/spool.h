/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes input that comes through a pipe readable more than once. */
#ifndef STF_COMPONENT_SPOOL_H
#define STF_COMPONENT_SPOOL_H

#include "stf/format/private.h"

/* Returns a new descriptor: for the same file, or for an unnamed file below $TMPDIR with a copy of everything
 * that fd delivers. -1: error. */
int stf_spool(int fd, const char *name, struct stf_err *err);

#endif

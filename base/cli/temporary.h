/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporary folders of a program, in TMPDIR or /tmp. They are removed when the caller says so, and when a signal from outside ends the
 * program, or its reader is gone. */
#ifndef BASE_CLI_TEMPORARY_H
#define BASE_CLI_TEMPORARY_H

#include "base/err.h"

/* A new folder PROGRAM-XXXXXX, to be given to tkm_temporary_remove(). NULL: *err. */
char *tkm_temporary_folder(const char *program, struct tkm_err *err);
/* Removes the folder and its content, and frees the name. */
void tkm_temporary_remove(char *folder);

#endif

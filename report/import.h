/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of other programs, as a report needs them: STF traces in a temporary folder. */
#ifndef REPORT_IMPORT_H
#define REPORT_IMPORT_H

#include <stddef.h>

#include "base/err.h"

/* Is this a foreign trace? */
int vtr_is_foreign(const char *path);
/* Converts a foreign trace. Returns the folder in which it is, for tkm_temporary_remove(), and its path in *stf, to be freed; NULL: *err.
 * The note is what of the foreign trace was not read, "": nothing. */
char *vtr_import(const char *path, char **stf, char *note, size_t size, struct tkm_err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of other programs, as a report needs them: STF traces in a temporary folder. */
#ifndef REPORT_IMPORT_H
#define REPORT_IMPORT_H

#include <stddef.h>

#include "base/err.h"

/* Returns the path of an STF trace: of a foreign trace that of a temporary one, else `path` itself; or NULL. The note is what of the
 * foreign trace was not read, "": nothing. */
const char *vtr_import(const char *path, char *note, size_t size, struct tkm_err *err);
/* Removes all temporary traces. */
void vtr_import_end(void);

#endif

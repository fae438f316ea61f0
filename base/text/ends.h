/* SPDX-License-Identifier: BSD-3-Clause */
/* How processes of an MPI job ended after MPI_Finalize, when their trace was complete: lines of the protocol beside it, like
 * "INFO STATUS ranks 0 2-5: exit status 0". */
#ifndef BASE_TEXT_ENDS_H
#define BASE_TEXT_ENDS_H

#include <stddef.h>

#define TKM_ENDS_LINE "INFO STATUS rank"

/* Returns these lines of the protocol of the trace, which the caller frees; NULL: there are none. */
char *tkm_ends_read(const char *trace);
/* Completes the text of an info record of class "ended", "process 3: in MPI_Finalize", by ", exit status 0". Returns `to`, or the text if
 * the lines, which may be NULL, say nothing about it. */
const char *tkm_ends_complete(const char *lines, const char *info, char *to, size_t size);

#endif

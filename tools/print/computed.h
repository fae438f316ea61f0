/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of STATISTICS, computed from the events of a trace. */
#ifndef TOOLS_PRINT_COMPUTED_H
#define TOOLS_PRINT_COMPUTED_H

#include "tools/cli/stftool.h"

/* *rows: an array of *n rows, which the caller frees, in the order of threads and functions; set also with a fault, to what was
 * read before it. NULL: no memory. Returns an exit status. Operations on files count as calls only. */
int stt_compute_statistics(
	const struct stt_options *o, const struct stt_trace *t, struct stf_lw_statistics **rows, size_t *n);

#endif

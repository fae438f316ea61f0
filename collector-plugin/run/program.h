/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of this installation that run when a trace is complete: vtreport, stftool. */
#ifndef COLLECTOR_PLUGIN_RUN_PROGRAM_H
#define COLLECTOR_PLUGIN_RUN_PROGRAM_H

#include <stddef.h>

/* Runs `name` with these arguments (NULL ends them) and waits for it. It gets the environment of this process without the
 * collector's options, and these variables NAME=VALUE (NULL ends them; NULL: none). If text is not NULL, it gets the beginning of
 * what the program prints; else its messages go where those of this process go. Returns its wait status, or -1 with
 * errno. */
int vt_program_run(
	const char *name, const char *const *arguments, const char *const *variables, char *text, size_t size);

#endif

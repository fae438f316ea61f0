/* SPDX-License-Identifier: BSD-3-Clause */
/* Call stacks of another process. */
#ifndef COLLECTOR_PLUGIN_VTSAMPLER_STACK_H
#define COLLECTOR_PLUGIN_VTSAMPLER_STACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Calls line(ctx, ...) for each frame of the first thread, the innermost first: "#0 FUNCTION at FILE:LINE". Returns 0, or -1 with the
 * reason in why. */
int vt_measured_stack(pid_t pid, void (*line)(void *ctx, const char *text), void *ctx, char *why, size_t size);

/* Is a thread inside an MPI call in a function of the program, which MPI has called? objects: the n load addresses of
 * objects with such functions; the program's own file is always one. Returns 1 or 0, or -1 with the reason in why. */
int vt_measured_in_callback(pid_t pid, const uint64_t *objects, int n, char *why, size_t size);

#endif

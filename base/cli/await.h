/* SPDX-License-Identifier: BSD-3-Clause */
/* What a command line names as a trace and is none: not yet, or another file of the run. */
#ifndef BASE_CLI_AWAIT_H
#define BASE_CLI_AWAIT_H

#include <stddef.h>

/* A program that a signal ended leaves its trace to the sampler process, which may need longer than the shell to come to
 * the next command. Waits for the trace `path` while its protocol names a sampler process of this host that lives and a raw
 * file that is there. Returns at once if the trace is there or nothing writes it. Writes the reason to why, else "", where
 * there is no trace because its program still runs, or because all were killed who could have made it of the raw files. */
void tkm_await_trace(const char *path, char *why, size_t size);

/* "ring", "ring.c" or "ring.html" was typed for "ring.stf": writes "ring.c is no trace; is it ring.stf?", or what a file of
 * another program is (base/cli/foreign.h), or "". */
void tkm_trace_meant(const char *path, char *text, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a command line names as a trace and is none: not yet, or another file of the run. */
#ifndef BASE_CLI_AWAIT_H
#define BASE_CLI_AWAIT_H

#include <stddef.h>
#include <stdio.h>

/* Who may still make a trace. */
enum tkm_maker {
	TKM_MAKER_UNKNOWN, /* it is of another host or user */
	TKM_MAKER_GONE,
	TKM_MAKER_SAMPLER, /* the sampler process lives, and the program does not */
	TKM_MAKER_PROGRAM, /* the program runs */
};

/* A program that a signal ended leaves its trace to the sampler process, which may need longer than the shell to come to
 * the next command. Waits for the trace `path` while its protocol names a sampler process of this host that lives and a raw
 * file that is there. Returns at once if the trace is there or nothing writes it. Writes the reason to why, else "", where
 * there is no trace because its program still runs, or because all were killed who could have made it of the raw files.
 * of_raw: tells it by that raw file, as a number of a process may be used again. Where it cannot, the wait has the limit
 * of TKM_AWAIT_S; where `briefly`, always. A wait of more than a second is announced on `say`, for `program`. */
enum { TKM_AWAIT_S = 10 };
void tkm_await_trace(const char *path, enum tkm_maker (*of_raw)(const char *raw), int briefly, FILE *say,
	const char *program, char *why, size_t size);

/* "ring", "ring.c" or "ring.html" was typed for "ring.stf": writes "ring.c is no trace; is it ring.stf?", or what a file of
 * another program is (base/cli/foreign.h), or "". */
void tkm_trace_meant(const char *path, char *text, size_t size);

#endif

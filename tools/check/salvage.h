/* SPDX-License-Identifier: BSD-3-Clause */
/* Recovers a trace without a usable base file, as a killed writer leaves it. Collects the files under final or
 * temporary names, and makes a base file for them. */
#ifndef TOOLS_CHECK_SALVAGE_H
#define TOOLS_CHECK_SALVAGE_H

#include "tools/cli/stftool.h"

struct stt_salvage {
	char *directory; /* a private directory below $TMPDIR with links to the components, and the base file */
	char *base;
	size_t components;
	double resolution; /* of the clock; from the components, the user or the base file */
	size_t left_out;   /* number of components that belong to another trace */
	int unfinished;    /* the components are from a writer that did not finish */
};

/* Looks for the components of o->input, which is the base file's final or temporary name. `old` is what could be
 * read of a damaged base file, or NULL. -1: there is none, or an error was printed. */
int stt_salvage(struct stt_salvage *s, const struct stt_options *o, const struct stt_trace *old);
void stt_salvage_free(struct stt_salvage *s);
/* The temporary base file of a writer that did not finish, if it is beside that of a good trace; NULL: none. The
 * caller frees it. */
char *stt_salvage_left(const char *path);
/* Reports the components beside the base file of `t` that it does not declare, and returns their number. Either
 * the index was cut, or another run left these files. */
size_t stt_salvage_undeclared(const struct stt_options *o, const struct stt_trace *t);

#endif

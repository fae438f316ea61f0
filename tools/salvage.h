/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace without a usable base file, as a writer leaves it that was killed: what lies there under final or temporary
 * names, with a base file made for it. */
#ifndef TOOLS_SALVAGE_H
#define TOOLS_SALVAGE_H

#include "tools/stftool.h"

struct stt_salvage {
	char *directory; /* private, below $TMPDIR: links to the components, and the base file */
	char *base;
	size_t components;
	double resolution; /* of the clock, as the components, the user or the base file say */
	size_t left_out;   /* components of another trace */
	int unfinished;    /* they are of a writer that did not end */
};

/* Looks for the components of o->input, which is the base file's name, final or temporary. `old`: what could be read of a
 * damaged base file, or NULL. -1: there is none, or the reason was printed. */
int stt_salvage(struct stt_salvage *s, const struct stt_options *o, const struct stt_trace *old);
void stt_salvage_free(struct stt_salvage *s);
/* The base file's temporary name of a writer that did not end, beside that of a good trace; NULL: none. To be freed. */
char *stt_salvage_left(const char *path);
/* Says which components lie beside the base file of `t` that it does not declare, and returns how many: its index was cut, or
 * another run left them. */
size_t stt_salvage_undeclared(const struct stt_options *o, const struct stt_trace *t);

#endif

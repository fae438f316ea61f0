/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces as text, doc/vtf-ascii.md: one record a line, keywords and values. Printer and parser use the
 * same table of forms. */
#ifndef TOOLS_VTF_H
#define TOOLS_VTF_H

#include "tools/request.h"
#include "tools/stftool.h"

/* One field in a line: KEY value, or KEY n value..., or without a key just the value. */
struct vtf_part {
	char key[16];
	int field; /* in the layout, -1 if this incarnation has none */
};

/* How one incarnation looks. */
struct vtf_form {
	const char *head;
	int extended; /* no old reader of VTF knows it */
	int n;
	struct vtf_part part[16];
};

/* NULL for records that have no line: files, anchors, strings (which are where they are used). */
const struct vtf_form *vtf_form(unsigned layout_id);
/* The id of the first class whose lines begin so; 0: none. */
unsigned vtf_class(const char *head);

/* Classes of declarations, each after those that it refers to; ends with 0. */
extern const unsigned char vtf_declarations[];

/* Prints the trace, or what `req` asks for (NULL: all). Returns an exit status; faults are printed. */
int vtf_print(const struct stt_trace *t, const struct stt_options *o, const struct stt_request *req, FILE *f);

/* Reads text and writes the trace `to`, STT_STF or STT_SINGLE. Returns an exit status. */
int vtf_to_stf(const struct stt_options *o, const char *from, const char *to, enum stt_format format);

#endif

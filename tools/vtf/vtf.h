/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces as text (doc/vtf-ascii.md): one record per line, with keywords and values. */
#ifndef TOOLS_VTF_VTF_H
#define TOOLS_VTF_VTF_H

#include "tools/cli/request.h"
#include "tools/cli/stftool.h"

/* One field of a line: KEY value, or KEY n value..., or only the value without a key. */
struct stt_vtf_part {
	char key[16];
	int field; /* index in the layout, -1 if this incarnation has no such field */
};

/* The form of a line for one incarnation. */
struct stt_vtf_form {
	const char *head;
	int extended; /* old readers of VTF do not know this form */
	int n;
	struct stt_vtf_part part[16];
};

/* The form of a record. NULL for records without a line of their own: files, anchors, and strings, which are
 * written where they are used. */
const struct stt_vtf_form *stt_vtf_form(unsigned layout_id);

/* Classes of declarations, each after the classes that it refers to; ends with 0. */
extern const unsigned char stt_vtf_declarations[];

/* How the text begins; the version follows. By this an earlier output is known. */
#define STT_VTF_MARK "C ASCII trace, Tickmark"

/* Prints the trace, or the part that `req` selects (NULL: all). Prints faults. Returns an exit status. */
int stt_vtf_print(const struct stt_trace *t, const struct stt_options *o, const struct stt_request *req, FILE *f);

#endif

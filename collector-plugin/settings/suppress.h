/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of CHECK-SUPPRESS: which reports of libVTmc are not printed. Each line has three patterns: a class, a function and a source.
 * `*` matches any text. What has blanks is in quotes; # begins a comment. */
#ifndef COLLECTOR_PLUGIN_SETTINGS_SUPPRESS_H
#define COLLECTOR_PLUGIN_SETTINGS_SUPPRESS_H

#include "base/err.h"

enum { VT_SUPPRESS_LINES = 1024 };

struct vt_suppress {
	char *text; /* what `line` points into */
	struct vt_suppress_line {
		const char *class, *function, *source;
		int number; /* in the file, from 1 */
	} * line;
	int n;
};

/* Reads the file. Returns 0, or -1 with err, which names the file and the line. */
int vt_suppress_read(struct vt_suppress *s, const char *path, struct tkm_err *err);

/* The index of the first line from `first` on that matches a report, or -1. calls: what is printed of the report's calls of MPI and
 * their stacks: "   MPI_Send(...)   main (ring.c:7)", then a line for each caller. The function is that of MPI or one of its stack. The source
 * is "ring.c:7" or "ring.c", of that function; of a function of MPI, that of any function of its stack. */
int vt_suppress_find(const struct vt_suppress *s, int first, const char *class, const char *calls);

void vt_suppress_free(struct vt_suppress *s);

#endif

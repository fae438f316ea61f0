/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files of other jobs, whose processes have all ended before one made the trace: they could not say so themselves. */
#ifndef COLLECTOR_PLUGIN_RUN_LEFT_H
#define COLLECTOR_PLUGIN_RUN_LEFT_H

#include <stddef.h>
#include <stdio.h>

#include "collector-plugin/raw/format.h"

struct vt_left {
	char **path;
	size_t n;
	char **running; /* jobs of which a process still records */
	size_t n_running;
};

/* Takes a raw file of another job, or that job as one that still runs. */
void vt_left_add(struct vt_left *f, const char *path, const struct vt_raw_head *h);

/* Prints the command that makes the trace of one such job, and how many files others have left. */
void vt_left_say(const struct vt_left *f);

/* Opens a protocol, O_RDONLY or O_RDWR | O_APPEND, if it is that of this job: another run may have replaced it. NULL: it is not. */
FILE *vt_left_protocol(const char *path, const char *job, int how);

void vt_left_free(struct vt_left *f);

#endif

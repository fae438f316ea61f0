/* SPDX-License-Identifier: BSD-3-Clause */
/* An open clock of tickmark/clock.h. */
#ifndef CLOCK_HANDLE_H
#define CLOCK_HANDLE_H

#include <sys/stat.h>

#include "clock/page.h"

struct tickmark_clock {
	const struct tkc_page *page;
	const struct tkc_vmclock *vmclock; /* NULL: there is none */
	uint64_t axis;
	int scale, timer;
	int fd;                       /* of the page; -1: a .clk file */
	_Atomic uint64_t check_ticks; /* time between two checks of the writer's lock */
	_Atomic int64_t checked_raw;  /* when it was */
	struct tickmark_options o;
	char *name, *folder; /* what o points to */
	char path[512];
	/* a .clk file: a page of this process's own */
	struct tkc_page *own;
	struct stat seen; /* the file as it was read */
	double within_s;  /* difference of the counter on two processing units, at most; < 0: not proven yet */
};

/* file.c: reads the .clk file into c->own. Returns 0 or -1. */
int tkc_file_load(struct tickmark_clock *c, struct tkm_err *err);

#endif

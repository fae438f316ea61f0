/* SPDX-License-Identifier: BSD-3-Clause */
/* A page of a job that a test writes, and the clock that is opened on it. */
#ifndef TESTS_UNIT_CLOCK_JOB_PAGE_H
#define TESTS_UNIT_CLOCK_JOB_PAGE_H

#include "base/err.h"
#include "clock/names.h"
#include "clock/page.h"
#include "include/clock.h"
#include "tests/lib/check.h"

#include <time.h>

static inline int64_t raw_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* 1000 s after its stamp, to within a microsecond and 1 ppm. */
static inline void publish(struct tkc_writer *w, int64_t raw, int64_t slept_since_ns)
{
	const struct tkc_vmclock *v = tkc_vmclock_open();
	struct tkc_watch watch;

	tkc_watch(v, &watch);
	tkc_vmclock_close(v);
	watch.boot_ns -= slept_since_ns;
	tkc_write(w->page,
		&(struct tkc_map){ .raw = raw,
			.at_ns = raw + 1000000000000,
			.half_ns = 1000,
			.ns_per_tick = 1,
			.grow = 1e-6,
			.since_raw = raw - 1000000000,
			.valid_ticks = 2000000000 },
		&watch);
}

/* ---- pages as files ---- */

static char folder[64];

static inline struct tickmark_clock *open_job(const char *name, struct tickmark_error *err)
{
	struct tickmark_options o = TICKMARK_OPTIONS;

	o.name = name;
	o.folder = folder;
	return tickmark_open(&o, err);
}

static inline int create(struct tkc_writer *w, const char *job)
{
	char name[96];
	struct tkm_err err;

	tkc_job_page(name, sizeof(name), job);
	return tkc_create(w, &(struct tkc_page_of){ folder, name, TICKMARK_JOB, 77, "clock_monotonic" }, &err);
}

#endif

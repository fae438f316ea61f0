/* SPDX-License-Identifier: BSD-3-Clause */
/* The files in a folder of clock pages. */
#ifndef CLOCK_NAMES_H
#define CLOCK_NAMES_H

#include <stdio.h>

#include "clock/page.h"

#define TKC_UTC_NAME "utc"
#define TKC_CLOCKBOUND_NAME "clockbound"
#define TKC_JOB_PREFIX "job-"

/* The page of a job has the job's name in it, since several jobs on one machine can have clocks of their own. */
static inline void tkc_job_page(char *name, size_t size, const char *job)
{
	char domain[24];

	tkc_domain(domain);
	snprintf(name, size, TKC_JOB_PREFIX "%.63s@%s", job, domain);
}

#endif

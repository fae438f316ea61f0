/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads POSIX clocks. */
#ifndef COLLECTOR_PLUGIN_HOST_TIME_H
#define COLLECTOR_PLUGIN_HOST_TIME_H

#include <stdint.h>
#include <time.h>

/* Returns the reading of a POSIX clock in nanoseconds. */
static inline int64_t vt_now_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

#endif

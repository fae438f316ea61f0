/* SPDX-License-Identifier: BSD-3-Clause */
/* A merge that several hosts share: each reads the raw files that it has. */
#ifndef COLLECTOR_PLUGIN_MERGE_HOSTS_H
#define COLLECTOR_PLUGIN_MERGE_HOSTS_H

#include <stddef.h>

#include "base/err.h"

/* Processes on other hosts, which see the folder of the trace and the raw files of their own hosts, and merge those: each host's
 * sets of the trace's files, with what is of that node. Sets that several hosts have something for, such as counters of groups that
 * the program has made, the caller writes, and reads all definitions. */
struct vt_merge_hosts {
	size_t n; /* with host 0 */
	int *whole; /* set to 1 where the caller has to read the records of a file of which it has the definitions only; the
	                        * merge fails then, before exchange is called */
	/* Gives job[h], an allocated text of size[h] bytes, to host h for vt_merge_for_host(), unless it is NULL, calls own(arg),
	 * and brings what that made there: result[h], to be freed, NULL where nothing came. Returns 0, or -1 with err. */
	int (*exchange)(void *ctx, char *const *job, const size_t *size, char **result, size_t *result_size,
		void (*own)(void *arg), void *arg, struct tkm_err *err);
	void *ctx;
};

/* On another host: the work of a job text. cpus as in the options. *files is how many raw files it were. Returns the result, which
 * may say that it failed, for the exchange; NULL: no memory. */
char *vt_merge_for_host(
	const char *job, size_t size, const void *cpus, size_t cpus_size, size_t *result_size, size_t *files);

#endif

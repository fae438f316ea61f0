/* SPDX-License-Identifier: BSD-3-Clause */
/* A merge that several hosts share: each host reads the raw files that it has. */
#ifndef COLLECTOR_PLUGIN_MERGE_HOSTS_H
#define COLLECTOR_PLUGIN_MERGE_HOSTS_H

#include <stddef.h>

#include "base/cpus.h"
#include "base/err.h"

/* Processes on other hosts, which have access to the folder of the trace and to the raw files of their own hosts.
 * Each host merges its own raw files into the sets of the trace's files that belong to it, with the records of its
 * node. The caller reads all definitions, and writes the sets that several hosts have records for, such as counters
 * of groups that the program defined. */
struct vt_merge_hosts {
	size_t n; /* number of hosts, with host 0 */
	int *whole; /* set to 1 where the caller has to read the records of a file of which it has the definitions only; the
	                        * merge fails then, before exchange is called */
	/* Sends job[h], an allocated text of size[h] bytes, to host h, which calls vt_merge_for_host() with it;
	 * job[h] may be NULL. Then calls own(arg), and collects the results of the hosts: result[h], which the caller
	 * frees, NULL if nothing arrived. Returns 0, or -1 with err. */
	int (*exchange)(void *ctx, char *const *job, const size_t *size, char **result, size_t *result_size,
		void (*own)(void *arg), void *arg, struct tkm_err *err);
	void *ctx;
};

/* On another host: does the work that a job text describes. cpus: as in the options. *files: how many raw files that
 * were. Returns the result for the exchange, which may say that the work failed; NULL: no memory. */
char *vt_merge_for_host(const char *job, size_t size, const struct tkm_cpus *cpus, size_t *result_size, size_t *files);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of processing units, as large as the kernel has units: cpu_set_t ends at 1024, and a kernel that may have more
 * refuses it. */
#ifndef BASE_CPUS_H
#define BASE_CPUS_H

#include <sched.h>
#include <stddef.h>

/* All zero: empty. */
struct tkm_cpus {
	cpu_set_t *set;
	size_t bytes;
};

/* Where the calling thread may run. Returns 0, or -1 with errno and an empty set. What c had is freed. */
int tkm_cpus_own(struct tkm_cpus *c);
/* Makes it an empty set of so many bytes. Returns 0 or -1. */
int tkm_cpus_make(struct tkm_cpus *c, size_t bytes);
/* The unit alone. Returns 0 or -1. */
int tkm_cpus_only(struct tkm_cpus *c, unsigned unit);
void tkm_cpus_free(struct tkm_cpus *c);

size_t tkm_cpus_count(const struct tkm_cpus *c);
/* The next unit after `after`, from -1 on; -1: none. */
int tkm_cpus_next(const struct tkm_cpus *c, int after);

/* Binds the calling thread to the set, to one unit, or to none: it may run wherever the system lets it. Returns 0, or -1 with errno. */
int tkm_cpus_bind(const struct tkm_cpus *c);
int tkm_cpus_bind_to(unsigned unit);
int tkm_cpus_unbind(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The places through which the program calls functions of its libraries (entries of the global offset table, GOT). Only those of the program and of
 * the libraries that it was linked with are changed, not those of MPI, of ours, or of libraries below MPI; so calls inside libc, MPI or
 * this library are never seen, and nothing changes where no function is asked for. */
#ifndef COLLECTOR_PLUGIN_HOST_SLOTS_H
#define COLLECTOR_PLUGIN_HOST_SLOTS_H

#include <stddef.h>

struct vt_slot {
	const char *symbol;
	void *instead; /* NULL: the symbol is left alone */
};

/* Do we know how on this kind of machine? */
int vt_slots_possible(void);
/* Calls of these n symbols, in the order of strcmp(), go to `instead`. Returns how many places were changed. */
int vt_slots_change(const struct vt_slot *slot, size_t n);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The places through which the program calls functions of its libraries (entries of the global offset table, GOT).
 * Only the places of the program and of the libraries that it was linked with are changed, not those of MPI, of
 * libraries below MPI, or of Tickmark. Therefore calls inside libc, MPI or this library are never seen. If no
 * function is asked for, nothing changes. */
#ifndef COLLECTOR_PLUGIN_HOST_PROGRAM_SLOTS_H
#define COLLECTOR_PLUGIN_HOST_PROGRAM_SLOTS_H

#include <stddef.h>

struct vt_slot {
	const char *symbol;
	void *instead; /* NULL: the symbol is left alone */
};

/* Can places be changed on this kind of machine? */
int vt_slots_possible(void);
/* Redirects the calls of these n symbols, sorted in the order of strcmp(), to `instead`. Returns the number of
 * places that were changed. */
int vt_slots_change(const struct vt_slot *slot, size_t n);

#endif

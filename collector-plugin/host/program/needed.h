/* SPDX-License-Identifier: BSD-3-Clause */
/* Which libraries does an ELF file need, and does it need MPI? */
#ifndef COLLECTOR_PLUGIN_HOST_PROGRAM_NEEDED_H
#define COLLECTOR_PLUGIN_HOST_PROGRAM_NEEDED_H

#include <string.h>

/* Calls each(name, ctx) for every library that a 64-bit ELF file needs, until a call returns a value other than 0.
 * Returns that value. A damaged file needs no libraries. */
int vt_each_needed(const char *path, int (*each)(const char *name, void *ctx), void *ctx);

/* The parts of MPI that a program or a library is linked with. All zero: none. */
struct vt_mpi_links {
	char mpi[200]; /* the name of the MPI library itself */
	int uses;      /* it is linked with MPI, the Fortran or C++ interface of MPI, or libVT */
};

/* Is it one of our libraries that record MPI? `name`: without a folder. */
static inline int vt_is_mpi_library(const char *name)
{
	return !strncmp(name, "libVT.so", 8) || !strncmp(name, "libVTfs.so", 10) || !strncmp(name, "libVTim.so", 10);
}

/* Adds to `links` (struct vt_mpi_links) which part of MPI the library `name` is. Returns 0, so that vt_each_needed()
 * goes on. */
int vt_mpi_link(const char *name, void *links);

#endif

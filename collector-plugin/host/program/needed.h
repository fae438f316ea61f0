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

/* Adds to `links` (struct vt_mpi_links) which part of MPI the library `name` is. Returns 0, so that vt_each_needed()
 * goes on. */
int vt_mpi_link(const char *name, void *links);

/* Our library that records a program of these links: libVTabi.so for one of the MPI ABI, else libVT.so. */
const char *vt_mpi_recorder(const struct vt_mpi_links *links);

/* Is this library, a name without folder, one of ours that record MPI calls? Can be passed to vt_each_needed(). */
int vt_is_mpi_recorder(const char *name, void *unused);

#endif

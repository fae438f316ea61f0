/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COLLECTOR_PLUGIN_HOST_NEEDED_H
#define COLLECTOR_PLUGIN_HOST_NEEDED_H

/* Calls each(name, ctx) for every library that a 64-bit ELF file needs, until that is not 0, and returns it. A damaged file needs none. */
int vt_each_needed(const char *path, int (*each)(const char *name, void *ctx), void *ctx);

/* What a program or a library links of MPI. All zero: nothing. */
struct vt_mpi_links {
	char mpi[200]; /* the name of the MPI library itself */
	int uses;      /* it, its Fortran or C++ side, or libVT */
};

/* Adds what the library `name` is of MPI; links: struct vt_mpi_links. Returns 0, as vt_each_needed() wants it. */
int vt_mpi_link(const char *name, void *links);

#endif

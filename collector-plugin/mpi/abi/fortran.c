/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPIs have in Fortran: the names of its calls, and the addresses that stand for constants. */
#include "config.h"
#include "collector-plugin/mpi/abi/fortran.h"

#include <dlfcn.h>
#include <stddef.h>

/* The addresses that mean MPI_STATUS_IGNORE and so on. A compiler may have given each of them four names. MPICH has
 * one name for those of mpi_f08, and only that is searched there. */
enum { NAMES = 5 };
static int is_one_of(const void *p, const void *const *found)
{
	int i;

	for (i = 0; i < NAMES; i++) {
		if (p && p == found[i]) {
			return 1;
		}
	}
	return 0;
}

static void look_up_fortran(const char *const *names, const void **found)
{
	int i;

	for (i = 0; i < NAMES; i++) {
		found[i] = dlsym(RTLD_DEFAULT, names[i]);
	}
}

int vt_mpi_ignored(const void *status)
{
	static const char *const one[] = { "mpi_fortran_status_ignore_", "mpi_fortran_status_ignore",
		"mpi_fortran_status_ignore__", "MPI_FORTRAN_STATUS_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ" };
	static const char *const many[] = { "mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore",
		"mpi_fortran_statuses_ignore__", "MPI_FORTRAN_STATUSES_IGNORE", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ" };
	static const void *found[2 * NAMES];
	static _Atomic int looked;

	if (!looked) {
		look_up_fortran(one, found);
		look_up_fortran(many, found + NAMES);
		looked = 1;
	}
	return is_one_of(status, found) || is_one_of(status, found + NAMES);
}

/* The names of one constant. */
struct constant {
	const char *const names[NAMES];
	const void *found[NAMES];
	_Atomic int looked;
};

static int is_constant(const void *p, struct constant *c)
{
	if (!c->looked) {
		look_up_fortran(c->names, c->found);
		c->looked = 1;
	}
	return is_one_of(p, c->found);
}

#define CONSTANT(name, lower, UPPER) \
	int vt_mpi_##name(const void *p) \
	{ \
		static struct constant c = { .names = { "mpi_fortran_" #lower "_", "mpi_fortran_" #lower, \
						     "mpi_fortran_" #lower "__", "MPI_FORTRAN_" #UPPER, \
						     "MPIR_F08_MPI_" #UPPER } }; \
		return is_constant(p, &c); \
	}

CONSTANT(in_place, in_place, IN_PLACE)
CONSTANT(bottom, bottom, BOTTOM)
CONSTANT(unweighted, unweighted, UNWEIGHTED)

/* A program that was linked with -lVT or -lVTmc before MPI's Fortran library has found all names in it, so MPI's Fortran
 * library is not loaded. This loads it: if several MPIs are installed, the one that belongs to the MPI that is
 * loaded. */
static void *find_in_mpi_library(const char *const *names)
{
	static const char *const of_open_mpi[] = { "libmpi_mpifh.so.40", "libmpi_mpifh.so", "libmpi_usempif08.so.40",
		"libmpi_usempif08.so", NULL };
	static const char *const of_mpich[] = { "libmpifort.so.12", "libmpichfort.so.12", "libmpifort.so",
		"libmpichfort.so", NULL };
	const char *const *library = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") ? of_open_mpi : of_mpich;
	void *handle, *next = NULL;
	int i;

	for (; *library && !next; library++) {
		handle = dlopen(*library, RTLD_LAZY | RTLD_GLOBAL);
		for (i = 0; handle && !next && names[i]; i++) {
			next = dlsym(handle, names[i]);
		}
	}
	return next;
}

void *vt_mpi_next_fortran(void **found, const char *const *names)
{
	void *next = __atomic_load_n(found, __ATOMIC_RELAXED);
	const char *const *name;

	for (name = names; !next && *name; name++) {
		next = dlsym(RTLD_NEXT, *name);
	}
	if (!next) {
		next = find_in_mpi_library(names);
	}
	__atomic_store_n(found, next, __ATOMIC_RELAXED);
	return next;
}

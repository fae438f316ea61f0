/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of MPI in Fortran, under the four names that compilers make of each. Their arguments are references
 * and, behind them, the lengths of strings, so they pass on as so many words, whichever they are: a call that
 * has fewer passes on what happens to lie there, and nobody looks at it. MPI's Fortran calls go to PMPI_ and past
 * the C ones here, or through those; vt_mpi_depth sees to it that a call counts once. */
#include "config.h"
#include "collector-plugin/mpi/private.h"

#include <dlfcn.h>
#include <stddef.h>

#define FORTRAN(lower, UPPER, may_follow) \
	void mpi_##lower##_(VT_WORDS); \
	void mpi_##lower##__(VT_WORDS) __attribute__((alias("mpi_" #lower "_"))); \
	void mpi_##lower(VT_WORDS) __attribute__((alias("mpi_" #lower "_"))); \
	void MPI_##UPPER(VT_WORDS) __attribute__((alias("mpi_" #lower "_"))); \
	void mpi_##lower##_(VT_WORDS) \
	{ \
		static void *found; \
		static const char *const names[] = { "mpi_" #lower "_", "mpi_" #lower "__", "mpi_" #lower, "MPI_" #UPPER, \
			NULL }; \
		vt_words_fn *next = vt_mpi_next_fortran(&found, names); \
		if (next) { \
			vt_mpi_enter(); \
			next(VT_WORDS_ON); \
			vt_mpi_leave(may_follow); \
		} \
	}
#define CALL(name, lower, UPPER, params, args) FORTRAN(lower, UPPER, 1)
#define LOCAL(name, lower, UPPER, params, args) FORTRAN(lower, UPPER, 0)
#define CALL4(name, lower, UPPER, params, args)
#define LOCAL4(name, lower, UPPER, params, args)
#include "collector-plugin/mpi/calls.def"

/* A program that was linked with -lVT ahead of MPI's Fortran library, and found all names here, has not loaded that. Where
 * several MPIs are installed it is that of the one that is loaded. */
static void *behind(const char *const *names)
{
	static const char *const of_open_mpi[] = { "libmpi_mpifh.so.40", "libmpi_mpifh.so", NULL };
	static const char *const of_mpich[] = { "libmpifort.so.12", "libmpichfort.so.12", "libmpifort.so", "libmpichfort.so", NULL };
	const char *const *libraries = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") ? of_open_mpi : of_mpich;
	void *handle = NULL, *next = NULL;
	int i;

	for (i = 0; libraries[i] && !handle; i++) {
		handle = dlopen(libraries[i], RTLD_LAZY | RTLD_GLOBAL);
	}
	for (; handle && !next && *names; names++) {
		next = dlsym(handle, *names);
	}
	return next;
}

void *vt_mpi_next_fortran(void **found, const char *const *names)
{
	void *next = __atomic_load_n(found, __ATOMIC_RELAXED);
	const char *const *name;

	for (name = names; !next && *name; name++) {
		next = vt_mpi_next(*name, NULL);
	}
	if (!next) {
		next = behind(names);
	}
	__atomic_store_n(found, next, __ATOMIC_RELAXED);
	return next;
}

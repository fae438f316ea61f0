/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of MPI in C: each passes on to whoever comes next in the order of libraries (another tool, or MPI
 * itself) with its arguments and its result untouched; entering and leaving it are state changes that trigger
 * counter sampling. The body of each is made of calls.def. */
#include "config.h"
#include "collector-plugin/mpi/private.h"

#include <dlfcn.h>
#include <mpi.h>

_Thread_local int vt_mpi_depth;

void *vt_mpi_next(const char *name, void *own)
{
	void *next = dlsym(RTLD_NEXT, name);

	/* MPI may have come by dlopen() without its names being anybody's; then there is no tool behind us either */
	return next ? next : own;
}

#define WRAPPER(name, params, args, may_follow) \
	int MPI_##name params \
	{ \
		static void *found; \
		void *next = __atomic_load_n(&found, __ATOMIC_RELAXED); \
		int rc; \
		if (!next) { \
			next = vt_mpi_next("MPI_" #name, (void *)PMPI_##name); \
			__atomic_store_n(&found, next, __ATOMIC_RELAXED); \
		} \
		vt_mpi_enter(); \
		rc = ((int(*) params)next)args; \
		vt_mpi_leave(may_follow); \
		return rc; \
	}
#define CALL(name, lower, UPPER, params, args) WRAPPER(name, params, args, 1)
#define LOCAL(name, lower, UPPER, params, args) WRAPPER(name, params, args, 0)
#if MPI_VERSION >= 4
#define CALL4(name, lower, UPPER, params, args) WRAPPER(name, params, args, 1)
#define LOCAL4(name, lower, UPPER, params, args) WRAPPER(name, params, args, 0)
#else
#define CALL4(name, lower, UPPER, params, args)
#define LOCAL4(name, lower, UPPER, params, args)
#endif
#include "collector-plugin/mpi/calls.def"

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/mpi/outside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector-plugin/core/hooks.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/run/finish.h"

struct vt_raw_head *vt_mpi_watched;
_Atomic uint64_t vt_mpi_missed;
int vt_mpi_own_errors;
static int64_t finalized_ns;

enum { CALLBACKS = sizeof(((struct vt_raw_head *)0)->callbacks) / sizeof(uint64_t) };

void vt_mpi_calls_back(void *function)
{
	struct vt_raw_head *h = vt_mpi_watched;
	uint64_t base = UINT64_MAX, there;
	const char *name;
	Dl_info of;
	int i;

	if (!h || !function) {
		return;
	}
	if (dladdr(function, &of) && of.dli_fbase) {
		/* functions that MPI itself offers, such as MPI_COMM_DUP_FN */
		name = of.dli_fname ? strrchr(of.dli_fname, '/') : NULL;
		if (name && !strncmp(name, "/libmp", 6)) {
			return;
		}
		base = (uint64_t)(uintptr_t)of.dli_fbase;
	}
	for (i = 0; i < CALLBACKS; i++) {
		there = 0;
		if (atomic_compare_exchange_strong(&h->callbacks[i], &there, base) || there == base) {
			return;
		}
	}
	atomic_store(&h->callbacks[0], UINT64_MAX);
}

MPI_Errhandler vt_mpi_errhandler(MPI_Errhandler wanted)
{
	static _Atomic int said;

	if (!vt_hooks.failsafe) {
		vt_mpi_own_errors |=
			wanted != MPI_ERRORS_ARE_FATAL && wanted != MPI_ERRORS_RETURN && wanted != MPI_ERRHANDLER_NULL;
		return wanted;
	}
	if (wanted != MPI_ERRORS_ARE_FATAL && vt_collect_is_first_rank() && atomic_exchange(&said, 1) == 0) {
		vt_say(1, "INFO",
			"the program's error handlers of MPI are not installed: libVTfs ends the job at the first error");
	}
	return MPI_ERRORS_ARE_FATAL;
}

static int threads_before; /* of the program */

static int count_threads(void)
{
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)getpid());
	return stat(path, &st) == 0 && st.st_nlink > 2 ? (int)st.st_nlink - 2 : 0;
}

void vt_mpi_threads_before(void)
{
	threads_before = count_threads();
}

void vt_mpi_threads_are_free(void)
{
	int now = count_threads();

	atomic_store(&vt_mpi_watched->free_threads,
		threads_before && now > threads_before ? 1 + (uint32_t)(now - threads_before) : 1);
}

void vt_mpi_finalized(void)
{
	finalized_ns = vt_now_ns(CLOCK_MONOTONIC);
}

void vt_mpi_say_missed(void)
{
	double after_s = finalized_ns ? 1e-9 * (double)(vt_now_ns(CLOCK_MONOTONIC) - finalized_ns) : 0;
	unsigned long long calls = atomic_load(&vt_mpi_missed);
	unsigned children = vt_collect_leave_out(0);

	if (children) {
		vt_say(1, "WARNING", "%u forked %s of this rank %s not recorded: the trace of a job has its ranks only",
			children, children == 1 ? "child" : "children", children == 1 ? "is" : "are");
	}
	if (!vt_collect_is_first_rank()) {
		return;
	}
	if (calls) {
		vt_say(1, "WARNING",
			"%llu call%s of MPI sessions, or otherwise outside MPI_Init and MPI_Finalize, or in call-backs of "
			"MPI_Finalize: not recorded",
			calls, calls == 1 ? "" : "s");
	}
	if (after_s >= 0.2) {
		vt_say(1, "INFO", "the trace ends in MPI_Finalize: the %.3g s after it are not recorded", after_s);
	}
}

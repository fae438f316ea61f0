/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of the MPI wrappers. No mpi.h: the Fortran side does without it. */
#ifndef COLLECTOR_PLUGIN_MPI_PRIVATE_H
#define COLLECTOR_PLUGIN_MPI_PRIVATE_H

#include "collector-plugin/api/VT.h"
#include "collector-plugin/core/sink.h"
#include "collector-plugin/core/thread.h"

/* The function `name` of the library behind this one; `own` if there is none. */
VT_HIDDEN void *vt_mpi_next(const char *name, void *own);

/* Of this thread's calls of MPI under way, the outermost counts. */
extern _Thread_local int vt_mpi_depth VT_HIDDEN __attribute__((tls_model("initial-exec")));

static inline void vt_mpi_enter(void)
{
	if (vt_mpi_depth++ == 0) {
		vt_event();
	}
}

/* may_follow: the call may have returned because of what another process did. What this thread stamps from here on is after
 * the loads that saw it, whichever kind of read takes the stamp. */
static inline void vt_mpi_leave(int may_follow)
{
	if (--vt_mpi_depth == 0) {
		if (may_follow && vt_tls.state != VT_TLS_OFF) {
			tmr_order();
		}
		vt_event();
	}
}

/* Sixteen words: the longest call of MPI has 11 arguments, and lengths of strings. */
#define VT_WORDS \
	void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j, void *k, void *l, \
		void *m, void *n, void *o, void *p
#define VT_WORDS_ON a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p
typedef void vt_words_fn(VT_WORDS);
VT_HIDDEN void *vt_mpi_next_fortran(void **found, const char *const *names);

/* ---- job.c: what the ranks do together; with mpi.h. All return quietly where something is missing. ---- */

/* MPI is there: who we are, one trace for all, the first clock session. */
VT_HIDDEN void vt_job_begin(int *argc, char ***argv);
/* MPI is about to end: the last session, and everything for the trace to LOGFILE-RANK, which writes it; the others wait. */
VT_HIDDEN void vt_job_end(void);
/* MPI_Abort: what is there is safe, and the user is told where. */
VT_HIDDEN void vt_job_abort(void);
/* A session in between, by all ranks together. */
VT_HIDDEN VT_ErrorCode vt_job_timesync(void);

#endif

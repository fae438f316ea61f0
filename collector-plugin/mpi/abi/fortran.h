/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls in Fortran, whose wrappers pass on words. Does not include mpi.h. */
#ifndef COLLECTOR_PLUGIN_MPI_ABI_FORTRAN_H
#define COLLECTOR_PLUGIN_MPI_ABI_FORTRAN_H

#ifndef VT_HIDDEN
#define VT_HIDDEN __attribute__((visibility("hidden")))
#endif

/* Sixteen words: the longest call of MPI has 11 arguments, plus lengths of strings. */
#define VT_WORDS \
	void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j, void *k, void *l, \
		void *m, void *n, void *o, void *p
#define VT_WORDS_ON a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p
typedef void vt_words_fn(VT_WORDS);
/* The first of these names that the next library has, NULL after the last; kept in *found. */
VT_HIDDEN void *vt_mpi_next_fortran(void **found, const char *const *names);
/* Is this address Fortran's MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE? The others: is it its
 * MPI_IN_PLACE, its MPI_BOTTOM, its MPI_UNWEIGHTED? */
VT_HIDDEN int vt_mpi_ignored(const void *status);
VT_HIDDEN int vt_mpi_in_place(const void *buffer);
VT_HIDDEN int vt_mpi_bottom(const void *buffer);
VT_HIDDEN int vt_mpi_unweighted(const void *array);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The table between record.c and what the OpenMP run-time libraries call. */
#include "config.h"
#include "collector-plugin/openmp/team.h"

const struct vt_omp_table *vt_omp_begin(const struct vt_omp_own *own)
{
	static struct vt_omp_table table = { .version = PACKAGE_STRING };

	vt_omp = own;
	table.ompt = vt_omp_ompt();
	table.call = vt_omp_gomp(&table.n, &table.next);
	return &table;
}

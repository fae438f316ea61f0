/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank defines one class, function and source location. */
#include <mpi.h>
#include <VT.h>

int main(int argc, char **argv)
{
	int cls, f, scl;

	MPI_Init(&argc, &argv);
	VT_classdef("Same", &cls);
	VT_funcdef("work", cls, &f);
	VT_scldef("same.c", 7, &scl);
	VT_enter(f, scl);
	VT_leave(VT_NOSCL);
	return MPI_Finalize();
}

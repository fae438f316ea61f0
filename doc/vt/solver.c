/* SPDX-License-Identifier: BSD-3-Clause */
/* Example of VT.h, in C and C++: a counter of the program's own, and a function that it names.
 *
 *	cc solver.c $(pkg-config --cflags --libs VTcs) -o solver
 *	./solver && stftool solver.stf --dump */
#include <stdio.h>

#include <VT.h>

int main(void)
{
	int solver, residual, step, round;
	double r = 1;

	VT_initialize(NULL, NULL);
	VT_classdef("Solver", &solver);
	VT_funcdef("step", solver, &step);
	VT_countdef("residual", solver, VT_COUNT_FLOAT | VT_COUNT_ABSVAL | VT_COUNT_VALID_AFTER, VT_ME, NULL, "1",
		&residual);
	for (round = 0; round < 10; round++) {
		VT_enter(step, VT_NOSCL);
		r /= 2;
		VT_leave(VT_NOSCL);
		VT_countval(1, &residual, &r);
	}
	VT_finalize();
	printf("residual %g\n", r);
	return 0;
}

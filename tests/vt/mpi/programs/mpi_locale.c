/* SPDX-License-Identifier: BSD-3-Clause */
/* A job that sets the locale of its environment before MPI_Init, and before it records a value. It prints 0.5 in
 * the format of that locale. */
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include <VT.h>

int main(int argc, char **argv)
{
	double bounds[2] = { 0, 1e9 };
	const struct timespec t = { 0, 50000000 };
	double v = 1234.5;
	int c;

	if (!setlocale(LC_ALL, "")) {
		return 77;
	}
	MPI_Init(&argc, &argv);
	VT_countdef(
		"half", VT_NOCLASS, VT_COUNT_FLOAT | VT_COUNT_ABSVAL | VT_COUNT_VALID_SAMPLE, VT_ME, bounds, "x", &c);
	VT_countval(1, &c, &v);
	VT_timesync();
	nanosleep(&t, NULL);
	printf("%.1f\n", 0.5);
	MPI_Finalize();
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts in the locale of its environment. */
#include <VT.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv)
{
	double bounds[2] = { 0, 1e9 }, v = 1234.5;
	struct timespec t = { 0, 300000000 };
	int c;

	if (!setlocale(LC_ALL, "")) {
		return 77;
	}
	VT_initialize(&argc, &argv);
	VT_countdef(
		"half", VT_NOCLASS, VT_COUNT_FLOAT | VT_COUNT_ABSVAL | VT_COUNT_VALID_SAMPLE, VT_ME, bounds, "x", &c);
	VT_countval(1, &c, &v);
	nanosleep(&t, NULL);
	printf("%.1f\n", v);
	return 0;
}

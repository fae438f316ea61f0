/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that are nested, with the line of each call known: main calls f3, f4, f5, which enters a state. Comments name the lines
 * that the test looks for. Then a region inside a call-back of libc, and VT_sclstack(). */
#include <VT.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int inner, region, stacked;

#define N __attribute__((noinline, noclone))

N int f5(int x)
{
	VT_enter(inner, VT_NOSCL); /* :f5 */
	VT_leave(VT_NOSCL);
	return x + 1;
}

N int f4(int x)
{
	return f5(x) + 1; /* :f4 */
}

N int f3(int x)
{
	return f4(x) + 1; /* :f3 */
}

N int compare(const void *a, const void *b)
{
	VT_begin(region); /* :begin */
	VT_end(region);   /* :end */
	return *(const int *)a - *(const int *)b;
}

N int of_library(int skip, int levels)
{
	int scl = 77;

	if (VT_sclstack(NULL, NULL, skip, levels, &scl) != VT_OK) { /* :sclstack */
		return -1;
	}
	VT_enter(stacked, scl);
	VT_leave(VT_NOSCL);
	return scl;
}

/* A signal handler may find anything in the register of the frame pointer: it is followed only inside the thread's stack, above this call.
 * The pc is a location in any case. */
N int of_wrong_frames(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t frame[] = { 1, 8, 4096, here + 3, here - (1 << 20), here - 4096, (uintptr_t)-16,
		here & ~(uintptr_t)0xffffffff };
	int scl = 0, wrong = 0;
	size_t i;

	for (i = 0; i < sizeof(frame) / sizeof(frame[0]); i++) {
		wrong += VT_sclstack((void *)(uintptr_t)of_wrong_frames, (void *)frame[i], 0, 5, &scl) != VT_OK ||
			scl == VT_NOSCL;
		wrong += VT_sclstack(NULL, (void *)frame[i], 0, 5, &scl) != VT_OK || scl != VT_NOSCL;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	int v[2] = { 2, 1 }, i, n = argc > 1 ? atoi(argv[1]) : 1, sum = 0, bad = 5;

	VT_initialize(&argc, &argv);
	VT_funcdef("inner", VT_NOCLASS, &inner);
	VT_funcdef("region", VT_NOCLASS, &region);
	VT_funcdef("stacked", VT_NOCLASS, &stacked);
	for (i = 0; i < n; i++) {
		sum += f3(i) + 1; /* :main */
	}
	qsort(v, 2, sizeof(*v), compare); /* :sort */
	sum += of_library(1, 2) < 0;      /* :library */
	sum += of_library(0, 1) < 0;
	VT_sclstack(NULL, NULL, 0, 0, &bad);
	printf("%d %d %d %d\n", sum, bad, VT_sclstack(NULL, NULL, -2, 1, &bad), of_wrong_frames());
	VT_finalize();
	return 0;
}

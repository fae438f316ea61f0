/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of known length between state changes, so that hardware counters are read right in front of and right after
 * them: rank r counts down from 100000 (r + 1), then from twice as much. What the two differ by, of instructions, is
 * STEP x 100000 (r + 1), exactly, where a turn of the loop has STEP; the reading itself cancels out. */
#include <VT.h>
#include <mpi.h>
#include <stdint.h>

static void turns(long n)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#elif defined(__x86_64__)
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
#else
	for (volatile long i = n; i > 0; i--) {
	}
#endif
}

int main(int argc, char **argv)
{
	int cls, mark, state, rank, round, k;
	int64_t n;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	VT_classdef("Loop", &cls);
	VT_funcdef("loop", cls, &state);
	VT_countdef("turns", cls, VT_COUNT_INTEGER64 | VT_COUNT_VALID_BEFORE, VT_ME, NULL, "#", &mark);
	for (round = 0; round < 20; round++) {
		for (k = 1; k <= 2; k++) {
			n = 100000L * (rank + 1) * k;
			VT_countval(1, &mark, &n);
			VT_enter(state, VT_NOSCL);
			turns(n);
			VT_leave(VT_NOSCL);
		}
	}
	MPI_Finalize();
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked with MPI, and never calls MPI_Init: 100 calls of f(), and 10 after VT_traceon(). */
#include <VT.h>

static volatile int sum;

void f(int x);
__attribute__((noinline)) void f(int x)
{
	sum += x;
}

int main(void)
{
	int i;

	for (i = 0; i < 100; i++) {
		f(i);
	}
	VT_traceon();
	for (i = 0; i < 10; i++) {
		f(i);
	}
	return 0;
}

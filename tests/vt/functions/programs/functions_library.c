/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that functions.c loads and unloads. */
void of_library(void);

__attribute__((noinline)) static int inner(int i)
{
	__asm__ volatile("" : "+r"(i));
	return i;
}

void of_library(void)
{
	inner(1);
}

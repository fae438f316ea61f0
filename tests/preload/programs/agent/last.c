/* SPDX-License-Identifier: BSD-3-Clause */
/* The last thread ends by itself. */
#include <pthread.h>
#include <stdio.h>

int main(void)
{
	puts("hello");
	pthread_exit(NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without an error, for the sanitizers. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	char *p = malloc(8);

	p[0] = 1;
	puts("sane");
	free(p);
	return 7;
}

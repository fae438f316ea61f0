/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends with errno as it was at the begin, and notes each run. */
#include <errno.h>
#include <stdio.h>

int main(void)
{
	int first = errno;
	FILE *f = fopen("runs", "a");

	fputs("once\n", f);
	fclose(f);
	return first;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* How often a program waited that sleeps 50 times. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void)
{
	struct rusage r;
	int i;

	for (i = 0; i < 50; i++) {
		usleep(20000);
	}
	getrusage(RUSAGE_SELF, &r);
	printf("%ld\n", r.ru_nvcsw);
	return 0;
}

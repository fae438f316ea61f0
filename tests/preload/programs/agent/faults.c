/* SPDX-License-Identifier: BSD-3-Clause */
/* Page faults of a child of a fork. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	struct rusage use;
	int i;

	for (i = 0; i < 50; i++) {
		if (fork() == 0) {
			_exit(0);
		}
		wait(NULL);
	}
	getrusage(RUSAGE_CHILDREN, &use);
	printf("%ld\n", use.ru_minflt / 50);
	return 0;
}

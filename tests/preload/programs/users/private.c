/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that lets nobody look into it. */
#include <sys/prctl.h>
#include <unistd.h>

int main(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	usleep(700000);
	return 4;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A setuid program that records. */
#include <VT.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int f = 0;

	VT_initialize(&argc, &argv);
	VT_funcdef("work", VT_NOCLASS, &f);
	VT_enter(f, VT_NOSCL);
	VT_leave(VT_NOSCL);
	printf("%d\n", (int)geteuid());
	VT_finalize();
	return 0;
}

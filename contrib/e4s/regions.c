/* SPDX-License-Identifier: BSD-3-Clause */
/* A region of a program without MPI. */
#include <VT.h>

int main(void)
{
	int handle = 0;

	VT_initialize(0, 0);
	VT_funcdef("solve", VT_NOCLASS, &handle);
	VT_enter(handle, VT_NOSCL);
	VT_leave(VT_NOSCL);
	VT_finalize();
	return 0;
}

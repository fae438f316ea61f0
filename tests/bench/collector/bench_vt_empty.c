/* SPDX-License-Identifier: BSD-3-Clause */
/* An empty function in a file of its own, for bench_vt to call. */
#include "tests/bench/collector/bench_vt.h"

int bench_vt_empty(int a, int b)
{
	(void)a;
	(void)b;
	return 0;
}

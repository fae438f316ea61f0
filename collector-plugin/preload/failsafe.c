/* SPDX-License-Identifier: BSD-3-Clause */
/* What libVTfs has besides libVT: signals are noted and deadlocks are looked for without being asked to. */
#include "config.h"
#include "collector-plugin/core/hooks.h"

/* before the constructor that starts the collector */
__attribute__((constructor(101))) static void begin(void)
{
	vt_hooks.failsafe = 1;
}

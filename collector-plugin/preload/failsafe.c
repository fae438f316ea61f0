/* SPDX-License-Identifier: BSD-3-Clause */
/* What libVTfs has besides libVT: by default it records signals and looks for deadlocks. */
#include "config.h"
#include "collector-plugin/core/hooks.h"

/* before the constructor that starts the collector */
__attribute__((constructor(101))) static void begin_failsafe(void)
{
	vt_hooks.failsafe = 1;
}

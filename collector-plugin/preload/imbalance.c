/* SPDX-License-Identifier: BSD-3-Clause */
/* What libVTim has besides libVT: TRACE-IMBALANCE is on by default. */
#include "config.h"
#include "collector-plugin/core/hooks.h"

/* before the constructor that starts the collector */
__attribute__((constructor(101))) static void begin_imbalance(void)
{
	vt_hooks.imbalance = 1;
}

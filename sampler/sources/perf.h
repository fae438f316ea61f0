/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel events by perf_event_open(2). */
#ifndef SAMPLER_SOURCES_PERF_H
#define SAMPLER_SOURCES_PERF_H

#include "sampler/private.h"

/* As smp_perf_why() with what a hardware event on this thread says now; "" when it works. For whoever only
 * knows that PAPI failed. */
void smp_perf_hardware(const struct smp_env *env, char why[SMP_TEXT]);

#endif

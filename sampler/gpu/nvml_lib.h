/* SPDX-License-Identifier: BSD-3-Clause */
/* NVIDIA's library NVML, loaded at run time, and the threads that call it. A call of it may last for seconds, or for ever, so only
 * these threads call it; what they read is taken from here. */
#ifndef SAMPLER_GPU_NVML_LIB_H
#define SAMPLER_GPU_NVML_LIB_H

#include "sampler/gpu/nvml_read.h"
#include "sampler/private.h"

enum smp_nvml_lane { SMP_NVML_FAST_LANE, SMP_NVML_SLOW_LANE, SMP_NVML_LANES };

/* The devices of one lane after its last reading. Valid between smp_nvml_take() and smp_nvml_give_back(). */
struct smp_nvml_view {
	const struct smp_nvml_device *device;
	size_t n;
	uint64_t number; /* of the reading */
	int64_t done_ns; /* CLOCK_MONOTONIC when it was over; 0: there was none */
};

/* Loads the library, but not in a program of the user's. Returns 0, or -1 with the reason. try_it: also begins to call it, which may last until the limit of env. */
int smp_nvml_load(const struct smp_env *env, int try_it, char why[SMP_TEXT]);
/* One set more (1) or less (-1) wants these items. */
void smp_nvml_want(enum smp_nvml_lane lane, unsigned items, int more);
/* Asks for a reading of what is wanted and of `more`, and waits for it for at most wait_ns, unless the reading before hangs;
 * wait_ns < 0: only shows the last one. The lock is held until smp_nvml_give_back(). */
void smp_nvml_take(enum smp_nvml_lane lane, unsigned more, int64_t wait_ns, struct smp_nvml_view *view);
void smp_nvml_give_back(void);
int64_t smp_nvml_now_ns(void);

#endif

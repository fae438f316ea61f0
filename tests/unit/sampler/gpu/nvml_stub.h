/* SPDX-License-Identifier: BSD-3-Clause */
/* A library of the name of NVML that says what the test tells it, and misbehaves as the test tells it. */
#ifndef TESTS_UNIT_SAMPLER_GPU_NVML_STUB_H
#define TESTS_UNIT_SAMPLER_GPU_NVML_STUB_H

enum stub_call {
	STUB_INIT,
	STUB_COUNT,
	STUB_HANDLE,
	STUB_UUID,
	STUB_RATES,
	STUB_SAMPLES,
	STUB_MEMORY,
	STUB_POWER,
	STUB_ENERGY,
	STUB_FIELDS,
	STUB_CLOCK,
	STUB_REASONS,
	STUB_TEMPERATURE,
	STUB_PCIE,
	STUB_MIG,
	STUB_CALLS
};
enum { STUB_GPUS = 3 };

struct stub_gpu {
	char uuid[96];
	int rc[STUB_CALLS]; /* what its calls return */
	int field_rc;       /* in each field, while the call succeeds */
	unsigned busy, mem_busy, power, power_now, sm_clock, mem_clock, temperature, pcie[2], mig;
	unsigned long long used, total, energy, link[2], reasons;
	long long sample_age_us, field_age_us; /* of the stamps at the time of the call */
	unsigned energy_type;                  /* as the library numbers types; 0: energy_double */
	double energy_double;
};

struct stub_world {
	struct stub_gpu gpu[STUB_GPUS];
	unsigned n, stated;     /* GPUs, and what the library says: 0: the same */
	int order[STUB_GPUS];   /* index to GPU */
	int meaning[STUB_GPUS]; /* handle to GPU */
	int rc[STUB_CALLS];     /* of calls for all GPUs */
	int delay_ms[STUB_CALLS];
	volatile int hangs[STUB_CALLS]; /* until it is 0 */
	volatile int calls[STUB_CALLS];
	volatile int begun; /* how often it was begun and not shut down */
};

#endif

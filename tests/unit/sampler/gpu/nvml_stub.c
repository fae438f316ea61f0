/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for libnvidia-ml.so.1 (nvml_stub.h). STUB_OLD: a driver of long ago. STUB_BROKEN: not even what is needed. The signatures
 * are those of the API reference guide, not those of our header, so that a wrong declaration is found. */
#include "tests/unit/sampler/gpu/nvml_stub.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
	unsigned int gpu, memory;
} nvmlUtilization_t;
typedef struct {
	unsigned long long total, free, used;
} nvmlMemory_t;
typedef union {
	double dVal;
	unsigned int uiVal;
	unsigned long ulVal;
	unsigned long long ullVal;
	signed long long sllVal;
} nvmlValue_t;
typedef struct {
	unsigned long long timeStamp;
	nvmlValue_t sampleValue;
} nvmlSample_t;
typedef struct {
	unsigned int fieldId, scopeId;
	long long timestamp, latencyUsec;
	unsigned int valueType;
	int nvmlReturn;
	nvmlValue_t value;
} nvmlFieldValue_t;
typedef void *nvmlDevice_t;

struct stub_world stub_world;

__attribute__((constructor)) static void begin_stub_world(void)
{
	int i;

	stub_world.n = 2;
	for (i = 0; i < STUB_GPUS; i++) {
		stub_world.order[i] = stub_world.meaning[i] = i;
		stub_world.gpu[i] = (struct stub_gpu){ .busy = 40 + 20 * (unsigned)i,
			.mem_busy = 10,
			.power = 100000 + (unsigned)i,
			.power_now = 200000 + (unsigned)i,
			.sm_clock = 1000 + 500 * (unsigned)i,
			.mem_clock = 2000,
			.temperature = 50 + (unsigned)i,
			.pcie = { 700, 800 },
			.used = 1000,
			.total = 5000,
			.energy = 1000000 + (unsigned)i,
			.energy_type = 3,
			.link = { 64, 32 },
			.reasons = 1u << i,
			.sample_age_us = 5000,
			.field_age_us = 1000 };
		snprintf(stub_world.gpu[i].uuid, sizeof(stub_world.gpu[i].uuid), "GPU-%c%c%c%c", 'a' + i, 'a' + i,
			'a' + i, 'a' + i);
	}
}

/* For programs: with STUB_LOST_MS in the environment, the first GPU is lost so long after the library was loaded. */
static int is_lost(const struct stub_gpu *g)
{
	static struct timespec begin;
	const char *after_ms = getenv("STUB_LOST_MS");
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (!begin.tv_sec) {
		begin = t;
	}
	return after_ms && g == &stub_world.gpu[0] &&
		(t.tv_sec - begin.tv_sec) * 1000 + (t.tv_nsec - begin.tv_nsec) / 1000000 >= atoi(after_ms);
}

static int begin_stub_call(enum stub_call call)
{
	__atomic_add_fetch(&stub_world.calls[call], 1, __ATOMIC_SEQ_CST);
	usleep((useconds_t)stub_world.delay_ms[call] * 1000);
	while (stub_world.hangs[call]) {
		usleep(1000);
	}
	return stub_world.rc[call];
}

__attribute__((unused)) static long long stamp_of(long long age_us)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000ll + t.tv_nsec / 1000 - age_us;
}

static struct stub_gpu *gpu_of(nvmlDevice_t device)
{
	return &stub_world.gpu[stub_world.meaning[(char *)device - (char *)0 - 1]];
}

#define CALL(which) \
	struct stub_gpu *g = gpu_of(device); \
	int rc = begin_stub_call(which); \
	rc = rc ? rc : is_lost(g) ? 15 : g->rc[which]; \
	if (rc) { \
		return rc; \
	}

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
	int rc = begin_stub_call(STUB_INIT);

	__atomic_add_fetch(&stub_world.begun, rc == 0, __ATOMIC_SEQ_CST);
	return rc;
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
	__atomic_sub_fetch(&stub_world.begun, 1, __ATOMIC_SEQ_CST);
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned int *deviceCount);
int nvmlDeviceGetCount_v2(unsigned int *deviceCount)
{
	*deviceCount = stub_world.stated ? stub_world.stated : stub_world.n;
	return begin_stub_call(STUB_COUNT);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
	int rc = begin_stub_call(STUB_HANDLE);

	if (index >= stub_world.n) {
		return 2;
	}
	*device = (char *)0 + stub_world.order[index] + 1;
	return rc ? rc : gpu_of(*device)->rc[STUB_HANDLE];
}

#ifndef STUB_BROKEN
int nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length);
int nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length)
{
	CALL(STUB_UUID)
	memcpy(uuid, g->uuid, length < sizeof(g->uuid) ? length : sizeof(g->uuid));
	return 0;
}
#endif

int nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
int nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	CALL(STUB_MEMORY)
	*memory = (nvmlMemory_t){ g->total, g->total - g->used, g->used };
	return 0;
}

int nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *power);
int nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *power)
{
	CALL(STUB_POWER)
	*power = g->power;
	return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *energy);
int nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *energy)
{
	CALL(STUB_ENERGY)
	*energy = g->energy;
	return 0;
}

int nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization);
int nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization)
{
	CALL(STUB_RATES)
	*utilization = (nvmlUtilization_t){ g->busy, g->mem_busy };
	return 0;
}

#ifndef STUB_OLD
/* Four samples of before with other values, and the newest one, in no order. */
int nvmlDeviceGetSamples(nvmlDevice_t device, unsigned int type, unsigned long long lastSeenTimeStamp,
	unsigned int *sampleValType, unsigned int *sampleCount, nvmlSample_t *samples);
int nvmlDeviceGetSamples(nvmlDevice_t device, unsigned int type, unsigned long long lastSeenTimeStamp,
	unsigned int *sampleValType, unsigned int *sampleCount, nvmlSample_t *samples)
{
	unsigned i, n = 0;

	CALL(STUB_SAMPLES)
	if (!samples) {
		*sampleCount = 5;
		return 0;
	}
	*sampleValType = 1;
	for (i = 0; i < 5 && n < *sampleCount; i++) {
		long long stamp = stamp_of(g->sample_age_us + (i == 2 ? 0 : 100000 + 1000 * (long long)i));

		if (stamp > (long long)lastSeenTimeStamp) {
			samples[n].timeStamp = (unsigned long long)stamp;
			samples[n++].sampleValue.uiVal = i != 2 ? 77 : type == 1 ? g->busy : g->mem_busy;
		}
	}
	*sampleCount = n;
	return n ? 0 : 6;
}

int nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t *values);
int nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t *values)
{
	int i;

	CALL(STUB_FIELDS)
	for (i = 0; i < valuesCount; i++) {
		nvmlFieldValue_t *v = &values[i];

		v->timestamp = stamp_of(g->field_age_us);
		v->latencyUsec = 3;
		v->nvmlReturn = g->field_rc;
		v->valueType = 3;
		switch (v->fieldId) {
		case 83:
			v->valueType = g->energy_type;
			v->value.ullVal = g->energy;
			if (!g->energy_type) {
				v->value.dVal = g->energy_double;
			}
			break;
		case 186:
			memset(&v->value, 0xee, sizeof(v->value)); /* what is beyond the type means nothing */
			v->valueType = 1;
			v->value.uiVal = g->power_now;
			break;
		case 138:
		case 139:
			v->value.ullVal = v->scopeId == 0xffffffffu ? g->link[v->fieldId - 138] : 5;
			break;
		default:
			v->nvmlReturn = 3;
		}
	}
	return 0;
}

int nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *currentMode, unsigned int *pendingMode);
int nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *currentMode, unsigned int *pendingMode)
{
	CALL(STUB_MIG)
	*currentMode = *pendingMode = g->mig;
	return 0;
}

int nvmlDeviceGetPcieThroughput(nvmlDevice_t device, unsigned int counter, unsigned int *value);
int nvmlDeviceGetPcieThroughput(nvmlDevice_t device, unsigned int counter, unsigned int *value)
{
	CALL(STUB_PCIE)
	*value = g->pcie[counter];
	return 0;
}
#endif

int nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length);
int nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length)
{
	(void)device;
	snprintf(name, length, "NVIDIA Stub");
	return 0;
}

int nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int type, unsigned int *clock);
int nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int type, unsigned int *clock)
{
	CALL(STUB_CLOCK)
	*clock = type == 1 ? g->sm_clock : type == 2 ? g->mem_clock : 9;
	return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *clocksThrottleReasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *clocksThrottleReasons)
{
	CALL(STUB_REASONS)
	*clocksThrottleReasons = g->reasons;
	return 0;
}

int nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensorType, unsigned int *temp);
int nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensorType, unsigned int *temp)
{
	CALL(STUB_TEMPERATURE)
	*temp = sensorType == 0 ? g->temperature : 9;
	return 0;
}

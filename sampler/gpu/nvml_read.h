/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of NVIDIA's library NVML, and what is read of a GPU by it. The declarations are those of the library's public
 * interface, as far as they are needed (NVML API reference guide; compared with the bindings of Debian's
 * librust-nvml-wrapper-sys-dev 0.7). */
#ifndef SAMPLER_GPU_NVML_READ_H
#define SAMPLER_GPU_NVML_READ_H

#include <stdint.h>

/* ---- the library's interface --------------------------------------------------------------------- */

enum {
	SMP_NVML_SUCCESS,
	SMP_NVML_INVALID_ARGUMENT = 2,
	SMP_NVML_NOT_SUPPORTED = 3,
	SMP_NVML_NO_PERMISSION = 4,
	SMP_NVML_DRIVER_NOT_LOADED = 9,
	SMP_NVML_FUNCTION_NOT_FOUND = 13,
	SMP_NVML_GPU_IS_LOST = 15,
	SMP_NVML_VERSION_MISMATCH = 18,
	SMP_NVML_UNKNOWN = 999,
	/* ours: the GPU is cut into MIG instances, so the whole of it has no such value; a value that cannot be */
	SMP_NVML_MIG = 2000,
	SMP_NVML_IMPOSSIBLE,
};
enum { SMP_NVML_CLOCK_SM = 1, SMP_NVML_CLOCK_MEM };
enum { SMP_NVML_GPU_UTILIZATION_SAMPLES = 1, SMP_NVML_MEMORY_UTILIZATION_SAMPLES };
enum {
	SMP_NVML_FIELD_ENERGY = 83,
	SMP_NVML_FIELD_LINK_TX = 138,
	SMP_NVML_FIELD_LINK_RX = 139,
	SMP_NVML_FIELD_POWER = 186
};

struct smp_nvml_utilization {
	unsigned gpu, memory; /* percent */
};
struct smp_nvml_memory {
	unsigned long long total, free, used;
};
union smp_nvml_value {
	double d;
	unsigned u;
	unsigned long ul;
	unsigned long long ull;
	long long sll;
};
struct smp_nvml_sample {
	unsigned long long stamp_us;
	union smp_nvml_value value;
};
struct smp_nvml_field {
	unsigned field, scope;
	long long stamp_us, latency_us;
	unsigned type; /* of the value: the order of the union */
	int rc;
	union smp_nvml_value value;
};

typedef void *smp_nvml_handle;

/* What does not work without. */
#define SMP_NVML_NEEDED(X) \
	X(Init_v2, (void)) \
	X(Shutdown, (void)) \
	X(DeviceGetCount_v2, (unsigned *)) \
	X(DeviceGetHandleByIndex_v2, (unsigned, smp_nvml_handle *)) \
	X(DeviceGetUUID, (smp_nvml_handle, char *, unsigned))
/* What older drivers may lack. */
#define SMP_NVML_OPTIONAL(X) \
	X(DeviceGetName, (smp_nvml_handle, char *, unsigned)) \
	X(DeviceGetUtilizationRates, (smp_nvml_handle, struct smp_nvml_utilization *)) \
	X(DeviceGetSamples, \
		(smp_nvml_handle, unsigned, unsigned long long, unsigned *, unsigned *, struct smp_nvml_sample *)) \
	X(DeviceGetMemoryInfo, (smp_nvml_handle, struct smp_nvml_memory *)) \
	X(DeviceGetPowerUsage, (smp_nvml_handle, unsigned *)) \
	X(DeviceGetTotalEnergyConsumption, (smp_nvml_handle, unsigned long long *)) \
	X(DeviceGetFieldValues, (smp_nvml_handle, int, struct smp_nvml_field *)) \
	X(DeviceGetClockInfo, (smp_nvml_handle, unsigned, unsigned *)) \
	X(DeviceGetCurrentClocksThrottleReasons, (smp_nvml_handle, unsigned long long *)) \
	X(DeviceGetTemperature, (smp_nvml_handle, unsigned, unsigned *)) \
	X(DeviceGetPcieThroughput, (smp_nvml_handle, unsigned, unsigned *)) \
	X(DeviceGetMigMode, (smp_nvml_handle, unsigned *, unsigned *))

struct smp_nvml_calls {
#define X(call, arguments) int(*call) arguments;
	SMP_NVML_NEEDED(X) SMP_NVML_OPTIONAL(X)
#undef X
};

/* ---- what is read -------------------------------------------------------------------------------- */

enum smp_nvml_item {
	SMP_NVML_BUSY,
	SMP_NVML_MEM_BUSY,
	SMP_NVML_MEM_USED,
	SMP_NVML_MEM_TOTAL,
	SMP_NVML_POWER,
	SMP_NVML_POWER_NOW,
	SMP_NVML_ENERGY,
	SMP_NVML_SM_CLOCK,
	SMP_NVML_MEM_CLOCK,
	SMP_NVML_THROTTLE,
	SMP_NVML_TEMP,
	SMP_NVML_LINK_TX,
	SMP_NVML_LINK_RX,
	SMP_NVML_PCIE_TX, /* each call lasts 20 ms */
	SMP_NVML_PCIE_RX,
	SMP_NVML_ITEMS
};
#define SMP_NVML_SLOW (1u << SMP_NVML_PCIE_TX | 1u << SMP_NVML_PCIE_RX)

struct smp_nvml_reading {
	uint64_t value;
	int64_t age_us; /* when it was read; -1: the library does not say */
	int rc;         /* SMP_NVML_SUCCESS, or why there is no value */
};

enum { SMP_NVML_UUID = 96 };

struct smp_nvml_device {
	char uuid[SMP_NVML_UUID], name[SMP_NVML_UUID];
	smp_nvml_handle handle;
	int lost;
	struct smp_nvml_sample newest[2]; /* of the library's own samples of the utilisation */
	struct smp_nvml_reading reading[SMP_NVML_ITEMS];
};

/* Reads items, a bit each, of a device. nvml_read.c. */
void smp_nvml_read_device(const struct smp_nvml_calls *lib, struct smp_nvml_device *d, unsigned items);

#endif

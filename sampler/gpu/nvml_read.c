/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the values of one NVIDIA GPU (nvml_read.h). What the library refuses, and what cannot be, is no value. */
#include "config.h"
#include "sampler/gpu/nvml_read.h"

#include <stdlib.h>
#include <time.h>

/* OLD_US: what is older than this is not the value of now. MOST_SAMPLES: the library keeps about a hundred. */
enum { OLD_US = 2000000, MOST_SAMPLES = 4096 };
static const int64_t UNKNOWN_AGE_US = 3600ll * 1000000;

/* The largest value that can be. 0xffffffff and the like are the library's ways to say that there is none. */
static const uint64_t most_of_item[SMP_NVML_ITEMS] = {
	[SMP_NVML_BUSY] = 100,
	[SMP_NVML_MEM_BUSY] = 100,
	[SMP_NVML_MEM_USED] = UINT64_C(1) << 50,
	[SMP_NVML_MEM_TOTAL] = UINT64_C(1) << 50,
	[SMP_NVML_POWER] = 10000000,
	[SMP_NVML_POWER_NOW] = 10000000,
	[SMP_NVML_ENERGY] = UINT64_C(10000000000000000),
	[SMP_NVML_SM_CLOCK] = 100000,
	[SMP_NVML_MEM_CLOCK] = 100000,
	[SMP_NVML_THROTTLE] = UINT32_MAX - 1,
	[SMP_NVML_TEMP] = 500,
	[SMP_NVML_LINK_TX] = UINT64_C(1) << 53,
	[SMP_NVML_LINK_RX] = UINT64_C(1) << 53,
	[SMP_NVML_PCIE_TX] = 4000000000,
	[SMP_NVML_PCIE_RX] = 4000000000,
};

static int64_t real_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* -1: the stamp is none of this clock. */
static int64_t age_of_stamp(long long stamp_us)
{
	int64_t age_us = real_now_us() - stamp_us;

	return stamp_us > 0 && age_us >= 0 && age_us < UNKNOWN_AGE_US ? age_us : -1;
}

static void put_nvml_reading(struct smp_nvml_device *d, enum smp_nvml_item item, int rc, uint64_t value, int64_t age_us)
{
	struct smp_nvml_reading *r = &d->reading[item];

	d->lost |= rc == SMP_NVML_GPU_IS_LOST;
	rc = rc == SMP_NVML_SUCCESS && (value > most_of_item[item] || age_us > OLD_US) ? SMP_NVML_IMPOSSIBLE : rc;
	*r = (struct smp_nvml_reading){ rc == SMP_NVML_SUCCESS ? value : 0, age_us, rc };
}

/* Numbers of a field or sample come in the type that the library names. Returns 0, or -1 if it is no count. */
static int count_of_value(unsigned type, const union smp_nvml_value *v, uint64_t *out)
{
	switch (type) {
	case 0:
		if (!(v->d >= 0 && v->d < 1e18)) {
			return -1;
		}
		*out = (uint64_t)v->d;
		return 0;
	case 1:
		*out = v->u;
		return 0;
	case 2:
		*out = v->ul;
		return 0;
	case 3:
		*out = v->ull;
		return 0;
	case 4:
		*out = (uint64_t)v->sll;
		return v->sll < 0 ? -1 : 0;
	default:
		return -1;
	}
}

/* ---- utilisation --------------------------------------------------------------------------------- */

/* The newest of the library's samples, which have a time. Those of before are not asked for again. */
static int newest_sample(const struct smp_nvml_calls *lib, struct smp_nvml_device *d, unsigned kind)
{
	struct smp_nvml_sample *newest = &d->newest[kind - SMP_NVML_GPU_UTILIZATION_SAMPLES], *room = NULL;
	unsigned type = 0, n = 0, got, i;
	uint64_t value;
	int rc;

	if (!lib->DeviceGetSamples) {
		return SMP_NVML_FUNCTION_NOT_FOUND;
	}
	rc = lib->DeviceGetSamples(d->handle, kind, newest->stamp_us, &type, &n, NULL);
	n = n < MOST_SAMPLES ? n : MOST_SAMPLES;
	if (rc == SMP_NVML_SUCCESS && n > 0) {
		room = calloc(n, sizeof(*room));
		got = n;
		rc = room ? lib->DeviceGetSamples(d->handle, kind, newest->stamp_us, &type, &got, room)
			  : SMP_NVML_UNKNOWN;
		for (i = 0; rc == SMP_NVML_SUCCESS && i < got && i < n; i++) {
			if (room[i].stamp_us > newest->stamp_us && age_of_stamp((long long)room[i].stamp_us) >= 0 &&
				count_of_value(type, &room[i].value, &value) == 0) {
				newest->stamp_us = room[i].stamp_us;
				newest->value.ull = value;
			}
		}
		free(room);
	}
	return rc;
}

/* 1: only instances of the GPU are used, and what the library says of the whole GPU means nothing. */
static int is_mig_on(const struct smp_nvml_calls *lib, const struct smp_nvml_device *d)
{
	unsigned now = 0, later = 0;

	return lib->DeviceGetMigMode && lib->DeviceGetMigMode(d->handle, &now, &later) == SMP_NVML_SUCCESS && now == 1;
}

static void read_utilization(const struct smp_nvml_calls *lib, struct smp_nvml_device *d, unsigned items)
{
	int mig = is_mig_on(lib, d), asked = 0, rc = SMP_NVML_FUNCTION_NOT_FOUND, k;
	struct smp_nvml_utilization u = { 0, 0 };

	for (k = 0; k < 2; k++) {
		enum smp_nvml_item item = k ? SMP_NVML_MEM_BUSY : SMP_NVML_BUSY;
		int64_t age_us;

		if (!(items & 1u << item)) {
			continue;
		}
		if (mig) {
			put_nvml_reading(d, item, SMP_NVML_MIG, 0, -1);
			continue;
		}
		d->lost |=
			newest_sample(lib, d, SMP_NVML_GPU_UTILIZATION_SAMPLES + (unsigned)k) == SMP_NVML_GPU_IS_LOST;
		age_us = age_of_stamp((long long)d->newest[k].stamp_us);
		if (age_us >= 0 && age_us <= OLD_US && d->newest[k].value.ull <= 100) {
			put_nvml_reading(d, item, SMP_NVML_SUCCESS, d->newest[k].value.ull, age_us);
			continue;
		}
		if (!asked && lib->DeviceGetUtilizationRates) {
			rc = lib->DeviceGetUtilizationRates(d->handle, &u);
		}
		asked = 1;
		put_nvml_reading(d, item, rc, k ? u.memory : u.gpu, -1);
	}
}

/* ---- what has calls of its own ------------------------------------------------------------------- */

/* A call that gives one number. */
#define NUMBER_BY(call, type, ...) \
	do { \
		type v_ = 0; \
		int rc_ = lib->call ? lib->call(d->handle, __VA_ARGS__ & v_) : SMP_NVML_FUNCTION_NOT_FOUND; \
		put_nvml_reading(d, item, rc_, v_, -1); \
	} while (0)
#define COMMA ,

static void read_nvml_number(const struct smp_nvml_calls *lib, struct smp_nvml_device *d, enum smp_nvml_item item)
{
	switch ((int)item) {
	case SMP_NVML_POWER:
		NUMBER_BY(DeviceGetPowerUsage, unsigned, );
		break;
	case SMP_NVML_SM_CLOCK:
		NUMBER_BY(DeviceGetClockInfo, unsigned, SMP_NVML_CLOCK_SM COMMA);
		break;
	case SMP_NVML_MEM_CLOCK:
		NUMBER_BY(DeviceGetClockInfo, unsigned, SMP_NVML_CLOCK_MEM COMMA);
		break;
	case SMP_NVML_THROTTLE:
		NUMBER_BY(DeviceGetCurrentClocksThrottleReasons, unsigned long long, );
		break;
	case SMP_NVML_TEMP:
		NUMBER_BY(DeviceGetTemperature, unsigned, 0 COMMA);
		break;
	case SMP_NVML_PCIE_TX:
		NUMBER_BY(DeviceGetPcieThroughput, unsigned, 0 COMMA);
		break;
	case SMP_NVML_PCIE_RX:
		NUMBER_BY(DeviceGetPcieThroughput, unsigned, 1 COMMA);
		break;
	default:
		break;
	}
}

static void read_nvml_memory(const struct smp_nvml_calls *lib, struct smp_nvml_device *d, unsigned items)
{
	struct smp_nvml_memory m = { 0, 0, 0 };
	int rc = lib->DeviceGetMemoryInfo ? lib->DeviceGetMemoryInfo(d->handle, &m) : SMP_NVML_FUNCTION_NOT_FOUND;

	rc = rc == SMP_NVML_SUCCESS && (m.total == 0 || m.used > m.total) ? SMP_NVML_IMPOSSIBLE : rc;
	if (items & 1u << SMP_NVML_MEM_USED) {
		put_nvml_reading(d, SMP_NVML_MEM_USED, rc, m.used, -1);
	}
	if (items & 1u << SMP_NVML_MEM_TOTAL) {
		put_nvml_reading(d, SMP_NVML_MEM_TOTAL, rc, m.total, -1);
	}
}

/* ---- fields, which have a time ------------------------------------------------------------------- */

static const struct {
	enum smp_nvml_item item;
	unsigned field, scope;
} field_of[] = {
	{ SMP_NVML_POWER_NOW, SMP_NVML_FIELD_POWER, 0 },
	{ SMP_NVML_ENERGY, SMP_NVML_FIELD_ENERGY, 0 },
	/* of all links together */
	{ SMP_NVML_LINK_TX, SMP_NVML_FIELD_LINK_TX, UINT32_MAX },
	{ SMP_NVML_LINK_RX, SMP_NVML_FIELD_LINK_RX, UINT32_MAX },
};
enum { FIELDS = sizeof(field_of) / sizeof(field_of[0]) };

static void read_nvml_fields(const struct smp_nvml_calls *lib, struct smp_nvml_device *d, unsigned items)
{
	struct smp_nvml_field f[FIELDS] = { { .field = 0 } };
	int n = 0, rc, i, from[FIELDS];
	uint64_t value;

	for (i = 0; i < FIELDS; i++) {
		if (items & 1u << field_of[i].item) {
			f[n] = (struct smp_nvml_field){
				.field = field_of[i].field, .scope = field_of[i].scope, .rc = SMP_NVML_UNKNOWN
			};
			from[n++] = i;
		}
	}
	rc = lib->DeviceGetFieldValues ? lib->DeviceGetFieldValues(d->handle, n, f) : SMP_NVML_FUNCTION_NOT_FOUND;
	for (i = 0; i < n; i++) {
		value = 0;
		f[i].rc = rc != SMP_NVML_SUCCESS ? rc : f[i].rc;
		if (f[i].rc == SMP_NVML_SUCCESS && count_of_value(f[i].type, &f[i].value, &value) < 0) {
			f[i].rc = SMP_NVML_IMPOSSIBLE;
		}
		put_nvml_reading(d, field_of[from[i]].item, f[i].rc, value, age_of_stamp(f[i].stamp_us));
	}
}

/* Drivers that have no such field may still have the call. */
static void read_energy_by_call(const struct smp_nvml_calls *lib, struct smp_nvml_device *d)
{
	enum smp_nvml_item item = SMP_NVML_ENERGY;

	if (d->reading[item].rc == SMP_NVML_NOT_SUPPORTED || d->reading[item].rc == SMP_NVML_FUNCTION_NOT_FOUND ||
		d->reading[item].rc == SMP_NVML_INVALID_ARGUMENT) {
		NUMBER_BY(DeviceGetTotalEnergyConsumption, unsigned long long, );
	}
}

void smp_nvml_read_device(const struct smp_nvml_calls *lib, struct smp_nvml_device *d, unsigned items)
{
	const unsigned fields =
		1u << SMP_NVML_POWER_NOW | 1u << SMP_NVML_ENERGY | 1u << SMP_NVML_LINK_TX | 1u << SMP_NVML_LINK_RX;
	unsigned i;

	if (items & (1u << SMP_NVML_BUSY | 1u << SMP_NVML_MEM_BUSY)) {
		read_utilization(lib, d, items);
	}
	if (items & (1u << SMP_NVML_MEM_USED | 1u << SMP_NVML_MEM_TOTAL)) {
		read_nvml_memory(lib, d, items);
	}
	if (items & fields) {
		read_nvml_fields(lib, d, items);
	}
	if (items & 1u << SMP_NVML_ENERGY) {
		read_energy_by_call(lib, d);
	}
	for (i = 0; i < SMP_NVML_ITEMS; i++) {
		if (items & 1u << i) {
			read_nvml_number(lib, d, (enum smp_nvml_item)i);
		}
	}
	for (i = 0; d->lost && i < SMP_NVML_ITEMS; i++) {
		put_nvml_reading(d, (enum smp_nvml_item)i, SMP_NVML_GPU_IS_LOST, 0, -1);
	}
}

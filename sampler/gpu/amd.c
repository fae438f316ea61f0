/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of AMD's GPUs, as their driver amdgpu shows them in /sys: what rocm-smi prints comes from the same files. Other drivers with
 * a file of the same name and unit are read, too: i915 and xe have energy1_input. The kernel gives no time with these values. */
#include "config.h"
#include "sampler/sources/device.h"

#include <stdlib.h>

/* ---- files of a card ----------------------------------------------------------------------------- */

static const char class_folder[] = "/sys/class/drm";

struct hwmon_search {
	const char *card, *file;
	struct tkm_printed *path;
};

static int take_hwmon_folder(const char *folder, void *ctx)
{
	const struct hwmon_search *h = ctx;

	return tkm_printed(h->path, "%s/%s/device/hwmon/%s/%s", class_folder, h->card, folder, h->file) ? 1 : 0;
}

/* "hwmon/FILE" is in the card's only folder below hwmon/, whose number differs from boot to boot. */
static const char *card_path(int root, const char *name, const char *file, struct tkm_printed *path)
{
	struct hwmon_search h = { name, file + strlen("hwmon/"), path };
	struct tkm_printed folder = { 0 };
	int found = 0;

	if (strncmp(file, "hwmon/", strlen("hwmon/")) != 0) {
		return tkm_printed(path, "%s/%s/device/%s", class_folder, name, file);
	}
	if (tkm_printed(&folder, "%s/%s/device/hwmon", class_folder, name)) {
		found = smp_dir_each(root, folder.text, take_hwmon_folder, &h);
	}
	free(folder.text);
	return found > 0 ? path->text : NULL;
}

/* ---- counters ------------------------------------------------------------------------------------ */

enum { BUSY = 1, MEM_BUSY, MEM_USED, MEM_TOTAL, POWER, POWER_INPUT, ENERGY, N_VALUES };
enum { TEMP = 1, CLOCK, MEM_CLOCK, N_SENSORS };

#define NUMBER(f, m, ...) \
	{ \
		f, .at = {.where = SMP_WORD, .nth = 1, .most = m, .can = { __VA_ARGS__ } } \
	}
/* What is above is what a driver shows that knows nothing: 10 kW, 1 PiB, 500 degC, 100 GHz. */
#define MOST_UW 10000000000
#define MOST_BYTES (UINT64_C(1) << 50)
#define MOST_MDEGC 500000
#define MOST_HZ 100000000000
/* clang-format off */
static const struct smp_device_value value[N_VALUES] = {
	[BUSY] = NUMBER("gpu_busy_percent", 100, 0),
	[MEM_BUSY] = NUMBER("mem_busy_percent", 100, 0),
	[MEM_USED] = NUMBER("mem_info_vram_used", MOST_BYTES, 0),
	[MEM_TOTAL] = NUMBER("mem_info_vram_total", MOST_BYTES, 0),
	/* since Linux 6.5 some have the second file only */
	[POWER] = NUMBER("hwmon/power1_average", MOST_UW, 0),
	[POWER_INPUT] = { "hwmon/power1_input", .at = { .where = SMP_WORD, .nth = 1, .most = MOST_UW }, .instead = 1 },
	/* it has 64 bits, so a fall is no turn */
	[ENERGY] = NUMBER("hwmon/energy1_input", 0, .fastest = MOST_UW, .turn = UINT64_MAX),
};
static const struct smp_device_value sensor[N_SENSORS] = {
	[TEMP] = NUMBER("hwmon/temp1_input", MOST_MDEGC, 0),
	[CLOCK] = NUMBER("hwmon/freq1_input", MOST_HZ, 0),
	[MEM_CLOCK] = NUMBER("hwmon/freq2_input", MOST_HZ, 0),
};

#define CARDS .folder = { class_folder, NULL }, .begins = "card", .noun = "GPU", .nouns = "GPUs", .path = card_path, .identity = "unique_id"
static const struct smp_device_kind gpus = { CARDS, .value = value, .n_values = N_VALUES,
	.none = "no GPU in /sys/class/drm counts this: amdgpu does. nvml_* are those of NVIDIA's GPUs; those of Intel are read "
		"by a library of their own (Level Zero), which a PLUGIN can call" };
/* clang-format on */

static int is_summed(int root, const char *name)
{
	(void)root;
	(void)name;
	return 0;
}

/* clang-format off */
static const struct smp_device_kind sensors = { CARDS, .value = sensor, .n_values = N_SENSORS, .own = is_summed,
	.none = "temperatures and clocks are not added up: with :* after the name they are those of each GPU of amdgpu" };

static const struct smp_device_counter counters[] = {
	{ &gpus, "gpu_busy", "percent", "share of its time in which a GPU computes, as its driver estimates it, summed over GPUs", SMP_LEVEL, 0, NULL, { BUSY, 0 } },
	{ &gpus, "gpu_mem_busy", "percent", "share of its time in which a GPU's memory is used, as its driver estimates it, summed over GPUs", SMP_LEVEL, 0, NULL, { MEM_BUSY, 0 } },
	{ &gpus, "gpu_mem_used", "bytes", "memory of GPUs that is in use", SMP_LEVEL, 1.0 / 1048576, "MB", { MEM_USED, 0 } },
	{ &gpus, "gpu_mem_total", "bytes", "memory of GPUs", SMP_LEVEL, 1.0 / 1048576, "MB", { MEM_TOTAL, 0 } },
	{ &gpus, "gpu_power", "uW", "power of GPUs: averaged by the firmware, or of now where it has no mean", SMP_LEVEL, 1e-6, "W", { POWER, 0 } },
	{ &gpus, "gpu_energy", "uJ", "energy used by GPUs", SMP_TOTAL, 1e-6, "W", { ENERGY, 0 } },
	{ &sensors, "gpu_temp", "mdegC", "temperature of a GPU", SMP_LEVEL, 1e-3, "degC", { TEMP, 0 } },
	{ &sensors, "gpu_clock", "Hz", "clock of a GPU's compute units", SMP_LEVEL, 1e-6, "MHz", { CLOCK, 0 } },
	{ &sensors, "gpu_mem_clock", "Hz", "clock of a GPU's memory", SMP_LEVEL, 1e-6, "MHz", { MEM_CLOCK, 0 } },
};
/* clang-format on */
static const struct smp_device_source source = { counters, sizeof(counters) / sizeof(counters[0]) };

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	(void)why;
	return smp_device_list(&source, env, hint, each, ctx);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	(void)target;
	return smp_device_open(&source, env, names, n, why_each, why);
}

static uint64_t mark(const struct smp_env *env)
{
	return smp_device_mark(&gpus, env);
}

const struct smp_source smp_amd = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "amd",
	.what = "GPUs of AMD, by their driver amdgpu, and others with the same files, of the node",
	.list = list,
	.open = open_set,
	.read = smp_device_read,
	.close = smp_device_close,
	.mark = mark,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sensors of /sys/class/hwmon: power, energy and temperature, by "CHIP.hwmonN.SENSOR". They are not added up, since one sensor may
 * contain another. The kernel gives no time with these values. */
#include "config.h"
#include "sampler/sources/device.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/rootfs.h"

static const char class_folder[] = "/sys/class/hwmon";

/* ---- sensors ------------------------------------------------------------------------------------- */

struct sensor_visit {
	const char *begins, *folder; /* "power", "hwmon3" */
	char chip[64];
	int (*each)(const char *name, void *ctx);
	void *ctx;
	int root, rc;
	struct tkm_printed path, name;
};

/* "power1_input", or "power1_average" where there is no input. */
static int visit_sensor_file(const char *file, void *ctx)
{
	struct sensor_visit *v = ctx;
	size_t begins = strlen(v->begins);
	char end[16] = "";
	unsigned n = 0;
	const char *name;

	if (strncmp(file, v->begins, begins) != 0 || sscanf(file + begins, "%6u_%15s", &n, end) != 2 ||
		(strcmp(end, "input") != 0 && strcmp(end, "average") != 0)) {
		return 0;
	}
	if (strcmp(end, "average") == 0) {
		name = tkm_printed(&v->path, "%s/%s/%s%u_input", class_folder, v->folder, v->begins, n);
		if (!name || smp_exists(v->root, name)) {
			return 0;
		}
	}
	name = tkm_printed(&v->name, "%s.%s.%s%u", v->chip, v->folder, v->begins, n);
	v->rc = name ? v->each(name, v->ctx) : 0;
	return v->rc;
}

static int visit_chip(const char *folder, void *ctx)
{
	struct sensor_visit *v = ctx;
	const char *path = tkm_printed(&v->path, "%s/%s/name", class_folder, folder);

	v->folder = folder;
	if (!path || !tkm_root_line(v->root, path, v->chip, sizeof(v->chip)) || !v->chip[0] || strchr(v->chip, ':')) {
		return 0;
	}
	path = tkm_printed(&v->path, "%s/%s", class_folder, folder);
	if (path) {
		/* visit_sensor_file() prints another path */
		char *copy = strdup(path);

		if (copy) {
			smp_dir_each(v->root, copy, visit_sensor_file, v);
		}
		free(copy);
	}
	return v->rc;
}

static int visit_sensors(const char *begins, int root, int (*each)(const char *name, void *ctx), void *ctx)
{
	struct sensor_visit v = { .begins = begins, .each = each, .ctx = ctx, .root = root };
	int rc = smp_dir_each(root, class_folder, visit_chip, &v);

	free(v.path.text);
	free(v.name.text);
	return rc;
}

#define NAMES(which) \
	static int names_of_##which(int root, int (*each)(const char *name, void *ctx), void *ctx) \
	{ \
		return visit_sensors(#which, root, each, ctx); \
	}
NAMES(power)
NAMES(energy)
NAMES(temp)

/* file: what follows the sensor's name, "_input". */
static const char *sensor_path(int root, const char *name, const char *file, struct tkm_printed *path)
{
	const char *sensor = strrchr(name, '.'), *folder = sensor;

	(void)root;
	while (folder && folder > name && folder[-1] != '.') {
		folder--;
	}
	if (!folder || folder == name) {
		return tkm_printed(path, "%s/%s", class_folder, name);
	}
	return tkm_printed(path, "%s/%.*s/%s%s", class_folder, (int)(sensor - folder), folder, sensor + 1, file);
}

static int is_summed(int root, const char *name)
{
	(void)root;
	(void)name;
	return 0;
}

/* ---- counters ------------------------------------------------------------------------------------ */

/* What is above 100 kW and 500 degC is what a driver shows that knows nothing. */
#define MOST_UW 100000000000
#define MOST_MDEGC 500000
/* clang-format off */
static const struct smp_device_value power_value[] = { { .file = NULL },
	{ "_average", .at = { .where = SMP_WORD, .nth = 1, .most = MOST_UW } }, { "_input", .at = { .where = SMP_WORD, .nth = 1, .most = MOST_UW }, .instead = 1 } };
/* drivers extend the hardware's counts to 64 bits, so a fall is no turn */
static const struct smp_device_value energy_value[] = { { .file = NULL },
	{ "_input", .at = { .where = SMP_WORD, .nth = 1, .can = { .fastest = MOST_UW, .turn = UINT64_MAX } } } };
static const struct smp_device_value temp_value[] = { { .file = NULL }, { "_input", .at = { .where = SMP_WORD, .nth = 1, .most = MOST_MDEGC } } };

#define SENSORS(which) \
	{ .folder = { class_folder, NULL }, .begins = "", .noun = "sensor", .nouns = "sensors", .value = which##_value, \
		.n_values = sizeof(which##_value) / sizeof(which##_value[0]), .names = names_of_##which, .path = sensor_path, .own = is_summed, \
		.none = "sensors are not added up, since one may contain another: hwmon_" #which ":* are those of this machine" }
static const struct smp_device_kind powers = SENSORS(power), energies = SENSORS(energy), temps = SENSORS(temp);

static const struct smp_device_counter counters[] = {
	{ &powers, "hwmon_power", "uW", "power at %s", SMP_LEVEL, 1e-6, "W", { 1, 0 } },
	{ &energies, "hwmon_energy", "uJ", "energy counted by %s", SMP_TOTAL, 1e-6, "W", { 1, 0 } },
	{ &temps, "hwmon_temp", "mdegC", "temperature at %s", SMP_LEVEL, 1e-3, "degC", { 1, 0 } },
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

const struct smp_source smp_hwmon = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "hwmon",
	.what = "sensors of power, energy and temperature, of the node",
	.list = list,
	.open = open_set,
	.read = smp_device_read,
	.close = smp_device_close,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of NUMA nodes, memory controllers, throttling of CPUs, and mounts of Lustre. */
#include "config.h"
#include "sampler/sources/device.h"

/* clang-format off */
#define NUMBER(f, most) { f, .at = { .where = SMP_WORD, .nth = 1, .can = { .fastest = most } } }
#define LABEL(f, l, n, most) { f, .at = { .where = SMP_LABEL, .label = l " ", .nth = n, .can = { .fastest = most } } }
/* a line comes with the first use; "snapshot_time" is always there */
#define LUSTRE(l, n, most) \
	{ "stats", .at = { .where = SMP_LABEL, .label = l " ", .nth = n, .without = "snapshot_time", .can = { .fastest = most } } }
static const struct smp_device_value numa_value[] = { { .file = NULL },
	LABEL("numastat", "numa_hit", 1, 10000000000), LABEL("numastat", "numa_miss", 1, 10000000000),
	LABEL("numastat", "numa_foreign", 1, 10000000000), LABEL("numastat", "local_node", 1, 10000000000),
	LABEL("numastat", "other_node", 1, 10000000000) };
static const struct smp_device_value edac_value[] = { { .file = NULL }, NUMBER("ce_count", 1000000000), NUMBER("ue_count", 1000000000) };
static const struct smp_device_value cpu_value[] = { { .file = NULL },
	NUMBER("thermal_throttle/core_throttle_count", 1000000), NUMBER("thermal_throttle/package_throttle_count", 1000000) };
static const struct smp_device_value lustre_value[] = { { .file = NULL },
	LUSTRE("read_bytes", 6, 1000000000000), LUSTRE("write_bytes", 6, 1000000000000),
	LUSTRE("read_bytes", 1, 10000000000), LUSTRE("write_bytes", 1, 10000000000),
	LUSTRE("open", 1, 10000000000), LUSTRE("getattr", 1, 10000000000) };
/* clang-format on */
#define VALUES(v) .value = v, .n_values = sizeof(v) / sizeof((v)[0])

static const struct smp_device_kind numa = { { "/sys/devices/system/node", NULL }, "node", "NUMA node", "NUMA nodes",
	.none = "there is no /sys/devices/system/node: this kernel was built without NUMA", VALUES(numa_value) };
static const struct smp_device_kind edac = { { "/sys/devices/system/edac/mc", NULL }, "mc", "memory controller",
	"memory controllers",
	.none = "no memory controller reports errors: no EDAC driver is loaded, or this is a virtual machine",
	VALUES(edac_value) };
static const struct smp_device_kind cpus = { { "/sys/devices/system/cpu", NULL }, "cpu", "CPU", "CPUs",
	.none = "no CPU has a thermal_throttle folder: not an Intel processor, or a virtual machine",
	VALUES(cpu_value) };
static const struct smp_device_kind lustre = { { "/proc/fs/lustre/llite", "/sys/kernel/debug/lustre/llite" }, "",
	"mount", "mounts", .none = "no Lustre file system is mounted, or its statistics are for root only",
	VALUES(lustre_value) };
/* clang-format off */
#define OF(k, n, u, w, i) { k, n, u, w, SMP_TOTAL, 0, NULL, { i, 0 } }
static const struct smp_device_counter counters[] = {
	OF(&numa, "numa_hit", "pages", "pages allocated on the NUMA node that was wanted", 1),
	OF(&numa, "numa_miss", "pages", "pages allocated on this NUMA node although another one was wanted", 2),
	OF(&numa, "numa_foreign", "pages", "pages wanted from this NUMA node and allocated on another one", 3),
	OF(&numa, "local_node", "pages", "pages allocated on the NUMA node where the process ran", 4),
	OF(&numa, "other_node", "pages", "pages allocated on this NUMA node for a process that ran on another one", 5),
	OF(&edac, "edac_corrected", "errors", "memory errors that were corrected", 1),
	OF(&edac, "edac_uncorrected", "errors", "memory errors that could not be corrected", 2),
	OF(&cpus, "throttle_core", "times", "times that a core was slowed down for its temperature, as each of its CPUs counts it", 1),
	OF(&cpus, "throttle_package", "times", "times that a package was slowed down for its temperature, as each of its CPUs counts it", 2),
	{ &lustre, "lustre_read", "bytes", "bytes that this client read from Lustre", SMP_TOTAL, 1.0 / 1024, "KB/s", { 1, 0 } },
	{ &lustre, "lustre_write", "bytes", "bytes that this client wrote to Lustre", SMP_TOTAL, 1.0 / 1024, "KB/s", { 2, 0 } },
	OF(&lustre, "lustre_ops_read", "calls", "reads of this client from Lustre", 3),
	OF(&lustre, "lustre_ops_write", "calls", "writes of this client to Lustre", 4),
	OF(&lustre, "lustre_ops_open", "calls", "files that this client opened on Lustre", 5),
	OF(&lustre, "lustre_ops_getattr", "calls", "attributes that this client asked Lustre for", 6),
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

/* NUMA nodes and CPUs are there from the start. */
static uint64_t mark(const struct smp_env *env)
{
	return smp_device_mark(&edac, env) + 3 * smp_device_mark(&lustre, env);
}

const struct smp_source smp_group = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "group",
	.what = "NUMA, memory errors, throttling and Lustre, of the node",
	.list = list,
	.open = open_set,
	.read = smp_device_read,
	.close = smp_device_close,
	.mark = mark,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the whole node and the job's cgroup do: memory, load, pressure, cgroup v2 accounting. */
#include "config.h"
#include "sampler/text.h"

#include <errno.h>
#include <unistd.h>

#include "base/rootfs.h"

enum { MEMINFO, VMSTAT, LOADAVG, PSI_CPU, PSI_MEMORY, PSI_IO, CG_CPU, CG_MEMORY, CG_IO, N_FILES };

#define TOTAL .kind = SMP_TOTAL
#define LEVEL .kind = SMP_LEVEL
#define MEM(n, w, l) \
	{ \
		n, "bytes", w, LEVEL, .file = MEMINFO, .where = SMP_LABEL, .label = l, .scale = 1024, \
				      .factor = 1.0 / 1048576, .shown_unit = "MB" \
	}
#define VM(n, u, w, l) \
	{ \
		n, u, w, TOTAL, .file = VMSTAT, .where = SMP_LABEL, .label = l \
	}
#define PSI(n, w, f, l) \
	{ \
		n, "us", w, TOTAL, .file = f, .where = SMP_KEY, .label = l, .key = "total=", .factor = 1e-4, \
				   .shown_unit = "percent" \
	}
#define RATE_KB .factor = 1.0 / 1024, .shown_unit = "KB/s"

/* clang-format off */
static const struct smp_text_counter counters[] = {
	MEM("mem_free", "memory of the node that nobody uses", "MemFree:"),
	MEM("mem_available", "memory of the node that programs could have without swapping", "MemAvailable:"),
	MEM("mem_cached", "memory of the node that holds cached files", "Cached:"),
	MEM("mem_dirty", "memory of the node that waits to be written to disk", "Dirty:"),
	MEM("mem_anon", "memory of the node that programs have allocated", "AnonPages:"),
	MEM("swap_free", "swap space that nobody uses", "SwapFree:"),
	VM("node_faults", "faults", "page faults of all processes", "pgfault "),
	VM("node_majfaults", "faults", "page faults of all processes with I/O", "pgmajfault "),
	VM("swap_in", "pages", "pages swapped in", "pswpin "),
	VM("swap_out", "pages", "pages swapped out", "pswpout "),
	VM("oom_kills", "kills", "processes killed because memory ran out", "oom_kill "),
	{ "load_1", "tasks", "tasks that run or wait for disk, mean of about 1 minute", LEVEL, SMP_F64, .file = LOADAVG, .where = SMP_DECIMAL, .nth = 1 },
	{ "load_5", "tasks", "tasks that run or wait for disk, mean of about 5 minutes", LEVEL, SMP_F64, .file = LOADAVG, .where = SMP_DECIMAL, .nth = 2 },
	PSI("psi_cpu", "time in which some task waited for a CPU", PSI_CPU, "some"),
	PSI("psi_mem", "time in which some task waited for memory", PSI_MEMORY, "some"),
	PSI("psi_mem_full", "time in which all tasks waited for memory", PSI_MEMORY, "full"),
	PSI("psi_io", "time in which some task waited for I/O", PSI_IO, "some"),
	PSI("psi_io_full", "time in which all tasks waited for I/O", PSI_IO, "full"),
	{ "cgroup_usr", "us", "CPU time of the job's cgroup in user code", TOTAL, .file = CG_CPU, .where = SMP_LABEL, .label = "user_usec ", .factor = 1e-4, .shown_unit = "percent" },
	{ "cgroup_sys", "us", "CPU time of the job's cgroup in system code", TOTAL, .file = CG_CPU, .where = SMP_LABEL, .label = "system_usec ", .factor = 1e-4, .shown_unit = "percent" },
	{ "cgroup_throttled", "us", "time that the job's cgroup was held back by its CPU limit", TOTAL, .file = CG_CPU, .where = SMP_LABEL, .label = "throttled_usec ", .factor = 1e-4, .shown_unit = "percent" },
	{ "cgroup_mem", "bytes", "memory of the job's cgroup", LEVEL, .file = CG_MEMORY, .where = SMP_WORD, .nth = 1, .factor = 1.0 / 1048576, .shown_unit = "MB" },
	{ "cgroup_read", "bytes", "read from disks by the job's cgroup", TOTAL, .file = CG_IO, .where = SMP_SUM, .key = "rbytes=", RATE_KB },
	{ "cgroup_write", "bytes", "written to disks by the job's cgroup", TOTAL, .file = CG_IO, .where = SMP_SUM, .key = "wbytes=", RATE_KB },
};
/* clang-format on */

/* clang-format off */
static const char *const file_path[N_FILES] = {
	[MEMINFO] = "/proc/meminfo", [VMSTAT] = "/proc/vmstat", [LOADAVG] = "/proc/loadavg",
	[PSI_CPU] = "/proc/pressure/cpu", [PSI_MEMORY] = "/proc/pressure/memory", [PSI_IO] = "/proc/pressure/io",
	[CG_CPU] = "cpu.stat", [CG_MEMORY] = "memory.current", [CG_IO] = "io.stat",
};
/* clang-format on */

/* The line "0::/path" of /proc/self/cgroup is the one of cgroup v2. Returns 0 or -1. */
static int own_cgroup(int root, char *buf, size_t size)
{
	char text[4096], *line = text;

	if (root < 0 || tkm_root_read(root, "/proc/self/cgroup", text, sizeof(text)) < 0) {
		return -1;
	}
	while (line && strncmp(line, "0::", 3) != 0) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	if (!line) {
		return -1;
	}
	line[strcspn(line, "\n")] = '\0';
	return (size_t)snprintf(buf, size, "%s", line + 3) < size ? 0 : -1;
}

/* Where cgroup v2 is mounted: alone, or beside version 1. */
static const char *cgroup_mount(int root)
{
	return root >= 0 && !smp_exists(root, "/sys/fs/cgroup/cgroup.controllers") &&
			smp_exists(root, "/sys/fs/cgroup/unified/cgroup.controllers")
		? "/sys/fs/cgroup/unified"
		: "/sys/fs/cgroup";
}

static int cgroup_path(const struct smp_env *env, int file, char *buf, size_t size, char why[SMP_TEXT])
{
	char group[160] = "/";
	int root = smp_root(env), rc = 0;

	if (env->cgroup) {
		snprintf(group, sizeof(group), "%s", env->cgroup);
	} else {
		rc = own_cgroup(root, group, sizeof(group));
	}
	if (rc < 0) {
		smp_why(why, "this process is in no cgroup of version 2; cgroup v1 is not read");
	} else if ((size_t)snprintf(buf, size, "%s%s%s/%s", cgroup_mount(root), group[0] == '/' ? "" : "/",
			   strcmp(group, "/") == 0 ? "" : group, file_path[file]) >= size) {
		rc = smp_why(why, "the name of the cgroup is too long");
	}
	if (root >= 0) {
		close(root);
	}
	return rc;
}

static int path(const struct smp_env *env, const struct smp_target *target, int file, char *buf, size_t size,
	char why[SMP_TEXT])
{
	(void)target;
	if (file >= CG_CPU) {
		return cgroup_path(env, file, buf, size, why);
	}
	snprintf(buf, size, "%s", file_path[file]);
	return 0;
}

static void missing(const struct smp_env *env, int file, const char *at, int errnum, char why[SMP_TEXT])
{
	char text[64];

	(void)env;
	if (errnum == 0) {
		smp_why(why, "%.120s has no such number: this kernel does not count it", at);
	} else if (file >= CG_CPU) {
		smp_why(why,
			"no %.120s: the controller is not enabled for this cgroup (cgroup.subtree_control of its "
			"parent)",
			at);
	} else if (file >= PSI_CPU && (errnum == ENOENT || errnum == EOPNOTSUPP)) {
		smp_why(why, "no %s: boot with psi=1, or this kernel was built without CONFIG_PSI", at);
	} else {
		smp_why(why, "%.120s: %s", at, smp_errno(errnum, text, sizeof(text)));
	}
}

static const struct smp_text_source source = { counters, sizeof(counters) / sizeof(counters[0]), "", N_FILES, path,
	missing };

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	return smp_text_list(&source, env, hint, each, ctx, why);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	return smp_text_open(&source, env, target, names, n, why_each, why);
}

const struct smp_source smp_node = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "node",
	.what = "memory, load and pressure of the node, and the job's cgroup",
	.list = list,
	.open = open_set,
	.read = smp_text_read,
	.close = smp_text_close,
};

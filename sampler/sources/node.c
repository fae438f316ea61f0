/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of the whole node and of the job's cgroup: memory, load, pressure, cgroup accounting (versions 1 and 2). */
#include "config.h"
#include "sampler/sources/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rootfs.h"

enum {
	MEMINFO,
	VMSTAT,
	LOADAVG,
	STAT,
	SNMP,
	NETSTAT,
	NFS,
	PSI_CPU,
	PSI_MEMORY,
	PSI_IO,
	CG_CPU, /* cgroup v2 from here on */
	CG_MEMORY,
	CG_IO,
	CG_PSI_CPU,
	CG_PSI_MEMORY,
	CG_PSI_IO,
	CG1_CPU, /* cgroup v1 from here on */
	CG1_THROTTLED,
	CG1_MEMORY,
	CG1_IO,
	N_FILES
};

#define TOTAL .kind = SMP_TOTAL
#define LEVEL .kind = SMP_LEVEL
/* clang-format off */
#define MEM(n, w, l) \
	{ n, "bytes", w, LEVEL, .file = MEMINFO, .where = SMP_LABEL, .label = l, .scale = 1024, \
		.factor = 1.0 / 1048576, .shown_unit = "MB" }
#define VM(n, u, w, l) { n, u, w, TOTAL, .file = VMSTAT, .where = SMP_LABEL, .label = l }
#define COUNT(n, u, w, f, l, i) { n, u, w, TOTAL, .file = f, .where = SMP_LABEL, .label = l, .nth = i }
#define COLUMN(n, u, w, f, l, k) { n, u, w, TOTAL, .file = f, .where = SMP_COLUMN, .label = l, .key = k }
#define PSI(n, w, f, l) \
	{ n, "us", w, TOTAL, .can = { .fastest = 1100000 }, .file = f, .where = SMP_KEY, .label = l, .key = "total=", .factor = 1e-4, \
		.shown_unit = "percent" }
/* clang-format on */
#define RATE_KB .factor = 1.0 / 1024, .shown_unit = "KB/s"

/* clang-format off */
static const struct smp_text_counter counters[] = {
	MEM("mem_free", "unused memory of the node", "MemFree:"),
	MEM("mem_available", "memory of the node that programs could have without swapping", "MemAvailable:"),
	MEM("mem_cached", "memory of the node that holds cached files", "Cached:"),
	MEM("mem_dirty", "memory of the node that waits to be written to disk", "Dirty:"),
	MEM("mem_anon", "memory of the node that programs have allocated", "AnonPages:"),
	MEM("swap_free", "unused swap space", "SwapFree:"),
	VM("node_faults", "faults", "page faults of all processes", "pgfault "),
	VM("node_majfaults", "faults", "page faults of all processes with I/O", "pgmajfault "),
	VM("swap_in", "pages", "pages swapped in", "pswpin "),
	VM("swap_out", "pages", "pages swapped out", "pswpout "),
	VM("oom_kills", "kills", "processes killed because memory ran out", "oom_kill "),
	VM("reclaim_kswapd", "pages", "pages that the kernel's thread reclaimed", "pgsteal_kswapd "),
	VM("reclaim_direct", "pages", "pages that processes had to reclaim themselves, which delays them", "pgsteal_direct "),
	VM("reclaim_scanned", "pages", "pages that processes looked at to reclaim memory", "pgscan_direct "),
	VM("compact_stall", "times", "times that a process waited while memory was made contiguous", "compact_stall "),
	VM("thp_fault", "pages", "huge pages given to processes at a page fault", "thp_fault_alloc "),
	VM("thp_collapse", "pages", "huge pages made from small ones in the background", "thp_collapse_alloc "),
	VM("thp_split", "pages", "huge pages that were split", "thp_split_page "),
	VM("numa_migrated", "pages", "pages that the kernel moved to another NUMA node", "numa_pages_migrated "),
	MEM("mem_slab", "memory of the node that the kernel's own objects take", "Slab:"),
	MEM("mem_slab_reclaimable", "that part of it which can be freed", "SReclaimable:"),
	MEM("mem_huge_anon", "memory of programs that is in transparent huge pages", "AnonHugePages:"),
	{ "hugepages_total", "pages", "huge pages that are set aside", LEVEL, .file = MEMINFO, .where = SMP_LABEL, .label = "HugePages_Total:" },
	{ "hugepages_free", "pages", "unused huge pages", LEVEL, .file = MEMINFO, .where = SMP_LABEL, .label = "HugePages_Free:" },
	COUNT("interrupts", "interrupts", "interrupts of all CPUs", STAT, "intr ", 0),
	COUNT("ctxt_switches", "switches", "context switches of all CPUs", STAT, "ctxt ", 0),
	COUNT("forks", "processes", "processes and threads that were started", STAT, "processes ", 0),
	{ "run_queue", "tasks", "tasks that run or wait for a CPU", LEVEL, .file = STAT, .where = SMP_LABEL, .label = "procs_running " },
	{ "blocked", "tasks", "tasks that wait for a disk", LEVEL, .file = STAT, .where = SMP_LABEL, .label = "procs_blocked " },
	COUNT("softirqs", "softirqs", "softirqs of all CPUs", STAT, "softirq ", 1),
	COUNT("softirqs_timer", "softirqs", "softirqs for timers", STAT, "softirq ", 3),
	COUNT("softirqs_net_tx", "softirqs", "softirqs for packets to send", STAT, "softirq ", 4),
	COUNT("softirqs_net_rx", "softirqs", "softirqs for received packets", STAT, "softirq ", 5),
	COUNT("softirqs_block", "softirqs", "softirqs for disks", STAT, "softirq ", 6),
	COUNT("softirqs_sched", "softirqs", "softirqs of the scheduler", STAT, "softirq ", 9),
	COUNT("softirqs_rcu", "softirqs", "softirqs of RCU", STAT, "softirq ", 11),
	COLUMN("tcp_segments_out", "segments", "TCP segments sent, without those sent again", SNMP, "Tcp:", "OutSegs"),
	COLUMN("tcp_retransmits", "segments", "TCP segments sent again", SNMP, "Tcp:", "RetransSegs"),
	COLUMN("tcp_timeouts", "times", "times that a TCP connection got no answer in time", NETSTAT, "TcpExt:", "TCPTimeouts"),
	COLUMN("tcp_listen_drops", "connections", "TCP connections dropped because a program did not accept them", NETSTAT, "TcpExt:", "ListenDrops"),
	COLUMN("udp_in", "datagrams", "UDP datagrams received", SNMP, "Udp:", "InDatagrams"),
	COLUMN("udp_in_errors", "datagrams", "UDP datagrams received with errors or dropped", SNMP, "Udp:", "InErrors"),
	COLUMN("udp_rcvbuf_drops", "datagrams", "UDP datagrams dropped because the receiver's buffer was full", SNMP, "Udp:", "RcvbufErrors"),
	COLUMN("udp_sndbuf_drops", "datagrams", "UDP datagrams dropped because the sender's buffer was full", SNMP, "Udp:", "SndbufErrors"),
	COUNT("nfs_calls", "calls", "calls of the NFS client", NFS, "rpc ", 1),
	COUNT("nfs_retransmits", "calls", "calls of the NFS client that were sent again", NFS, "rpc ", 2),
	{ "load_1", "tasks", "tasks that run or wait for disk, mean of about 1 minute", LEVEL, SMP_F64, .file = LOADAVG, .where = SMP_DECIMAL, .nth = 1 },
	{ "load_5", "tasks", "tasks that run or wait for disk, mean of about 5 minutes", LEVEL, SMP_F64, .file = LOADAVG, .where = SMP_DECIMAL, .nth = 2 },
	{ "psi_cpu", "us", "time in which some task waited for a CPU, read once a second", TOTAL, .can = { .fastest = 1100000 }, .file = PSI_CPU, .where = SMP_KEY, .label = "some", .key = "total=", .factor = 1e-4, .shown_unit = "percent", .every_ms = 1000 },
	PSI("psi_mem", "time in which some task waited for memory", PSI_MEMORY, "some"),
	PSI("psi_mem_full", "time in which all tasks waited for memory", PSI_MEMORY, "full"),
	PSI("psi_io", "time in which some task waited for I/O", PSI_IO, "some"),
	PSI("psi_io_full", "time in which all tasks waited for I/O", PSI_IO, "full"),
	PSI("cgroup_psi_cpu", "time in which some task of the job's cgroup waited for a CPU", CG_PSI_CPU, "some"),
	PSI("cgroup_psi_mem", "time in which some task of the job's cgroup waited for memory", CG_PSI_MEMORY, "some"),
	PSI("cgroup_psi_mem_full", "time in which all tasks of the job's cgroup waited for memory", CG_PSI_MEMORY, "full"),
	PSI("cgroup_psi_io", "time in which some task of the job's cgroup waited for I/O", CG_PSI_IO, "some"),
	PSI("cgroup_psi_io_full", "time in which all tasks of the job's cgroup waited for I/O", CG_PSI_IO, "full"),
	{ "cgroup1_cpu", "ns", "CPU time of the job's cgroup (version 1)", TOTAL, .file = CG1_CPU, .where = SMP_WORD, .nth = 1, .factor = 1e-7, .shown_unit = "percent" },
	{ "cgroup1_throttled", "ns", "time that the job's cgroup (version 1) was held back by its CPU limit", TOTAL, .file = CG1_THROTTLED, .where = SMP_LABEL, .label = "throttled_time ", .factor = 1e-7, .shown_unit = "percent" },
	{ "cgroup1_mem", "bytes", "memory of the job's cgroup (version 1)", LEVEL, .file = CG1_MEMORY, .where = SMP_WORD, .nth = 1, .factor = 1.0 / 1048576, .shown_unit = "MB" },
	{ "cgroup1_read", "bytes", "read from disks by the job's cgroup (version 1)", TOTAL, .can = { .fastest = 100000000000 }, .file = CG1_IO, .where = SMP_SUM, .key = "Read ", RATE_KB },
	{ "cgroup1_write", "bytes", "written to disks by the job's cgroup (version 1)", TOTAL, .can = { .fastest = 100000000000 }, .file = CG1_IO, .where = SMP_SUM, .key = "Write ", RATE_KB },
	{ "cgroup_usr", "us", "CPU time of the job's cgroup in user code", TOTAL, .file = CG_CPU, .where = SMP_LABEL, .label = "user_usec ", .factor = 1e-4, .shown_unit = "percent" },
	{ "cgroup_sys", "us", "CPU time of the job's cgroup in system code", TOTAL, .file = CG_CPU, .where = SMP_LABEL, .label = "system_usec ", .factor = 1e-4, .shown_unit = "percent" },
	{ "cgroup_throttled", "us", "time that the job's cgroup was held back by its CPU limit, read once a second", TOTAL, .file = CG_CPU, .where = SMP_LABEL, .label = "throttled_usec ", .factor = 1e-4, .shown_unit = "percent", .every_ms = 1000 },
	{ "cgroup_mem", "bytes", "memory of the job's cgroup", LEVEL, .file = CG_MEMORY, .where = SMP_WORD, .nth = 1, .factor = 1.0 / 1048576, .shown_unit = "MB" },
	{ "cgroup_read", "bytes", "read from disks by the job's cgroup", TOTAL, .can = { .fastest = 100000000000 }, .file = CG_IO, .where = SMP_SUM, .key = "rbytes=", RATE_KB },
	{ "cgroup_write", "bytes", "written to disks by the job's cgroup", TOTAL, .can = { .fastest = 100000000000 }, .file = CG_IO, .where = SMP_SUM, .key = "wbytes=", RATE_KB },
};
/* clang-format on */

/* clang-format off */
static const char *const file_path[N_FILES] = {
	[MEMINFO] = "/proc/meminfo", [VMSTAT] = "/proc/vmstat", [LOADAVG] = "/proc/loadavg",
	[PSI_CPU] = "/proc/pressure/cpu", [PSI_MEMORY] = "/proc/pressure/memory", [PSI_IO] = "/proc/pressure/io",
	[STAT] = "/proc/stat", [SNMP] = "/proc/net/snmp", [NETSTAT] = "/proc/net/netstat", [NFS] = "/proc/net/rpc/nfs",
	[CG_CPU] = "cpu.stat", [CG_MEMORY] = "memory.current", [CG_IO] = "io.stat",
	[CG_PSI_CPU] = "cpu.pressure", [CG_PSI_MEMORY] = "memory.pressure", [CG_PSI_IO] = "io.pressure",
	[CG1_CPU] = "cpuacct.usage", [CG1_THROTTLED] = "cpu.stat", [CG1_MEMORY] = "memory.usage_in_bytes", [CG1_IO] = "blkio.throttle.io_service_bytes",
};
/* clang-format on */

/* The cgroup of this process: of version 1 the line "4:cpu,cpuacct:/path" with the controller, of version 2 (NULL) the line
 * "0::/path". Returns it, which the caller frees, or NULL. */
static char *own_cgroup(int root, const char *controller)
{
	char *text = root >= 0 ? tkm_root_text(root, "/proc/self/cgroup") : NULL, *next = text, *line, *names, *path,
	     *word;
	char *found = NULL;

	while (!found && (line = strsep(&next, "\n")) != NULL) {
		names = strchr(line, ':');
		path = names ? strchr(names + 1, ':') : NULL;
		if (!path) {
			continue;
		}
		*path++ = '\0';
		names++;
		if (!controller && !*names && strncmp(line, "0:", 2) == 0) {
			found = strdup(path);
		}
		while (controller && !found && (word = strsep(&names, ",")) != NULL) {
			found = strcmp(word, controller) ? NULL : strdup(path);
		}
	}
	free(text);
	return found;
}

/* Prints the path of a file of a cgroup. In a container the name may be the host's, or lead out of what is mounted; then the
 * folders at its begin are not there, and the cgroup is what remains: at last, the one at the top. */
static int print_cgroup_path(
	int root, const char *mount, const char *group, const char *file, struct tkm_printed *path, char why[SMP_TEXT])
{
	while (*group) {
		const char *name = group + strspn(group, "/"), *folder;

		folder = strstr(group, "/..") || !*name ? NULL : tkm_printed(path, "%s/%s", mount, name);
		if (folder && smp_exists(root, folder)) {
			return tkm_printed(path, "%s/%s/%s", mount, name, file) ? 0 : smp_why(why, "no memory");
		}
		group = name + strcspn(name, "/");
	}
	return tkm_printed(path, "%s/%s", mount, file) ? 0 : smp_why(why, "no memory");
}

static int v1_path(const struct smp_env *env, int file, struct tkm_printed *path, char why[SMP_TEXT])
{
	static const char *const mounts[] = { "/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory",
		"/sys/fs/cgroup/blkio" };
	const char *mount = mounts[file - CG1_CPU], *controller = strrchr(mount, '/') + 1;
	int root = smp_root(env), rc;
	char *group = own_cgroup(root, controller);

	if (!group) {
		rc = smp_why(why, "this process is in no cgroup of version 1 with the controller %s", controller);
	} else {
		rc = print_cgroup_path(root, mount, group, file_path[file], path, why);
	}
	free(group);
	if (root >= 0) {
		close(root);
	}
	return rc;
}

/* Where cgroup v2 is mounted: alone, or beside version 1. */
static const char *cgroup_mount(int root)
{
	return root >= 0 && !smp_exists(root, "/sys/fs/cgroup/cgroup.controllers") &&
			smp_exists(root, "/sys/fs/cgroup/unified/cgroup.controllers")
		? "/sys/fs/cgroup/unified"
		: "/sys/fs/cgroup";
}

static int cgroup_path(const struct smp_env *env, int file, struct tkm_printed *path, char why[SMP_TEXT])
{
	int root = smp_root(env), rc;
	char *group = env->cgroup ? strdup(env->cgroup) : own_cgroup(root, NULL);

	if (!group) {
		rc = smp_why(why, "this process is in no cgroup of version 2; cgroup1_* are those of version 1");
	} else {
		rc = print_cgroup_path(root, cgroup_mount(root), group, file_path[file], path, why);
	}
	free(group);
	if (root >= 0) {
		close(root);
	}
	return rc;
}

static int find_entry(const char *name, void *ctx)
{
	(void)name;
	(void)ctx;
	return 1;
}

/* A cgroup's bytes are counted at a stacked device (dm, md, loop) and once more at the disk below it; zram is memory. */
static int is_cgroup_disk(const struct smp_env *env, const char *device)
{
	static const char *const files[] = { "device", "loop", "comp_algorithm" };
	struct tkm_printed path = { 0 };
	int root = smp_root(env), found[3] = { 0, 0, 0 }, slaves = 0;
	const char *at;
	size_t i;

	for (i = 0; root >= 0 && i < 3; i++) {
		at = tkm_printed(&path, "/sys/dev/block/%s/%s", device, files[i]);
		found[i] = at && smp_exists(root, at);
	}
	at = root >= 0 ? tkm_printed(&path, "/sys/dev/block/%s/slaves", device) : NULL;
	slaves = at && smp_dir_each(root, at, find_entry, NULL) > 0;
	free(path.text);
	if (root >= 0) {
		close(root);
	}
	return found[0] || !(found[1] || found[2] || slaves);
}

static int path_of_node_file(const struct smp_env *env, const struct smp_target *target, int file,
	struct tkm_printed *path, char why[SMP_TEXT])
{
	(void)target;
	if (file >= CG1_CPU) {
		return v1_path(env, file, path, why);
	}
	if (file >= CG_CPU) {
		return cgroup_path(env, file, path, why);
	}
	return tkm_printed(path, "%s", file_path[file]) ? 0 : smp_why(why, "no memory");
}

static void why_node_file_is_missing(
	const struct smp_env *env, int file, const char *at, int errnum, char why[SMP_TEXT])
{
	char text[64];

	(void)env;
	if (errnum == 0) {
		smp_why(why, "%.120s has no such number: this kernel does not count it", at);
	} else if (file == NFS && errnum == ENOENT) {
		smp_why(why, "no %.120s: no NFS client is loaded here", at);
	} else if (file >= CG_PSI_CPU && file <= CG_PSI_IO && (errnum == ENOENT || errnum == EOPNOTSUPP)) {
		smp_why(why, "no %.120s: the root cgroup has none, or boot with psi=1", at);
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

static const struct smp_text_source source = { counters, sizeof(counters) / sizeof(counters[0]), N_FILES,
	path_of_node_file, why_node_file_is_missing, NULL, is_cgroup_disk };

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	return smp_text_list(&source, env, hint, each, ctx, why);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	return smp_text_open(&source, env, target, (struct smp_wanted){ names, n, why_each }, why);
}

/* Files that come with a mount, or with the first use of a controller. */
static uint64_t mark(const struct smp_env *env)
{
	static const unsigned char later[] = { NFS, CG_IO, CG1_IO };
	struct smp_target node = { SMP_NODE, 0, 0 };
	struct tkm_printed path = { 0 };
	int root = smp_root(env);
	char why[SMP_TEXT];
	uint64_t there = 0;
	size_t i;

	for (i = 0; root >= 0 && i < sizeof(later); i++) {
		if (path_of_node_file(env, &node, later[i], &path, why) == 0 && smp_exists(root, path.text)) {
			there |= UINT64_C(1) << i;
		}
	}
	if (root >= 0) {
		close(root);
	}
	free(path.text);
	return there;
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
	.mark = mark,
};

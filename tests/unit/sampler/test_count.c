/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts that fall, vanish, come back, come late, turn and lie, for every source of totals alike: no total may grow by
 * more than what was counted and one reading, and none may fall. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "config.h"
#include "sampler/source.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

/* ---- the sources --------------------------------------------------------------------------------- */

/* Where a source shows a count, and how: "%s" in the text is the number. */
struct shown {
	const char *path, *text, *folders; /* "" or in a folder that is made before */
	const char *counter[2];            /* the sum, and the one of the device; or one alone */
	uint64_t step, scale;              /* a usual growth; recorded = number * scale */
	const char *other_path, *other_text;
	enum smp_scope scope;
};

#define MORE "/proc/self/cgroup", "5:blkio:/job\n0::/job\n"
static const struct shown sources[] = {
	{ "/sys/class/net/eth0/statistics/rx_bytes", "%s\n", "/sys/class/net/eth0/device/x",
		{ "net_rx", "net_rx:eth0" }, 1000000, 1, NULL, NULL, SMP_NODE },
	{ "/sys/class/net/eth0/statistics/rx_packets", "%s\n", "/sys/class/net/eth0/device/x",
		{ "net_rx_packets", "net_rx_packets:eth0" }, 1000, 1, NULL, NULL, SMP_NODE },
	{ "/sys/block/sda/stat", "1 0 %s 0 1 0 5 0 0 0 0", "/sys/block/sda/device/x", { "disk_read", "disk_read:sda" },
		1000, 512, NULL, NULL, SMP_NODE },
	{ "/sys/block/sda/stat", "%s 0 1 0 1 0 5 0 0 0 0", "/sys/block/sda/device/x", { "disk_ops", "disk_ops:sda" },
		1000, 1, NULL, NULL, SMP_NODE },
	{ "/sys/class/infiniband/a0/ports/1/counters/port_rcv_data", "%s\n", "", { "rdma_rx", "rdma_rx:a0/1" }, 1000000,
		4, NULL, NULL, SMP_NODE },
	{ "/sys/class/infiniband/efa/ports/1/hw_counters/rx_bytes", "%s\n", "", { "rdma_rx", "rdma_rx:efa/1" }, 1000000,
		1, NULL, NULL, SMP_NODE },
	{ "/sys/devices/system/node/node0/numastat", "numa_hit %s\nnuma_miss 1\n", "", { "numa_hit", "numa_hit:node0" },
		1000, 1, NULL, NULL, SMP_NODE },
	{ "/sys/devices/system/edac/mc/mc0/ce_count", "%s\n", "", { "edac_corrected", "edac_corrected:mc0" }, 10, 1,
		NULL, NULL, SMP_NODE },
	{ "/proc/fs/lustre/llite/x/stats", "read_bytes 9 samples [bytes] 1 2 %s\n", "",
		{ "lustre_read", "lustre_read:x" }, 1000000, 1, NULL, NULL, SMP_NODE },
	{ "/proc/stat", "cpu  5 0 %s 7 8 0 0 0\ncpu0 5 0 1 7 8 0 0 0\nintr 5\n", "", { "cpu_sys", NULL }, 20, 1, NULL,
		NULL, SMP_NODE },
	{ "/proc/stat", "cpu  5 0 9 7 8 0 0 0\ncpu0 %s 0 1 7 8 0 0 0\nintr 5\n", "", { "cpu_usr:cpu0", NULL }, 20, 1,
		NULL, NULL, SMP_NODE },
	{ "/proc/stat", "cpu  5 0 9 7 8 0 0 0\nctxt %s\nintr 5\n", "", { "ctxt_switches", NULL }, 1000, 1, NULL, NULL,
		SMP_NODE },
	{ "/sys/class/powercap/intel-rapl:0/energy_uj", "%s\n", "", { "energy", "energy:package-0" }, 30000000, 1,
		"/sys/class/powercap/intel-rapl:0/name", "package-0\n", SMP_NODE },
	{ "/sys/class/drm/card0/device/hwmon/hwmon4/energy1_input", "%s\n", "", { "gpu_energy", "gpu_energy:card0" },
		30000000, 1, "/sys/class/drm/card0/device/unique_id", "aaaa\n", SMP_NODE },
	{ "/sys/class/hwmon/hwmon0/energy1_input", "%s\n", "", { "hwmon_energy:amd_energy.hwmon0.energy1", NULL },
		30000000, 1, "/sys/class/hwmon/hwmon0/name", "amd_energy\n", SMP_NODE },
	{ "/sys/cray/pm_counters/accel0_energy", "%s J 1545345345000000 us\n", "", { "cray_accel0_energy", NULL }, 300,
		1, NULL, NULL, SMP_NODE },
	{ "/proc/vmstat", "pgfault %s\npgmajfault 6\n", "", { "node_faults", NULL }, 1000, 1, NULL, NULL, SMP_NODE },
	{ "/proc/pressure/cpu", "some avg10=0.00 total=%s\n", "", { "psi_cpu", NULL }, 1000, 1, NULL, NULL, SMP_NODE },
	{ "/proc/net/snmp", "Tcp: A OutSegs RetransSegs\nTcp: 1 %s 3\n", "", { "tcp_segments_out", NULL }, 1000, 1,
		NULL, NULL, SMP_NODE },
	{ "/sys/fs/cgroup/job/cpu.stat", "usage_usec 7\nuser_usec %s\n", "", { "cgroup_usr", NULL }, 10000, 1, MORE,
		SMP_NODE },
	{ "/sys/fs/cgroup/job/io.stat", "7:7 7:6 8:0 rbytes=%s wbytes=7\n8:16 rbytes=5 wbytes=6\n", "",
		{ "cgroup_read", NULL }, 1000000, 1, MORE, SMP_NODE },
	{ "/sys/fs/cgroup/blkio/job/blkio.throttle.io_service_bytes", "8:0 Read 7\n8:0 Write %s\nTotal 12288\n", "",
		{ "cgroup1_write", NULL }, 1000000, 1, MORE, SMP_NODE },
	{ "/proc/self/io", "rchar: %s\nwchar: 7\n", "", { "proc_read", NULL }, 1000000, 1, NULL, NULL, SMP_PROCESS },
};
enum { N_SOURCES = sizeof(sources) / sizeof(sources[0]) };

static const struct shown *of; /* the source that is tried */

/* The folder of a file below the snapshot. */
static void make_way_to(const char *path)
{
	char full[400], *slash;

	snprintf(full, sizeof(full), "%s%s", dir, path);
	for (slash = full + strlen(dir) + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
		*slash = '\0';
		mkdir(full, 0700);
	}
}

static void show_text(const char *number)
{
	char text[512];

	snprintf(text, sizeof(text), of->text, number);
	put(of->path, text);
}

static void show_number(uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	show_text(text);
}

static void make_snapshot(const struct shown *source)
{
	of = source;
	strcpy(dir, "/tmp/test_count.XXXXXX");
	if (!mkdtemp(dir)) {
		exit(99);
	}
	smp_env_init(&env);
	env.root = dir;
	make_way_to("/proc/self/x");
	make_way_to("/sys/class/net/x");
	make_way_to("/sys/block/x");
	make_way_to(of->path);
	make_way_to(of->folders);
	if (of->other_path) {
		make_way_to(of->other_path);
		put(of->other_path, of->other_text);
	}
}

static void close_counters(void)
{
	smp_set_close(set);
	smp_plan_close(plan);
	set = NULL;
	plan = NULL;
}

static uint64_t begin_with(uint64_t number)
{
	const char *rules[2] = { of->counter[0], of->counter[1] };

	show_number(number);
	open_for(of->scope, 0, rules, of->counter[1] ? 2 : 1);
	return (uint64_t)got(of->counter[0]);
}

/* ---- the ways ------------------------------------------------------------------------------------ */

/* A reading: so many steps more than the base, or something else. */
enum { ABSOLUTE = 100, TEXT = 200, FILE_AWAY = 300, JUMP = 400, IS_FOLDER = 500 };
struct reading {
	int kind;
	double steps; /* of an absolute one too */
	const char *text;
};
#define S(n) \
	{ \
		0, n, NULL \
	}
#define ABS(n) \
	{ \
		ABSOLUTE, n, NULL \
	}
#define SAYS(t) \
	{ \
		TEXT, 0, t \
	}
#define AWAY \
	{ \
		FILE_AWAY, 0, NULL \
	}
#define FOLDER \
	{ \
		IS_FOLDER, 0, NULL \
	}
#define JUMPS(n) \
	{ \
		JUMP, n, NULL \
	}

static const struct way {
	const char *name;
	double counted; /* steps from the first reading to the last one */
	double lost;    /* as many of them may be missing */
	struct reading r[12];
} ways[] = {
	{ "falls by a little once", 5, 0, { S(1), S(2), S(1.5), S(4), S(5) } },
	{ "falls by a little and stays so", 5, 1, { S(1), S(2), S(1.5), S(2.5), S(3.5), S(4.5) } },
	{ "reads 0 once", 4, 0, { S(1), S(2), ABS(0), S(3), S(4) } },
	{ "reads 0 four times", 4, 0, { S(1), S(2), ABS(0), ABS(0), ABS(0), ABS(0), S(4) } },
	{ "reads 0, and small numbers", 4, 1, { S(1), S(2), ABS(0), ABS(0.01), ABS(0.02), ABS(0.03), S(4) } },
	{ "begins anew", 6, 2, { S(1), S(2), ABS(1), ABS(2), ABS(3), ABS(4) } },
	{ "begins anew twice", 8, 4, { S(1), ABS(1), ABS(2), ABS(3), ABS(1), ABS(2), ABS(3), ABS(4) } },
	{ "vanishes and comes back as it was", 3, 0, { S(1), S(2), AWAY, AWAY, S(2), S(3) } },
	{ "vanishes and comes back with more", 4, 0, { S(1), S(2), AWAY, AWAY, S(3), S(4) } },
	{ "vanishes and comes back with less", 4, 3, { S(1), AWAY, ABS(1), ABS(2), ABS(3), ABS(4) } },
	{ "is no number once", 3, 0, { S(1), SAYS("N/A (no PMA)"), S(2), S(3) } },
	{ "is an empty text once", 3, 0, { S(1), SAYS(""), S(2), S(3) } },
	{ "is negative once", 3, 0, { S(1), SAYS("-5"), S(2), S(3) } },
	{ "is too long for 64 bits once", 3, 0, { S(1), SAYS("99999999999999999999999999"), S(2), S(3) } },
	{ "jumps beyond what can be, once", 4, 0, { S(1), JUMPS(0), S(3), S(4) } },
	{ "jumps beyond what can be, twice alike", 4, 0, { S(1), JUMPS(0), JUMPS(0), S(3), S(4) } },
	{ "jumps and goes on from there", 5, 4, { S(1), JUMPS(0), JUMPS(1), JUMPS(2), JUMPS(3) } },
	{ "is all ones once", 3, 0, { S(1), SAYS("18446744073709551615"), S(2), S(3) } },
	{ "stands still", 0, 0, { S(0), S(0), S(0) } },
	{ "is a folder for a while", 4, 0, { S(1), S(2), FOLDER, FOLDER, S(3), S(4) } },
};
enum { N_WAYS = sizeof(ways) / sizeof(ways[0]) };

static void show_reading(const struct reading *r, uint64_t base)
{
	char path[400];

	snprintf(path, sizeof(path), "%s%s", dir, of->path);
	rmdir(path);
	if (r->kind == TEXT) {
		show_text(r->text);
	} else if (r->kind == FILE_AWAY || r->kind == IS_FOLDER) {
		unlink(path);
		if (r->kind == IS_FOLDER) {
			mkdir(path, 0700);
		}
	} else {
		show_number((r->kind == ABSOLUTE              ? 0
					    : r->kind == JUMP ? base + (UINT64_C(1) << 61)
							      : base) +
			(uint64_t)(r->steps * (double)of->step));
	}
}

static int is_last(const struct reading *r)
{
	return !r->kind && !r->text && r->steps == 0;
}

static void try_way(const struct way *w, uint64_t base)
{
	uint64_t first = begin_with(base), last = first, now, unit = of->step * of->scale;
	int i, k;

	for (i = 0; i < 12 && (i < 3 || !is_last(&w->r[i])); i++) {
		show_reading(&w->r[i], base);
		read_again();
		for (k = 0; k < 2 && of->counter[k]; k++) {
			int at = place(of->counter[k]);

			if (!(state[at] & SMP_VALID)) {
				continue;
			}
			now = value[at].u;
			CHECK(now >= last, "%s, %s: falls from %" PRIu64 " to %" PRIu64, of->counter[k], w->name, last,
				now);
			last = now;
		}
	}
	CHECK((double)(last - first) <= (w->counted + 1) * (double)unit &&
			(double)(last - first) >= (w->counted - w->lost) * (double)unit,
		"%s, %s: %" PRIu64 " of %.0f counted", of->counter[0], w->name, last - first,
		w->counted * (double)unit);
	close_counters();
}

static void every_source_in_every_way(void)
{
	size_t i, k;

	for (i = 0; i < N_SOURCES; i++) {
		make_snapshot(&sources[i]);
		for (k = 0; k < N_WAYS; k++) {
			try_way(&ways[k], 1000 * of->step);
			try_way(&ways[k], UINT64_C(3000000000) + 1000000 * of->step);
		}
		drop();
	}
}

static void counts_turn_at_their_ends(void)
{
	static const struct reading r[] = { S(1), S(2), S(3), S(4) };
	uint64_t first;
	size_t i, k, end;

	for (i = 0; i < N_SOURCES; i++) {
		if (strstr(sources[i].path, "/hwmon") || strstr(sources[i].path, "/cray")) {
			continue; /* these never turn: a fall is one */
		}
		make_snapshot(&sources[i]);
		for (end = 32; end <= 64; end += 32) {
			/* energy has a range of its own; a CPU's time does not get there */
			uint64_t base = (end == 32 ? UINT64_C(1) << 32 : 0) - 5 * of->step / 2,
				 mask = end == 32 ? UINT32_MAX : UINT64_MAX;

			first = begin_with(base);
			for (k = 0; k < 4; k++) {
				show_number((base + (uint64_t)r[k].steps * of->step) & mask);
				read_again();
			}
			CHECK((uint64_t)got(of->counter[0]) - first == 4 * of->step * of->scale,
				"%s at %zu bits: %" PRIu64, of->counter[0], end, (uint64_t)got(of->counter[0]) - first);
			close_counters();
		}
		drop();
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(every_source_in_every_way);
	RUN(counts_turn_at_their_ends);
	return check_end();
}

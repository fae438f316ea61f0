/* SPDX-License-Identifier: BSD-3-Clause */
/* Counter sources on snapshots of other machines, and on this one where it can be known what they must say. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "config.h"
#include "sampler/source.h"

#include <fcntl.h>

#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

/* ---- choosing ------------------------------------------------------------------------------------ */

static void last_rule_that_matches_decides(void)
{
	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "cpu_* on", "cpu_steal off", "disk_io", "no_such_counter on");
	CHECK(planned("cpu_idle") && !planned("cpu_steal") && !planned("cpu_idle:cpu0") && planned("disk_io"),
		"wrong choice");
	CHECK(planned("no_such_counter") && planned("no_such_counter")->missing, "an unknown name is dropped silently");
	drop();
}

/* ---- other machines ------------------------------------------------------------------------------ */

static void two_sockets_and_256_cpus(void)
{
	long long usr = 0, idle = 0, irq = 0;
	int i;

	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "** on", "perf_** off", "PAPI_* off");
	for (i = 0; i < 256; i++) {
		usr += 1000 + i + 10 + i % 3;
		idle += 50000 + 7 * i;
		irq += 3 + 4 + i % 2;
	}
	HAS("cpu_usr", usr);
	HAS("cpu_idle", idle);
	HAS("cpu_irq", irq);
	HAS("cpu_idle:cpu255", 50000 + 7 * 255);
	HAS("cpu_steal:cpu254", 1 + 254 % 4);
	CHECK_NEAR(planned("cpu_usr")->factor, 1.0 / 256, 1e-12);
	/* sda, sdb and the hidden path of nvme0n1; not dm, md, loop, zram, not the head of paths */
	HAS("disk_io", (1000 + 2000 + 10 + 20 + 12000000000LL) * 512);
	HAS("disk_read", (1010 + 5000000000LL) * 512);
	HAS("disk_write:dm-0", 2000 * 512);
	/* eno1, eno2, its second port and ib0; not bond, bridge, VLAN, pair, tunnel, dummy, representor, loopback */
	HAS("net_io", 3000000 + 30 + 700);
	HAS("net_tx", 2000000 + 20 + 400);
	HAS("net_io:lo", 110);
	HAS("rdma_io", 4 * (1000 + 2000 + 50 + 60));
	HAS("rdma_rx:mthca0/2", 4 * 50);
	HAS("energy", 300000);
	HAS("energy:dram-1", 41000);
	HAS("cpu_freq", 2150000);
	HAS("cpu_freq:cpu3", 2300000);
	HAS("mem_free", 12345678LL * 1024);
	HAS("mem_cached", 1000000LL * 1024);
	HAS("node_faults", 1234567890123);
	HAS("psi_cpu", 123456);
	HAS("psi_mem_full", 6);
	HAS("clock_source", 2);
	CHECK_NEAR(value[place("load_1")].f, 123.45, 1e-9);
	drop();
}

static void launcher_facts_replace_guesses(void)
{
	unpack("two-sockets");
	env.hw = "disk:sdb nic:eno2\nnic:br0";
	OPEN(SMP_NODE, 0, "disk_io", "net_io", "disk_io:sda");
	HAS("disk_io", 30 * 512);
	HAS("net_io", 30 + 14);
	HAS("disk_io:sda", 3000 * 512);
	drop();
}

static void container_without_hardware(void)
{
	unpack("container");
	OPEN(SMP_NODE, 0, "net_io", "cgroup_* on", "disk_io", "cpu_idle:* on");
	HAS("net_io", 1500);
	HAS("cgroup_usr", 1000000);
	HAS("cgroup_throttled", 4321);
	HAS("cgroup_mem", 123456789);
	HAS("cgroup_read", 1030);
	HAS("cgroup_write", 2040);
	HAS("cpu_idle:cpu3", 4500);
	HAS("disk_io", 0);
	CHECK(strstr(planned("disk_io")->what, "none is here now"), "%s", planned("disk_io")->what);
	smp_set_close(set);
	smp_plan_close(plan);
	shell("rm -r %s/sys/%s", "block");
	OPEN(SMP_NODE, 0, "disk_io");
	CHECK(planned("disk_io")->missing && strstr(planned("disk_io")->missing, "/sys/block"),
		"no reason for the missing disk");
	smp_set_close(set);
	smp_plan_close(plan);
	OPEN(SMP_PROCESS, 0, "proc_* on");
	HAS("proc_threads", 42);
	HAS("proc_rss", 250 * sysconf(_SC_PAGESIZE));
	HAS("proc_write", 22);
	HAS("proc_disk_read", 55);
	drop();
}

/* Linux 6.1, 16 MiB written and 1 MiB and a bit read through one of two paths: nothing is at their head. */
static void paths_of_an_nvme_disk_count_once(void)
{
	long long others = 512LL * (14122 + 8);

	unpack("nvme-paths");
	OPEN(SMP_NODE, 0, "disk_read", "disk_write", "disk_write:nvme* on");
	HAS("disk_write", 16777216 + 512 * 144);
	HAS("disk_read", 512 * 2056 + others);
	HAS("disk_write:nvme0c0n1", 16777216);
	CHECK(planned("disk_write:nvme0n1")->missing && strstr(planned("disk_write:nvme0n1")->missing, "2 paths"),
		"a head that counts nothing");
	/* a later kernel, which counts at the head too */
	smp_set_close(set);
	smp_plan_close(plan);
	put("/sys/block/nvme0n1/stat", "17 0 2056 69 256 0 32768 629 0 660 699 0 0 0 0 0 0");
	OPEN(SMP_NODE, 0, "disk_write", "disk_write:nvme* on");
	HAS("disk_write", 16777216 + 512 * 144);
	HAS("disk_write:nvme0n1", 16777216);
	drop();
}

static void gathered_snapshot_reads(void)
{
	unpack("firecracker");
	OPEN(SMP_NODE, 0, "disk_io", "net_io", "cpu_* on", "mem_* on", "psi_* on");
	CHECK_INT(smp_set_read(set, value, state), (int)smp_set_size(set));
	CHECK(got("disk_io") > 0 && got("net_io") > 0 && got("mem_free") > 0, "a gathered value is 0");
	drop();
}

/* ---- between two reads --------------------------------------------------------------------------- */

static void counts_of_32_bits_wrap(void)
{
	unpack("two-sockets");
	put("/sys/block/sda/stat", "1 0 4294967290 0 1 0 4000000000 0 0 0 0");
	put("/sys/class/net/eno1/statistics/rx_bytes", "4294967000\n");
	OPEN(SMP_NODE, 0, "disk_read:sda", "disk_write:sda", "net_rx:eno1");
	put("/sys/block/sda/stat", "1 0 10 0 1 0 4000000001 0 0 0 0");
	put("/sys/class/net/eno1/statistics/rx_bytes", "704\n");
	read_again();
	HAS("disk_read:sda", (4294967290LL + 16) * 512);
	HAS("disk_write:sda", 4000000001LL * 512);
	HAS("net_rx:eno1", 4294967000LL + 1000);
	CHECK_INT(state[place("disk_read:sda")], SMP_VALID);
	/* a count beyond 32 bits that falls was set back: what it counts from there on is added, and said */
	put("/sys/class/net/eno1/statistics/rx_bytes", "9000000000\n");
	read_again();
	put("/sys/class/net/eno1/statistics/rx_bytes", "500\n");
	read_again();
	CHECK_INT(state[place("net_rx:eno1")], SMP_VALID | SMP_RESTARTED);
	HAS("net_rx:eno1", 4294967000LL + 1000 + (9000000000LL - 704) + 500);
	drop();
}

static void devices_go_and_come(void)
{
	long long before;

	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "disk_io", "disk_io:sdb", "net_io");
	before = got("disk_io");
	shell("rm -r %s/sys/block/%s", "sdb");
	read_again();
	HAS("disk_io", before);
	CHECK_INT(state[place("disk_io")], SMP_VALID | SMP_RESTARTED);
	CHECK_INT(state[place("disk_io:sdb")] & SMP_VALID, 0);
	read_again();
	CHECK_INT(state[place("disk_io")], SMP_VALID);
	/* another disk comes: all that it has moved, it has moved since */
	make_folder("/sys/block/sdc/device");
	put("/sys/block/sdc/stat", "1 0 100 0 1 0 50 0 0 0 0");
	read_again();
	HAS("disk_io", before + 150 * 512);
	/* the first one is back, counting from 0 */
	make_folder("/sys/block/sdb/device");
	put("/sys/block/sdb/stat", "1 0 7 0 1 0 0 0 0 0 0");
	read_again();
	HAS("disk_io", before + 157 * 512);
	HAS("disk_io:sdb", (30 + 7) * 512);
	drop();
}

/* A device whose name is too long is left out of the list, and of the sum. */
static void names_of_devices_have_a_limit(void)
{
	char fits[] = "/sys/block/1234567890123456789012345678901234567890123456789012345678901fs",
	     longer[] = "/sys/block/1234567890123456789012345678901234567890123456789012345678901fst", path[128],
	     name[100];

	unpack("two-sockets");
	snprintf(path, sizeof(path), "%s/device", fits);
	make_folder(path);
	snprintf(path, sizeof(path), "%s/stat", fits);
	put(path, "1 0 100 0 1 0 50 0 0 0 0");
	snprintf(path, sizeof(path), "%s/device", longer);
	make_folder(path);
	snprintf(path, sizeof(path), "%s/stat", longer);
	put(path, "1 0 1000 0 1 0 500 0 0 0 0");
	OPEN(SMP_NODE, 0, "disk_io:* on", "disk_io");
	snprintf(name, sizeof(name), "disk_io:%s", fits + strlen("/sys/block/"));
	HAS(name, 150 * 512);
	snprintf(name, sizeof(name), "disk_io:%s", longer + strlen("/sys/block/"));
	CHECK(!planned(name), "%s", name);
	HAS("disk_io", (1000 + 2000 + 10 + 20 + 12000000000LL + 150) * 512);
	drop();
}

/* No value at the moment is not the end of what is observed. */
static void a_device_alone_that_goes(void)
{
	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "disk_io:sdb");
	CHECK_INT(smp_set_read(set, value, state), 1);
	shell("rm -r %s/sys/block/%s", "sdb");
	CHECK_INT(smp_set_read(set, value, state), 0);
	drop();
}

static void make_interface(const char *name, const char *rx, const char *tx)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/net/%s/device", name);
	make_folder(path);
	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics", name);
	make_folder(path);
	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/rx_bytes", name);
	put(path, rx);
	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/tx_bytes", name);
	put(path, tx);
}

/* Without any device the sums are there and 0, and what comes is counted; it gets counters of its own by the same rules. */
static void devices_that_were_absent(void)
{
	struct smp_target node = { SMP_NODE, 0, 0 };
	struct smp_plan *later, *again;
	struct smp_set *more;
	uint64_t mark;

	unpack("container");
	shell("rm -r %s/sys/class/net/%s", "eth0");
	OPEN(SMP_NODE, 0, "net_io", "net_rx:eth? on", "net_tx:eth2 on");
	HAS("net_io", 0);
	CHECK(planned("net_tx:eth2") && planned("net_tx:eth2")->missing,
		"an absent interface is not said to be missing");
	CHECK(!planned("net_rx:eth1"), "an absent interface is planned");
	mark = smp_plan_mark(plan);
	CHECK(mark && mark == smp_plan_mark(plan), "the mark changes by itself");
	later = smp_plan_later(plan, NULL);
	CHECK_INT(smp_plan_size(later), 0);
	smp_plan_close(later);
	make_interface("eth1", "70\n", "7\n");
	make_interface("eth2", "500\n", "50\n");
	CHECK(mark != smp_plan_mark(plan), "the mark does not show who came");
	read_again();
	HAS("net_io", 627);
	later = smp_plan_later(plan, NULL);
	CHECK_INT(smp_plan_size(later), 3);
	more = smp_set_open(later, &node, NULL);
	CHECK_INT(smp_set_size(more), 3);
	CHECK_INT(smp_set_read(more, value, state), 3);
	CHECK_INT(value[0].u + value[1].u + value[2].u, 70 + 500 + 50);
	/* nobody is planned twice */
	again = smp_plan_later(later, NULL);
	CHECK_INT(smp_plan_size(again), 0);
	smp_plan_close(again);
	smp_set_close(more);
	smp_plan_close(later);
	drop();
	/* the five of the guide need no looking */
	unpack("container");
	open_for(SMP_NODE, 0, smp_standard_rules, 5);
	CHECK_INT(smp_plan_mark(plan), 0);
	drop();
}

static void interface_from_another_namespace(void)
{
	long long before;

	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "net_io");
	before = got("net_io");
	make_folder("/sys/class/net/eno9/device");
	make_folder("/sys/class/net/eno9/statistics");
	put("/sys/class/net/eno9/statistics/rx_bytes", "900000000000000000\n");
	put("/sys/class/net/eno9/statistics/tx_bytes", "0\n");
	read_again();
	HAS("net_io", before);
	CHECK_INT(state[0], SMP_VALID | SMP_RESTARTED);
	put("/sys/class/net/eno9/statistics/tx_bytes", "5\n");
	read_again();
	HAS("net_io", before + 5);
	drop();
}

static void cpus_go_and_come(void)
{
	unpack("container");
	OPEN(SMP_NODE, 0, "cpu_usr", "cpu_usr:cpu3", "cpu_iowait");
	put("/proc/stat", "cpu  510 0 100 9000 0 0 0 0\ncpu0 260 0 50 4500 0 0 0 0\nintr 5\n");
	read_again();
	HAS("cpu_usr", 510);
	CHECK_INT(state[place("cpu_usr:cpu3")], 0);
	put("/proc/stat", "cpu  530 0 100 9000 4 0 0 0\ncpu0 260 0 50 4500 0 0 0 0\ncpu3 270 0 1 1 1 1 1 1\nintr 5\n");
	read_again();
	HAS("cpu_usr:cpu3", 270);
	HAS("cpu_iowait", 4);
	/* iowait is taken back by the kernel at times: the total waits */
	put("/proc/stat", "cpu  530 0 100 9000 2 0 0 0\nintr 5\n");
	read_again();
	HAS("cpu_iowait", 4);
	put("/proc/stat", "cpu  530 0 100 9000 5 0 0 0\nintr 5\n");
	read_again();
	HAS("cpu_iowait", 5);
	/* a line that is cut is none */
	put("/proc/stat", "cpu  530 0 100 90");
	read_again();
	CHECK_INT(state[place("cpu_usr")], 0);
	drop();
}

static void energy_wraps_at_its_range(void)
{
	unpack("two-sockets");
	put("/sys/class/powercap/intel-rapl:0/energy_uj", "262143328000");
	OPEN(SMP_NODE, 0, "energy");
	put("/sys/class/powercap/intel-rapl:0/energy_uj", "150");
	read_again();
	HAS("energy", 262143328850LL + 150 + 200000);
	drop();
}

/* ---- descriptors --------------------------------------------------------------------------------- */

/* A program may close all descriptors and open its own under the numbers. */
static int open_descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++) {
		n += fcntl(fd, F_GETFD) >= 0;
	}
	return n;
}

static void counters_of_several_devices(void)
{
	int before = open_descriptors();
	long long ops;

	unpack("batch-node");
	OPEN(SMP_NODE, 0, "disk_ops", "disk_ops:sdb", "disk_inflight", "net_rx_drops", "numa_*", "edac_*");
	HAS("disk_ops", 306);
	HAS("disk_ops:sdb", 6);
	HAS("disk_inflight", 2 + 9);
	HAS("net_rx_drops", 7007);
	HAS("numa_miss", 30);
	put("/sys/block/sda/stat", "110 0 0 0 205 0 0 0 1 0 0\n");
	put("/sys/block/dm-0/stat", "999 0 0 0 999 0 0 0 1 0 0\n");
	read_again();
	HAS("disk_ops", 110 + 205 + 6);
	HAS("disk_ops:sdb", 6);
	HAS("disk_inflight", 1 + 9);
	/* a level falls, a total goes on from where it was */
	ops = got("disk_ops");
	put("/sys/block/sda/stat", "1 0 0 0 1 0 0 0 0 0 0\n");
	read_again();
	HAS("disk_inflight", 0 + 9);
	CHECK(got("disk_ops") >= ops, "the total fell from %lld to %lld", ops, got("disk_ops"));
	CHECK(state[place("disk_ops")] & SMP_RESTARTED, "the total began anew without a mark");
	/* files without a number, or with no text at all */
	put("/sys/devices/system/node/node0/numastat", "other 1\n");
	put("/sys/devices/system/node/node1/numastat", "");
	read_again();
	CHECK_INT(state[place("numa_miss")], 0);
	drop();
	CHECK_INT(open_descriptors(), before);
	/* some devices have the file of one counter and not that of another */
	unpack("batch-node");
	shell("rm %s/sys/devices/system/edac/mc/mc*/ue_count%s", "");
	put("/sys/devices/system/node/node0/numastat", "numa_hit 5\n");
	put("/sys/devices/system/node/node1/numastat", "numa_hit 6\n");
	OPEN(SMP_NODE, 0, "edac_*", "numa_hit", "numa_miss", "disk_ops:sdq", "lustre_*");
	HAS("edac_corrected", 7);
	HAS("numa_hit", 11);
	CHECK(planned("edac_uncorrected") && planned("edac_uncorrected")->missing,
		"a file that is not there is readable");
	CHECK(planned("numa_miss") && planned("numa_miss")->missing &&
			strstr(planned("numa_miss")->missing, "no such number"),
		"%s",
		planned("numa_miss") && planned("numa_miss")->missing ? planned("numa_miss")->missing : "not missing");
	CHECK(planned("disk_ops:sdq") && planned("disk_ops:sdq")->missing, "a disk that is not there");
	HAS("lustre_ops_open", 9);
	drop();
	CHECK_INT(open_descriptors(), before);
}

/* ---- plugins ------------------------------------------------------------------------------------- */

static void template_of_a_plugin_works(void)
{
	const char *const rules[] = { "mine_* on" }, *options = NULL;
	struct smp_target target = { SMP_NODE, 0, 0 };
	const char *top = getenv("top_builddir");
	struct smp_plugin plugin = { NULL, NULL };
	struct tkm_err err = { TKM_OK, "" };
	char text[512];

	snprintf(text, sizeof(text), "%s/tests/unit/.libs/plugin_template.so 2.5", top ? top : ".");
	plugin.source = smp_plugin_load(text, &options, &err);
	CHECK(plugin.source != NULL, "%s", err.text);
	if (!plugin.source) {
		return;
	}
	CHECK_STR(options, "2.5");
	plugin.options = options;
	smp_env_init(&env);
	plan = smp_plan_open(&env, rules, 1, &plugin, 1, &err);
	set = smp_set_open(plan, &target, &err);
	CHECK_INT(smp_set_read(set, value, state), 2);
	CHECK_INT(smp_set_read(set, value, state), 2);
	HAS("mine_reads", 2);
	CHECK_NEAR(value[place("mine_level")].f, 2.5, 0);
	drop();
	CHECK(!smp_plugin_load("/no/such/file.so", &options, &err) && strstr(err.text, "/no/such/file.so"), "%s",
		err.text);
	snprintf(text, sizeof(text), "%s/tests/unit/.libs/plugin_old.so", top ? top : ".");
	CHECK(!smp_plugin_load(text, &options, &err) && strstr(err.text, "version"), "%s", err.text);
	CHECK(!smp_plugin_load("libm.so.6", &options, &err) && strstr(err.text, "vtsource_plugin"), "%s", err.text);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(last_rule_that_matches_decides);
	RUN(two_sockets_and_256_cpus);
	RUN(launcher_facts_replace_guesses);
	RUN(container_without_hardware);
	RUN(paths_of_an_nvme_disk_count_once);
	RUN(gathered_snapshot_reads);
	RUN(counts_of_32_bits_wrap);
	RUN(devices_go_and_come);
	RUN(names_of_devices_have_a_limit);
	RUN(a_device_alone_that_goes);
	RUN(devices_that_were_absent);
	RUN(interface_from_another_namespace);
	RUN(cpus_go_and_come);
	RUN(energy_wraps_at_its_range);
	RUN(counters_of_several_devices);
	RUN(template_of_a_plugin_works);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node says of itself: two sockets with 256 CPUs, and a container. */
#define _GNU_SOURCE
#include "config.h"
#include "include/vtsource.h"
#include "sampler/private.h"
#include "sampler/source.h"
#include "tests/lib/check.h"
#include "tests/lib/sampler_set.h"

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

/* Kubernetes' names of cgroups are longer than 190 characters; a container may show the host's. */
static void names_of_cgroups_are_long(void)
{
	char name[400], line[500], path[450];
	int i;

	strcpy(name, "/kubepods.slice/");
	for (i = 0; i < 100; i++) {
		strcat(name, "ab");
	}
	strcat(name, "/leaf");
	for (i = 0; i < 3; i++) {
		unpack("container");
		snprintf(line, sizeof(line), "1:name=systemd:%s\n0::%s%s\n", name, i == 2 ? "/.." : "", name);
		put("/proc/self/cgroup", line);
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s", i == 0 ? name : i == 1 ? "/leaf" : "");
		make_folder(path);
		strcat(path, "/memory.current");
		put(path, "4711\n");
		OPEN(SMP_NODE, 0, "cgroup_mem");
		HAS("cgroup_mem", 4711);
		drop();
	}
}

/* What a cgroup has not done yet is 0, and counts from its first use; a disk counts once, below what is stacked on it. */
static void disks_of_a_cgroup_come_with_their_first_use(void)
{
	unpack("container");
	put("/proc/self/cgroup", "0::/\n");
	put("/sys/fs/cgroup/io.stat", "");
	OPEN(SMP_NODE, 0, "cgroup_read", "cgroup_write");
	HAS("cgroup_write", 0);
	make_folder("/sys/dev/block/7:3/loop");
	make_folder("/sys/dev/block/253:0/slaves/sda");
	make_folder("/sys/dev/block/8:0/device");
	put("/sys/fs/cgroup/io.stat",
		"7:3 rbytes=100 wbytes=5\n253:0 8:0 rbytes=100 wbytes=5\n253:0 rbytes=70 wbytes=3\n"
		"(unknown) rbytes=1 wbytes=1\n");
	read_again();
	HAS("cgroup_read", 101);
	HAS("cgroup_write", 6);
	/* a line twice, another order, and one that goes */
	put("/sys/fs/cgroup/io.stat", "8:0 rbytes=150 wbytes=9\n8:0 rbytes=150 wbytes=9\n7:3 rbytes=100 wbytes=5\n");
	read_again();
	HAS("cgroup_read", 151);
	put("/sys/fs/cgroup/io.stat", "N/A\n");
	read_again();
	CHECK_INT(state[0], 0);
	put("/sys/fs/cgroup/io.stat", "8:16 rbytes=9000000000000000 wbytes=9\n8:0 rbytes=151 wbytes=9\n");
	read_again();
	HAS("cgroup_read", 152);
	drop();
}

/* NFS and a controller of a cgroup may come after the start. */
static void files_may_come_later(void)
{
	struct tkm_err err = { TKM_OK, "" };
	struct smp_plan *later;
	uint64_t mark;

	unpack("two-sockets");
	shell("rm -rf %s/proc/net/rpc %s", "");
	make_folder("/proc/self");
	put("/proc/self/cgroup", "0::/late\n");
	make_folder("/sys/fs/cgroup/late");
	OPEN(SMP_NODE, 0, "nfs_calls", "cgroup_write");
	CHECK(planned("nfs_calls")->missing && planned("cgroup_write")->missing, "they are there");
	mark = smp_plan_mark(plan);
	make_folder("/proc/net/rpc");
	put("/proc/net/rpc/nfs", "net 0 0 0 0\nrpc 7 1 0\n");
	CHECK(smp_plan_mark(plan) != mark, "the mark does not change with NFS");
	mark = smp_plan_mark(plan);
	put("/sys/fs/cgroup/late/io.stat", "");
	CHECK(smp_plan_mark(plan) != mark, "the mark does not change with io.stat");
	later = smp_plan_later(plan, &err);
	CHECK(later && smp_plan_size(later) == 2 && !smp_plan_at(later, 0)->counter.missing &&
			!smp_plan_at(later, 1)->counter.missing,
		"%s", err.text);
	smp_plan_close(later);
	drop();
}

/* How long ago it had a value, ms; -1: it has one now. */
static int64_t age_of_psi(void)
{
	static int64_t last_ms;
	int i = place("psi_cpu"), has;

	read_again();
	has = state[i] & SMP_VALID;
	last_ms = has ? smp_now_ms() : last_ms;
	return has ? -1 : smp_now_ms() - last_ms;
}

/* The pressure is dear to read: once a second, at first more often. Another counter of its file is not held back. */
static void pressure_is_read_seldom(void)
{
	int i, times = 0;
	int64_t begin = smp_now_ms(), age, oldest = 0;

	smp_env_init(&env);
	OPEN(SMP_NODE, 0, "psi_cpu");
	if (planned("psi_cpu")->missing) {
		printf("# psi_cpu: %s\n", planned("psi_cpu")->missing);
		drop();
		return;
	}
	CHECK(state[place("psi_cpu")] & SMP_VALID, "not at the first reading");
	for (i = 0; smp_now_ms() - begin < 2000; i++) {
		usleep(10000);
		age = age_of_psi();
		times += age < 0;
		oldest = age > oldest ? age : oldest;
	}
	/* 0, 10, 20 ms and so on, each an eighth of the run later */
	CHECK(times <= 50 && times < i, "%d times of %d", times, i);
	CHECK(oldest < 2000 / 8 + 500, "%lld ms", (long long)oldest);
	drop();
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(two_sockets_and_256_cpus);
	RUN(container_without_hardware);
	RUN(names_of_cgroups_are_long);
	RUN(disks_of_a_cgroup_come_with_their_first_use);
	RUN(files_may_come_later);
	RUN(pressure_is_read_seldom);
	return check_end();
}

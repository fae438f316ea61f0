/* SPDX-License-Identifier: BSD-3-Clause */
/* Counter sources on snapshots of other machines, and on this one where it can be known what they must say. Longer than a
 * file should be: all cases share the snapshots' helpers and one table. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "config.h"
#include "sampler/source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>

#include "tests/lib/check.h"

enum { MAX = 2048 };

static char dir[64]; /* the snapshot that is unpacked */
static struct smp_env env;
static struct smp_plan *plan;
static struct smp_set *set;
static union smp_value value[MAX];
static uint8_t state[MAX];

/* Unpacks NAME.snap into a folder of its own. */
static void unpack(const char *name)
{
	const char *top = getenv("top_srcdir");
	char command[512];

	strcpy(dir, "/tmp/test_sampler.XXXXXX");
	if (!mkdtemp(dir)) {
		exit(99);
	}
	snprintf(command, sizeof(command), "sh '%s/tests/proc/gather.sh' --unpack %s <'%s/tests/proc/%s.snap'",
		top ? top : ".", dir, top ? top : ".", name);
	if (system(command) != 0) {
		printf("Bail out! cannot unpack %s\n", name);
		exit(99);
	}
	smp_env_init(&env);
	env.root = dir;
}

static void drop(void)
{
	char command[128];

	smp_set_close(set);
	smp_plan_close(plan);
	set = NULL;
	plan = NULL;
	if (dir[0]) {
		snprintf(command, sizeof(command), "rm -rf %s", dir);
		if (system(command) != 0) {
			exit(99);
		}
		dir[0] = '\0';
	}
}

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", dir, path);
	f = fopen(full, "w");
	CHECK(f != NULL, "%s", full);
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static void make_folder(const char *path)
{
	char command[256];

	snprintf(command, sizeof(command), "mkdir -p '%s%s'", dir, path);
	CHECK_INT(system(command), 0);
}

static void shell(const char *fmt, const char *arg)
{
	char command[512];

	snprintf(command, sizeof(command), fmt, dir, arg);
	CHECK_INT(system(command), 0);
}

/* Opens what the rules choose for a target, and reads it once. */
static void open_for(enum smp_scope scope, int32_t tid, const char *const *rules, size_t n)
{
	struct smp_target target = { scope, dir[0] ? 0 : (int32_t)getpid(), tid };
	struct tkm_err err = { TKM_OK, "" };

	plan = smp_plan_open(&env, rules, n, NULL, 0, &err);
	CHECK(plan != NULL, "%s", err.text);
	if (!plan) {
		exit(99);
	}
	set = smp_set_open(plan, &target, &err);
	CHECK(set && smp_set_size(set) <= MAX, "%s", err.text);
	smp_set_read(set, value, state);
}
#define OPEN(scope, tid, ...) \
	do { \
		const char *const rules_[] = { __VA_ARGS__ }; \
		open_for(scope, tid, rules_, sizeof(rules_) / sizeof(rules_[0])); \
	} while (0)

static int place(const char *name)
{
	size_t i;

	for (i = 0; i < smp_set_size(set); i++) {
		if (strcmp(smp_plan_at(plan, smp_set_planned(set, i))->counter.name, name) == 0) {
			return (int)i;
		}
	}
	CHECK(0, "%s is not in the set", name);
	return 0;
}

static long long got(const char *name)
{
	int i = place(name);

	CHECK(state[i] & SMP_VALID, "%s has no value", name);
	return value[i].i;
}
#define HAS(name, want) \
	CHECK(got(name) == (long long)(want), "%s is %lld, want %lld", name, got(name), (long long)(want))

static const struct smp_counter *planned(const char *name)
{
	size_t i;

	for (i = 0; i < smp_plan_size(plan); i++) {
		if (strcmp(smp_plan_at(plan, i)->counter.name, name) == 0) {
			return &smp_plan_at(plan, i)->counter;
		}
	}
	return NULL;
}

/* ---- choosing ------------------------------------------------------------------------------------ */

static void last_rule_that_matches_decides(void)
{
	struct tkm_err err;

	unpack("two-sockets");
	OPEN(SMP_NODE, 0, "cpu_* on", "cpu_steal off", "disk_io", "no_such_counter on");
	CHECK(planned("cpu_idle") && !planned("cpu_steal") && !planned("cpu_idle:cpu0") && planned("disk_io"),
		"wrong choice");
	CHECK(planned("no_such_counter") && planned("no_such_counter")->missing, "an unknown name is dropped silently");
	CHECK(smp_rule_check("cpu_* maybe", &err) < 0 && strstr(err.text, "maybe"), "%s", err.text);
	CHECK(smp_rule_check("", &err) < 0, "an empty rule");
	CHECK_INT(smp_rule_check("cpu_*", &err), 0);
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

/* Linux 6.1, 16 MiB written and 1 MiB and a bit read through one of two paths: nothing stands at their head. */
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

static void read_again(void)
{
	smp_set_read(set, value, state);
}

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

/* ---- this machine -------------------------------------------------------------------------------- */

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
	CHECK(state[place("disk_ops")] & SMP_RESTARTED, "the total began anew, and nobody is told");
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

static void closed_descriptors_are_opened_again(void)
{
	static const char text[] = "cpu 1 2 3 4 5 6 7 8\n7 7 7 7 7 7 7 7 7 7 7\n";
	int high, own[64], i, name;
	char back[8];

	dir[0] = '\0';
	smp_env_init(&env);
	OPEN(SMP_NODE, 0, "cpu_usr", "disk_io", "disk_ops", "mem_free", "clock_source");
	for (name = 500; name < 600; name++) {
		close(name);
	}
	for (i = 0; i < 64; i++) {
		high = memfd_create("own", 0);
		own[i] = fcntl(high, F_DUPFD, 500);
		close(high);
		CHECK(write(own[i], text, sizeof(text) - 1) == sizeof(text) - 1, "%s", strerror(errno));
		lseek(own[i], 0, SEEK_SET);
	}
	read_again();
	smp_set_close(set);
	set = NULL;
	for (i = 0; i < 64; i++) {
		CHECK(read(own[i], back, 3) == 3 && memcmp(back, text, 3) == 0,
			"descriptor %d of the program was touched", own[i]);
		close(own[i]);
	}
	drop();
}

struct toucher {
	pthread_barrier_t go, done;
	pid_t tid;
	size_t pages;
};

static void *touch_pages(void *arg)
{
	struct toucher *t = arg;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	unsigned char *p = mmap(NULL, t->pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, t->pages * page, MADV_NOHUGEPAGE);
	t->tid = gettid();
	pthread_barrier_wait(&t->go);
	pthread_barrier_wait(&t->go);
	for (i = 0; i < t->pages; i++) {
		((volatile unsigned char *)p)[i * page] = 1;
	}
	pthread_barrier_wait(&t->done);
	pthread_barrier_wait(&t->done);
	munmap(p, t->pages * page);
	return NULL;
}

/* The barrier may cost a fault or two of its own, the kernel's balancing of memory between nodes some more; a sanitizer's
 * shadow many. Less than a third of what the other thread does. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MORE = 300 };
#else
enum { MORE = 30 };
#endif

/* A thread that is joined may still be in /proc, for as long as others have its core. */
static void wait_until_gone(pid_t tid)
{
	char path[64];
	int i;

	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)tid);
	for (i = 0; i < 60000 && access(path, F_OK) == 0; i++) {
		usleep(1000);
	}
}

/* Two threads, counted from a third: each one's own faults, and none of the other's. */
static void faults_are_counted_per_thread(void)
{
	static const size_t pages[2] = { 100, 300 };
	struct toucher t[2];
	struct smp_set *sets[2];
	struct tkm_err err;
	pthread_t thread[2];
	int i;

	smp_env_init(&env);
	OPEN(SMP_THREAD, (int32_t)gettid(), "perf_page_faults on", "thread_minflt on");
	if (planned("perf_page_faults")->missing) {
		printf("# perf_page_faults: %s\n", planned("perf_page_faults")->missing);
	}
	for (i = 0; i < 2; i++) {
		t[i].pages = pages[i];
		pthread_barrier_init(&t[i].go, NULL, 2);
		pthread_barrier_init(&t[i].done, NULL, 2);
		pthread_create(&thread[i], NULL, touch_pages, &t[i]);
		pthread_barrier_wait(&t[i].go);
	}
	for (i = 0; i < 2; i++) {
		struct smp_target target = { SMP_THREAD, getpid(), t[i].tid };
		long long faults;

		sets[i] = smp_set_open(plan, &target, &err);
		smp_set_read(sets[i], value, state);
		faults = value[smp_set_size(sets[i]) - 1].i;
		pthread_barrier_wait(&t[i].go);
		pthread_barrier_wait(&t[i].done);
		smp_set_read(sets[i], value, state);
		faults = value[smp_set_size(sets[i]) - 1].i - faults;
		CHECK(faults >= (long long)pages[i] && faults <= (long long)pages[i] + MORE, "%lld faults", faults);
		if (smp_set_size(sets[i]) == 2) {
			CHECK(state[0] & SMP_VALID, "no value: %s", smp_set_why(sets[i], 0));
			CHECK(value[0].i >= (int64_t)pages[i] && value[0].i <= (int64_t)pages[i] + MORE, "%lld faults",
				(long long)value[0].i);
		}
		pthread_barrier_wait(&t[i].done);
	}
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
	}
	wait_until_gone(t[0].tid);
	smp_plan_close(plan);
	plan = NULL;
	{
		const char *const rules[] = { "thread_minflt on" };
		struct smp_target target = { SMP_THREAD, getpid(), t[0].tid };
		struct smp_set *gone;

		plan = smp_plan_open(&env, rules, 1, NULL, 0, &err);
		gone = smp_set_open(plan, &target, &err);
		CHECK(smp_set_why(gone, 0)[0], "no reason for a thread that has ended");
		smp_set_close(gone);
	}
	for (i = 0; i < 2; i++) {
		smp_set_close(sets[i]);
	}
	drop();
}

/* A process's events are those of the threads that start after the set was opened, ended ones too. */
static void events_of_a_process_are_inherited(void)
{
	struct toucher t = { .pages = 200 };
	pthread_t thread;
	int i;

	smp_env_init(&env);
	OPEN(SMP_PROCESS, 0, "perf_page_faults:process on");
	for (i = 0; i < 2; i++) {
		pthread_barrier_init(&t.go, NULL, 2);
		pthread_barrier_init(&t.done, NULL, 2);
		pthread_create(&thread, NULL, touch_pages, &t);
		pthread_barrier_wait(&t.go);
		pthread_barrier_wait(&t.go);
		pthread_barrier_wait(&t.done);
		pthread_barrier_wait(&t.done);
		pthread_join(thread, NULL);
	}
	if (planned("perf_page_faults:process")->missing) {
		printf("# %s\n", planned("perf_page_faults:process")->missing);
	} else {
		read_again();
		/* a thread's start costs some of its own */
		CHECK(got("perf_page_faults:process") >= 400 && got("perf_page_faults:process") <= 400 + 5 * MORE,
			"%lld", got("perf_page_faults:process"));
	}
	drop();
}

static void ended_thread_is_said(void)
{
	struct toucher t = { .pages = 1 };
	pthread_t thread;

	smp_env_init(&env);
	pthread_barrier_init(&t.go, NULL, 2);
	pthread_barrier_init(&t.done, NULL, 2);
	pthread_create(&thread, NULL, touch_pages, &t);
	pthread_barrier_wait(&t.go);
	OPEN(SMP_THREAD, t.tid, "thread_minflt on", "thread_run on");
	CHECK_INT(smp_set_read(set, value, state), 2);
	pthread_barrier_wait(&t.go);
	pthread_barrier_wait(&t.done);
	pthread_barrier_wait(&t.done);
	pthread_join(thread, NULL);
	wait_until_gone(t.tid);
	CHECK_INT(smp_set_read(set, value, state), -1);
	drop();
}

/* Data of the program's pipe must not be read away through a number that once was ours. */
static void foreign_pipes_are_not_read(void)
{
	int fd[2], i, pipes[200][2], n = 0;
	char c;

	smp_env_init(&env);
	OPEN(SMP_THREAD, (int32_t)gettid(), "perf_task_clock on", "perf_page_faults on");
	for (i = 500; i < 600; i++) {
		close(i);
	}
	for (i = 0; i < 40; i++) {
		if (pipe(fd) < 0) {
			break;
		}
		pipes[n][0] = fcntl(fd[0], F_DUPFD, 500);
		pipes[n][1] = fd[1];
		close(fd[0]);
		CHECK_INT(write(fd[1], "x", 1), 1);
		n++;
	}
	smp_set_read(set, value, state);
	for (i = 0; i < (int)smp_set_size(set); i++) {
		CHECK_INT(state[i], 0);
	}
	smp_set_close(set);
	set = NULL;
	for (i = 0; i < n; i++) {
		CHECK(read(pipes[i][0], &c, 1) == 1 && c == 'x', "pipe %d was read or closed", i);
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	drop();
}

/* The kernel's totals before and after, read by other means, enclose ours. */
static void totals_lie_between_outside_totals(void)
{
	struct rusage before, after;
	FILE *f;
	unsigned long long line[8] = { 0 }, later[8] = { 0 };
	int i;

	smp_env_init(&env);
	OPEN(SMP_NODE, 0, "cpu_* on");
	for (i = 0; i < 3; i++) {
		f = fopen("/proc/stat", "r");
		CHECK(f && fscanf(f, "cpu %llu %llu %llu %llu", &line[0], &line[1], &line[2], &line[3]) == 4,
			"no /proc/stat");
		fclose(f);
		read_again();
		f = fopen("/proc/stat", "r");
		CHECK(f && fscanf(f, "cpu %llu %llu %llu %llu", &later[0], &later[1], &later[2], &later[3]) == 4,
			"no /proc/stat");
		fclose(f);
		CHECK(got("cpu_usr") >= (long long)(line[0] + line[1]) &&
				got("cpu_usr") <= (long long)(later[0] + later[1]),
			"cpu_usr");
		CHECK(got("cpu_sys") >= (long long)line[2] && got("cpu_sys") <= (long long)later[2], "cpu_sys");
		usleep(30000);
	}
	smp_set_close(set);
	smp_plan_close(plan);
	OPEN(SMP_PROCESS, 0, "proc_minflt", "proc_nvcsw");
	getrusage(RUSAGE_SELF, &before);
	read_again();
	getrusage(RUSAGE_SELF, &after);
	CHECK(got("proc_minflt") >= before.ru_minflt && got("proc_minflt") <= after.ru_minflt, "proc_minflt");
	CHECK(got("proc_nvcsw") >= before.ru_nvcsw && got("proc_nvcsw") <= after.ru_nvcsw, "proc_nvcsw");
	drop();
}

/* ---- clocks that we set -------------------------------------------------------------------------- */

static struct {
	int on;
	int64_t raw, real;
	long freq, tick;
} fake;

/* These stand before libc's for this program: the source asks them. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	int64_t ns = id == CLOCK_REALTIME ? fake.real : fake.raw;

	if (!fake.on || (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC_RAW)) {
		return (int)syscall(SYS_clock_gettime, id, t);
	}
	fake.raw += 25;
	fake.real += 25;
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return 0;
}

int adjtimex(struct timex *t)
{
	if (!fake.on) {
		return (int)syscall(SYS_adjtimex, t);
	}
	t->freq = fake.freq;
	t->tick = fake.tick;
	return 0;
}

static void pass(int64_t ns, double slew)
{
	fake.raw += ns;
	fake.real += ns + (int64_t)((double)ns * slew);
	read_again();
}

static void steps_are_told_from_slewing(void)
{
	int i;

	smp_env_init(&env);
	fake.on = 1;
	fake.raw = 1000000000;
	fake.real = 1700000000000000000;
	fake.tick = 10000;
	OPEN(SMP_NODE, 0, "clock_* on", "ntp_freq");
	for (i = 0; i < 50; i++) {
		pass(100000000, 500e-6);
	}
	HAS("clock_steps", 0);
	fake.freq = 200 * 65536; /* 200 ppm, and a tick that makes 83 000 ppm: chrony's fastest slew */
	fake.tick = 10830;
	read_again();
	HAS("ntp_freq", 83000000 + 200000);
	for (i = 0; i < 50; i++) {
		pass(100000000, 0.0832);
	}
	HAS("clock_steps", 0);
	fake.tick = 10000;
	fake.freq = 0;
	fake.real += 1500000; /* somebody sets the clock by 1.5 ms */
	pass(100000000, 0);
	HAS("clock_steps", 1);
	CHECK_NEAR((double)got("clock_stepped"), 1500000, 1000);
	fake.real -= 3000000000;
	pass(100000000, 0);
	HAS("clock_steps", 2);
	CHECK_NEAR((double)got("clock_stepped"), 1500000 - 3000000000.0, 2000);
	fake.on = 0;
	drop();
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
	RUN(devices_that_were_absent);
	RUN(interface_from_another_namespace);
	RUN(cpus_go_and_come);
	RUN(energy_wraps_at_its_range);
	RUN(counters_of_several_devices);
	RUN(closed_descriptors_are_opened_again);
	RUN(faults_are_counted_per_thread);
	RUN(events_of_a_process_are_inherited);
	RUN(ended_thread_is_said);
	RUN(foreign_pipes_are_not_read);
	RUN(totals_lie_between_outside_totals);
	RUN(steps_are_told_from_slewing);
	RUN(template_of_a_plugin_works);
	return check_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as a file of /proc or /sys, for every parser of the counter sources. The first byte of the input says
 * which file it is; the rest is its content at the first read, and backwards at the second, so that totals fall,
 * wrap and vanish. With clang -fsanitize=fuzzer it searches; built plainly it makes inputs from a fixed seed out of
 * true ones, and reads the files that are named too. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sampler/source.h"

enum { MAX = 512, LONGEST = 8192 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each parser's file, its counters, and a text of the kind that it reads. */
static const struct {
	const char *path, *rules[2];
	enum smp_scope scope;
	const char *seed;
	/* clang-format off */
} target[] = {
	{ "/proc/stat", { "cpu_*", "cpu_**" }, SMP_NODE, "cpu  1 2 3 4 5 6 7 8 9 0\ncpu0 1 2 3 4 5 6 7 8 9 0\ncpu17 4294967295 2 3 4 5 6 7 8\nintr 5 6\n" },
	{ "/sys/block/sda/stat", { "disk_io", "disk_**" }, SMP_NODE, "  10 0 4294967290 5 6 7 18446744073709551615 9 0 1 2" },
	{ "/sys/class/net/eth0/statistics/rx_bytes", { "net_io", "net_**" }, SMP_NODE, "18446744073709551615\n" },
	{ "/sys/class/infiniband/a0/ports/1/counters/port_rcv_data", { "rdma_io", "rdma_**" }, SMP_NODE, "123\n" },
	{ "/proc/meminfo", { "mem_*", "swap_free" }, SMP_NODE, "MemFree:   12 kB\nCached: 7 kB\nSwapFree: 18446744073709551615 kB\n" },
	{ "/proc/vmstat", { "node_*", "swap_*" }, SMP_NODE, "pgfault 5\npgmajfault 6\npswpin 7\n" },
	{ "/proc/loadavg", { "load_*", "load_1" }, SMP_NODE, "123.45 6.7890123456789 .5 1/2 3" },
	{ "/proc/pressure/memory", { "psi_*", "psi_mem" }, SMP_NODE, "some avg10=0.00 total=7\nfull avg10=0.0 total=8\n" },
	{ "/proc/self/cgroup", { "cgroup_*", "cgroup_mem" }, SMP_NODE, "9:name=x:/\n0::/a/../../b c\n" },
	{ "/sys/fs/cgroup/a/io.stat", { "cgroup_*", "cgroup_read" }, SMP_NODE, "8:0 rbytes=1 wbytes=2\n9:9 rbytes=18446744073709551615 xrbytes=3\n" },
	{ "/proc/self/stat", { "proc_*", "proc_threads" }, SMP_PROCESS, "1 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21" },
	{ "/proc/self/io", { "proc_*", "proc_read" }, SMP_PROCESS, "rchar: 1\nwchar: 2\nread_bytes: 3\n" },
	{ "/proc/self/statm", { "proc_rss", "proc_vm" }, SMP_PROCESS, "1 2 3" },
	{ "/proc/self/task/7/status", { "thread_*", "thread_nvcsw" }, SMP_THREAD, "Name: x\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n" },
	{ "/proc/self/task/7/schedstat", { "thread_*", "thread_run" }, SMP_THREAD, "1 2 3\n" },
	{ "/sys/class/powercap/intel-rapl:0/energy_uj", { "energy", "energy**" }, SMP_NODE, "262143328849\n" },
	{ "/sys/class/powercap/intel-rapl:0/max_energy_range_uj", { "energy", "energy**" }, SMP_NODE, "5\n" },
	{ "/sys/class/powercap/intel-rapl:0/name", { "energy", "energy**" }, SMP_NODE, "package-0\n" },
	{ "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", { "cpu_freq", "cpu_freq**" }, SMP_NODE, "2400000\n" },
	{ "/sys/devices/system/clocksource/clocksource0/current_clocksource", { "clock_*", "clock_source" }, SMP_NODE, "tsc\n" },
	{ "/sys/bus/event_source/devices/cpu_core/type", { "perf_*", "perf_cycles" }, SMP_THREAD, "4294967295\n" },
	{ "/proc/sys/kernel/perf_event_paranoid", { "perf_*", "perf_cycles" }, SMP_THREAD, "-1\n" },
};
/* clang-format on */
enum { N = sizeof(target) / sizeof(target[0]) };

static char top[] = "/dev/shm/fuzz_sampler.XXXXXX";

static void put(const char *path, const uint8_t *data, size_t size)
{
	char full[256], *slash;
	int fd;

	snprintf(full, sizeof(full), "%s%s", top, path);
	for (slash = full + sizeof(top); (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	close(fd);
}

static void clean(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	if (system(command)) {
		abort();
	}
}

static void set_up(void)
{
	static const char *const more[] = {
		"/sys/block/sda/device/x",
		"/sys/class/net/eth0/device/x",
		"/sys/bus/event_source/devices/cpu_atom/type",
		"/sys/class/net/eth0/statistics/tx_bytes",
		"/sys/class/infiniband/a0/ports/1/counters/port_xmit_data",
	};
	size_t i;

	if (!mkdtemp(top)) {
		strcpy(top, "/tmp/fuzz_sampler.XXXXXX");
		if (!mkdtemp(top)) {
			abort();
		}
	}
	atexit(clean);
	for (i = 0; i < N; i++) {
		put(target[i].path, (const uint8_t *)target[i].seed, strlen(target[i].seed));
	}
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		put(more[i], (const uint8_t *)"9\n", 2);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static union smp_value value[MAX];
	static uint8_t state[MAX], back[LONGEST];
	static int ready;
	struct smp_plan *plan;
	struct smp_set *set;
	struct smp_env env;
	size_t i, t;

	if (!ready) {
		set_up();
		ready = 1;
	}
	if (size < 1 || size > LONGEST) {
		return 0;
	}
	t = data[0] % N;
	data++;
	size--;
	put(target[t].path, data, size);
	smp_env_init(&env);
	env.root = top;
	plan = smp_plan_open(&env, target[t].rules, 2, NULL, 0, NULL);
	if (!plan) {
		abort();
	}
	set = smp_set_open(
		plan, &(struct smp_target){ target[t].scope, 0, target[t].scope == SMP_THREAD ? 7 : 0 }, NULL);
	if (set && smp_set_size(set) <= MAX) {
		smp_set_read(set, value, state);
		for (i = 0; i < size; i++) {
			back[i] = data[size - 1 - i];
		}
		put(target[t].path, back, size);
		smp_set_read(set, value, state);
		put(target[t].path, back, 0);
		smp_set_read(set, value, state);
	}
	smp_set_close(set);
	smp_plan_close(plan);
	put(target[t].path, (const uint8_t *)target[t].seed, strlen(target[t].seed));
	return 0;
}

#ifndef FUZZING
static uint64_t random_state = 20261121;

static uint64_t draw(void)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* A true text with some of its bytes cut, doubled, made others or huge numbers. */
static size_t damage(uint8_t *out, size_t t)
{
	size_t n = strlen(target[t].seed), at, len;
	int i;

	out[0] = (uint8_t)t;
	memcpy(out + 1, target[t].seed, n);
	for (i = (int)(draw() % 4); i >= 0 && n > 0; i--) {
		at = draw() % n;
		switch (draw() % 5) {
		case 0:
			n = at;
			break;
		case 1:
			out[1 + at] = (uint8_t)draw();
			break;
		case 2:
			len = draw() % (n - at);
			memmove(out + 1 + at, out + 1 + at + len, n - at - len);
			n -= len;
			break;
		case 3:
			len = n - at;
			if (2 * n < LONGEST - 64) {
				memmove(out + 1 + n, out + 1 + at, len);
				n += len;
			}
			break;
		default:
			if (n < LONGEST - 64) {
				memmove(out + 1 + at + 24, out + 1 + at, n - at);
				memcpy(out + 1 + at, "999999999999999999999999", 24);
				n += 24;
			}
		}
	}
	return n + 1;
}

static int read_input(const char *path)
{
	static uint8_t buf[LONGEST + 1];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(buf, 1, sizeof(buf), f) : 0;

	if (!f) {
		perror(path);
		return 1;
	}
	fclose(f);
	LLVMFuzzerTestOneInput(buf, n);
	return 0;
}

int main(int argc, char **argv)
{
	static uint8_t buf[LONGEST + 64];
	int i, times = 40, bad = 0;
	size_t t;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-n") && i + 1 < argc) {
			times = atoi(argv[++i]);
		} else {
			bad |= read_input(argv[i]);
		}
	}
	for (t = 0; t < N; t++) {
		for (i = 0; i < times; i++) {
			LLVMFuzzerTestOneInput(buf, damage(buf, t));
		}
		printf("ok %zu - %d damaged texts of %s\n", t + 1, times, target[t].path);
	}
	printf("1..%d\n", (int)N);
	return bad;
}
#endif

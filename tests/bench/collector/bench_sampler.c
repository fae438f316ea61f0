/* SPDX-License-Identifier: BSD-3-Clause */
/* What sampling costs: CPU time of a thread that wakes up and reads cpu, disk and net, over that of one that
 * only wakes up, the two in turn in the same seconds; and our reading of a PAPI set over the bare PAPI_read. */
#include "config.h"
#include "sampler/source.h"
#include "tests/bench/lib/bench.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_PAPI
#include <dlfcn.h>
#include <papi.h>
#endif

enum { MAX = 256 };

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct node {
	struct smp_env env;
	struct smp_plan *plan;
	struct smp_set *set;
	union smp_value value[MAX];
	uint8_t state[MAX];
};

static int open_node(struct node *n, const char *const *rules, size_t n_rules, enum smp_scope scope)
{
	struct smp_target target = { scope, 0, 0 };
	struct tkm_err err;

	smp_env_init(&n->env);
	n->plan = smp_plan_open(&n->env, rules, n_rules, NULL, 0, &err);
	n->set = n->plan ? smp_set_open(n->plan, &target, &err) : NULL;
	if (!n->set || smp_set_size(n->set) > MAX ||
		smp_set_read(n->set, n->value, n->state) != (int)smp_set_size(n->set)) {
		fprintf(stderr, "bench_sampler: %s: not all counters can be read here\n", rules[0]);
		smp_set_close(n->set);
		smp_plan_close(n->plan);
		return -1;
	}
	return 0;
}

static void close_node(struct node *n)
{
	smp_set_close(n->set);
	smp_plan_close(n->plan);
}

/* What the kernel alone takes for the same files, without looking at them. */
static int bare_fd[4], n_bare;

static void open_bare(void)
{
	static const char *const name[] = { "/proc/stat" };
	char path[300], disk[64] = "", nic[64] = "";
	FILE *f = popen("for d in /sys/block/*/device; do d=${d%/device}; echo ${d##*/}; break; done; "
			"for d in /sys/class/net/*/device; do d=${d%/device}; echo ${d##*/}; break; done",
		"r");

	n_bare = 0;
	if (f && fscanf(f, "%63s %63s", disk, nic) == 2) {
		bare_fd[n_bare++] = open(name[0], O_RDONLY);
		snprintf(path, sizeof(path), "/sys/block/%s/stat", disk);
		bare_fd[n_bare++] = open(path, O_RDONLY);
		snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/rx_bytes", nic);
		bare_fd[n_bare++] = open(path, O_RDONLY);
		snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/tx_bytes", nic);
		bare_fd[n_bare++] = open(path, O_RDONLY);
	}
	if (f) {
		pclose(f);
	}
}

enum what { WAKING, BARE, SAMPLING };

/* CPU time per tick of `ticks` ticks, in us. */
static double ticking(struct node *n, long period_ns, int ticks, enum what what)
{
	static char text[512];
	struct timespec next;
	double begin;
	int i, k;

	clock_gettime(CLOCK_MONOTONIC, &next);
	begin = cpu_us();
	for (i = 0; i < ticks; i++) {
		next.tv_nsec += period_ns;
		while (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL)) {
		}
		if (what == SAMPLING) {
			smp_set_read(n->set, n->value, n->state);
		}
		for (k = 0; what == BARE && k < n_bare; k++) {
			if (pread(bare_fd[k], text, sizeof(text), 0) < 0) {
				exit(1);
			}
		}
	}
	return (cpu_us() - begin) / ticks;
}

static void periodic(const char *label, long period_ns, int ticks, int rounds)
{
	static const char *const rules[] = { "disk_io on", "net_io on", "cpu_idle on", "cpu_sys on", "cpu_usr on" };
	double v[3][64], ratio[64], floor_ratio[64], over[64];
	char name[64];
	struct node n;
	int i, k;

	if (open_node(&n, rules, 5, SMP_NODE) < 0) {
		return;
	}
	open_bare();
	for (i = 0; i < rounds; i++) {
		/* the order changes, because the machine's speed drifts */
		for (k = 0; k < 3; k++) {
			v[(k + i) % 3][i] = ticking(&n, period_ns, ticks, (enum what)((k + i) % 3));
		}
		ratio[i] = v[SAMPLING][i] / v[WAKING][i];
		floor_ratio[i] = v[BARE][i] / v[WAKING][i];
		over[i] = v[SAMPLING][i] / v[BARE][i];
	}
	close_node(&n);
	for (k = 0; k < n_bare; k++) {
		close(bare_fd[k]);
	}
	snprintf(name, sizeof(name), "sampler.cpu.%s.ratio", label);
	bench_print(name, ratio, (size_t)rounds, "ratio");
	if (n_bare) {
		snprintf(name, sizeof(name), "sampler.cpu.%s.kernel.ratio", label);
		bench_print(name, floor_ratio, (size_t)rounds, "ratio");
		snprintf(name, sizeof(name), "sampler.cpu.%s.over_kernel.ratio", label);
		bench_print(name, over, (size_t)rounds, "ratio");
	}
	snprintf(name, sizeof(name), "sampler.cpu.%s", label);
	bench_print(name, v[SAMPLING], (size_t)rounds, "us");
	snprintf(name, sizeof(name), "sampler.wake.%s", label);
	bench_print(name, v[WAKING], (size_t)rounds, "us");
}

/* One read in a loop, caches warm: for comparing sources with each other, not for quoting as overhead. */
static void hot(const char *label, const char *const *rules, size_t n_rules, enum smp_scope scope)
{
	enum { ROUNDS = 31, READS = 200 };
	double v[ROUNDS], begin;
	char name[64];
	struct node n;
	int i, k;

	if (open_node(&n, rules, n_rules, scope) < 0) {
		return;
	}
	for (i = 0; i < ROUNDS; i++) {
		begin = cpu_us();
		for (k = 0; k < READS; k++) {
			smp_set_read(n.set, n.value, n.state);
		}
		v[i] = (cpu_us() - begin) / READS;
	}
	close_node(&n);
	snprintf(name, sizeof(name), "sampler.read.%s", label);
	bench_print(name, v, ROUNDS, "us");
}

#ifdef HAVE_PAPI
/* Counters of our own, so that PAPI has something to read without a PMU; libsde comes at run time. */
static long long counted[5];

static int count_something(void)
{
	void *sde = dlopen("libsde.so.1", RTLD_NOW | RTLD_GLOBAL), *handle;
	void *(*init)(const char *);
	int (*add)(void *, const char *, int, int, void *);
	char name[16];
	int i;

	if (!sde) {
		return -1;
	}
	*(void **)&init = dlsym(sde, "papi_sde_init");
	*(void **)&add = dlsym(sde, "papi_sde_register_counter");
	handle = init && add ? init("bench") : NULL;
	for (i = 0; handle && i < 5; i++) {
		snprintf(name, sizeof(name), "C%d", i);
		add(handle, name, 0 /* read-only, totals */, 0 /* long long */, &counted[i]);
	}
	return handle ? 0 : -1;
}

static double bare_loop(int set, int reads)
{
	long long v[5];
	double begin = cpu_us();
	int i;

	for (i = 0; i < reads; i++) {
		PAPI_read(set, v);
		__asm__ volatile("" : : "r"(v) : "memory");
	}
	return cpu_us() - begin;
}

static double our_loop(struct node *n, int reads)
{
	double begin = cpu_us();
	int i;

	for (i = 0; i < reads; i++) {
		smp_set_read(n->set, n->value, n->state);
		__asm__ volatile("" : : "r"(n->value) : "memory");
	}
	return cpu_us() - begin;
}

static void papi(void)
{
	enum { ROUNDS = 51, READS = 20000 };
	static const char *const rules[] = {
		"sde:::bench::C0 on",
		"sde:::bench::C1 on",
		"sde:::bench::C2 on",
		"sde:::bench::C3 on",
		"sde:::bench::C4 on",
	};
	double ratio[ROUNDS], bare[ROUNDS], ours;
	struct node n;
	int i, set = PAPI_NULL, rc;
	char event[40];

	smp_env_init(&n.env);
	smp_prepare(&n.env);
	if (count_something() < 0 || open_node(&n, rules, 5, SMP_PROCESS) < 0) {
		fprintf(stderr, "bench_sampler: no PAPI with libsde here: papi.read.ratio was not measured\n");
		return;
	}
	rc = PAPI_create_eventset(&set);
	for (i = 0; i < 5; i++) {
		snprintf(event, sizeof(event), "%.*s", (int)strcspn(rules[i], " "), rules[i]);
		rc = rc == PAPI_OK ? PAPI_add_named_event(set, event) : rc;
	}
	if (rc != PAPI_OK || PAPI_start(set) != PAPI_OK) {
		fprintf(stderr,
			"bench_sampler: PAPI cannot read its software-defined events: papi.read.ratio was not "
			"measured\n");
		return;
	}
	for (i = 0; i < ROUNDS; i++) {
		if (i & 1) {
			bare[i] = bare_loop(set, READS);
			ours = our_loop(&n, READS);
		} else {
			ours = our_loop(&n, READS);
			bare[i] = bare_loop(set, READS);
		}
		ratio[i] = ours / bare[i];
		bare[i] *= 1e3 / READS;
	}
	close_node(&n);
	bench_print("papi.read.ratio", ratio, ROUNDS, "ratio");
	bench_print("papi.read.bare", bare, ROUNDS, "ns");
}
#endif

/* vtcounters --fast as a user starts it, from the folder of the build. */
static void fast(void)
{
	double v[11], begin;
	int i;

	for (i = 0; i < 11; i++) {
		begin = now_s();
		if (system("./vtcounters --fast >/dev/null")) {
			fprintf(stderr, "bench_sampler: no ./vtcounters here: vtcounters.fast was not measured\n");
			return;
		}
		v[i] = (now_s() - begin) * 1e3;
	}
	bench_print("vtcounters.fast", v, 11, "ms");
}

int main(void)
{
	static const char *const cpu[] = { "cpu_* on" }, *const disk[] = { "disk_io on" },
				 *const net[] = { "net_io on" };
	static const char *const rusage[] = { "proc_usr on", "proc_sys on" }, *const io[] = { "proc_read on" };
	static const char *const perf[] = { "perf_task_clock:process on" };

	prctl(PR_SET_TIMERSLACK, 1);
	/* as vtsampler does, whose memory is not in pages of its own for each source */
	smp_own_process();
	periodic("100ms", 100000000, 20, 9);
	periodic("10ms", 10000000, 100, 15);
	hot("cpu", cpu, 1, SMP_NODE);
	hot("disk", disk, 1, SMP_NODE);
	hot("net", net, 1, SMP_NODE);
	hot("rusage", rusage, 2, SMP_PROCESS);
	hot("proc_io", io, 1, SMP_PROCESS);
	hot("perf", perf, 1, SMP_PROCESS);
#ifdef HAVE_PAPI
	papi();
#endif
	fast();
	return 0;
}

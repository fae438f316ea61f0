/* SPDX-License-Identifier: BSD-3-Clause */
/* What the event of a function costs the thread, in processor time: recorded in memory, recorded and written to the file, rejected by a
 * filter, counted by STATISTICS, and what a call
 * stack of 5 levels adds to a call that is recorded, the same call without in turn. The first two beside
 * a loop that only reads the time stamp counter, slice by slice in turn, so that what else the machine does falls on both. In memory
 * means: the newest blocks take the places of the oldest ones, and nothing is copied to the file. Blocks are written to the file 17 at a
 * time; a slice is ten times that long, since shorter ones contain two such times or one. Each mode is a process of its own, with its
 * traces in a folder of its own. */
#include "config.h"
#include "include/VT.h"
#include "tests/bench/lib/bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 31, CALLS = 1400000, STACKS = 200000 };

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static void work(void)
{
}

static void stacked(void)
{
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* ns per event, two a call. */
static double calls(void (*function)(void), int n)
{
	double t = now();
	int i;

	for (i = 0; i < n; i++) {
		__cyg_profile_func_enter((void *)function, NULL);
		__cyg_profile_func_exit((void *)function, NULL);
	}
	return (now() - t) / (2.0 * n) * 1e9;
}

/* So many levels further down, so that there are callers of ours. */
__attribute__((noinline)) static double deep(int levels, void (*function)(void))
{
	volatile double result = levels ? deep(levels - 1, function) : calls(function, STACKS);

	return result;
}

static double stamps(void)
{
#if defined(__x86_64__)
	double t = now();
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 2 * CALLS; i++) {
		sum += __builtin_ia32_rdtsc();
	}
	__asm__ volatile("" : : "r"(sum));
	return (now() - t) / (2.0 * CALLS) * 1e9;
#else
	return 0;
#endif
}

/* What the stack of a call takes. */
static void stacks(const char *name)
{
	double each[RUNS];
	int i;

	for (i = -3; i < RUNS; i++) {
		double with = deep(6, stacked), without = deep(6, work);

		usleep(20000);
		if (i >= 0) {
			each[i] = 2 * (with - without);
		}
	}
	bench_print(name, each, RUNS, "ns");
}

/* The program with these variables, in this process. */
static int mode(int argc, char **argv, const char *name)
{
	double event[RUNS], bare[RUNS], ratio[RUNS];
	char row[60];
	int i;

	if (VT_initialize(&argc, &argv) != VT_OK) {
		return 1;
	}
	if (!strcmp(name, "stats.call")) {
		VT_traceoff();
	}
	if (!strncmp(name, "trace.stack", 11)) {
		stacks(name);
		return VT_finalize() != VT_OK;
	}
	for (i = -3; i < RUNS; i++) {
		double a = calls(work, CALLS), b = stamps();

		usleep(20000);
		if (i >= 0) {
			event[i] = strcmp(name, "stats.call") ? a : 2 * a;
			bare[i] = b;
			ratio[i] = b > 0 ? a / b : 0;
		}
	}
	VT_finalize();
	snprintf(row, sizeof(row), "%s", name);
	bench_print(row, event, RUNS, "ns");
	if (!strncmp(name, "trace.function", 14) && bare[0] > 0) {
		snprintf(row, sizeof(row), "%s.rdtsc", name);
		bench_print(row, bare, RUNS, "ns");
		snprintf(row, sizeof(row), "%s.ratio", name);
		bench_print(row, ratio, RUNS, "of a loop of rdtsc");
	}
	return 0;
}

static int run(char *program, const char *name, const char *variable, const char *value)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (variable) {
			setenv(variable, value, 1);
		}
		execl("/proc/self/exe", program, name, (char *)NULL);
		_exit(127);
	}
	return pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0;
}

/* The same, with the blocks of 17 times 64 KB and without writing them. */
static int run_in_memory(char *program, const char *name)
{
	int rc;

	setenv("VT_AUTOFLUSH", "off", 1);
	setenv("VT_MEM_OVERWRITE", "on", 1);
	rc = run(program, name, "VT_MEM_MAXBLOCKS", "17");
	unsetenv("VT_AUTOFLUSH");
	unsetenv("VT_MEM_OVERWRITE");
	return rc;
}

static int run_with(char *program, const char *name, const char *fast, const char *cache)
{
	setenv("VT_STATE", "**:stacked 5", 1);
	setenv("VT_PCTRACE_FAST", fast, 1);
	setenv("VT_PCTRACE_CACHE", cache, 1);
	return run(program, name, NULL, NULL);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/bench_trace.XXXXXX", command[100];
	int rc;

	if (argc > 1) {
		return mode(argc, argv, argv[1]);
	}
	if (!mkdtemp(dir) || chdir(dir) < 0) {
		return 1;
	}
	setenv("VT_VERBOSE", "0", 1);
	setenv("VT_FORCE", "on", 1);
	setenv("VT_TIMER", "CPU", 1);
	/* the standard counters at state changes have rows of their own (bench_vt) */
	setenv("VT_COUNTER_MIN_INTERVAL", "-1s", 1);
	rc = run_in_memory(argv[0], "trace.function") | run(argv[0], "trace.function.file", NULL, NULL) |
		run(argv[0], "filter.reject", "VT_STATE", "** OFF") |
		run(argv[0], "stats.event", "VT_STATISTICS", "on");
	/* a call, enter and leave, that is counted and not recorded */
	rc |= run(argv[0], "stats.call", "VT_STATISTICS", "on");
	rc |= run_with(argv[0], "trace.stack.frames", "on", "off") |
		run_with(argv[0], "trace.stack.cache", "off", "on") |
		run_with(argv[0], "trace.stack.unwind", "off", "off");
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return rc | (system(command) != 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a value of VT_countval costs until it is on disk: all processor time of the program and of its sampler process, from start to
 * end, less that of the same program without the calls, over the number of its values. In the raw file, and in the trace. And how much more
 * two threads record than one in bursts of 1 s: memory holds all, or the file takes it; beside it, two threads that only read the counter.
 * Itself, with words, is the program that records. Run in the build folder: bench_values [ROUNDS]. */
#include "config.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/VT.h"
#include "tests/bench/lib/bench.h"

enum { MOST_VALUES = 5, MOST_THREADS = 2, MOST_ROUNDS = 40, AT_ONCE = 1000 };

static int handle[MOST_VALUES];

static uint64_t read_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_nsec;
#endif
}

/* ---- the program ---- */

static int begin_recording(void)
{
	char name[] = "a";
	int cls, i, rc = VT_initialize(NULL, NULL) == VT_OK && VT_classdef("Bench", &cls) == VT_OK ? 0 : -1;

	for (i = 0; rc == 0 && i < MOST_VALUES; i++, name[0]++) {
		rc = VT_countdef(name, cls, VT_COUNT_INTEGER64, VT_ME, NULL, "#", &handle[i]) == VT_OK ? 0 : -1;
	}
	return rc;
}

/* Calls of k values; with pauses of 1 ms after each 1000. */
static int values(int records, long calls, int k, int pauses)
{
	static const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t v[MOST_VALUES] = { 1, 2, 3, 4, 5 };
	long i;

	if (records && begin_recording() < 0) {
		return 1;
	}
	for (i = 0; i < calls; i++) {
		v[0] = (uint64_t)i;
		if (records) {
			VT_countval(k, handle, v);
		} else {
			__asm__ volatile("" : : "r"(v) : "memory");
		}
		if (pauses && i % AT_ONCE == AT_ONCE - 1) {
			nanosleep(&pause, NULL);
		}
	}
	return records && VT_finalize() != VT_OK;
}

static pthread_barrier_t gate;
static _Atomic int over;
static int reads_only;

static void *one_burst(void *arg)
{
	uint64_t v = 0, sum = 0;
	int i;

	if (!reads_only) {
		VT_wakeup(); /* registers */
	}
	pthread_barrier_wait(&gate);
	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		for (i = 0; i < AT_ONCE; i++) {
			v++;
			if (!reads_only) {
				VT_countval(1, handle, &v);
				continue;
			}
			sum += read_counter();
		}
	}
	__asm__ volatile("" : : "r"(sum));
	*(uint64_t *)arg = v;
	return NULL;
}

/* Prints how many values n threads have recorded in a second. */
static int burst(int n, int reads)
{
	static const struct timespec length = { .tv_sec = 1 };
	pthread_t t[MOST_THREADS];
	uint64_t count[MOST_THREADS], sum = 0;
	int i;

	reads_only = reads;
	if (!reads && begin_recording() < 0) {
		return 1;
	}
	pthread_barrier_init(&gate, NULL, (unsigned)n + 1);
	for (i = 0; i < n; i++) {
		pthread_create(&t[i], NULL, one_burst, &count[i]);
	}
	pthread_barrier_wait(&gate);
	nanosleep(&length, NULL);
	atomic_store(&over, 1);
	for (i = 0; i < n; i++) {
		pthread_join(t[i], NULL);
		sum += count[i];
	}
	printf("%llu\n", (unsigned long long)sum);
	return !reads && VT_finalize() != VT_OK;
}

/* ---- who measures it ---- */

static char self[PATH_MAX], dir[] = "/tmp/bench_values.XXXXXX", memory[] = "/dev/shm/bench_values.XXXXXX";

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

/* Runs itself with the words. Returns all processor time until its sampler process has ended, too, or -1; *printed: its number. */
static double cpu_of(const char *const *words, double *printed)
{
	struct rusage use;
	double sum = 0, number = 0;
	int to[2], status;
	FILE *from;
	pid_t who, pid = pipe(to) < 0 ? -1 : fork();

	if (pid == 0) {
		dup2(to[1], STDOUT_FILENO);
		close(to[0]);
		close(to[1]);
		execv(self, (char *const *)(uintptr_t)words);
		_exit(127);
	}
	if (pid < 0 || close(to[1]) < 0 || !(from = fdopen(to[0], "r"))) {
		return -1;
	}
	if (fscanf(from, "%lf", &number) == 1 && printed) {
		*printed = number;
	}
	fclose(from);
	while ((who = wait4(-1, &status, 0, &use)) > 0) {
		sum += seconds(&use.ru_utime) + seconds(&use.ru_stime);
		if (who == pid && (!WIFEXITED(status) || WEXITSTATUS(status))) {
			return -1;
		}
	}
	return sum;
}

/* The trace in this folder, or what stftool makes of the raw file, is good and has a record of each call. */
static int all_there(long calls)
{
	int n = (int)(strstr(self, "/tests/bench/") - self);
	char command[3 * PATH_MAX], line[256];
	long records = -1;
	FILE *from;

	snprintf(command, sizeof(command),
		"ls *.stf >/dev/null 2>&1 || '%.*s/stftool' .VT-flush-*.raw --merge b.stf 2>/dev/null; "
		"VT_VERBOSE=1 '%.*s/stftool' b.stf --verify 2>&1 | sed -n 's/.* \\([0-9]*\\) records, 0 "
		"faults$/\\1/p'; rm -f *.stf* *.prot VT-*",
		n, self, n, self);
	from = popen(command, "r");
	records = from && fgets(line, sizeof(line), from) ? strtol(line, NULL, 10) : -1;
	if (from) {
		pclose(from);
	}
	return records >= calls;
}

static void on_disk(int rounds, const char *raw, int k, int pauses)
{
	const char *with[] = { self, "values", pauses ? "2000000" : "10000000", k == 1 ? "1" : "5",
		pauses ? "pauses" : "tight", NULL };
	const char *without[] = { self, "nothing", with[2], with[3], with[4], NULL };
	double ns[MOST_ROUNDS], a, b;
	long calls = strtol(with[2], NULL, 10);
	char title[80];
	int i;

	setenv("VT_KEEP_RAW_EVENTS", raw, 1);
	for (i = 0; i < rounds; i++) {
		a = cpu_of(with, NULL);
		if (i == 0 && !all_there(calls)) {
			fprintf(stderr, "bench_values: there are not all values on disk\n");
			return;
		}
		b = cpu_of(without, NULL);
		if (a < 0 || b < 0 || system("rm -f *.stf* *.prot VT-*") != 0) {
			fprintf(stderr, "bench_values: the program cannot be run\n");
			return;
		}
		ns[i] = 1e9 * (a - b) / ((double)calls * k);
	}
	snprintf(title, sizeof(title), "values.%s.k%d%s", raw[1] == 'n' ? "raw" : "trace", k, pauses ? ".pauses" : "");
	bench_print(title, ns, (size_t)rounds, "ns of CPU a value");
}

static void bursts(int rounds, const char *name, const char *word)
{
	const char *one[] = { self, word, "1", NULL }, *two[] = { self, one[1], "2", NULL };
	double ratio[MOST_ROUNDS], rate[MOST_ROUNDS], a, b;
	char title[80];
	int i;

	for (i = 0; i < rounds; i++) {
		if (cpu_of(one, &a) < 0 || system("rm -f VT-* *.prot \"$VT_FLUSH_PREFIX\"/VT-*") != 0 ||
			cpu_of(two, &b) < 0 || system("rm -f VT-* *.prot \"$VT_FLUSH_PREFIX\"/VT-*") != 0) {
			fprintf(stderr, "bench_values: the program cannot be run\n");
			return;
		}
		ratio[i] = b / a;
		rate[i] = 1e-6 * a;
	}
	snprintf(title, sizeof(title), "values.threads.%s", name);
	bench_print(title, ratio, (size_t)rounds, "two threads over one");
	snprintf(title, sizeof(title), "values.threads.%s.one", name);
	bench_print(title, rate, (size_t)rounds, "M/s");
}

static int measured(int rounds)
{
	int k;

	/* samplers become our children when they part from the program */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	setenv("VT_VERBOSE", "0", 1);
	setenv("VT_LOGFILE_NAME", "b.stf", 1);
	setenv("VT_FLUSH_LIMIT", "8GB", 1);
	setenv("VT_FLUSH_PREFIX", dir, 1);
	for (k = 1; k <= MOST_VALUES; k += MOST_VALUES - 1) {
		on_disk(rounds, "on", k, 0);
		/* sleeps for 2 s each */
		on_disk((rounds + 2) / 3, "on", k, 1);
		on_disk(rounds, "off", k, 0);
	}
	setenv("VT_KEEP_RAW_EVENTS", "on", 1);
	bursts(rounds, "file", "burst");
	setenv("VT_MEM_FLUSHBLOCKS", "-1", 1);
	setenv("VT_MEM_MAXBLOCKS", "65536", 1);
	bursts(rounds, "memory", "burst");
	if (mkdtemp(memory)) {
		setenv("VT_FLUSH_PREFIX", memory, 1);
		bursts(rounds, "memory.tmpfs", "burst");
		rmdir(memory);
	}
	bursts(rounds, "rdtsc", "reads");
	return 0;
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? (int)strtol(argv[1], NULL, 10) : 7, rc;
	char command[PATH_MAX];

	if (argc == 5) {
		return values(argv[1][0] == 'v', strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10),
			argv[4][0] == 'p');
	}
	if (argc == 3) {
		return burst((int)strtol(argv[2], NULL, 10), argv[1][0] == 'r');
	}
	if (rounds < 1 || rounds > MOST_ROUNDS || !realpath("/proc/self/exe", self) || !mkdtemp(dir) ||
		chdir(dir) < 0) {
		fprintf(stderr, "usage: bench_values [ROUNDS]\n");
		return 1;
	}
	rc = measured(rounds);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") < 0 || system(command) != 0 || rc;
}

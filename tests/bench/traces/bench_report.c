/* SPDX-License-Identifier: BSD-3-Clause */
/* How long vtreport takes, how much memory, and how long its report is: bench_report, of a trace of 64 ranks with 5 counters
 * every 100 ms for an hour, then of 64 ranks with 100 million values. "bench_report 10" measures a trace of 10 GB instead, without
 * an index and with one; it needs as much room in TMPDIR. VTREPORT: the program (default ./vtreport). */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/stf.h"
#include "tests/bench/lib/bench.h"

enum { RANKS = 64, COUNTERS = 5, RUNS = 5 };

static int make(const char *path, uint64_t samples, uint64_t every_ns)
{
	static const char *const names[COUNTERS] = { "proc_usr", "proc_sys", "proc_rss", "proc_read", "proc_write" };
	struct stf_writer_options o = { .resolution = 1e-9, .force = 1 };
	struct stf_err e;
	struct stf_writer *w = stf_writer_create(path, &o, &e);
	uint32_t threads[RANKS], ids[COUNTERS], r, k;
	uint64_t value[RANKS][COUNTERS] = { { 0 } }, i, random = 88172645463325252u;

	if (!w) {
		return -1;
	}
	for (r = 0; r < RANKS; r++) {
		threads[r] = 1;
	}
	stf_writer_processes(w, threads, RANKS);
	for (k = 0; k < COUNTERS; k++) {
		struct stf_counter_definition c = { .id = k + 1,
			.type = STF_COUNTER_U8 | STF_COUNTER_SAMPLE,
			.do_diff = k != 2,
			.name = stf_writer_string(w, names[k]),
			.size_1_1 = 2,
			.unit = "us" };

		ids[k] = k + 1;
		stf_write_counter_definition(w, &c);
	}
	for (i = 0; i < samples; i++) {
		for (r = 0; r < RANKS; r++) {
			struct stf_counter_value v = { i * every_ns + r * 1000, STF_WILLY(r, 0), COUNTERS, value[r],
				ids };

			for (k = 0; k < COUNTERS; k++) {
				random ^= random << 13;
				random ^= random >> 7;
				random ^= random << 17;
				value[r][k] = k == 2 ? random % 1000000 : value[r][k] + random % 100000;
			}
			stf_write_counter_value(w, &v);
		}
	}
	return stf_writer_finish(w, 0, samples * every_ns, &e);
}

/* One run of vtreport, with an index written, or used if there is one. Returns -1 unless it ends with 0. */
static int run(const char *program, const char *trace, const char *html, int index, double *seconds, struct rusage *use)
{
	struct timespec a, b;
	int status;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &a);
	pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout)) {
			_exit(126);
		}
		execl(program, program, trace, "--force", "--output", html, index ? "--index" : (char *)NULL,
			(char *)NULL);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, use) < 0 || status) {
		fprintf(stderr, "bench_report: %s of %s failed\n", program, trace);
		return -1;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	*seconds = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
	return 0;
}

static int measure(const char *name, const char *program, const char *trace, const char *html, int runs)
{
	double seconds[RUNS], cpu[RUNS], memory[RUNS], size[RUNS];
	char title[100];
	int i;

	for (i = 0; i < runs; i++) {
		struct rusage use;
		struct stat st;

		if (run(program, trace, html, 0, &seconds[i], &use) < 0 || stat(html, &st) < 0) {
			return -1;
		}
		cpu[i] = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
		memory[i] = (double)use.ru_maxrss / 1024;
		size[i] = (double)st.st_size / 1024;
	}
	snprintf(title, sizeof(title), "vtreport of %s", name);
	bench_print(title, seconds, (size_t)runs, "s");
	snprintf(title, sizeof(title), "CPU time of vtreport of %s", name);
	bench_print(title, cpu, (size_t)runs, "s");
	snprintf(title, sizeof(title), "memory of vtreport of %s", name);
	bench_print(title, memory, (size_t)runs, "MB");
	snprintf(title, sizeof(title), "report of %s", name);
	bench_print(title, size, (size_t)runs, "KB");
	return 0;
}

/* A trace of so many GB: the first picture without an index, then with one. */
static int measure_large(double gb, const char *program, const char *trace, const char *html)
{
	char name[100], index[240];
	struct rusage use;
	struct stat st;
	double seconds, size;

	/* 70 bytes a sample of five counters */
	if (make(trace, (uint64_t)(gb * 1e9 / 70 / RANKS), 10000000) < 0) {
		fprintf(stderr, "bench_report: no trace of %g GB could be written\n", gb);
		return -1;
	}
	snprintf(name, sizeof(name), "%g GB, no index", gb);
	if (measure(name, program, trace, html, 3) < 0 || run(program, trace, html, 1, &seconds, &use) < 0) {
		return -1;
	}
	snprintf(name, sizeof(name), "vtreport --index of %g GB", gb);
	bench_print(name, &seconds, 1, "s");
	snprintf(index, sizeof(index), "%s.index", trace);
	if (stat(index, &st) < 0) {
		return -1;
	}
	size = (double)st.st_size / 1e6;
	snprintf(name, sizeof(name), "index of %g GB", gb);
	bench_print(name, &size, 1, "MB");
	snprintf(name, sizeof(name), "%g GB with index", gb);
	return measure(name, program, trace, html, RUNS);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t samples, every_ns;
	} trace[] = { { "64 ranks x 1 h, 11.5 M values", 36000, 100000000 },
		{ "64 ranks, 100 M values", 312500, 10000000 } };
	const char *program = getenv("VTREPORT"), *tmp = getenv("TMPDIR");
	char folder[200], stf[220], html[220], command[220];
	int i, bad = 0;

	program = program ? program : "./vtreport";
	snprintf(folder, sizeof(folder), "%s/bench_report.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder)) {
		return 1;
	}
	snprintf(stf, sizeof(stf), "%s/t.stf", folder);
	snprintf(html, sizeof(html), "%s/t.html", folder);
	if (argc > 1) {
		bad = measure_large(strtod(argv[1], NULL), program, stf, html) < 0;
	}
	for (i = 0; argc == 1 && i < 2 && !bad; i++) {
		bad = make(stf, trace[i].samples, trace[i].every_ns) < 0 ||
			measure(trace[i].name, program, stf, html, RUNS) < 0;
	}
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	bad |= system(command) != 0;
	return bad;
}

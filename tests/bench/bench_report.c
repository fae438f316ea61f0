/* SPDX-License-Identifier: BSD-3-Clause */
/* How long vtreport takes, how much memory, and how long its report is: bench_report, of a trace of 64 ranks with 5 counters
 * every 100 ms for an hour, then of 64 ranks with 100 million values. VTREPORT: the program (default ./vtreport). */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stf/stf.h"
#include "tests/bench/bench.h"

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

static int measure(const char *name, const char *program, const char *trace, const char *html)
{
	double seconds[RUNS], memory[RUNS], size[RUNS];
	char title[100];
	int i, status;

	for (i = 0; i < RUNS; i++) {
		struct timespec a, b;
		struct rusage use;
		struct stat st;
		pid_t pid;

		clock_gettime(CLOCK_MONOTONIC, &a);
		pid = fork();
		if (pid == 0) {
			if (!freopen("/dev/null", "w", stdout)) {
				_exit(126);
			}
			execl(program, program, trace, "--force", "--output", html, (char *)NULL);
			_exit(127);
		}
		if (pid < 0 || wait4(pid, &status, 0, &use) < 0 || status || stat(html, &st) < 0) {
			fprintf(stderr, "bench_report: %s of %s failed\n", program, trace);
			return -1;
		}
		clock_gettime(CLOCK_MONOTONIC, &b);
		seconds[i] = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
		memory[i] = (double)use.ru_maxrss / 1024;
		size[i] = (double)st.st_size / 1024;
	}
	snprintf(title, sizeof(title), "vtreport of %s", name);
	bench_print(title, seconds, RUNS, "s");
	snprintf(title, sizeof(title), "memory of vtreport of %s", name);
	bench_print(title, memory, RUNS, "MB");
	snprintf(title, sizeof(title), "report of %s", name);
	bench_print(title, size, RUNS, "KB");
	return 0;
}

int main(void)
{
	static const struct {
		const char *name;
		uint64_t samples, every_ns;
	} trace[] = { { "64 ranks x 1 h, 11.5 M values", 36000, 100000000 },
		{ "64 ranks, 100 M values", 312500, 10000000 } };
	const char *program = getenv("VTREPORT");
	char folder[] = "/tmp/bench_report.XXXXXX", stf[64], html[64], command[100];
	int i, bad = 0;

	if (!mkdtemp(folder)) {
		return 1;
	}
	snprintf(stf, sizeof(stf), "%s/t.stf", folder);
	snprintf(html, sizeof(html), "%s/t.html", folder);
	for (i = 0; i < 2 && !bad; i++) {
		bad = make(stf, trace[i].samples, trace[i].every_ns) < 0 ||
			measure(trace[i].name, program ? program : "./vtreport", stf, html) < 0;
	}
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	bad |= system(command) != 0;
	return bad;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What vtrun costs a program: starting it, and loops that suffer where a library or a thread is in the way. Programs with and without vtrun
 * take turns; what is printed is the ratio of two neighbours, or their difference. Itself, with a word, is the program of the loops. In the
 * build folder: bench_run [ROW PAIRS]. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/lib/bench.h"

extern char **environ;

/* ---- the loops ---- */

static int loop_getc(void)
{
	FILE *from = fopen("/dev/zero", "r"), *to = fopen("/dev/null", "w");
	int i;

	for (i = 0; from && to && i < 300000000; i++) {
		putc(getc(from), to);
	}
	return !from || !to;
}

static int loop_malloc(void)
{
	void *volatile kept[64] = { NULL };
	uint32_t x = 1;
	int i;

	for (i = 0; i < 100000000; i++) {
		x = x * 1664525 + 1013904223;
		free(kept[x >> 26]);
		kept[x >> 26] = malloc(16 + (x & 255));
	}
	return 0;
}

static int loop_fork(void)
{
	const char *const words[] = { "/bin/true", NULL };
	int i, status;
	pid_t pid;

	for (i = 0; i < 1500; i++) {
		pid = fork();
		if (pid == 0) {
			execve(words[0], (char *const *)(uintptr_t)words, environ);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status) {
			return 1;
		}
	}
	return 0;
}

/* ---- one run ---- */

struct used {
	double wall_s, cpu_s; /* CPU of the program and of its children that it waits for, without the sampler */
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

/* Until the sampler has ended, too, which is ours by then, so that it does not disturb the next run. */
static int run(const char *const *words, struct used *u)
{
	double begin = now_s();
	struct rusage usage;
	int status, rc = -1;
	pid_t pid = fork(), who;

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		dup2(null, 2);
		execv(words[0], (char *const *)(uintptr_t)words);
		_exit(127);
	}
	while ((who = wait4(-1, &status, 0, &usage)) > 0) {
		if (who == pid) {
			u->wall_s = now_s() - begin;
			u->cpu_s = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
			rc = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
		}
	}
	return rc;
}

/* ---- figures ---- */

enum { MOST = 60 };

static void figures(const char *name, const char *vtrun, const char *const *words, int rounds, int ratio)
{
	const char *with[16] = { vtrun, "--verbose", "0", "--force", "on", "--" };
	double wall[MOST], cpu[MOST];
	char title[80];
	struct used a, b;
	int i, n = 6;

	for (i = 0; words[i] && n < 15; i++) {
		with[n++] = words[i];
	}
	for (i = 0; i < rounds && i < MOST; i++) {
		if (run(words, &a) < 0 || run(with, &b) < 0) {
			fprintf(stderr, "bench_run: %s cannot be run\n", words[0]);
			return;
		}
		wall[i] = ratio ? b.wall_s / a.wall_s : 1e3 * (b.wall_s - a.wall_s);
		cpu[i] = ratio ? b.cpu_s / a.cpu_s : 1e3 * (b.cpu_s - a.cpu_s);
	}
	snprintf(title, sizeof(title), "run.%s.wall", name);
	bench_print(title, wall, (size_t)i, ratio ? "x plain" : "ms over plain");
	snprintf(title, sizeof(title), "run.%s.cpu", name);
	bench_print(title, cpu, (size_t)i, ratio ? "x plain" : "ms over plain");
}

/* Compiles the program that is in C++. Returns 0, or -1: it cannot, or BENCH_RUN_SHARED is not set. */
static int make_shared(const char *to)
{
	const char *source = getenv("BENCH_RUN_SHARED"), *cxx = getenv("CXX");
	char compile[2 * PATH_MAX + 64];

	snprintf(compile, sizeof(compile), "%s -O2 -o %s %s -pthread", cxx ? cxx : "c++", to, source ? source : "");
	return source && system(compile) == 0 ? 0 : -1;
}

/* The loops take a second and more, so that the start and the end, which are a figure of their own, are less than 1 % of it. Without `only`
 * all rows, with it that one. */
static void rows(const char *self, const char *vtrun, const char *only, int pairs)
{
	const char *of_true[] = { "/bin/true", NULL }, *of_shared[] = { "./shared", NULL };
	const char *of_bash[] = { "/bin/bash", "-c", "for ((i = 0; i < 1500; i++)); do /bin/true; done", NULL };
	const char *of_getc[] = { self, "getc", NULL }, *of_malloc[] = { self, "malloc", NULL },
		   *of_fork[] = { self, "fork", NULL };
	const struct {
		const char *name, *const *words;
		int pairs;
	} row[] = { { "start", of_true, 40 }, { "getc", of_getc, 7 }, { "shared_ptr", of_shared, 7 },
		{ "malloc", of_malloc, 7 }, { "fork_exec", of_fork, 7 }, { "bash", of_bash, 7 } };
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(*row); i++) {
		if (only && strcmp(only, row[i].name) != 0) {
			continue;
		}
		if ((row[i].words == of_shared && make_shared("shared") < 0) ||
			(row[i].words == of_bash && access(of_bash[0], X_OK) < 0)) {
			fprintf(stderr, "bench_run: %s was not measured: its program is missing\n", row[i].name);
			continue;
		}
		figures(row[i].name, vtrun, row[i].words, pairs ? pairs : row[i].pairs, i > 0);
	}
}

int main(int argc, char **argv)
{
	char self[PATH_MAX], vtrun[PATH_MAX], dir[] = "/tmp/bench_run.XXXXXX", command[64];

	if (argc == 2) {
		return !strcmp(argv[1], "getc")      ? loop_getc()
			: !strcmp(argv[1], "malloc") ? loop_malloc()
						     : loop_fork();
	}
	if (!realpath("/proc/self/exe", self) || !realpath("vtrun", vtrun) || !mkdtemp(dir) || chdir(dir) < 0) {
		fprintf(stderr, "bench_run: start it in the build folder\n");
		return 1;
	}
	/* samplers become our children when they part from the program */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	rows(self, vtrun, argc == 3 ? argv[1] : NULL, argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") < 0 || system(command) != 0;
}

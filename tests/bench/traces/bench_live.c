/* SPDX-License-Identifier: BSD-3-Clause */
/* What vttop costs the program that it looks at: one program under vtrun counts what it does per second of its own processor time,
 * in turns with vttop looking twenty times as often as it does by default, and without. Then the time of timertest --fingerprint.
 * Run in the build folder: bench_live [PAIRS]. */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/lib/bench.h"

enum { MOST_PAIRS = 20000, WORDS = 4096 };
static const double turn_s = 0.02;

static double now_s(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the program ---- */

/* In the processor's caches, which vttop could empty; nothing that makes the system's own times a part of it. */
static uint64_t work(uint64_t *words)
{
	uint64_t sum = 0;
	int i, k;

	for (k = 0; k < 8; k++) {
		for (i = 0; i < WORDS; i++) {
			sum += words[i] ^= sum << 7 ^ (uint64_t)i;
		}
	}
	return sum;
}

static int threads(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = -2; /* . and .. */

	while (d && readdir(d)) {
		n++;
	}
	if (d) {
		closedir(d);
	}
	return n;
}

/* For each byte of its input one turn: work per second of processor time, and its threads. */
static int measured(void)
{
	static uint64_t words[WORDS];
	double begin, wall, used;
	long done;
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1) {
		wall = now_s(CLOCK_MONOTONIC);
		begin = now_s(CLOCK_THREAD_CPUTIME_ID);
		done = 0;
		do {
			__asm__ volatile("" : : "r"(work(words)));
			done++;
		} while (now_s(CLOCK_MONOTONIC) - wall < turn_s);
		used = now_s(CLOCK_THREAD_CPUTIME_ID) - begin;
		printf("%.9g %d\n", (double)done / used, threads());
		fflush(stdout);
	}
	return 0;
}

/* ---- who measures it ---- */

struct program {
	pid_t pid;
	int to;
	FILE *from;
};

static int start(struct program *p, const char *const *words)
{
	int in[2], out[2];

	if (pipe(in) < 0 || pipe(out) < 0 || (p->pid = fork()) < 0) {
		return -1;
	}
	if (p->pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[0]);
		close(in[1]);
		close(out[0]);
		close(out[1]);
		execv(words[0], (char *const *)(uintptr_t)words);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	p->to = in[1];
	p->from = fdopen(out[0], "r");
	return p->from ? 0 : -1;
}

/* Returns its processor time. */
static double ended(struct program *p)
{
	struct rusage use = { .ru_maxrss = 0 };

	kill(p->pid, SIGTERM);
	fclose(p->from);
	close(p->to);
	wait4(p->pid, NULL, 0, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
		1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static int turn(struct program *p, double *rate, int *count)
{
	return write(p->to, "x", 1) == 1 && fscanf(p->from, "%lf %d", rate, count) == 2 ? 0 : -1;
}

/* One turn with vttop, which stands still otherwise: it looks at once if its pause is over, and prints what it sees. */
static int turn_with(struct program *p, struct program *top, double *rate, int *count, long *printed)
{
	char lines[65536];
	ssize_t n;
	int rc;

	kill(top->pid, SIGCONT);
	rc = turn(p, rate, count);
	kill(top->pid, SIGSTOP);
	n = read(fileno(top->from), lines, sizeof(lines));
	*printed += n > 0 ? n : 0;
	return rc;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median, and between which of the sorted values it lies with 99 % (the signs of n independent differences). */
static void print_cost(double *cost, int n)
{
	int k = (int)floor(0.5 * n - 0.5 * 2.576 * sqrt(n));

	qsort(cost, (size_t)n, sizeof(*cost), by_value);
	printf("vttop: cost in the program, 20 looks a second\t%.4g\t%%\t%.4g\t%.4g\t%d\n", cost[n / 2],
		cost[k < 0 ? 0 : k], cost[k < 0 ? n - 1 : n - 1 - k], n);
}

static int take_turns(struct program *p, struct program *top, double *cost, int pairs, int *threads_most)
{
	double rate[2];
	long printed = 0;
	int count, i, k;

	fcntl(fileno(top->from), F_SETFL, O_NONBLOCK);
	for (i = 0; i < pairs; i++) {
		for (k = 0; k < 2; k++) {
			int with = (i + k) & 1; /* which comes first changes from pair to pair */

			if ((with ? turn_with(p, top, &rate[1], &count, &printed) : turn(p, &rate[0], &count)) < 0) {
				return -1;
			}
			*threads_most = count > *threads_most ? count : *threads_most;
		}
		cost[i] = 100 * (1 - rate[1] / rate[0]);
	}
	return printed > 50L * pairs / 4 ? 0 : -1; /* did it look? */
}

static int measure_vttop(const char *self, int pairs)
{
	static double cost[MOST_PAIRS];
	char path[300], pid[20];
	const char *words[] = { "./vtrun", "--logfile-name", path, "--force", "--", self, "measured", NULL };
	const char *looks[] = { "./vttop", pid, "--plain", "--period", "50ms", NULL };
	struct program p, top;
	int before, most = 0, rc;
	double rate;

	snprintf(path, sizeof(path), "%s/bench_live.%d.stf", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
		(int)getpid());
	if (start(&p, words) < 0 || turn(&p, &rate, &before) < 0) {
		return -1;
	}
	snprintf(pid, sizeof(pid), "%d", (int)p.pid);
	rc = start(&top, looks) < 0 ? -1 : take_turns(&p, &top, cost, pairs, &most);
	kill(top.pid, SIGKILL);
	ended(&top);
	if (rc == 0) {
		print_cost(cost, pairs);
		printf("vttop: threads that the program gets\t%d\t\t%d\t%d\t%d\n", most - before, most - before,
			most - before, pairs);
	}
	close(p.to); /* it ends, and writes its trace */
	waitpid(p.pid, NULL, 0);
	return rc;
}

static int measure_fingerprint(void)
{
	const char *words[] = { "./timertestcs", "--fingerprint", NULL };
	double s[50];
	char line[2000];
	struct program p;
	size_t i;

	for (i = 0; i < 50; i++) {
		double begin = now_s(CLOCK_MONOTONIC);

		if (start(&p, words) < 0 || !fgets(line, sizeof(line), p.from) || fgetc(p.from) != EOF) {
			return -1;
		}
		s[i] = 1e3 * (now_s(CLOCK_MONOTONIC) - begin);
		ended(&p);
	}
	bench_print("timertest --fingerprint", s, 50, "ms");
	return 0;
}

int main(int argc, char **argv)
{
	int pairs = argc > 1 ? atoi(argv[1]) : 2000;

	if (argc > 1 && !strcmp(argv[1], "measured")) {
		return measured();
	}
	if (pairs < 10 || pairs > MOST_PAIRS) {
		fprintf(stderr, "bench_live: 10 to %d pairs\n", MOST_PAIRS);
		return 2;
	}
	if (measure_fingerprint() < 0 || measure_vttop(argv[0], pairs) < 0) {
		fprintf(stderr, "bench_live: vtrun, vttop or timertestcs failed; start it in the build folder\n");
		return 1;
	}
	return 0;
}

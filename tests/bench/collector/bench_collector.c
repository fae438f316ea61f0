/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector: what an append and a merge cost, how large a merged trace is, what vtrun adds to a program. The
 * programs are run in turn with and without, so that what the machine does besides hits both. */
#include "config.h"
#include "collector-plugin/merge/merge.h"
#include "tests/bench/lib/bench.h"
#include "tests/bench/lib/bench_work.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"

enum { RUNS = 7, STARTS = 31, SLOWDOWNS = 25, APPENDS = 2000000, MERGED = 4000000, COUNTERS = 10 };

static char dir[64] = "/tmp/bench_collector.XXXXXX", vtrun[1100];
static struct tkm_err err;

static double seconds(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void need(int ok)
{
	if (!ok) {
		fprintf(stderr, "bench_collector: %s\n", err.text);
		exit(1);
	}
}

static void name(char *path, int file)
{
	sprintf(path, "%s/raw%d.dat", dir, file);
}

static struct vt_raw *create(int file)
{
	static char path[100];
	struct vt_raw_options o = { .path = path,
		.block_size = 65536,
		.max_blocks = 4096,
		.flush_blocks = 16,
		.autoflush = 1,
		.hz = 1e9,
		.timer = "clock_monotonic",
		.program = "bench",
		.job = "bench",
		.rank = -1,
		.start = ltick(0) };
	struct vt_raw_counter_def d = { .classid = 1, .type = 0x43, .do_diff = 1, .unit = "1" };
	struct vt_raw *r;
	char text[20];
	uint32_t i;

	name(path, file);
	unlink(path);
	r = vt_raw_create(&o, &err);
	need(r != NULL);
	vt_raw_class(r, 1, 0, "bench");
	for (i = 1; i <= COUNTERS; i++) {
		snprintf(text, sizeof(text), "counter %u", i);
		d.id = i;
		d.name = text;
		vt_raw_counter(r, &d);
	}
	vt_raw_clock(r, ltick(0), 0, 0, 0);
	return r;
}

/* n samples of k counters, those of the benches of the trace format; the sixth to tenth are a second set of them. */
static void fill(struct vt_raw *r, unsigned k, int n)
{
	static const uint32_t id[COUNTERS] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	static struct work_block one, other;
	struct vt_raw_stream *s = vt_raw_stream(r);
	unsigned k1 = k > WORK_K ? WORK_K : k;
	uint64_t v[COUNTERS], done = 0;
	struct work w, w2;
	size_t i;

	work_begin(&w, k1);
	work_begin(&w2, WORK_K);
	w2.state++;
	while (done < (uint64_t)n) {
		work_next(&w, &one, (uint64_t)n - done);
		work_next(&w2, &other, (uint64_t)n - done);
		for (i = 0; i < one.n; i++) {
			memcpy(v, one.value[i], k1 * sizeof(*v));
			memcpy(v + k1, other.value[i], (k - k1) * sizeof(*v));
			vt_raw_counters(s, ltick((int64_t)one.time[i]), 0, k, id, v);
		}
		done += one.n;
	}
	vt_raw_stream_end(s);
	vt_raw_close(r, ltick((int64_t)w.now));
}

/* ---- append ---- */

static _Atomic int stop;

static void *keep_house(void *arg)
{
	vt_raw_keep_open(arg);
	while (!stop) {
		vt_raw_wait(arg, (int64_t)(seconds(CLOCK_MONOTONIC) * 1e9) + 100000000);
		vt_raw_tick(arg, ltick(0));
	}
	return NULL;
}

static void bench_append(unsigned k)
{
	static const uint32_t id[5] = { 1, 2, 3, 4, 5 };
	uint64_t v[5] = { 1, 2, 3, 4, 5 };
	double t[RUNS];
	char figure[40];
	int run, i;

	for (run = 0; run < RUNS; run++) {
		struct vt_raw *r = create(0);
		struct vt_raw_stream *s = vt_raw_stream(r);
		pthread_t house;

		stop = 0;
		need(pthread_create(&house, NULL, keep_house, r) == 0);
		vt_raw_counters(s, ltick(0), 0, k, id, v);
		t[run] = seconds(CLOCK_THREAD_CPUTIME_ID);
		for (i = 0; i < APPENDS; i++) {
			v[0] = (uint64_t)i;
			vt_raw_counters(s, ltick(i * 10), 0, k, id, v);
		}
		t[run] = 1e9 * (seconds(CLOCK_THREAD_CPUTIME_ID) - t[run]) / APPENDS;
		stop = 1;
		vt_raw_wake(r);
		pthread_join(house, NULL);
		vt_raw_stream_end(s);
		vt_raw_close(r, ltick(0));
	}
	snprintf(figure, sizeof(figure), "raw.append.k%u", k);
	bench_print(figure, t, RUNS, "ns");
}

/* ---- merge ---- */

static void merge(int files, int compress, double *rate)
{
	struct vt_merge_input in[4] = { { .path = NULL } };
	char path[4][100], trace[100];
	struct vt_merge_options o = { .trace = trace, .force = 1, .compress = compress };
	struct vt_merge_result r;
	double t;
	int i;

	for (i = 0; i < files; i++) {
		name(path[i], i);
		in[i].path = path[i];
	}
	sprintf(trace, "%s/t.stf", dir);
	t = seconds(CLOCK_PROCESS_CPUTIME_ID);
	need(vt_merge(in, (size_t)files, &o, &r, &err) == 0);
	*rate = 1e-6 * (double)r.samples / (seconds(CLOCK_PROCESS_CPUTIME_ID) - t);
}

static void bench_merge(const char *figure, int files)
{
	double rate[RUNS];
	int i;

	for (i = 0; i < files; i++) {
		fill(create(i), 1, MERGED / files);
	}
	for (i = 0; i < RUNS; i++) {
		merge(files, 0, &rate[i]);
	}
	bench_print(figure, rate, RUNS, "million/s");
}

/* ---- size ---- */

static double size_of_trace(void)
{
	static const char *const suffix[] = { "", ".dcl.zst", ".c.0.zst", ".c.0.anc.zst" };
	char path[200];
	struct stat st;
	double sum = 0;
	size_t i;

	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/t.stf%s", dir, suffix[i]);
		sum += stat(path, &st) == 0 ? (double)st.st_size : 0;
	}
	return sum;
}

static void bench_size(void)
{
	const int n = 100000;
	double rate, bytes;

	fill(create(0), COUNTERS, n);
	merge(1, 1, &rate);
	bytes = size_of_trace() / n;
	bench_print("sampler.bytes", &bytes, 1, "bytes");
}

/* ---- whole programs ---- */

static volatile double sink;

/* Half a second of work; the thread's own CPU time goes to *arg. */
static void *compute(void *arg)
{
	double x = 1, begin = seconds(CLOCK_THREAD_CPUTIME_ID);
	long i;

	for (i = 0; i < 400000000; i++) {
		x = x * 1.0000001 + 1e-9;
	}
	sink = x;
	*(double *)arg = seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
	return NULL;
}

static int compute_twice(void)
{
	double one, other;
	pthread_t t;

	need(pthread_create(&t, NULL, compute, &one) == 0);
	compute(&other);
	need(pthread_join(t, NULL) == 0);
	return printf("%.9f\n", one + other) < 0;
}

/* Runs a program; seconds of wall clock and CPU. */
static void run(char *const *argv, double *wall, double *cpu)
{
	struct rusage a, b;
	int status, fd;
	pid_t pid;

	getrusage(RUSAGE_CHILDREN, &a);
	*wall = seconds(CLOCK_MONOTONIC);
	pid = fork();
	if (pid == 0) {
		fd = open("/dev/null", O_WRONLY);
		dup2(fd, 2);
		execv(argv[0], argv);
		_exit(127);
	}
	need(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	*wall = seconds(CLOCK_MONOTONIC) - *wall;
	getrusage(RUSAGE_CHILDREN, &b);
	*cpu = (double)(b.ru_utime.tv_sec - a.ru_utime.tv_sec + b.ru_stime.tv_sec - a.ru_stime.tv_sec) +
		1e-6 * (double)(b.ru_utime.tv_usec - a.ru_utime.tv_usec + b.ru_stime.tv_usec - a.ru_stime.tv_usec);
}

static void bench_start(void)
{
	static char t[] = "/bin/true", minus[] = "--";
	char *plain[] = { t, NULL }, *with[] = { vtrun, minus, t, NULL };
	double wall[STARTS], cpu[STARTS], w, c;
	int i;

	for (i = 0; i < STARTS; i++) {
		run(plain, &w, &c);
		run(with, &wall[i], &cpu[i]);
		wall[i] = 1e3 * (wall[i] - w);
		cpu[i] = 1e3 * (cpu[i] - c);
	}
	bench_print("start", wall, STARTS, "ms");
	bench_print("start.cpu", cpu, STARTS, "ms");
}

/* What two computing threads say of their own CPU time, and what the whole process took besides. */
static void run_compute(char *const *argv, double *threads, double *besides)
{
	int saved = dup(1), fd = open("threads", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char text[40] = "";
	double wall, cpu;

	need(saved >= 0 && fd >= 0 && dup2(fd, 1) == 1);
	run(argv, &wall, &cpu);
	need(dup2(saved, 1) == 1 && pread(fd, text, sizeof(text) - 1, 0) > 0);
	close(saved);
	close(fd);
	*threads = atof(text);
	*besides = cpu - *threads;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median with its interval of 95 % in the place of minimum and maximum: ranks (n -+ 1.96 sqrt n) / 2, whatever the
 * distribution. */
static void print_interval(const char *figure, double *v, size_t n)
{
	size_t low = 0;

	qsort(v, n, sizeof(*v), ascending);
	while ((double)(n - 2 * low) * (double)(n - 2 * low) > 1.96 * 1.96 * (double)n) {
		low++;
	}
	low -= low > 0;
	printf("%s\t%.4g\tpercent\t%.4g\t%.4g\t%zu\n", figure, v[n / 2], v[low], v[n - 1 - low], n);
	fflush(stdout);
}

/* Many short pairs in CPU time, which others on the machine do not take: by how much the threads' own work costs more,
 * and what the sampler takes for itself; their sum is the slowdown where all CPUs are busy. */
static void bench_slowdown(char *self)
{
	static char word[] = "compute", minus[] = "--", period[] = "--sample-period=10ms",
		    delay[] = "--os-counter-delay=100ms";
	char *plain[] = { self, word, NULL }, *with[] = { vtrun, period, delay, minus, self, word, NULL };
	double threads[SLOWDOWNS], own[SLOWDOWNS], sum[SLOWDOWNS], t[2], b[2];
	int i, k;

	for (i = 0; i < SLOWDOWNS; i++) {
		/* each first in turn */
		for (k = 0; k < 2; k++) {
			int is_with = (i + k) % 2;

			run_compute(is_with ? with : plain, &t[is_with], &b[is_with]);
		}
		threads[i] = 100 * (t[1] / t[0] - 1);
		own[i] = 100 * (b[1] - b[0]) / t[0];
		sum[i] = threads[i] + own[i];
	}
	print_interval("sampler.slowdown", sum, SLOWDOWNS);
	print_interval("sampler.slowdown.threads", threads, SLOWDOWNS);
	print_interval("sampler.slowdown.own", own, SLOWDOWNS);
}

static void clean(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (chdir("/") == 0 && system(command) != 0) {
		fprintf(stderr, "bench_collector: cannot remove %s\n", dir);
	}
}

int main(int argc, char **argv)
{
	char self[1000];
	ssize_t n;

	if (argc > 1 && !strcmp(argv[1], "compute")) {
		return compute_twice();
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	need(n > 0);
	self[n] = '\0';
	snprintf(vtrun, sizeof(vtrun), "%.*s/../../../vtrun", (int)(strrchr(self, '/') - self), self);
	need(mkdtemp(dir) != NULL);
	atexit(clean);
	bench_append(1);
	bench_append(5);
	bench_merge("merge.rate", 1);
	bench_merge("merge.rate.4files", 4);
	bench_size();
	need(chdir(dir) == 0);
	setenv("VT_FORCE", "on", 1);
	bench_start();
	bench_slowdown(self);
	return 0;
}

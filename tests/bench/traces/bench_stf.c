/* SPDX-License-Identifier: BSD-3-Clause */
/* What a counter record costs to write, to read and to find again, side by side with OTF2 in one run: the
 * ratios are of pairs that ran one after the other. Options: -n samples, -r runs, -c CPU time instead of the
 * time that went by (on a machine that has other work), -w folder the seconds of OTF2's writer alone. Figures of k = 5 counters
 * per sample end in ".k5", the others are of k = 1. */
#include "config.h"
#include "tests/bench/lib/bench.h"
#include "tests/bench/lib/bench_work.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/stf.h"

enum { MAX_RUNS = 101 };

clockid_t bench_clock = CLOCK_MONOTONIC;
static char dir[400];
static uint64_t samples = 5000000;
static int runs = 5;

static _Noreturn void die(const char *what, const struct stf_err *e)
{
	fprintf(stderr, "bench_stf: %s: %s %s\n", what, e ? e->file : "", e ? e->text : "");
	exit(1);
}

/* Empties a folder, the folders in it too. */
static void remove_all(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char p[800];

	while (d && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
			snprintf(p, sizeof(p), "%s/%s", path, e->d_name);
			if (unlink(p) < 0) {
				remove_all(p);
				rmdir(p);
			}
		}
	}
	if (d) {
		closedir(d);
	}
}

/* All files whose names begin so. */
__attribute__((unused)) static double folder_bytes(const char *prefix)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;
	char p[800];
	double sum = 0;

	while (d && (e = readdir(d))) {
		snprintf(p, sizeof(p), "%s/%s", dir, e->d_name);
		if (strncmp(e->d_name, prefix, strlen(prefix)) == 0 && stat(p, &st) == 0) {
			sum += (double)st.st_size;
		}
	}
	if (d) {
		closedir(d);
	}
	return sum;
}

__attribute__((unused)) static const char *in_dir(const char *name)
{
	static char path[2][500];
	static int i;

	i ^= 1;
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

/* The same samples for each of `procs` processes, which have files of their own. */
static double stf_write_procs(const char *path, uint64_t n, unsigned k, int compress, uint32_t procs)
{
	static const uint32_t one[2] = { 1, 1 }, id[WORK_K] = { 1, 2, 3, 4, 5 };
	static struct work_block b;
	struct stf_writer_options o = { .resolution = 1e-9, .force = 1, .compress = compress, .procs_per_file = 1 };
	struct stf_counter_definition def = { .type = STF_COUNTER_U8 | STF_COUNTER_SAMPLE, .do_diff = 1 };
	struct stf_counter_value r = { .size_1_2 = k, .counters = id };
	struct stf_writer *wr;
	struct stf_err err;
	struct work w;
	double t = bench_now(), sum;
	uint64_t left;
	size_t i;

	work_begin(&w, k);
	wr = stf_writer_create(path, &o, &err);
	if (!wr) {
		die("create", &err);
	}
	stf_writer_processes(wr, one, procs);
	for (i = 0; i < k; i++) {
		def.id = id[i];
		stf_write_counter_definition(wr, &def);
	}
	sum = bench_now() - t;
	for (left = n; left; left -= b.n) {
		work_next(&w, &b, left);
		t = bench_now();
		for (r.willy = 0; r.willy < procs; r.willy++) {
			for (i = 0; i < b.n; i++) {
				r.time = b.time[i];
				r.values = b.value[i];
				stf_write_counter_value(wr, &r);
			}
		}
		sum += bench_now() - t;
	}
	t = bench_now();
	if (stf_writer_finish(wr, 1, 0, &err) < 0) {
		die("write", &err);
	}
	return sum + bench_now() - t;
}

static double stf_write(const char *path, uint64_t n, unsigned k, int compress)
{
	return stf_write_procs(path, n, k, compress, 1);
}

/* Through the cursor that gives any record. */
static double stf_read_records(const char *path, uint64_t from, uint64_t to, struct work_sum *sum)
{
	const struct stf_record *rec;
	struct stf_counter_value v;
	struct stf_reader *r;
	struct stf_cursor *c;
	struct stf_err err;
	double t = bench_now();
	uint32_t j;
	int rc;

	r = stf_reader_open(path, 0, &err);
	c = r ? stf_cursor_open(r, NULL, &err) : NULL;
	if (!c) {
		die("open", &err);
	}
	while ((rc = stf_cursor_next(c, &rec, &err)) > 0) {
		if (rec->time < from || stf_get_counter_value(rec, &v) < 0) {
			continue;
		}
		if (rec->time > to) {
			break;
		}
		sum->n++;
		sum->times += v.time;
		for (j = 0; j < v.size_1_2; j++) {
			sum->values += v.values[j];
		}
	}
	if (rc < 0) {
		die("read", &err);
	}
	stf_cursor_close(c);
	stf_reader_close(r);
	return bench_now() - t;
}

/* Through batches of counter samples, in a window or all; of one component or all. */
static double stf_read_file(
	const char *path, const char *suffix, uint64_t from, uint64_t to, unsigned flags, struct work_sum *sum)
{
	struct stf_cursor_options o = {
		.window = from > 0, .from = from, .to = to, .state = from > 0, .suffix = suffix
	};
	struct stf_counter_batch b;
	struct stf_reader *r;
	struct stf_cursor *c;
	struct stf_err err;
	double t = bench_now();
	uint64_t times = 0, values = 0;
	uint32_t j;
	size_t i;
	int rc;

	r = stf_reader_open(path, flags, &err);
	c = r ? stf_cursor_open_with(r, &o, &err) : NULL;
	if (!c) {
		die("open", &err);
	}
	while ((rc = stf_cursor_counters(c, &b, &err)) > 0) {
		sum->n += b.n;
		for (i = 0; i < b.n; i++) {
			times += b.times[i];
			for (j = 0; j < b.k; j++) {
				values += stf_batch_value(&b, i, j);
			}
		}
	}
	if (rc < 0) {
		die("read", &err);
	}
	sum->times += times;
	sum->values += values;
	stf_cursor_close(c);
	stf_reader_close(r);
	return bench_now() - t;
}

static double stf_read(const char *path, uint64_t from, uint64_t to, struct work_sum *sum)
{
	return stf_read_file(path, NULL, from, to, 0, sum);
}

static void check(const char *what, const struct work_sum *got, const struct work_sum *want)
{
	if (memcmp(got, want, sizeof(*got)) != 0) {
		fprintf(stderr, "bench_stf: %s: the sums are wrong: %llu records, want %llu\n", what,
			(unsigned long long)got->n, (unsigned long long)want->n);
		exit(1);
	}
}

/* The sums that readers must find: all, and the middle 1 % of time. */
struct truth {
	struct work_sum all, window;
	uint64_t from, to;
};

static struct truth find_truth(uint64_t n, unsigned k)
{
	static struct work_block b;
	struct truth t = { { 0 }, { 0 }, 0, 0 };
	struct work w;
	uint64_t left;

	work_begin(&w, k);
	for (left = n; left; left -= b.n) {
		work_next(&w, &b, left);
		work_add(&t.all, &w, &b, 0, UINT64_MAX);
	}
	t.from = w.now / 200 * 99;
	t.to = w.now / 200 * 101;
	work_begin(&w, k);
	for (left = n; left; left -= b.n) {
		work_next(&w, &b, left);
		work_add(&t.window, &w, &b, t.from, t.to);
	}
	return t;
}

/* One figure: values of all runs. */
struct series {
	const char *name, *unit;
	double v[MAX_RUNS];
};

enum {
	WRITE,
	READ,
	MAPPED,
	RMAPPED,
	VERIFIED,
	RVERIFIED,
	RCHECKS,
	RECORDS,
	WINDOW,
	OWRITE,
	OREAD,
	OWINDOW,
	RWRITE,
	RREAD,
	RRECORDS,
	RWINDOW,
	ZWRITE,
	ZREAD,
	ZBYTES,
	ZWINDOW,
	RZWRITE,
	RZREAD,
	N_SERIES
};

static void run_pair(struct series *s, int i, unsigned k, const struct truth *t)
{
	double n = (double)samples, a;
	struct work_sum got;
	char stf[500];

	snprintf(stf, sizeof(stf), "%s/t.stf", dir);
	s[WRITE].v[i] = stf_write(stf, samples, k, 0) / n * 1e9;
	memset(&got, 0, sizeof(got));
	a = stf_read_records(stf, 0, UINT64_MAX, &got);
	check("read records", &got, &t->all);
	s[RECORDS].v[i] = n / a * 1e-6;
	memset(&got, 0, sizeof(got));
	s[READ].v[i] = n / stf_read(stf, 0, UINT64_MAX, &got) * 1e-6;
	check("read", &got, &t->all);
	memset(&got, 0, sizeof(got));
	s[MAPPED].v[i] = n / stf_read_file(stf, NULL, 0, UINT64_MAX, STF_READ_MAP, &got) * 1e-6;
	check("read mapped", &got, &t->all);
	memset(&got, 0, sizeof(got));
	s[VERIFIED].v[i] = n / stf_read_file(stf, NULL, 0, UINT64_MAX, STF_READ_VERIFY, &got) * 1e-6;
	check("read with checksums", &got, &t->all);
	s[RCHECKS].v[i] = s[VERIFIED].v[i] / s[READ].v[i];
	memset(&got, 0, sizeof(got));
	s[WINDOW].v[i] = stf_read(stf, t->from, t->to, &got) * 1e3;
	check("window", &got, &t->window);
#ifdef HAVE_ZSTD
	snprintf(stf, sizeof(stf), "%s/z.stf", dir);
	s[ZWRITE].v[i] = stf_write(stf, samples, k, 1) / n * 1e9;
	s[ZBYTES].v[i] = folder_bytes("z.stf") / n;
	memset(&got, 0, sizeof(got));
	s[ZREAD].v[i] = n / stf_read(stf, 0, UINT64_MAX, &got) * 1e-6;
	check("read compressed", &got, &t->all);
	memset(&got, 0, sizeof(got));
	s[ZWINDOW].v[i] = stf_read(stf, t->from, t->to, &got) * 1e3;
	check("window compressed", &got, &t->window);
#endif
#ifdef HAVE_OTF2
	s[OWRITE].v[i] = xch_otf2_write(in_dir("otf2"), samples, k) / n * 1e9;
	memset(&got, 0, sizeof(got));
	s[OREAD].v[i] = n / xch_otf2_read(in_dir("otf2"), 0, UINT64_MAX, &got) * 1e-6;
	check("OTF2 read", &got, &t->all);
	memset(&got, 0, sizeof(got));
	s[OWINDOW].v[i] = xch_otf2_read(in_dir("otf2"), t->from, t->to, &got) * 1e3;
	check("OTF2 window", &got, &t->window);
	s[RWRITE].v[i] = s[WRITE].v[i] / s[OWRITE].v[i];
	s[RZWRITE].v[i] = s[ZWRITE].v[i] / s[OWRITE].v[i];
	s[RZREAD].v[i] = s[ZREAD].v[i] / s[OREAD].v[i];
	s[RREAD].v[i] = s[READ].v[i] / s[OREAD].v[i];
	s[RVERIFIED].v[i] = s[VERIFIED].v[i] / s[OREAD].v[i];
	s[RMAPPED].v[i] = s[MAPPED].v[i] / s[OREAD].v[i];
	s[RWINDOW].v[i] = s[WINDOW].v[i] / s[OWINDOW].v[i];
	s[RRECORDS].v[i] = s[RECORDS].v[i] / s[OREAD].v[i];
#endif
	remove_all(dir);
}

static void run_all(unsigned k)
{
	/* clang-format off */
	static struct series s[N_SERIES] = {
		[WRITE] = { .name = "stf.write", .unit = "ns" },
		[READ] = { .name = "stf.read", .unit = "M/s" },
		[MAPPED] = { .name = "stf.read.mapped", .unit = "M/s" },
		[RMAPPED] = { .name = "stf.read.mapped.ratio_otf2", .unit = "1" },
		[VERIFIED] = { .name = "stf.read.verified", .unit = "M/s" },
		[RVERIFIED] = { .name = "stf.read.verified.ratio_otf2", .unit = "1" },
		[RCHECKS] = { .name = "stf.read.verified.ratio", .unit = "1" },
		[WINDOW] = { .name = "stf.window", .unit = "ms" },
		[RREAD] = { .name = "stf.read.ratio_otf2", .unit = "1" },
		[RWINDOW] = { .name = "stf.window.ratio_otf2scan", .unit = "1" },
		[RECORDS] = { .name = "stf.read.generic", .unit = "M/s" },
		[ZWRITE] = { .name = "stf.write.zstd", .unit = "ns" },
		[ZREAD] = { .name = "stf.read.zstd", .unit = "M/s" },
		[ZBYTES] = { .name = "stf.bytes.zstd", .unit = "B" },
		[ZWINDOW] = { .name = "stf.window.zstd", .unit = "ms" },
		[RZWRITE] = { .name = "stf.write.zstd.ratio_otf2", .unit = "1" },
		[RZREAD] = { .name = "stf.read.zstd.ratio_otf2", .unit = "1" },
		[OWRITE] = { .name = "otf2.write", .unit = "ns" },
		[OREAD] = { .name = "otf2.read", .unit = "M/s" },
		[OWINDOW] = { .name = "otf2.window.scan", .unit = "ms" },
		[RWRITE] = { .name = "stf.write.ratio_otf2", .unit = "1" },
		[RRECORDS] = { .name = "stf.read.generic.ratio_otf2", .unit = "1" },
	};
	/* clang-format on */
	struct truth t = find_truth(samples, k);
	char name[80];
	int i;

	for (i = 0; i < runs; i++) {
		run_pair(s, i, k, &t);
	}
	for (i = 0; i < N_SERIES; i++) {
#ifndef HAVE_ZSTD
		if (s[i].name && strstr(s[i].name, "zstd")) {
			continue;
		}
#endif
#ifndef HAVE_OTF2
		if (s[i].name && strstr(s[i].name, "otf2")) {
			continue;
		}
#endif
		if (s[i].name) {
			snprintf(name, sizeof(name), "%s%s", s[i].name, k == 5 ? ".k5" : "");
			bench_print(name, s[i].v, (size_t)runs, s[i].unit);
		}
	}
}

/* ---- readers beside each other ---- */

enum { COMPUTE_STEPS = 20000000 };

/* One thread's part: files first to last of the two. */
struct reading {
	const char *path;
	int first, last, cpu; /* cpu -1: where the scheduler puts it */
	int compute;          /* instead of reading, steps that need no memory: what the machine itself gives */
	pthread_barrier_t *start;
	struct work_sum got[2];
	double from, to;
	pthread_t thread;
};

static uint64_t compute(uint64_t x)
{
	int i;

	for (i = 0; i < COMPUTE_STEPS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

static void *do_part(void *arg)
{
	static const char *const suffix[2] = { ".c.0", ".c.1" };
	struct reading *r = arg;
	cpu_set_t set;
	int i;

	if (r->cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(r->cpu, &set);
		pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	}
	pthread_barrier_wait(r->start);
	r->from = bench_now();
	for (i = r->first; i <= r->last; i++) {
		memset(&r->got[i], 0, sizeof(r->got[i]));
		if (r->compute) {
			r->got[i].n = compute((uint64_t)i + 1);
		} else {
			stf_read_file(r->path, suffix[i], 0, UINT64_MAX, 0, &r->got[i]);
		}
	}
	r->to = bench_now();
	return NULL;
}

/* Seconds from the first one's start to the last one's end. */
static double do_parts(struct reading *r, unsigned n)
{
	pthread_barrier_t start;
	double from, to;
	unsigned i;

	pthread_barrier_init(&start, NULL, n);
	for (i = 0; i < n; i++) {
		r[i].start = &start;
		if (pthread_create(&r[i].thread, NULL, do_part, &r[i]) != 0) {
			die("no thread", NULL);
		}
	}
	for (i = 0, from = to = 0; i < n; i++) {
		pthread_join(r[i].thread, NULL);
		from = i == 0 || r[i].from < from ? r[i].from : from;
		to = i == 0 || r[i].to > to ? r[i].to : to;
	}
	pthread_barrier_destroy(&start);
	return to - from;
}

/* One thread with both files over two threads with one each: 2 is all there is. */
static double two_over_one(const char *path, const int cpu[2], int compute, const struct truth *t)
{
	struct reading one = { .path = path, .last = 1, .cpu = cpu[0], .compute = compute }, two[2];
	double a, b;
	int i;

	two[0] = two[1] = one;
	two[0].last = 0;
	two[1].first = 1;
	two[1].cpu = cpu[1];
	a = do_parts(&one, 1);
	b = do_parts(two, 2);
	for (i = 0; i < 2 && !compute; i++) {
		check("parallel", &two[i].got[i], &t->all);
		check("parallel, alone", &one.got[i], &t->all);
	}
	return a / b;
}

/* The first two processors that this program may use. */
static int two_cpus(int cpu[2])
{
	cpu_set_t set;
	int i, n = 0;

	if (sched_getaffinity(0, sizeof(set), &set) < 0) {
		return -1;
	}
	for (i = 0; i < CPU_SETSIZE && n < 2; i++) {
		if (CPU_ISSET(i, &set)) {
			cpu[n++] = i;
		}
	}
	return n == 2 ? 0 : -1;
}

/* Time that went by, whatever -c says. Each reader has a processor of its own, as a parallel program's processes have; beside
 * it where the scheduler puts two threads, and what two processors give for work that needs nothing but them. */
static void bench_parallel(unsigned k)
{
	struct series s[3] = { { .name = "stf.parallel.read" }, { .name = "stf.parallel.read.unpinned" },
		{ .name = "stf.parallel.compute" } };
	static const int anywhere[2] = { -1, -1 };
	struct truth t = find_truth(samples, k);
	clockid_t was = bench_clock;
	char stf[500], name[80];
	int i, cpu[2];

	if (two_cpus(cpu) < 0) {
		fprintf(stderr, "bench_stf: only one processor may be used: stf.parallel was not measured\n");
		return;
	}
	snprintf(stf, sizeof(stf), "%s/p.stf", dir);
	stf_write_procs(stf, samples, k, 0, 2);
	bench_clock = CLOCK_MONOTONIC;
	for (i = 0; i < runs; i++) {
		s[0].v[i] = two_over_one(stf, cpu, 0, &t);
		s[1].v[i] = two_over_one(stf, anywhere, 0, &t);
		s[2].v[i] = two_over_one(stf, cpu, 1, &t);
	}
	bench_clock = was;
	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", s[i].name, k == 5 ? ".k5" : "");
		bench_print(name, s[i].v, (size_t)runs, "1");
	}
	remove_all(dir);
}

/* ---- memory ---- */

/* VmHWM: the most that was resident, pages of mapped files included. */
static double peak_mb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kb = 0;
	char line[200];

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "VmHWM: %lu", &kb) != 1) {
	}
	if (f) {
		fclose(f);
	}
	return (double)kb / 1024;
}

/* -m: reads a trace in a program that has done nothing else, by batches and record by record. */
static int read_for_memory(const char *path)
{
	struct work_sum all = { 0 }, again = { 0 };

	stf_read(path, 0, UINT64_MAX, &all);
	stf_read_records(path, 0, UINT64_MAX, &again);
	check("memory", &again, &all);
	printf("%.2f %llu\n", peak_mb(), (unsigned long long)all.n);
	return 0;
}

/* -w: what OTF2's own writer takes for the samples, in seconds; after -n and -c. The archive is new. */
static int write_otf2(const char *archive)
{
#ifdef HAVE_OTF2
	double t = xch_otf2_write(archive, samples, 1);

	printf("%.6f\n", t);
	return t < 0;
#else
	fprintf(stderr, "bench_stf: %s: this build has no OTF2\n", archive);
	return 77;
#endif
}

/* Megabytes at the peak of reading a trace of 2 GB. */
static void bench_memory(const char *self, int compress)
{
	const uint64_t n = ((uint64_t)2 << 30) / 70;
	unsigned long long seen = 0;
	struct statvfs fs;
	char command[1400];
	double mb = 0;
	FILE *f;

	if (statvfs(dir, &fs) < 0 || (double)fs.f_bavail * (double)fs.f_frsize < 3e9) {
		fprintf(stderr, "bench_stf: less than 3 GB are free for %s: stf.memory was not measured\n", dir);
		return;
	}
	stf_write(in_dir("m.stf"), n, 5, compress);
	snprintf(command, sizeof(command), "'%.500s' -m '%.500s'", self, in_dir("m.stf"));
	f = popen(command, "r");
	if (!f || fscanf(f, "%lf %llu", &mb, &seen) != 2 || pclose(f) != 0 || seen != n) {
		die("memory", NULL);
	}
	bench_print(compress ? "stf.memory.zstd" : "stf.memory", &mb, 1, "MB");
	remove_all(dir);
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	int c;

	while ((c = getopt(argc, argv, "cm:n:r:w:")) != -1) {
		if (c == 'n') {
			samples = strtoull(optarg, NULL, 0);
		} else if (c == 'r') {
			runs = atoi(optarg);
		} else if (c == 'm') {
			return read_for_memory(optarg);
		} else if (c == 'w') {
			return write_otf2(optarg);
		} else if (c == 'c') {
			bench_clock = CLOCK_PROCESS_CPUTIME_ID;
		} else {
			return 2;
		}
	}
	if (samples < 1000 || runs < 1 || runs > MAX_RUNS) {
		fprintf(stderr, "bench_stf: -n at least 1000, -r 1 to %d\n", MAX_RUNS);
		return 2;
	}
	snprintf(dir, sizeof(dir), "%.300s/bench_stf_XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		die("no temporary folder", NULL);
	}
	run_all(1);
	run_all(5);
	bench_parallel(1);
	bench_parallel(5);
	bench_memory(argv[0], 0);
#ifdef HAVE_ZSTD
	bench_memory(argv[0], 1);
#endif
	remove_all(dir);
	rmdir(dir);
	return 0;
}

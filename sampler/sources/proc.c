/* SPDX-License-Identifier: BSD-3-Clause */
/* The process and its threads as the kernel accounts for them: getrusage(2) for the process, and files below
 * /proc/PID for threads and for what getrusage lacks. Also the five standard counters of a process. */
#include "config.h"
#include "sampler/sources/proc.h"
#include "sampler/sources/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"

/* ---- folders --------------------------------------------------------------------------------------- */

const char *smp_task_folder(const struct smp_env *env, int32_t pid, char name[16])
{
	if (pid == 0 || (smp_live(env) && pid == (int32_t)getpid())) {
		return "self";
	}
	snprintf(name, 16, "%d", (int)pid);
	return name;
}

/* Once for a process: its PID namespace stays. */
static int is_proc_above(const struct smp_env *env, int root)
{
	static _Atomic int64_t known; /* the process, and whether it is so */
	int64_t k = atomic_load_explicit(&known, memory_order_relaxed);
	int32_t own = (int32_t)getpid();

	if (!smp_live(env) || root < 0) {
		return 0;
	}
	if (k >> 1 != own) {
		k = (int64_t)own << 1 | tkm_root_is_above(root);
		atomic_store_explicit(&known, k, memory_order_relaxed);
	}
	return (int)(k & 1);
}

struct shown {
	int root;
	const char *folder;
	int32_t tid;
};

static int32_t own_number_of(int root, const char *folder, const char *name)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%s/task/%.20s/status", folder, name);
	return (int32_t)tkm_root_own_number(root, path);
}

static int find_shown_thread(const char *name, void *ctx)
{
	const struct shown *s = ctx;

	return own_number_of(s->root, s->folder, name) == s->tid ? atoi(name) : 0;
}

int32_t smp_task_shown(const struct smp_env *env, int32_t pid, int32_t tid)
{
	int root = smp_root(env), rc = (int)tid;
	char name[16], path[40];

	if (is_proc_above(env, root)) {
		struct shown s = { root, smp_task_folder(env, pid, name), tid };

		snprintf(path, sizeof(path), "/proc/%s/task", s.folder);
		rc = smp_dir_each(root, path, find_shown_thread, &s);
	}
	if (root >= 0) {
		close(root);
	}
	return rc > 0 ? rc : 0;
}

int32_t smp_task_known(const struct smp_env *env, int32_t pid, const char *name)
{
	int root = smp_root(env);
	char folder[16];
	int32_t tid = is_proc_above(env, root) ? own_number_of(root, smp_task_folder(env, pid, folder), name)
					       : (int32_t)atoi(name);

	if (root >= 0) {
		close(root);
	}
	return tid;
}

ssize_t smp_task_stat(const struct smp_file *f, int32_t pid, char text[SMP_STAT_SIZE], int before_us)
{
	static struct {
		char text[SMP_STAT_SIZE];
		ssize_t n;
		int64_t at_us;
		int32_t pid;
	} last; /* of the one thread of vtsampler that samples */
	struct timespec now;
	int64_t now_us;

	if (!f->stays) {
		return smp_file_read(f, text, SMP_STAT_SIZE);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	now_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
	if (last.pid != pid || now_us - last.at_us > before_us) {
		last.n = smp_file_read(f, last.text, SMP_STAT_SIZE);
		last.pid = last.n > 0 ? pid : 0;
		last.at_us = now_us;
	}
	memcpy(text, last.text, SMP_STAT_SIZE);
	return last.n;
}

/* Does a process live whose folder /proc/PID is not shown? */
static int is_task_hidden(const struct smp_env *env, const char *path)
{
	int pid = strncmp(path, "/proc/", 6) ? 0 : atoi(path + 6), root = smp_root(env), rc;
	char folder[32];

	snprintf(folder, sizeof(folder), "proc/%d", pid);
	rc = root >= 0 && pid > 0 && smp_live(env) && kill(pid, 0) == 0 && faccessat(root, folder, F_OK, 0) < 0;
	if (root >= 0) {
		close(root);
	}
	return rc;
}

void smp_task_why(const struct smp_env *env, const char *path, int errnum, char why[SMP_TEXT])
{
	size_t len = strlen(path);
	char text[64];

	if (errnum == EACCES || errnum == EPERM) {
		smp_why(why,
			"%.60s: %s: the process is not dumpable, or has another user. Not sampled; with SAMPLER thread "
			"it is read inside the program",
			path, smp_errno(errnum, text, sizeof(text)));
	} else if (errnum == ENOENT && is_task_hidden(env, path)) {
		smp_why(why,
			"%.60s: %s: /proc is mounted with hidepid. Not sampled; with SAMPLER thread it is read inside "
			"the program",
			path, smp_errno(errnum, text, sizeof(text)));
	} else if (errnum == ENOENT && len > 3 && strcmp(path + len - 3, "/io") == 0) {
		smp_why(why, "no %.100s: this kernel was built without CONFIG_TASK_IO_ACCOUNTING", path);
	} else if (errnum == 0) {
		smp_why(why, "%.100s has no such number: this kernel does not count it", path);
	} else {
		smp_why(why, "%.100s: %s", path, smp_errno(errnum, text, sizeof(text)));
	}
}

/* ---- /proc/PID ----------------------------------------------------------------------------------- */

enum { STATM, STAT, SCHED, TASK_STAT, TASK_SCHED, TASK_IO, TASK_STATUS, N_FILES };

#define PROCESS .scope = SMP_PROCESS
#define THREAD .scope = SMP_THREAD
#define TOTAL .kind = SMP_TOTAL
#define LEVEL .kind = SMP_LEVEL
#define RATE_KB .factor = 1.0 / 1024, .shown_unit = "KB/s"
#define OF_A_CPU(per_second) .factor = 100.0 / (per_second), .shown_unit = "percent"

/* clang-format off */
static const struct smp_text_counter counters[] = {
	{ "proc_rss", "bytes", "memory of the process that is in RAM", PROCESS, LEVEL, .file = STATM, .where = SMP_WORD, .nth = 2 },
	{ "proc_vm", "bytes", "address space of the process", PROCESS, LEVEL, .file = STATM, .where = SMP_WORD, .nth = 1 },
	{ "proc_threads", "threads", "threads of the process", PROCESS, LEVEL, .file = STAT, .where = SMP_STAT, .nth = 20 },
	{ "main_run", "ns", "time that the main thread ran on a CPU", PROCESS, TOTAL, OF_A_CPU(1e9), .file = SCHED, .where = SMP_WORD, .nth = 1 },
	{ "main_wait", "ns", "time that the main thread was ready and waited for a CPU", PROCESS, TOTAL, OF_A_CPU(1e9), .file = SCHED, .where = SMP_WORD, .nth = 2 },
	{ "thread_run", "ns", "time that the thread ran on a CPU", THREAD, TOTAL, OF_A_CPU(1e9), .file = TASK_SCHED, .where = SMP_WORD, .nth = 1 },
	{ "thread_wait", "ns", "time that the thread was ready and waited for a CPU", THREAD, TOTAL, OF_A_CPU(1e9), .file = TASK_SCHED, .where = SMP_WORD, .nth = 2 },
	{ "thread_usr", "ticks", "CPU time of the thread in user code", THREAD, TOTAL, OF_A_CPU(100), .file = TASK_STAT, .where = SMP_STAT, .nth = 14 },
	{ "thread_sys", "ticks", "CPU time of the thread in system code", THREAD, TOTAL, OF_A_CPU(100), .file = TASK_STAT, .where = SMP_STAT, .nth = 15 },
	{ "thread_minflt", "faults", "page faults of the thread without I/O", THREAD, TOTAL, .file = TASK_STAT, .where = SMP_STAT, .nth = 10 },
	{ "thread_majflt", "faults", "page faults of the thread with I/O", THREAD, TOTAL, .file = TASK_STAT, .where = SMP_STAT, .nth = 12 },
	{ "thread_cpu", "cpu", "CPU that the thread last ran on", THREAD, LEVEL, .file = TASK_STAT, .where = SMP_STAT, .nth = 39 },
	{ "thread_nvcsw", "switches", "times that the thread gave up its CPU to wait", THREAD, TOTAL, .file = TASK_STATUS, .where = SMP_LABEL, .label = "voluntary_ctxt_switches:" },
	{ "thread_nivcsw", "switches", "times that the thread was taken off its CPU", THREAD, TOTAL, .file = TASK_STATUS, .where = SMP_LABEL, .label = "nonvoluntary_ctxt_switches:" },
	{ "thread_read", "bytes", "read by the thread through system calls", THREAD, TOTAL, RATE_KB, .file = TASK_IO, .where = SMP_LABEL, .label = "rchar:" },
	{ "thread_write", "bytes", "written by the thread through system calls", THREAD, TOTAL, RATE_KB, .file = TASK_IO, .where = SMP_LABEL, .label = "wchar:" },
	{ "thread_disk_read", "bytes", "fetched from storage for the thread", THREAD, TOTAL, RATE_KB, .file = TASK_IO, .where = SMP_LABEL, .label = "read_bytes:" },
	{ "thread_disk_write", "bytes", "sent to storage for the thread", THREAD, TOTAL, RATE_KB, .file = TASK_IO, .where = SMP_LABEL, .label = "write_bytes:" },
};
/* clang-format on */

static int path_of_proc_file(const struct smp_env *env, const struct smp_target *target, int file,
	struct tkm_printed *path, char why[SMP_TEXT])
{
	static const char *const name[N_FILES] = { "statm", "stat", "schedstat", "stat", "schedstat", "io", "status" };
	char folder[16];
	const char *pid = smp_task_folder(env, target->pid, folder);
	int tid = target->scope == SMP_THREAD ? (int)smp_task_shown(env, target->pid, target->tid) : (int)target->tid;

	if (target->scope == SMP_THREAD || (file == STATM && tid)
			? tkm_printed(path, "/proc/%s/task/%d/%s", pid, tid, name[file])
			: tkm_printed(path, "/proc/%s/%s", pid, name[file])) {
		return 0;
	}
	return smp_why(why, "no memory");
}

static void why_proc_file_is_missing(
	const struct smp_env *env, int file, const char *at, int errnum, char why[SMP_TEXT])
{
	(void)file;
	smp_task_why(env, at, errnum, why);
}

/* Does this text of statm or status say that the thread has no memory any more? */
static int has_ended(const char *text)
{
	return strncmp(text, "0 0 ", 4) == 0 || (strncmp(text, "Name:", 5) == 0 && !strstr(text, "\nVmRSS:"));
}

/* Looks for a thread that has memory. */
struct search {
	int root;
	const char *pid, *file;
	char *text; /* of its file */
	size_t size;
};

static int find_living_thread(const char *name, void *ctx)
{
	const struct search *l = ctx;
	char path[80];

	snprintf(path, sizeof(path), "/proc/%s/task/%.20s/%s", l->pid, name, l->file);
	return tkm_root_read(l->root, path, l->text, l->size) > 0 && !has_ended(l->text) ? atoi(name) : 0;
}

/* The first thread of a process that has memory, and the text of its file; 0: there is none. A main thread that has ended has
 * none, although the others go on. */
static int32_t living_thread(const struct smp_env *env, int32_t pid, const char *file, char *text, size_t size)
{
	char path[40], folder[16];
	struct search l = { smp_root(env), smp_task_folder(env, pid, folder), file, text, size };
	int tid = 0;

	if (l.root >= 0) {
		snprintf(path, sizeof(path), "/proc/%s/task", l.pid);
		tid = smp_dir_each(l.root, path, find_living_thread, &l);
		close(l.root);
	}
	return tid > 0 ? tid : 0;
}

static int32_t thread_with_statm(const struct smp_env *env, const struct smp_target *target, int file, const char *text)
{
	char other[128];

	return file == STATM && has_ended(text) ? living_thread(env, target->pid, "statm", other, sizeof(other)) : 0;
}

/* statm counts pages, so the page size is entered into a copy of the table. */
static struct smp_text_counter completed[sizeof(counters) / sizeof(counters[0])];

static const struct smp_text_source *source(void)
{
	static struct smp_text_source s = { completed, sizeof(counters) / sizeof(counters[0]), N_FILES,
		path_of_proc_file, why_proc_file_is_missing, thread_with_statm, NULL };
	size_t i;

	if (!completed[0].name) {
		for (i = sizeof(counters) / sizeof(counters[0]); i-- > 0;) {
			completed[i] = counters[i];
			if (counters[i].file == STATM) {
				completed[i].scale = (unsigned)sysconf(_SC_PAGESIZE);
			}
		}
	}
	return &s;
}

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	return smp_text_list(source(), env, hint, each, ctx, why);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	return smp_text_open(source(), env, target, (struct smp_wanted){ names, n, why_each }, why);
}

const struct smp_source smp_proc = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "proc",
	.what = "I/O, memory and scheduling of the process and its threads",
	.list = list,
	.open = open_set,
	.read = smp_text_read,
	.close = smp_text_close,
};

/* ---- getrusage ----------------------------------------------------------------------------------- */

static uint64_t us(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

/* clang-format off */
static const struct smp_counter usage[] = {
	{ .name = "proc_usr", .unit = "us", .what = "CPU time of the process in user code", PROCESS, TOTAL, OF_A_CPU(1e6) },
	{ .name = "proc_sys", .unit = "us", .what = "CPU time of the process in system code", PROCESS, TOTAL, OF_A_CPU(1e6) },
	{ .name = "proc_minflt", .unit = "faults", .what = "page faults of the process without I/O", PROCESS, TOTAL },
	{ .name = "proc_majflt", .unit = "faults", .what = "page faults of the process with I/O", PROCESS, TOTAL },
	{ .name = "proc_nvcsw", .unit = "switches", .what = "times that threads gave up their CPU to wait", PROCESS, TOTAL },
	{ .name = "proc_nivcsw", .unit = "switches", .what = "times that threads were taken off their CPU", PROCESS, TOTAL },
	{ .name = "proc_maxrss", .unit = "bytes", .what = "most memory that the process had in RAM so far", PROCESS, LEVEL },
};
/* clang-format on */

enum { N_USAGE = sizeof(usage) / sizeof(usage[0]) };

/* The switches of a thread of another process; those of threads that have ended stay in the sums. */
struct switches {
	int tid;
	unsigned seen;
	uint64_t n[2];
};

struct usage_set {
	size_t n;
	const struct smp_env *env;
	int pid; /* of another process; 0: the calling one */
	struct smp_file stat, status;
	struct smp_room status_text;
	struct switches *thread;
	size_t n_threads, cap;
	unsigned round;
	uint64_t ended[2], high[N_USAGE];
	int has_cpu;
	uint64_t cpu_us[2]; /* user and system, of the last reading */
	unsigned char which[];
};

static int usage_list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	size_t i;
	int rc = 0;

	(void)why;
	for (i = 0; rc == 0 && i < N_USAGE && tkm_glob_may_match(hint, "proc_"); i++) {
		struct smp_counter c = usage[i];

		c.missing = smp_live(env) ? NULL : "getrusage(2) is about the calling process, not about a snapshot";
		rc = each(&c, ctx);
	}
	return rc;
}

/* ---- CPU time and switches of another process, by its files: the kernel's steps are 10 ms for the parts of CPU time ---- */

static void usage_close(void *set)
{
	struct usage_set *s = set;

	smp_file_close(&s->stat);
	smp_file_close(&s->status);
	free(s->status_text.text);
	free(s->thread);
	free(s);
}

static int usage_of_other(struct usage_set *s, char why[SMP_TEXT])
{
	char path[64], text[64];
	int root = smp_root(s->env), rc;

	snprintf(path, sizeof(path), "/proc/%d/stat", s->pid);
	rc = root < 0 ? -1 : smp_file_open(&s->stat, root, path);
	snprintf(path, sizeof(path), "/proc/%d/status", s->pid);
	rc = rc < 0 ? rc : smp_file_open(&s->status, root, path);
	if (rc < 0) {
		smp_why(why, "%.60s: %s", path, smp_errno(errno, text, sizeof(text)));
	}
	if (root >= 0) {
		close(root);
	}
	return rc;
}

static uint64_t labelled(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at ? strtoull(at + strlen(label), NULL, 10) : 0;
}

static struct switches *thread_of(struct usage_set *s, int tid)
{
	size_t i;

	for (i = 0; i < s->n_threads && s->thread[i].tid != tid; i++) {
	}
	if (i < s->n_threads) {
		return &s->thread[i];
	}
	if (TKM_GROW(s->thread, s->cap, s->n_threads + 1) < 0) {
		return NULL;
	}
	s->thread[s->n_threads] = (struct switches){ .tid = tid };
	return &s->thread[s->n_threads++];
}

struct each_thread {
	struct usage_set *s;
	int root;
};

static int add_switches_of_thread(const char *name, void *ctx)
{
	struct each_thread *e = ctx;
	int tid = atoi(name);
	struct switches *t = tid > 0 ? thread_of(e->s, tid) : NULL;
	char path[64], *text = NULL;

	if (t) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/status", e->s->pid, tid);
		t->seen = e->s->round;
		text = tkm_root_text(e->root, path);
	}
	if (text && *text) {
		t->n[0] = labelled(text, "\nvoluntary_ctxt_switches:");
		t->n[1] = labelled(text, "nonvoluntary_ctxt_switches:");
	}
	free(text);
	return 0;
}

/* Adds the switches of each thread, because the kernel counts them by thread only. */
static void add_switches(struct usage_set *s, const char *status, uint64_t sum[2])
{
	struct each_thread e = { s, -1 };
	char path[64];
	size_t i;

	s->round++;
	if (labelled(status, "\nThreads:") == 1 && s->n_threads <= 1) {
		struct switches *t = thread_of(s, s->pid);

		if (t) {
			t->seen = s->round;
			t->n[0] = labelled(status, "\nvoluntary_ctxt_switches:");
			t->n[1] = labelled(status, "nonvoluntary_ctxt_switches:");
		}
	} else if ((e.root = smp_root(s->env)) >= 0) {
		snprintf(path, sizeof(path), "/proc/%d/task", s->pid);
		smp_dir_each(e.root, path, add_switches_of_thread, &e);
		close(e.root);
	}
	for (i = 0; i < s->n_threads;) {
		if (s->thread[i].seen != s->round) {
			s->ended[0] += s->thread[i].n[0];
			s->ended[1] += s->thread[i].n[1];
			s->thread[i] = s->thread[--s->n_threads];
		} else {
			sum[0] += s->thread[i].n[0];
			sum[1] += s->thread[i].n[1];
			i++;
		}
	}
	sum[0] += s->ended[0];
	sum[1] += s->ended[1];
}

static int is_usage_selected(const struct usage_set *s, unsigned from, unsigned to)
{
	size_t i;

	for (i = 0; i < s->n && !(s->which[i] >= from && s->which[i] <= to); i++) {
	}
	return i < s->n;
}

/* Divides the CPU time. The total is exact; the kernel's parts of it move in steps of a tick, which within a short interval would be
 * many times the interval. So the parts follow the kernel's, but grow by no more than the total does. */
static void divide_cpu_time(
	struct usage_set *s, uint64_t total_us, uint64_t usr_us, uint64_t sys_us, uint64_t v[N_USAGE])
{
	uint64_t sum = usr_us + sys_us, rest, usr, grown;

	total_us = total_us > sum ? total_us : sum;
	total_us = total_us > s->cpu_us[0] + s->cpu_us[1] ? total_us : s->cpu_us[0] + s->cpu_us[1];
	rest = total_us - sum;
	usr = usr_us + (sum ? (uint64_t)((unsigned __int128)rest * usr_us / sum) : rest);
	grown = usr > s->cpu_us[0] ? usr - s->cpu_us[0] : 0;
	if (s->has_cpu && grown > total_us - s->cpu_us[0] - s->cpu_us[1]) {
		grown = total_us - s->cpu_us[0] - s->cpu_us[1];
	}
	s->has_cpu = 1;
	s->cpu_us[0] += grown;
	s->cpu_us[1] = total_us - s->cpu_us[0];
	v[0] = s->cpu_us[0];
	v[1] = s->cpu_us[1];
}

static uint64_t cpu_clock_us(clockid_t id)
{
	struct timespec ts;

	return clock_gettime(id, &ts) == 0 ? (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000 : 0;
}

static void add_cpu_times(struct usage_set *s, const char *stat, uint64_t v[N_USAGE])
{
	const char *at = strrchr(stat, ')');
	uint64_t field[16] = { 0 }, tick_us = 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	clockid_t id;
	int i;

	for (i = 3; at && i < 16; i++) {
		at = strchr(at + 1, ' ');
		field[i] = at && i > 3 ? strtoull(at + 1, NULL, 10) : 0;
	}
	divide_cpu_time(s, clock_getcpuclockid(s->pid, &id) == 0 ? cpu_clock_us(id) : 0, field[14] * tick_us,
		field[15] * tick_us, v);
	v[2] = field[10];
	v[3] = field[12];
}

static int read_other(struct usage_set *s, uint64_t v[N_USAGE])
{
	char text[4096]; /* of a thread that has memory: the lines at the begin */
	const char *status;
	uint64_t sum[2] = { 0, 0 };
	int i;

	if (smp_task_stat(&s->stat, s->pid, text, SMP_SAME_SAMPLE_US) <= 0) {
		return -1;
	}
	add_cpu_times(s, text, v);
	if (is_usage_selected(s, 4, N_USAGE - 1)) {
		if (smp_file_whole(&s->status, &s->status_text) <= 0) {
			return -1;
		}
		status = s->status_text.text;
		if (is_usage_selected(s, 4, 5)) {
			add_switches(s, status, sum);
		}
		v[4] = sum[0];
		v[5] = sum[1];
		if (is_usage_selected(s, 6, 6) && has_ended(status)) {
			living_thread(s->env, s->pid, "status", text, sizeof(text));
			status = text;
		}
		v[6] = labelled(status, "\nVmHWM:") * 1024;
	}
	for (i = 0; i < N_USAGE; i++) {
		s->high[i] = v[i] > s->high[i] ? v[i] : s->high[i];
		v[i] = s->high[i];
	}
	return 0;
}

static void *usage_open(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct usage_set *s;
	size_t i, k;

	if (!smp_live(env)) {
		smp_why(why, "getrusage(2) is about the calling process, not about a snapshot");
		return NULL;
	}
	s = calloc(1, sizeof(*s) + n);
	if (!s) {
		smp_why(why, "no memory");
		return NULL;
	}
	s->n = n;
	s->env = env;
	s->pid = target->pid != (int32_t)getpid() ? target->pid : 0;
	s->stat.fd = s->status.fd = -1;
	if (s->pid && usage_of_other(s, why) < 0) {
		usage_close(s);
		return NULL;
	}
	for (i = 0; i < n; i++) {
		for (k = 0; k < N_USAGE && strcmp(usage[k].name, names[i]) != 0; k++) {
		}
		if (k == N_USAGE) {
			smp_why(why_each[i], "no such counter");
		}
		s->which[i] = (unsigned char)k;
	}
	return s;
}

static int read_own(struct usage_set *s, uint64_t v[N_USAGE])
{
	struct rusage r;

	if (getrusage(RUSAGE_SELF, &r) < 0) {
		return -1;
	}
	divide_cpu_time(s, cpu_clock_us(CLOCK_PROCESS_CPUTIME_ID), us(&r.ru_utime), us(&r.ru_stime), v);
	v[2] = (uint64_t)r.ru_minflt;
	v[3] = (uint64_t)r.ru_majflt;
	v[4] = (uint64_t)r.ru_nvcsw;
	v[5] = (uint64_t)r.ru_nivcsw;
	v[6] = (uint64_t)r.ru_maxrss * 1024;
	return 0;
}

static int usage_read(void *set, union smp_value *value, uint8_t *state)
{
	struct usage_set *s = set;
	uint64_t v[N_USAGE];
	int valid = 0;
	size_t i;

	if (s->pid ? read_other(s, v) < 0 : read_own(s, v) < 0) {
		return s->pid ? -1 : 0;
	}
	for (i = 0; i < s->n; i++) {
		if (s->which[i] < N_USAGE) {
			value[i].u = v[s->which[i]];
			state[i] = SMP_VALID;
			valid++;
		}
	}
	return valid;
}

const struct smp_source smp_rusage = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "rusage",
	.what = "CPU time, page faults and context switches of the process, by getrusage(2)",
	.list = usage_list,
	.open = usage_open,
	.read = usage_read,
	.close = usage_close,
};

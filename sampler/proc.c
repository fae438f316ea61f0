/* SPDX-License-Identifier: BSD-3-Clause */
/* The process and its threads as the kernel accounts for them: getrusage(2) for the process, files below
 * /proc/PID for what that lacks and for threads. Also the five standard counters of a process. */
#include "config.h"
#include "sampler/text.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- /proc/PID ----------------------------------------------------------------------------------- */

enum { STATM, IO, STAT, TASK_STAT, TASK_SCHED, TASK_IO, TASK_STATUS, N_FILES };

#define PROCESS .scope = SMP_PROCESS
#define THREAD .scope = SMP_THREAD
#define TOTAL .kind = SMP_TOTAL
#define LEVEL .kind = SMP_LEVEL
#define RATE_KB .factor = 1.0 / 1024, .shown_unit = "KB/s"
#define OF_A_CPU(per_second) .factor = 100.0 / (per_second), .shown_unit = "percent"

static const struct smp_text_counter counters[] = {
	{ "proc_rss", "bytes", "memory of the process that is in RAM", PROCESS, LEVEL, .file = STATM, .where = SMP_WORD, .nth = 2 },
	{ "proc_vm", "bytes", "address space of the process", PROCESS, LEVEL, .file = STATM, .where = SMP_WORD, .nth = 1 },
	{ "proc_threads", "threads", "threads of the process", PROCESS, LEVEL, .file = STAT, .where = SMP_STAT, .nth = 20 },
	{ "proc_read", "bytes", "read by the process through system calls, cached or not", PROCESS, TOTAL, RATE_KB, .file = IO, .where = SMP_LABEL, .label = "rchar:" },
	{ "proc_write", "bytes", "written by the process through system calls, cached or not", PROCESS, TOTAL, RATE_KB, .file = IO, .where = SMP_LABEL, .label = "wchar:" },
	{ "proc_reads", "calls", "read system calls of the process", PROCESS, TOTAL, .file = IO, .where = SMP_LABEL, .label = "syscr:" },
	{ "proc_writes", "calls", "write system calls of the process", PROCESS, TOTAL, .file = IO, .where = SMP_LABEL, .label = "syscw:" },
	{ "proc_disk_read", "bytes", "fetched from storage for the process", PROCESS, TOTAL, RATE_KB, .file = IO, .where = SMP_LABEL, .label = "read_bytes:" },
	{ "proc_disk_write", "bytes", "sent to storage for the process", PROCESS, TOTAL, RATE_KB, .file = IO, .where = SMP_LABEL, .label = "write_bytes:" },
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

static int path(const struct smp_env *env, const struct smp_target *target, int file, char *buf, size_t size,
		char why[SMP_TEXT])
{
	static const char *const name[N_FILES] = { "statm", "io", "stat", "stat", "schedstat", "io", "status" };
	/* "self" is right even where /proc belongs to another PID namespace than getpid() */
	int self = target->pid == 0 || (smp_live(env) && target->pid == (int32_t)getpid());
	char pid[16] = "self";

	(void)why;
	if (!self) {
		snprintf(pid, sizeof(pid), "%d", (int)target->pid);
	}
	if (target->scope == SMP_THREAD) {
		snprintf(buf, size, "/proc/%s/task/%d/%s", pid, (int)target->tid, name[file]);
	} else {
		snprintf(buf, size, "/proc/%s/%s", pid, name[file]);
	}
	return 0;
}

static void missing(const struct smp_env *env, int file, const char *at, int errnum, char why[SMP_TEXT])
{
	char text[64];

	(void)env;
	if (errnum == EACCES || errnum == EPERM) {
		smp_why(why, "%.100s may not be read: the process belongs to somebody else or has changed its user", at);
	} else if (errnum == ENOENT && (file == IO || file == TASK_IO)) {
		smp_why(why, "no %.100s: this kernel was built without CONFIG_TASK_IO_ACCOUNTING", at);
	} else if (errnum == 0) {
		smp_why(why, "%.100s has no such number: this kernel does not count it", at);
	} else {
		smp_why(why, "%.100s: %s", at, smp_errno(errnum, text, sizeof(text)));
	}
}

/* Pages in statm, so the table is completed with the size of one. */
static struct smp_text_counter completed[sizeof(counters) / sizeof(counters[0])];

static const struct smp_text_source *source(void)
{
	static struct smp_text_source s = { completed, sizeof(counters) / sizeof(counters[0]), "", N_FILES, path, missing };
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
	return smp_may_match(hint, "proc_") || smp_may_match(hint, "thread_") ?
		smp_text_list(source(), env, hint, each, ctx, why) : 0;
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
		      char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	return smp_text_open(source(), env, target, names, n, why_each, why);
}

const struct smp_source smp_proc = {
	.abi = VTSOURCE_ABI, .size = sizeof(struct smp_source), .name = "proc",
	.what = "I/O, memory and scheduling of the process and its threads", .list = list, .open = open_set,
	.read = smp_text_read, .close = smp_text_close,
};

/* ---- getrusage ----------------------------------------------------------------------------------- */

static uint64_t us(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec;
}

static const struct smp_counter usage[] = {
	{ .name = "proc_usr", .unit = "us", .what = "CPU time of the process in user code", PROCESS, TOTAL, OF_A_CPU(1e6) },
	{ .name = "proc_sys", .unit = "us", .what = "CPU time of the process in system code", PROCESS, TOTAL, OF_A_CPU(1e6) },
	{ .name = "proc_minflt", .unit = "faults", .what = "page faults of the process without I/O", PROCESS, TOTAL },
	{ .name = "proc_majflt", .unit = "faults", .what = "page faults of the process with I/O", PROCESS, TOTAL },
	{ .name = "proc_nvcsw", .unit = "switches", .what = "times that threads gave up their CPU to wait", PROCESS, TOTAL },
	{ .name = "proc_nivcsw", .unit = "switches", .what = "times that threads were taken off their CPU", PROCESS, TOTAL },
	{ .name = "proc_maxrss", .unit = "bytes", .what = "most memory that the process had in RAM so far", PROCESS, LEVEL },
};

enum { N_USAGE = sizeof(usage) / sizeof(usage[0]) };

struct usage_set {
	size_t n;
	unsigned char which[];
};

static int usage_list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	size_t i;
	int rc = 0;

	(void)why;
	for (i = 0; rc == 0 && i < N_USAGE && smp_may_match(hint, "proc_"); i++) {
		struct smp_counter c = usage[i];

		c.missing = smp_live(env) ? NULL : "getrusage(2) speaks of the calling process, not of a snapshot";
		rc = each(&c, ctx);
	}
	return rc;
}

static void *usage_open(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
			char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct usage_set *s;
	size_t i, k;

	if (!smp_live(env) || (target->pid && target->pid != (int32_t)getpid())) {
		smp_why(why, "getrusage(2) speaks of the calling process only");
		return NULL;
	}
	s = smp_alloc(sizeof(*s) + n);
	if (!s) {
		smp_why(why, "no memory");
		return NULL;
	}
	s->n = n;
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

static int usage_read(void *set, union smp_value *value, uint8_t *state)
{
	const struct usage_set *s = set;
	struct rusage r;
	int valid = 0;
	size_t i;

	if (getrusage(RUSAGE_SELF, &r) < 0) {
		return 0;
	}
	{
		const uint64_t v[N_USAGE] = {
			us(&r.ru_utime), us(&r.ru_stime), (uint64_t)r.ru_minflt, (uint64_t)r.ru_majflt,
			(uint64_t)r.ru_nvcsw, (uint64_t)r.ru_nivcsw, (uint64_t)r.ru_maxrss * 1024,
		};

		for (i = 0; i < s->n; i++) {
			if (s->which[i] < N_USAGE) {
				value[i].u = v[s->which[i]];
				state[i] = SMP_VALID;
				valid++;
			}
		}
	}
	return valid;
}

const struct smp_source smp_rusage = {
	.abi = VTSOURCE_ABI, .size = sizeof(struct smp_source), .name = "rusage",
	.what = "CPU time, page faults and context switches of the process, by getrusage(2)", .list = usage_list,
	.open = usage_open, .read = usage_read, .close = smp_free,
};

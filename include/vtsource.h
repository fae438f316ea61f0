/* SPDX-License-Identifier: BSD-3-Clause */
/* A source of counters: what a source says about its counters and how they are read. The sources of Tickmark
 * and those of third parties (option PLUGIN, vtsource(5)) are the same table entry, so this header is
 * alone, needs C99 only and is installed as <tickmark/vtsource.h>.
 *
 * Who calls: a background thread inside the observed program, or vtcounters. Therefore a source
 *   - never prints, exits, raises a signal, changes a signal mask or handler, the directory, the locale;
 *   - keeps its descriptors O_CLOEXEC and bears that the program closes them all (a read then says "no value");
 *   - allocates in open() if it must, never in read(); read() of one set comes from one thread at a time, but
 *     perhaps not from the thread that opened it; sets of several targets live side by side.
 *
 * Version: VTSOURCE_ABI grows only when an old source would no longer work; members are added at the end of a
 * struct, and its size says whether they are there. */
#ifndef TICKMARK_VTSOURCE_H
#define TICKMARK_VTSOURCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VTSOURCE_ABI 1

/* What a value belongs to, and so how often a counter exists. */
enum smp_scope {
	SMP_NODE,    /* once per node */
	SMP_PROCESS, /* once per process; with perf events: all threads together */
	SMP_THREAD,  /* once per thread */
};

enum smp_type { SMP_U64, SMP_I64, SMP_F64 };

enum smp_kind {
	SMP_TOTAL, /* running total; its differences mean something (do_diff in STF), and it never decreases */
	SMP_LEVEL, /* valid at the time of reading */
};

union smp_value {
	uint64_t u;
	int64_t i;
	double f;
};

/* What read() says of each value, or-ed. 0: there is no value this time, the slot means nothing. */
enum smp_state {
	SMP_VALID = 1,
	SMP_RESTARTED = 2, /* something was lost since the last read: a device went or came, a 32-bit count wrapped
			    * too often to tell. The total goes on from where it was */
	SMP_SCALED = 4,    /* an estimate of a multiplexed event: count * enabled / running */
	SMP_LEFT_OUT = 8,  /* a reading contradicts those before it, so it waits for those that follow: the total is
			    * the one of before */
};

/* One counter. Strings handed out by list() need to live until each() returns only. */
struct smp_counter {
	const char *name;    /* "cpu_idle"; an instance after a colon, "disk_io:sda" */
	const char *unit;    /* of the recorded value: "bytes", "ticks", "ns" */
	const char *what;    /* one line for a person, in English, no full stop */
	const char *missing; /* NULL, or why it cannot be read here and the way out, one line */
	enum smp_scope scope;
	enum smp_type type;
	enum smp_kind kind;
	/* How tools show it: value (of a total: its rate per second) times factor, in shown_unit. The guide's
	 * counters are named, and shown, as in the guide (Intel Trace Collector guide, section 2.11): disk_io is recorded in bytes
	 * and shown with 1.0/1024 in KB/s. 0 and NULL: as recorded. */
	double factor;
	const char *shown_unit;
	double lower, upper; /* bounds of the recorded value; both 0: unknown */
	const char *with;    /* NULL, or the counter that this one explains and is recorded with */
};

/* How the host has set things up. Read-only for sources; lives as long as any set. */
struct smp_env {
	uint32_t size;       /* sizeof of the host's struct */
	uint32_t flags;      /* enum smp_flags */
	const char *root;    /* absolute path; "/" is this machine, anything else a snapshot's folder: then /proc
			     * and /sys are read below it and no system call may stand for them */
	const char *hw;      /* NULL: sources judge themselves which devices are the machine's own */
	double limit_s;      /* a library's initialisation that lasts longer is given up; 0: 2 s */
	const char *cgroup;  /* NULL, or the job's cgroup below /sys/fs/cgroup; NULL: that of this process */
	const char *options; /* a plugin's own text, after its name in PLUGIN; never NULL for a plugin */
	const char
		*trace_dir; /* where the trace is written; NULL: the current folder. Read it only if `size` covers it */
};

enum smp_flags {
	SMP_MULTIPLEX = 1,    /* more events than counters: let the kernel take turns (values become SMP_SCALED) */
	SMP_COUNT_KERNEL = 2, /* count kernel code too where that is allowed; without it user code only */
	SMP_FAST = 4,         /* listing: nothing that lasts longer than a few milliseconds */
	SMP_SHARED = 8,       /* a set may be read by another thread than the one that opened it, one at a time */
	SMP_BRIEF = 16,       /* keep no file of a process or thread open between two readings */
	SMP_FOREIGN = 32, /* this process is the user's program: load no library that begins threads or opens devices */
};

/* What a set is bound to: pid and tid of the observed program. */
struct smp_target {
	enum smp_scope scope;
	int32_t pid; /* 0: the calling process */
	int32_t tid; /* of a SMP_THREAD target; elsewhere 0 */
};

/* Returns 0 to go on, anything else to stop; list() then returns it. */
typedef int (*smp_each)(const struct smp_counter *counter, void *ctx);

enum { SMP_TEXT = 240 }; /* bytes of a reason, with its end */

struct smp_source {
	uint32_t abi;     /* VTSOURCE_ABI */
	uint32_t size;    /* sizeof(struct smp_source) */
	const char *name; /* "disk" */
	const char *what; /* one line for a person */

	/* Calls each() for every counter, also for those that this machine lacks, with the reason in missing.
	 * `hint` is a pattern (the wildcards of option COUNTER) or a plain name: what cannot match may be left out, and a
	 * plain name of an instance or an event that is not listed otherwise is looked up. Returns 0, or what
	 * each() returned, or -1 with a reason when the source as a whole does not work here. */
	int (*list)(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT]);

	/* Opens n counters of one scope, named as listed, for a target. Returns the set, or NULL with the reason
	 * in why. Of counters that do not open alone, why_each[i] (n reasons, empty before) says why; the others
	 * are there. Totals start anywhere, as the kernel has them, if they are the machine's or the process's own,
	 * at 0 if counting begins with open(). */
	void *(*open)(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
		char (*why_each)[SMP_TEXT], char why[SMP_TEXT]);

	/* Reads all values of a set, in the order of open(): value[i] and state[i] (enum smp_state). Returns how
	 * many are valid; -1: the target is gone for good, the set may be closed. */
	int (*read)(void *set, union smp_value *value, uint8_t *state);

	void (*close)(void *set);

	/* NULL, or a number that becomes another one when list() would name other counters of the node, because a
	 * device came: asked about once a second by the thread that reads. Cheap: it reads a directory, say. */
	uint64_t (*mark)(const struct smp_env *env);

	/* NULL, or the numbers of the descriptors that read() needs and that are the set's own in the calling thread's table:
	 * with copies of them under the same numbers the set can be read in another table too. Returns how many there
	 * are, if `most` is enough. Allocates nothing, takes no lock. */
	int (*descriptors)(const void *set, int *fd, int most);

	/* NULL, or how soon a total that begins anew at its end may have done so more than once between two readings: seconds,
	 * at the most that it can grow; 0: never. */
	double (*turn_s)(const struct smp_env *env, const char *name);
};

/* A plugin exports this one function. It is called once, before any other, with the ABI of the host; a
 * source that cannot serve it returns NULL. What it returns is never freed. */
const struct smp_source *vtsource_plugin(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif

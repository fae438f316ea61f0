/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a raw file, as described in doc/raw-format.md. */
#ifndef COLLECTOR_PLUGIN_RAW_FORMAT_H
#define COLLECTOR_PLUGIN_RAW_FORMAT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/ticks.h"
#include "collector-plugin/host/turn.h"

#define VT_RAW_MAGIC "TKMRAW1\n"
#define VT_RAW_ORDER 0x01020304u
#define VT_RAW_BLOCK_MAGIC 0x4b4c4256u /* "VBLK" */
#define VT_RAW_FREE_MAGIC 0x45524656u  /* "VFRE": the block was used, and was moved elsewhere or removed */

/* Only files of this version are read: the programs of an installation are of one version. */
enum { VT_RAW_VERSION = 9, VT_RAW_MIN_BLOCK = 4096, VT_RAW_MAX_COUNTERS = 255 };

/* Names of raw files: .VT-flush-<program>_<rank>-<pid>.raw. They are hidden, and do not end like data of a program, so that
 * `*.dat`, `ls`, make and `rm *` of the program that is recorded do not meet them. */
#define VT_RAW_PREFIX ".VT-flush-"
#define VT_RAW_SUFFIX ".raw"

static inline int vt_raw_is_name(const char *name)
{
	return strncmp(name, VT_RAW_PREFIX, sizeof(VT_RAW_PREFIX) - 1) == 0;
}

enum vt_raw_state {
	VT_RAW_RECORDING = 1, /* if a file is still in this state after a crash, its process was killed */
	VT_RAW_CLOSED = 2,
	VT_RAW_MERGED = 3, /* its data is in a trace; the user asked to keep the file */
};

enum { VT_RAW_PROCESS_TOTALS = 64 };

/* A total of the process that both the program and the sampler process record. */
struct vt_raw_total {
	uint64_t name; /* a hash of the counter's name, 0: free */
	uint64_t highest;
};

/* The counters of the process. One thread at a time reads them, and owns the values that its turn protects
 * (sample/process.c). */
struct vt_raw_process {
	struct vt_turn turn;
	int64_t next;    /* COUNTER-MIN-INTERVAL */
	int64_t high;    /* the latest stamp recorded */
	int64_t low;     /* the latest stamp recorded with values older than those that are in the parts now */
	int64_t read_at; /* when the reading of the values in the parts began; 0: not all are of one reading */
	struct vt_raw_total total[VT_RAW_PROCESS_TOTALS]; /* by a hash of the counter's name */
};

/* Who a process is. The id alone may be that of another one, on another host, in another container, or later. */
struct vt_raw_id {
	char boot[64];                          /* boot id of the node, "" if unknown */
	uint64_t pid_namespace, time_namespace; /* inodes below /proc/self/ns; 0: unknown, or this kernel has none */
	uint64_t born;                          /* as `born` of the head; 0: unknown */
	uint32_t pid, filler;                   /* pid 0: none */
};

/* At offset 0. Texts are terminated. `check` covers the bytes after it up to `state`. */
struct vt_raw_head {
	char magic[8];
	uint32_t order, version;
	uint32_t head_size; /* bytes; the first block is there, a multiple of the page size */
	uint32_t block_size;
	uint64_t check;
	uint32_t pid, parent;
	/* when the process was born, in clock ticks since boot as in /proc/PID/stat: detects a reused pid */
	uint64_t born;
	int32_t rank, ranks; /* -1, 0: no MPI */
	double hz;           /* nominal ticks of the timer per second */
	int64_t start_tick;
	int64_t start_realtime_ns;
	char job[64]; /* one per vtrun; processes of one job are merged together */
	char host[128], ip[64];
	char timer[64];
	char program[256];
	char trace[1024]; /* absolute name of the trace to be made */
	char boot[64];    /* boot id of the node */
	char writer[64];  /* the program that writes the file, and its version: who cannot read it names that */
	/* the members below change while the file is written */
	_Atomic uint32_t state; /* enum vt_raw_state */
	_Atomic uint32_t stop;  /* errno of what first ended or interrupted the recording; 0: nothing did */
	_Atomic int64_t stop_tick;
	_Atomic int64_t end_tick;     /* when it was closed; while it records, when the last housekeeping was */
	_Atomic uint64_t lost;        /* records that were lost because there was no room */
	_Atomic uint64_t overwritten; /* blocks that newer ones have replaced */
	/* Two processes may write a file at the same time: the program and the sampler process. They share the
	 * members below. */
	_Atomic uint64_t file_blocks; /* blocks of the file given out so far */
	_Atomic uint64_t definitions; /* the number of the next definition */
	_Atomic uint32_t streams;     /* data streams begun */
	_Atomic uint32_t sessions;    /* clock sessions of the job that have ended */
	/* enum vt_raw_ending: how the program ended, by its own account, or by exec; 0: unknown */
	_Atomic uint32_t ending;
	/* the program may make no system calls (seccomp): the sampler found that, or prctl() was seen */
	_Atomic uint32_t quiet;
	_Atomic int32_t process_off;    /* recording of the process is switched off: enum in core/hooks.h */
	_Atomic uint32_t protocol;      /* the program writes the protocol; the sampler adds how it ended */
	_Atomic int32_t sampler;        /* process id of the sampler process that is attached; 0: none */
	char reference[64];             /* the free clock beside a timer that is steered; stored before `pairs` */
	_Atomic uint32_t watched;       /* 1: the program counts its calls of MPI, for the sampler to see a deadlock */
	_Atomic uint64_t entered, left; /* calls begun, calls ended */
	_Atomic uint64_t ahead;         /* the sampler has reserved disk space for so many blocks */
	_Atomic uint32_t whole;         /* 1: the program has mapped the file up to its largest size */
	/* 1: the program wants the sampler to read the timer together with the clock `reference`, and to store the pairs
	 * of readings as VT_RAW_DEF_CLOCKS */
	_Atomic uint32_t pairs;
	struct vt_raw_process process;
	_Atomic uint32_t late; /* 1: the program went on before the sampler process was ready */
	/* of a watched rank (mpi/outside.h): things that it may wait for and that are in no trace */
	_Atomic int32_t outside;
	/* 0: one thread of the program is in MPI at a time; else 1 + the number of threads of MPI and of the collector */
	_Atomic uint32_t free_threads;
	_Atomic uint64_t
		callbacks[8];      /* where the objects with call-backs for MPI are loaded; -1: unknown; 0: no more */
	_Atomic uint32_t in_mpi;   /* 1: of a job, and not in MPI_Finalize yet */
	_Atomic uint32_t reported; /* 1: the program has recorded what ends it (VT_RAW_REPORT) */
	struct vt_raw_id id, sampler_id; /* of the program, and of `sampler` */
	struct vt_raw_id merger_id;      /* of VTserver, which makes the trace */
	_Atomic int32_t local_ranks;     /* of the job on this host, by MPI; 0: not known yet */
	_Atomic uint32_t kept;           /* 1: closed, and the user merges it (KEEP-RAW-EVENTS) */
	/* of the job, agreed in MPI_Init: launchers give the name `job` again; 0: not agreed, or no MPI */
	_Atomic uint64_t launch;
};

/* Threads of the program that read their counters at events, for the sampler process: in the second page of the
 * file, after the head. */
struct vt_raw_thread_slot {
	_Atomic int32_t tid;      /* 0: free */
	_Atomic int32_t number;   /* in the trace */
	_Atomic int32_t off;      /* its recording is switched off */
	_Atomic int32_t sampling; /* it reads counters at its events */
	struct vt_turn turn;      /* whose turn it is to read them */
	_Atomic int64_t aside;    /* stamp of the sampler's latest sample of it */
};
enum { VT_RAW_SLOTS = 256, VT_RAW_SLOTS_AT = 4096 };

enum vt_raw_ending {
	VT_RAW_ENDED_EXIT = 1,     /* exit(), return from main, or its last thread */
	VT_RAW_ENDED_AT_ONCE,      /* _exit() */
	VT_RAW_ENDED_EXEC,         /* another program took its place */
	VT_RAW_ENDED_MPI,          /* MPI_Finalize: the ranks made the trace */
	VT_RAW_ENDED_ABORT,        /* MPI_Abort */
	VT_RAW_ENDED_SIGNAL = 256, /* plus the number of a signal that was noted (HANDLE-SIGNALS) */
	VT_RAW_ENDED_STATUS = 1
		<< 16, /* times 1 + the exit status, or the code of MPI_Abort, plus one of the others; without it: unknown */
};

/* The first streams are for definitions: two copies by the program and two by the sampler. Data streams follow. */
enum { VT_RAW_COPIES = 2, VT_RAW_DEFINING = 4 };

/* VT_RAW_TABLE: struct vt_raw_row[], in which a thread counts: `stream` is its number. It is in no stream and never sealed. */
enum vt_raw_kind { VT_RAW_DATA = 1, VT_RAW_DEFINITIONS = 2, VT_RAW_TABLE = 3 };
enum vt_raw_block_state { VT_RAW_OPEN = 1, VT_RAW_FULL = 2, VT_RAW_SEALED = 3 };

/* The head of every block, before its records. A block whose first word is 0 is empty. */
struct vt_raw_block {
	_Atomic uint32_t magic; /* stored last when a block is begun, removed first when it is overwritten */
	uint16_t kind;
	_Atomic uint16_t state;
	uint32_t stream;
	uint32_t late; /* of a table, as in VT_RAW_DEF_STATISTICS; else 0 */
	/* of this block in its stream, from 0: a gap means blocks that were overwritten or damaged */
	uint64_t number;
	/* tick from which the first record's dt counts. Of a table: 0, or 1 + the number of the first definition to which its
	 * rows are being moved; while the table is there, it counts and those do not */
	int64_t base;
	uint64_t lost;         /* records of this stream that were lost just before this block */
	_Atomic uint32_t used; /* bytes of whole records after this head; stored after each record */
	uint32_t filler2;
	uint64_t check; /* of kind, stream, number, base, lost, used and the records; valid once the block is SEALED */
};

enum vt_raw_type {
	/* data */
	/* int64_t: now; the dt of the next record counts from it. Its own dt: so many clock sessions were over when it
	 * was written, 0: unknown */
	VT_RAW_TIME = 1,
	VT_RAW_COUNTERS = 2, /* uint64_t values[n], uint32_t ids[n] */
	VT_RAW_COMMENT = 5,  /* uint32_t length, text */
	/* 3, 4, 6 to 31: events, raw/events.h */
	/* definitions; all strings are uint32_t length, bytes */
	VT_RAW_DEF_CLASS = 32,   /* uint32_t id, parent; name */
	VT_RAW_DEF_COUNTER = 33, /* struct vt_raw_counter_def as far as `factor`; name, unit, shown_unit, description */
	VT_RAW_DEF_THREAD = 34,  /* uint32_t thread, place that it had so far or 0, uint64_t tid; name */
	VT_RAW_DEF_GROUP = 35,   /* uint32_t id, n, members[n]; name */
	VT_RAW_DEF_FUNCTION = 36,    /* uint32_t id, class; name */
	VT_RAW_DEF_CLOCK = 37,       /* int64_t tick, realtime_ns, monotonic_ns, raw_ns */
	VT_RAW_DEF_INFO = 38,        /* class, text */
	VT_RAW_DEF_SCL = 39,         /* uint32_t id, line; file */
	VT_RAW_DEF_STATISTICS = 50,  /* uint32_t thread, late; struct vt_raw_row: to be added up */
	VT_RAW_DEF_OBJECT = 41,      /* uint32_t id, bytes of the build id; build id[32]; path */
	VT_RAW_DEF_FUNCTION_AT = 42, /* uint32_t id, class, object, demangle; uint64_t offset; name or "" */
	VT_RAW_DEF_SCOPE = 40,       /* uint32_t id, class, scl1, scl2; name */
	VT_RAW_DEF_STACK = 52,       /* uint32_t id, n; struct vt_raw_place[n], the innermost call first */
	VT_RAW_DEF_FILE = 45,        /* uint32_t id, communicator or 0; name: what bytes are read from or written to */
	VT_RAW_DEF_TEXT = 46,        /* uint32_t id; text: of a report */
	VT_RAW_DEF_COMM = 43, /* uint32_t id, parent, kind, number, int32_t tag, uint32_t inter, n_own, n, at, m, then
	                          * m struct vt_raw_ranks (raw/communicator.h); name */
	VT_RAW_DEF_CLOCKS =
		44, /* text: whole lines of a rank's block of a .clk file, in the order in which it grew; lines "pair"
	                         * by the sampler process are among them */
};

/* The largest number of places in a call stack. Each is an offset in an object of VT_RAW_DEF_OBJECT from its load
 * address. */
enum { VT_RAW_STACK = 16 };
struct vt_raw_place {
	uint64_t offset;
	uint32_t object, demangle; /* 1: show the function's C++ name as in the source */
};

/* Calls of a function: minimum, maximum and sum of their ticks, with and without what they called. */
struct vt_raw_times {
	uint64_t count;
	/* calls among these that another row counts, too: a call counts once for each of its communications */
	uint64_t more;
	int64_t inclusive[3], exclusive[3];
};

/* What is counted separately: a function, and for functions of MPI the partner and the number of bytes. */
enum vt_raw_row_kind {
	VT_RAW_ROW_CALL,
	VT_RAW_ROW_SEND,
	VT_RAW_ROW_RECEIVE,
	VT_RAW_ROW_COLLECTIVE,
	VT_RAW_ROW_FILE,
	VT_RAW_ROW_KINDS
};
struct vt_raw_row {
	uint32_t function;     /* 0: all that have no row of their own */
	uint32_t communicator; /* its definition; 0: VT_RAW_ROW_CALL */
	int32_t peer;          /* rank in it, of the remote group where there is one */
	uint32_t kind;         /* enum vt_raw_row_kind */
	uint64_t bytes;        /* of one message or share; function 0: the sum over all */
	struct vt_raw_times t;
};

/* The head of every record. The whole record is a multiple of 4 bytes. */
struct vt_raw_record {
	uint8_t type;   /* enum vt_raw_type */
	uint8_t n;      /* counters */
	uint16_t where; /* thread of this process, its place, or VT_RAW_GROUP + a group's id. Definitions: 0 */
	uint32_t dt;    /* ticks since the record before it, or the block's base. Definitions: size in bytes, and a
	                 * uint64_t that numbers them from 0 follows before the fields; those go up to a multiple of 8 */
};

#define VT_RAW_GROUP 0x8000u
/* Places begin at this number. The sampler gives a thread a place until the thread calls the interface and gets a
 * number. A thread that never does gets the lowest free number in the merge. */
#define VT_RAW_PLACE 0x4000u
enum { VT_RAW_NODE = 1 }; /* the group that always exists: all processes on this node */

/* Returns the checksum of n bytes, a multiple of 4: doc/raw-format.md. */
uint64_t vt_raw_check(const void *p, size_t n, uint64_t seed);

/* Returns the checksum that a block's `check` should be. `used` must not be more than fits into the block. */
uint64_t vt_raw_block_check(const struct vt_raw_block *b, uint32_t used);

/* A counter as its definition stores it, as far as `factor`, with its texts after it. */
struct vt_raw_counter_def {
	uint32_t id, classid;
	uint8_t type;    /* STF_COUNTER_I8 ... | STF_COUNTER_SAMPLE ..., include/stf.h */
	uint8_t do_diff; /* a running total: tools show its rate */
	uint16_t
		where; /* the thread that the counter belongs to: VT_RAW_GROUP + VT_RAW_NODE for node counters; 0: threads */
	uint32_t filler;
	uint64_t lower, upper; /* bounds, bits of the type */
	double factor;         /* tools show value (do_diff: its rate per second) x factor in shown_unit; 0: as it is */
	const char *name, *unit, *shown_unit, *description; /* "" or NULL if there is none */
};

/* Returns the size of a field of n bytes with its padding. */
static inline size_t vt_raw_pad(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

#endif

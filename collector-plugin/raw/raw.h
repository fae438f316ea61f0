/* SPDX-License-Identifier: BSD-3-Clause */
/* The raw file of one process: what a collector records while the program runs, in a file mapped shared, so that
 * all but the record in hand is there whatever happens to the process. doc/raw-format.md describes the bytes;
 * merge.h makes a trace of them. libc only.
 *
 * A record is appended without lock, system call or memory allocation: each thread has a stream of its own,
 * a chain of fixed blocks that a housekeeper (vt_raw_tick(), in the collector's background thread) gets ready
 * ahead: full ones are appended to the file, and their places, warm, taken again. Only the step to another block, once in MEM-BLOCKSIZE bytes, takes a lock for a few instructions;
 * where no block is ready it asks the file for some. Definitions have blocks of their own, which are never
 * overwritten, and stand in two of them each.
 *
 *     raw = vt_raw_create(&options, &err);
 *     vt_raw_class(raw, 1, 0, "PERF_DATA");              definitions before first use; any thread
 *     vt_raw_counter(raw, &(struct vt_raw_counter_def){ .id = 1, .classid = 1, .name = "PAPI_TOT_INS", ... });
 *     s = vt_raw_stream(raw);                            once per thread; back with vt_raw_stream_end()
 *     vt_raw_counters(s, tmr_read(timer), thread, 1, &id, &value);
 *     vt_raw_close(raw, tmr_read(timer));                           then vt_merge() of all files */
#ifndef COLLECTOR_PLUGIN_RAW_H
#define COLLECTOR_PLUGIN_RAW_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/ticks.h"

/* ---- the bytes ------------------------------------------------------------------------------- */

#define VT_RAW_MAGIC "TKMRAW1\n"
#define VT_RAW_ORDER 0x01020304u
#define VT_RAW_BLOCK_MAGIC 0x4b4c4256u /* "VBLK" */
#define VT_RAW_FREE_MAGIC 0x45524656u  /* "VFRE": was used, and stands elsewhere or is gone */

enum { VT_RAW_VERSION = 1, VT_RAW_MIN_BLOCK = 4096, VT_RAW_MAX_COUNTERS = 255 };

enum vt_raw_state {
	VT_RAW_RECORDING = 1, /* still there after a crash: the process did not come to an end */
	VT_RAW_CLOSED = 2,
	VT_RAW_MERGED = 3,    /* is in a trace; kept because that was asked for */
};

/* At offset 0. Texts are terminated. `check` covers what stands behind it up to `state`. */
struct vt_raw_head {
	char magic[8];
	uint32_t order, version;
	uint32_t head_size;      /* bytes; the first block stands there, a multiple of the page size */
	uint32_t block_size;
	uint64_t check;
	uint32_t pid, parent;
	uint64_t born;           /* of the process, clock ticks since boot as in /proc/PID/stat: tells a pid reused */
	int32_t rank, ranks;     /* -1, 0: no MPI */
	double hz;               /* nominal ticks of the timer per second */
	int64_t start_tick;
	int64_t start_realtime_ns;
	char job[64];            /* one per vtrun; processes of one job are merged together */
	char host[128], ip[64];
	char timer[64];
	char program[256];
	char trace[1024];        /* absolute name that the trace is to have */
	char boot[64];           /* boot id of the node */
	uint64_t reserved[8];
	/* what changes */
	_Atomic uint32_t state;  /* enum vt_raw_state */
	_Atomic uint32_t stop;   /* errno of what first ended or interrupted the recording; 0: nothing did */
	_Atomic int64_t stop_tick;
	_Atomic int64_t end_tick; /* when it was closed; while it records, of the last housekeeping */
	_Atomic uint64_t lost;   /* records for which there was no place */
	_Atomic uint64_t overwritten; /* blocks that newer ones took the place of */
};

enum vt_raw_kind { VT_RAW_DATA = 1, VT_RAW_DEFINITIONS = 2 };
enum vt_raw_block_state { VT_RAW_OPEN = 1, VT_RAW_FULL = 2, VT_RAW_SEALED = 3 };

/* In front of every block's records. A block whose first word is 0 is empty. */
struct vt_raw_block {
	_Atomic uint32_t magic;  /* stored last when a block is begun, removed first when it is overwritten */
	uint16_t kind;
	_Atomic uint16_t state;
	uint32_t stream;
	uint32_t filler;
	uint64_t number;         /* of this block in its stream, from 0: a gap is what was overwritten or damaged */
	int64_t base;            /* tick from which the first record's dt counts */
	uint64_t lost;           /* records of this stream that were lost just ahead of this block */
	_Atomic uint32_t used;   /* bytes of whole records behind this head; stored after each record */
	uint32_t filler2;
	uint64_t check;          /* of kind, stream, number, base, lost, used and the records; once it is SEALED */
};

enum vt_raw_type {
	/* data */
	VT_RAW_TIME = 1,     /* int64_t: now; the dt of the next record counts from it. Its own dt: so many clock sessions were over
	                      * when it was written, 0: unknown */
	VT_RAW_COUNTERS = 2, /* uint64_t values[n], uint32_t ids[n] */
	VT_RAW_ENTER = 3,    /* uint32_t function, uint32_t scl */
	VT_RAW_LEAVE = 4,    /* uint32_t function (0: the current one), uint32_t scl */
	VT_RAW_COMMENT = 5,  /* uint32_t length, text */
	/* definitions; all strings are uint32_t length, bytes */
	VT_RAW_DEF_CLASS = 32,    /* uint32_t id, parent; name */
	VT_RAW_DEF_COUNTER = 33,  /* struct vt_raw_counter_def as far as `factor`; name, unit, shown_unit, description */
	VT_RAW_DEF_THREAD = 34,   /* uint32_t thread, place that it had so far or 0, uint64_t tid; name */
	VT_RAW_DEF_GROUP = 35,    /* uint32_t id, n, members[n]; name */
	VT_RAW_DEF_FUNCTION = 36, /* uint32_t id, class; name */
	VT_RAW_DEF_CLOCK = 37,    /* int64_t tick, realtime_ns, monotonic_ns, raw_ns */
	VT_RAW_DEF_INFO = 38,     /* class, text */
	VT_RAW_DEF_SCL = 39,      /* uint32_t id, line; file */
};

/* In front of every record; the whole is a multiple of 4 bytes. */
struct vt_raw_record {
	uint8_t type;   /* enum vt_raw_type */
	uint8_t n;      /* counters */
	uint16_t where; /* thread of this process, its place, or VT_RAW_GROUP + a group's id. Definitions: 0 */
	uint32_t dt;    /* ticks since the record before it, or the block's base. Definitions: size in bytes, and a
	                 * uint64_t that numbers them from 0 follows before the fields; those go up to a multiple of 8 */
};

#define VT_RAW_GROUP 0x8000u
/* Places of threads that have not called us, from here on: they get the lowest numbers that nobody else has, when all is known. */
#define VT_RAW_PLACE 0x4000u
enum { VT_RAW_NODE = 1 }; /* the group that is always there: all processes on this node */

/* Checksum of n bytes, a multiple of 4: doc/raw-format.md. */
uint64_t vt_raw_check(const void *p, size_t n, uint64_t seed);

/* ---- recording ------------------------------------------------------------------------------- */

/* MEM-*, AUTOFLUSH and FLUSH-* of seeds/003 section 3.2.3. */
struct vt_raw_options {
	const char *path;        /* absolute: the flush file; made with O_EXCL */
	long long block_size;    /* MEM-BLOCKSIZE, rounded up to whole pages */
	long long max_blocks;    /* MEM-MAXBLOCKS: in memory, which means mapped */
	long long min_blocks;    /* MEM-MINBLOCKS: full ones that stay there when others are flushed */
	long long flush_blocks;  /* MEM-FLUSHBLOCKS: full blocks from which on the housekeeper flushes; < 0: never */
	int autoflush;           /* AUTOFLUSH: full blocks are appended to the file, which frees their place; else max_blocks
	                          * is all there is */
	int overwrite;           /* MEM-OVERWRITE: without AUTOFLUSH, the oldest make room */
	long long limit;         /* FLUSH-LIMIT: the file never becomes longer, bytes */
	const char *job, *trace, *program, *timer;
	double hz;               /* of that timer */
	ltick_t start;           /* its present reading */
	int rank, ranks;         /* -1, 0: unknown */
};

struct vt_raw; /* one per process */

/* One thread's place to write. Only that thread may use it, and not from a signal handler that interrupted a
 * record of its own: such a record is counted as lost. Members are for the inline functions. */
struct vt_raw_stream {
	uint8_t *cur, *end;
	int64_t now;                 /* stamp of the last record */
	struct vt_raw_block *block;  /* NULL before the first record, and when no place is left */
	volatile int busy;
	uint32_t id;
	uint64_t lost;               /* since the last block began */
	uint64_t number;             /* of the next block */
	const _Atomic uint32_t *sessions; /* clock sessions that are over, and how many of them this stream knows of */
	uint32_t said;
	struct vt_raw *raw;
	struct vt_raw_stream *next;
	int taken;
};

/* The rank became known only now. */
void vt_raw_set_rank(struct vt_raw *r, int rank, int ranks);

/* Creates the file. NULL with *err: the path exists, no space, no mapping on this file system (TKM_ERR_UNAVAIL). */
struct vt_raw *vt_raw_create(const struct vt_raw_options *o, struct tkm_err *err);

/* Ends it: seals the blocks, stores end_tick = last, cuts what was reserved in vain. Streams that were not given
 * back stay valid memory, so that a thread that outlives main may still append to its last block. */
void vt_raw_close(struct vt_raw *r, ltick_t last);

/* In a forked child: forgets the file without touching it. All streams of r take no records from now on. */
void vt_raw_forget(struct vt_raw *r);

const char *vt_raw_path(const struct vt_raw *r);
uint64_t vt_raw_lost(const struct vt_raw *r);       /* records so far */
uint64_t vt_raw_size(const struct vt_raw *r);       /* bytes of the file so far */
int vt_raw_stopped(const struct vt_raw *r);         /* errno that ended the recording (ENOSPC, EFBIG: limit), else 0 */

/* Housekeeping: blocks ready ahead, full ones sealed and flushed, a disk that was full tried again. Called by one
 * thread, about every 100 ms, or when vt_raw_wait() says so. `now` is a reading of the timer. */
void vt_raw_tick(struct vt_raw *r, ltick_t now);

/* Sleeps until `deadline_ns` of CLOCK_MONOTONIC, or until a thread runs short of ready blocks (1), or vt_raw_wake() (1). */
int vt_raw_wait(struct vt_raw *r, int64_t deadline_ns);
void vt_raw_wake(struct vt_raw *r);

/* The thread that calls vt_raw_tick() has a table of descriptors of its own: it may keep one of the file open, and
 * goes on where the program has given up the rights or the root directory that the path needs. Call it there. */
void vt_raw_keep_open(struct vt_raw *r);

/* A stream for the calling thread, maybe one that another thread has given back. NULL: no memory. */
struct vt_raw_stream *vt_raw_stream(struct vt_raw *r);
void vt_raw_stream_end(struct vt_raw_stream *s);

/* Definitions. Each returns 0, or -1 when there is no place for it: then its records will have no name. Ids are the
 * caller's, from 1, one number range per kind; the same id again replaces the definition (a thread's new name). */
struct vt_raw_counter_def {
	uint32_t id, classid;
	uint8_t type;            /* STF_COUNTER_I8 ... | STF_COUNTER_SAMPLE ..., stf/stf.h */
	uint8_t do_diff;         /* a running total: tools show its rate */
	uint16_t where;          /* whom the counter belongs to: VT_RAW_GROUP + VT_RAW_NODE for node counters; 0: threads */
	uint32_t filler;
	uint64_t lower, upper;   /* bounds, bits of the type */
	double factor;           /* tools show value (do_diff: its rate per second) x factor in shown_unit; 0: as it is */
	const char *name, *unit, *shown_unit, *description; /* "" or NULL if there is none */
};
int vt_raw_class(struct vt_raw *r, uint32_t id, uint32_t parent, const char *name);
int vt_raw_counter(struct vt_raw *r, const struct vt_raw_counter_def *d);
int vt_raw_thread(struct vt_raw *r, uint32_t thread, uint64_t tid, const char *name);
/* The same; what was recorded with that place (VT_RAW_PLACE and above) is this thread's too. 0: it had none of its own. */
int vt_raw_thread_from(struct vt_raw *r, uint32_t thread, uint32_t place, uint64_t tid, const char *name);
/* Members are threads of this process, VT_RAW_GROUP + id of groups defined before, or a thread of any rank of the
 * job (VT_groupdef); thread 0x7fff stands for all threads of that rank. */
#define VT_RAW_MEMBER(rank, thread) (0x80000000u | ((uint32_t)(thread) & 0x7fffu) << 16 | ((uint32_t)(rank) & 0xffffu))
int vt_raw_group(struct vt_raw *r, uint32_t id, const char *name, const uint32_t *members, uint32_t n);
int vt_raw_function(struct vt_raw *r, uint32_t id, uint32_t classid, const char *name);
int vt_raw_scl(struct vt_raw *r, uint32_t id, uint32_t line, const char *file);
/* The timer read together with the system's clocks; every few seconds and at both ends. */
int vt_raw_clock(struct vt_raw *r, ltick_t tick, int64_t realtime_ns, int64_t monotonic_ns, int64_t raw_ns);
/* An info record of the trace: class and one text. */
int vt_raw_info(struct vt_raw *r, const char *cls, const char *text);
/* The class of one that says: of this process nothing goes into the trace but what its node has (PROCESS no, discard). */
#define VT_RAW_DISCARDED "discarded"

/* A clock session of the job is over: the records that follow say so. It tells on which side of a step of the clock a stamp is. */
void vt_raw_session_over(struct vt_raw *r);

/* The seldom path of vt_raw_room(). */
uint8_t *vt_raw_room_slow(struct vt_raw_stream *s, size_t size, int64_t stamp, uint32_t *dt);

/* Place for a record of `size` bytes, a multiple of 4, or NULL: it is lost and counted. */
static inline uint8_t *vt_raw_room(struct vt_raw_stream *s, size_t size, int64_t stamp, uint32_t *dt)
{
	uint64_t d = (uint64_t)stamp - (uint64_t)s->now;

	if (__builtin_expect(d <= UINT32_MAX && size <= (size_t)(s->end - s->cur) && !s->busy &&
			     atomic_load_explicit(s->sessions, memory_order_relaxed) == s->said, 1)) {
		s->busy = 1;
		s->now = stamp;
		*dt = (uint32_t)d;
		return s->cur;
	}
	return vt_raw_room_slow(s, size, stamp, dt);
}

/* The record counts from here on: a crash ahead of this store leaves the record before it the last one. */
static inline void vt_raw_done(struct vt_raw_stream *s, uint8_t *end)
{
	s->cur = end;
	atomic_store_explicit(&s->block->used, (uint32_t)(end - (uint8_t *)(s->block + 1)), memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	s->busy = 0;
}

/* Samples of n counters (1 to 255) at one time, of thread or group `where`. Returns 0 or -1: lost, and counted. */
static inline int vt_raw_counters(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, unsigned n,
				  const uint32_t *ids, const uint64_t *values)
{
	size_t size = 8 + 12 * (size_t)n;
	struct vt_raw_record h = { VT_RAW_COUNTERS, (uint8_t)n, where, 0 };
	uint8_t *p = vt_raw_room(s, size, stamp.v, &h.dt);
	unsigned i;

	if (__builtin_expect(!p, 0)) {
		return -1;
	}
	memcpy(p, &h, 8);
	/* no calls: n is small as a rule */
	for (i = 0; i < n; i++) {
		memcpy(p + 8 + 8 * (size_t)i, &values[i], 8);
		memcpy(p + 8 + 8 * (size_t)n + 4 * (size_t)i, &ids[i], 4);
	}
	vt_raw_done(s, p + size);
	return 0;
}

static inline int vt_raw_change(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, enum vt_raw_type type,
				uint32_t function, uint32_t scl)
{
	struct vt_raw_record h = { (uint8_t)type, 0, where, 0 };
	uint32_t body[2] = { function, scl };
	uint8_t *p = vt_raw_room(s, 16, stamp.v, &h.dt);

	if (__builtin_expect(!p, 0)) {
		return -1;
	}
	memcpy(p, &h, 8);
	memcpy(p + 8, body, 8);
	vt_raw_done(s, p + 16);
	return 0;
}

/* State changes; scl 0: no source location. */
static inline int vt_raw_enter(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, uint32_t function, uint32_t scl)
{
	return vt_raw_change(s, stamp, where, VT_RAW_ENTER, function, scl);
}

static inline int vt_raw_leave(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, uint32_t function, uint32_t scl)
{
	return vt_raw_change(s, stamp, where, VT_RAW_LEAVE, function, scl);
}

/* A text at a point in time: a suspend, a gap. At most 1000 bytes, the rest is cut. */
int vt_raw_comment(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, const char *text);

/* ---- reading --------------------------------------------------------------------------------- */

struct vt_raw_file; /* opened for reading, whole or cut */

/* What was wrong with a file that could be read nevertheless. */
struct vt_raw_damage {
	uint64_t blocks;     /* that fail their checksum or make no sense; skipped */
	uint64_t missing;    /* gaps in the numbers of a stream: overwritten, or among `blocks` */
	uint64_t open;       /* blocks that were being written at the end */
	uint64_t tail;       /* bytes at the file's end that are no block's head */
};

struct vt_raw_file *vt_raw_open(const char *path, struct tkm_err *err);
/* The same without looking at the sums of the data, which takes as long as reading all of it: for definitions. */
struct vt_raw_file *vt_raw_open_definitions(const char *path, struct tkm_err *err);
/* A raw file of the definitions alone, for one who reads nothing else of it: calls put with its bytes, n of them for offset
 * `at`; what lies in between is 0. Returns 0, or -1 with err, or without when put did not return 0. */
int vt_raw_copy_definitions(const char *path, int (*put)(void *ctx, uint64_t at, const void *p, size_t n), void *ctx, struct tkm_err *err);
/* Looks at them after all. Returns 0 or -1. */
int vt_raw_check_data(struct vt_raw_file *f, struct tkm_err *err);
void vt_raw_file_close(struct vt_raw_file *f);
const struct vt_raw_head *vt_raw_file_head(const struct vt_raw_file *f);
const struct vt_raw_damage *vt_raw_file_damage(const struct vt_raw_file *f);
const char *vt_raw_file_path(const struct vt_raw_file *f);
/* Bytes of the file when it was opened. */
size_t vt_raw_file_size(const struct vt_raw_file *f);

/* Is the process that writes it still there (on this node and boot)? */
int vt_raw_file_alive(const struct vt_raw_file *f);

/* A definition, decoded; texts are terminated copies valid during the call. */
struct vt_raw_def {
	enum vt_raw_type type;
	uint32_t id, parent;         /* class, function, group, scl (line), thread (place) */
	uint64_t tid;
	const char *name;            /* or class of an info */
	const char *text;            /* unit; text of an info */
	const char *description;
	struct vt_raw_counter_def counter;
	const uint32_t *members;
	uint32_t n;
	int64_t tick, realtime_ns, monotonic_ns, raw_ns;
};
/* Calls fn for each definition, in the order of writing, once each. fn returns 0, or anything else to stop. */
int vt_raw_definitions(struct vt_raw_file *f, int (*fn)(const struct vt_raw_def *d, void *ctx), void *ctx);

/* One stream's records in their order: vt_raw_cursor(), then vt_raw_cursor_next() until it says 0. */
struct vt_raw_cursor {
	const uint8_t *p, *end;      /* the present record and its block's end */
	struct vt_raw_record h;      /* its first bytes, */
	size_t size;                 /* its size, */
	int64_t now;                 /* and its tick */
	uint32_t sessions;           /* that were over when it was written; 0: unknown */
	struct vt_raw_file *f;
	const uint8_t *begin;        /* of the present block */
	size_t next, last;           /* blocks of the stream */
	uint64_t lost;               /* records missing just ahead of the present block */
	uint64_t *damaged;           /* where damaged blocks are counted: with the file. Cursors in several threads at a
	                              * time must not count at the same place */
};
size_t vt_raw_streams(const struct vt_raw_file *f);
void vt_raw_cursor(struct vt_raw_file *f, size_t stream, struct vt_raw_cursor *c);
/* To the next block that has records. 1, or 0: the end. */
int vt_raw_cursor_block(struct vt_raw_cursor *c);

/* Bytes of the data record at p, of which `left` are there; 0: that is no whole valid one. A block's sum that is right
 * says nothing about who computed it. */
static inline size_t vt_raw_record_size(const uint8_t *p, size_t left, struct vt_raw_record *h)
{
	uint32_t n;

	if (left < 12) {
		return 0;
	}
	memcpy(h, p, 8);
	switch (h->type) {
	case VT_RAW_COUNTERS:
		n = h->n;
		return n && 8 + 12 * (size_t)n <= left ? 8 + 12 * (size_t)n : 0;
	case VT_RAW_TIME:
	case VT_RAW_ENTER:
	case VT_RAW_LEAVE:
		return left >= 16 ? 16 : 0;
	case VT_RAW_COMMENT:
		memcpy(&n, p + 8, 4);
		return n <= 1000 && 12 + (((size_t)n + 3) & ~(size_t)3) <= left ? 12 + (((size_t)n + 3) & ~(size_t)3) : 0;
	default:
		return 0;
	}
}

/* To the next record of counters, change or comment, whole and valid. 1, or 0: the end of the stream. */
static inline int vt_raw_cursor_next(struct vt_raw_cursor *c)
{
	c->p += c->size;
	c->size = 0;
	for (;;) {
		if (c->p == c->end) {
			if (!vt_raw_cursor_block(c)) {
				return 0;
			}
			continue;
		}
		c->size = vt_raw_record_size(c->p, (size_t)(c->end - c->p), &c->h);
		if (__builtin_expect(c->size == 0, 0)) {
			/* what follows in this block cannot be found */
			++*c->damaged;
			c->p = c->end;
			continue;
		}
		if (c->h.type != VT_RAW_TIME) {
			c->now += c->h.dt;
			return 1;
		}
		memcpy(&c->now, c->p + 8, 8);
		c->sessions = c->h.dt;
		c->p += 16;
		c->size = 0;
	}
}

#endif

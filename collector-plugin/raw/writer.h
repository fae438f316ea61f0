/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the raw file of one process: what a collector records while the program runs. The file is mapped shared, so
 * all records except the one being written survive whatever happens to the process. doc/raw-format.md describes the
 * bytes; merge/merge.h makes a trace of them. Needs libc only.
 *
 * A record is appended without lock, system call or memory allocation. Each thread has a stream of its own, a chain
 * of fixed blocks. The sampler (vt_raw_tick(), in the collector's background thread) gets blocks ready in advance:
 * it appends full ones to the file, and their memory, which is still in the cache, is used again. Only the step to
 * another block, once in MEM-BLOCKSIZE bytes, takes a lock for a few instructions. If no block is ready, this step
 * extends the file. Definitions have blocks of their own, which are never overwritten; each definition is in two of
 * them.
 *
 *     raw = vt_raw_create(&options, &err);
 *     vt_raw_class(raw, 1, 0, "PERF_DATA");              definitions before first use; any thread
 *     vt_raw_counter(raw, &(struct vt_raw_counter_def){ .id = 1, .classid = 1, .name = "PAPI_TOT_INS", ... });
 *     s = vt_raw_stream(raw);                            once per thread; back with vt_raw_stream_end()
 *     vt_raw_counters(s, tmr_read(timer), thread, 1, &id, &value);
 *     vt_raw_close(raw, tmr_read(timer));                then vt_merge() of all files */
#ifndef COLLECTOR_PLUGIN_RAW_WRITER_H
#define COLLECTOR_PLUGIN_RAW_WRITER_H

#include <string.h>

#include "base/err.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/raw/events.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/grow.h"
#include "collector-plugin/raw/short.h"
#include "collector-plugin/raw/stream.h"

/* MEM-*, AUTOFLUSH and FLUSH-* of the Intel Trace Collector guide, section 3.2.3. */
struct vt_raw_options {
	const char *path;       /* absolute: the flush file; made with O_EXCL */
	long long block_size;   /* MEM-BLOCKSIZE, rounded up to whole pages */
	long long max_blocks;   /* MEM-MAXBLOCKS: in memory, which means mapped */
	long long min_blocks;   /* MEM-MINBLOCKS: full ones that stay there when others are flushed */
	long long flush_blocks; /* MEM-FLUSHBLOCKS: full blocks from which on the sampler flushes; < 0: never */
	int autoflush;   /* AUTOFLUSH: full blocks are appended to the file, which frees their place; else max_blocks
	                          * is all there is */
	int overwrite;   /* MEM-OVERWRITE: without AUTOFLUSH, new blocks replace the oldest ones */
	long long limit; /* FLUSH-LIMIT: the file never becomes longer, bytes */
	int served;      /* a file system of FUSE is allowed: if its server ends, the program ends by SIGBUS */
	const char *job, *trace, *program, *timer;
	int own;         /* nobody else may read the file: its folder is for all */
	double hz;       /* of that timer */
	ltick_t start;   /* its present reading */
	int rank, ranks; /* -1, 0: unknown */
	void (*stopped)(const char *path,
		int why); /* NULL, or what is called the first time that there is no place for a record */
};

/* Sets a rank that became known only now. */
void vt_raw_set_rank(struct vt_raw *r, int rank, int ranks);

/* Creates the file. Returns NULL with *err: the path exists, no space, no mapping on this file system
 * (TKM_ERR_UNAVAIL). */
struct vt_raw *vt_raw_create(const struct vt_raw_options *o, struct tkm_err *err);

/* Closes the file: seals the blocks, stores end_tick = last, and cuts off reserved space that was not used. Streams
 * that were not given back stay valid memory, so that a thread that outlives main may still append to its last
 * block. */
void vt_raw_close(struct vt_raw *r, ltick_t last);

/* For the sampler process, which writes into the file of another process, too, through `fd`, which it keeps. Its
 * records go to streams of its own. Returns NULL with *err if that is not a raw file that is being written. */
struct vt_raw *vt_raw_attach(int fd, const struct vt_raw_options *o, struct tkm_err *err);
/* This process writes no more records; the other process closes the file. */
void vt_raw_hand_over(struct vt_raw *r);
/* Frees what an attached file took, after vt_raw_close(). */
void vt_raw_detach(struct vt_raw *r);
/* Returns the head, which both processes share, or NULL in a forked child. Slots have numbers from 0 to VT_RAW_SLOTS
 * - 1. */
struct vt_raw_head *vt_raw_head(struct vt_raw *r);
struct vt_raw_thread_slot *vt_raw_slot(struct vt_raw *r, int i);
/* Tells that vt_raw_tick() is not called: each thread completes its own blocks. */
void vt_raw_alone(struct vt_raw *r, int alone);
/* Children of a fork get no memory of r, which makes the fork cheaper. For a program that makes no calls, in which
 * only this process uses r. In the child, r is as if it had never existed, however the child was made. Returns 0, or
 * -1 if the kernel cannot do it. */
int vt_raw_keep_from_children(struct vt_raw *r);
/* To be called in a forked child: forgets the file without touching it. All streams of r take no records from now
 * on. */
VT_IN_CHILD void vt_raw_detach_after_fork(struct vt_raw *r);

const char *vt_raw_path(const struct vt_raw *r);
uint64_t vt_raw_lost(const struct vt_raw *r); /* records so far */
uint64_t vt_raw_size(const struct vt_raw *r); /* bytes of the file so far */
int vt_raw_stopped(const struct vt_raw *r);   /* errno that ended the recording (ENOSPC, EFBIG: limit), else 0 */

/* Housekeeping: gets blocks ready in advance, seals and flushes full ones, tries a disk that was full again. Called
 * by one thread, about every 100 ms, or when vt_raw_wait() returns 1. `now` is a reading of the timer. */
void vt_raw_tick(struct vt_raw *r, ltick_t now);

/* Sleeps until `deadline_ns` of CLOCK_MONOTONIC. Returns 1 if it ended earlier, because a thread runs short of ready
 * blocks or because of vt_raw_wake(). */
int vt_raw_wait(struct vt_raw *r, int64_t deadline_ns);
void vt_raw_wake(struct vt_raw *r);

/* To be called in the thread that calls vt_raw_tick(), if that has a table of descriptors of its own. It may keep
 * the file open. Then it can go on after the program has given up the rights or the root directory that the path
 * needs. */
void vt_raw_keep_open(struct vt_raw *r);

/* Returns a stream for the calling thread, maybe one that another thread has given back. NULL: no memory. */
struct vt_raw_stream *vt_raw_stream(struct vt_raw *r);
void vt_raw_stream_end(struct vt_raw_stream *s);

/* Definitions. Each function returns 0, or -1 if there is no room: then the records that refer to it have no name.
 * Ids are chosen by the caller, from 1, one number range per kind. The same id again replaces the definition (a
 * thread's new name). */
int vt_raw_class(struct vt_raw *r, uint32_t id, uint32_t parent, const char *name);
/* Writes what the program has defined so far into r, a new file. */
void vt_raw_repeat_definitions(struct vt_raw *r);
int vt_raw_counter(struct vt_raw *r, const struct vt_raw_counter_def *d);
int vt_raw_thread(struct vt_raw *r, uint32_t thread, uint64_t tid, const char *name);
/* The same; records with that place (VT_RAW_PLACE and above) belong to this thread, too. 0: it had no place. */
int vt_raw_thread_from(struct vt_raw *r, uint32_t thread, uint32_t place, uint64_t tid, const char *name);
/* Members are threads of this process, VT_RAW_GROUP + id of groups defined before, or a thread of any rank of the
 * job (VT_groupdef); thread 0x7fff stands for all threads of that rank. */
#define VT_RAW_MEMBER(rank, thread) (0x80000000u | (0x7fffu & (uint32_t)(thread)) << 16 | (0xffffu & (uint32_t)(rank)))
int vt_raw_group(struct vt_raw *r, uint32_t id, const char *name, const uint32_t *members, uint32_t n);
int vt_raw_function(struct vt_raw *r, uint32_t id, uint32_t classid, const char *name);
/* An executable or library, and a function in it whose name is found later. `offset` counts from the load address.
 * `name` is used if no name is found, or "". demangle: show C++ names as in the source. */
int vt_raw_object(struct vt_raw *r, uint32_t id, const uint8_t *build_id, uint32_t size, const char *path);
int vt_raw_function_at(
	struct vt_raw *r, uint32_t id, uint32_t classid, const struct vt_raw_place *at, const char *name);
/* What a thread has counted in one row, to be added up. late 1: of calls that are not in the file because FLUSH-LIMIT is
 * reached, and of no others. -1: the caller still has it, nothing is lost. */
int vt_raw_statistics(struct vt_raw *r, uint32_t thread, int late, const struct vt_raw_row *row);
/* Returns a table of n rows, all zero, that is in the raw file and mapped, so that it survives SIGKILL; NULL: no room. */
struct vt_raw_row *vt_raw_table(struct vt_raw *r, uint32_t thread, int late, uint32_t n);
/* The largest power of two of rows, with so many more, that a table has room for. */
uint32_t vt_raw_table_rows(struct vt_raw *r, uint32_t more);
/* moved 0: its rows will now be written as definitions, which count only when that is done: moved 1 gives the table back. */
void vt_raw_table_moves(struct vt_raw *r, struct vt_raw_row *table, int moved);
int vt_raw_scl(struct vt_raw *r, uint32_t id, uint32_t line, const char *file);
/* A source location that is a call stack. */
int vt_raw_stack(struct vt_raw *r, uint32_t id, const struct vt_raw_place *place, uint32_t n);
int vt_raw_scope(struct vt_raw *r, uint32_t id, uint32_t classid, uint32_t scl1, uint32_t scl2, const char *name);
/* What bytes are read from or written to. communicator: that of the processes that opened it together, 0: only this
 * one. */
int vt_raw_file_name(struct vt_raw *r, uint32_t id, uint32_t communicator, const char *name);
struct vt_raw_comm_def;
int vt_raw_communicator(struct vt_raw *r, const struct vt_raw_comm_def *d);
/* The timer read together with the system's clocks, every few seconds and at the start and the end. */
int vt_raw_clock(struct vt_raw *r, ltick_t tick, int64_t realtime_ns, int64_t monotonic_ns, int64_t raw_ns);
/* An info record of the trace: class and one text. */
int vt_raw_info(struct vt_raw *r, const char *cls, const char *text);
/* The class of the info record which means that the trace contains, of this process, only the data of its node
 * (PROCESS no, discard). */
#define VT_RAW_DISCARDED "discarded"
/* The class of the info record which means that the trace gets only waits of MPI calls longer than so many ns (TRACE-IMBALANCE):
 * "100000 ns". */
#define VT_RAW_IMBALANCE "imbalance"

/* Defines a text of a report, of which 3000 bytes are kept. Returns its number; 0: none. */
uint32_t vt_raw_text(struct vt_raw *r, const char *text);
/* Records a report that names no call: what is wrong (a class like LOCAL:EXIT:SIGNAL), "warning", "error" or "fatal error", and a
 * description. */
void vt_raw_plain_report(struct vt_raw *r, struct vt_raw_stream *s, ltick_t stamp, const char *type, const char *level,
	const char *text);

/* Adds n bytes to the rank's block of a .clk file: whole lines of at most 1000 bytes. */
int vt_raw_clocks(struct vt_raw *r, const char *lines, size_t n);

/* A clock session of the job has ended. Later records contain that. It tells on which side of a step of the clock a
 * stamp is. */
void vt_raw_session_over(struct vt_raw *r);

/* Counts so many records as lost that the caller did not try to write. Negative: what the caller tried in vain was no
 * event of the program. */
void vt_raw_count_lost(struct vt_raw_stream *s, int records);

/* The thread has left the record that it was making, by a jump or by its end: the record is lost, and the next one
 * begins another block. Does nothing if no record was being made. */
void vt_raw_abandon(struct vt_raw_stream *s);

/* The slow path of vt_raw_room(). */
uint8_t *vt_raw_room_slow(struct vt_raw_stream *s, size_t size, int64_t stamp, uint32_t *dt);

/* Returns room for a record of `size` bytes, a multiple of 4, or NULL: the record is lost and counted. */
static inline uint8_t *vt_raw_room(struct vt_raw_stream *s, size_t size, int64_t stamp, uint32_t *dt)
{
	uint64_t d;

	if (__builtin_expect(!s->busy, 1)) {
		s->busy = vt_raw_here();
		/* a signal handler that records does it before this, or not at all: what is read from here on does
		 * not change */
		atomic_signal_fence(memory_order_seq_cst);
		d = (uint64_t)stamp - (uint64_t)s->now;
		if (__builtin_expect(d <= UINT32_MAX && size <= (size_t)(s->end - s->cur) &&
				    atomic_load_explicit(s->sessions, memory_order_relaxed) == s->said,
			    1)) {
			s->now = stamp;
			*dt = (uint32_t)d;
			return s->cur;
		}
		s->busy = 0;
	}
	return vt_raw_room_slow(s, size, stamp, dt);
}

/* Makes the record count: after a crash before this store, the record before it is the last one. */
static inline void vt_raw_done(struct vt_raw_stream *s, uint8_t *end)
{
	s->cur = end;
	atomic_store_explicit(&s->block->used, (uint32_t)(end - (uint8_t *)(s->block + 1)), memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	s->busy = 0;
}

/* Records samples of n counters (1 to 255) at one time, of thread or group `where`, with ids below VT_RAW_FIRST_ID.
 * Returns 0, or -1: the record is lost, and counted. */
static inline int vt_raw_counters(
	struct vt_raw_stream *s, ltick_t stamp, uint16_t where, unsigned n, const uint32_t *ids, const uint64_t *values)
{
	size_t size = 8 + 12 * (size_t)n;
	struct vt_raw_record h = { VT_RAW_COUNTERS, (uint8_t)n, where, 0 };
	uint8_t *p = vt_raw_room(s, size, stamp.v, &h.dt);
	unsigned i;

	if (__builtin_expect(!p, 0)) {
		return -1;
	}
	memcpy(p, &h, 8);
	/* copies of constant size instead of calls: n is usually small */
	for (i = 0; i < n; i++) {
		memcpy(p + 8 + 8 * (size_t)i, &values[i], 8);
		memcpy(p + 8 + 8 * (size_t)n + 4 * (size_t)i, &ids[i], 4);
	}
	vt_raw_done(s, p + size);
	return 0;
}

/* Records an event of raw/events.h. size: of the body, as in the list there, a constant. Returns 0, or -1: lost, and
 * counted. */
static inline int vt_raw_event(
	struct vt_raw_stream *s, ltick_t stamp, uint16_t where, unsigned type, uint8_t n, const void *body, size_t size)
{
	struct vt_raw_record h = { (uint8_t)type, n, where, 0 };
	uint8_t *p = vt_raw_room(s, 8 + size, stamp.v, &h.dt);

	if (__builtin_expect(!p, 0)) {
		return -1;
	}
	memcpy(p, &h, 8);
	if (size) {
		memcpy(p + 8, body, size);
	}
	vt_raw_done(s, p + 8 + size);
	return 0;
}

/* The thread number of the short records has changed. */
static inline void vt_raw_no_owner(struct vt_raw_stream *s)
{
	s->short_limit = NULL;
}

/* Is there room for a short record, with its dt below 2^bits? If so, the stream is busy until vt_raw_done(). If not,
 * the caller must write the long record. */
static inline int vt_raw_begin_short(struct vt_raw_stream *s, int64_t stamp, unsigned bits, uint32_t *dt)
{
	uint64_t d;

	if (__builtin_expect(s->busy, 0)) {
		return 0;
	}
	s->busy = vt_raw_here();
	atomic_signal_fence(memory_order_seq_cst);
	d = (uint64_t)stamp - (uint64_t)s->now;
	if (__builtin_expect(d >> bits || s->cur >= s->short_limit ||
			    atomic_load_explicit(s->sessions, memory_order_relaxed) != s->said,
		    0)) {
		s->busy = 0;
		return 0;
	}
	s->now = stamp;
	*dt = (uint32_t)d;
	return 1;
}

/* Each function vt_raw_NAME_short() writes the short record and returns 1, or returns 0 if the long one is needed. */

/* The thread enters a function; code: vt_raw_short_code() of it. */
static inline int vt_raw_enter_short(struct vt_raw_stream *s, ltick_t stamp, uint32_t function, uint32_t code)
{
	uint32_t dt;
	uint8_t *p;

	if (!vt_raw_begin_short(s, stamp.v, VT_RAW_ENTER_DT_BITS, &dt)) {
		return 0;
	}
	p = s->cur;
	tkm_put32(p, code | (uint32_t)VT_RAW_PUT(dt, ENTER_DT), 0);
	p += 4;
	if (__builtin_expect(code == VT_RAW_SHORT_ENTER, 0)) {
		tkm_put32(p, function, 0);
		p += 4;
	}
	vt_raw_done(s, p);
	return 1;
}

/* The thread leaves the innermost function. */
static inline int vt_raw_leave_short(struct vt_raw_stream *s, ltick_t stamp)
{
	uint32_t dt;

	if (!vt_raw_begin_short(s, stamp.v, VT_RAW_LEAVE_DT_BITS, &dt)) {
		return 0;
	}
	tkm_put32(s->cur, VT_RAW_SHORT_LEAVE | (uint32_t)VT_RAW_PUT(dt, LEAVE_DT), 0);
	vt_raw_done(s, s->cur + 4);
	return 1;
}

/* The thread sends a message. */
static inline int vt_raw_send_short(struct vt_raw_stream *s, ltick_t stamp, const struct vt_raw_message *m)
{
	uint32_t dt;

	if (!VT_RAW_FITS(m->communicator, SEND_COMMUNICATOR) || !VT_RAW_FITS((uint32_t)m->peer, SEND_PEER) ||
		!VT_RAW_FITS((uint32_t)m->tag, SEND_TAG) || m->bytes_high | m->number | m->scl ||
		!vt_raw_begin_short(s, stamp.v, 0, &dt)) {
		return 0;
	}
	tkm_put64(s->cur,
		VT_RAW_SHORT_SEND | m->communicator | VT_RAW_PUT((uint32_t)m->peer, SEND_PEER) |
			VT_RAW_PUT((uint32_t)m->tag, SEND_TAG) | VT_RAW_PUT(m->bytes, SEND_BYTES),
		0);
	vt_raw_done(s, s->cur + 8);
	return 1;
}

/* The thread has received a message. */
static inline int vt_raw_receive_short(struct vt_raw_stream *s, ltick_t stamp, const struct vt_raw_message *m)
{
	uint32_t dt;

	if (!VT_RAW_FITS(m->communicator, RECEIVE_COMMUNICATOR) || !VT_RAW_FITS((uint32_t)m->peer, RECEIVED_PEER) ||
		!VT_RAW_FITS((uint32_t)m->tag, RECEIVED_TAG) || !VT_RAW_FITS(m->bytes, RECEIVED_BYTES) ||
		m->bytes_high | m->number | m->scl || !VT_RAW_FITS(m->since, RECEIVED_SINCE) || s->end - s->cur < 12 ||
		!vt_raw_begin_short(s, stamp.v, VT_RAW_RECEIVE_DT_BITS, &dt)) {
		return 0;
	}
	tkm_put32(s->cur, VT_RAW_SHORT_RECEIVE | m->communicator | (uint32_t)VT_RAW_PUT(dt, RECEIVE_DT), 0);
	tkm_put64(s->cur + 4,
		(uint64_t)m->since | VT_RAW_PUT((uint32_t)m->peer, RECEIVED_PEER) |
			VT_RAW_PUT((uint32_t)m->tag, RECEIVED_TAG) | VT_RAW_PUT(m->bytes, RECEIVED_BYTES),
		0);
	vt_raw_done(s, s->cur + 12);
	return 1;
}

/* Write the long record; that of a state also names the thread of the short records after it. */
int vt_raw_state_long(
	struct vt_raw_stream *s, ltick_t stamp, uint16_t where, unsigned type, struct vt_raw_state_change state);
int vt_raw_message_long(
	struct vt_raw_stream *s, ltick_t stamp, uint16_t where, enum vt_raw_message_kind kind, struct vt_raw_message m);

/* The thread enters and leaves a state; scl 0: no source location. Return 0, or -1: lost, and counted. */
static inline int vt_raw_enter(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, struct vt_raw_state_change state)
{
	return !state.scl && vt_raw_enter_short(s, stamp, state.function, vt_raw_short_code(state.function))
		? 0
		: vt_raw_state_long(s, stamp, where, VT_RAW_ENTER, state);
}

static inline int vt_raw_leave(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, uint32_t scl)
{
	return !scl && vt_raw_leave_short(s, stamp)
		? 0
		: vt_raw_state_long(s, stamp, where, VT_RAW_LEAVE, (struct vt_raw_state_change){ .scl = scl });
}

/* Records one end of a message, or both. Returns 0, or -1: lost, and counted. */
static inline int vt_raw_message(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, enum vt_raw_message_kind kind,
	const struct vt_raw_message *m)
{
	if ((kind == VT_RAW_MESSAGE_SEND && vt_raw_send_short(s, stamp, m)) ||
		(kind == VT_RAW_MESSAGE_RECEIVE && vt_raw_receive_short(s, stamp, m))) {
		return 0;
	}
	/* by value: the members stay in registers as long as the record is short */
	return vt_raw_message_long(s, stamp, where, kind, *m);
}

/* Writes the long record of values of the program's counters, whose ids begin at VT_RAW_FIRST_ID. own: `where` is
 * the number of the calling thread, whose short records may follow. Returns 0, or -1: lost, and counted. */
int vt_raw_values(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, unsigned n, const uint32_t *ids,
	const void *values, int own);

/* The counters have these values. */
static inline int vt_raw_values_short(
	struct vt_raw_stream *s, ltick_t stamp, unsigned n, const uint32_t *ids, const void *values)
{
	uint32_t first = ids[0] - VT_RAW_FIRST_ID, dt, word, wanted;
	uint64_t value, step = 0;
	uint8_t *p;
	unsigned i;

	if (first - 1 >= VT_RAW_SHORT_COUNTERS - 1 || n > VT_RAW_SHORT_COUNTERS - first ||
		!vt_raw_begin_short(s, stamp.v, VT_RAW_VALUES_DT_BITS, &dt)) {
		return 0;
	}
	wanted = ((2u << (n - 1)) - 1) << first;
	p = s->cur + 4;
	if (__builtin_expect((s->known & wanted) == wanted && 4 * (size_t)n <= (size_t)(s->end - p), 1)) {
		for (i = 0; i < n; i++) {
			memcpy(&value, (const char *)values + 8 * (size_t)i, 8);
			step = value - s->last[first + i];
			if (__builtin_expect(!VT_RAW_FITS_SIGNED(step, VALUE_STEP) || ids[i] != ids[0] + i, 0)) {
				break;
			}
			s->last[first + i] = value;
			tkm_put32(p, (uint32_t)VT_RAW_PUT(step, VALUE_STEP) | (i + 1 < n), 0);
			p += 4;
		}
		if (__builtin_expect(i == n, 1)) {
			word = VT_RAW_SHORT_VALUES | first | (uint32_t)VT_RAW_PUT(dt, VALUES_DT);
			if (n == 1 && VT_RAW_FITS(dt, ONE_VALUE_DT) && VT_RAW_FITS_SIGNED(step, ONE_VALUE_STEP)) {
				word = VT_RAW_SHORT_ONE_VALUE | first | (uint32_t)VT_RAW_PUT(dt, ONE_VALUE_DT) |
					(uint32_t)VT_RAW_PUT(step, ONE_VALUE_STEP);
				p -= 4;
			}
			tkm_put32(s->cur, word, 0);
			vt_raw_done(s, p);
			return 1;
		}
	}
	/* some values in last[] may belong to a record that is not written */
	s->known &= ~wanted;
	s->now -= dt;
	atomic_signal_fence(memory_order_seq_cst);
	s->busy = 0;
	return 0;
}

/* A text at a point in time: a suspend, a gap. At most 1000 bytes, the rest is cut. */
int vt_raw_comment(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, const char *text);

#endif

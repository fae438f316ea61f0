/* SPDX-License-Identifier: BSD-3-Clause */
/* Records into the raw file: blocks, streams, housekeeping. */
#include "config.h"
#include "collector-plugin/raw/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/private.h"

enum { BIGGEST_CHUNK_BYTES = 16 << 20, DEFINITIONS_BEYOND_BYTES = 16 << 20 };

const char *vt_raw_path(const struct vt_raw *r)
{
	return r->path;
}

uint64_t vt_raw_lost(const struct vt_raw *r)
{
	return r->forgotten ? 0 : atomic_load_explicit(&r->head->lost, memory_order_relaxed);
}

uint64_t vt_raw_size(const struct vt_raw *r)
{
	return r->forgotten ? 0
			    : r->head->head_size +
			atomic_load_explicit(&r->head->file_blocks, memory_order_relaxed) * r->block_size;
}

int vt_raw_stopped(const struct vt_raw *r)
{
	return r->forgotten ? 0 : (int)atomic_load_explicit(&r->head->stop, memory_order_relaxed);
}

/* ---- full blocks ---- */

static void seal(struct vt_raw_block *b)
{
	b->check = vt_raw_block_check(b, atomic_load_explicit(&b->used, memory_order_relaxed));
	atomic_store_explicit(&b->state, VT_RAW_SEALED, memory_order_release);
}

static void seal_oldest(struct vt_raw *r)
{
	seal(*vt_raw_full_at(r, r->n_sealed));
	r->n_sealed++;
}

static VT_SELDOM struct vt_raw_block *pop_full(struct vt_raw *r)
{
	struct vt_raw_block *b = *vt_raw_full_at(r, 0);

	r->first_full = (r->first_full + 1) % r->cap;
	r->n_full--;
	r->n_sealed -= r->n_sealed > 0;
	return b;
}

static VT_SELDOM int write_at(int fd, const void *p, size_t n, off_t at)
{
	ssize_t k;

	while (n > 0) {
		k = pwrite(fd, p, n, at);
		if (k < 0 && errno != EINTR) {
			return errno;
		}
		p = (const char *)p + (k > 0 ? k : 0);
		at += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
	return 0;
}

/* Writes the records first: if they do not fit, the block has no head and does not count. A crash after this leaves
 * the block twice; both copies have the same number. Zeros take the place of the head at first, and whole pages are
 * written: one call for pages that begin at a multiple of their size takes the kernel half of the time, because it
 * can keep them as one piece. */
static VT_SELDOM int append_block(int fd, const struct vt_raw_block *b, off_t at)
{
	static char no_head[sizeof(*b)];
	size_t used = atomic_load_explicit(&b->used, memory_order_relaxed),
	       whole = (sizeof(*b) + used + VT_RAW_MIN_BLOCK - 1) / VT_RAW_MIN_BLOCK * VT_RAW_MIN_BLOCK;
	const struct iovec parts[] = { { no_head, sizeof(no_head) },
		{ (void *)(uintptr_t)(b + 1), whole - sizeof(*b) } };
	int rc = pwritev(fd, parts, 2, at) == (ssize_t)whole ? 0 : write_at(fd, b + 1, used, at + (off_t)sizeof(*b));

	return rc ? rc : write_at(fd, b, sizeof(*b), at);
}

/* Appends the oldest full blocks to the file until `keep` are left; their places become ready. The caller holds
 * r->lock, which is released while the disk is at work. Returns 0 or an errno. */
static VT_SELDOM int flush_full(struct vt_raw *r, size_t keep)
{
	int fd = r->n_full > keep ? vt_raw_open_again(r) : -1, rc = 0;
	struct vt_raw_block *b;
	struct vt_lock held;
	off_t at;

	if (r->n_full > keep && fd < 0) {
		return errno;
	}
	while (rc == 0 && r->n_full > keep) {
		if (r->n_sealed == 0) {
			seal_oldest(r);
		}
		b = pop_full(r);
		rc = vt_raw_take_places(r, 1, &at);
		if (rc == 0) {
			vt_lock_pause(&r->lock, &held);
			rc = append_block(fd, b, at);
			vt_lock_resume(&r->lock, &held);
			if (rc) {
				vt_raw_give_places_back(r, 1, at);
			}
		}
		if (rc == 0 && !r->closed) {
			atomic_store_explicit(&b->magic, VT_RAW_FREE_MAGIC, memory_order_release);
			r->ready[r->n_ready++] = b;
		} else {
			/* what was closed meanwhile may have lost its copy, and is being read */
			*vt_raw_full_at(r, r->n_full++) = b;
		}
	}
	if (fd >= 0) {
		vt_raw_close_again(r, fd);
	}
	return rc;
}

static VT_SELDOM struct vt_raw_block *overwrite_oldest(struct vt_raw *r)
{
	size_t i, n = r->n_full;
	struct vt_raw_block *b;

	for (i = 0; i < n; i++) {
		b = pop_full(r);
		if (b->kind == VT_RAW_DATA) {
			atomic_store_explicit(&b->magic, VT_RAW_FREE_MAGIC, memory_order_release);
			atomic_fetch_add_explicit(&r->head->overwritten, 1, memory_order_relaxed);
			return b;
		}
		*vt_raw_full_at(r, r->n_full++) = b;
	}
	return NULL;
}

static int64_t coarse_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Remembers that there is no block, so that a full disk is not asked again at each record. */
static VT_SELDOM struct vt_raw_block *no_block(struct vt_raw *r, int why)
{
	r->no_room = why;
	/* without system calls, the sampler process makes room, ten times a second */
	atomic_store_explicit(&r->no_room_until, coarse_monotonic_ns() + (why == EPERM ? 50000000 : 1000000000),
		memory_order_relaxed);
	return NULL;
}

/* Takes no lock, so that lost records cost no more than those that are stored. */
static int is_known_full(struct vt_raw *r)
{
	int64_t until = atomic_load_explicit(&r->no_room_until, memory_order_relaxed);

	return until && coarse_monotonic_ns() < until;
}

/* Returns a mapped block, or NULL with *why. Beyond the limit there is still room for definitions, including
 * statistics. */
static VT_SELDOM struct vt_raw_block *get_block(struct vt_raw *r, enum vt_raw_kind kind, int *why)
{
	int beyond = kind != VT_RAW_DATA && r->no_room == EFBIG;

	*why = 0;
	if (r->n_ready == 0 && r->no_room && !beyond && !r->overwrite && is_known_full(r)) {
		*why = r->no_room;
		return NULL;
	}
	r->beyond = beyond ? DEFINITIONS_BEYOND_BYTES : 0;
	if (!beyond) {
		r->no_room = 0;
		atomic_store_explicit(&r->no_room_until, 0, memory_order_relaxed);
	}
	if (r->n_ready == 0 && r->mapped < (size_t)r->max_blocks) {
		*why = vt_raw_grow_some(r);
		if (*why == 0 && !r->was_ready && r->chunk * 2 * r->block_size <= BIGGEST_CHUNK_BYTES) {
			r->chunk *= 2; /* the sampler was too slow */
		}
	}
	if (r->n_ready == 0 && r->autoflush && !vt_raw_is_forbidden(r)) {
		int rc = flush_full(r, r->n_full > 1 ? r->n_full - 1 : 0);

		*why = *why ? *why : rc;
	}
	r->beyond = 0;
	if (r->n_ready == 0 && r->overwrite) {
		struct vt_raw_block *b = overwrite_oldest(r);

		if (b) {
			return b;
		}
	}
	if (r->n_ready == 0) {
		*why = *why ? *why : ENOBUFS;
		return no_block(r, *why);
	}
	*why = 0;
	return r->ready[--r->n_ready];
}

/* If there is no sampler, the thread that fills a block appends the full ones and takes their places again.
 * Copying a block that is still in the cache costs a third of the page faults of another block. This is not done
 * between two blocks of definitions, because other threads may want to write definitions meanwhile. */
static void flush_alone(struct vt_raw *r, enum vt_raw_kind kind)
{
	if (r->alone && kind == VT_RAW_DATA && r->autoflush && r->flush_blocks >= 0 &&
		r->n_full > (size_t)r->flush_blocks && !r->closed && !vt_raw_is_forbidden(r) && !is_known_full(r)) {
		flush_full(r, (size_t)r->min_blocks);
	}
}

VT_SELDOM struct vt_raw_block *vt_raw_begin_block(
	struct vt_raw *r, struct vt_raw_stream *s, enum vt_raw_kind kind, int64_t base)
{
	struct vt_raw_block *b;
	int why;

	if (s->block) {
		atomic_store_explicit(&s->block->state, VT_RAW_FULL, memory_order_release);
		*vt_raw_full_at(r, r->n_full++) = s->block;
		while (r->alone && r->n_sealed < r->n_full) {
			seal_oldest(r);
		}
		s->block = NULL;
		s->cur = s->end = s->short_limit = NULL;
		flush_alone(r, kind);
	}
	b = r->closed ? NULL : get_block(r, kind, &why);
	if (!b && !r->closed && kind == VT_RAW_DEFINITIONS && why == EFBIG) {
		b = get_block(r, kind, &why);
	}
	if (!b) {
		if (!r->closed && !atomic_load_explicit(&r->head->stop, memory_order_relaxed)) {
			/* definitions have no stamp */
			atomic_store_explicit(&r->head->stop_tick, kind == VT_RAW_DATA ? base : r->head->end_tick,
				memory_order_relaxed);
			atomic_store_explicit(&r->head->stop, (uint32_t)why, memory_order_release);
		}
		/* the sampler process, which says nothing, may have been the first to find no space */
		if (!r->closed && r->stopped && !vt_raw_is_forbidden(r)) {
			r->stopped(r->path, why);
			r->stopped = NULL;
		}
		return NULL;
	}
	b->kind = (uint16_t)kind;
	b->stream = s->id;
	b->number = s->number++;
	b->base = base;
	b->lost = s->lost;
	b->check = 0;
	b->late = b->filler2 = 0;
	atomic_store_explicit(&b->used, 0, memory_order_relaxed);
	atomic_store_explicit(&b->state, VT_RAW_OPEN, memory_order_relaxed);
	atomic_store_explicit(&b->magic, VT_RAW_BLOCK_MAGIC, memory_order_release);
	s->lost = 0;
	s->now = base;
	s->short_limit = NULL;
	s->known = 0;
	s->block = b;
	s->cur = (uint8_t *)(b + 1);
	s->end = (uint8_t *)b + r->block_size;
	r->taken++;
	return b;
}

VT_SELDOM uint32_t vt_raw_table_rows(struct vt_raw *r, uint32_t more)
{
	uint32_t n = 1;

	while ((2 * n + more) * sizeof(struct vt_raw_row) + sizeof(struct vt_raw_block) <= r->block_size) {
		n *= 2;
	}
	return n;
}

VT_SELDOM struct vt_raw_row *vt_raw_table(struct vt_raw *r, uint32_t thread, int late, uint32_t n)
{
	uint32_t size = n * (uint32_t)sizeof(struct vt_raw_row);
	struct vt_raw_block *b;
	int why;

	vt_lock(&r->lock);
	b = r->closed ? NULL : get_block(r, VT_RAW_TABLE, &why);
	r->mapped -= b != NULL; /* MEM-MAXBLOCKS is for blocks that are flushed */
	vt_unlock(&r->lock);
	if (!b) {
		return NULL;
	}
	memset(b + 1, 0, size);
	b->kind = VT_RAW_TABLE;
	b->stream = thread;
	b->late = (uint32_t)late;
	b->number = b->lost = b->check = 0;
	b->filler2 = 0;
	b->base = 0;
	atomic_store_explicit(&b->used, size, memory_order_relaxed);
	atomic_store_explicit(&b->state, VT_RAW_OPEN, memory_order_relaxed);
	atomic_store_explicit(&b->magic, VT_RAW_BLOCK_MAGIC, memory_order_release);
	return (struct vt_raw_row *)(void *)(b + 1);
}

VT_SELDOM void vt_raw_table_moves(struct vt_raw *r, struct vt_raw_row *table, int moved)
{
	struct vt_raw_block *b = (struct vt_raw_block *)(void *)table - 1;

	if (!moved) {
		b->base = 1 + (int64_t)atomic_load_explicit(&r->head->definitions, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		return;
	}
	vt_lock(&r->lock);
	atomic_store_explicit(&b->magic, VT_RAW_FREE_MAGIC, memory_order_release);
	if (!r->closed && r->mapped < (size_t)r->max_blocks) {
		r->ready[r->n_ready++] = b;
		r->mapped++;
	} else {
		munmap(b, r->block_size);
	}
	vt_unlock(&r->lock);
}

static void wake_keeper(struct vt_raw *r)
{
	if (atomic_exchange_explicit(&r->wake, 1, memory_order_release) == 0 &&
		atomic_load_explicit(&r->sleeping, memory_order_relaxed)) {
		syscall(SYS_futex, &r->wake, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

void vt_raw_count_lost(struct vt_raw_stream *s, int records)
{
	s->lost += (uint64_t)records;
	if (!s->raw->forgotten) {
		atomic_fetch_add_explicit(&s->raw->head->lost, (uint64_t)records, memory_order_relaxed);
	}
}

void vt_raw_abandon(struct vt_raw_stream *s)
{
	if (!s->busy) {
		return;
	}
	/* what the stream knows of its last record (stamp, thread, counters) may be that of the record that is not there */
	s->end = s->cur;
	s->short_limit = NULL;
	vt_raw_count_lost(s, 1);
	atomic_signal_fence(memory_order_seq_cst);
	s->busy = 0;
}

static uint8_t *count_lost(struct vt_raw_stream *s)
{
	vt_raw_count_lost(s, 1);
	return NULL;
}

uint8_t *vt_raw_room_slow(struct vt_raw_stream *s, size_t size, int64_t stamp, uint32_t *dt)
{
	struct vt_raw *r = s->raw;
	uint64_t d;
	uint32_t sessions;
	size_t need;
	int short_of = 0, fresh = 0;

	vt_raw_is_forbidden(r); /* before the lock is taken */
	if (s->busy || r->forgotten || size + 16 > r->block_size - sizeof(struct vt_raw_block) ||
		(!s->block && is_known_full(r))) {
		return count_lost(s);
	}
	s->busy = vt_raw_here();
	atomic_signal_fence(memory_order_seq_cst);
	d = (uint64_t)stamp - (uint64_t)s->now;
	sessions = atomic_load_explicit(&r->head->sessions, memory_order_relaxed);
	need = size + (d <= UINT32_MAX && sessions == s->said ? 0 : 16);
	if (!s->block || need > (size_t)(s->end - s->cur)) {
		vt_lock(&r->lock);
		vt_raw_begin_block(r, s, VT_RAW_DATA, stamp);
		short_of = r->n_ready < r->chunk / 2 ||
			(r->autoflush && r->flush_blocks >= 0 && r->n_full > (size_t)r->flush_blocks);
		vt_unlock(&r->lock);
		if (short_of) {
			wake_keeper(r);
		}
		if (!s->block) {
			s->busy = 0;
			return count_lost(s);
		}
		fresh = 1;
	}
	/* a signal handler may have made room since the fast path looked */
	*dt = fresh ? 0 : (uint32_t)d;
	/* blocks before it may be missing */
	if (sessions != s->said || (fresh && sessions) || (!fresh && d > UINT32_MAX)) {
		struct vt_raw_record h = { VT_RAW_TIME, 0, 0, sessions };

		s->said = sessions;
		memcpy(s->cur, &h, 8);
		memcpy(s->cur + 8, &stamp, 8);
		s->cur += 16;
		*dt = 0;
	}
	s->now = stamp;
	return s->cur;
}

/* Writes, after the record that ends at p, which thread the short records after it belong to. There is room for it. */
static uint8_t *write_owner(struct vt_raw_stream *s, uint8_t *p, uint16_t where)
{
	const struct vt_raw_record owner = { VT_RAW_OWNER, 0, where, 0 };

	if (s->short_limit) {
		return p;
	}
	memcpy(p, &owner, sizeof(owner));
	/* two words, starting after what has been written so far */
	s->short_limit = s->end - 7;
	return p + sizeof(owner);
}

int vt_raw_state_long(
	struct vt_raw_stream *s, ltick_t stamp, uint16_t where, unsigned type, struct vt_raw_state_change state)
{
	struct vt_raw_record h = { (uint8_t)type, VT_RAW_LEFT, where, 0 };
	uint8_t *p = vt_raw_room(s, 2 * sizeof(h) + sizeof(state), stamp.v, &h.dt);

	if (!p) {
		return -1;
	}
	memcpy(p, &h, sizeof(h));
	memcpy(p + sizeof(h), &state, sizeof(state));
	vt_raw_done(s, write_owner(s, p + sizeof(h) + sizeof(state), where));
	return 0;
}

int vt_raw_message_long(
	struct vt_raw_stream *s, ltick_t stamp, uint16_t where, enum vt_raw_message_kind kind, struct vt_raw_message m)
{
	return vt_raw_event(s, stamp, where, VT_RAW_MESSAGE, (uint8_t)kind, &m, sizeof(m));
}

int vt_raw_values(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, unsigned n, const uint32_t *ids,
	const void *values, int owns)
{
	size_t size = sizeof(struct vt_raw_record) + 12 * (size_t)n, more = sizeof(struct vt_raw_record);
	struct vt_raw_record h = { VT_RAW_COUNTERS, (uint8_t)n, where, 0 };
	uint8_t *p = vt_raw_room(s, size + more, stamp.v, &h.dt), *value;
	uint32_t counter;
	unsigned i;

	if (!p) {
		return -1;
	}
	memcpy(p, &h, sizeof(h));
	value = p + sizeof(h);
	memcpy(value, values, 8 * (size_t)n);
	memcpy(value + 8 * (size_t)n, ids, 4 * (size_t)n);
	for (i = 0; i < n; i++) {
		counter = ids[i] - VT_RAW_FIRST_ID;
		if (counter < VT_RAW_SHORT_COUNTERS) {
			memcpy(&s->last[counter], value + 8 * (size_t)i, 8);
			s->known |= 1u << counter;
		}
	}
	p += size;
	vt_raw_done(s, owns ? write_owner(s, p, where) : p);
	return 0;
}

void vt_raw_session_over(struct vt_raw *r)
{
	if (!r->forgotten) {
		atomic_fetch_add_explicit(&r->head->sessions, 1, memory_order_relaxed);
	}
}

VT_SELDOM int vt_raw_comment(struct vt_raw_stream *s, ltick_t stamp, uint16_t where, const char *text)
{
	uint32_t n = (uint32_t)strnlen(text, 1000);
	size_t size = 12 + vt_raw_pad(n);
	struct vt_raw_record h = { VT_RAW_COMMENT, 0, where, 0 };
	uint8_t *p = vt_raw_room(s, size, stamp.v, &h.dt);

	if (!p) {
		return -1;
	}
	memset(p + size - 4, 0, 4);
	memcpy(p, &h, 8);
	memcpy(p + 8, &n, 4);
	memcpy(p + 12, text, n);
	vt_raw_done(s, p + size);
	return 0;
}

/* ---- streams ---- */

VT_SELDOM struct vt_raw_stream *vt_raw_stream(struct vt_raw *r)
{
	struct vt_raw_stream *s;

	vt_lock(&r->lock);
	for (s = r->streams; s && s->taken; s = s->next) {
	}
	if (!s) {
		/* mapped, not allocated: this may run inside the program's malloc */
		s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (s == MAP_FAILED) {
			vt_unlock(&r->lock);
			return NULL;
		}
		s->raw = r;
		s->sessions = &r->head->sessions;
		s->id = VT_RAW_DEFINING + atomic_fetch_add_explicit(&r->head->streams, 1, memory_order_relaxed);
		s->next = r->streams;
		r->streams = s;
	}
	s->taken = 1;
	vt_raw_no_owner(s);
	vt_unlock(&r->lock);
	return s;
}

void vt_raw_stream_end(struct vt_raw_stream *s)
{
	vt_lock(&s->raw->lock);
	vt_raw_abandon(s); /* the thread may have been cancelled within a record */
	s->taken = 0;
	vt_unlock(&s->raw->lock);
}

/* ---- housekeeping ---- */

void vt_raw_alone(struct vt_raw *r, int alone)
{
	r->alone = alone;
}

void vt_raw_keep_open(struct vt_raw *r)
{
	int fd = vt_raw_open_again(r);

	if (fd >= 0) {
		r->keeper_fd = fd;
		atomic_store_explicit(&r->keeper, (pid_t)syscall(SYS_gettid), memory_order_release);
	}
}

/* The first access to a page costs a fault. The sampler takes the faults here, so that the program's threads do
 * not. */
static VT_SELDOM void touch_ready_blocks(struct vt_raw *r, size_t from)
{
	size_t i, at;

	for (i = from; i < r->n_ready; i++) {
		for (at = 0; at < r->block_size; at += 4096) {
			*((volatile char *)r->ready[i] + at) = 0;
		}
	}
}

VT_SELDOM void vt_raw_tick(struct vt_raw *r, ltick_t now)
{
	size_t wanted, before;

	if (r->forgotten) {
		return;
	}
	atomic_store_explicit(&r->wake, 0, memory_order_relaxed);
	atomic_store_explicit(&r->head->end_tick, now.v, memory_order_relaxed);
	vt_lock(&r->lock);
	while (!r->closed && r->n_sealed < r->n_full) {
		seal_oldest(r);
		/* a thread that waits for a block gets its turn */
		vt_unlock(&r->lock);
		vt_lock(&r->lock);
	}
	if (!r->closed && r->autoflush && r->flush_blocks >= 0 && r->n_full > (size_t)r->flush_blocks) {
		flush_full(r, (size_t)r->min_blocks);
	}
	/* as many as were begun since the last time, at least one chunk when any was */
	wanted = r->taken > r->chunk ? r->taken : r->taken ? r->chunk : 0;
	r->taken = 0;
	before = r->n_ready;
	while (!r->closed && r->n_ready < wanted && r->mapped < (size_t)r->max_blocks && vt_raw_grow_some(r) == 0) {
	}
	if (r->n_ready > before) {
		touch_ready_blocks(r, before);
	}
	vt_unlock(&r->lock);
	if (r->copy[0].id >= VT_RAW_COPIES && !r->closed) {
		vt_raw_make_room_ahead(r);
	}
}

int vt_raw_wait(struct vt_raw *r, int64_t deadline_ns)
{
	struct timespec ts = { (time_t)(deadline_ns / 1000000000), (long)(deadline_ns % 1000000000) };
	long rc = 0;

	atomic_store_explicit(&r->sleeping, 1, memory_order_relaxed);
	while (!atomic_exchange_explicit(&r->wake, 0, memory_order_acquire)) {
		rc = syscall(SYS_futex, &r->wake, FUTEX_WAIT_BITSET_PRIVATE, 0, &ts, NULL, FUTEX_BITSET_MATCH_ANY);
		if (rc < 0 && errno != EAGAIN && errno != EINTR) {
			atomic_store_explicit(&r->sleeping, 0, memory_order_relaxed);
			return 0;
		}
	}
	atomic_store_explicit(&r->sleeping, 0, memory_order_relaxed);
	return 1;
}

void vt_raw_wake(struct vt_raw *r)
{
	wake_keeper(r);
}

/* ---- the end ---- */

static VT_SELDOM void end_stream(struct vt_raw_stream *s)
{
	if (s->block) {
		seal(s->block);
	}
}

/* After this, this process writes no records. The caller holds r->lock. */
static VT_SELDOM void end_streams(struct vt_raw *r)
{
	struct vt_raw_stream *s;
	int k;

	r->closed = 1;
	while (r->n_sealed < r->n_full) {
		seal_oldest(r);
	}
	for (k = 0; k < VT_RAW_COPIES; k++) {
		end_stream(&r->copy[k]);
	}
	for (s = r->streams; s; s = s->next) {
		/* a thread that outlives main may still write into its block, which therefore stays open */
		if (!s->taken) {
			end_stream(s);
		}
	}
}

VT_SELDOM void vt_raw_hand_over(struct vt_raw *r)
{
	if (!r->forgotten && !r->closed) {
		vt_lock(&r->lock);
		end_streams(r);
		vt_unlock(&r->lock);
	}
}

VT_SELDOM void vt_raw_close(struct vt_raw *r, ltick_t last)
{
	uint64_t used = 0, i;
	int fd;

	if (r->forgotten || r->closed > 1) {
		return;
	}
	vt_lock(&r->lock);
	end_streams(r);
	r->closed = 2;
	atomic_store(&r->head->end_tick, last.v);
	used = atomic_load(&r->head->file_blocks);
	for (i = r->n_ready; i > 0; i--) {
		munmap(r->ready[i - 1], r->block_size);
	}
	fd = vt_raw_open_again(r);
	if (fd >= 0) {
		struct vt_raw_block probe;

		while (used > 0 &&
			pread(fd, &probe, sizeof(probe), (off_t)(r->head->head_size + (used - 1) * r->block_size)) ==
				(ssize_t)sizeof(probe) &&
			atomic_load(&probe.magic) != VT_RAW_BLOCK_MAGIC) {
			used--;
		}
		if (ftruncate(fd, (off_t)(r->head->head_size + used * r->block_size)) < 0) {
			/* a longer file than needed does no harm */
		}
		vt_raw_close_again(r, fd);
	}
	atomic_store(&r->head->file_blocks, used);
	r->n_ready = 0;
	atomic_store(&r->head->state, VT_RAW_CLOSED);
	vt_unlock(&r->lock);
	vt_raw_started(r);
}

static void keep_from_children(struct vt_raw *r, struct vt_raw_block *b)
{
	if (b) {
		madvise(b, r->block_size, MADV_DONTFORK);
	}
}

VT_SELDOM int vt_raw_keep_from_children(struct vt_raw *r)
{
	struct vt_raw_stream *s;
	size_t i;

	/* a child that finds no data of r must not find r itself either */
	if (madvise(r->arrays, r->arrays_size, MADV_WIPEONFORK) < 0) {
		return -1;
	}
	for (s = r->streams; s; s = s->next) {
		keep_from_children(r, s->block);
	}
	for (i = 0; i < VT_RAW_COPIES; i++) {
		keep_from_children(r, r->copy[i].block);
	}
	for (i = 0; i < r->n_ready; i++) {
		keep_from_children(r, r->ready[i]);
	}
	for (i = 0; i < r->n_full; i++) {
		keep_from_children(r, *vt_raw_full_at(r, i));
	}
	madvise(r->head, r->head->head_size, MADV_DONTFORK);
	return 0;
}

void vt_raw_detach_after_fork(struct vt_raw *r)
{
	struct vt_raw_stream *s;
	size_t i;

	r->forgotten = r->closed = 1;
	for (s = r->streams; s; s = s->next) {
		s->cur = s->end = s->short_limit = NULL;
		s->busy = 0;
		if (s->block) {
			munmap(s->block, r->block_size);
			s->block = NULL;
		}
	}
	for (i = 0; i < VT_RAW_COPIES; i++) {
		if (r->copy[i].block) {
			munmap(r->copy[i].block, r->block_size);
		}
	}
	for (i = 0; i < r->n_ready; i++) {
		munmap(r->ready[i], r->block_size);
	}
	for (i = 0; i < r->n_full; i++) {
		munmap(*vt_raw_full_at(r, i), r->block_size);
	}
	if (r->window) {
		munmap(r->window, r->window_size);
	}
	munmap(r->head, r->head->head_size);
	r->head = NULL;
	/* a thread of the parent may have held it at the fork */
	vt_lock_forget(&r->lock);
}

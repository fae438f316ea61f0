/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts calls, times and communication of each function in tables of a thread, which are part of the raw file. If there was no
 * room for one in the file, it is in memory, and its rows are written at the end. */
#include "config.h"
#include "collector-plugin/stats/stats.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/host/memory.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* For THROTTLE: calls of a function by a thread and their time, since the thread began or since they were last checked.
 * They are found by the function's number, so there are as many as functions, however many rows there are. */
struct life {
	uint64_t count;
	int64_t inclusive;
};

enum { RECENT = 64, LATE_ROWS = 512, NO_ROW = -1, LIVES = 1024, LIFE_TABLES = 1024 };

struct table {
	struct vt_raw_row *row; /* NULL: not needed yet */
	int in_file;
};

struct vt_stats {
	struct vt_collect *c;
	struct vt_stats *next;
	int thread, late;
	uint32_t n, used; /* n: rows, a power of two; used: rows with a function */
	uint32_t each;    /* rows of a table; the first one also has `rest` */
	/* rows of calls, by the low bits of their functions: most calls find theirs here */
	struct vt_raw_row *recent[RECENT];
	struct life **life;      /* [LIFE_TABLES], each NULL or a table of LIVES functions; NULL: THROTTLE is off */
	struct vt_raw_row *rest; /* [VT_RAW_ROW_KINDS]: for everything that has no row of its own, function 0 */
	struct table table[];
};

static int rows_wanted;
static struct {
	uint64_t calls; /* 0: off */
	double seconds;
	void (*stop)(uint32_t function);
} throttle;
static struct vt_lock lock = VT_LOCK_INIT;
static struct vt_stats *all;
static _Atomic int finished;

VT_SELDOM void vt_stats_start(int rows)
{
	int n = 4;

	while (n < rows && n < 1 << 20) {
		n *= 2;
	}
	rows_wanted = rows > 0 ? n : 0;
	atomic_store(&finished, 0);
}

VT_SELDOM void vt_stats_throttle(unsigned long long calls, double seconds, void (*stop)(uint32_t function))
{
	throttle.calls = calls;
	throttle.seconds = seconds;
	throttle.stop = stop;
}

int vt_stats_throttles(void)
{
	return throttle.calls > 0;
}

int vt_stats_wanted(void)
{
	return rows_wanted > 0;
}

static size_t size_of_stats(const struct vt_stats *s)
{
	return sizeof(*s) + s->n / s->each * sizeof(s->table[0]) + (s->life ? LIFE_TABLES * sizeof(*s->life) : 0);
}

static uint32_t rows_of(const struct vt_stats *s, const struct table *t)
{
	return s->each + (t == s->table ? VT_RAW_ROW_KINDS : 0);
}

static VT_SELDOM void make_row_table(struct vt_stats *s, struct table *t)
{
	struct vt_lock held;

	vt_signals_block(&held);
	if (!t->row) {
		t->row = vt_raw_table(s->c->raw, (uint32_t)s->thread, s->late, rows_of(s, t));
		t->in_file = t->row != NULL;
	}
	/* a program that has given up system calls can get no memory */
	if (!t->row && !vt_lock_is_without_calls()) {
		t->row = vt_pages(rows_of(s, t) * sizeof(*t->row));
	}
	vt_signals_back(&held);
}

/* Returns row i; NULL: there is no memory for it. */
static struct vt_raw_row *row_at(struct vt_stats *s, uint32_t i)
{
	struct table *t = &s->table[i / s->each];

	if (__builtin_expect(!t->row, 0)) {
		make_row_table(s, t);
	}
	return t->row ? &t->row[i % s->each] : NULL;
}

VT_SELDOM struct vt_stats *vt_stats_thread(struct vt_collect *c, int thread, int late)
{
	uint32_t n = late ? LATE_ROWS : (uint32_t)rows_wanted, i;
	/* life: to be counted, until it is known where it is */
	struct vt_stats size = { .n = n, .life = throttle.calls ? (struct life **)(void *)&throttle : NULL }, *s;

	if (!n) {
		return NULL;
	}
	size.each = vt_raw_table_rows(c->raw, VT_RAW_ROW_KINDS);
	size.each = size.each < n ? size.each : n;
	s = vt_pages(size_of_stats(&size));
	if (!s) {
		return NULL;
	}
	*s = size;
	s->c = c;
	s->thread = thread;
	s->late = late;
	if (!row_at(s, 0)) {
		munmap(s, size_of_stats(s));
		return NULL;
	}
	s->rest = &s->table[0].row[s->each];
	for (i = 0; i < VT_RAW_ROW_KINDS; i++) {
		s->rest[i].kind = i;
	}
	for (i = 0; i < RECENT; i++) {
		s->recent[i] = &s->rest[VT_RAW_ROW_CALL];
	}
	s->life = s->life ? (struct life **)(void *)&s->table[n / s->each] : NULL;
	vt_lock(&lock);
	s->next = all;
	all = s;
	vt_unlock(&lock);
	return s;
}

/* Writes the rows of a table as definitions. Returns 0; -1: not all found room, and all are still in the table. */
static VT_SELDOM int write_rows(struct vt_stats *s, const struct table *t)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < rows_of(s, t); i++) {
		rc = t->row[i].t.count ? vt_raw_statistics(s->c->raw, (uint32_t)s->thread, s->late, &t->row[i]) : 0;
	}
	return rc;
}

/* The thread has ended: its rows become definitions, which are shorter, and the place of its tables is free. */
static VT_SELDOM void move_rows(struct vt_stats *s)
{
	struct table *t;
	int rc = 0;

	for (t = s->table; t < s->table + s->n / s->each; t++) {
		if (t->row && t->in_file && rc == 0) {
			vt_raw_table_moves(s->c->raw, t->row, 0);
			rc = write_rows(s, t);
			if (rc == 0) {
				vt_raw_table_moves(s->c->raw, t->row, 1);
			}
		} else if (t->row && !t->in_file) {
			write_rows(s, t);
			munmap(t->row, rows_of(s, t) * sizeof(*t->row));
		}
	}
}

static uint32_t first_row_place(const struct vt_raw_row *key, uint32_t n)
{
	uint64_t h = ((uint64_t)key->function << 32 | (uint32_t)key->peer) ^ key->bytes * 0x9e3779b97f4a7c15u ^
		((uint64_t)key->communicator << 8 | key->kind);

	return (uint32_t)((h * 0x9e3779b97f4a7c15u) >> 40) & (n - 1);
}

static inline int is_row(const struct vt_raw_row *r, const struct vt_raw_row *key)
{
	return r->function == key->function && r->bytes == key->bytes && r->peer == key->peer &&
		r->communicator == key->communicator && r->kind == key->kind;
}

/* Takes an empty row for the key. Returns 0 if a handler of a signal took it before this. */
static VT_SELDOM int take_row(struct vt_stats *s, struct vt_raw_row *r, const struct vt_raw_row *key)
{
	struct vt_lock held;
	int is_free;

	vt_signals_block(&held);
	is_free = r->function == 0;
	if (is_free) {
		r->communicator = key->communicator;
		r->peer = key->peer;
		r->kind = key->kind;
		r->bytes = key->bytes;
		r->function = key->function;
		s->used++;
	}
	vt_signals_back(&held);
	return is_free;
}

/* Finds or makes the row for this key; *at: its number, or NO_ROW. At most three quarters of the rows are filled. */
static struct vt_raw_row *find_row(struct vt_stats *s, const struct vt_raw_row *key, int *at)
{
	uint32_t i = first_row_place(key, s->n);
	struct vt_raw_row *r;

	while ((r = row_at(s, i)) && !is_row(r, key) &&
		(r->function || (s->used < s->n / 4 * 3 && !take_row(s, r, key)))) {
		i = r->function && !is_row(r, key) ? (i + 1) & (s->n - 1) : i;
	}
	if (!r || (!r->function && s->used >= s->n / 4 * 3)) {
		*at = NO_ROW;
		s->rest[key->kind].bytes += key->bytes;
		return &s->rest[key->kind];
	}
	*at = (int)i;
	return r;
}

static inline void widen_row_times(int64_t *v, int64_t d, uint64_t count)
{
	v[0] = count == 0 || d < v[0] ? d : v[0];
	v[1] = d > v[1] ? d : v[1];
	v[2] += d;
}

/* Returns what is known of a function; NULL: no memory, or too many functions. */
static VT_SELDOM struct life *life_of(struct vt_stats *s, uint32_t function)
{
	uint32_t i = function;

	if (i >= LIVES * LIFE_TABLES) {
		return NULL;
	}
	if (!s->life[i / LIVES] && !vt_lock_is_without_calls()) {
		s->life[i / LIVES] = vt_pages(LIVES * sizeof(struct life));
	}
	return s->life[i / LIVES] ? &s->life[i / LIVES][i % LIVES] : NULL;
}

static void see_life(struct vt_stats *s, uint32_t function, int64_t inclusive)
{
	struct life *l = life_of(s, function);

	if (!l) {
		return;
	}
	l->count++;
	l->inclusive += inclusive;
	if (__builtin_expect(l->count >= throttle.calls, 0)) {
		if ((double)l->inclusive < (double)l->count * throttle.seconds * s->c->timer->hz) {
			throttle.stop(function);
		}
		l->count = 0;
		l->inclusive = 0;
	}
}

/* A row whose count is 0 is none, so a process that is killed in between has counted this call, or has not. */
static inline void add_call_times(struct vt_raw_row *r, int64_t inclusive, int64_t exclusive)
{
	widen_row_times(r->t.inclusive, inclusive, r->t.count);
	widen_row_times(r->t.exclusive, exclusive, r->t.count);
	atomic_signal_fence(memory_order_release);
	r->t.count++;
}

/* A function of its own, so that the short way saves no registers for it. */
static __attribute__((noinline)) void count_call_slowly(
	struct vt_stats *s, uint32_t function, int64_t inclusive, int64_t exclusive)
{
	const struct vt_raw_row key = { .function = function };
	struct vt_raw_row *r;
	int at;

	if (s->life) {
		see_life(s, function, inclusive);
	}
	vt_stats_add(s, &key, inclusive, exclusive);
	r = find_row(s, &key, &at);
	if (at != NO_ROW) {
		s->recent[function % RECENT] = r;
	}
}

void vt_stats_call(struct vt_stats *s, uint32_t function, int64_t inclusive, int64_t exclusive)
{
	struct vt_raw_row *r = s->recent[function % RECENT];

	if (VT_LIKELY(r->function == function && !s->life && !atomic_load_explicit(&finished, memory_order_relaxed))) {
		add_call_times(r, inclusive, exclusive);
		return;
	}
	count_call_slowly(s, function, inclusive, exclusive);
}

void vt_stats_add(struct vt_stats *s, const struct vt_raw_row *key, int64_t inclusive, int64_t exclusive)
{
	struct vt_raw_row *r;
	int at;

	if (atomic_load_explicit(&finished, memory_order_relaxed)) {
		return;
	}
	r = find_row(s, key, &at);
	r->t.more += key->t.more;
	add_call_times(r, inclusive, exclusive);
}

VT_SELDOM void vt_stats_thread_ends(struct vt_stats *s)
{
	struct vt_stats **p;
	uint32_t i;

	if (!s) {
		return;
	}
	vt_lock(&lock);
	for (p = &all; *p && *p != s; p = &(*p)->next) {
	}
	if (*p) {
		*p = s->next;
		move_rows(s);
	}
	vt_unlock(&lock);
	for (i = 0; s->life && i < LIFE_TABLES; i++) {
		if (s->life[i]) {
			munmap(s->life[i], LIVES * sizeof(struct life));
		}
	}
	munmap(s, size_of_stats(s));
}

VT_SELDOM void vt_stats_finish(void)
{
	struct vt_stats *s;
	struct table *t;

	atomic_store(&finished, 1);
	/* do not wait for the lock: a signal handler that ends the program may have interrupted the thread that holds
	 * it */
	if (vt_lock_try(&lock) != 0) {
		return;
	}
	for (s = all; s; s = s->next) {
		for (t = s->table; t < s->table + s->n / s->each; t++) {
			if (t->row && !t->in_file) {
				write_rows(s, t);
			}
		}
	}
	all = NULL;
	vt_unlock(&lock);
}

void vt_stats_forked(void)
{
	vt_lock_forget(&lock);
	VT_SET_IF_OTHER(all, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts calls, times and communication of each function in a table per thread, and writes its rows into the raw
 * file. */
#include "config.h"
#include "collector-plugin/stats/stats.h"
#include "collector-plugin/host/lock.h"
#include "collector-plugin/host/memory.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* For THROTTLE: calls of a row's function and their time, since the thread began or since they were last checked. */
struct life {
	uint64_t count;
	int64_t inclusive;
};

enum { RECENT = 64, LATE_ROWS = 512, LONGEST_SECONDS = 32 };

struct vt_stats {
	struct vt_collect *c;
	struct vt_stats *next;
	int thread, late;
	uint32_t n, used;        /* n: rows, a power of two; used: rows with a function */
	int64_t written, second; /* written: tick of the last writing; second: ticks per second */
	int64_t period;          /* from one writing to the next, ticks */
	/* rows of calls, by the low bits of their functions: most calls find theirs here */
	struct vt_raw_row *recent[RECENT];
	struct life *life;                        /* [n]; NULL: THROTTLE is off */
	struct vt_raw_row rest[VT_RAW_ROW_KINDS]; /* for everything that has no row of its own: function 0 */
	struct vt_raw_row row[];                  /* function 0: free. Counts and times since the last writing */
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

void vt_stats_start(int rows)
{
	int n = 4;

	while (n < rows && n < 1 << 20) {
		n *= 2;
	}
	rows_wanted = rows > 0 ? n : 0;
	atomic_store(&finished, 0);
}

void vt_stats_throttle(unsigned long long calls, double seconds, void (*stop)(uint32_t function))
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

static size_t size_of(const struct vt_stats *s)
{
	return sizeof(*s) + s->n * (sizeof(s->row[0]) + (s->life ? sizeof(*s->life) : 0));
}

struct vt_stats *vt_stats_thread(struct vt_collect *c, int thread, int late)
{
	uint32_t n = late ? LATE_ROWS : (uint32_t)rows_wanted, i;
	size_t size =
		sizeof(struct vt_stats) + n * (sizeof(struct vt_raw_row) + (throttle.calls ? sizeof(struct life) : 0));
	struct vt_stats *s;

	if (!n) {
		return NULL;
	}
	s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED) {
		return NULL;
	}
	s->c = c;
	s->thread = thread;
	s->late = late;
	s->second = s->period = (int64_t)vt_timer_of(c)->hz;
	for (i = 0; i < VT_RAW_ROW_KINDS; i++) {
		s->rest[i].kind = i;
	}
	for (i = 0; i < RECENT; i++) {
		s->recent[i] = &s->rest[VT_RAW_ROW_CALL];
	}
	s->n = n;
	s->life = throttle.calls ? (struct life *)(void *)&s->row[n] : NULL;
	vt_lock(&lock);
	s->next = all;
	all = s;
	vt_unlock(&lock);
	return s;
}

/* A row that found no room waits for the next writing, as long as it can count. */
static void write_row(struct vt_stats *s, struct vt_raw_row *r)
{
	if (r->t.count &&
		(vt_raw_statistics(vt_raw_of(s->c), (uint32_t)s->thread, s->late, r) == 0 || r->t.count >> 31)) {
		r->t = (struct vt_raw_times){ 0 };
		r->bytes = r->function ? r->bytes : 0;
	}
}

static void write_rows(struct vt_stats *s)
{
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		write_row(s, &s->row[i]);
	}
	for (i = 0; i < VT_RAW_ROW_KINDS; i++) {
		write_row(s, &s->rest[i]);
	}
}

static uint32_t first_place(const struct vt_raw_row *key, uint32_t n)
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

/* Finds or makes the row for this key. At most three quarters of the rows are filled. */
static struct vt_raw_row *find_row(struct vt_stats *s, const struct vt_raw_row *key)
{
	uint32_t i = first_place(key, s->n);

	while (s->row[i].function && !is_row(&s->row[i], key)) {
		i = (i + 1) & (s->n - 1);
	}
	if (!s->row[i].function) {
		if (s->used >= s->n / 4 * 3) {
			s->rest[key->kind].bytes += key->bytes;
			return &s->rest[key->kind];
		}
		s->used++;
		s->row[i] = *key;
		s->row[i].t.more = 0; /* vt_stats_add() adds to it */
	}
	return &s->row[i];
}

static inline void widen(int64_t *v, int64_t d, uint64_t count)
{
	v[0] = count == 0 || d < v[0] ? d : v[0];
	v[1] = d > v[1] ? d : v[1];
	v[2] += d;
}

static void see_life(struct vt_stats *s, const struct vt_raw_row *r, int64_t inclusive)
{
	struct life *l = &s->life[r - s->row];

	l->count++;
	l->inclusive += inclusive;
	if (__builtin_expect(l->count == throttle.calls, 0)) {
		if ((double)l->inclusive < (double)l->count * throttle.seconds * vt_timer_of(s->c)->hz) {
			throttle.stop(r->function);
		}
		l->count = 0;
		l->inclusive = 0;
	}
}

static inline void add_times(
	struct vt_stats *s, struct vt_raw_row *r, int64_t now, int64_t inclusive, int64_t exclusive)
{
	widen(r->t.inclusive, inclusive, r->t.count);
	widen(r->t.exclusive, exclusive, r->t.count);
	r->t.count++;
	if (__builtin_expect(now - s->written > s->period, 0)) {
		s->written = now;
		s->period += s->late && s->period < LONGEST_SECONDS * s->second ? s->period / 16 : 0;
		write_rows(s);
	}
}

void vt_stats_call(struct vt_stats *s, uint32_t function, int64_t now, int64_t inclusive, int64_t exclusive)
{
	struct vt_raw_row key, *r = s->recent[function % RECENT];

	if (VT_LIKELY(r->function == function && !s->life && !atomic_load_explicit(&finished, memory_order_relaxed))) {
		add_times(s, r, now, inclusive, exclusive);
		return;
	}
	key = (struct vt_raw_row){ .function = function };
	vt_stats_add(s, &key, now, inclusive, exclusive);
	r = find_row(s, &key);
	if (r >= s->row && r < s->row + s->n) {
		s->recent[function % RECENT] = r;
	}
}

void vt_stats_add(struct vt_stats *s, const struct vt_raw_row *key, int64_t now, int64_t inclusive, int64_t exclusive)
{
	struct vt_raw_row *r;

	if (atomic_load_explicit(&finished, memory_order_relaxed)) {
		return;
	}
	r = find_row(s, key);
	if (s->life && key->kind == VT_RAW_ROW_CALL && r >= s->row && r < s->row + s->n) {
		see_life(s, r, inclusive);
	}
	r->t.more += key->t.more;
	add_times(s, r, now, inclusive, exclusive);
}

void vt_stats_thread_ends(struct vt_stats *s)
{
	struct vt_stats **p;

	if (!s) {
		return;
	}
	vt_lock(&lock);
	for (p = &all; *p && *p != s; p = &(*p)->next) {
	}
	if (*p) {
		*p = s->next;
		write_rows(s);
	}
	vt_unlock(&lock);
	munmap(s, size_of(s));
}

void vt_stats_finish(void)
{
	struct vt_stats *s;

	atomic_store(&finished, 1);
	/* do not wait for the lock: a signal handler that ends the program may have interrupted the thread that holds
	 * it */
	if (vt_lock_try(&lock) != 0) {
		return;
	}
	for (s = all; s; s = s->next) {
		write_rows(s);
	}
	vt_unlock(&lock);
}

void vt_stats_forked(void)
{
	vt_lock_forget(&lock);
	VT_SET_IF_OTHER(all, NULL);
}

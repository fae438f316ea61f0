/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks data blocks as they were written and keeps what an anchor must tell: the last value of every
 * counter, of each thread and of all, the stack of every thread, and which records are still open: messages and collective operations
 * under way, scopes and file operations not ended. Counts and the time range come from the same walk. */
#include "stf/history.h"
#include "stf/put.h"

#include <stdlib.h>

#define SPARSE_ALL 16 /* bytes of data for each byte of histories, at least, */
#define SPARSE 32     /* and for each byte of those by thread */

struct counter {
	uint32_t id;
	uint32_t by_thread; /* in the set of all threads: whose value it is, is known */
	uint64_t value;
};

/* By rising id, as counter_history wants them. */
struct counters {
	struct counter *c;
	size_t n, cap, next;
};

/* What one thread, or group, sampled last. */
struct thread {
	uint32_t willy;
	struct counters set;
};

struct stack {
	uint32_t willy;
	uint32_t n, cap;
	uint32_t *function, *scl;
};

struct open_record {
	uint64_t offset, prevtime;
	uint64_t end;    /* when it is over; UINT64_MAX: when its counterpart comes */
	uint64_t key[2]; /* what the counterpart must match */
};

struct stx_history {
	uint64_t counts[256];
	uint64_t min, max;
	uint64_t latest;            /* of all records so far */
	uint64_t n_late, most_late; /* records behind it, and how far at most */
	struct counters all;
	struct thread *thread; /* rising willy */
	size_t n_threads, cap_threads, next_thread;
	uint64_t told;       /* offset of the last anchor that had histories by thread, */
	uint64_t told_any;   /* and of the last that had any */
	struct stack *stack; /* rising willy */
	size_t n_stacks, cap_stacks, last_stack;
	struct open_record *open;
	size_t n_open, cap_open;
};

/* Everything about the record in hand. */
struct place {
	const uint8_t *p;
	uint64_t offset, prevtime, time;
	int big;
};

#define W4(record, field) tkm_get32(at->p + offsetof(struct stx_wire_##record, field), at->big)
#define W8(record, field) tkm_get64(at->p + offsetof(struct stx_wire_##record, field), at->big)

struct stx_history *stx_history_new(void)
{
	struct stx_history *h = calloc(1, sizeof(*h));

	if (h) {
		h->min = UINT64_MAX;
	}
	return h;
}

void stx_history_free(struct stx_history *h)
{
	size_t i;

	if (!h) {
		return;
	}
	for (i = 0; i < h->n_stacks; i++) {
		free(h->stack[i].function);
		free(h->stack[i].scl);
	}
	for (i = 0; i < h->n_threads; i++) {
		free(h->thread[i].set.c);
	}
	free(h->stack);
	free(h->thread);
	free(h->all.c);
	free(h->open);
	free(h);
}

const uint64_t *stx_history_counts(const struct stx_history *h)
{
	return h->counts;
}

void stx_history_times(const struct stx_history *h, uint64_t *min, uint64_t *max)
{
	*min = h->min;
	*max = h->max;
}

void stx_history_summary(const struct stx_history *h, struct stx_summary *m)
{
	memcpy(m->counts, h->counts, sizeof(m->counts));
	m->min = h->min;
	m->max = h->max;
	m->n_late = h->n_late;
	m->most_late = h->most_late;
}

struct stx_history *stx_history_of(const struct stx_summary *m)
{
	struct stx_history *h = stx_history_new();

	if (h) {
		memcpy(h->counts, m->counts, sizeof(m->counts));
		h->min = m->min;
		h->max = m->max;
		h->n_late = m->n_late;
		h->most_late = m->most_late;
	}
	return h;
}

uint64_t stx_history_late(const struct stx_history *h, uint64_t *most)
{
	*most = h->most_late;
	return h->n_late;
}

/* Makes room for one more element of an array. */
static int grow(void *array, size_t *cap, size_t n, size_t size)
{
	void **p = array, *q;
	size_t c = *cap ? 2 * *cap : 16;

	if (n < *cap) {
		return 0;
	}
	q = realloc(*p, c * size);
	if (!q) {
		return -1;
	}
	*p = q;
	*cap = c;
	return 0;
}

static int set_counter(struct counters *s, uint32_t id, uint64_t value, uint32_t by_thread)
{
	size_t lo = s->next, hi = s->n, mid;

	/* samplers write their counters in the same order again and again */
	if (lo >= hi || s->c[lo].id != id) {
		lo = 0;
		while (lo < hi) {
			mid = lo + (hi - lo) / 2;
			if (s->c[mid].id < id) {
				lo = mid + 1;
			} else {
				hi = mid;
			}
		}
		if (lo == s->n || s->c[lo].id != id) {
			if (grow(&s->c, &s->cap, s->n, sizeof(*s->c)) < 0) {
				return -1;
			}
			memmove(s->c + lo + 1, s->c + lo, (s->n - lo) * sizeof(*s->c));
			s->n++;
			s->c[lo].id = id;
		}
	}
	s->c[lo].value = value;
	s->c[lo].by_thread = by_thread;
	s->next = lo + 1 < s->n ? lo + 1 : 0;
	return 0;
}

static struct counters *find_thread(struct stx_history *h, uint32_t willy)
{
	size_t lo = h->next_thread, hi = h->n_threads, mid;

	/* they too come in turns */
	if (lo >= hi || h->thread[lo].willy != willy) {
		lo = 0;
		while (lo < hi) {
			mid = lo + (hi - lo) / 2;
			if (h->thread[mid].willy < willy) {
				lo = mid + 1;
			} else {
				hi = mid;
			}
		}
		if (lo == h->n_threads || h->thread[lo].willy != willy) {
			if (grow(&h->thread, &h->cap_threads, h->n_threads, sizeof(*h->thread)) < 0) {
				return NULL;
			}
			memmove(h->thread + lo + 1, h->thread + lo, (h->n_threads - lo) * sizeof(*h->thread));
			h->n_threads++;
			h->thread[lo] = (struct thread){ .willy = willy };
		}
	}
	h->next_thread = lo + 1 < h->n_threads ? lo + 1 : 0;
	return &h->thread[lo].set;
}

static int see_counters(struct stx_history *h, const struct place *at)
{
	unsigned i, n = at->p[offsetof(struct stx_wire_counter_value, size_1_2)];
	const uint8_t *values = at->p + sizeof(struct stx_wire_counter_value);
	struct counters *own = find_thread(h, W4(counter_value, willy));
	uint64_t value;
	uint32_t id;

	if (!own) {
		return -1;
	}
	for (i = 0; i < n; i++) {
		id = tkm_get32(values + 8 * n + 4 * i, at->big);
		value = tkm_get64(values + 8 * i, at->big);
		if (set_counter(own, id, value, 1) < 0 || set_counter(&h->all, id, value, 1) < 0) {
			return -1;
		}
	}
	return 0;
}

int stx_history_counter(struct stx_history *h, uint32_t id, uint64_t value)
{
	return set_counter(&h->all, id, value, 0);
}

int stx_history_thread_counter(struct stx_history *h, uint32_t willy, uint32_t id, uint64_t value)
{
	struct counters *own = find_thread(h, willy);

	return own && set_counter(own, id, value, 1) == 0 ? set_counter(&h->all, id, value, 1) : -1;
}

static struct stack *find_stack(struct stx_history *h, uint32_t willy)
{
	size_t lo = 0, hi = h->n_stacks, mid;

	if (h->last_stack < hi && h->stack[h->last_stack].willy == willy) {
		return &h->stack[h->last_stack];
	}
	/* threads that come in turns */
	if (h->last_stack + 1 < hi && h->stack[h->last_stack + 1].willy == willy) {
		return &h->stack[++h->last_stack];
	}
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (h->stack[mid].willy < willy) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	if (lo == h->n_stacks || h->stack[lo].willy != willy) {
		if (grow(&h->stack, &h->cap_stacks, h->n_stacks, sizeof(*h->stack)) < 0) {
			return NULL;
		}
		memmove(h->stack + lo + 1, h->stack + lo, (h->n_stacks - lo) * sizeof(*h->stack));
		h->n_stacks++;
		h->stack[lo] = (struct stack){ .willy = willy };
	}
	h->last_stack = lo;
	return &h->stack[lo];
}

static int push(struct stx_history *h, uint32_t willy, uint32_t function, uint32_t scl)
{
	struct stack *s = find_stack(h, willy);
	uint32_t cap, *p;

	if (!s) {
		return -1;
	}
	if (s->n == s->cap) {
		cap = s->cap ? 2 * s->cap : 8;
		p = realloc(s->function, cap * sizeof(*p));
		if (!p) {
			return -1;
		}
		s->function = p;
		p = realloc(s->scl, cap * sizeof(*p));
		if (!p) {
			return -1;
		}
		s->scl = p;
		s->cap = cap;
	}
	s->function[s->n] = function;
	s->scl[s->n++] = scl;
	return 0;
}

int stx_history_push(struct stx_history *h, uint32_t willy, uint32_t function, uint32_t scl)
{
	return push(h, willy, function, scl);
}

static int pop(struct stx_history *h, uint32_t willy)
{
	struct stack *s = find_stack(h, willy);

	if (!s) {
		return -1;
	}
	s->n -= s->n > 0;
	return 0;
}

static int add_open(struct stx_history *h, const struct place *at, uint64_t end, uint64_t key0, uint64_t key1)
{
	if (grow(&h->open, &h->cap_open, h->n_open, sizeof(*h->open)) < 0) {
		return -1;
	}
	h->open[h->n_open++] = (struct open_record){
		.offset = at->offset, .prevtime = at->prevtime, .end = end, .key = { key0, key1 }
	};
	return 0;
}

/* Scopes and file operations nest as a rule, so the counterpart is near the end. */
static int close_open(struct stx_history *h, uint64_t key0, uint64_t key1)
{
	size_t i = h->n_open;

	while (i-- > 0) {
		if (h->open[i].end == UINT64_MAX && h->open[i].key[0] == key0 && h->open[i].key[1] == key1) {
			memmove(h->open + i, h->open + i + 1, (h->n_open - i - 1) * sizeof(*h->open));
			h->n_open--;
			break;
		}
	}
	return 0;
}

static int see_until(struct stx_history *h, const struct place *at, uint64_t end)
{
	if (end > h->max) {
		h->max = end;
	}
	return end > at->time ? add_open(h, at, end, 0, 0) : 0;
}

/* a + b, but no further than the last stamp that is not "open" */
static uint64_t later(uint64_t a, uint64_t b)
{
	return a + b < a || a + b == UINT64_MAX ? UINT64_MAX - 1 : a + b;
}

static int see_message(struct stx_history *h, const struct place *at)
{
	int64_t d = (int64_t)W8(one_to_one_communication, receive_time);

	return d > 0 ? see_until(h, at, later(at->time, (uint64_t)d)) : 0;
}

/* All collective records begin their arrays with start_time and delta; `fixed` bytes stand ahead. */
static int see_collective(struct stx_history *h, const struct place *at, size_t fixed)
{
	uint32_t i, n = tkm_get32(at->p + fixed - 4, at->big);
	uint64_t end = at->time, start, delta;

	for (i = 0; i < n; i++) {
		start = tkm_get64(at->p + fixed + 8 * (size_t)i, at->big);
		delta = tkm_get64(at->p + fixed + 8 * ((size_t)n + i), at->big);
		if (start != UINT64_MAX && later(at->time, later(start, delta)) > end) {
			end = later(at->time, later(start, delta));
		}
	}
	return see_until(h, at, end);
}

static int see_scope(struct stx_history *h, const struct place *at, int enter)
{
	uint64_t key0 = (uint64_t)W4(enter_scope, willy) << 32 | W4(enter_scope, scope);
	uint64_t key1 = W4(enter_scope, seqnr);

	return enter ? add_open(h, at, UINT64_MAX, key0, key1) : close_open(h, key0, key1);
}

static int see_file_io(struct stx_history *h, const struct place *at, int begin)
{
	uint64_t key0 = (uint64_t)W4(file_io_begin, willy) << 32 | W4(file_io_begin, file);
	uint64_t key1 = (uint64_t)1 << 32 | at->p[offsetof(struct stx_wire_file_io_begin, type)];

	return begin ? add_open(h, at, UINT64_MAX, key0, key1) : close_open(h, key0, key1);
}

#define COLLECTIVE(name) \
	case STF_ID_##name: \
	case STF_ID_##name##_1: \
		return see_collective(h, at, sizeof(struct stx_wire_##name));

static int see(struct stx_history *h, const struct place *at)
{
	switch (*at->p) {
	case STF_ID_counter_value:
		return see_counters(h, at);
	case STF_ID_enter_function:
		return push(h, W4(enter_function, willy), W4(enter_function, function), 0);
	case STF_ID_enter_function_1:
		return push(h, W4(enter_function_1, willy), W4(enter_function_1, function), W4(enter_function_1, scl));
	case STF_ID_leave_function:
	case STF_ID_leave_function_1:
		return pop(h, W4(leave_function, willy));
	case STF_ID_one_to_one_communication:
	case STF_ID_one_to_one_communication_1:
	case STF_ID_one_to_one_communication_2:
	case STF_ID_one_to_one_communication_3:
	case STF_ID_one_to_one_communication_4:
		return see_message(h, at);
		COLLECTIVE(all_communication)
		COLLECTIVE(all_to_all_communication)
		COLLECTIVE(all_to_one_communication)
		COLLECTIVE(one_to_all_communication)
	case STF_ID_enter_scope:
	case STF_ID_enter_scope_1:
	case STF_ID_leave_scope:
	case STF_ID_leave_scope_1:
		return see_scope(h, at, *at->p == STF_ID_enter_scope || *at->p == STF_ID_enter_scope_1);
	case STF_ID_file_io_begin:
	case STF_ID_file_io_begin_1:
	case STF_ID_file_io_end:
	case STF_ID_file_io_end_1:
		return see_file_io(h, at, *at->p == STF_ID_file_io_begin || *at->p == STF_ID_file_io_begin_1);
	default:
		return 0;
	}
}

static void saw_times(struct stx_history *h, uint64_t first, uint64_t last)
{
	h->min = first < h->min ? first : h->min;
	h->max = last > h->max ? last : h->max;
	h->latest = last;
}

/* n > 0 ids. A call of memcmp() for so few bytes would cost more than they do. */
static inline int same_ids(const uint8_t *a, const uint8_t *b, size_t n)
{
	uint64_t diff = tkm_get32(a + 4 * (n - 1), 0) ^ tkm_get32(b + 4 * (n - 1), 0);
	size_t i;

	for (i = 0; i + 2 <= n; i += 2) {
		diff |= tkm_get64(a + 4 * i, 0) ^ tkm_get64(b + 4 * i, 0);
	}
	return diff == 0;
}

/* Samples of one thread and set of counters may follow each other, and only the last says anything. Returns the
 * first record that is none of them, NULL without memory. */
static const uint8_t *absorb_samples(
	struct stx_history *h, const uint8_t *p, const uint8_t *end, uint64_t *now, int big)
{
	const size_t fixed = sizeof(struct stx_wire_counter_value),
		     n = p[offsetof(struct stx_wire_counter_value, size_1_2)];
	const uint8_t *last = p, *ids = p + fixed + 8 * n;
	const uint32_t willy = tkm_get32(p + offsetof(struct stx_wire_counter_value, willy), 0);
	uint64_t first = *now + tkm_get32(p + 1, big), t = *now, count = 0;
	struct place at = { .big = big };

	do {
		t += tkm_get32(p + 1, big);
		count++;
		last = p;
		p += fixed + 12 * n;
	} while (p < end && *p == STF_ID_counter_value && p[offsetof(struct stx_wire_counter_value, size_1_2)] == n &&
		tkm_get32(p + offsetof(struct stx_wire_counter_value, willy), 0) == willy &&
		(n == 0 || same_ids(p + fixed + 8 * n, ids, n)));
	h->counts[STF_ID_counter_value] += count;
	saw_times(h, first, t);
	*now = t;
	at.p = last;
	return see_counters(h, &at) < 0 ? NULL : p;
}

int stx_history_absorb(
	struct stx_history *h, const uint8_t *p, const uint8_t *end, uint64_t offset, uint64_t *now, int big)
{
	const uint8_t *start = p;
	struct place at = { .big = big };

	while (p < end) {
		if (*p == STF_ID_counter_value && *now >= h->latest) {
			p = absorb_samples(h, p, end, now, big);
			if (!p) {
				return -1;
			}
			continue;
		}
		h->counts[*p]++;
		switch (*p) {
		case STF_ID_add_time:
			*now += tkm_get32(p + 1, big);
			break;
		case STF_ID_add_time_1:
			*now += tkm_get64(p + 1, big);
			break;
		case STF_ID_sub_time:
			*now -= tkm_get64(p + 1, big);
			break;
		default: /* every event begins with its time */
			at.p = p;
			at.offset = offset + (uint64_t)(p - start);
			at.prevtime = *now;
			*now += tkm_get32(p + 1, big);
			at.time = *now;
			if (at.time < h->latest) {
				h->n_late++;
				h->most_late = h->latest - at.time > h->most_late ? h->latest - at.time : h->most_late;
			} else {
				h->latest = at.time;
			}
			h->min = at.time < h->min ? at.time : h->min;
			h->max = at.time > h->max ? at.time : h->max;
			if (see(h, &at) < 0) {
				return -1;
			}
		}
		p += stx_wire_size(p, big);
	}
	return 0;
}

void stx_history_place_open(struct stx_history *h, size_t before, uint64_t offset, uint64_t prevtime)
{
	if (h->n_open > before) {
		h->open[h->n_open - 1].offset = offset;
		h->open[h->n_open - 1].prevtime = prevtime;
	}
}

size_t stx_history_n_open(const struct stx_history *h)
{
	return h->n_open;
}

/* Values of a thread, or of all threads those of nobody in particular (`nobody`) or any. Fewer than 256 in a record:
 * its size field is U1. */
static int put_set(struct stx_stream *to, const struct counters *s, const struct thread *t, int nobody)
{
	uint32_t id[255];
	uint64_t value[255];
	struct stf_counter_history all = { .counters = id, .values = value };
	struct stf_counter_value own = { .willy = t ? t->willy : 0, .counters = id, .values = value };
	size_t i, n = 0;

	for (i = 0; i < s->n; i++) {
		if (!nobody || !s->c[i].by_thread) {
			id[n] = s->c[i].id;
			value[n++] = s->c[i].value;
		}
		if (n == 255 || (n && i + 1 == s->n)) {
			all.size_1_2 = own.size_1_2 = (uint32_t)n;
			if (t ? stx_put_counter_value(to, &own) < 0 : stx_put_counter_history(to, &all) < 0) {
				return -1;
			}
			n = 0;
		}
	}
	return 0;
}

static int put_threads(const struct stx_history *h, struct stx_stream *to)
{
	size_t i;

	for (i = 0; i < h->n_threads; i++) {
		if (put_set(to, &h->thread[i].set, &h->thread[i], 0) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Bytes of the histories that are not by thread. */
static uint64_t size_of(const struct stx_history *h)
{
	uint64_t size = sizeof(struct stx_wire_begin_of_history) + sizeof(struct stx_wire_end_of_history) +
		12 * h->all.n + 20 * h->n_open;
	size_t i;

	for (i = 0; i < h->n_stacks; i++) {
		/* an SCL for each function at worst */
		size += h->stack[i].n ? sizeof(struct stx_wire_function_history_1) + 8 * (uint64_t)h->stack[i].n : 0;
	}
	return size;
}

/* Where much is open at once, most anchors are a place and a time only: who wants to know more begins further up. */
static int tells(struct stx_history *h, uint64_t offset)
{
	if (offset && offset - h->told_any < SPARSE_ALL * size_of(h)) {
		return 0;
	}
	h->told_any = offset;
	return 1;
}

/* Many threads with many counters do not tell all at every anchor: a reader then begins further up. */
static int is_due(struct stx_history *h, uint64_t offset)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < h->n_threads; i++) {
		size += sizeof(struct stx_wire_counter_value) + 12 * h->thread[i].set.n;
	}
	if (offset - h->told < SPARSE * size) {
		return 0;
	}
	h->told = offset;
	return 1;
}

static int put_stacks(struct stx_history *h, struct stx_stream *anc)
{
	const struct stack *s;
	size_t k;
	uint32_t i;
	int rc = 0, any;

	for (k = 0; k < h->n_stacks && rc == 0; k++) {
		s = &h->stack[k];
		for (any = 0, i = 0; i < s->n; i++) {
			any |= s->scl[i] != 0;
		}
		if (any) {
			struct stf_function_history_1 r = {
				.willy = s->willy, .size_1_2 = s->n, .function_stack = s->function, .scls = s->scl
			};

			rc = stx_put_function_history_1(anc, &r);
		} else if (s->n) {
			struct stf_function_history r = {
				.willy = s->willy, .size_1_1 = s->n, .function_stack = s->function
			};

			rc = stx_put_function_history(anc, &r);
		}
	}
	return rc;
}

static int put_open(struct stx_history *h, struct stx_stream *anc, uint32_t file)
{
	struct stf_history r = { 0 };
	uint32_t files[255];
	uint64_t offset[255], prevtime[255];
	size_t i, n = 0;

	r.file = files;
	r.offset = offset;
	r.prevtime = prevtime;
	for (i = 0; i < h->n_open; i++) {
		files[n] = file;
		offset[n] = h->open[i].offset;
		prevtime[n++] = h->open[i].prevtime;
		if (n == 255 || i + 1 == h->n_open) {
			r.size_1_3 = (uint32_t)n;
			if (stx_put_history(anc, &r) < 0) {
				return -1;
			}
			n = 0;
		}
	}
	return 0;
}

/* Forgets what is over by then. */
static void drop_ended(struct stx_history *h, uint64_t time_prev)
{
	size_t i, n = 0;

	for (i = 0; i < h->n_open; i++) {
		if (h->open[i].end > time_prev) {
			h->open[n++] = h->open[i];
		}
	}
	h->n_open = n;
}

int stx_history_anchor(
	struct stx_history *h, struct stx_stream *anc, uint32_t file, uint64_t time_prev, uint64_t offset)
{
	struct stf_anchor a = { .time_prev = time_prev, .offset = offset };
	struct stf_begin_of_history begin = { 0 };
	struct stf_end_of_history end = { 0 };

	drop_ended(h, time_prev);
	if (stx_put_anchor(anc, &a) < 0) {
		return -1;
	}
	if (!tells(h, offset)) {
		return 0;
	}
	if (stx_put_begin_of_history(anc, &begin) < 0 || put_set(anc, &h->all, NULL, 0) < 0 ||
		(is_due(h, offset) && put_threads(h, anc) < 0) || put_stacks(h, anc) < 0 ||
		put_open(h, anc, file) < 0) {
		return -1;
	}
	return stx_put_end_of_history(anc, &end);
}

int stx_history_state(struct stx_history *h, struct stx_stream *to, uint32_t file, uint64_t from)
{
	drop_ended(h, from - 1);
	return put_set(to, &h->all, NULL, 1) < 0 || put_threads(h, to) < 0 || put_stacks(h, to) < 0
		? -1
		: put_open(h, to, file);
}

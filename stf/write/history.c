/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks data blocks after they were written, and keeps what an anchor must state: the last value of every counter
 * (of each thread and of all threads), the stack of every thread, and the records that are still open. These are
 * messages and collective operations under way, and scopes and file operations that have not ended. The same walk
 * finds the counts and the time range. history_put.c writes the result. */
#include "stf/write/history.h"
#include "stf/write/history_parts.h"

#include <stdlib.h>
#include <sys/types.h>

#include "base/grow.h"

/* The record being walked. */
struct place {
	const uint8_t *p;
	uint64_t offset, prevtime, time;
	int big;
};

#define W4(record, field) tkm_get32(at->p + offsetof(struct stf_wire_##record, field), at->big)
#define W8(record, field) tkm_get64(at->p + offsetof(struct stf_wire_##record, field), at->big)

struct stf_history_state *stf_history_new(void)
{
	struct stf_history_state *h = calloc(1, sizeof(*h));

	if (h) {
		h->min = UINT64_MAX;
	}
	return h;
}

void stf_history_free(struct stf_history_state *h)
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
	free(h->stack_at.slot);
	free(h->thread);
	free(h->thread_at.slot);
	free(h->all.c);
	free(h->open);
	free(h);
}

const uint64_t *stf_history_counts(const struct stf_history_state *h)
{
	return h->counts;
}

void stf_history_times(const struct stf_history_state *h, uint64_t *min, uint64_t *max)
{
	*min = h->min;
	*max = h->max;
}

void stf_history_summary(const struct stf_history_state *h, struct stf_summary *m)
{
	memcpy(m->counts, h->counts, sizeof(m->counts));
	m->min = h->min;
	m->max = h->max;
	m->n_late = h->n_late;
	m->most_late = h->most_late;
}

struct stf_history_state *stf_history_of(const struct stf_summary *m)
{
	struct stf_history_state *h = stf_history_new();

	if (h) {
		memcpy(h->counts, m->counts, sizeof(m->counts));
		h->min = m->min;
		h->max = m->max;
		h->n_late = m->n_late;
		h->most_late = m->most_late;
	}
	return h;
}

uint64_t stf_history_late(const struct stf_history_state *h, uint64_t *most)
{
	*most = h->most_late;
	return h->n_late;
}

static int set_counter(struct stf_lasts *s, uint32_t id, uint64_t value, uint32_t by_thread)
{
	size_t lo = s->next, hi = s->n, mid;

	/* samplers write their counters in the same order each time */
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
			if (TKM_GROW(s->c, s->cap, s->n + 1) < 0) {
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

/* ---- finding threads and groups by their number ---- */

static uint32_t number_at(const void *array, size_t size, size_t i)
{
	uint32_t willy;

	memcpy(&willy, (const char *)array + i * size, sizeof(willy));
	return willy;
}

/* The slot of a number, or the free slot where it belongs. */
static uint32_t *find_slot(const struct stf_places *p, const void *array, size_t size, uint32_t willy)
{
	size_t i = (size_t)(willy * 0x9e3779b97f4a7c15u >> 32) & (p->n - 1);

	while (p->slot[i] && number_at(array, size, p->slot[i] - 1) != willy) {
		i = (i + 1) & (p->n - 1);
	}
	return &p->slot[i];
}

static void fill_slots(struct stf_places *p, const void *array, size_t n, size_t size)
{
	size_t i;

	memset(p->slot, 0, p->n * sizeof(*p->slot));
	for (i = 0; i < n; i++) {
		*find_slot(p, array, size, number_at(array, size, i)) = (uint32_t)i + 1;
	}
}

/* The index of a number in an array of *n. A new number is appended, filled with zeros. -1: no memory. */
static ssize_t find_place(struct stf_places *p, void *array, size_t *cap, size_t *n, size_t size, uint32_t willy)
{
	uint32_t *slot;
	void **a = array;

	if (2 * (*n + 1) > p->n) {
		slot = realloc(p->slot, (p->n ? 2 * p->n : 16) * sizeof(*slot));
		if (!slot) {
			return -1;
		}
		p->slot = slot;
		p->n = p->n ? 2 * p->n : 16;
		fill_slots(p, *a, *n, size);
	}
	slot = find_slot(p, *a, size, willy);
	if (!*slot) {
		if (tkm_grow_array(array, cap, *n + 1, size) < 0) {
			return -1;
		}
		p->disordered |= *n && number_at(*a, size, *n - 1) > willy;
		memset((char *)*a + *n * size, 0, size);
		memcpy((char *)*a + *n * size, &willy, sizeof(willy));
		(*n)++;
		*slot = (uint32_t)*n;
	}
	return (ssize_t)*slot - 1;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = number_at(a, 0, 0), y = number_at(b, 0, 0);

	return (x > y) - (x < y);
}

void stf_history_sort(struct stf_history_state *h)
{
	if (h->thread_at.disordered) {
		qsort(h->thread, h->n_threads, sizeof(*h->thread), by_number);
		fill_slots(&h->thread_at, h->thread, h->n_threads, sizeof(*h->thread));
		h->thread_at.disordered = 0;
	}
	if (h->stack_at.disordered) {
		qsort(h->stack, h->n_stacks, sizeof(*h->stack), by_number);
		fill_slots(&h->stack_at, h->stack, h->n_stacks, sizeof(*h->stack));
		h->stack_at.disordered = 0;
	}
}

static struct stf_lasts *find_thread(struct stf_history_state *h, uint32_t willy)
{
	ssize_t i = (ssize_t)h->next_thread;

	/* threads also follow each other in the same order each time */
	if (h->next_thread >= h->n_threads || h->thread[i].willy != willy) {
		i = find_place(&h->thread_at, &h->thread, &h->cap_threads, &h->n_threads, sizeof(*h->thread), willy);
		if (i < 0) {
			return NULL;
		}
	}
	h->next_thread = (size_t)i + 1 < h->n_threads ? (size_t)i + 1 : 0;
	return &h->thread[i].set;
}

static int see_counters(struct stf_history_state *h, const struct place *at)
{
	unsigned i, n = at->p[offsetof(struct stf_wire_counter_value, size_1_2)];
	const uint8_t *values = at->p + sizeof(struct stf_wire_counter_value);
	struct stf_lasts *own = find_thread(h, W4(counter_value, willy));
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

int stf_history_counter(struct stf_history_state *h, uint32_t id, uint64_t value)
{
	return set_counter(&h->all, id, value, 0);
}

int stf_history_own_counter(struct stf_history_state *h, uint32_t willy, uint32_t id, uint64_t value)
{
	struct stf_lasts *own = find_thread(h, willy);

	return own ? set_counter(own, id, value, 1) : -1;
}

int stf_history_thread_counter(struct stf_history_state *h, uint32_t willy, uint32_t id, uint64_t value)
{
	return stf_history_own_counter(h, willy, id, value) == 0 ? set_counter(&h->all, id, value, 1) : -1;
}

int stf_history_sample(struct stf_history_state *h, const struct stf_counter_batch *b, size_t i)
{
	struct stf_lasts *own = find_thread(h, stf_batch_willy(b, i));
	uint64_t value;
	uint32_t j, id;

	if (!own) {
		return -1;
	}
	for (j = 0; j < b->k; j++) {
		id = stf_batch_counter(b, i, j);
		value = stf_batch_value(b, i, j);
		if (set_counter(own, id, value, 1) < 0 || set_counter(&h->all, id, value, 1) < 0) {
			return -1;
		}
	}
	return 0;
}

static struct stf_stack *find_stack(struct stf_history_state *h, uint32_t willy)
{
	ssize_t i;

	if (h->last_stack < h->n_stacks && h->stack[h->last_stack].willy == willy) {
		return &h->stack[h->last_stack];
	}
	/* threads that follow each other in the same order each time */
	if (h->last_stack + 1 < h->n_stacks && h->stack[h->last_stack + 1].willy == willy) {
		return &h->stack[++h->last_stack];
	}
	i = find_place(&h->stack_at, &h->stack, &h->cap_stacks, &h->n_stacks, sizeof(*h->stack), willy);
	if (i < 0) {
		return NULL;
	}
	h->last_stack = (size_t)i;
	return &h->stack[i];
}

/* Makes room for `more` open functions. */
static int grow_stack(struct stf_stack *s, uint32_t more)
{
	size_t room = s->cap, need = (size_t)s->n + more;

	return TKM_GROW(s->function, room, need) < 0 || TKM_GROW(s->scl, s->cap, need) < 0 ? -1 : 0;
}

static int push(struct stf_history_state *h, uint32_t willy, uint32_t function, uint32_t scl)
{
	struct stf_stack *s = find_stack(h, willy);

	if (!s || grow_stack(s, 1) < 0) {
		return -1;
	}
	s->function[s->n] = function;
	s->scl[s->n++] = scl;
	return 0;
}

int stf_history_push(struct stf_history_state *h, uint32_t willy, uint32_t function, uint32_t scl)
{
	return push(h, willy, function, scl);
}

static int pop(struct stf_history_state *h, uint32_t willy)
{
	struct stf_stack *s = find_stack(h, willy);

	if (!s) {
		return -1;
	}
	s->n -= s->n > 0;
	return 0;
}

static int add_open(struct stf_history_state *h, const struct place *at, uint64_t end, uint64_t key0, uint64_t key1)
{
	if (TKM_GROW(h->open, h->cap_open, h->n_open + 1) < 0) {
		return -1;
	}
	h->open[h->n_open++] = (struct stf_open_record){
		.offset = at->offset, .prevtime = at->prevtime, .end = end, .key = { key0, key1 }
	};
	return 0;
}

int stf_history_open_record(struct stf_history_state *h, uint64_t offset, uint64_t prevtime)
{
	return add_open(h, &(struct place){ .offset = offset, .prevtime = prevtime }, UINT64_MAX, 0, 0);
}

/* Scopes and file operations are usually nested, so the counterpart is near the end. */
static int close_open(struct stf_history_state *h, uint64_t key0, uint64_t key1)
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

static int see_until(struct stf_history_state *h, const struct place *at, uint64_t end)
{
	if (end > h->max) {
		h->max = end;
	}
	return end > at->time ? add_open(h, at, end, 0, 0) : 0;
}

/* a + b, limited to the last stamp that does not mean "open" */
static uint64_t add_time(uint64_t a, uint64_t b)
{
	return a + b < a || a + b == UINT64_MAX ? UINT64_MAX - 1 : a + b;
}

static int see_message(struct stf_history_state *h, const struct place *at)
{
	int64_t d = (int64_t)W8(one_to_one_communication, receive_time);

	return d > 0 ? see_until(h, at, add_time(at->time, (uint64_t)d)) : 0;
}

/* All collective records begin their arrays with start_time and delta, after `fixed` bytes. */
static int see_collective(struct stf_history_state *h, const struct place *at, size_t fixed)
{
	uint32_t i, n = tkm_get32(at->p + fixed - 4, at->big);
	uint64_t end = at->time, start, delta;

	for (i = 0; i < n; i++) {
		start = tkm_get64(at->p + fixed + 8 * (size_t)i, at->big);
		delta = tkm_get64(at->p + fixed + 8 * ((size_t)n + i), at->big);
		if (start != UINT64_MAX && add_time(at->time, add_time(start, delta)) > end) {
			end = add_time(at->time, add_time(start, delta));
		}
	}
	return see_until(h, at, end);
}

static int see_scope(struct stf_history_state *h, const struct place *at, int enter)
{
	uint64_t key0 = (uint64_t)W4(enter_scope, willy) << 32 | W4(enter_scope, scope);
	uint64_t key1 = W4(enter_scope, seqnr);

	return enter ? add_open(h, at, UINT64_MAX, key0, key1) : close_open(h, key0, key1);
}

static int see_file_io(struct stf_history_state *h, const struct place *at, int begin)
{
	uint64_t key0 = (uint64_t)W4(file_io_begin, willy) << 32 | W4(file_io_begin, file);
	uint64_t key1 = (uint64_t)1 << 32 | at->p[offsetof(struct stf_wire_file_io_begin, type)];

	return begin ? add_open(h, at, UINT64_MAX, key0, key1) : close_open(h, key0, key1);
}

#define COLLECTIVE(name) \
	case STF_ID_##name: \
	case STF_ID_##name##_1: \
		return see_collective(h, at, sizeof(struct stf_wire_##name));

static int apply_record(struct stf_history_state *h, const struct place *at)
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

static void saw_times(struct stf_history_state *h, uint64_t first, uint64_t last)
{
	h->min = first < h->min ? first : h->min;
	h->max = last > h->max ? last : h->max;
	h->latest = last;
}

/* Compares n > 0 ids. For so few bytes a call of memcmp() would cost more than the comparison. */
static inline int same_ids(const uint8_t *a, const uint8_t *b, size_t n)
{
	uint64_t diff = tkm_get32(a + 4 * (n - 1), 0) ^ tkm_get32(b + 4 * (n - 1), 0);
	size_t i;

	for (i = 0; i + 2 <= n; i += 2) {
		diff |= tkm_get64(a + 4 * i, 0) ^ tkm_get64(b + 4 * i, 0);
	}
	return diff == 0;
}

/* Several samples of one thread and set of counters may follow each other; only the last one matters. Returns the
 * first record that is not such a sample, or NULL without memory. */
static const uint8_t *absorb_samples(
	struct stf_history_state *h, const uint8_t *p, const uint8_t *end, uint64_t *now, int big)
{
	const size_t fixed = sizeof(struct stf_wire_counter_value),
		     n = p[offsetof(struct stf_wire_counter_value, size_1_2)];
	const uint8_t *last = p, *ids = p + fixed + 8 * n;
	const uint32_t willy = tkm_get32(p + offsetof(struct stf_wire_counter_value, willy), 0);
	uint64_t first = *now + tkm_get32(p + 1, big), t = *now, count = 0;
	struct place at = { .big = big };

	do {
		t += tkm_get32(p + 1, big);
		count++;
		last = p;
		p += fixed + 12 * n;
	} while (p < end && *p == STF_ID_counter_value && p[offsetof(struct stf_wire_counter_value, size_1_2)] == n &&
		tkm_get32(p + offsetof(struct stf_wire_counter_value, willy), 0) == willy &&
		(n == 0 || same_ids(p + fixed + 8 * n, ids, n)));
	h->counts[STF_ID_counter_value] += count;
	saw_times(h, first, t);
	*now = t;
	at.p = last;
	return see_counters(h, &at) < 0 ? NULL : p;
}

/* Function calls of one thread usually follow each other; only the stack after them matters. Returns the first
 * record that is not such a call, or NULL without memory. */
static const uint8_t *absorb_states(
	struct stf_history_state *h, const uint8_t *p, const uint8_t *end, uint64_t *now, int big)
{
	const uint32_t willy = tkm_get32(p + offsetof(struct stf_wire_enter_function, willy), big);
	uint64_t first = *now + tkm_get32(p + 1, big), t = *now, n[2] = { 0, 0 };
	struct stf_stack *s = find_stack(h, willy);

	_Static_assert(
		offsetof(struct stf_wire_enter_function, willy) == offsetof(struct stf_wire_leave_function, willy),
		"one look at both");
	if (!s) {
		return NULL;
	}
	do {
		t += tkm_get32(p + 1, big);
		if (*p == STF_ID_enter_function) {
			if (grow_stack(s, 1) < 0) {
				return NULL;
			}
			s->function[s->n] = tkm_get32(p + offsetof(struct stf_wire_enter_function, function), big);
			s->scl[s->n++] = 0;
			n[0]++;
			p += sizeof(struct stf_wire_enter_function);
		} else {
			s->n -= s->n > 0;
			n[1]++;
			p += sizeof(struct stf_wire_leave_function);
		}
	} while (p < end && (*p == STF_ID_enter_function || *p == STF_ID_leave_function) &&
		tkm_get32(p + offsetof(struct stf_wire_enter_function, willy), big) == willy);
	h->counts[STF_ID_enter_function] += n[0];
	h->counts[STF_ID_leave_function] += n[1];
	saw_times(h, first, t);
	*now = t;
	return p;
}

int stf_history_states(struct stf_history_state *h, uint32_t willy, const struct stf_done *d)
{
	struct stf_stack *s = find_stack(h, willy);

	if (s && d->first < h->latest) {
		return 0;
	}
	if (s) {
		s->n -= d->left < s->n ? d->left : s->n;
	}
	if (!s || grow_stack(s, d->n_open) < 0) {
		return -1;
	}
	memcpy(s->function + s->n, d->open, d->n_open * sizeof(*s->function));
	memset(s->scl + s->n, 0, d->n_open * sizeof(*s->scl));
	s->n += d->n_open;
	h->counts[STF_ID_enter_function] += d->enters;
	h->counts[STF_ID_leave_function] += d->n - d->enters;
	saw_times(h, d->first, d->last);
	return 1;
}

int stf_history_values(struct stf_history_state *h, const uint8_t *last, const struct stf_done *d)
{
	struct place at = { .p = last };

	if (d->first < h->latest) {
		return 0;
	}
	h->counts[STF_ID_counter_value] += d->n;
	saw_times(h, d->first, d->last);
	return see_counters(h, &at) < 0 ? -1 : 1;
}

int stf_history_absorb(
	struct stf_history_state *h, const uint8_t *p, const uint8_t *end, uint64_t offset, uint64_t *now, int big)
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
		if ((*p == STF_ID_enter_function || *p == STF_ID_leave_function) && *now >= h->latest) {
			p = absorb_states(h, p, end, now, big);
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
			if (apply_record(h, &at) < 0) {
				return -1;
			}
		}
		p += stf_wire_size(p, big);
	}
	return 0;
}

void stf_history_place_open(struct stf_history_state *h, size_t before, uint64_t offset, uint64_t prevtime)
{
	if (h->n_open > before) {
		h->open[h->n_open - 1].offset = offset;
		h->open[h->n_open - 1].prevtime = prevtime;
	}
}

size_t stf_history_n_open(const struct stf_history_state *h)
{
	return h->n_open;
}

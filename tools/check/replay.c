/* SPDX-License-Identifier: BSD-3-Clause */
/* Replays the records of one data file, and compares the state with the one that an anchor states. */
#include "config.h"
#include "tools/check/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

/* The value of a key of up to 128 bits. */
struct slot {
	uint64_t u;
};

struct stack {
	uint32_t *function;
	size_t n, cap;
};

/* A record that has begun and not ended. */
struct under_way {
	uint64_t offset;
	uint64_t low, high; /* the time before the record; a range, if time records precede it */
	uint64_t end;       /* UINT64_MAX: it ends when its counterpart comes */
	size_t before;      /* index of the previous record with the same key, + 1 */
	int over;
};

struct stt_replay {
	struct tkm_table counters; /* id: value */
	struct tkm_table own;      /* willy, id: value */
	struct tkm_table threads;  /* willy: index of its stack */
	struct stack *stack;
	size_t n_stacks, cap_stacks;
	size_t n_deep;         /* number of stacks that are not empty */
	struct tkm_table keys; /* keys of scopes and file operations: index of the last one begun, + 1 */
	struct under_way *open;
	size_t n_open, cap_open, n_over;
	size_t *heap; /* records with an end, the earliest end first */
	size_t n_heap, cap_heap;
	uint64_t last, number; /* of the last record */
	uint64_t low, high;    /* the time before the current record */
	int late;              /* a record came after a later one, so it is not clear which records are under way */
};

static int grow(void *array, size_t *cap, size_t n, size_t size)
{
	void **p = array, *q;
	size_t c = *cap ? *cap : 16;

	if (n < *cap) {
		return 0;
	}
	while (c <= n) {
		c *= 2;
	}
	q = realloc(*p, c * size);
	if (!q) {
		return -1;
	}
	*p = q;
	*cap = c;
	return 0;
}

/* ---- table ---- */

static struct slot *find_slot(const struct tkm_table *t, uint64_t k0, uint64_t k1)
{
	const uint64_t key[2] = { k0, k1 };

	return tkm_table_find(t, key, sizeof(key));
}

/* The slot of a key; a new one is made with u = 0. NULL: no memory. */
static struct slot *add_slot(struct tkm_table *t, uint64_t k0, uint64_t k1)
{
	const uint64_t key[2] = { k0, k1 };

	return tkm_table_put(t, key, sizeof(key), sizeof(struct slot));
}

/* ---- records ---- */

struct stt_replay *stt_replay_new(void)
{
	return calloc(1, sizeof(struct stt_replay));
}

void stt_replay_free(struct stt_replay *r)
{
	size_t i;

	for (i = 0; r && i < r->n_stacks; i++) {
		free(r->stack[i].function);
	}
	if (r) {
		tkm_table_free(&r->counters);
		tkm_table_free(&r->own);
		tkm_table_free(&r->threads);
		tkm_table_free(&r->keys);
		free(r->stack);
		free(r->open);
		free(r->heap);
	}
	free(r);
}

static int set_counter(struct stt_replay *r, uint32_t willy, uint32_t id, uint64_t value)
{
	struct slot *s = add_slot(&r->counters, id, 0), *own = add_slot(&r->own, id, willy);

	if (!s || !own) {
		return -1;
	}
	s->u = own->u = value;
	return 0;
}

int stt_replay_sample(struct stt_replay *r, const struct stf_counter_batch *b, size_t i)
{
	uint32_t j;

	r->late |= b->times[0] < r->last && i == 0;
	r->last = b->times[i];
	r->number = b->number + i;
	for (j = 0; j < b->k; j++) {
		if (set_counter(r, stf_batch_willy(b, i), stf_batch_counter(b, i, j), stf_batch_value(b, i, j)) < 0) {
			return -1;
		}
	}
	return 0;
}

static struct stack *stack_of(struct stt_replay *r, uint32_t willy)
{
	struct slot *s = find_slot(&r->threads, willy, 0);

	if (s) {
		return &r->stack[s->u];
	}
	s = add_slot(&r->threads, willy, 0);
	if (!s || grow(&r->stack, &r->cap_stacks, r->n_stacks, sizeof(*r->stack)) < 0) {
		return NULL;
	}
	s->u = r->n_stacks;
	r->stack[r->n_stacks] = (struct stack){ NULL, 0, 0 };
	return &r->stack[r->n_stacks++];
}

static int enter(struct stt_replay *r, uint32_t willy, uint32_t function)
{
	struct stack *s = stack_of(r, willy);

	if (!s || grow(&s->function, &s->cap, s->n, sizeof(*s->function)) < 0) {
		return -1;
	}
	r->n_deep += s->n == 0;
	s->function[s->n++] = function;
	return 0;
}

static void leave(struct stt_replay *r, uint32_t willy)
{
	struct slot *slot = find_slot(&r->threads, willy, 0);
	struct stack *s = slot ? &r->stack[slot->u] : NULL;

	if (s && s->n) {
		s->n--;
		r->n_deep -= s->n == 0;
	}
}

/* ---- records under way ---- */

static uint64_t end_of(const struct stt_replay *r, size_t i)
{
	return r->open[r->heap[i]].end;
}

static int push(struct stt_replay *r, size_t which)
{
	size_t i = r->n_heap, up;

	if (grow(&r->heap, &r->cap_heap, i, sizeof(*r->heap)) < 0) {
		return -1;
	}
	r->heap[i] = which;
	r->n_heap++;
	for (; i > 0 && end_of(r, up = (i - 1) / 2) > end_of(r, i); i = up) {
		r->heap[i] = r->heap[up];
		r->heap[up] = which;
	}
	return 0;
}

static void pop(struct stt_replay *r)
{
	size_t last = r->heap[--r->n_heap], i = 0, k;

	while ((k = 2 * i + 1) < r->n_heap) {
		k += k + 1 < r->n_heap && end_of(r, k + 1) < end_of(r, k);
		if (end_of(r, k) >= r->open[last].end) {
			break;
		}
		r->heap[i] = r->heap[k];
		i = k;
	}
	r->heap[i] = last;
}

static int begin(struct stt_replay *r, uint64_t offset, uint64_t end, uint64_t k0, uint64_t k1)
{
	struct slot *s = end == UINT64_MAX ? add_slot(&r->keys, k0, k1) : NULL;

	if ((end == UINT64_MAX && !s) || grow(&r->open, &r->cap_open, r->n_open, sizeof(*r->open)) < 0) {
		return -1;
	}
	r->open[r->n_open] = (struct under_way){
		.offset = offset, .low = r->low, .high = r->high, .end = end, .before = s ? (size_t)s->u : 0
	};
	r->n_open++;
	if (s) {
		s->u = r->n_open;
		return 0;
	}
	return push(r, r->n_open - 1);
}

static void end(struct stt_replay *r, uint64_t k0, uint64_t k1)
{
	struct slot *s = find_slot(&r->keys, k0, k1);

	if (s && s->u) {
		struct under_way *o = &r->open[s->u - 1];

		o->over = 1;
		r->n_over++;
		s->u = o->before;
	}
}

/* Removes records that have ended. The cost is amortised, because there may be many anchors. */
static int drop_ended(struct stt_replay *r)
{
	size_t *now = malloc((r->n_open + 1) * sizeof(*now)), i, n = 0;
	struct slot *s = NULL;

	if (!now) {
		return -1;
	}
	now[0] = 0;
	for (i = 0; i < r->n_open; i++) {
		if (!r->open[i].over) {
			/* the previous one with the same key has not ended: the last one begun ends first */
			r->open[i].before = now[r->open[i].before];
			r->open[n++] = r->open[i];
		}
		now[i + 1] = n;
	}
	for (i = 0; i < r->n_heap; i++) {
		r->heap[i] = now[r->heap[i] + 1] - 1;
	}
	while ((s = tkm_table_next(&r->keys, s))) {
		s->u = now[s->u];
	}
	r->n_open = n;
	r->n_over = 0;
	free(now);
	return 0;
}

static uint64_t add_time(uint64_t a, uint64_t b)
{
	return a + b < a || a + b == UINT64_MAX ? UINT64_MAX - 1 : a + b;
}

static int see_message(struct stt_replay *r, const struct stf_record *rec)
{
	struct stf_one_to_one_communication_4 m;

	stf_get_one_to_one_communication_4(rec, &m);
	return m.receive_time > 0 ? begin(r, rec->offset, add_time(rec->time, (uint64_t)m.receive_time), 0, 0) : 0;
}

static int see_collective(struct stt_replay *r, const struct stf_record *rec)
{
	const struct stf_value *start = stf_value(rec, "start_time"), *delta = stf_value(rec, "delta");
	const uint64_t *s = start->array, *d = delta->array;
	uint64_t last = rec->time, e;
	uint32_t i;

	for (i = 0; i < start->count && i < delta->count; i++) {
		e = add_time(rec->time, add_time(s[i], d[i]));
		last = s[i] != UINT64_MAX && e > last ? e : last;
	}
	return last > rec->time ? begin(r, rec->offset, last, 0, 0) : 0;
}

static uint64_t number_of(const struct stf_record *rec, const char *name)
{
	return stf_value(rec, name)->u;
}

static int see_scope(struct stt_replay *r, const struct stf_record *rec, int enters)
{
	uint64_t k0 = number_of(rec, "willy") << 32 | number_of(rec, "scope"), k1 = number_of(rec, "seqnr");

	if (enters) {
		return begin(r, rec->offset, UINT64_MAX, k0, k1);
	}
	end(r, k0, k1);
	return 0;
}

static int see_file_io(struct stt_replay *r, const struct stf_record *rec, int begins)
{
	uint64_t k0 = number_of(rec, "willy") << 32 | number_of(rec, "file"),
		 k1 = (uint64_t)1 << 32 | number_of(rec, "type");

	if (begins) {
		return begin(r, rec->offset, UINT64_MAX, k0, k1);
	}
	end(r, k0, k1);
	return 0;
}

int stt_replay_record(struct stt_replay *r, const struct stf_record *rec)
{
	struct stf_counter_value c;
	uint32_t i;
	int rc = 0;

	r->late |= rec->time < r->last;
	r->low = r->last;
	r->high = rec->number == r->number + 1 ? r->last : rec->time;
	r->last = rec->time;
	r->number = rec->number;
	switch (rec->layout->class_id) {
	case STF_ID_counter_value:
		stf_get_counter_value(rec, &c);
		for (i = 0; i < c.size_1_2 && rc == 0; i++) {
			rc = set_counter(r, c.willy, c.counters[i], c.values[i]);
		}
		return rc;
	case STF_ID_enter_function:
		return enter(r, (uint32_t)number_of(rec, "willy"), (uint32_t)number_of(rec, "function"));
	case STF_ID_leave_function:
		leave(r, (uint32_t)number_of(rec, "willy"));
		return 0;
	case STF_ID_one_to_one_communication:
		return see_message(r, rec);
	case STF_ID_all_communication:
	case STF_ID_all_to_all_communication:
	case STF_ID_all_to_one_communication:
	case STF_ID_one_to_all_communication:
		return see_collective(r, rec);
	case STF_ID_enter_scope:
	case STF_ID_leave_scope:
		return see_scope(r, rec, rec->layout->class_id == STF_ID_enter_scope);
	case STF_ID_file_io_begin:
	case STF_ID_file_io_end:
		return see_file_io(r, rec, rec->layout->class_id == STF_ID_file_io_begin);
	default:
		return 0;
	}
}

/* ---- anchors ---- */

static int add_counters(struct stt_anchor *a, const struct stf_record *rec)
{
	struct stf_counter_history h;
	uint32_t i;

	stf_get_counter_history(rec, &h);
	if (grow(&a->counter, &a->cap_counters, a->n_counters + h.size_1_2, sizeof(*a->counter)) < 0) {
		return -1;
	}
	for (i = 0; i < h.size_1_2; i++) {
		a->counter[a->n_counters++] = (struct stt_value){ 0, h.counters[i], h.values[i] };
	}
	return 0;
}

static int add_own(struct stt_anchor *a, const struct stf_record *rec)
{
	struct stf_counter_value c;
	uint32_t i;

	stf_get_counter_value(rec, &c);
	if (grow(&a->own, &a->cap_own, a->n_own + c.size_1_2, sizeof(*a->own)) < 0) {
		return -1;
	}
	for (i = 0; i < c.size_1_2; i++) {
		a->own[a->n_own++] = (struct stt_value){ c.willy, c.counters[i], c.values[i] };
	}
	return 0;
}

static int add_stack(struct stt_anchor *a, const struct stf_record *rec)
{
	struct stf_function_history_1 h;

	stf_get_function_history_1(rec, &h);
	if (h.size_1_2 == 0) {
		return 0; /* the anchor has no histories */
	}
	if (grow(&a->stack, &a->cap_stack, a->n_stack + h.size_1_2 + 2, sizeof(*a->stack)) < 0) {
		return -1;
	}
	a->stack[a->n_stack++] = h.willy;
	a->stack[a->n_stack++] = h.size_1_2;
	memcpy(a->stack + a->n_stack, h.function_stack, h.size_1_2 * sizeof(*a->stack));
	a->n_stack += h.size_1_2;
	return 0;
}

static int add_open(struct stt_anchor *a, const struct stf_record *rec)
{
	struct stf_history h;

	stf_get_history(rec, &h);
	if (grow(&a->open, &a->cap_open, a->n_open + h.size_1_3, sizeof(*a->open)) < 0 ||
		grow(&a->prevtime, &a->cap_prevtimes, a->n_open + h.size_1_3, sizeof(*a->prevtime)) < 0) {
		return -1;
	}
	if (h.size_1_3) {
		memcpy(a->open + a->n_open, h.offset, h.size_1_3 * sizeof(*a->open));
		memcpy(a->prevtime + a->n_open, h.prevtime, h.size_1_3 * sizeof(*a->prevtime));
	}
	a->n_open += h.size_1_3;
	return 0;
}

int stt_anchor_add(struct stt_anchor *a, const struct stf_record *rec)
{
	switch (rec->layout->class_id) {
	case STF_ID_counter_history:
		return add_counters(a, rec);
	case STF_ID_counter_value:
		return add_own(a, rec);
	case STF_ID_function_history:
		return add_stack(a, rec);
	case STF_ID_history:
		return add_open(a, rec);
	default:
		return 0;
	}
}

void stt_anchor_clear(struct stt_anchor *a)
{
	a->n_counters = a->n_own = a->n_stack = a->n_open = 0;
	a->tells = 0;
}

void stt_anchor_free(struct stt_anchor *a)
{
	free(a->counter);
	free(a->own);
	free(a->stack);
	free(a->open);
	free(a->prevtime);
}

/* Compares values by counter, or by counter and thread. */
static int compare_values(
	const struct tkm_table *t, const struct stt_value *x, size_t n, const char *whose, char *why, size_t size)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct slot *s = find_slot(t, x[i].counter, x[i].willy);

		if (!s) {
			snprintf(why, size, "has a value of counter %" PRIu32 "%s, which was not sampled before",
				x[i].counter, whose);
			return 1;
		}
		if (s->u != x[i].value) {
			snprintf(why, size,
				"says that counter %" PRIu32 "%s was %" PRIu64 ", its last sample was %" PRIu64
				" (as bits)",
				x[i].counter, whose, x[i].value, s->u);
			return 1;
		}
	}
	if (n < tkm_table_count(t)) {
		snprintf(why, size, "has values of %zu counters%s, %zu were sampled before", n, whose,
			tkm_table_count(t));
	}
	return n < tkm_table_count(t);
}

static int compare_stacks(const struct stt_replay *r, const struct stt_anchor *a, char *why, size_t size)
{
	size_t i, n = 0;

	for (i = 0; i < a->n_stack; i += 2 + a->stack[i + 1], n++) {
		const struct slot *slot = find_slot(&r->threads, a->stack[i], 0);
		const struct stack *s = slot ? &r->stack[slot->u] : NULL;

		if (!s || s->n != a->stack[i + 1] ||
			memcmp(s->function, a->stack + i + 2, s->n * sizeof(*s->function))) {
			snprintf(why, size, "has another stack of CPU %" PRIu64 " than the functions entered before it",
				(uint64_t)a->stack[i] + 1);
			return 1;
		}
	}
	if (n != r->n_deep) {
		snprintf(why, size, "has the stacks of %zu threads, %zu were in a function", n, r->n_deep);
	}
	return n != r->n_deep;
}

static int compare_open(const struct stt_replay *r, const struct stt_anchor *a, char *why, size_t size)
{
	size_t i, n = 0, alive = r->n_open - r->n_over;

	if (a->n_open != alive) {
		snprintf(why, size, "has %zu records under way, there were %zu", a->n_open, alive);
		return 1;
	}
	for (i = 0; n < alive; i++) {
		const struct under_way *o = &r->open[i];

		if (o->over) {
			continue;
		}
		if (o->offset != a->open[n]) {
			snprintf(why, size,
				"says that the record at offset %" PRIu64 " was under way, not the one at %" PRIu64,
				a->open[n], o->offset);
			return 1;
		}
		if (a->prevtime[n] < o->low || a->prevtime[n] > o->high) {
			snprintf(why, size,
				"says that the record at offset %" PRIu64 " has the time %" PRIu64
				" before it, not %" PRIu64,
				o->offset, a->prevtime[n], o->low);
			return 1;
		}
		n++;
	}
	return 0;
}

int stt_replay_compare(struct stt_replay *r, const struct stt_anchor *a, char *why, size_t size)
{
	*why = '\0';
	while (r->n_heap && end_of(r, 0) <= a->a.time_prev) {
		r->open[r->heap[0]].over = 1;
		r->n_over++;
		pop(r);
	}
	if (2 * r->n_over > r->n_open && drop_ended(r) < 0) {
		return -1;
	}
	/* an anchor need not have the values of each thread */
	if (!compare_values(&r->counters, a->counter, a->n_counters, "", why, size) &&
		(a->n_own == 0 || !compare_values(&r->own, a->own, a->n_own, " of a thread", why, size)) &&
		!compare_stacks(r, a, why, size) && !r->late) {
		compare_open(r, a, why, size);
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects all samples of a trace, separately for each counter and thread. */
#include "config.h"
#include "stf/format/private.h"

#include <stdlib.h>

#include "base/grow.h"

struct list {
	struct stf_series *s;
	size_t *room; /* allocated elements of each series */
	size_t n, cap;
	struct stf_map at; /* counter and willy: 1 + index of the series */
};

static int add(struct list *l, uint32_t counter, uint32_t willy)
{
	size_t room = l->cap;

	if (TKM_GROW(l->s, room, l->n + 1) < 0 || TKM_GROW(l->room, l->cap, l->n + 1) < 0) {
		return -1;
	}
	l->s[l->n] = (struct stf_series){ .counter = counter, .willy = willy };
	l->room[l->n++] = 0;
	return 0;
}

/* The index of a series; SIZE_MAX: no memory. The key of a map is never 0. */
static size_t find(struct list *l, uint32_t counter, uint32_t willy)
{
	uint64_t key = ((uint64_t)counter << 32 | willy) + 1;
	const uint64_t *at = stf_map_find(&l->at, key);

	if (at) {
		return (size_t)*at - 1;
	}
	return stf_map_add(&l->at, key, l->n + 1) <= 0 || add(l, counter, willy) < 0 ? SIZE_MAX : l->n - 1;
}

static int grow_series(struct stf_series *s, size_t *room)
{
	size_t times = *room;

	return TKM_GROW(s->times, times, s->n + 1) < 0 || TKM_GROW(s->values, *room, s->n + 1) < 0 ? -1 : 0;
}

/* The series that received the values of the last record. The next record usually has the same counters of the
 * same thread. */
struct last {
	uint32_t willy, counter[UINT8_MAX];
	size_t at[UINT8_MAX];
	uint32_t k;
};

static int add_value(struct list *l, struct last *last, const struct stf_counter_batch *b, size_t i)
{
	uint32_t willy = stf_batch_willy(b, i), counter, j;
	struct stf_series *s;
	size_t at;

	for (j = 0; j < b->k; j++) {
		counter = stf_batch_counter(b, i, j);
		if (j >= last->k || last->willy != willy || last->counter[j] != counter) {
			at = find(l, counter, willy);
			if (at == SIZE_MAX) {
				return -1;
			}
			last->k = j < last->k && last->willy == willy ? last->k : j;
			last->willy = willy;
			last->counter[j] = counter;
			last->at[j] = at;
			last->k = last->k > j ? last->k : j + 1;
		}
		at = last->at[j];
		s = &l->s[at];
		if (s->n == l->room[at] && grow_series(s, &l->room[at]) < 0) {
			return -1;
		}
		s->times[s->n] = b->times[i];
		s->values[s->n++] = stf_batch_value(b, i, j);
	}
	return 0;
}

int stf_read_series(struct stf_reader *r, const struct stf_cursor_options *o, struct stf_series **out, size_t *n,
	struct stf_err *err)
{
	struct stf_cursor *c = stf_cursor_open_with(r, o, err);
	struct list l = { 0 };
	struct stf_counter_batch b;
	struct last last = { .k = 0 };
	int rc = c ? 1 : -1, short_of_memory = 0;
	size_t i;

	while (rc > 0 && !short_of_memory && (rc = stf_cursor_counters(c, &b, err)) > 0) {
		for (i = 0; i < b.n && !short_of_memory; i++) {
			short_of_memory = add_value(&l, &last, &b, i) < 0;
		}
	}
	stf_cursor_close(c);
	stf_map_free(&l.at);
	free(l.room);
	*out = l.s;
	*n = l.n;
	return short_of_memory ? stf_no_memory(err) : rc;
}

void stf_series_free(struct stf_series *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(s[i].times);
		free(s[i].values);
	}
	free(s);
}

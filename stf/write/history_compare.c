/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the state that an anchor states with the state that a walk over the data found (doc/stf/stf-format.md
 * section 7). */
#include "config.h"
#include "stf/write/history.h"
#include "stf/write/history_parts.h"

#include <inttypes.h>
#include <stdio.h>

static int take_counters(struct stf_history_state *told, const struct stf_record *rec)
{
	struct stf_counter_history c;
	uint32_t i;

	stf_get_counter_history(rec, &c);
	for (i = 0; i < c.size_1_2; i++) {
		if (stf_history_counter(told, c.counters[i], c.values[i]) < 0) {
			return -1;
		}
	}
	return 0;
}

static int take_thread_counters(struct stf_history_state *told, const struct stf_record *rec)
{
	struct stf_counter_value c;
	uint32_t i;

	stf_get_counter_value(rec, &c);
	for (i = 0; i < c.size_1_2; i++) {
		if (stf_history_own_counter(told, c.willy, c.counters[i], c.values[i]) < 0) {
			return -1;
		}
	}
	return 0;
}

static int take_stack(struct stf_history_state *told, const struct stf_record *rec)
{
	struct stf_function_history_1 f;
	uint32_t i;

	stf_get_function_history_1(rec, &f);
	for (i = 0; i < f.size_1_2; i++) {
		if (stf_history_push(told, f.willy, f.function_stack[i], 0) < 0) {
			return -1;
		}
	}
	return 0;
}

static int take_open_records(struct stf_history_state *told, const struct stf_record *rec)
{
	struct stf_history o;
	uint32_t i;

	stf_get_history(rec, &o);
	for (i = 0; i < o.size_1_3; i++) {
		if (stf_history_open_record(told, o.offset[i], o.prevtime[i]) < 0) {
			return -1;
		}
	}
	return 0;
}

int stf_history_take(struct stf_history_state *told, const struct stf_record *rec)
{
	switch (rec->layout->class_id) {
	case STF_ID_counter_history:
		return take_counters(told, rec);
	case STF_ID_counter_value:
		return take_thread_counters(told, rec);
	case STF_ID_function_history:
		return take_stack(told, rec);
	case STF_ID_history:
		return take_open_records(told, rec);
	default:
		return 0;
	}
}

/* ---- comparing: both histories are sorted ---- */

struct reason {
	char *text;
	size_t size;
};

static int compare_values(
	const struct stf_lasts *told, const struct stf_lasts *known, const char *whose, const struct reason *why)
{
	size_t i, k = 0;

	for (i = 0; i < told->n; i++) {
		while (k < known->n && known->c[k].id < told->c[i].id) {
			k++;
		}
		if (k == known->n || known->c[k].id != told->c[i].id) {
			snprintf(why->text, why->size,
				"has a value of counter %" PRIu32 "%s, which was not sampled before", told->c[i].id,
				whose);
			return 1;
		}
		if (known->c[k].value != told->c[i].value) {
			snprintf(why->text, why->size,
				"says that counter %" PRIu32 "%s was %" PRIu64 ", its last sample was %" PRIu64
				" (as bits)",
				told->c[i].id, whose, told->c[i].value, known->c[k].value);
			return 1;
		}
	}
	return 0;
}

static int compare_numbers(size_t told, size_t known, const char *whose, const struct reason *why)
{
	if (told < known) {
		snprintf(why->text, why->size, "has values of %zu counters%s, %zu were sampled before", told, whose,
			known);
	}
	return told < known;
}

static int compare_threads(
	const struct stf_history_state *told, const struct stf_history_state *known, const struct reason *why)
{
	static const struct stf_lasts none;
	const char *whose = " of a thread";
	size_t i, k = 0, n_told = 0, n_known = 0;

	for (i = 0; i < told->n_threads; i++) {
		const struct stf_thread_values *t = &told->thread[i];

		while (k < known->n_threads && known->thread[k].willy < t->willy) {
			k++;
		}
		if (compare_values(&t->set,
			    k < known->n_threads && known->thread[k].willy == t->willy ? &known->thread[k].set : &none,
			    whose, why)) {
			return 1;
		}
		n_told += t->set.n;
	}
	for (k = 0; k < known->n_threads; k++) {
		n_known += known->thread[k].set.n;
	}
	/* an anchor need not have the values of each thread */
	return n_told && compare_numbers(n_told, n_known, whose, why);
}

static int compare_stacks(
	const struct stf_history_state *told, const struct stf_history_state *known, const struct reason *why)
{
	size_t i, k = 0, deep = 0;

	for (i = 0; i < told->n_stacks; i++) {
		const struct stf_stack *s = &told->stack[i];

		while (k < known->n_stacks && known->stack[k].willy < s->willy) {
			k++;
		}
		if (k == known->n_stacks || known->stack[k].willy != s->willy || known->stack[k].n != s->n ||
			memcmp(known->stack[k].function, s->function, s->n * sizeof(*s->function)) != 0) {
			snprintf(why->text, why->size,
				"has another stack of CPU %" PRIu64 " than the functions entered before it",
				(uint64_t)s->willy + 1);
			return 1;
		}
	}
	for (k = 0; k < known->n_stacks; k++) {
		deep += known->stack[k].n > 0;
	}
	if (told->n_stacks != deep) {
		snprintf(why->text, why->size, "has the stacks of %zu threads, %zu were in a function", told->n_stacks,
			deep);
	}
	return told->n_stacks != deep;
}

static void compare_open_records(
	const struct stf_history_state *told, const struct stf_history_state *known, const struct reason *why)
{
	size_t i;

	if (told->n_open != known->n_open) {
		snprintf(
			why->text, why->size, "has %zu records under way, there were %zu", told->n_open, known->n_open);
		return;
	}
	for (i = 0; i < known->n_open; i++) {
		const struct stf_open_record *o = &known->open[i], *t = &told->open[i];

		if (o->offset != t->offset) {
			snprintf(why->text, why->size,
				"says that the record at offset %" PRIu64 " was under way, not the one at %" PRIu64,
				t->offset, o->offset);
			return;
		}
		if (o->prevtime != t->prevtime) {
			snprintf(why->text, why->size,
				"says that the record at offset %" PRIu64 " has the time %" PRIu64
				" before it, not %" PRIu64,
				o->offset, t->prevtime, o->prevtime);
			return;
		}
	}
}

void stf_history_compare(
	struct stf_history_state *known, struct stf_history_state *told, int in_order, char *why, size_t size)
{
	const struct reason reason = { why, size };

	*why = '\0';
	stf_history_sort(known);
	stf_history_sort(told);
	if (!compare_values(&told->all, &known->all, "", &reason) &&
		!compare_numbers(told->all.n, known->all.n, "", &reason) && !compare_threads(told, known, &reason) &&
		!compare_stacks(told, known, &reason) && in_order) {
		compare_open_records(told, known, &reason);
	}
}

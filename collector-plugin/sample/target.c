/* SPDX-License-Identifier: BSD-3-Clause */
/* What the sampling thread inside a program and the sampler process have in common: sets of counters of a node, a
 * process or a thread, and their samples in the raw file. */
#include "config.h"
#include "collector-plugin/sample/target.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/fnv.h"
#include "collector-plugin/core/collect.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/sample/sample.h"
#include "collector-plugin/settings/check.h"

enum { MAX_RESTARTED = 10 };

int vt_sampler_in_window(const struct vt_sampler *s, ltick_t now)
{
	const struct vt_collector *c = s->c;

	return vt_settings_in_window(
		c->settings.time_windows, (double)ltick_sub(now, c->pub.start) * tmr_period(c->pub.timer));
}

/* ---- a set of counters that belong to one thread, process or node ---- */

size_t vt_book_size(size_t n)
{
	return (n + 1) * (sizeof(union smp_value) + 3);
}

void vt_book_init(struct vt_book *b, void *memory, size_t n)
{
	b->value = memory;
	b->state = (uint8_t *)(b->value + n + 1);
	b->said = b->state + n + 1;
	b->restarted = b->said + n + 1;
}

/* Bits of vt_book.said. */
enum { SAID_MISSING = 1, HAD_A_VALUE = 2 };

static void say_missing_counters(struct vt_sampler *s, struct vt_book *book, const struct smp_set *set)
{
	char line[600];
	size_t i;

	for (i = 0; i < smp_set_size(set); i++) {
		size_t k = smp_set_planned(set, i);

		/* reported once per counter, not per thread */
		if (*smp_set_why(set, i) && !(book->said[k] & SAID_MISSING)) {
			book->said[k] |= SAID_MISSING;
			snprintf(line, sizeof(line), "counter %s: %s", smp_plan_at(book->plan, k)->counter.name,
				smp_set_why(set, i));
			vt_raw_info(s->c->pub.raw, "missing", line);
			if (s->c->pub.rank <= 0) {
				vt_say(vt_plan_warning_level(s->c, smp_plan_at(book->plan, k)), "WARNING", "%s", line);
			}
		}
	}
}

void vt_sampler_say_unregistered(struct vt_sampler *s)
{
	const struct vt_book *b = &s->book;
	size_t i, n = b->plan ? smp_plan_size(b->plan) : 0;
	char line[600];

	for (i = 0; i < n; i++) {
		const struct smp_counter *c = &smp_plan_at(b->plan, i)->counter;

		if (!c->missing && !b->said[i] && strncmp(c->name, "sde:", 4) == 0) {
			snprintf(line, sizeof(line), "counter %s: the program has registered no event of this name",
				c->name);
			vt_raw_info(s->c->pub.raw, "missing", line);
			if (s->c->pub.rank <= 0) {
				vt_say(vt_plan_warning_level(s->c, smp_plan_at(b->plan, i)), "WARNING", "%s", line);
			}
		}
	}
}

/* A thread that gets the place continues where the one before ended. */
static struct vt_place_total *totals_of_place(struct vt_sampler *s, int where, size_t n)
{
	struct vt_place_total *total = tkm_table_put(&s->places, &where, sizeof(where), n * sizeof(*total));
	size_t i;

	for (i = 0; total && i < n; i++) {
		total[i].base = total[i].last;
	}
	return total;
}

static void fill_rows(struct vt_sampler *s, struct vt_target *t, enum smp_scope scope)
{
	const struct smp_plan *plan = t->book->plan;
	struct vt_raw_process *turns = &vt_raw_head(s->c->pub.raw)->process;
	struct vt_place_total *place = scope == SMP_THREAD && t->where >= (int)VT_RAW_PLACE
		? totals_of_place(s, t->where, smp_plan_size(plan))
		: NULL;
	size_t i;

	for (i = 0; i < t->n; i++) {
		size_t planned = smp_set_planned(t->set, i);
		const struct smp_counter *k = &smp_plan_at(plan, planned)->counter;
		int is_total = k->kind == SMP_TOTAL && k->type == SMP_U64;

		t->row[i] = (struct vt_row){ .id = t->book->ids[planned],
			.planned = (uint32_t)planned,
			.total = scope == SMP_PROCESS && s->c->has_vtsampler && is_total
				? vt_process_total(turns, k->name)
				: NULL,
			.place = place && is_total ? &place[planned] : NULL };
	}
}

struct vt_target *vt_target_new(struct vt_sampler *s, struct vt_book *book, enum smp_scope scope, pid_t tid, int where,
	int (*wanted)(const struct smp_plan *plan, size_t i))
{
	struct smp_target target = { scope, s->c->pid, scope == SMP_THREAD ? tid : 0 };
	struct smp_set *set = book->plan ? smp_set_open_some(book->plan, &target, wanted, NULL) : NULL;
	size_t n = set ? smp_set_size(set) : 0, size = sizeof(struct vt_target) + n * sizeof(struct vt_row);
	struct vt_target *t = vt_pages(size);

	if (set) {
		say_missing_counters(s, book, set);
	}
	if (n == 0 || !t) {
		smp_set_close(set);
		set = NULL;
	}
	if (t) {
		*t = (struct vt_target){
			.tid = tid, .where = where, .set = set, .book = book, .cpu_fd = -1, .n = n, .size = size
		};
		if (n) {
			fill_rows(s, t, scope);
		}
	}
	return t;
}

void vt_target_free(struct vt_target *t)
{
	if (t) {
		smp_set_close(t->set);
		munmap(t, t->size);
	}
}

/* A device came or went, a count began anew, or a reading contradicts the others: this goes into the trace, but only a
 * limited number of times. */
static void say_restarted(struct vt_sampler *s, struct vt_book *book, size_t planned, ltick_t now, uint8_t state)
{
	const char *what = state & SMP_RESTARTED
		? "goes on from a new start: a device came or went, or the kernel's count began anew"
		: "a reading contradicts those before: it is left out until the next ones decide";
	char text[200];

	if (book->restarted[planned] < MAX_RESTARTED) {
		book->restarted[planned]++;
		snprintf(text, sizeof(text), "counter %.80s: %s%s", smp_plan_at(book->plan, planned)->counter.name,
			what, book->restarted[planned] == MAX_RESTARTED ? " (said for the last time)" : "");
		vt_raw_comment(s->stream, now, 0, text);
	}
}

struct vt_raw_total *vt_process_total(struct vt_raw_process *turns, const char *name)
{
	uint64_t hash = tkm_fnv(TKM_FNV_START, name, strlen(name)), found;
	size_t i, k;

	hash += hash == 0;
	for (i = 0, k = hash % VT_RAW_PROCESS_TOTALS; i < VT_RAW_PROCESS_TOTALS;
		i++, k = (k + 1) % VT_RAW_PROCESS_TOTALS) {
		found = 0;
		/* the program and the sampler process may look for a place at once */
		if (__atomic_compare_exchange_n(
			    &turns->total[k].name, &found, hash, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
			found == hash) {
			return &turns->total[k];
		}
	}
	return NULL;
}

static uint64_t recorded_value(const struct vt_row *row, uint64_t v)
{
	if (row->place) {
		v = row->place->last = row->place->base + v;
	}
	return vt_raise_total(row->total, v);
}

/* Reads all counters of a target and appends them, after `more` values of the caller. The stamp was taken just
 * before. */
void vt_target_sample_at(struct vt_sampler *s, struct vt_target *t, ltick_t now, const uint32_t *more_id,
	const uint64_t *more, unsigned n_more)
{
	struct vt_book *book = t->book;
	uint32_t id[VT_RAW_MAX_COUNTERS];
	uint64_t v[VT_RAW_MAX_COUNTERS];
	unsigned k;
	size_t i;
	int rc;

	s->stamp = now;
	rc = t->set ? smp_set_read(t->set, book->value, book->state) : 0;
	for (k = 0; k < n_more; k++) {
		id[k] = more_id[k];
		v[k] = more[k];
	}
	for (i = 0; rc >= 0 && t->set && i < t->n; i++) {
		const struct vt_row *row = &t->row[i];

		if (book->state[i] & SMP_VALID) {
			book->said[row->planned] |= HAD_A_VALUE;
			id[k] = row->id;
			v[k++] = recorded_value(row, book->value[i].u);
		}
		if (book->state[i] & (SMP_RESTARTED | SMP_LEFT_OUT)) {
			say_restarted(s, book, row->planned, now, book->state[i]);
		}
		if (k == VT_RAW_MAX_COUNTERS) {
			vt_raw_counters(s->stream, now, (uint16_t)t->where, k, id, v);
			s->c->account.samples++;
			k = 0;
		}
	}
	if (k) {
		vt_raw_counters(s->stream, now, (uint16_t)t->where, k, id, v);
		s->c->account.samples++;
	}
}

void vt_target_sample(struct vt_sampler *s, struct vt_target *t)
{
	ltick_t now = vt_ticks_now(&s->c->pub);

	/* a window may have ended since this round of samples began */
	if (vt_sampler_in_window(s, now)) {
		vt_target_sample_at(s, t, now, NULL, NULL, 0);
	}
}

struct vt_sampler *vt_sampler_new(struct vt_collector *c, const struct vt_sampler_ops *ops, void *owner)
{
	size_t n = c->plan ? smp_plan_size(c->plan) : 0;
	struct vt_sampler *s = vt_pages(sizeof(*s) + vt_book_size(n) + (n + 1) * sizeof(uint64_t));

	if (!s) {
		return NULL;
	}
	s->total = (uint64_t *)(void *)(s + 1);
	s->book = (struct vt_book){ .plan = c->plan, .ids = c->ids };
	vt_book_init(&s->book, s->total + n + 1, n);
	s->c = c;
	s->ops = ops;
	s->owner = owner;
	s->size = sizeof(*s) + vt_book_size(n) + (n + 1) * sizeof(uint64_t);
	s->root = s->task = s->election = -1;
	s->period_ns = (int64_t)(c->settings.sample_period * 1e9);
	s->info_bytes = (uint64_t)c->settings.mem_info;
	s->first_id = c->first_id;
	s->stream = vt_raw_stream(c->pub.raw);
	s->total_cpu = c->has_vtsampler ? vt_process_total(&vt_raw_head(c->pub.raw)->process, "sampler_cpu") : NULL;
	s->asleep_ns = vt_now_ns(CLOCK_BOOTTIME) - vt_now_ns(CLOCK_MONOTONIC);
	return s->stream ? s : NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables from text to number for classes, states, counters, scopes, locations and groups. The same text has the same
 * handle each time, so that a program that defines in a loop does not use more and more memory. */
#include "config.h"
#include "collector-plugin/core/names.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"

static uint32_t number_in_name(struct vt_names *t, const char *key, int *fresh)
{
	uint32_t *n = tkm_table_put(&t->table, key, strlen(key) + 1, sizeof(*n));

	if (!n || *n) {
		return n ? *n : 0;
	}
	if (TKM_GROW(t->key, t->room, t->n + 1) < 0) {
		tkm_table_remove(&t->table, n);
		return 0;
	}
	t->key[t->n] = tkm_table_key(n);
	*n = ++t->n;
	*fresh = 1;
	return *n;
}

/* Recursive, because a class may have an outer class, which is defined first. */
static struct vt_lock defining = VT_LOCK_RECURSIVE;
static struct vt_lock tables = VT_LOCK_INIT; /* of all tables of names; taken after `defining` */

void vt_names_define(void)
{
	vt_lock(&defining);
}

void vt_names_defined(void)
{
	vt_unlock(&defining);
}

static _Thread_local int held_for_fork; /* by the thread that forks */

void vt_names_before_fork(void)
{
	struct timespec until = { 0, 0 };

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	held_for_fork = vt_lock_until(&defining, &until) == 0;
	if (held_for_fork && vt_lock_until(&tables, &until) != 0) {
		vt_unlock(&defining);
		held_for_fork = 0;
	}
}

int vt_names_after_fork(int child)
{
	struct vt_lock outer = defining, inner = tables;
	int was_held = held_for_fork;

	held_for_fork = 0;
	if (child) {
		/* their owner has another id here, or does not exist */
		defining = (struct vt_lock)VT_LOCK_RECURSIVE;
		tables = (struct vt_lock)VT_LOCK_INIT;
		if (was_held) {
			vt_signals_back(&inner);
			vt_signals_back(&outer);
		}
	} else if (was_held) {
		vt_unlock(&tables);
		vt_unlock(&defining);
	}
	return was_held;
}

static _Atomic int any;

uint32_t vt_names_number(struct vt_names *t, const char *key, int *fresh)
{
	uint32_t n;

	*fresh = 0;
	vt_lock(&tables);
	n = number_in_name(t, key, fresh);
	vt_unlock(&tables);
	atomic_store_explicit(&any, 1, memory_order_relaxed);
	return n;
}

int vt_names_any(void)
{
	return atomic_load_explicit(&any, memory_order_relaxed);
}

uint32_t vt_names_count(struct vt_names *t)
{
	uint32_t n;

	vt_lock(&tables);
	n = t->n;
	vt_unlock(&tables);
	return n;
}

const char *vt_names_text(struct vt_names *t, uint32_t n)
{
	const char *text = NULL;

	vt_lock(&tables);
	if (n >= 1 && n <= t->n) {
		text = t->key[n - 1];
	}
	vt_unlock(&tables);
	return text;
}

char *vt_clean_name(const char *name)
{
	char *clean = malloc((name ? strlen(name) : 0) + 1), *to = clean;

	if (!clean) {
		return NULL;
	}
	for (; name && *name; name++) {
		if (*name != ':' || (to > clean && to[-1] != ':')) {
			*to++ = *name;
		}
	}
	if (to > clean && to[-1] == ':') {
		to--;
	}
	*to = 0;
	return clean;
}

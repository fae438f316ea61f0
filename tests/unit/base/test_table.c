/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of base/table.h, compared with an array that is searched from end to end; also when memory is
 * exhausted. */
#include <stdlib.h>

/* the n-th call of malloc from here on fails; 0: none does */
static int fail_at;

static void *failing_malloc(size_t n)
{
	return fail_at > 0 && --fail_at == 0 ? NULL : (malloc)(n);
}
#define malloc failing_malloc
#include "base/table.c" /* NOLINT: with this malloc */
#undef malloc

#include "tests/lib/check.h"

enum { KEYS = 3000 };

/* Keys of 1 to 40 bytes, many of them alike but for one byte, also zero bytes. */
static size_t make_key(unsigned char *key, unsigned number)
{
	size_t n = 4 + number % 37;

	memset(key, number % 3 ? 0 : 0x5a, n);
	memcpy(key + (number % 5 ? 0 : n - 4), &number, 4);
	return n;
}

static void same_as_an_array(void)
{
	static uint64_t want[KEYS];
	static int there[KEYS];
	struct tkm_table t = { 0 };
	unsigned char key[48];
	size_t n, count = 0, size;
	uint64_t *v;
	unsigned k;

	memset(there, 0, sizeof(there));
	for (n = 0; n < 40000; n++) {
		k = (unsigned)(check_random() % KEYS);
		size = make_key(key, k);
		v = tkm_table_find(&t, key, size);
		CHECK_INT(v != NULL, there[k]);
		CHECK_INT(v ? *v == want[k] : 1, 1);
		if (there[k] && check_random() % 4 == 0) {
			tkm_table_remove(&t, v);
			there[k] = 0;
			count--;
			CHECK(!tkm_table_find(&t, key, size), "key %u is still there", k);
		} else {
			v = tkm_table_put(&t, key, size, sizeof(*v));
			CHECK_INT(*v, there[k] ? want[k] : 0);
			CHECK(memcmp(tkm_table_key(v), key, size) == 0, "another key for %u", k);
			count += !there[k];
			there[k] = 1;
			*v = want[k] = check_random();
		}
		CHECK_INT(tkm_table_count(&t), count);
	}
	tkm_table_free(&t);
	CHECK_INT(tkm_table_count(&t), 0);
	CHECK(!tkm_table_find(&t, "a", 1), "found in an empty table");
}

static void values_stay_and_come_in_order(void)
{
	struct tkm_table t = { 0 };
	static uint32_t *at[KEYS];
	uint32_t *v;
	unsigned k;

	for (k = 0; k < KEYS; k++) {
		at[k] = tkm_table_put(&t, &k, sizeof(k), sizeof(*v));
		*at[k] = k;
	}
	for (k = 0, v = NULL; (v = tkm_table_next(&t, v)); k++) {
		CHECK_INT(*v, k);
		CHECK(v == at[k], "value %u has moved", k);
	}
	CHECK_INT(k, KEYS);
	tkm_table_free(&t);
}

static void without_memory_it_is_as_before(void)
{
	unsigned fails, k, missed;
	struct tkm_table t;
	unsigned *v;

	for (fails = 1; fails < 260; fails++) {
		t = (struct tkm_table){ 0 };
		fail_at = (int)fails;
		for (k = 0, missed = KEYS; k < 200; k++) {
			v = tkm_table_put(&t, &k, sizeof(k), sizeof(*v));
			if (v) {
				*v = k;
			} else {
				CHECK_INT(missed, KEYS);
				missed = k;
			}
		}
		fail_at = 0;
		for (k = 0; k < 200; k++) {
			v = tkm_table_find(&t, &k, sizeof(k));
			CHECK_INT(v ? *v : KEYS, k == missed ? KEYS : k);
		}
		CHECK_INT(tkm_table_count(&t), missed < KEYS ? 199 : 200);
		tkm_table_free(&t);
	}
	/* a table, its buckets and each entry take memory, more buckets too */
	CHECK(missed == KEYS, "even the last of %u calls failed", fails);
}

static void keys_that_differ_little_do_not_collide(void)
{
	struct tkm_table t = { 0 };
	unsigned worst = 0, i;
	uint64_t k, *v;

	/* as counter << 32 | willy and as small numbers: the longest chain stays short */
	for (k = 0; k < 100000; k++) {
		uint64_t key = k % 2 ? k << 32 | 1 : k;

		v = tkm_table_put(&t, &key, sizeof(key), sizeof(*v));
		*v = k;
	}
	for (i = 0; i < t.first->hh.tbl->num_buckets; i++) {
		worst = t.first->hh.tbl->buckets[i].count > worst ? t.first->hh.tbl->buckets[i].count : worst;
	}
	CHECK(worst <= 20, "%u keys in one place", worst);
	CHECK_INT(t.first->hh.tbl->noexpand, 0);
	tkm_table_free(&t);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(same_as_an_array);
	RUN(values_stay_and_come_in_order);
	RUN(without_memory_it_is_as_before);
	RUN(keys_that_differ_little_do_not_collide);
	return check_end();
}

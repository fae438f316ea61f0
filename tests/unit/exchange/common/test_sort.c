/* SPDX-License-Identifier: BSD-3-Clause */
/* Events in the order of time, in memory and in a file. */
#include "config.h"
#include "exchange/common/sort.h"

#include <stdlib.h>

#include "tests/lib/check.h"

struct seen {
	struct xch_item last;
	uint64_t n, sum;
	int disordered;
};

static int see_item(void *user, const struct xch_item *item)
{
	struct seen *s = user;
	const struct xch_item *a = &s->last;

	s->disordered += s->n &&
		(a->time > item->time ||
			(a->time == item->time &&
				(a->rank > item->rank ||
					(a->rank == item->rank &&
						(a->key > item->key ||
							(a->key == item->key && a->number >= item->number))))));
	s->last = *item;
	s->n++;
	s->sum += item->value;
	return 0;
}

static void sorts(uint64_t n)
{
	struct tkm_err err;
	struct xch_sort *s = xch_sort_new("/tmp/tickmark-test-sort", &err);
	struct seen seen = { .n = 0 };
	uint64_t i, sum = 0;

	CHECK(s != NULL, "%s", err.text);
	srandom(5);
	for (i = 0; i < n; i++) {
		const struct xch_item item = { .time = (int64_t)(random() % 9000) - 4500,
			.rank = (uint8_t)(random() % 3),
			.key = (uint64_t)(random() % 3),
			.number = i,
			.value = i * i };

		sum += item.value;
		CHECK_INT(xch_sort_put(s, &item, &err), 0);
	}
	CHECK_INT(xch_sort_each(s, see_item, &seen, &err), 0);
	CHECK_INT(seen.n, n);
	CHECK_INT(seen.sum, sum);
	CHECK_INT(seen.disordered, 0);
	xch_sort_free(s);
}

static void few_stay_in_memory(void)
{
	sorts(0);
	sorts(1);
	sorts(1000);
}

static void many_go_through_a_file(void)
{
	sorts((16 << 20) / sizeof(struct xch_item));
	sorts(1500000);
}

static int refuse_item(void *user, const struct xch_item *item)
{
	(void)item;
	return ++*(int *)user == 3 ? -1 : 0;
}

static void what_the_caller_refuses_ends_it(void)
{
	struct tkm_err err;
	struct xch_sort *s = xch_sort_new("/tmp/tickmark-test-sort", &err);
	int n = 0, i;

	for (i = 0; i < 10; i++) {
		CHECK_INT(xch_sort_put(s, &(struct xch_item){ .time = -i }, &err), 0);
	}
	CHECK_INT(xch_sort_each(s, refuse_item, &n, &err), -1);
	CHECK_INT(n, 3);
	xch_sort_free(s);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(few_stay_in_memory);
	RUN(many_go_through_a_file);
	RUN(what_the_caller_refuses_ends_it);
	return check_end();
}

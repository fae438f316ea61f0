/* SPDX-License-Identifier: BSD-3-Clause */
/* base/heap.h: items come out in order. The index of each breaks ties, so the order of equal keys is known, too. */
#include "config.h"
#include "base/heap.h"
#include "tests/lib/check.h"

enum { MOST_ITEMS = 500 };

struct item {
	uint32_t key, number;
};

static int comes_before(const void *of, const struct item *a, const struct item *b)
{
	(void)of;
	return a->key != b->key ? a->key < b->key : a->number < b->number;
}

TKM_HEAP(item_heap, struct item, comes_before);

/* A heap of indexes: what they stand for is in the array that `of` is. */
static int key_is_less(const void *of, const uint32_t *a, const uint32_t *b)
{
	const uint32_t *key = of;

	return key[*a] < key[*b];
}

TKM_HEAP(index_heap, uint32_t, key_is_less);

static void items_come_out_in_order(void)
{
	struct item heap[MOST_ITEMS], last, now;
	size_t n, count, i;

	for (count = 0; count < MOST_ITEMS; count += count < 20 ? 1 : 37) {
		for (n = 0; n < count; n++) {
			item_heap_add(NULL, heap, n, (struct item){ (uint32_t)(check_random() % 50), (uint32_t)n });
		}
		last = (struct item){ 0, 0 };
		for (i = 0; n; i++) {
			now = heap[0];
			CHECK(i == 0 || comes_before(NULL, &last, &now), "of %zu items, item %zu came too late", count,
				i);
			last = now;
			heap[0] = heap[--n];
			item_heap_sift(NULL, heap, n, 0);
		}
		CHECK_INT(i, count);
	}
}

static void any_items_become_a_heap(void)
{
	uint32_t key[MOST_ITEMS], heap[MOST_ITEMS];
	size_t n = MOST_ITEMS, i;

	for (i = 0; i < n; i++) {
		key[i] = (uint32_t)check_random();
		heap[i] = (uint32_t)i;
	}
	for (i = n / 2; i-- > 0;) {
		index_heap_sift(key, heap, n, i);
	}
	for (i = 1; i < n; i++) {
		CHECK(key[heap[(i - 1) / 2]] <= key[heap[i]], "item %zu comes before its parent", i);
	}
	/* the key of item 0 rises, as when a source delivers its next record */
	for (i = 0; i < 1000; i++) {
		uint32_t before = key[heap[0]];

		key[heap[0]] += (uint32_t)(check_random() % 1000);
		index_heap_sift(key, heap, n, 0);
		CHECK(key[heap[0]] >= before, "step %zu went back", i);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(items_come_out_in_order);
	RUN(any_items_become_a_heap);
	return check_end();
}

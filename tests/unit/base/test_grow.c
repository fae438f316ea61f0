/* SPDX-License-Identifier: BSD-3-Clause */
/* base/grow.h: arrays keep their items while they grow, and are unchanged when memory runs out. */
#include "config.h"
#include "base/grow.h"
#include "tests/lib/check.h"

struct item {
	uint64_t a, b, c;
};

static void a_room_doubles_and_the_items_stay(void)
{
	struct item *list = NULL;
	size_t room = 0, n, grown = 0, before = 0;

	for (n = 0; n < 5000; n++) {
		CHECK_INT(TKM_GROW(list, room, n + 1), 0);
		CHECK(room > n, "room for %zu items, %zu needed", room, n + 1);
		grown += room != before;
		before = room;
		list[n] = (struct item){ n, 2 * n, 3 * n };
	}
	CHECK(grown < 16, "grown %zu times", grown);
	for (n = 0; n < 5000; n++) {
		CHECK(list[n].a == n && list[n].c == 3 * n, "item %zu is lost", n);
	}
	CHECK_INT(TKM_GROW(list, room, 3 * room + 7), 0);
	CHECK_INT(room, 3 * before + 7);
	free(list);
}

static void what_is_too_large_changes_nothing(void)
{
	struct item *list = NULL, *same, *more;
	size_t room = 0, n = 0;

	CHECK_INT(TKM_GROW(list, room, 3), 0);
	list[2].b = 77;
	same = list;
	CHECK_INT(TKM_GROW(list, room, SIZE_MAX / 8), -1);
	CHECK_INT(TKM_GROW(list, room, SIZE_MAX), -1);
	CHECK(list == same && list[2].b == 77, "the array moved, or its content changed");
	CHECK(room >= 3 && room < 100, "the room is %zu", room);
	free(list);

	list = NULL;
	more = TKM_APPEND(list, n);
	CHECK(more != NULL, "no memory for one item");
	more->a = 5;
	CHECK_INT(TKM_EXTEND(list, n, SIZE_MAX / 2), -1);
	CHECK_INT(TKM_EXTEND(list, n, SIZE_MAX), -1);
	CHECK_INT(n, 1);
	CHECK_INT(list[0].a, 5);
	free(list);
}

static void new_items_are_zero_and_counted(void)
{
	struct item *list = NULL, *p;
	uint32_t n = 0, i;

	for (i = 0; i < 1000; i++) {
		p = TKM_APPEND(list, n);
		CHECK(p == &list[i] && n == i + 1, "item %u is not the last one", i);
		CHECK(p->a == 0 && p->b == 0 && p->c == 0, "item %u is not zero", i);
		*p = (struct item){ i, i, i };
	}
	CHECK_INT(TKM_EXTEND(list, n, 3000), 0);
	CHECK_INT(n, 3000);
	for (i = 0; i < n; i++) {
		CHECK(list[i].b == (i < 1000 ? i : 0), "item %u has %llu", i, (unsigned long long)list[i].b);
	}
	/* an array that shrank has room again, and its items are zero again */
	n = 10;
	CHECK_INT(TKM_EXTEND(list, n, 900), 0);
	CHECK(list[9].a == 9 && list[10].a == 0 && list[899].a == 0, "old content is left");
	free(list);
}

/* The array has room for as many items as its count requires: a memory checker sees the last byte of each. */
static void every_size_has_its_room(void)
{
	char *list;
	size_t from, to, n;

	for (from = 0; from < 40; from++) {
		for (to = from + 1; to < 70; to++) {
			list = NULL;
			n = 0;
			CHECK(from == 0 || TKM_EXTEND(list, n, from) == 0, "no memory");
			CHECK_INT(TKM_EXTEND(list, n, to), 0);
			memset(list, 'x', n);
			CHECK(list && n == to, "%zu items instead of %zu", n, to);
			free(list);
		}
	}
}

static void texts_are_copied(void)
{
	char **list = NULL, text[20];
	size_t n = 0;
	int i;

	for (i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		CHECK_INT(tkm_append_text(&list, &n, text), 0);
	}
	CHECK_INT(n, 100);
	CHECK_STR(list[0], "text 0");
	CHECK_STR(list[99], "text 99");
	tkm_free_texts(list, n);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_room_doubles_and_the_items_stay);
	RUN(what_is_too_large_changes_nothing);
	RUN(new_items_are_zero_and_counted);
	RUN(every_size_has_its_room);
	RUN(texts_are_copied);
	return check_end();
}

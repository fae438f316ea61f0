/* SPDX-License-Identifier: BSD-3-Clause */
/* Which records a cursor delivers: by category, and by each thread that a record names. */
#include "config.h"
#include "stf/component/filter.h"
#include "tests/lib/check.h"

/* A record of two threads, as a message is, and one of a list of them. */
static const struct stf_field two_fields[] = { { .name = "from", .type = STF_WILLYID },
	{ .name = "length", .type = STF_U4 }, { .name = "to", .type = STF_WILLYID } };
static const struct stf_layout two = { .name = "two", .n_fields = 3, .kind = STF_KIND_MSG, .fields = two_fields };
static const struct stf_field list_fields[] = { { .name = "all", .type = STF_WILLYID, .is_array = 1 } };
static const struct stf_layout list = { .name = "list", .n_fields = 1, .kind = STF_KIND_COLL, .fields = list_fields };
static const struct stf_field none_fields[] = { { .name = "n", .type = STF_U4 } };
static const struct stf_layout none = { .name = "none", .n_fields = 1, .kind = STF_KIND_REPORT, .fields = none_fields };

static void a_triplet_is_first_last_and_stride(void)
{
	const struct stf_triplet some[] = { { 2, 8, 3 }, { 20, 21, 0 } };
	const struct stf_filter f = { .willys = some, .n_willys = 2 }, all = { .n_willys = 0 };
	uint32_t w;

	for (w = 0; w < 30; w++) {
		CHECK_INT(stf_filter_willy(&f, w), w == 2 || w == 5 || w == 8 || w == 20 || w == 21);
		CHECK(stf_filter_willy(&all, w), "%u", w);
	}
}

static void a_record_is_of_each_thread_that_it_names(void)
{
	const struct stf_triplet five = { 5, 5, 1 };
	const struct stf_filter f = { .categories = ~0u, .willys = &five, .n_willys = 1 };
	const uint32_t members[] = { 1, 2, 5 };
	struct stf_value v[3] = { { .u = 1 }, { .u = 5 }, { .u = 2 } }, a = { .array = members, .count = 3 },
			 n = { .u = 5 };
	struct stf_record r = { .layout = &two, .values = v };

	CHECK(!stf_filter_record(&f, &r), "a length is no thread");
	v[2].u = 5;
	CHECK(stf_filter_record(&f, &r), "the receiver");
	v[0].u = 5;
	v[2].u = 1;
	CHECK(stf_filter_record(&f, &r), "the sender");
	r = (struct stf_record){ .layout = &list, .values = &a };
	CHECK(stf_filter_record(&f, &r), "the last of a list");
	a.count = 2;
	CHECK(!stf_filter_record(&f, &r), "beyond the end of the list");
	r = (struct stf_record){ .layout = &none, .values = &n };
	CHECK(stf_filter_record(&f, &r), "a record without threads is for all");
}

static void categories_leave_out_the_others(void)
{
	const struct stf_filter f = { .categories = 1u << STF_KIND_COLL };
	struct stf_value v[3] = { { .u = 1 }, { .u = 5 }, { .u = 2 } };
	struct stf_record r = { .layout = &two, .values = v };

	CHECK(!stf_filter_record(&f, &r), "a message");
	r.layout = &list;
	CHECK(stf_filter_record(&f, &r), "an operation");
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(a_triplet_is_first_last_and_stride);
	RUN(a_record_is_of_each_thread_that_it_names);
	RUN(categories_leave_out_the_others);
	return check_end();
}

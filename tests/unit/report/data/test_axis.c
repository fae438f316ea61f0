/* SPDX-License-Identifier: BSD-3-Clause */
/* Curves in bounded memory, compared with sums of the same values that the test computes without columns. */
#include "config.h"
#include "report/data/axis.h"

#include "tests/lib/check.h"

enum { COLUMNS = 64, MOST = 400 };

static void an_axis_covers_what_it_is_told(void)
{
	struct vtr_axis a;

	vtr_axis_begin(&a, 1000, 1640, COLUMNS, 1 << 20);
	CHECK_INT(a.width, 11); /* the end itself is in the last column, not behind it */
	CHECK_INT(a.columns, COLUMNS);
	CHECK_INT(vtr_axis_used(&a), 1);
	vtr_axis_reach(&a, 1640);
	CHECK_INT(a.width, 11);
	CHECK_INT(vtr_axis_used(&a), 640 / 11 + 1);
	CHECK_INT(a.first, 1640);
	vtr_axis_reach(&a, 1010);
	CHECK_INT(a.first, 1010);
	CHECK_INT(a.last, 1640);
	CHECK_INT(a.before, 0);
	vtr_axis_reach(&a, 1000);
	CHECK_INT(a.before, 0);
	vtr_axis_reach(&a, 999);
	CHECK_INT(a.before, 1);
	CHECK_INT(a.first, 999);
	vtr_axis_free(&a);
	CHECK_INT(a.n_series, 0);
	/* without an end it begins with the finest columns, and doubles them only when it has to */
	vtr_axis_begin(&a, 10, 10, COLUMNS, 1 << 20);
	CHECK_INT(a.width, 1);
	vtr_axis_reach(&a, 10 + COLUMNS - 1);
	CHECK_INT(a.width, 1);
	CHECK_INT(vtr_axis_used(&a), COLUMNS);
	vtr_axis_reach(&a, 10 + COLUMNS);
	CHECK_INT(a.width, 2);
	CHECK_INT(vtr_axis_used(&a), COLUMNS / 2 + 1);
	vtr_axis_reach(&a, 10 + 8 * COLUMNS);
	CHECK_INT(a.width, 16);
	vtr_axis_free(&a);
}

static void points_are_in_their_column(void)
{
	struct vtr_axis a;
	struct vtr_series *s;
	struct vtr_column c;

	vtr_axis_begin(&a, 100, 100 + 10 * COLUMNS - 1, COLUMNS, 1 << 20);
	CHECK_INT(a.width, 10);
	s = vtr_axis_series(&a, 3, 7);
	CHECK(s && s->counter == 3 && s->willy == 7 && s->samples == 0 && s->low > s->high, "a new series");
	CHECK(s->column[0].low > s->column[0].high && s->column[COLUMNS - 1].weight == 0, "its columns are empty");
	vtr_axis_reach(&a, 139);
	vtr_add_point(&a, s, 120, 5);
	vtr_add_point(&a, s, 129, -1);
	vtr_add_point(&a, s, 130, 8);
	vtr_add_point(&a, s, 50, 100); /* before the start: in the first one */
	vtr_add_point(&a, s, 131, NAN);
	vtr_add_point(&a, s, 131, INFINITY);
	CHECK_NEAR(s->column[0].sum, 100, 0);
	CHECK_NEAR(s->column[1].weight, 0, 0);
	CHECK_NEAR(s->column[2].sum, 4, 0);
	CHECK_NEAR(s->column[2].weight, 2, 0);
	CHECK_NEAR(s->column[2].low, -1, 0);
	CHECK_NEAR(s->column[2].high, 5, 0);
	CHECK_NEAR(s->column[3].sum, 8, 0);
	CHECK_NEAR(s->column[3].weight, 1, 0);
	CHECK_NEAR(s->low, -1, 0);
	CHECK_NEAR(s->high, 100, 0);
	CHECK_NEAR(s->sum, 112, 0);
	CHECK_NEAR(s->weight, 4, 0);
	c = vtr_column_join(s, 2, 2);
	CHECK_NEAR(c.low, -1, 0);
	CHECK_NEAR(c.high, 8, 0);
	CHECK_NEAR(c.sum, 12, 0);
	CHECK_NEAR(c.weight, 3, 0);
	c = vtr_column_join(s, 3, 1);
	CHECK_NEAR(c.low, 8, 0);
	CHECK_NEAR(c.sum, 8, 0);
	vtr_axis_free(&a);
}

static void an_interval_is_shared_out_by_time(void)
{
	struct vtr_axis a;
	struct vtr_series *s;

	vtr_axis_begin(&a, 100, 100 + 10 * COLUMNS - 1, COLUMNS, 1 << 20);
	s = vtr_axis_series(&a, 0, 0);
	vtr_add_interval(&a, s, 105, 127, 2); /* 5, 10 and 7 of three columns */
	CHECK_NEAR(s->column[0].weight, 5, 0);
	CHECK_NEAR(s->column[0].sum, 10, 0);
	CHECK_NEAR(s->column[1].weight, 10, 0);
	CHECK_NEAR(s->column[2].weight, 7, 0);
	CHECK_NEAR(s->column[2].sum, 14, 0);
	CHECK_NEAR(s->column[3].weight, 0, 0);
	vtr_add_interval(&a, s, 130, 140, 6); /* the whole of one: nothing in the next, not even its maximum */
	CHECK_NEAR(s->column[3].weight, 10, 0);
	CHECK_NEAR(s->column[4].weight, 0, 0);
	CHECK(s->column[4].low > s->column[4].high, "column 4 is empty");
	vtr_add_interval(&a, s, 150, 150, 9);
	vtr_add_interval(&a, s, 150, 149, 9);
	vtr_add_interval(&a, s, 150, 160, NAN);
	CHECK_NEAR(s->column[5].weight, 0, 0);
	CHECK_NEAR(s->sum, 2 * 22 + 6 * 10, 0);
	CHECK_NEAR(s->weight, 32, 0);
	CHECK_NEAR(s->low, 2, 0);
	CHECK_NEAR(s->high, 6, 0);
	vtr_axis_free(&a);
}

/* Values at random times on an axis that grows and is reduced: each column has exactly those of its time. */
static void columns_stay_true_when_they_are_joined(void)
{
	static uint64_t time[MOST];
	static double value[MOST];
	int round, i;

	for (round = 0; round < 200 * check_times; round++) {
		uint64_t start = check_random() % 1000, k, length = 1 + check_random() % 100000;
		int n = 1 + (int)(check_random() % MOST);
		struct vtr_axis a;
		struct vtr_series *s;

		vtr_axis_begin(&a, start, round % 2 ? start + length / 3 : 0, COLUMNS, 1 << 20);
		s = vtr_axis_series(&a, 1, 2);
		for (i = 0; i < n; i++) {
			time[i] = start + check_random() % length;
			value[i] = (double)(check_random() % 1000) - 500;
			vtr_axis_reach(&a, time[i]);
			vtr_add_point(&a, s, time[i], value[i]);
		}
		if (round % 3 == 0) {
			vtr_axis_reduce(&a, 16);
			CHECK_INT(a.columns, 16);
		}
		for (k = 0; k < a.columns; k++) {
			double sum = 0, weight = 0, low = INFINITY, high = -INFINITY;

			for (i = 0; i < n; i++) {
				if (time[i] >= a.start + k * a.width && time[i] < a.start + (k + 1) * a.width) {
					sum += value[i];
					weight++;
					low = fmin(low, value[i]);
					high = fmax(high, value[i]);
				}
			}
			CHECK(s->column[k].sum == sum && s->column[k].weight == weight && s->column[k].low == low &&
					s->column[k].high == high,
				"column %d of width %d: %g %g %g %g, want %g %g %g %g", (int)k, (int)a.width,
				s->column[k].sum, s->column[k].weight, s->column[k].low, s->column[k].high, sum, weight,
				low, high);
		}
		vtr_axis_free(&a);
	}
}

static void columns_are_reduced_as_far_as_asked(void)
{
	struct vtr_axis a;

	vtr_axis_begin(&a, 0, 0, 640, 1 << 20);
	vtr_axis_reduce(&a, 640);
	CHECK_INT(a.columns, 640);
	vtr_axis_reduce(&a, 321);
	CHECK_INT(a.columns, 640);
	vtr_axis_reduce(&a, 320);
	CHECK_INT(a.columns, 320);
	CHECK_INT(a.width, 2);
	vtr_axis_reduce(&a, 1);
	CHECK_INT(a.columns, 10); /* an even number is left */
	CHECK_INT(a.width, 64);
	vtr_axis_free(&a);
}

/* Many series: each is found again, with fewer columns where they do not fit, and those beyond are counted. */
static void many_series_fit_into_the_memory(void)
{
	const uint32_t most = 1200;
	struct vtr_axis a;
	uint32_t i, willy, had;
	struct vtr_series *s;

	vtr_axis_begin(&a, 0, 0, 128, (uint64_t)1000 * 32 * sizeof(struct vtr_column));
	for (i = 0; i < most; i++) {
		willy = i % 7 << 16 | i / 7;
		had = a.columns;
		s = vtr_axis_series(&a, i % 5, willy);
		CHECK_INT(s != NULL, i < 1000);
		CHECK_INT(a.columns, i < 250 ? 128 : i < 500 ? 64 : 32);
		CHECK(had >= a.columns, "series %u: %u columns", i, a.columns);
		if (s) {
			vtr_add_point(&a, s, 0, i);
			s->samples = i;
		}
	}
	CHECK_INT(a.n_series, 1000);
	CHECK_INT(a.left_out, 200);
	CHECK_INT(a.width, 4);
	for (i = 0; i < 1000; i++) {
		willy = i % 7 << 16 | i / 7;
		s = vtr_axis_series(&a, i % 5, willy);
		CHECK(s && s->samples == i && s->willy == willy && s->counter == i % 5 && s->column[0].sum == i,
			"series %u", i);
		CHECK(vtr_axis_series(&a, i % 5, willy) == s, "series %u again", i);
	}
	CHECK_INT(a.n_series, 1000);
	vtr_axis_free(&a);
}

/* Also where many of them share a place among the recent ones. */
static void each_series_is_found_again(void)
{
	struct vtr_axis a;
	uint32_t i, counter, willy;

	vtr_axis_begin(&a, 0, 1000, COLUMNS, 1 << 28);
	for (i = 0; i < 20000; i++) {
		const struct vtr_series *s;

		counter = 1 + (uint32_t)(check_random() % 3) * 8192 * (uint32_t)(check_random() % 2);
		willy = 512 * (uint32_t)(check_random() % 20);
		s = vtr_axis_series(&a, counter, willy);
		CHECK(s && s->counter == counter && s->willy == willy, "%u, %u", counter, willy);
		s = vtr_axis_series(&a, counter, willy);
		CHECK(s && s->counter == counter && s->willy == willy, "%u, %u again", counter, willy);
	}
	CHECK_INT(a.n_series, 60);
	vtr_axis_free(&a);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(an_axis_covers_what_it_is_told);
	RUN(points_are_in_their_column);
	RUN(an_interval_is_shared_out_by_time);
	RUN(columns_stay_true_when_they_are_joined);
	RUN(columns_are_reduced_as_far_as_asked);
	RUN(many_series_fit_into_the_memory);
	RUN(each_series_is_found_again);
	return check_end();
}

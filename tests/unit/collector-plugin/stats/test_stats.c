/* SPDX-License-Identifier: BSD-3-Clause */
/* STATISTICS: what is written of each row adds up to what was counted, in tables that are too small, too; and THROTTLE stops what is called
 * often and takes little. */
#include "config.h"
#include "collector-plugin/stats/stats.c"

#include "tests/lib/check.h"

enum { KEYS = 40, OTHERS = 0 };

static struct tmr_timer timer = { .hz = 1e6 };
static struct vt_collect collect = { .timer = &timer };

/* ---- what has been written, in place of the raw file ---- */

struct sum {
	struct vt_raw_row row;
	int written;
};

static struct sum sums[KEYS + VT_RAW_ROW_KINDS];
static size_t n_sums;
static int rows_written, no_room, told_late;

static void add_up(int64_t *v, const int64_t *more, uint64_t count)
{
	v[0] = count == 0 || more[0] < v[0] ? more[0] : v[0];
	v[1] = more[1] > v[1] ? more[1] : v[1];
	v[2] += more[2];
}

int vt_raw_statistics(struct vt_raw *r, uint32_t thread, int late, const struct vt_raw_row *row)
{
	struct vt_raw_row *to;
	size_t i;

	(void)r;
	told_late = late;
	if (no_room) {
		return -1;
	}
	CHECK(thread == 5 && row->t.count > 0, "thread %u", thread);
	rows_written++;
	for (i = 0; i < n_sums &&
		!(sums[i].row.function == row->function && sums[i].row.kind == row->kind &&
			(row->function == OTHERS ||
				(sums[i].row.peer == row->peer && sums[i].row.bytes == row->bytes &&
					sums[i].row.communicator == row->communicator)));
		i++) {
	}
	CHECK(i < sizeof(sums) / sizeof(sums[0]), "more rows than keys");
	if (i == n_sums) {
		sums[n_sums++].row = *row;
		return 0;
	}
	to = &sums[i].row;
	add_up(to->t.inclusive, row->t.inclusive, to->t.count);
	add_up(to->t.exclusive, row->t.exclusive, to->t.count);
	to->t.count += row->t.count;
	to->t.more += row->t.more;
	to->bytes += row->function == OTHERS ? row->bytes : 0;
	return 0;
}

/* ---- tables in the raw file: as many as `places` ---- */

enum { EACH = 8 };
static struct {
	struct vt_raw_row row[EACH + VT_RAW_ROW_KINDS];
	int in_use, moving;
} place[200];
static int places;

uint32_t vt_raw_table_rows(struct vt_raw *r, uint32_t more)
{
	(void)r;
	CHECK_INT(more, VT_RAW_ROW_KINDS);
	return EACH;
}

struct vt_raw_row *vt_raw_table(struct vt_raw *r, uint32_t thread, int late, uint32_t n)
{
	int i;

	(void)r;
	told_late = late;
	CHECK(thread == 5 && n >= 4 && n <= EACH + VT_RAW_ROW_KINDS, "thread %u, %u rows", thread, n);
	for (i = 0; i < places && place[i].in_use; i++) {
	}
	if (i == places) {
		return NULL;
	}
	memset(&place[i], 0, sizeof(place[i]));
	place[i].in_use = 1;
	return place[i].row;
}

void vt_raw_table_moves(struct vt_raw *r, struct vt_raw_row *table, int moved)
{
	int i;

	(void)r;
	for (i = 0; place[i].row != table; i++) {
	}
	CHECK(place[i].in_use && place[i].moving == moved, "place %d", i);
	place[i].moving = !moved;
	place[i].in_use = !moved;
}

static int any_moving(void)
{
	size_t i, n = 0;

	for (i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
		n += (size_t)place[i].moving;
	}
	return n == 1;
}

/* Adds the rows of the tables to what was written, as the reader of a raw file does. */
static void read_tables(void)
{
	size_t i, k;

	for (i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
		for (k = 0; place[i].in_use && k < EACH + VT_RAW_ROW_KINDS; k++) {
			if (place[i].row[k].t.count) {
				vt_raw_statistics(NULL, 5, 0, &place[i].row[k]);
			}
		}
	}
}

static const struct vt_raw_row *sum_of(uint32_t function, uint32_t kind, uint64_t bytes, int32_t peer)
{
	static const struct vt_raw_row none;
	size_t i;

	for (i = 0; i < n_sums; i++) {
		const struct vt_raw_row *r = &sums[i].row;

		if (r->function == function && r->kind == kind &&
			(function == OTHERS || (r->bytes == bytes && r->peer == peer))) {
			return r;
		}
	}
	return &none;
}

static void begin(int rows)
{
	vt_stats_forked();
	vt_stats_start(rows);
	vt_stats_throttle(0, 0, NULL);
	memset(sums, 0, sizeof(sums));
	memset(place, 0, sizeof(place));
	places = 0;
	n_sums = 0;
	rows_written = 0;
}

static void off_and_too_few(void)
{
	struct vt_stats *s;

	begin(0);
	CHECK(!vt_stats_wanted() && !vt_stats_thread(&collect, 5, 0), "off");
	vt_stats_thread_ends(NULL);
	begin(5);
	s = vt_stats_thread(&collect, 5, 0);
	CHECK(vt_stats_wanted() && s && s->n == 8, "%u rows", s ? s->n : 0);
	vt_stats_thread_ends(s);
	begin(8);
	s = vt_stats_thread(&collect, 5, 0);
	CHECK(s && s->n == 8, "%u rows", s ? s->n : 0);
	vt_stats_thread_ends(s);
	CHECK_INT(rows_written, 0);
}

static void see(int64_t *v, int64_t d, uint64_t count)
{
	add_up(v, (const int64_t[3]){ d, d, d }, count);
}

/* What was drawn: by key, and in all. */
struct drawn {
	struct vt_raw_row want[KEYS];
	int64_t least, most;
	uint64_t bytes;
};

static void draw(struct vt_stats *s, struct drawn *d)
{
	int i, j;

	*d = (struct drawn){ .least = INT64_MAX };
	for (i = 0; i < 20000; i++) {
		int64_t inclusive = (int64_t)(check_random() % 1000), exclusive = (int64_t)(check_random() % 100);
		struct vt_raw_row key, *want;

		j = (int)(check_random() % KEYS);
		key = (struct vt_raw_row){ .function = 1 + (uint32_t)(j % 20), .kind = j >= 20 ? 1 : VT_RAW_ROW_CALL };
		key.bytes = j >= 20 ? 8u * (uint32_t)(j % 3) : 0;
		key.peer = j >= 20 ? j % 2 : 0;
		key.t.more = (uint64_t)(i % 3 == 0);
		if (j < 20 && i % 3) {
			vt_stats_call(s, key.function, inclusive, exclusive);
		} else {
			vt_stats_add(s, &key, inclusive, exclusive);
		}
		want = &d->want[j];
		see(want->t.inclusive, inclusive, want->t.count);
		see(want->t.exclusive, exclusive, want->t.count);
		want->function = key.function;
		want->kind = key.kind;
		want->bytes = key.bytes;
		want->peer = key.peer;
		want->t.count++;
		want->t.more += key.t.more;
		d->bytes += key.bytes;
		d->least = inclusive < d->least ? inclusive : d->least;
		d->most = inclusive > d->most ? inclusive : d->most;
	}
	CHECK(d->least < 10 && d->most > 990, "drawn: %lld to %lld", (long long)d->least, (long long)d->most);
}

/* Is the row of a key right? Without a row it is added to the rest of its kind. Returns the bytes that were found. */
static uint64_t compare_row(const struct vt_raw_row *want, struct vt_raw_row *rest, uint64_t *found)
{
	const struct vt_raw_row *got = sum_of(want->function, want->kind, want->bytes, want->peer);

	if (got->t.count == 0) {
		rest += want->kind;
		rest->t.count += want->t.count;
		rest->t.inclusive[2] += want->t.inclusive[2];
		rest->t.more += want->t.more;
		rest->bytes += want->bytes * want->t.count;
		return 0;
	}
	++*found;
	CHECK(got->t.count == want->t.count && got->t.more == want->t.more &&
			!memcmp(got->t.inclusive, want->t.inclusive, sizeof(got->t.inclusive)) &&
			!memcmp(got->t.exclusive, want->t.exclusive, sizeof(got->t.exclusive)),
		"function %u, kind %u: %llu of %llu calls", want->function, want->kind,
		(unsigned long long)got->t.count, (unsigned long long)want->t.count);
	return got->bytes * got->t.count;
}

/* Random rows in tables of several sizes: nothing is lost, and what has no row is with the others of its kind. */
static void all_adds_up(void)
{
	static const int sizes[] = { 4, 8, 16, 64, 1024 };
	size_t k;

	/* in the file; in memory; the first table in the file and the others in memory; killed; moving when killed */
	for (k = 0; k < 5 * sizeof(sizes) / sizeof(sizes[0]); k++) {
		int size = sizes[k / 5];

		struct vt_raw_row rest[VT_RAW_ROW_KINDS] = { { .function = 0 } };
		uint64_t found = 0, got_bytes = 0;
		struct vt_stats *s;
		struct drawn d;
		int i;

		begin(size);
		places = k % 5 == 1 ? 0 : k % 5 == 2 ? 1 : 200;
		s = vt_stats_thread(&collect, 5, 0);
		draw(s, &d);
		CHECK_INT(rows_written, 0);
		if (k % 5 == 3) {
			read_tables();
		} else {
			no_room = k % 5 == 4;
			vt_stats_thread_ends(s);
			no_room = 0;
			CHECK(k % 5 != 4 || any_moving(), "a table whose rows found no room is still there");
			read_tables();
			CHECK(k % 5 > 2 || !place[0].in_use, "the place is free");
		}
		for (i = 0; i < KEYS; i++) {
			got_bytes += compare_row(&d.want[i], rest, &found);
		}
		for (i = 0; i < VT_RAW_ROW_KINDS; i++) {
			const struct vt_raw_row *got = sum_of(OTHERS, (uint32_t)i, 0, 0);

			CHECK(got->t.count == rest[i].t.count && got->t.inclusive[2] == rest[i].t.inclusive[2] &&
					got->t.more == rest[i].t.more && got->bytes == rest[i].bytes,
				"%d rows: %llu calls without a row, want %llu; %llu bytes, want %llu", size,
				(unsigned long long)got->t.count, (unsigned long long)rest[i].t.count,
				(unsigned long long)got->bytes, (unsigned long long)rest[i].bytes);
			got_bytes += got->bytes;
		}
		CHECK(got_bytes == d.bytes, "%llu of %llu bytes", (unsigned long long)got_bytes,
			(unsigned long long)d.bytes);
		/* three quarters of the rows are filled */
		CHECK_INT(found, size / 4 * 3 < KEYS ? size / 4 * 3 : KEYS);
	}
}

static uint32_t stopped;
static int stops;

static void stop(uint32_t function)
{
	stopped = function;
	stops++;
}

static void what_takes_little_is_stopped(void)
{
	struct vt_stats *s;
	int i;

	begin(16);
	vt_stats_throttle(100, 10e-6, stop);
	CHECK(vt_stats_throttles(), "THROTTLE");
	s = vt_stats_thread(&collect, 5, 0);
	/* 9 ticks each on average, and 10 of another: just not little */
	for (i = 0; i < 99; i++) {
		vt_stats_call(s, 1, 9, 9);
		vt_stats_call(s, 2, 10, 10);
	}
	CHECK_INT(stops, 0);
	vt_stats_call(s, 2, 10, 10);
	CHECK_INT(stops, 0);
	vt_stats_call(s, 1, 9, 9);
	CHECK(stops == 1 && stopped == 1, "%d, function %u", stops, stopped);
	/* the next hundred are looked at alone */
	for (i = 0; i < 99; i++) {
		vt_stats_call(s, 2, 3, 3);
	}
	CHECK_INT(stops, 1);
	vt_stats_call(s, 2, 3, 3);
	CHECK(stops == 2 && stopped == 2, "%d, function %u", stops, stopped);
	vt_stats_thread_ends(s);
	CHECK_INT(sum_of(1, VT_RAW_ROW_CALL, 0, 0)->t.count, 100);
	CHECK_INT(sum_of(2, VT_RAW_ROW_CALL, 0, 0)->t.count, 200);
	vt_stats_throttle(0, 0, NULL);
	CHECK(!vt_stats_throttles(), "THROTTLE off");
}

/* After FLUSH-LIMIT a table exists without STATISTICS, too. */
static void after_the_limit(void)
{
	struct vt_stats *s;
	int i;

	begin(0);
	places = 200;
	s = vt_stats_thread(&collect, 5, 1);
	CHECK(s && s->n == 512 && told_late, "%u rows", s ? s->n : 0);
	told_late = 0;
	for (i = 0; i < 1000; i++) {
		vt_stats_call(s, 3, 5, 4);
	}
	vt_stats_thread_ends(s);
	CHECK(told_late && rows_written == 1, "written %d times", rows_written);
	CHECK_INT(sum_of(3, VT_RAW_ROW_CALL, 0, 0)->t.count, 1000);
	CHECK_INT(sum_of(3, VT_RAW_ROW_CALL, 0, 0)->t.inclusive[2], 5000);
}

static void the_end_of_the_run(void)
{
	struct vt_raw_row key = { .function = 3 };
	struct vt_stats *s, *t;

	begin(16);
	s = vt_stats_thread(&collect, 5, 0);
	t = vt_stats_thread(&collect, 5, 0);
	vt_stats_call(s, 3, 5, 4);
	vt_stats_call(s, 3, 5, 4);
	vt_stats_add(t, &key, 7, 6);
	CHECK_INT(rows_written, 0);
	vt_stats_finish();
	CHECK(rows_written == 2 && sum_of(3, VT_RAW_ROW_CALL, 0, 0)->t.count == 3, "%d rows", rows_written);
	vt_stats_call(s, 3, 5, 4);
	vt_stats_add(t, &key, 7, 6);
	vt_stats_finish();
	CHECK(rows_written == 2, "what comes after the end is not counted: %d rows", rows_written);
	/* who ends the program in a signal handler may have interrupted the one that holds the lock */
	begin(16);
	t = vt_stats_thread(&collect, 5, 0);
	vt_stats_call(t, 3, 5, 4);
	vt_lock(&lock);
	vt_stats_finish();
	CHECK_INT(rows_written, 0);
	vt_unlock(&lock);
	/* the child of a fork has nothing of its parent */
	begin(16);
	vt_stats_add(t, &key, 1, 1);
	vt_stats_thread_ends(t);
	vt_stats_finish();
	CHECK_INT(rows_written, 0);
	munmap(s, size_of_stats(s));
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(off_and_too_few);
	RUN(all_adds_up);
	RUN(what_takes_little_is_stopped);
	RUN(after_the_limit);
	RUN(the_end_of_the_run);
	return check_end();
}
